"""Which commits do messages name as the ones that brought a bug?

A `Fixes:` trailer, a revert's note, or a sentence: "regression from 1a2b3c4", "introduced in #123", "broken by …".
Whoever repairs a bug has looked for its origin; where the message says it, that is believed before any blame.
"""

import re
from collections.abc import Iterable, Mapping

from watcher.judge.equivalents import SHORTEST, Names, pull_requests, reverted_oids
from watcher.model import Commit, Oid

_BROUGHT = (
    r"\b(?:regress(?:ion|ed)(?: was| were)? ?(?:from|in|since|by|introduced (?:in|by))"
    r"|(?:bugs? |first )?introduced (?:in|by|with)|broken (?:by|in|since)|broke in|caused? by|bug from)\s+"
)
BLAMED = re.compile(rf"{_BROUGHT}(?:commit\s+)?([0-9a-f]{{7,64}})\b", re.IGNORECASE)
"""A sentence that names a commit."""
_BLAMED_PULL = re.compile(
    rf"{_BROUGHT}(?:(?:pull request|PR|pull)\s+)?(?:[\w.-]+/[\w.-]+)?#(\d{{1,9}})\b", re.IGNORECASE
)
FIXES = re.compile(r"^[ \t]*Fixes:\s*(?:commit\s+)?([0-9a-f]{7,64})\b", re.IGNORECASE | re.MULTILINE)
"""A trailer that names a commit."""
_MOST = 20
"""More commits than this under one number are no answer."""


def introduced(messages: tuple[Commit, ...], commits: Mapping[Oid, Commit]) -> tuple[Oid, ...]:
    """Return the commits that the messages name as the ones that brought the bug, where they are held; not by guess."""
    named = [
        *(match for message in messages for match in FIXES.findall(message.body)),
        *(match for message in messages for match in BLAMED.findall(f"{message.subject}\n{message.body}")),
        *(oid for message in messages if message.subject.startswith("Revert ") for oid in reverted_oids(message)),
    ]
    wanted = [name.lower() for name in named]
    beginnings = {name[:SHORTEST] for name in wanted}
    names = Names(oid for oid in commits if oid[:SHORTEST] in beginnings) if wanted else Names(())
    by_id = [oid for name in wanted if (oid := names.expand(name)) and oid in commits]
    return tuple(dict.fromkeys(by_id or _by_number(messages, commits)))


def _by_number(messages: Iterable[Commit], commits: Mapping[Oid, Commit]) -> Iterable[Oid]:
    """Return the commits that landed a pull request which the messages blame."""
    mine = tuple(messages)
    own = {number for message in mine for number in pull_requests(message)}
    text = "\n".join(f"{message.subject}\n{message.body}" for message in mine)
    blamed = {int(number) for number in _BLAMED_PULL.findall(text)} - own
    if not blamed:
        return ()
    ours = {message.oid for message in mine}
    found = [
        oid for oid, commit in commits.items() if oid not in ours and not blamed.isdisjoint(pull_requests(commit)[-1:])
    ]
    return found if len(found) <= _MOST else ()
