"""What a forge knows beside git: labels that make a fix of a quiet change, and who took a branch away."""

from datetime import timedelta

import pytest

from tests.forges.forgefake import Fault, Repository, Told
from tests.stories import kit
from tests.stories.world import finding, kinds, the

GITHUB = "https://github.com/acme/engine"
QUIET = {**kit.MESSAGES, "F": "Look at who owns a buffer (#31)\n"}


@pytest.fixture
def asked(world, asking, monkeypatch):
    """Offer a world whose upstream is on a GitHub, with a token to ask it; the fix has nothing audible."""
    monkeypatch.setenv("FORGE_TOKEN", "good-token")
    oids = world.engine.draw("A---B---F   (main)", files=kit.FILES, messages=QUIET)
    repository = Repository(path="acme/engine", bare=world.server.path("acme/engine"))
    github = asking("github", repository)
    world.config = {
        "pins": [{"upstream": GITHUB, "ref": oids["B"]}],
        "rewrites": {
            GITHUB: f"{world.server.address}/acme/engine",
            "https://api.github.com/": f"{github.fake.api}/",
        },
        "forges": {"github.com": {"token": "env:FORGE_TOKEN"}},
    }
    world.repository, world.github = repository, github
    return world


def landed(world, labels=(), issue=()):
    """Let the fix have landed with a pull request, for an issue."""
    ticket = world.repository.add(title="It crashes", labels=list(issue), author="dana")
    world.repository.add(
        title="Look at who owns a buffer",
        body=f"Fixes #{ticket.number}",
        labels=list(labels),
        state="closed",
        head="topic",
        base="main",
        merged_as=world.engine.oids["F"],
    )


@pytest.mark.parametrize(("labels", "issue"), [(["bug"], []), ([], ["kind/bug"])])
def test_a_label_makes_a_fix_of_a_quiet_change(asked, labels, issue):
    """On the pull request, or on the issue that it closes; the evidence says so."""
    landed(asked, labels, issue)
    found = asked.look()
    assert ["fix-available"] == kinds(found)
    assert "labelled" in " ".join(the(found, "fix-available").detail)


def test_without_a_label_it_stays_quiet(asked):
    """Nobody is bothered for a shape alone."""
    landed(asked)
    assert [] == kinds(asked.look())


def test_what_was_told_is_not_asked_again(asked):
    """A change is asked about once; afterwards the memory answers, and only the repository is asked if it changed."""
    landed(asked, ["bug"])
    asked.look()
    asked.github.fake.statuses.clear()
    assert ["fix-available"] == kinds(asked.look())
    assert ("repos/acme/engine", [304]) == (asked.github.fake.asked[-1].place, asked.github.fake.statuses)


def test_a_forge_is_asked_once_an_hour(asked):
    """Where an upstream's refs are as before; once they are not, it is asked at once."""
    landed(asked, ["bug"])
    found = asked.look()
    asked.github.fake.statuses.clear()
    assert (found.findings, []) == (asked.look(hours=0.9).findings, asked.github.fake.statuses)
    asked.look(hours=0.1)
    assert [304] == asked.github.fake.statuses
    asked.engine.draw("A---B---F---G   (main)", files=kit.FILES, messages=QUIET)
    asked.look(hours=0.1)
    assert [304, 304] == asked.github.fake.statuses[:2]


def test_a_forge_that_refuses_changes_nothing_and_is_told(asked):
    """The pass goes on as without it, and says what could not be asked."""
    landed(asked, ["bug"])
    asked.github.fake.faults.append(Fault(told=Told(status=503)))
    found = asked.look()
    assert [] == kinds(found)
    assert any("github.com" in warning for warning in found.warnings)
    asked.github.fake.faults.clear()
    assert ["fix-available"] == kinds(asked.look())


def test_who_took_a_branch_away(asked):
    """A second opinion beside what we saw: how, by whom, and when, where the forge tells."""
    asked.look()
    oids = asked.engine.oids
    asked.engine.draw("A---X   (main)", files=kit.FILES)
    at = asked.now + timedelta(minutes=20)
    asked.repository.events.append(
        {
            "ref": "refs/heads/main",
            "kind": "forced",
            "before": oids["F"],
            "after": asked.engine.oids["X"],
            "at": f"{at:%Y-%m-%dT%H:%M:%SZ}",
            "actor": "mallory",
        }
    )
    detail = " ".join(finding(asked.look(), "pin-unreachable").concern.detail)
    assert f"the forge says that it was forced by mallory on {at:%Y-%m-%d %H:%M} UTC" in detail
