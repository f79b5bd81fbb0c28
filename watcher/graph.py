"""Answer questions of ancestry over commits that are already held.

A graph is made from each commit's parents, as `git rev-list --parents` tells them, or from a table that was read from
git's own file. No answer costs more than what lies between the commits asked about, or one pass for all of them.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from heapq import heappop, heappush
from typing import overload

from watcher.commitsets import Ancestors, Descendants, Found, Reached, membership, walked
from watcher.errors import GitError
from watcher.model import Oid
from watcher.numbered import NONE, Listed, Table

_LINES = 16
"""So many first-parent lines are kept at hand."""
_BOTH, _STALE = 3, 4


class Graph:
    """A commit graph: every commit's parents, all of them held.

    Commits that are not held reach nothing, and nothing reaches them.
    """

    def __init__(self, parents: Mapping[Oid, tuple[Oid, ...]] | Table) -> None:
        self._table = parents if isinstance(parents, Table) else _sound(Listed(parents))
        self._lines: dict[int, Sequence[int]] = {}

    def __contains__(self, commit: object) -> bool:
        return self._table.number(commit) is not None

    def __len__(self) -> int:
        return len(self._table)

    def __iter__(self) -> Iterator[Oid]:
        return map(self._table.oid, self._table.numbers())

    # --- one commit --------------------------------------------------------------------------------------------------

    def parents(self, commit: Oid) -> tuple[Oid, ...]:
        """Return the parents in order; raise KeyError for a commit that is not held."""
        return tuple(map(self._table.oid, self._table.parents(self._number(commit))))

    @cached_property
    def generations(self) -> Mapping[Oid, int]:
        """Return each commit's generation number: 1 for a root, else one more than its highest parent's."""
        return _Generations(self._table)

    @cached_property
    def roots(self) -> frozenset[Oid]:
        """Return the commits without parents."""
        return frozenset(map(self._table.oid, self._table.roots))

    def ancestors(self, *tips: Oid, without: Set[Oid] | None = None) -> Set[Oid]:
        """Return the tips and everything reachable from them, stopping at (and leaving out) `without`.

        Without that the answer is walked as deep as it is asked: right for a few tips, and questions near them.
        """
        table, found = self._table, self._numbers(tips)
        if without is None:
            return Ancestors(table, found)
        return Found(table, walked(table, found, membership(table, without)))

    def reached(self, tips: Iterable[Oid]) -> Set[Oid]:
        """Return the tips and everything reachable from them, where that is nearly all of the history."""
        return Reached(self._table, self._numbers(tips))

    def descendants(self, commit: Oid) -> Set[Oid]:
        """Return the commit and everything that reaches it; empty for a commit that is not held."""
        return Descendants(self._table, self._table.number(commit))

    def first_parent_line(self, tip: Oid) -> Sequence[Oid]:
        """Return the states that a tip went through, oldest first."""
        return _Line(self._table, self._table.number(tip), self._chain)

    # --- two commits -------------------------------------------------------------------------------------------------

    def is_ancestor(self, older: Oid, newer: Oid) -> bool:
        """Answer whether `older` is reachable from (or is) `newer`; commits that are not held reach nothing."""
        wanted, tip = self._table.number(older), self._table.number(newer)
        return wanted is not None and tip is not None and Ancestors(self._table, [tip]).has(wanted)

    def between(self, older: Oid, newer: Oid) -> Set[Oid]:
        """Return the commits reachable from `newer` and not from `older` (git's `older..newer`)."""
        table = self._table
        return Found(table, walked(table, self._numbers([newer]), Ancestors(table, self._numbers([older])).has))

    def merge_bases(self, one: Oid, other: Oid) -> Set[Oid]:
        """Return the best common ancestors: those that no other common ancestor reaches."""
        table = self._table
        sides: dict[int, int] = {}
        for side, tip in enumerate((one, other)):
            for number in self._numbers([tip]):
                sides[number] = sides.get(number, 0) | 1 << side
        todo = sorted((-table.levels[number], number) for number in sides)
        best: set[int] = set()
        fresh = len(todo)
        # From the newest down each commit's sides are known when its turn comes; below a base all is stale.
        while fresh:
            _, number = heappop(todo)
            side = sides.pop(number)
            fresh -= side < _STALE
            if side == _BOTH:
                best.add(number)
            passed = _BOTH | _STALE if side & _BOTH == _BOTH else side
            for parent in table.parents(number):
                had = sides.get(parent)
                if had is None:
                    heappush(todo, (-table.levels[parent], parent))
                sides[parent] = passed | (had or 0)
                fresh += (sides[parent] < _STALE) - (had is not None and had < _STALE)
        return Found(table, best)

    # --- many commits ------------------------------------------------------------------------------------------------

    def common_ancestor(self, tips: Iterable[Oid]) -> Oid | None:
        """Return one commit that every tip reaches, as new as can be, or None where the histories are unrelated."""
        wanted = list(dict.fromkeys(tips))
        numbers = self._numbers(wanted)
        if not wanted or len(numbers) < len(wanted):
            return None
        everyone = (1 << len(numbers)) - 1
        found: list[int] = []
        for number, held in self._swept(numbers, 0):
            if found and self._table.levels[number] < self._table.levels[found[0]]:
                break
            if held == everyone:
                found.append(number)
        return max(map(self._table.oid, found), default=None)

    def holders(self, commits: Iterable[Oid], tips: Sequence[Oid], *, first_parent: bool = False) -> dict[Oid, int]:
        """Return which tips reach which commits: commit → bits, of which bit i is set where `tips[i]` does.

        One pass answers for all of them. `first_parent` asks for those whose first-parent line has the commit.
        """
        table = self._table
        wanted = {number: commit for commit in commits if (number := table.number(commit)) is not None}
        floor = min((table.levels[number] for number in wanted), default=0)
        numbers = [table.number(tip) for tip in tips]
        swept = self._swept(numbers, floor, first_parent=first_parent) if wanted else ()
        found = dict.fromkeys(wanted.values(), 0)
        found.update((wanted[number], held) for number, held in swept if number in wanted)
        return found

    def increments(self, line: Iterable[Oid]) -> Iterator[Set[Oid]]:
        """Return what each state of a first-parent line (oldest first) has that the one before it had not."""
        table = self._table
        states = self._numbers(line)
        if states:
            had = Ancestors(table, table.parents(states[0])[:1])
            yield from (Found(table, had.grow(state)) for state in states)

    def oldest_first(self, commits: Iterable[Oid]) -> list[Oid]:
        """Return the commits so that parents come before children; ties by id."""
        return sorted(commits, key=lambda commit: (self.generations[commit], commit))

    def _swept(
        self, tips: Sequence[int | None], floor: int, *, first_parent: bool = False
    ) -> Iterator[tuple[int, int]]:
        """Go through what the tips reach, newest first, down to a level: each commit, and the bits of its tips."""
        table = self._table
        first, second, more, levels = table.first, table.second, table.more, table.levels
        bits: dict[int, int] = {}
        for at, tip in enumerate(tips):
            if tip is not None:
                bits[tip] = bits.get(tip, 0) | 1 << at
        for number in reversed(table.order):
            held = bits.pop(number, 0)
            if not held:
                continue
            if levels[number] < floor:
                return
            yield number, held
            parent = first[number]
            bits[parent] = bits.get(parent, 0) | held
            if not first_parent and second[number] != NONE:
                for parent in (second[number], *more.get(number, ())):
                    bits[parent] = bits.get(parent, 0) | held

    # --- numbers -----------------------------------------------------------------------------------------------------

    def _number(self, commit: Oid) -> int:
        number = self._table.number(commit)
        if number is None:
            raise KeyError(commit)
        return number

    def _numbers(self, commits: Iterable[Oid]) -> list[int]:
        """Return the numbers of those commits that are held."""
        return [number for commit in commits if (number := self._table.number(commit)) is not None]

    def _chain(self, tip: int) -> Sequence[int]:
        """Return the first-parent line of a commit; those that were asked for last are kept, since pins share them."""
        if tip not in self._lines:
            line, number = array("i"), tip
            while number != NONE:
                line.append(number)
                number = self._table.first[number]
            line.reverse()
            if len(self._lines) >= _LINES:
                self._lines.clear()
            self._lines[tip] = line
        return self._lines[tip]


def _sound(table: Table) -> Table:
    """Return a table in which no commit is its own ancestor; raise GitError for any other, which nobody could walk.

    No hash allows it, but a graft does. Git names children first as a rule, and then there is nothing to walk.
    """
    links = (
        enumerate(table.first),
        enumerate(table.second),
        ((it, up) for it, ups in table.more.items() for up in ups),
    )
    if all(parent > number or parent == NONE for some in links for number, parent in some):
        return table
    waiting, todo, count = array("i", table.children), list(table.childless), 0
    while todo:
        count += 1
        for parent in table.parents(todo.pop()):
            waiting[parent] -= 1
            if not waiting[parent]:
                todo.append(parent)
    if count < len(table):
        raise GitError("the history runs in a ring: commits are their own ancestors")
    return table


class _Generations(Mapping[Oid, int]):
    """Each commit's generation number, read where it is asked for."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def __getitem__(self, commit: Oid) -> int:
        number = self._table.number(commit)
        if number is None:
            raise KeyError(commit)
        return self._table.levels[number]

    def __iter__(self) -> Iterator[Oid]:
        return map(self._table.oid, self._table.numbers())

    def __len__(self) -> int:
        return len(self._table)


class _Line(Sequence[Oid]):
    """Commits in a row; an id is made for the one that is looked at, and who begins at the tip walks no further."""

    def __init__(self, table: Table, tip: int | None, whole: Callable[[int], Sequence[int]]) -> None:
        self._table = table
        self._tip = tip
        self._whole = whole

    @property
    def _numbers(self) -> Sequence[int]:
        return () if self._tip is None else self._whole(self._tip)

    def __len__(self) -> int:
        return len(self._numbers)

    def __reversed__(self) -> Iterator[Oid]:
        number = NONE if self._tip is None else self._tip
        while number != NONE:
            yield self._table.oid(number)
            number = self._table.first[number]

    @overload
    def __getitem__(self, at: int) -> Oid: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Oid]: ...
    def __getitem__(self, at: int | slice) -> Oid | Sequence[Oid]:
        if isinstance(at, slice):
            return list(map(self._table.oid, self._numbers[at]))
        return self._table.oid(self._numbers[at])
