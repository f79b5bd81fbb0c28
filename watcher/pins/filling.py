"""Put the values of another language's placeholders into a text: `$(VAR)` of make, `${{ x }}` of workflows.

Such a language replaces characters before a shell sees them, also inside single quotes. A value that has alternatives
cannot be put in as characters; the shell gets a variable of its own for it.
"""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from watcher.pins.scope import Scope
from watcher.pins.text import Span, Text, joined, unknown
from watcher.pins.values import Value, concat, just


class Hole(NamedTuple):
    """A placeholder in a text."""

    start: int
    end: int
    inner: Text
    """What stands between its marks."""


Fill = Callable[[Text], Value | None]
"""Says what stands for the inside of a placeholder; None leaves it as it is."""


def holes(source: Text, pattern: re.Pattern[str]) -> list[Hole]:
    """Return the placeholders that a pattern finds; its first group is the inside."""
    return [Hole(*found.span(), source[found.start(1) : found.end(1)]) for found in pattern.finditer(source.chars)]


def filled(source: Text, found: Iterable[Hole], fill: Fill, scope: Scope) -> Text:
    """Return shell text with each placeholder replaced; alternatives become a variable of the scope."""
    parts, last = [], 0
    for hole in found:
        value = fill(hole.inner)
        if value is None:
            continue
        parts += [source[last : hole.start], _inserted(value, source[hole.start : hole.end], scope)]
        last = hole.end
    return joined((*parts, source[last:])) if parts else source


def value_of(source: Text, found: Iterable[Hole], fill: Fill) -> Value:
    """Return what a text outside a shell may be once its placeholders are replaced."""
    value: Value = just(Text())
    last = 0
    for hole in found:
        inner = fill(hole.inner)
        if inner is None:
            continue
        value = concat(concat(value, just(source[last : hole.start])), inner)
        last = hole.end
    return concat(value, just(source[last:]))


def _inserted(value: Value, hole: Text, scope: Scope) -> Text:
    if not value:
        return unknown(hole.chars[:60], hole.place())
    if len(value) == 1 and not value[0].guard:
        return value[0].text
    name = f"_filled{len(scope.variables)}"
    scope.assign(name, value)
    return Text((Span(f"${{{name}}}", hole.place()),))


def rewritten(source: Text, pattern: re.Pattern[str], change: Callable[[re.Match[str], Text], Text | None]) -> Text:
    """Return a text with each match replaced by what `change` makes of the match and its text; None keeps it."""
    parts, last = [], 0
    for found in pattern.finditer(source.chars):
        piece = change(found, source[found.start() : found.end()])
        if piece is not None:
            parts += [source[last : found.start()], piece]
            last = found.end()
    return joined((*parts, source[last:])) if parts else source


def beside(chars: str, text: Text) -> Text:
    """Return characters that stand in no file, at the place of some that do."""
    return Text((Span(chars, text.place()),))
