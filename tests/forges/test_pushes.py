"""Why a push was not taken is told in words of our own."""

import pytest

from watcher.forges.pushes import refusal_of


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("remote: Permission to o/n.git denied to bot.\nfatal: The requested URL returned error: 403", "forbidden"),
        ("remote: Write access to repository not granted.", "forbidden"),
        ("remote: GitLab: You are not allowed to push code to this project.", "forbidden"),
        ("remote: User permission denied for writing.", "forbidden"),
        ("remote: error: GH006: Protected branch update failed for refs/heads/bump/x.", "protected"),
        ("remote: error: GH013: Repository rule violations found for refs/heads/bump/x.", "protected"),
        ("remote: GitLab: You are not allowed to push code to protected branches on this project.", "protected"),
        ("remote: Gitea: Not allowed to push to protected branch bump/x", "protected"),
        ("remote: This repository was archived so it is read-only.\nfatal: returned error: 403", "archived"),
        ("remote: This repo is archived. You can view files and clone it, but cannot push.", "archived"),
        ("! [rejected] bump/x -> bump/x (non-fast-forward)", "duplicate"),
        ("! [rejected] bump/x -> bump/x (fetch first)", "duplicate"),
        ("! [rejected] bump/x -> bump/x (stale info)", "duplicate"),
    ],
)
def test_a_push_that_is_refused(words, kind):
    """By a forge's rules, or since the branch is there."""
    error = refusal_of(words, "bump/x", "acme/images")
    assert kind == error.kind
    assert str(error).startswith("cannot push bump/x to acme/images: ")


@pytest.mark.parametrize("words", ["fatal: unable to access: Could not resolve host", "", "Everything up-to-date"])
def test_other_trouble(words):
    """Is git's own, and left to it."""
    assert refusal_of(words, "bump/x", "acme/images") is None
