"""What a Python program knows while one body of it is followed, and what following its parts asks of the whole."""

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from watcher.pins.builds import BuildReader
from watcher.pins.pyattention import Attention
from watcher.pins.pymodules import Modules
from watcher.pins.pystrings import Literals
from watcher.pins.pytexts import dotted_name
from watcher.pins.pyvalues import Func, Names, PyValue, cases
from watcher.pins.scope import Scope
from watcher.pins.text import Place, unknown
from watcher.pins.tree import inline
from watcher.pins.values import Guard, Value, just, named, under

MOST_TURNS = 48
"""How many turns of a loop are followed."""


def of_name(value: PyValue, name: str) -> PyValue:
    """Return a value as what a name stands for; only strings know theirs."""
    return named(value, name) if isinstance(value, tuple) else value


@dataclass(slots=True, eq=False)
class Frame:
    """One run of a function's body, or the module's own."""

    names: Names
    scope: Scope
    file: str
    returns: list[tuple[Guard, PyValue]] = field(default_factory=list)

    def place(self, node: ast.expr | ast.stmt) -> Place:
        """Return where a node stands."""
        return Place(self.file, node.lineno)

    def word(self, chars: str, node: ast.expr | ast.stmt) -> Value:
        """Return a string that a node stands for."""
        return just(inline(chars, self.file, node.lineno))

    def text(self, value: PyValue, node: ast.expr) -> Value:
        """Return a string; an unknown one, named for its node, for all else."""
        found = under(cases(value), self.scope.guard) if isinstance(value, tuple) else ()
        if found:
            return found
        name = dotted_name(node) if isinstance(node, ast.Call | ast.Lambda) else ast.unparse(node)[:60]
        return just(unknown(name, self.place(node)))


class Program(Protocol):
    """Follows any statement or expression; those who follow one kind hand what stands inside it back."""

    file: str
    shell: BuildReader
    attention: Attention
    modules: Modules
    literals: dict[str, Literals]
    """The strings of each file that is followed."""
    options: dict[str, PyValue]
    """What command-line options are unless somebody gives them."""
    uncalled: dict[int, Func]
    """The functions that nothing has called yet."""
    active: list[int]
    """The functions that are being followed."""

    def block(self, body: Iterable[ast.stmt], frame: Frame) -> None:
        """Follow statements one after the other, as long as the scope lives."""

    def value(self, node: ast.expr, frame: Frame) -> PyValue:
        """Evaluate an expression."""

    def quietly(self, node: ast.expr, frame: Frame) -> PyValue:
        """Evaluate an expression of which no requirement is taken."""
