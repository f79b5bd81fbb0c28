"""What an expression of a Python-like file may be."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from watcher.pins.text import Place, Text


@dataclass(slots=True, eq=False)
class Table:
    """A dictionary or a `struct`."""

    entries: dict[str, "Value"]
    place: Place


@dataclass(slots=True, eq=False)
class Call:
    """A call of something that the file does not define, with its evaluated arguments."""

    name: str
    """The last part of its dotted name."""
    arguments: list["Value"]
    keywords: dict[str, "Value"]
    place: Place
    places: dict[str, Place]
    """Where the value of each keyword stands."""


class Home(Protocol):
    """The file that a function belongs to, as those who call it need it."""

    calls: list[Call]
    steps: int
    active: int
    """How many calls lead into it."""

    def bound(self, node: ast.FunctionDef, call: Call) -> dict[str, "Value"]:
        """Return the parameters of a function with what a call, or their defaults, give them."""

    def body(self, body: Sequence[ast.stmt], names: dict[str, "Value"]) -> "Value | None":
        """Follow statements; return what a `return` gives."""


@dataclass(slots=True, eq=False)
class Function:
    """A function that the file defines."""

    node: ast.FunctionDef
    module: "Home"


@dataclass(slots=True, eq=False)
class Unknown:
    """What the file does not tell."""

    place: Place = field(default_factory=lambda: Place("", 0))
    name: str = ""


Value: TypeAlias = Text | list["Value"] | Table | Call | Function | Unknown
