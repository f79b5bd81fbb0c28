"""Bring from a mirror the contents that the judgement of one upstream's pins asks for.

Judging names what it needs (which diffs, which lines, which files of the pinned tree); this module fetches it in
batches and returns values. What is a fact about a change (which lines it repairs, who made them) is kept, so that
work grows with new upstream commits and not with pins.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from typing import Protocol

from watcher.graph import Graph
from watcher.judge import anchors
from watcher.judge.contract import VERSION_FILES
from watcher.lineage import lineage
from watcher.model import Anchor, BlamedLine, Change, Commit, FileDiff, LineRange, Oid, Repair
from watcher.upstream.contents import Pair
from watcher.upstream.mirror import Mirror
from watcher.upstream.objects import blobs_of

_STEPS = 4
"""How often a guarded line is followed back to the line that it replaced."""
_AT_ONCE = 64
"""So many changes are looked at together: what they alter is in memory."""
_WIDEST = 400
"""Letters of a line that are compared one by one: that takes their square."""
_ALIKE = 0.75
"""Least similarity (0 to 1) of a replaced line to count as the same one."""

Facts = Mapping[Oid, Repair]


class _Past(Protocol):
    """Knows where lines came from."""

    def blame(self, commit: Oid, path: str, lines: Mapping[int, str]) -> tuple[BlamedLine, ...]:
        """Return where lines of a file came from; `lines` has their numbers and texts."""

    def step(self, commit: Oid, path: str) -> tuple[Oid | None, tuple[FileDiff, ...]]:
        """Return a commit's first parent, and how the commit changed a file over it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """Asks git, file by file: right for one change, and for history without a bound. What is asked twice is kept."""

    mirror: Mirror
    bound: Oid | None
    blamed: dict[tuple[Oid, str, tuple[int, ...]], tuple[BlamedLine, ...]] = field(default_factory=dict)
    steps: dict[tuple[Oid, str], tuple[Oid | None, tuple[FileDiff, ...]]] = field(default_factory=dict)

    def blame(self, commit: Oid, path: str, lines: Mapping[int, str]) -> tuple[BlamedLine, ...]:
        """Return where lines came from; `lines` has their numbers."""
        asked = (commit, path, tuple(lines))
        if asked not in self.blamed:
            self.blamed[asked] = self.mirror.blame(commit, path, _ranges(lines), bound=self.bound)
        return self.blamed[asked]

    def step(self, commit: Oid, path: str) -> tuple[Oid | None, tuple[FileDiff, ...]]:
        """Return a commit's first parent, and how the commit changed a file over it."""
        if (commit, path) not in self.steps:
            parent = self.mirror.first_parent(commit)
            diffs = self.mirror.diff(parent, commit, ignore_space=True, paths=(path,)) if parent else ()
            self.steps[commit, path] = parent, diffs
        return self.steps[commit, path]


def repairs(
    mirror: Mirror,
    changes: Iterable[Change],
    bound: Oid | None,
    known: Facts,
    graph: Graph,
    commits: Mapping[Oid, Commit],
) -> dict[Oid, Repair]:
    """Return landing → the lines that a change repairs, computed unless `known` has it for a bound as old.

    `commits` has the metadata of those that are newer than the bound.
    """

    def is_known(landing: Oid) -> bool:
        if landing not in known:
            return False
        old = known[landing].bound
        return old is None or (bound is not None and graph.is_ancestor(old, bound))

    asked = list(changes)
    new = [change for change in asked if not is_known(change.landing)]
    past = _past(mirror, new, bound, graph, commits)
    found = {landing: it for part in _parts(new) for landing, it in _repairs(mirror, part, bound, past).items()}
    return {change.landing: found.get(change.landing) or known[change.landing] for change in asked}


def repair(mirror: Mirror, change: Change, bound: Oid | None) -> Repair:
    """Return the lines that a change repairs and the commits that made them, back to `bound`."""
    return _repairs(mirror, [change], bound, _Asked(mirror=mirror, bound=bound))[change.landing]


def _parts(changes: Sequence[Change]) -> Iterable[Sequence[Change]]:
    return (changes[at : at + _AT_ONCE] for at in range(0, len(changes), _AT_ONCE))


def _past(
    mirror: Mirror, changes: Sequence[Change], bound: Oid | None, graph: Graph, commits: Mapping[Oid, Commit]
) -> _Past:
    """Bring the history of the code that changes alter, or leave it to git where there is no end to it."""
    based = [change for change in changes if change.before is not None]
    if bound is None or not based:
        return _Asked(mirror=mirror, bound=bound)
    told = mirror.changed_paths(map(_pair, based))
    code = {it.path for changed in told.values() for it in changed if anchors.is_code(it.path)}
    dates = {found: int(commit.committed_at.timestamp()) for found, commit in commits.items()}
    tips = [change.before for change in based if change.before]
    both = blobs_of(it for changed in told.values() for it in changed)
    followed = lineage(mirror, graph, tips, code, bound, dates=dates, beside=VERSION_FILES, and_with=both)
    return followed or _Asked(mirror=mirror, bound=bound)


def _repairs(mirror: Mirror, changes: Sequence[Change], bound: Oid | None, past: _Past) -> dict[Oid, Repair]:
    """Return landing → the lines that a change repairs, for so many changes as can be held at once."""
    diffs = mirror.diffs(map(_pair, changes), ignore_space=True)
    only_adding = [it for it in changes if it.before is not None and not anchors.removed_lines(diffs[_pair(it)])]
    plain = mirror.diffs(map(_pair, only_adding), ignore_space=False)
    before = _before(mirror, changes)
    found = {
        it.landing: _repair(past, it, diffs[_pair(it)], plain.get(_pair(it), ()), before[_pair(it)]) for it in changes
    }
    return {landing: replace(repaired, bound=bound) for landing, repaired in found.items()}


def _repair(
    past: _Past,
    change: Change,
    diffs: Sequence[FileDiff],
    plain: Sequence[FileDiff],
    before: Mapping[str, Sequence[str]],
) -> Repair:
    """Return the lines that a change repairs; `diffs` ignore white space, `plain`, where it only adds, do not.

    `before`: the lines of each file of code before the change.
    """
    added, removed = anchors.weight(diffs)
    nothing = Repair(landing=change.landing, bound=None, anchors=(), added=added, removed=removed)
    if change.before is None:
        return nothing
    lengths = {path: len(held) for path, held in before.items()}
    wanted = anchors.removed_lines(diffs)
    is_removed, wrapped = bool(wanted), frozenset[str]()
    if not is_removed:
        wrapped = frozenset(anchors.removed_lines(plain))
        wanted = anchors.guarded_lines(diffs, plain, lengths)
    around = anchors.surroundings(diffs, lengths)
    blamed = {
        path: past.blame(change.before, path, _texts(before.get(path, ()), {*numbers, *around.get(path, ())}))
        for path, numbers in wanted.items()
    }
    return replace(
        nothing,
        anchors=_anchors(past, wanted, blamed, is_removed=is_removed, wrapped=wrapped),
        nearby=_nearby(wanted, blamed),
    )


def shape(mirror: Mirror, change: Change) -> Repair:
    """Return how much shipped code a change adds and removes, without asking who made the lines."""
    added, removed = anchors.weight(mirror.diff(change.before, change.landing, ignore_space=True))
    return Repair(landing=change.landing, bound=None, anchors=(), added=added, removed=removed)


def texts(mirror: Mirror, blobs: Mapping[tuple[Oid, str], Oid]) -> dict[tuple[Oid, str], tuple[str, ...]]:
    """Return (commit, path) → lines, for files whose contents are named; read in one batch."""
    held = {blob: lines(content) for blob, content in mirror.read(blobs.values()).items()}
    return {place: held[blob] for place, blob in blobs.items() if blob in held}


def lines(content: bytes) -> tuple[str, ...]:
    """Return a file's lines as git counts them: by line feeds alone, where splitlines() breaks at form feeds too."""
    return tuple(content.decode(errors="replace").removesuffix("\n").split("\n"))


def _before(mirror: Mirror, changes: Iterable[Change]) -> dict[Pair, dict[str, tuple[str, ...]]]:
    """Return the lines that each file of code had before each change."""
    told = mirror.changed_paths(map(_pair, changes))
    blobs = {
        pair: {it.path: it.blob_before for it in changed if it.blob_before and anchors.is_code(it.path)}
        for pair, changed in told.items()
    }
    contents = mirror.read(blob for files in blobs.values() for blob in files.values())
    held = {blob: lines(content) for blob, content in contents.items()}
    return {pair: {path: held[blob] for path, blob in files.items() if blob in held} for pair, files in blobs.items()}


def _texts(held: Sequence[str], numbers: Iterable[int]) -> dict[int, str]:
    """Return the texts of those lines that a file has."""
    return {number: held[number - 1] for number in sorted(numbers) if number <= len(held)}


def _pair(change: Change) -> Pair:
    return (change.before, change.landing)


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
    past: _Past,
    wanted: Mapping[str, tuple[int, ...]],
    blamed: Mapping[str, tuple[BlamedLine, ...]],
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
            found.append(anchor if is_removed else _followed(past, anchor, line))
    return tuple(found)


def _followed(past: _Past, anchor: Anchor, blamed: BlamedLine) -> Anchor:
    """Follow a line back through the most similar lines that it replaced, at most a few steps."""
    for _ in range(_STEPS):
        if blamed.is_boundary:
            break
        earlier = _replaced(past, blamed)
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


def _replaced(past: _Past, blamed: BlamedLine) -> BlamedLine | None:
    """Return the line that the origin of a blamed line put it in place of, or None."""
    parent, diffs = past.step(blamed.origin, blamed.origin_path)
    for diff in diffs:
        for hunk in diff.hunks:
            if not hunk.new_start <= blamed.origin_line < hunk.new_start + len(hunk.new) or not diff.old_path:
                continue
            scored = [(_likeness(blamed.text, text), hunk.old_start + at) for at, text in enumerate(hunk.old)]
            best = max(scored, default=(0.0, 0))
            if parent and best[0] >= _ALIKE:
                found = past.blame(parent, diff.old_path, {best[1]: hunk.old[best[1] - hunk.old_start]})
                return next(iter(found), None)
    return None


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one.strip()[:_WIDEST], other.strip()[:_WIDEST], autojunk=False).ratio()


def _ranges(numbers: Iterable[int]) -> list[LineRange]:
    """Return consecutive numbers as ranges."""
    found: list[LineRange] = []
    for number in sorted(set(numbers)):
        if found and found[-1].last == number - 1:
            found[-1] = LineRange(first=found[-1].first, last=number)
        else:
            found.append(LineRange(first=number, last=number))
    return found
