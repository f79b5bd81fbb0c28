"""Does a fix concern a pin: does the pin lack it, and hold the lines that it repairs?

By blame: the commits that made those lines what they are, are ancestors of the pin. By text: the lines stand in the
pinned tree, and that is where we point. We never say "safe", we say "no fix found".
"""

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple

from watcher.judge.equivalents import Equivalents, Index, held_as
from watcher.judge.shipped import BY_NAME, Scope, concerns, variant_of
from watcher.model import Anchor, Answer, Fix, Oid, Repair, Verdict

_SPACE = re.compile(r"[^\S\n]+")
_MOST = 2 / 3
_FEW = 1 / 3
"""Shares of the anchors: between the two it is an even chance or worse, below it the bug came with the others."""

CHANCES: Mapping[str, float] = {
    "contained": 0.01,
    "reverted": 0.02,
    "message names what the pin has": 0.98,
    "message names what the pin lacks": 0.02,
    "all lines repaired": 0.95,
    "all lines repaired, others around": 0.75,
    "all lines wrapped": 0.9,
    "all lines wrapped, others around": 0.6,
    "all lines guarded": 0.85,
    "all lines guarded, others around": 0.5,
    "lines reworded": 0.6,
    "most lines": 0.5,
    "half of the lines": 0.3,
    "few lines": 0.1,
    "no line repaired": 0.05,
    "no line wrapped": 0.1,
    "no line guarded": 0.1,
    "no file": 0.2,
    "nothing to trace": 0.6,
    "translated": 0.4,
}
"""How often a pin had the bug, by what the answer rests on.

Measured by `benchmarks/measure_chances.py` on public histories where it is known, to the next twentieth; the first
four by `benchmarks/bench_judgement.py`, since those histories are known by their messages. The last is a guess.
"""

Numbered = Mapping[str, Sequence[int]]
"""A file as text without white space → the 1-based numbers of the lines that say it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinned:
    """What a pin ships: the history and the tree of its commit, for one variant."""

    ancestors: Set[Oid]
    variant: str
    paths: Set[str]
    texts: Mapping[str, Numbered]
    """Path → its lines, for the paths that fixes repair."""
    scope: Scope = BY_NAME


def numbered(lines: Iterable[str]) -> Numbered:
    """Return the lines of a file so that a text is found at once."""
    found: dict[str, list[int]] = defaultdict(list)
    # All lines at once: a file has thousands.
    for number, text in enumerate(_SPACE.sub("", "\n".join(lines)).split("\n"), 1):
        found[text].append(number)
    return dict(found)


class _Said(NamedTuple):
    """An answer on its way to the verdict, and what it rests on."""

    answer: Answer
    reason: str
    basis: str


def verdict(fix: Fix, same: Equivalents, repair: Repair | None, pinned: Pinned, index: Index) -> Verdict | None:
    """Return what a fix means for a pin, or None when it touches nothing that the pin ships for its variant."""
    have = held_as(same, pinned.ancestors.__contains__)
    if have is not None:
        reason = "the pin has it" if have == fix.change.landing else f"the pin has the same change as {have[:12]}"
        return Verdict(
            fix=fix.id,
            answer=Answer.NO,
            where=(),
            reason=reason,
            contained_as=have,
            basis="contained",
            chance=CHANCES["contained"],
        )
    mattering = tuple(path for path in fix.paths if concerns(path, pinned.variant, pinned.scope))
    if not mattering:
        return None
    anchors = tuple(
        anchor for anchor in (repair.anchors if repair else ()) if concerns(anchor.path, pinned.variant, pinned.scope)
    )
    inside = tuple(anchor for anchor in anchors if _is_inside(anchor, pinned.ancestors, index))
    where = _places(inside, pinned.texts)
    is_altered = any(
        concerns(path, pinned.variant, pinned.scope) and pinned.ancestors.isdisjoint(index.same(newest))
        for path, newest in (repair.nearby if repair else {}).items()
    )
    by_blame = (
        _by_blame(anchors, inside, where, is_altered=is_altered) if anchors else _untraced(fix, mattering, pinned)
    )
    said = _by_message(fix, by_blame, pinned, index)
    said = _translated(said, mattering, pinned)
    return Verdict(
        fix=fix.id,
        answer=said.answer,
        where=where if said.answer is not Answer.NO else (),
        reason=said.reason,
        basis=said.basis,
        chance=CHANCES[said.basis],
    )


def _translated(said: _Said, paths: tuple[str, ...], pinned: Pinned) -> _Said:
    """Be unsure of a ROCm pin where a fix touches CUDA sources alone: a build may translate them, or not use them."""
    is_cuda = all(variant_of(path, pinned.scope) == "cuda" for path in paths)
    if said.answer is Answer.YES and pinned.variant == "rocm" and is_cuda:
        reason = f"{paths[0]} is CUDA code, which a ROCm build may translate; {said.reason}"
        return _Said(Answer.UNSURE, reason, "translated")
    return said


def _is_inside(anchor: Anchor, ancestors: Set[Oid], index: Index) -> bool:
    """Answer whether the pin has the line: its origin, or (for a guarded line) one that it grew from."""
    if anchor.is_older and (len(anchor.origins) == 1 or not anchor.is_removed):
        return True
    origins = anchor.origins[:1] if anchor.is_removed else anchor.origins
    return any(not ancestors.isdisjoint(index.same(origin)) for origin in origins)


def _by_blame(
    anchors: tuple[Anchor, ...], inside: tuple[Anchor, ...], where: tuple[str, ...], *, is_altered: bool
) -> _Said:
    """Answer by the share of the repaired lines that the pin has.

    `is_altered`: lines close to them came after the pin. The bug may have come with those.
    """
    share = len(inside) / len(anchors)
    kind = _kind(anchors)
    does = "repairs" if kind == "repaired" else "guards"
    lines = "line" if len(anchors) == 1 else "lines"
    if share == 1 and not where:
        reason = f"the pin has the history of the {lines} it {does}, but not the text"
        return _Said(Answer.UNSURE, reason, "lines reworded")
    if share == 1:
        count = "the line that" if len(anchors) == 1 else f"{len(inside)} of {len(anchors)} lines that"
        reason = f"{count} it {does} {'is' if len(inside) == 1 else 'are'} in the pin"
        if is_altered:
            answer = Answer.UNSURE if kind == "guarded" else Answer.YES
            return _Said(answer, f"{reason}; lines around came later", f"all lines {kind}, others around")
        return _Said(Answer.YES, reason, f"all lines {kind}")
    outside = Counter(anchor.origins[0] for anchor in anchors) - Counter(anchor.origins[0] for anchor in inside)
    newest = outside.most_common(1)[0][0][:12]
    if share == 0:
        reason = f"the lines that it {does} came in {newest}, which the pin lacks"
        return _Said(Answer.NO, reason, f"no line {kind}")
    rest = f"{len(inside)} of {len(anchors)} lines that it {does} are in the pin, the rest is of {newest}"
    if share < _FEW:
        return _Said(Answer.NO, f"only {rest}", "few lines")
    return _Said(Answer.UNSURE, rest, "most lines" if share >= _MOST else "half of the lines")


def _kind(anchors: tuple[Anchor, ...]) -> str:
    """Return what a fix does to its lines: to stand beside new code says less than to be wrapped by it."""
    if any(anchor.is_removed for anchor in anchors):
        return "repaired"
    return "wrapped" if all(anchor.is_wrapped for anchor in anchors) else "guarded"


def _untraced(fix: Fix, paths: tuple[str, ...], pinned: Pinned) -> _Said:
    """Answer by the paths alone, where no line can be traced: what a fix creates is in no pin."""
    altered = [path for path in paths if path not in fix.created]
    known = [path for path in altered if path in pinned.paths]
    if altered and not known:
        return _Said(Answer.NO, f"{altered[0]} does not exist at the pin", "no file")
    reason = f"it alters {known[0]}" if known else f"it adds {paths[0]}"
    return _Said(Answer.UNSURE, f"{reason} but leaves no line to trace", "nothing to trace")


def _by_message(fix: Fix, by_blame: _Said, pinned: Pinned, index: Index) -> _Said:
    """Let the message decide where it names the commit that brought the bug: its author knew."""
    if not fix.introduced:
        return by_blame
    brought = [oid for oid in fix.introduced if not pinned.ancestors.isdisjoint(index.same(oid))]
    if brought:
        reason = f"its message names {brought[0][:12]}, which the pin has; {by_blame.reason}"
        return _Said(Answer.YES, reason, "message names what the pin has")
    reason = f"its message names {fix.introduced[0][:12]}, which the pin lacks; {by_blame.reason}"
    return _Said(Answer.NO, reason, "message names what the pin lacks")


def _places(anchors: Iterable[Anchor], texts: Mapping[str, Numbered]) -> tuple[str, ...]:
    """Return `path:line` of the anchors' text in the pinned tree, in order, each once."""
    found: dict[tuple[str, int], None] = {}
    for anchor in anchors:
        place = _place(anchor, texts)
        if place is not None and place not in found:
            found[place] = None
    return tuple(f"{path}:{line}" for path, line in sorted(found))


def _place(anchor: Anchor, texts: Mapping[str, Numbered]) -> tuple[str, int] | None:
    """Return where the pinned tree has an anchor's text, or the text that it replaced; the nearest of equal lines."""
    for path in anchor.paths or (anchor.path,):
        lines = texts.get(path, {})
        for wording in anchor.wordings or (anchor.text,):
            if hits := lines.get(_squeezed(wording)):
                return path, _nearest(hits, anchor.line)
    return None


def _nearest(numbers: Sequence[int], wanted: int) -> int:
    """Return the number next to the wanted one; the numbers rise, and there may be as many as a file has lines."""
    at = bisect_left(numbers, wanted)
    return min(numbers[max(at - 1, 0) : at + 1], key=lambda number: abs(number - wanted))


def _squeezed(text: str) -> str:
    return "".join(text.split())
