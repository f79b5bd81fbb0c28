"""What moved in an upstream, told by the few refs that matter and the number of the others?"""

from collections.abc import Iterable, Sequence

from watcher.model import Move, Oid
from watcher.plural import counted
from watcher.report.week import Movement, Step

_BRANCH, _TAG = "refs/heads/", "refs/tags/"
_ORDER = ("forced", "deleted", "moved", "new")
_NAMED = 6
"""How many refs of each sort are named."""


def movement(upstream: str, moves: Iterable[Move], *, head: str | None) -> Movement | None:
    """Return what moved, each ref's moves of the period as one; None where every ref is where it was.

    `head` is the full name of the default branch.
    """
    by_ref: dict[str, list[Move]] = {}
    for move in moves:
        if move.ref.startswith((_BRANCH, _TAG)):
            by_ref.setdefault(move.ref, []).append(move)
    steps = [(ref, step) for ref, same in by_ref.items() if (step := _step(ref, same))]
    if not steps:
        return None
    named = [(ref, step) for ref, step in steps if _is_named(ref, step, head)]
    shown = sorted(named, key=lambda it: (it[0] != head, _ORDER.index(it[1].what), it[0]))[:_NAMED]
    tags = tuple(step.ref for ref, step in steps if ref.startswith(_TAG) and step.what == "new")
    rest = [it for it in steps if it not in shown and not (it[0].startswith(_TAG) and it[1].what == "new")]
    return Movement(
        name="/".join(upstream.split("/")[-2:]),
        url=upstream,
        steps=tuple(step for _, step in shown),
        tags=tags,
        others=_counts(rest),
    )


def _step(ref: str, moves: Sequence[Move]) -> Step | None:
    """Return the moves of one ref as one; a branch that came and went within the period is no news."""
    before, after = moves[0].before, moves[-1].after
    if before == after and not any(move.forced for move in moves):
        return None
    short = ref.removeprefix(_BRANCH).removeprefix(_TAG)
    return Step(what=_word(ref, moves, before, after), ref=short, before=before, after=after)


def _word(ref: str, moves: Sequence[Move], before: Oid | None, after: Oid | None) -> str:
    if after is None:
        return "deleted"
    if before is None:
        return "new"
    # A tag is not meant to move: where it does, there is no fast-forward to speak of.
    return "forced" if ref.startswith(_TAG) or any(move.forced for move in moves) else "moved"


def _is_named(ref: str, step: Step, head: str | None) -> bool:
    return ref == head or step.what in {"forced", "deleted"}


def _counts(steps: Iterable[tuple[str, Step]]) -> str:
    """Return the refs that are not named, counted by what became of them."""
    counts: dict[tuple[str, str], int] = {}
    for ref, step in steps:
        sort = "tag" if ref.startswith(_TAG) else "branch"
        counts[step.what, sort] = counts.get((step.what, sort), 0) + 1
    ordered = sorted(counts.items(), key=lambda it: (_ORDER.index(it[0][0]), it[0]))
    return ", ".join(f"{_of(number, sort)} {what}" for (what, sort), number in ordered)


def _of(number: int, sort: str) -> str:
    return counted(number, "tag") if sort == "tag" else f"{number} branch{'' if number == 1 else 'es'}"
