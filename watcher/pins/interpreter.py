"""What the readers of a shell's statements ask of the whole."""

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from tree_sitter import Node

from watcher.pins.budget import Budget
from watcher.pins.call import Shell
from watcher.pins.printed import Printed
from watcher.pins.scope import Scope
from watcher.pins.syntax import Script
from watcher.pins.text import Place, Text
from watcher.pins.values import Value
from watcher.pins.wordfields import Fields
from watcher.pins.words import Expander


class Interpreter(Shell, Protocol):
    """Reads any statement; the readers of single kinds hand the statements inside theirs back to it."""

    budget: Budget
    printed: Printed
    expander: Expander
    uncalled: dict[int, Callable[[], None]]
    """The functions that nothing has called yet, each with how it is read alone."""
    live: dict[str, bool]
    """Body of a function → whether it may touch an upstream."""

    def block(self, script: Script, nodes: Iterable[Node], scope: Scope) -> None:
        """Read statements one after the other, as long as the scope lives."""

    def statement(self, script: Script, node: Node, scope: Scope) -> None:
        """Read one statement."""

    def value(self, source: Text, scope: Scope) -> Value:
        """Expand a text to one value."""

    def point(self) -> str:
        """Return a name for a branch like no other."""

    def execute(
        self,
        argvs: Sequence[Fields],
        scope: Scope,
        place: Place,
        *,
        stdin: Value | None = None,
        target: str = "",
        separator: str | None = None,
    ) -> None:
        """Do what a command does, for each alternative of its words."""
