"""What only GitHub does."""

from contextlib import suppress

import pytest

from watcher.errors import ForgeError
from watcher.forges import TicketState
from watcher.forges.refusals import Aim


def test_a_rule_protects_a_branch_too(github):
    """It is not the old protection, and is asked for by itself."""
    asked = github.forge()
    assert not asked.is_protected("main")
    github.fake.rules = [{"type": "deletion"}, {"type": "creation"}]
    assert asked.is_protected("main")


def test_an_enterprise_without_rules_and_activity(github):
    """An old version answers 404: nothing is told, and nothing breaks."""
    github.fake.fault(404, {"message": "Not Found"})
    asked = github.forge()
    assert not asked.is_protected("main")
    assert () == asked.ref_events("refs/heads/main")


def test_a_branch_that_was_renamed_is_gone(github):
    """GitHub's answer about its protection is one about the new name."""
    repository = github.fake.repository
    repository.tips = {"trunk": "a1" * 20}
    repository.protected.add("trunk")
    github.fake.renamed["main"] = "trunk"
    asked = github.forge()
    assert (None, False, True) == (asked.branch("main"), asked.is_protected("main"), asked.is_protected("trunk"))


def test_an_empty_repository_has_no_branch(github):
    """It answers 409."""
    github.fake.fault(409, {"message": "Git Repository is empty."})
    assert github.forge().branch("main") is None


def test_issues_that_are_switched_off(github):
    """Are said to be so, and end no judgement."""
    github.fake.repository.has_issues = False
    github.fake.repository.add(title="Fix", body="Fixes #1", head="fix", base="main")
    asked = github.forge()
    assert () == asked.linked_issues(asked.pull(1))
    with pytest.raises(ForgeError, match="Issues has been disabled in this repository") as caught:
        asked.open_issue("Bump", "body")
    assert "unfit" == caught.value.kind


def test_a_trial_merge_is_no_landing(github):
    """Of an open pull request GitHub names the commit of a trial."""
    github.fake.repository.add(title="Open", head="fix", base="main")
    pull = github.forge().pull(1)
    assert (TicketState.OPEN, None) == (pull.state, pull.merged_as)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("pulls?colour=red", None),
        ("pulls?state=ajar", None),
        ("collaborators", None),
        ("issues", {"title": []}),
        ("issues", {"title": "t", "colour": "red"}),
        ("pulls", {"title": "t"}),
    ],
)
def test_the_fake_holds_us_to_the_description(github, path, body):
    """What GitHub does not describe is complained of: without that, no test here would mean much."""
    asked = github.forge()
    aim, place = Aim(what="try", needs="nothing"), f"repos/acme/images/{path}"
    with suppress(ForgeError):
        asked.client.get(place, aim) if body is None else asked.client.send("POST", place, aim, body)
    assert [] != github.fake.complaints
    github.fake.complaints.clear()


def test_the_fake_is_held_to_the_description(github):
    """An answer that GitHub does not describe is complained of, too."""
    github.fake.repository.default_branch = 5
    with suppress(ForgeError):
        github.forge().repository()
    assert ["default_branch: 5 is not of type 'string'"] == [it.partition(": ")[2] for it in github.fake.complaints]
    github.fake.complaints.clear()
