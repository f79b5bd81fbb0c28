"""What a structured file holds, whatever its syntax: tables, rows and leaves whose texts know their lines.

JSON, TOML and YAML are read into the same three kinds, so that what a manifest means is said once for all of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from watcher.pins.text import UNKNOWN, Place, Span, Text

_NOWHERE = Place("", 0)
DEEPEST = 100
"""No reader goes deeper; what stands below is left out."""


@dataclass(slots=True, eq=False)
class Leaf:
    """A value that has no parts."""

    text: Text
    """Its content; for a number, a date or `true` the characters as written."""
    is_string: bool = True
    place: Place = _NOWHERE
    """Where it stands, also when it is empty."""


@dataclass(slots=True, eq=False)
class Row:
    """A list."""

    place: Place
    nodes: list["Node"] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Table:
    """A mapping; repeated keys are kept, the last one counts."""

    place: Place
    entries: list[tuple[Text, "Node"]] = field(default_factory=list)
    index: dict[str, "Node"] = field(default_factory=dict)

    def put(self, key: Text, node: "Node") -> None:
        """Add an entry."""
        self.entries.append((key, node))
        self.index[key.chars] = node

    def get(self, *names: str) -> "Node | None":
        """Follow a path of keys; None where one is missing."""
        node: Node | None = self
        for name in names:
            node = node.index.get(name) if isinstance(node, Table) else None
        return node

    def text(self, *names: str) -> Text | None:
        """Return the string of the first key of several that has one; None for an empty one."""
        found = (self.index.get(name) for name in names)
        return next((node.text for node in found if isinstance(node, Leaf) and node.is_string and node.text), None)

    def table(self, *names: str) -> "Table":
        """Return the table at a path of keys, an empty one where there is none."""
        node = self.get(*names)
        return node if isinstance(node, Table) else Table(self.place)


Node: TypeAlias = Leaf | Row | Table


class Problem(NamedTuple):
    """Where a file could not be read, and what was expected there."""

    line: int
    reason: str


class Reading(NamedTuple):
    """What could be read of a file, and the first thing that could not."""

    root: Node
    problem: Problem | None = None


class Found(NamedTuple):
    """A node with the keys that lead to it, the nearest last."""

    keys: tuple[str, ...]
    node: Node


def inline(chars: str, file: str, line: int) -> Text:
    """Return a text that stands on one line, also what follows a line end that an escape wrote."""
    place = Place(file, line)
    clean = chars.replace(UNKNOWN, "\ufffd")
    return Text(
        [Span(part, place) for part in clean.splitlines(keepends=True)] if "\n" in clean else [Span(clean, place)]
    )


def walk(node: Node, keys: tuple[str, ...] = ()) -> Iterator[Found]:
    """Yield a node and everything below it, in the order of the file; each once, however often it is referred to."""
    stack = [Found(keys, node)]
    seen: set[int] = set()
    while stack:
        found = stack.pop()
        if id(found.node) in seen:
            continue
        seen.add(id(found.node))
        yield found
        match found.node:
            case Table(entries=entries):
                stack += [Found((*found.keys, key.chars), child) for key, child in reversed(entries)]
            case Row(nodes=nodes):
                stack += [Found(found.keys, child) for child in reversed(nodes)]


def strings(node: Node | None) -> Iterator[Text]:
    """Yield the strings of a list, or the one string that stands in its place."""
    nodes = node.nodes if isinstance(node, Row) else [node]
    yield from (leaf.text for leaf in nodes if isinstance(leaf, Leaf) and leaf.is_string)


def tables(node: Node | None) -> Iterator[Table]:
    """Yield the tables of a list, or the one table that stands in its place."""
    nodes = node.nodes if isinstance(node, Row) else [node]
    yield from (table for table in nodes if isinstance(table, Table))
