"""Which refs are not where they were at the previous look?"""

from collections.abc import Callable
from datetime import datetime

from watcher.model import Advertisement, Move, Oid


def ref_moves(
    before: Advertisement, after: Advertisement, is_forced: Callable[[Oid, Oid], bool | None], at: datetime
) -> tuple[Move, ...]:
    """Return the refs that are new, deleted or moved, by name.

    Peeled commits are compared: a tag that is annotated anew but names the same commit has not moved. `is_forced`
    is asked only for refs that moved, as (commit before, commit after).
    """
    if before.digest == after.digest:
        return ()
    was = {ref.name: ref.commit for ref in before.refs}
    now = {ref.name: ref.commit for ref in after.refs}
    return tuple(
        _move(name, was.get(name), now.get(name), is_forced, at)
        for name in sorted(was.keys() | now.keys())
        if was.get(name) != now.get(name)
    )


def _move(
    name: str, before: Oid | None, after: Oid | None, is_forced: Callable[[Oid, Oid], bool | None], at: datetime
) -> Move:
    """Return one ref's move; a new or a deleted ref is not forced."""
    forced = is_forced(before, after) if before is not None and after is not None else False
    return Move(ref=name, before=before, after=after, forced=forced, at=at)
