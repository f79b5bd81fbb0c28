"""What do the labels of a pull request, and of the issues that it closes, say about a change?"""

import re
from collections.abc import Iterable

from watcher.model import Discussion, Evidence

_FIX = re.compile(
    r"(?:^|[^a-z])(?:bugs?|bug-?fix(?:es)?|fix(?:es)?|hot-?fix|regressions?|crash(?:es)?|defects?|broken|leaks?|deadlocks?)(?:[^a-z]|$)"
)
_SECURITY = re.compile(r"(?:^|[^a-z])(?:security|vulnerabilit(?:y|ies)|cve|ghsa)(?:[^a-z]|$)")
_OTHER = re.compile(
    r"(?:^|[^a-z])(?:docs?|documentation|ci|build|tests?|testing|chores?|dependenc(?:y|ies)|feature|features|enhancements?"
    r"|refactor(?:ing)?|clean-?up|performance|release)(?:[^a-z]|$)"
)
_DENIED = re.compile(r"(?:^|[^a-z])(?:not|no|non|needs?|wont)[ /:_-]")
"""`not a bug`, `needs fix`: a label that says the opposite, or nothing yet."""
_OWN, _ISSUE, _SAFETY, _AGAINST = 2.5, 2.0, 4.0, -2.0
"""Weights in log-odds: people who label a change have looked at it."""


def of_labels(discussion: Discussion) -> list[Evidence]:
    """Return the evidence of labels: for a fix, for one of security, or against."""
    own, issues = tuple(map(str.lower, discussion.labels)), tuple(map(str.lower, discussion.issue_labels))
    found = []
    if named := _first(_SECURITY, (*own, *issues)):
        found.append(Evidence(signal="security-label", detail=f"labelled {named!r}", weight=_SAFETY))
    if named := _first(_FIX, own):
        found.append(Evidence(signal="label", detail=f"its pull request is labelled {named!r}", weight=_OWN))
    elif named := _first(_FIX, issues):
        found.append(Evidence(signal="label", detail=f"an issue that it closes is labelled {named!r}", weight=_ISSUE))
    elif not found and (named := _first(_OTHER, own)):
        found.append(Evidence(signal="label", detail=f"its pull request is labelled {named!r}", weight=_AGAINST))
    return found


def _first(words: re.Pattern[str], labels: Iterable[str]) -> str:
    return next((it for it in labels if words.search(it) and not _DENIED.search(it)), "")
