"""Where did lines come from, within a stretch of history that is held?

git answers for one file a program. Here the history of all files in question is brought at once (which commits changed
them, from which names, with which patches), and the lines of any of them are followed in memory: by the rules of
`git blame -w`, and with git's own patches, so the answers are git's.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field

from watcher.graph import Graph
from watcher.model import BlamedLine, ChangedPath, FileDiff, Oid
from watcher.upstream import patch
from watcher.upstream.contents import Pair
from watcher.upstream.mirror import Mirror
from watcher.upstream.objects import blobs_of

_MOST_VERSIONS = 20_000
"""More contents than this are not brought in foresight."""
_SPANS = re.compile(rb"^@@ -([0-9]+)(?:,([0-9]+))? \+([0-9]+)(?:,([0-9]+))? @@", re.MULTILINE)
"""No other line of a patch begins like this: those of files have a sign."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """The file that a commit's parent had in the place of one of its own."""

    parent: Oid
    path: str
    before: Oid
    after: Oid

    @property
    def is_same(self) -> bool:
        """Answer whether the commit left the content alone."""
        return self.before == self.after


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineage:
    """The history of some files after a bound: facts of objects, so the same whoever asks."""

    parents: Mapping[Oid, tuple[Oid, ...]]
    """The commits that are looked at, none of which the bound has, with their parents."""
    changed: Mapping[Pair, Mapping[str, ChangedPath]]
    """Parent and commit → what the commit has otherwise, of the files in question."""
    renamed: Mapping[tuple[Pair, str], ChangedPath]
    """Parent and commit, and a path that is new in it → what git says it was renamed from: its path and content."""
    patches: Mapping[tuple[Oid, Oid], bytes]
    """Content before and after → git's patch; those that differ in white space alone have none."""
    dates: Mapping[Oid, int]
    """Commit → when it was committed, in seconds since 1970, UTC."""
    large: Set[Oid] = frozenset()
    """Contents that are compared with no other: what is in them, or was put in their place, is new."""
    _spans: dict[tuple[Oid, Oid], tuple[list[int], list[int], list[int]]] = field(default_factory=dict)

    def blame(self, commit: Oid, path: str, lines: Mapping[int, str]) -> tuple[BlamedLine, ...]:
        """Return where lines of a file came from; `lines` has their numbers and texts."""
        found: dict[int, BlamedLine] = {}
        todo = [(commit, path, {number: number for number in lines})]
        while todo:
            at, name, wanted = todo.pop()
            at = self._made(at, name)
            sources = self._sources(at, name)
            for source in sources:
                passed, wanted = self._passed(source, wanted)
                if passed:
                    todo.append((source.parent, source.path, passed))
            is_boundary = not self.parents.get(at)
            for here, number in wanted.items():
                found[number] = BlamedLine(
                    line=number,
                    text=lines[number],
                    origin=at,
                    origin_path=name,
                    origin_line=here,
                    origin_date=self.dates.get(at, 0),
                    is_boundary=is_boundary,
                )
        return tuple(found[number] for number in sorted(found))

    def step(self, commit: Oid, path: str) -> tuple[Oid | None, tuple[FileDiff, ...]]:
        """Return a commit's first parent, and how the commit changed a file over it."""
        if not self.parents.get(commit):
            return None, ()
        parent = self.parents[commit][0]
        source = self._source(parent, commit, path)
        if source is None or source.is_same:
            return parent, ()
        return parent, tuple(patch.file_diffs(self.patches.get((source.before, source.after), b"")))

    def _made(self, commit: Oid, path: str) -> Oid:
        """Return the commit that a file came from as it is, along the first parents that have the same."""
        while (parents := self.parents.get(commit)) and path not in self.changed.get((parents[0], commit), ()):
            commit = parents[0]
        return commit

    def _sources(self, commit: Oid, path: str) -> tuple[_Source, ...]:
        """Return where a file may have its lines from: a parent that has the same content, else all that have it.

        Former names count only after no parent had the same content under the same name.
        """
        parents = self.parents.get(commit, ())
        found: dict[Oid, _Source] = {}
        for parent in parents:
            change = self.changed.get((parent, commit), {}).get(path)
            if change is None:
                return (_Source(parent=parent, path=path, before=commit, after=commit),)
            if change.status == "M" and (source := self._source(parent, commit, path)):
                if source.is_same:
                    return (source,)
                found[parent] = source
        for parent in parents:
            if parent not in found and (source := self._source(parent, commit, path)):
                if source.is_same:
                    return (source,)
                found[parent] = source
        return tuple(found[parent] for parent in parents if parent in found)

    def _source(self, parent: Oid, commit: Oid, path: str) -> _Source | None:
        """Return what a parent had in the place of a file that a commit changed; None where that was new."""
        change = self.changed.get((parent, commit), {}).get(path)
        if change is not None and change.status == "A":
            change = self.renamed.get(((parent, commit), path))
        if change is None or change.status not in {"M", "R"} or not change.blob_before or not change.blob_after:
            return None
        if change.blob_before != change.blob_after and not self.large.isdisjoint(blobs_of([change])):
            return None
        return _Source(parent=parent, path=change.path, before=change.blob_before, after=change.blob_after)

    def _passed(self, source: _Source, wanted: Mapping[int, int]) -> tuple[dict[int, int], dict[int, int]]:
        """Return which lines a parent has as well, under its own numbers, and which are left."""
        starts, ends, shifts = self._spans_of(source)
        passed, left = {}, {}
        for here, number in wanted.items():
            at = bisect_right(starts, here) - 1
            if at < 0:
                passed[here] = number
            elif here < ends[at]:
                left[here] = number
            else:
                passed[here - shifts[at]] = number
        return passed, left

    def _spans_of(self, source: _Source) -> tuple[list[int], list[int], list[int]]:
        """Return where each hunk of a patch begins and ends in the file after it, and how far it moves what follows."""
        key = (source.before, source.after)
        if key not in self._spans:
            starts, ends, shifts, shift = list[int](), list[int](), list[int](), 0
            for _, old, start, new in _SPANS.findall(self.patches.get(key, b"")):
                count = int(new or 1)
                # A hunk that only removes stands after the line that it names.
                first = int(start) + (count == 0)
                shift += count - int(old or 1)
                starts.append(first)
                ends.append(first + count)
                shifts.append(shift)
            self._spans[key] = starts, ends, shifts
        return self._spans[key]


def lineage(
    mirror: Mirror,
    graph: Graph,
    tips: Iterable[Oid],
    paths: Iterable[str],
    bound: Oid,
    *,
    dates: Mapping[Oid, int],
    beside: Iterable[str] = (),
    and_with: Iterable[Oid] = (),
) -> Lineage | None:
    """Bring the history of files after a bound, up to the tips, with their former names; None where it is too much.

    What the paths `beside` held, and the contents `and_with`, are brought in the same batch: somebody will read them.
    """
    parents = {commit: graph.parents(commit) for commit in graph.ancestors(*tips, without=graph.ancestors(bound))}
    wanted, also = set(paths), frozenset(beside)
    changed, renamed = _followed(mirror, parents, wanted, also)
    made = {pair: changed[pair].values() for pair, _ in _made(parents, changed)}
    blobs = set(mirror.entries(bound, wanted | also)[0].values()).union(*map(blobs_of, made.values()))
    if len(blobs) > _MOST_VERSIONS:
        return None
    mirror.prefetch({*blobs, *and_with})
    large = mirror.large(blobs)
    edited: dict[frozenset[str], list[Pair]] = defaultdict(list)
    for pair, some in made.items():
        mine = [it for it in some if it.path in wanted]
        if any(it.status == "M" for it in mine):
            # Who asks for text gets it, however much it is.
            edited[frozenset(it.path for it in mine if not large.isdisjoint(blobs_of([it])))].append(pair)
    patches: dict[tuple[Oid, Oid], bytes] = {}
    for apart, pairs in edited.items():
        patches |= mirror.edits(pairs, wanted - apart)
    for ((before, after), path), source in renamed.items():
        if source.blob_before != source.blob_after and large.isdisjoint(blobs_of([source])):
            patches |= mirror.edits([(before, after)], [source.path, path], renames=True)
    return Lineage(parents=parents, changed=changed, renamed=renamed, patches=patches, dates=dates, large=large)


def _made(
    parents: Mapping[Oid, tuple[Oid, ...]], changed: Mapping[Pair, Mapping[str, ChangedPath]]
) -> Iterator[tuple[Pair, ChangedPath]]:
    """Yield the changes by which contents came about: a merge that has a parent's content made none."""
    for commit, some in parents.items():
        edges = [(parent, commit) for parent in some or (None,)]
        first, *others = (changed.get(edge, {}) for edge in edges)
        for path in first:
            if all(path in other for other in others):
                yield from ((edge, changed[edge][path]) for edge in edges)


def _followed(
    mirror: Mirror, parents: Mapping[Oid, tuple[Oid, ...]], wanted: set[str], also: Set[str]
) -> tuple[dict[Pair, dict[str, ChangedPath]], dict[tuple[Pair, str], ChangedPath]]:
    """Return what commits have otherwise than each parent, and what new files were renamed from; adds these names."""
    changed: dict[Pair, dict[str, ChangedPath]] = defaultdict(dict)
    renamed: dict[tuple[Pair, str], ChangedPath] = {}
    pairs = [(parent, commit) for commit, some in parents.items() for parent in some or (None,)]
    new = {*wanted, *also}
    while new:
        for pair, changes in mirror.changed_paths(pairs, new).items():
            changed[pair].update((change.path, change) for change in changes)
        made = ((pair, it) for pair, it in _made(parents, changed) if it.path in new & wanted)
        added = [(pair, it.path) for pair, it in made if it.status == "A" and pair[0]]
        told = mirror.renames(dict.fromkeys(pair for pair, _ in added))
        found = {(pair, path): told[pair][path] for pair, path in added if path in told.get(pair, ())}
        renamed |= found
        new = {source.path for source in found.values()} - wanted
        wanted |= new
    return changed, renamed
