"""What labels of pull requests and issues say for and against a fix."""

import pytest

from watcher.judge.labels import of_labels
from watcher.model import Discussion


def signals(labels=(), issues=()):
    """Return each piece of evidence as signal and the sign of its weight."""
    found = of_labels(Discussion(number=1, labels=tuple(labels), issue_labels=tuple(issues)))
    return [(it.signal, "+" if it.weight > 0 else "-") for it in found]


@pytest.mark.parametrize(
    "label",
    ["bug", "Bug", "type: bug", "kind/bug", "bugfix", "bug-fix", "C-bug", "T:crash", "regression", "memory leak"],
)
def test_a_label_for_a_fix(label):
    """In the spelling of many projects, on the pull request or on the issue that it closes."""
    assert [("label", "+")] == signals([label]) == signals([], [label])


@pytest.mark.parametrize(
    "label", ["debug", "not a bug", "needs-fix", "no bug", "prefix", "ready", "v1.2", "cla: yes", ""]
)
def test_a_label_that_says_nothing(label):
    """A word within a word, the opposite, or what everything is labelled."""
    assert [] == signals([label]) == signals([], [label])


@pytest.mark.parametrize("label", ["documentation", "docs", "CI", "type: feature", "enhancement", "refactoring"])
def test_a_label_against_a_fix(label):
    """On the pull request; an issue is labelled before anybody knows what becomes of it."""
    assert [("label", "-")] == signals([label])
    assert [] == signals([], [label])


def test_a_fix_of_documentation_is_still_labelled_a_bug():
    """What speaks for a fix outweighs the rest: the shape of the change says the rest."""
    assert [("label", "+")] == signals(["docs", "bug"])


@pytest.mark.parametrize("label", ["security", "Security: high", "CVE", "vulnerability"])
def test_security(label):
    """Said by the pull request or an issue, and beside a bug."""
    assert [("security-label", "+")] == signals([label]) == signals([], [label])
    assert [("security-label", "+"), ("label", "+")] == signals([label, "bug"])
