"""One command as the shell reader hands it on, and what it may ask of that reader."""

import posixpath
from dataclasses import dataclass, replace
from typing import Protocol

from watcher.pins.checkout import Checkout
from watcher.pins.scope import Scope
from watcher.pins.sites import Pick, Site
from watcher.pins.text import Place, Text
from watcher.pins.values import Value


class Shell(Protocol):
    """What commands need of the reader."""

    checkout: Checkout
    sites: list[Site]
    picks: list[Pick]
    included: frozenset[str]
    aliases: dict[str, str]

    def run(self, source: Text, scope: Scope) -> None:
        """Read a text as shell commands."""

    def include(self, text: str, name: str, scope: Scope, *, is_sourced: bool) -> None:
        """Read another file of the checkout."""

    def call(self, name: str, arguments: tuple[Text, ...], scope: Scope) -> None:
        """Call a function."""

    def print(self, value: Value | None) -> None:
        """Remember what a command prints."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One command with the words that it was given."""

    argv: tuple[Text, ...]
    place: Place
    """The line on which the command starts."""
    stdin: Value | None
    target: str
    """The file that its output goes to, as written; empty for none."""
    separator: str | None
    """`IFS`, where it is set for this command."""
    arm: Scope
    shell: Shell

    @property
    def name(self) -> str:
        """Return the command's name without its folder."""
        return posixpath.basename(self.argv[0].chars) if self.argv else ""

    @property
    def words(self) -> list[str]:
        """Return the arguments as plain characters."""
        return [text.chars for text in self.argv[1:]]

    def without(self, count: int) -> "Call":
        """Return the command that stands behind some words."""
        return replace(self, argv=self.argv[count:])
