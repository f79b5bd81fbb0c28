"""One call of a Python program, with what is known of what it is given."""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from watcher.pins.pyframe import Frame, Program
from watcher.pins.pyvalues import PyValue
from watcher.pins.text import Place
from watcher.pins.values import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call of a function that is none of the program's own."""

    program: Program
    frame: Frame
    node: ast.Call
    dotted: str
    """The function as written: `os.path.join`."""
    last: str
    """Its name without what it is looked up in: `join`."""
    owner: PyValue
    """What it is a method of."""
    arguments: Sequence[PyValue]
    keywords: Mapping[str, PyValue]

    @property
    def first(self) -> PyValue:
        """Return the first argument."""
        return self.arguments[0] if self.arguments else None

    @property
    def place(self) -> Place:
        """Return where the call stands."""
        return self.frame.place(self.node)

    def text(self, value: PyValue) -> Value:
        """Return an argument as a string; an unknown one, named for the call, for all else."""
        return self.frame.text(value, self.node)

    def word(self, chars: str) -> Value:
        """Return a word that the call stands for."""
        return self.frame.word(chars, self.node)
