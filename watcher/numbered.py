"""What is known of each commit of a history, by number?

A history of a million commits is kept in columns of numbers, and an id is only made for a commit that somebody names.
Where the columns come from (git's output, git's own file) is a matter of the table's class.
"""

from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cached_property
from itertools import chain

from watcher.model import Oid

NONE = -1
"""Stands for no parent."""


class Table(ABC):
    """Every commit of a history under a number, with its parents and its level."""

    first: "array[int]"
    """Each commit's first parent, or NONE."""
    second: "array[int]"
    """Each commit's second parent, or NONE."""
    more: dict[int, tuple[int, ...]]
    """The parents from the third on, for those few commits that have so many."""
    dead: Set[int] = frozenset()
    """Numbers that do not count: no ref holds them any more."""

    @property
    @abstractmethod
    def levels(self) -> Sequence[int]:
        """Return each commit's generation number: 1 for a root, else one more than its highest parent's."""

    @abstractmethod
    def number(self, commit: object) -> int | None:
        """Return a commit's number; None for what is no commit of this history."""

    @abstractmethod
    def oid(self, number: int) -> Oid:
        """Return the id behind a number."""

    @abstractmethod
    def numbers(self) -> Iterable[int]:
        """Return all numbers that count."""

    @abstractmethod
    def __len__(self) -> int: ...

    @cached_property
    def order(self) -> Sequence[int]:
        """Return all numbers by level, lowest first."""
        return array("i", sorted(range(len(self.first)), key=self.levels.__getitem__))

    @cached_property
    def children(self) -> "array[int]":
        """Return how often each commit is named as a parent."""
        counts = array("i", bytes(4 * (len(self.first) + 1)))  # NONE counts in the last one
        for parent in chain(self.first, self.second, *self.more.values()):
            counts[parent] += 1
        counts.pop()
        return counts

    @cached_property
    def childless(self) -> Sequence[int]:
        """Return the commits that no other names as a parent."""
        return [number for number in self.numbers() if not self.children[number]]

    @cached_property
    def roots(self) -> Sequence[int]:
        """Return the commits without parents."""
        return [number for number in self.numbers() if self.first[number] == NONE]

    def parents(self, number: int) -> tuple[int, ...]:
        """Return the parents in order."""
        first, second = self.first[number], self.second[number]
        if second == NONE:
            return () if first == NONE else (first,)
        return (first, second, *self.more.get(number, ()))


class Listed(Table):
    """A table made from every commit's parents, all of them held."""

    def __init__(self, parents: Mapping[Oid, tuple[Oid, ...]]) -> None:
        self._oids = tuple(parents)
        self._numbers = {commit: number for number, commit in enumerate(self._oids)}
        links = [tuple(map(self._numbers.__getitem__, parents[commit])) for commit in self._oids]
        self.first = array("i", [link[0] if link else NONE for link in links])
        self.second = array("i", [link[1] if len(link) > 1 else NONE for link in links])
        self.more = {number: link[2:] for number, link in enumerate(links) if len(link) > 2}  # noqa: PLR2004 - octopus

    @cached_property
    def levels(self) -> Sequence[int]:
        """Return each commit's generation number; git names children first, so their parents mostly are done."""
        return leveled(self, array("i", bytes(4 * len(self._oids))), reversed(range(len(self._oids))))

    def number(self, commit: object) -> int | None:
        """Return a commit's number; None for one that is not held."""
        return self._numbers.get(commit)  # type: ignore[call-overload, no-any-return]

    def oid(self, number: int) -> Oid:
        """Return the id behind a number."""
        return self._oids[number]

    def numbers(self) -> Iterable[int]:
        """Return all numbers."""
        return range(len(self._oids))

    def __len__(self) -> int:
        return len(self._oids)


def leveled(table: Table, levels: "array[int]", wanted: Iterable[int]) -> "array[int]":
    """Fill in the levels of the wanted commits, and of what they need; 0 stands for a level that is not known yet."""
    first, second = table.first, table.second
    for number in wanted:
        parent = first[number]
        # Most commits have one parent, whose turn was before.
        if second[number] == NONE and (parent == NONE or levels[parent]):
            levels[number] = 1 if parent == NONE else levels[parent] + 1
            continue
        todo = [number]
        while todo:
            above = table.parents(todo[-1])
            waiting = [parent for parent in above if not levels[parent]]
            if waiting:
                todo += waiting
                continue
            levels[todo.pop()] = 1 + max((levels[parent] for parent in above), default=0)
    return levels
