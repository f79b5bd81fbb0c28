"""From a plan to an issue or a pull request in the downstream itself: once, superseded, and never against a person."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.forges.forgefake import Account, Fault, Told
from tests.stories import kit
from tests.stories.stage import Faked
from watcher import cycle, policy
from watcher.errors import ForgeError, UsageError
from watcher.proposing import Outcome, propose_issues, propose_pulls
from watcher.store import Store

PROGRAM = Path(sys.executable).with_name("watcher")
NOW = datetime(2026, 8, 20, 9, 0, tzinfo=UTC)


@pytest.fixture
def stage(world, asking, monkeypatch):
    """Set the stage, with a token that may push."""
    monkeypatch.setenv("FORGE_TOKEN", "good-token")
    return Faked(world, asking)


@pytest.mark.parametrize("act", [propose_issues, propose_pulls])
def test_the_same_again_changes_nothing(stage, act):
    """One issue, or one pull request, however often it is proposed."""
    first = stage.propose(act)
    assert Outcome.OPENED == first.outcome
    again = stage.propose(act)
    assert (Outcome.UNCHANGED, first.url) == (again.outcome, again.url)
    assert 1 == len(stage.repository.tickets)


def test_a_pull_request_is_one_commit_that_changes_the_refs_alone(stage):
    """Pushed to a branch of the downstream itself, on top of the branch that is read."""
    done = stage.propose(propose_pulls)
    [ticket] = stage.repository.tickets
    assert "main" == ticket.base
    assert stage.branch == ticket.head
    assert f"Bump engine to {stage.oids['F'][:12]}" == ticket.title
    assert stage.git("rev-parse", "main") == stage.git("rev-parse", f"{ticket.head}^")
    numbers = stage.git("diff", "--numstat", "main", ticket.head)
    assert "1\t1\tdocker/Dockerfile.cuda\n1\t1\tdocker/Dockerfile.rocm" == numbers
    assert stage.oids["F"] in stage.git("show", f"{ticket.head}:docker/Dockerfile.rocm")
    assert done.url.endswith(f"/{ticket.number}")


@pytest.mark.parametrize("act", [propose_issues, propose_pulls])
def test_a_newer_target_takes_the_place_of_the_old_one(stage, act):
    """The old one is closed with a word about which is the new one."""
    old = stage.propose(act)
    stage.draw_another_fix()
    new = stage.propose(act, stage.oids["C"])
    assert (old.url,) == new.replaced
    first, second = stage.repository.tickets
    assert ("closed", "open") == (first.state, second.state)
    assert any(new.url in comment for comment in first.comments)


@pytest.mark.parametrize("act", [propose_issues, propose_pulls])
def test_what_a_person_closed_stays_closed(stage, act):
    """For this target; another one is another question."""
    stage.propose(act)
    [ticket] = stage.repository.tickets
    ticket.state, ticket.closed_by = "closed", "dana"
    again = stage.propose(act)
    assert Outcome.DECLINED == again.outcome
    assert 1 == len(stage.repository.tickets)
    other = stage.propose(act, stage.oids["C"])
    assert Outcome.OPENED == other.outcome


@pytest.mark.parametrize("act", [propose_issues, propose_pulls])
def test_words_that_changed_are_brought_up_to_date(stage, act):
    """Somebody edited the text; the branch is left alone."""
    stage.propose(act)
    [ticket] = stage.repository.tickets
    ticket.body += "\nmore"
    again = stage.propose(act)
    assert Outcome.UPDATED == again.outcome
    assert not ticket.body.endswith("more")


def test_a_branch_without_its_pull_request_is_taken_up(stage):
    """The run before was killed between the two."""
    stage.github.fake.faults.append(Fault(told=Told(status=502), method="POST", times=3))
    with pytest.raises(ForgeError):
        stage.propose(propose_pulls)
    stage.github.fake.faults.clear()
    tip = stage.git("rev-parse", stage.branch)
    done = stage.propose(propose_pulls)
    assert Outcome.OPENED == done.outcome
    assert tip == stage.git("rev-parse", stage.branch)


def test_a_merged_one_is_not_opened_again(stage):
    """Whatever the manifests say by now."""
    stage.propose(propose_pulls)
    [ticket] = stage.repository.tickets
    ticket.state, ticket.merged_as = "closed", "c" * 40
    again = stage.propose(propose_pulls)
    assert Outcome.MERGED == again.outcome


def test_only_a_fork_is_possible(stage):
    """A token that may not push is told what a fork's checks are worth, and nothing is left behind."""
    stage.github.fake.accounts["good-token"] = Account(login="bot", may_write=False)
    with pytest.raises(ForgeError, match="only a pull request from a fork"):
        stage.propose(propose_pulls)
    assert [] == stage.repository.tickets
    assert "main" == stage.git("for-each-ref", "--format=%(refname:short)", "refs/heads")


def test_an_archived_repository(stage):
    """Nobody can propose anything there."""
    stage.repository.is_archived = True
    with pytest.raises(ForgeError, match="archived"):
        stage.propose(propose_pulls)


def test_a_default_branch_that_was_renamed(stage):
    """The pull request is for the branch that is the default now."""
    stage.git("branch", "-m", "main", "trunk")
    stage.git("symbolic-ref", "HEAD", "refs/heads/trunk")
    stage.repository.default_branch = "trunk"
    stage.propose(propose_pulls)
    assert "trunk" == stage.repository.tickets[0].base


def test_a_folder_and_a_plain_server(stage):
    """They have no issues; the message says what to do instead."""
    settings, plan = stage.settings(), stage.plan()
    with pytest.raises(UsageError, match="expected a forge"):
        propose_issues(settings, plan, lambda _: None)
    settings = settings.model_copy(
        update={"downstreams": (settings.downstreams[0].model_copy(update={"repository": None, "path": stage.path}),)}
    )
    with pytest.raises(UsageError, match="is a folder"):
        propose_issues(settings, plan, lambda _: None)


# --- what the service proposes of itself -------------------------------------------------------------------------


@pytest.fixture
def policy_of(stage):
    """Return how the service would act after a pass, under a policy."""

    def act(bumps, hours=0):
        settings = stage.settings(bumps=bumps)
        now = NOW + timedelta(hours=hours)
        with Store.open(stage.world.state) as store:
            cycle.check(settings, store, now=now)
            asked = policy.wanted(settings, store, now)
            return [policy.propose(settings, store, upstream, now) for upstream in asked]

    return act


@pytest.mark.parametrize(("bumps", "kind"), [("issue", None), ({"high": "pull-request"}, "watcher/bump-engine-")])
def test_the_service_proposes_once(stage, policy_of, bumps, kind):
    """By severity, as an issue or a pull request; the next passes ask nobody anew."""
    [(done, troubles)] = policy_of(bumps)
    assert ((), [Outcome.OPENED]) == (troubles, [it.outcome for it in done])
    [ticket] = stage.repository.tickets
    assert (ticket.head or "").startswith(kind or "")
    assert [] == policy_of(bumps, hours=5)


@pytest.mark.parametrize("bumps", ["off", {"medium": "issue"}, {}])
def test_the_service_proposes_nothing_unasked(stage, policy_of, bumps):
    """Off is the default, and what holds for one severity holds for no other."""
    assert [] == policy_of(bumps)
    assert [] == stage.repository.tickets


def test_no_more_than_so_many_are_open(stage, policy_of):
    """What is more waits until one is closed, and is tried again each hour."""
    stage.world.upstream("acme/wheel").draw("A---B---F   (main)", **kit.STORY)
    stage.images.pin("acme/wheel", cuda=stage.world.upstream("acme/wheel").oids["B"])
    stage.images.publish()
    outcomes = [it.outcome for done, _ in policy_of({"high": "issue", "at_most": 1}) for it in done]
    assert [Outcome.OPENED, Outcome.WAITS] == sorted(outcomes)
    assert [] == policy_of({"high": "issue", "at_most": 1})
    stage.repository.tickets[0].state = "closed"
    outcomes = [it.outcome for done, _ in policy_of({"high": "issue", "at_most": 1}, hours=2) for it in done]
    assert [Outcome.OPENED] == outcomes


def test_what_cannot_be_proposed_is_told_and_tried_again(stage, policy_of):
    """An hour later, when the forge answers again."""
    stage.github.fake.faults.append(Fault(told=Told(status=503)))
    [(done, troubles)] = policy_of("issue")
    assert () == done
    assert 1 == len(troubles)
    stage.github.fake.faults.clear()
    assert [] == policy_of("issue")
    [(done, troubles)] = policy_of("issue", hours=2)
    assert ((), [Outcome.OPENED]) == (troubles, [it.outcome for it in done])


# --- written into a checkout ---------------------------------------------------------------------------------------


def test_written_into_a_checkout(world):
    """`watcher bump --write` changes the refs of a folder, prints what it changed, and can be undone by hand."""
    oids = world.engine.draw("A---B---F   (main)", **kit.STORY)
    world.pin(cuda=oids["B"], rocm=oids["F"])
    world.prepare()
    before = (world.folder / "images/docker/Dockerfile.cuda").read_text()
    done = subprocess.run(
        [PROGRAM, "bump", "engine", "--write"],
        cwd=world.folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert 0 == done.returncode, done.stderr
    assert before.replace(oids["B"], oids["F"]) == (world.folder / "images/docker/Dockerfile.cuda").read_text()
    assert f"+RUN pip install git+https://git.example.org/acme/engine.git@{oids['F']}" in done.stdout
    assert "a plan only" not in done.stderr


@pytest.mark.parametrize("option", ["--issue", "--pull-request"])
def test_a_folder_has_no_forge(world, option):
    """One clear line, exit code 2, and nothing is changed."""
    oids = world.engine.draw("A---B---F   (main)", **kit.STORY)
    world.pin(cuda=oids["B"])
    world.prepare()
    done = subprocess.run(
        [PROGRAM, "bump", "engine", option], cwd=world.folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert 2 == done.returncode
    assert "images is a folder: --write changes it" in done.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [(["--issue", "--pull-request"], "found both"), (["--checkout", "."], "expected --write with --checkout")],
)
def test_options_that_do_not_go_together(world, options, words):
    """They are told before anything is looked at."""
    world.engine.draw("A   (main)")
    world.pin(cuda=world.engine.oids["A"])
    world.prepare()
    done = subprocess.run(
        [PROGRAM, "bump", "engine", *options], cwd=world.folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert (2, []) == (done.returncode, world.server.requests)
    assert words in done.stderr


@pytest.mark.parametrize("form", ["table", "markdown", "json"])
def test_nothing_to_gain_is_said(world, form):
    """In every form, and it is no error."""
    oids = world.engine.draw("A---B   (main)", **kit.STORY)
    world.pin(cuda=oids["B"])
    world.prepare()
    done = subprocess.run(
        [PROGRAM, "bump", "engine", "-f", form],
        cwd=world.folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert 0 == done.returncode, done.stderr
    assert "no fix found" in done.stdout
