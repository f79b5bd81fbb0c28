"""Does a fix concern a pin: does the pin lack it, and hold the lines that it repairs?

By blame: the commits that made those lines what they are, are ancestors of the pin. By text: the lines stand in the
pinned tree, and that is where we point. We never say "safe", we say "no fix found".
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple

from watcher.judge.equivalents import Equivalents, Index, held_as
from watcher.judge.shipped import concerns, variant_of
from watcher.model import Anchor, Answer, Fix, Oid, Repair, Verdict

_SURE = 2 / 3
"""Share of the anchors that must be in the pin to say yes; between the two it is unsure."""
_FEW = 1 / 3
"""Share below which it is no: such pins came before the bug in 19 of 19 known cases."""

_CONFIDENCE: Mapping[str, float] = {
    "contained": 0.99,
    "message": 0.97,
    "all lines it repairs": 0.93,
    "all lines it guards": 0.9,
    "most lines": 0.7,
    "few lines": 0.85,
    "no line it repairs": 0.95,
    "no line it guards": 0.6,
    "no file": 0.9,
    "unsure": 0.45,
}
"""How sure an answer of each making is: estimates after FIXES.md §5, not yet a measured calibration."""

Numbered = Mapping[str, Sequence[int]]
"""A file as text without white space → the 1-based numbers of the lines that say it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinned:
    """What a pin ships: the history and the tree of its commit, for one variant."""

    ancestors: frozenset[Oid]
    variant: str
    paths: frozenset[str]
    texts: Mapping[str, Numbered]
    """Path → its lines, for the paths that fixes repair."""


def numbered(lines: Iterable[str]) -> Numbered:
    """Return the lines of a file so that a text is found at once."""
    found: dict[str, list[int]] = defaultdict(list)
    for number, text in enumerate(lines, 1):
        found[_squeezed(text)].append(number)
    return dict(found)


class _Said(NamedTuple):
    """An answer on its way to the verdict."""

    answer: Answer
    reason: str
    confidence: float


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
            confidence=_CONFIDENCE["contained"],
        )
    mattering = tuple(path for path in fix.paths if concerns(path, pinned.variant))
    if not mattering:
        return None
    anchors = tuple(anchor for anchor in (repair.anchors if repair else ()) if concerns(anchor.path, pinned.variant))
    inside = tuple(anchor for anchor in anchors if _is_inside(anchor, pinned.ancestors, index))
    where = _places(inside, pinned.texts)
    said = _by_message(fix, _by_blame(anchors, inside, where, mattering, pinned), pinned, index)
    said = _translated(said, mattering, pinned.variant)
    return Verdict(
        fix=fix.id,
        answer=said.answer,
        where=where if said.answer is not Answer.NO else (),
        reason=said.reason,
        confidence=said.confidence,
    )


def _translated(said: _Said, paths: tuple[str, ...], variant: str) -> _Said:
    """Be unsure of a ROCm pin where a fix touches CUDA sources alone: a build may translate them, or not use them."""
    if said.answer is Answer.YES and variant == "rocm" and all(variant_of(path) == "cuda" for path in paths):
        reason = f"{paths[0]} is CUDA code, which a ROCm build may translate; {said.reason}"
        return _Said(Answer.UNSURE, reason, _CONFIDENCE["unsure"])
    return said


def _is_inside(anchor: Anchor, ancestors: Set[Oid], index: Index) -> bool:
    """Answer whether the pin has the line: its origin, or (for a guarded line) one that it grew from."""
    if anchor.is_older and (len(anchor.origins) == 1 or not anchor.is_removed):
        return True
    origins = anchor.origins[:1] if anchor.is_removed else anchor.origins
    return any(not index.same(origin).isdisjoint(ancestors) for origin in origins)


def _by_blame(
    anchors: tuple[Anchor, ...],
    inside: tuple[Anchor, ...],
    where: tuple[str, ...],
    mattering: tuple[str, ...],
    pinned: Pinned,
) -> _Said:
    """Answer by the share of the repaired lines that the pin has."""
    unsure = _CONFIDENCE["unsure"]
    if not anchors:
        known = [path for path in mattering if path in pinned.paths]
        if not known:
            return _Said(Answer.NO, f"{mattering[0]} does not exist at the pin", _CONFIDENCE["no file"])
        return _Said(Answer.UNSURE, f"it alters {known[0]} but leaves no line to trace", unsure)
    share = len(inside) / len(anchors)
    is_removal = any(anchor.is_removed for anchor in anchors)
    kind = "repairs" if is_removal else "guards"
    if share >= _SURE:
        lines = "line" if len(anchors) == 1 else "lines"
        if not where:
            return _Said(Answer.UNSURE, f"the pin has the history of the {lines} it {kind}, but not the text", unsure)
        count = "the line" if len(anchors) == 1 else f"{len(inside)} of {len(anchors)} lines"
        confidence = _CONFIDENCE[f"all lines it {kind}" if share == 1 else "most lines"]
        return _Said(Answer.YES, f"{count} that it {kind} {'is' if len(inside) == 1 else 'are'} in the pin", confidence)
    outside = Counter(anchor.origins[0] for anchor in anchors) - Counter(anchor.origins[0] for anchor in inside)
    newest = outside.most_common(1)[0][0][:12]
    if 0 < share < _FEW:
        reason = f"only {len(inside)} of {len(anchors)} lines that it {kind} are in the pin, the rest is of {newest}"
        return _Said(Answer.NO, reason, _CONFIDENCE["few lines"])
    if share == 0:
        reason = f"the lines that it {kind} came in {newest}, which the pin lacks"
        return _Said(Answer.NO, reason, _CONFIDENCE[f"no line it {kind}"])
    return _Said(
        Answer.UNSURE, f"{len(inside)} of {len(anchors)} lines are in the pin, the rest is of {newest}", unsure
    )


def _by_message(fix: Fix, by_blame: _Said, pinned: Pinned, index: Index) -> _Said:
    """Let the message decide where it names the commit that brought the bug: its author knew."""
    if not fix.introduced:
        return by_blame
    brought = [oid for oid in fix.introduced if not index.same(oid).isdisjoint(pinned.ancestors)]
    if brought:
        reason = f"its message names {brought[0][:12]}, which the pin has; {by_blame.reason}"
        return _Said(Answer.YES, reason, _CONFIDENCE["message"])
    reason = f"its message names {fix.introduced[0][:12]}, which the pin lacks; {by_blame.reason}"
    return _Said(Answer.NO, reason, _CONFIDENCE["message"])


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
                return path, min(hits, key=lambda number: abs(number - anchor.line))
    return None


def _squeezed(text: str) -> str:
    return "".join(text.split())
