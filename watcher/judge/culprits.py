"""Which commits do messages name as the ones that brought a bug, or that they complete?

A `Fixes:` trailer, a revert's note, or a sentence: "regression from 1a2b3c4", "introduced in #123", "broken by …".
Whoever repairs a bug has looked for its origin; where the message says it, that is believed before any blame. A
"follow-up to …" says less: what it completes may have repaired only half of an older bug.
"""

import re
from collections.abc import Iterable, Mapping

from watcher.judge.equivalents import SHORTEST, Names, pull_requests, reverted_oids
from watcher.model import Commit, Oid

_BROUGHT = (
    r"\b(?:regress(?:ion|ed)(?: was| were)? ?(?:from|in|since|by|introduced (?:in|by))"
    r"|(?:bugs? |first )?introduced (?:in|by|with)|broken (?:by|in|since)|broke in|caused? by|bug from)\s+"
)
_COMPLETED = r"\bfollow(?:s|ing)?[- ]?up(?:[- ](?:to|on|of|for|from))?:?\s+"
_COMMIT = r"(?:commit\s+)?([0-9a-f]{7,64})\b"
_PULL = r"(?:(?:pull request|PR|pull)\s+)?(?:[\w.-]+/[\w.-]+)?#(\d{1,9})\b"
BLAMED = re.compile(_BROUGHT + _COMMIT, re.IGNORECASE)
"""A sentence that names a commit."""
_BLAMED_PULL = re.compile(_BROUGHT + _PULL, re.IGNORECASE)
_FOLLOWED, _FOLLOWED_PULL = (
    re.compile(_COMPLETED + _COMMIT, re.IGNORECASE),
    re.compile(_COMPLETED + _PULL, re.IGNORECASE),
)
FIXES = re.compile(r"^[ \t]*Fixes:\s*(?:commit\s+)?([0-9a-f]{7,64})\b", re.IGNORECASE | re.MULTILINE)
"""A trailer that names a commit."""
_MOST = 20
"""More commits than this under one number are no answer."""


def introduced(messages: tuple[Commit, ...], commits: Mapping[Oid, Commit]) -> tuple[Oid, ...]:
    """Return the commits that the messages name as the ones that brought the bug, where they are held; not by guess."""
    named = [
        *(match for message in messages for match in FIXES.findall(message.body)),
        *BLAMED.findall(_text(messages)),
        *(oid for message in messages if message.subject.startswith("Revert ") for oid in reverted_oids(message)),
    ]
    return _held(named, commits) or _by_number(_BLAMED_PULL, messages, commits)


def completed(messages: tuple[Commit, ...], commits: Mapping[Oid, Commit]) -> tuple[Oid, ...]:
    """Return the commits that the messages follow up, where they are held; not by guess."""
    return _held(_FOLLOWED.findall(_text(messages)), commits) or _by_number(_FOLLOWED_PULL, messages, commits)


def _text(messages: Iterable[Commit]) -> str:
    return "\n".join(f"{message.subject}\n{message.body}" for message in messages)


def _held(named: Iterable[str], commits: Mapping[Oid, Commit]) -> tuple[Oid, ...]:
    """Return the commits that full or short ids mean."""
    wanted = [name.lower() for name in named]
    beginnings = {name[:SHORTEST] for name in wanted}
    names = Names(oid for oid in commits if oid[:SHORTEST] in beginnings) if wanted else Names(())
    return tuple(dict.fromkeys(oid for name in wanted if (oid := names.expand(name)) and oid in commits))


def _by_number(
    pattern: re.Pattern[str], messages: tuple[Commit, ...], commits: Mapping[Oid, Commit]
) -> tuple[Oid, ...]:
    """Return the commits that landed a pull request which the messages name."""
    own = {number for message in messages for number in pull_requests(message)}
    named = {int(number) for number in pattern.findall(_text(messages))} - own
    if not named:
        return ()
    ours = {message.oid for message in messages}
    found = tuple(
        oid for oid, commit in commits.items() if oid not in ours and not named.isdisjoint(pull_requests(commit)[-1:])
    )
    return found if len(found) <= _MOST else ()
