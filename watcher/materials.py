"""Bring from a mirror the contents that the judgement of one upstream's pins asks for.

Judging names what it needs (which diffs, which lines, which files of the pinned tree); this module fetches it in
batches and returns values. What is a fact about a change (which lines it repairs, who made them) is kept, so that
work grows with new upstream commits and not with pins.
"""

from collections.abc import Iterable, Mapping, Set
from dataclasses import replace
from difflib import SequenceMatcher

from watcher.graph import Graph
from watcher.judge import anchors
from watcher.model import Anchor, BlamedLine, Change, FileDiff, LineRange, Oid, Repair
from watcher.upstream.mirror import Mirror

_STEPS = 4
"""How often a guarded line is followed back to the line that it replaced."""
_ALIKE = 0.75
"""Least similarity (0 to 1) of a replaced line to count as the same one."""

Facts = Mapping[Oid, Repair]


def repairs(
    mirror: Mirror, changes: Iterable[Change], bound: Oid | None, known: Facts, graph: Graph
) -> dict[Oid, Repair]:
    """Return landing → the lines that a change repairs, computed unless `known` has it for a bound as old."""

    def is_known(landing: Oid) -> bool:
        if landing not in known:
            return False
        old = known[landing].bound
        return old is None or (bound is not None and graph.is_ancestor(old, bound))

    return {
        change.landing: known[change.landing] if is_known(change.landing) else repair(mirror, change, bound)
        for change in changes
    }


def repair(mirror: Mirror, change: Change, bound: Oid | None) -> Repair:
    """Return the lines that a change repairs and the commits that made them, back to `bound`."""
    diffs = mirror.diff(change.before, change.landing, ignore_space=True)
    added, removed = anchors.weight(diffs)
    blamed: dict[str, tuple[BlamedLine, ...]] = {}
    wanted: Mapping[str, tuple[int, ...]] = {}
    is_removed = True
    wrapped: Set[str] = frozenset()
    if change.before is not None:
        lengths = _lengths(mirror, change.before, diffs)
        wanted = anchors.removed_lines(diffs)
        if not wanted:
            plain = mirror.diff(change.before, change.landing, ignore_space=False)
            is_removed, wrapped = False, anchors.removed_lines(plain).keys()
            wanted = anchors.guarded_lines(diffs, plain, lengths)
        around = anchors.surroundings(diffs, lengths)
        blamed = {
            path: mirror.blame(change.before, path, _ranges([*numbers, *around.get(path, ())]), bound=bound)
            for path, numbers in wanted.items()
        }
    return Repair(
        landing=change.landing,
        bound=bound,
        anchors=_anchors(mirror, wanted, blamed, bound, is_removed=is_removed, wrapped=wrapped),
        nearby=_nearby(wanted, blamed),
        added=added,
        removed=removed,
        patch_id=mirror.patch_id(change.before, change.landing),
    )


def shape(mirror: Mirror, change: Change) -> Repair:
    """Return how much shipped code a change adds and removes, without asking who made the lines."""
    added, removed = anchors.weight(mirror.diff(change.before, change.landing, ignore_space=True))
    return Repair(landing=change.landing, bound=None, anchors=(), added=added, removed=removed)


def texts(mirror: Mirror, wanted: Iterable[tuple[Oid, str]]) -> dict[tuple[Oid, str], tuple[str, ...]]:
    """Return (commit, path) → lines, for those paths that the commits have; read in one batch."""
    pairs = list(dict.fromkeys(wanted))
    trees = {commit: mirror.files(commit) for commit in {commit for commit, _ in pairs}}
    blobs = {(commit, path): trees[commit][path] for commit, path in pairs if path in trees[commit]}
    contents = mirror.read(blobs.values())
    return {place: lines(contents[blob]) for place, blob in blobs.items() if blob in contents}


def lines(content: bytes) -> tuple[str, ...]:
    """Return a file's lines as git counts them: by line feeds alone, where splitlines() breaks at form feeds too."""
    return tuple(content.decode(errors="replace").removesuffix("\n").split("\n"))


def _lengths(mirror: Mirror, commit: Oid, diffs: Iterable[FileDiff]) -> dict[str, int]:
    paths = [(commit, diff.old_path) for diff in diffs if diff.old_path is not None]
    return {path: len(lines) for (_, path), lines in texts(mirror, paths).items()}


def _nearby(wanted: Mapping[str, tuple[int, ...]], blamed: Mapping[str, tuple[BlamedLine, ...]]) -> dict[str, Oid]:
    """Return path → the newest commit that made a line around the wanted ones."""
    around = {
        path: [
            line
            for line in found
            if line.line not in wanted[path] and not line.is_boundary and anchors.is_significant(line.text)
        ]
        for path, found in blamed.items()
    }
    return {path: max(found, key=lambda line: line.origin_date).origin for path, found in around.items() if found}


def _anchors(
    mirror: Mirror,
    wanted: Mapping[str, tuple[int, ...]],
    blamed: Mapping[str, tuple[BlamedLine, ...]],
    bound: Oid | None,
    *,
    is_removed: bool,
    wrapped: Set[str],
) -> tuple[Anchor, ...]:
    """Return an anchor for each wanted line; a guarded one is followed back through the lines that it replaced."""
    found = []
    for path, numbers in wanted.items():
        for line in blamed[path]:
            if line.line not in numbers or not anchors.is_significant(line.text):
                continue
            anchor = Anchor(
                path=path,
                line=line.line,
                text=line.text,
                is_removed=is_removed,
                is_wrapped=path in wrapped,
                origins=(line.origin,),
                is_older=line.is_boundary,
                paths=tuple(dict.fromkeys((path, line.origin_path))),
                wordings=(line.text,),
            )
            found.append(anchor if is_removed else _followed(mirror, anchor, line, bound))
    return tuple(found)


def _followed(mirror: Mirror, anchor: Anchor, blamed: BlamedLine, bound: Oid | None) -> Anchor:
    """Follow a line back through the most similar lines that it replaced, at most a few steps."""
    for _ in range(_STEPS):
        if blamed.is_boundary:
            break
        earlier = _replaced(mirror, blamed, bound)
        if earlier is None:
            break
        blamed = earlier
        anchor = replace(
            anchor,
            origins=(*anchor.origins, blamed.origin),
            is_older=blamed.is_boundary,
            paths=tuple(dict.fromkeys((*anchor.paths, blamed.origin_path))),
            wordings=tuple(dict.fromkeys((*anchor.wordings, blamed.text))),
        )
    return anchor


def _replaced(mirror: Mirror, blamed: BlamedLine, bound: Oid | None) -> BlamedLine | None:
    """Return the line that the origin of a blamed line put it in place of, or None."""
    parent = mirror.first_parent(blamed.origin)
    if parent is None:
        return None
    for diff in mirror.diff(parent, blamed.origin, ignore_space=True, paths=(blamed.origin_path,)):
        for hunk in diff.hunks:
            if not hunk.new_start <= blamed.origin_line < hunk.new_start + len(hunk.new) or not diff.old_path:
                continue
            scored = [(_likeness(blamed.text, text), hunk.old_start + at) for at, text in enumerate(hunk.old)]
            best = max(scored, default=(0.0, 0))
            if best[0] >= _ALIKE:
                line = mirror.blame(parent, diff.old_path, [LineRange(first=best[1], last=best[1])], bound=bound)
                return next(iter(line), None)
    return None


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one.strip(), other.strip(), autojunk=False).ratio()


def _ranges(numbers: Iterable[int]) -> list[LineRange]:
    """Return consecutive numbers as ranges."""
    found: list[LineRange] = []
    for number in sorted(set(numbers)):
        if found and found[-1].last == number - 1:
            found[-1] = LineRange(first=found[-1].first, last=number)
        else:
            found.append(LineRange(first=number, last=number))
    return found
