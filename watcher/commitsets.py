"""Sets of commits that are worked out as far as somebody asks.

A history is a set of commits that may be a million strong, and most who ask want to know of a few. These sets answer
`in` after a walk that goes as deep as the commit asked for, and make ids only for what is iterated.
"""

from abc import abstractmethod
from array import array
from collections.abc import Callable, Iterable, Iterator, Set
from typing import Any, TypeGuard

from watcher.model import Oid
from watcher.numbered import NONE, Table


class CommitSet(Set[Oid]):
    """Commits of one table; what is made of two such sets is one again, and mixed with other sets it is a plain one."""

    def __init__(self, table: Table) -> None:
        self._table = table

    @abstractmethod
    def has(self, number: int) -> bool:
        """Answer whether the commit of a number is in the set."""

    @abstractmethod
    def numbers(self) -> Iterable[int]:
        """Return the numbers of all its commits."""

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> frozenset[Any]:
        return frozenset(it)

    def __contains__(self, commit: object) -> bool:
        number = self._table.number(commit)
        return number is not None and self.has(number)

    def __iter__(self) -> Iterator[Oid]:
        return map(self._table.oid, self.numbers())

    def __len__(self) -> int:
        return sum(1 for _ in self.numbers())

    def __and__(self, other: Set[Any]) -> Set[Oid]:
        if not self._is_kin(other):
            return super().__and__(other)
        return Found(self._table, set(filter(self.has, other.numbers())))

    def __or__(self, other: Set[Any]) -> Set[Any]:
        if not self._is_kin(other):
            return super().__or__(other)
        return Found(self._table, {*self.numbers(), *other.numbers()})

    def __sub__(self, other: Set[Any]) -> Set[Oid]:
        has = membership(self._table, other)
        return Found(self._table, {number for number in self.numbers() if not has(number)})

    def __le__(self, other: Set[Any]) -> bool:
        return all(map(membership(self._table, other), self.numbers()))

    def isdisjoint(self, other: Iterable[Any]) -> bool:
        """Answer whether no commit is in both."""
        if not self._is_kin(other):
            return super().isdisjoint(other)
        return not any(map(self.has, other.numbers()))

    def _is_kin(self, other: object) -> TypeGuard["CommitSet"]:
        return isinstance(other, CommitSet) and other._table is self._table  # noqa: SLF001 - of its own kind


def membership(table: Table, commits: Set[Oid]) -> Callable[[int], bool]:
    """Return what answers, for a number of a table, whether a set has its commit."""
    if isinstance(commits, CommitSet) and commits._table is table:  # noqa: SLF001 - of this module
        return commits.has
    return {number for commit in commits if (number := table.number(commit)) is not None}.__contains__


class Found(CommitSet):
    """Commits that were all found already."""

    def __init__(self, table: Table, numbers: set[int]) -> None:
        super().__init__(table)
        self._numbers = numbers

    def has(self, number: int) -> bool:
        """Answer whether the commit of a number is in the set."""
        return number in self._numbers

    def numbers(self) -> Iterable[int]:
        """Return the numbers of all its commits."""
        return self._numbers

    def __len__(self) -> int:
        return len(self._numbers)


class Reached(CommitSet):
    """What many refs reach, told by the few commits that they do not."""

    def __init__(self, table: Table, tips: Iterable[int]) -> None:
        super().__init__(table)
        self._beyond, _ = beyond(table, set(tips))

    def has(self, number: int) -> bool:
        """Answer whether the commit of a number is in the set."""
        return number not in self._beyond

    def numbers(self) -> Iterable[int]:
        """Return the numbers of all its commits."""
        return (number for number in self._table.numbers() if number not in self._beyond)

    def __len__(self) -> int:
        return len(self._table) - len(self._beyond)


def beyond(table: Table, tips: set[int]) -> "tuple[set[int], array[int] | None]":
    """Return the commits that no tip reaches, and how many children the others have without them (None: as many).

    Those without children go first, then those without any child that is left.
    """
    found: set[int] = set()
    todo = [number for number in table.childless if number not in tips]
    left = table.children[:] if todo else None
    while left and todo:
        number = todo.pop()
        found.add(number)
        for parent in table.parents(number):
            left[parent] -= 1
            if not left[parent] and parent not in tips:
                todo.append(parent)
    return found, left


class Ancestors(CommitSet):
    """Some tips and all that they reach, walked no deeper than the lowest level that was asked for."""

    def __init__(self, table: Table, tips: Iterable[int]) -> None:
        super().__init__(table)
        self._waiting = list(tips)
        self._seen: set[int] = set()
        self._top = max((table.levels[tip] for tip in self._waiting), default=0)
        self._floor = self._top + 1
        """Whatever the tips reach at this level or above is in `_seen`."""

    def has(self, number: int) -> bool:
        """Answer whether the commit of a number is in the set."""
        level = self._table.levels[number]
        if level < self._floor:
            # At least twice as deep each time: many questions, each a little deeper, look at what waits but rarely.
            self._walk(min(level, self._top - 2 * (self._top - self._floor)))
        return number in self._seen

    def numbers(self) -> Iterable[int]:
        """Return the numbers of all its commits."""
        self._walk(0)
        return self._seen

    def __len__(self) -> int:
        self._walk(0)
        return len(self._seen)

    def grow(self, tip: int) -> set[int]:
        """Add a tip and all that it reaches; return what is new."""
        new = walked(self._table, [tip], self.has)
        self._seen |= new
        return new

    def _walk(self, floor: int) -> None:
        """Walk from what waits down to a level; what lies below it waits for the next time."""
        table, seen = self._table, self._seen
        first, second, more, levels = table.first, table.second, table.more, table.levels
        todo, below = self._waiting, set()
        while todo:
            number = todo.pop()
            # Down the first parents: most commits are on a chain.
            while number != NONE and number not in seen:
                if levels[number] < floor:
                    below.add(number)
                    break
                seen.add(number)
                if second[number] != NONE:
                    todo.append(second[number])
                    todo += more.get(number, ())
                number = first[number]
        self._waiting = list(below)
        self._floor = floor


def walked(table: Table, tips: Iterable[int], stops: Callable[[int], bool]) -> set[int]:
    """Return the tips and what they reach without passing through what `stops`."""
    seen: set[int] = set()
    todo = list(tips)
    while todo:
        number = todo.pop()
        if number not in seen and not stops(number):
            seen.add(number)
            todo += table.parents(number)
    return seen


class Descendants(CommitSet):
    """A commit and all that reaches it; each answer is kept for the next one on the same way."""

    def __init__(self, table: Table, commit: int | None) -> None:
        super().__init__(table)
        self._known = {} if commit is None else {commit: True}
        self._floor = None if commit is None else table.levels[commit]

    def has(self, number: int) -> bool:
        """Answer whether the commit of a number is in the set."""
        if self._floor is not None and number not in self._known and self._table.levels[number] > self._floor:
            self._learn(number, self._floor)
        return self._known.get(number, False)

    def numbers(self) -> Iterable[int]:
        """Return the numbers of all its commits."""
        return () if self._floor is None else filter(self.has, self._table.numbers())

    def _learn(self, number: int, floor: int) -> None:
        """Find out about a commit, and about those on the way; none at the floor or below reaches the commit itself."""
        table, known = self._table, self._known
        first, second, levels = table.first, table.second, table.levels
        todo = [number]
        while todo:
            at = todo[-1]
            # Down the first parents: that is the shortest way to most commits.
            while (parent := first[at]) not in known and levels[parent] > floor:
                todo.append(parent)
                at = parent
            answer = known.get(parent, False)
            if not answer and second[at] != NONE:
                others = [other for other in table.parents(at)[1:] if other in known or levels[other] > floor]
                unknown = next((other for other in others if other not in known), None)
                answer = any(map(known.get, others))
                if not answer and unknown is not None:
                    todo.append(unknown)
                    continue
            known[at] = answer
            todo.pop()
