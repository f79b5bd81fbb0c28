"""Read git's own table of commits: the commit-graph file, as gitformat-commit-graph(5) describes it.

The file holds every commit's parents and level in columns of fixed width; mapped into memory, a million commits are
there at once. It is believed when its checksum and its structure hold, and refused as a whole when they do not.
Generation data of the second version is passed over: the levels are in the file beside it.
"""

import hashlib
import struct
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain, pairwise

import numpy as np
from numpy.typing import NDArray

from watcher.commitsets import beyond
from watcher.errors import WatcherError
from watcher.model import Oid, is_oid
from watcher.numbered import NONE, Table, leveled

Numbers = NDArray[np.int32]
Words = NDArray[np.uint32]

_HASHES = {1: ("sha1", 20), 2: ("sha256", 32)}
_HEADER = 8
_BYTES = 256
_ROW = 12
"""Bytes of a row in the table of chunks."""
_NO_PARENT = 0x70000000
_FLAG = 0x80000000
"""On a second parent: look in the list of further parents. There: the last one."""
_REST = 0x7FFFFFFF
_NONE = 0xFFFFFFFF
"""NONE, as a number without a sign."""
_ASKED = 1 << 16
"""So many ids are looked up but once."""


class CommitGraphError(WatcherError):
    """A commit-graph file is broken, or of a kind that is not understood: what it says is not used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ids:
    """The ids of one file's commits, sorted."""

    names: memoryview
    """One after the other."""
    width: int
    """Bytes of an id."""
    fanout: Sequence[int]
    """First byte of an id → how many ids begin with it or less."""

    def __len__(self) -> int:
        return self.fanout[255]

    def __getitem__(self, place: int) -> bytes:
        return self.names[place * self.width : (place + 1) * self.width].tobytes()

    def __contains__(self, wanted: bytes) -> bool:
        return self.find(wanted) is not None

    def find(self, wanted: bytes) -> int | None:
        """Return the place of an id, or None."""
        low, high = self.fanout[wanted[0] - 1] if wanted[0] else 0, self.fanout[wanted[0]]
        while low < high:
            middle = (low + high) // 2
            if self[middle] < wanted:
                low = middle + 1
            else:
                high = middle
        return low if low < len(self) and self[low] == wanted else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One file: some commits, whose parents are among them or in the layers below."""

    name: str
    """Its checksum, in hexadecimal digits."""
    bases: tuple[str, ...]
    """The names of the layers below, lowest first."""
    ids: Ids
    first: Words
    """Parents as the file has them: numbers that go on from one layer to the next."""
    second: Words
    levels: Numbers
    edges: Words
    """Further parents."""


# --- one file --------------------------------------------------------------------------------------------------------


def layer(data: memoryview) -> Layer:
    """Read one file; raise CommitGraphError for one that is broken."""
    try:
        return _layer(data)
    except (IndexError, KeyError, ValueError, struct.error) as error:
        raise CommitGraphError(f"the commit-graph file is broken: {error}") from error


def _layer(data: memoryview) -> Layer:
    signature, version, hashed, count, below = struct.unpack_from(">4sBBBB", data)
    _require(signature == b"CGPH" and version == 1, "it is of another kind")
    algorithm, width = _HASHES[hashed]
    digest = hashlib.new(algorithm, data[:-width], usedforsecurity=False).digest()
    _require(digest == data[-width:], "its checksum is wrong")
    chunks = _chunks(data, count, len(data) - width)
    fanout = np.frombuffer(chunks[b"OIDF"], ">u4").astype(np.int64)
    _require(len(fanout) == _BYTES and bool((np.diff(fanout) >= 0).all()), "its fan-out is wrong")
    size = int(fanout[-1])
    ids, rows = chunks[b"OIDL"], chunks[b"CDAT"]
    _require(len(ids) == size * width and len(rows) == size * (width + 16), "its tables are cut")
    _require(_are_sorted(ids, width, fanout), "its ids are out of order")
    bases = chunks.get(b"BASE", data[:0])
    _require(len(bases) == below * width, "its layers are not those it names")
    parts = [("tree", f"V{width}"), ("first", ">u4"), ("second", ">u4"), ("level", ">u4"), ("date", ">u4")]
    known = np.frombuffer(rows, parts)
    return Layer(
        name=digest.hex(),
        bases=tuple(bases[at * width : (at + 1) * width].hex() for at in range(below)),
        ids=Ids(names=ids, width=width, fanout=fanout.tolist()),
        first=known["first"].astype(np.uint32),
        second=known["second"].astype(np.uint32),
        # The lowest two bits belong to the date.
        levels=(known["level"].astype(np.uint32) >> 2).astype(np.int32),
        edges=np.frombuffer(chunks.get(b"EDGE", data[:0]), ">u4").astype(np.uint32),
    )


def _chunks(data: memoryview, count: int, end: int) -> dict[bytes, memoryview]:
    """Return the file's chunks by name: each begins where the table says, and ends where the next one begins."""
    rows = [struct.unpack_from(">4sQ", data, _HEADER + _ROW * at) for at in range(count + 1)]
    _require(rows[-1] == (bytes(4), end) and len(dict(rows)) == count + 1, "its table of chunks is wrong")
    _require(rows[0][1] >= _HEADER + _ROW * len(rows), "its table of chunks is wrong")
    _require(all(start <= after for (_, start), (_, after) in pairwise(rows)), "its table of chunks is wrong")
    return {name: data[start:after] for (name, start), (_, after) in pairwise(rows)}


def _are_sorted(ids: memoryview, width: int, fanout: NDArray[np.int64]) -> bool:
    """Answer whether ids rise from one to the next, and begin with the bytes that the fan-out says."""
    names = np.frombuffer(ids, f"S{width}")
    begins = np.bincount(np.frombuffer(ids, np.uint8)[::width], minlength=256)
    return bool((names[1:] > names[:-1]).all() and (np.cumsum(begins) == fanout).all())


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise CommitGraphError(f"the commit-graph file is broken: {otherwise}")


# --- a history -------------------------------------------------------------------------------------------------------


class Mapped(Table):
    """A table read from git's files, with the commits that are newer than these on top.

    Held is what the tips reach; the files may know more. `newer` has the parents of what they lack.
    """

    def __init__(
        self, layers: Sequence[Layer], tips: Iterable[Oid], newer: Mapping[Oid, tuple[Oid, ...]] | None = None
    ) -> None:
        _check_chain(layers)
        self._ids = tuple(it.ids for it in layers)
        self._starts = [0, *accumulate(map(len, self._ids))]
        self._newer: dict[Oid, int] = {}
        self._asked: dict[object, int | None] = {}
        self.first, self.second, self.more = _links(layers, self._starts)
        self._levels = _column(np.concatenate([it.levels for it in layers]))
        _check_levels(self)
        self._add(newer or {})
        self.dead, left = beyond(self, set(map(self._tip, tips)))
        if left is not None:
            # What is dead has no say any more.
            self.children = left
            self.childless = self._alive(np.flatnonzero(_numbers(left) == 0))

    @property
    def levels(self) -> Sequence[int]:
        """Return each commit's generation number."""
        return self._levels

    def number(self, commit: object) -> int | None:
        """Return a commit's number; None for one that no tip reaches."""
        asked = self._asked
        if commit in asked:
            return asked[commit]
        found = self._find(commit) if isinstance(commit, str) else None
        if found in self.dead:
            found = None
        if len(asked) >= _ASKED:
            self._asked = asked = {}
        asked[commit] = found
        return found

    def oid(self, number: int) -> Oid:
        """Return the id behind a number."""
        if number >= self._starts[-1]:
            return self._names[number - self._starts[-1]]
        at = bisect_right(self._starts, number) - 1
        return Oid(self._ids[at][number - self._starts[at]].hex())

    def numbers(self) -> Iterable[int]:
        """Return all numbers that a tip reaches."""
        every = range(len(self.first))
        return (number for number in every if number not in self.dead) if self.dead else every

    def __len__(self) -> int:
        return len(self.first) - len(self.dead)

    @cached_property
    def order(self) -> Sequence[int]:
        """Return all numbers by level, lowest first."""
        return _column(np.argsort(_numbers(self._levels), kind="stable"))

    @cached_property
    def children(self) -> "array[int]":
        """Return how often each commit is named as a parent."""
        counts = [np.bincount(link, minlength=len(self.first)) for link in self._all_links()]
        return _column(np.sum(counts, axis=0))

    @cached_property
    def childless(self) -> Sequence[int]:
        """Return the commits that no other names as a parent."""
        has_child = np.zeros(len(self.first), np.bool_)
        for link in self._all_links():
            has_child[link] = True
        return self._alive(np.flatnonzero(~has_child))

    @cached_property
    def roots(self) -> Sequence[int]:
        """Return the commits without parents."""
        return self._alive(np.flatnonzero(_numbers(self.first) == NONE))

    def _all_links(self) -> Iterable[Numbers]:
        """Return every number that is named as a parent, as often as it is."""
        links = (_numbers(self.first), _numbers(self.second), np.array([*chain(*self.more.values())], np.int32))
        return (link[link != NONE] for link in links)

    def _alive(self, numbers: NDArray[np.integer]) -> Sequence[int]:
        return [number for number in numbers.tolist() if number not in self.dead]

    @cached_property
    def _names(self) -> Sequence[Oid]:
        return tuple(self._newer)

    def _find(self, commit: str) -> int | None:
        if commit in self._newer or not is_oid(commit):
            return self._newer.get(Oid(commit))
        wanted = bytes.fromhex(commit)
        found = ((start, ids.find(wanted)) for start, ids in zip(self._starts, self._ids, strict=False))
        return next((start + place for start, place in found if place is not None), None)

    def _tip(self, commit: Oid) -> int:
        found = self._find(commit)
        if found is None:
            raise CommitGraphError(f"the commit-graph lacks {commit}, and nothing newer has it")
        return found

    def _add(self, newer: Mapping[Oid, tuple[Oid, ...]]) -> None:
        """Put commits on top that the files lack."""
        wanted = [commit for commit in newer if self._find(commit) is None]
        self._newer = {commit: number for number, commit in enumerate(wanted, self._starts[-1])}
        for number, commit in enumerate(wanted, self._starts[-1]):
            above = tuple(map(self._tip, newer[commit]))
            self.first.append(above[0] if above else NONE)
            self.second.append(above[1] if len(above) > 1 else NONE)
            self.more |= {number: above[2:]} if len(above) > 2 else {}  # noqa: PLR2004 - octopus
            self._levels.append(0)
        leveled(self, self._levels, self._newer.values())


def _check_chain(layers: Sequence[Layer]) -> None:
    names = tuple(it.name for it in layers)
    _require(bool(layers) and len({it.ids.width for it in layers}) == 1, "its layers are of several kinds")
    _require(all(it.bases == names[:at] for at, it in enumerate(layers)), "its layers are not those it names")


def _links(
    layers: Sequence[Layer], starts: Sequence[int]
) -> "tuple[array[int], array[int], dict[int, tuple[int, ...]]]":
    """Return all first parents, second parents, and further ones; no layer may name a commit of a higher one."""
    more: dict[int, tuple[int, ...]] = {}
    columns = []
    for start, top, it in zip(starts, starts[1:], layers, strict=False):
        first, second = it.first.copy(), it.second.copy()
        many = np.flatnonzero(second & _FLAG)
        for place, above in zip(many.tolist(), _edges(it.edges, (second[many] & _REST).tolist()), strict=True):
            second[place], more[start + place] = above[0], above[1:]
        first[first == _NO_PARENT] = second[second == _NO_PARENT] = _NONE
        for link in (first, second, np.array([*chain(*more.values())], np.uint32)):
            _require(bool(((link < top) | (link == _NONE)).all()), "a parent is not there")
        _require(not ((first == _NONE) & (second != _NONE)).any(), "a second parent has no first one")
        columns.append((first, second))
    first, second = (np.concatenate(column) for column in zip(*columns, strict=True))
    return _column(first), _column(second), {number: above for number, above in more.items() if above}


def _edges(edges: Words, starts: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the parents from the second on, of each commit with more than two; the lists stand in a row."""
    ends = np.flatnonzero(edges & _FLAG) + 1
    _require(len(ends) == len(starts) and ends[-1:].tolist() == [len(edges)][: len(ends)], "its parents are cut")
    _require(starts == [0, *ends.tolist()][: len(starts)], "its parents are cut")
    return [tuple((edges[start:end] & _REST).tolist()) for start, end in zip(starts, ends, strict=True)]


def _check_levels(table: Mapped) -> None:
    """Raise CommitGraphError unless each level is one more than the highest parent's: then nothing goes in a ring."""
    levels = _numbers(table.levels)
    highest = np.zeros_like(levels)
    for link in (_numbers(table.first), _numbers(table.second)):
        np.maximum(highest, np.where(link == NONE, 0, levels[link]), out=highest)
    for number, above in table.more.items():
        highest[number] = max(highest[number], *levels[list(above)])
    _require(bool((levels == highest + 1).all()), "its levels are wrong")


def _column(numbers: NDArray[np.integer]) -> "array[int]":
    return array("i", numbers.astype(np.int32).tobytes())


def _numbers(column: Sequence[int]) -> Numbers:
    return np.frombuffer(column, np.int32)  # type: ignore[call-overload, no-any-return]
