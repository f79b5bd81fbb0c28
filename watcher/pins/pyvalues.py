"""What an expression of a Python program may be, as far as the text of the program tells."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from watcher.pins.text import UNKNOWN, Text
from watcher.pins.tree import Leaf, Node, Row, Table
from watcher.pins.values import Case, Guard, Value, distinct, is_compatible, just

MOST_ITEMS = 400


@dataclass(slots=True, eq=False)
class Seq:
    """A list, a tuple, a set."""

    items: "list[PyValue]" = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Map:
    """A dictionary; keys that are no known strings are left out."""

    entries: "dict[str, PyValue]" = field(default_factory=dict)
    keys: dict[str, Text] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Obj:
    """An object of which some attributes are known."""

    kind: str
    """Its class, or `file`, `repo`, `module` for those that have a meaning here."""
    fields: "dict[str, PyValue]" = field(default_factory=dict)
    type: "Class | None" = None


@dataclass(slots=True, eq=False)
class Func:
    """A function of the program; `home` holds the names around it."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    home: "Names"
    file: str
    owner: Obj | None = None
    """The object that it is a method of."""


@dataclass(slots=True, eq=False)
class Class:
    """A class of the program."""

    name: str
    fields: "dict[str, PyValue]"
    order: list[str]
    """Names of the annotated fields, as a dataclass takes them."""


PyValue: TypeAlias = Value | Seq | Map | Obj | Func | Class | None
"""None is what the program does not tell."""


@dataclass(slots=True, eq=False)
class Names:
    """The names of one scope and those around it."""

    own: dict[str, PyValue] = field(default_factory=dict)
    outer: "Names | None" = None

    def get(self, name: str) -> PyValue:
        """Look a name up."""
        names: Names | None = self
        while names is not None:
            if name in names.own:
                return names.own[name]
            names = names.outer
        return None


def cases(value: PyValue) -> Value:
    """Return the alternatives of a string; none for what is no string."""
    return value if isinstance(value, tuple) else ()


def mapped(value: Value, change: Callable[[Text], Text | None]) -> PyValue:
    """Return a string with a change made to each alternative; an alternative that it gives nothing for is left out."""
    changed = ((change(case.text), case.guard) for case in value)
    return distinct(Case(text, guard) for text, guard in changed if text is not None) or None


def plain(value: PyValue) -> str | None:
    """Return a string that is known and has no alternatives."""
    found = cases(value)
    return found[0].text.chars if len(found) == 1 and UNKNOWN not in found[0].text.chars else None


def items(value: PyValue) -> "list[PyValue]":
    """Return what a loop over a value goes through."""
    match value:
        case Seq(items=found):
            return found[:MOST_ITEMS]
        case Map():
            keys: list[PyValue] = [just(value.keys[key]) for key in value.entries if key in value.keys]
            return keys[:MOST_ITEMS]
    return []


def together(values: list[tuple[Guard, PyValue]]) -> PyValue:
    """Return what a name is that may have come about in several ways."""
    known = [(guard, value) for guard, value in values if value is not None]
    strings = [
        Case(c.text, c.guard | guard) for guard, value in known for c in cases(value) if is_compatible(c.guard, guard)
    ]
    if strings and len(strings) >= len(known):
        return distinct(strings)
    return next((value for _, value in reversed(known) if not isinstance(value, tuple)), distinct(strings) or None)


def from_tree(node: Node | None, depth: int = 12) -> PyValue:
    """Return what a program gets that loads a structured file."""
    if depth == 0 or node is None:
        return None
    match node:
        case Leaf():
            return just(node.text) if node.text else None
        case Row():
            return Seq([from_tree(child, depth - 1) for child in node.nodes[:MOST_ITEMS]])
        case Table():
            found = node.entries[:MOST_ITEMS]
            return Map(
                {key.chars: from_tree(child, depth - 1) for key, child in found}, {key.chars: key for key, _ in found}
            )


def flat(values: list[PyValue]) -> Iterator[PyValue]:
    """Yield values, those of lists one by one."""
    for value in values:
        if isinstance(value, Seq):
            yield from value.items
        else:
            yield value
