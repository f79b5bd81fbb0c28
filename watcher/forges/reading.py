"""Read what a forge answered: values of the right type, or an error.

The errors are those of Python, of which `Client.read` makes a ForgeError.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from watcher.forges.values import PullRequest, TicketState
from watcher.model import Oid, is_oid
from watcher.report.text import safe

LINKED = 5
"""The most issues of one pull request that are looked at."""
BRANCHES = 20
"""The most branches whose pull requests are looked for."""

_FOREIGN = re.compile(r"[\ud800-\udfff]")


def text(value: Any) -> str:
    """Return a text, or the empty one for null; what is no character at all is replaced."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError("expected text")
    return _FOREIGN.sub("\ufffd", value)


def number(value: Any) -> int:
    """Return a number."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError("expected a number")
    return value


def time(value: Any) -> datetime:
    """Return a time."""
    at = datetime.fromisoformat(text(value))
    return at.replace(tzinfo=at.tzinfo or UTC).astimezone(UTC)


def commit(value: Any) -> Oid | None:
    """Return an object id; None for what is none, such as the zeros that stand for nothing."""
    name = text(value)
    return Oid(name) if is_oid(name) and name.strip("0") else None


def link(value: Any) -> str:
    """Return an address that a browser may be sent to; empty for any other."""
    address = text(value)
    return address if address.startswith(("https://", "http://")) and address.isprintable() else ""


def labels(value: Any) -> tuple[str, ...]:
    """Return the names of labels, which some forges wrap."""
    return tuple(text(it["name"] if isinstance(it, Mapping) else it) for it in value or ())


def closing(body: str, repository: str, path: str) -> tuple[int, ...]:
    """Return the numbers of a repository's issues that a text says are closed, in its order, each once.

    `repository` is the repository's address in a browser. The keywords:
    https://docs.github.com/en/issues/tracking-your-work-with-issues/using-issues/linking-a-pull-request-to-an-issue.
    """
    place = rf"(?:(?:{re.escape(path)})?#|{re.escape(repository)}/(?:-/)?issues/)"
    keyword = r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s{1,9}"
    found = re.finditer(rf"{keyword}{place}(\d{{1,9}})\b", body, re.IGNORECASE)
    return tuple(dict.fromkeys(int(it[1]) for it in found))


def landed(pulls: Sequence[PullRequest], commit: Oid) -> PullRequest | None:
    """Return the one with which a commit landed: as which it was merged, else any that was, else any."""
    merged = [it for it in pulls if it.state is TicketState.MERGED]
    exact = [it for it in merged if it.merged_as == commit]
    return next(iter((*exact, *merged, *pulls)), None)


def title(words: str) -> str:
    """Return a title that every forge takes: one line, and not too long."""
    return safe(words, 250)
