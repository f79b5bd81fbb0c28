"""The references of a Makefile, `$(NAME)` and `$(function a,b)`: where they stand and what they may be."""

import re

from watcher.pins.builds import BuildReader
from watcher.pins.filling import Hole, filled
from watcher.pins.scope import Scope
from watcher.pins.text import Span, Text, unknown, written
from watcher.pins.values import Value, concat, just

_PLAIN_NAME = re.compile(r"[\w.-]+")
_DEEPEST = 20


class Expansion:
    """Puts the references of a text in; `reader` runs what stands in `$(shell …)`."""

    def __init__(self, reader: BuildReader) -> None:
        self._reader = reader

    def value(self, source: Text, scope: Scope, depth: int = 0) -> Value:
        """Return what a text may be with make's references put in."""
        value: Value = just(Text())
        last = 0
        for start, end, name in references(source):
            value = concat(value, just(source[last:start]))
            value = concat(value, self._reference(name, scope, depth))
            last = end
        return concat(value, just(source[last:]))

    def _reference(self, inner: Text, scope: Scope, depth: int) -> Value:
        chars = inner.chars
        if chars == "$":
            return just(inner)
        if depth > _DEEPEST:
            return just(unknown(chars[:40], inner.place()))
        if _PLAIN_NAME.fullmatch(chars):
            return self._variable(chars, inner, scope)
        function = re.match(r"([a-z]+)\s+", chars)
        rest = inner[function.end() :] if function else inner
        match function[1] if function else "":
            case "strip" | "abspath" | "realpath" | "value":
                return self.value(rest, scope, depth + 1)
            case "shell":
                return self._shell(rest, scope)
            case "or" | "if":
                return self._either(rest, function[1] if function else "", scope, depth)
            case "":
                return self._computed(inner, scope, depth)
        return just(unknown(chars[:40], inner.place()))

    def _variable(self, name: str, inner: Text, scope: Scope) -> Value:
        if name == "MAKE":
            return just(Text(around("make", inner)))
        if name in {"CURDIR", "PWD"}:
            return scope.cwd
        return scope.value(name) or just(unknown(name, inner.place()))

    def _shell(self, command: Text, scope: Scope) -> Value:
        inner = scope.copy()
        script = self.shell_text(command, inner)
        return self._reader.value(Text((*around("$(", command), *script.spans, *around(")", command))), inner)

    def _either(self, rest: Text, how: str, scope: Scope, depth: int) -> Value:
        parts = arguments(rest)[1 if how == "if" else 0 :]
        values = [self.value(part, scope, depth + 1) for part in parts[:4]]
        if how == "or":
            return next(
                (value for value in values if any(case.text and case.text.is_known for case in value)),
                values[-1] if values else (),
            )
        return tuple(case for value in values for case in value)

    def _computed(self, inner: Text, scope: Scope, depth: int) -> Value:
        """Read `$(X:.a=.b)` as unknown, `$($(A)_VERSION)` by the name that it computes."""
        if "$" not in inner.chars:
            return just(unknown(inner.chars[:40], inner.place()))
        names = self.value(inner, scope, depth + 1)
        name = names[0].text.chars if len(names) == 1 and names[0].text.is_known else ""
        return (
            self._variable(name, inner, scope)
            if _PLAIN_NAME.fullmatch(name)
            else just(unknown(inner.chars[:40], inner.place()))
        )

    def shell_text(self, line: Text, scope: Scope) -> Text:
        """Return a recipe line as the shell gets it."""
        return filled(line, references(line), lambda name: self._reference(name, scope, 0), scope)


def around(chars: str, beside: Text) -> tuple[Span, ...]:
    """Return characters that stand in no file, at the place of some that do."""
    return written(chars, *beside.place()).spans


def references(source: Text) -> list[Hole]:
    """Return where each `$(…)`, `${…}`, `$x` and `$$` stands, and what is in it."""
    chars, at, found = source.chars, 0, []
    while (at := chars.find("$", at)) >= 0 and at + 1 < len(chars):
        opening = chars[at + 1]
        if opening in "({":
            end = _closing(chars, at + 1)
            found.append(Hole(at, min(end + 1, len(chars)), source[at + 2 : end]))
            at = end + 1
        else:
            found.append(Hole(at, at + 2, source[at + 1 : at + 2]))
            at += 2
    return found


def _closing(chars: str, at: int) -> int:
    opening, closing = chars[at], {"(": ")", "{": "}"}[chars[at]]
    depth = 0
    for end in range(at, min(len(chars), at + 20_000)):
        depth += (chars[end] == opening) - (chars[end] == closing)
        if depth == 0:
            return end
    return len(chars)


def arguments(text: Text) -> list[Text]:
    """Split at commas that no bracket encloses."""
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text.chars):
        depth += (char in "({") - (char in ")}")
        if char == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    parts.append(text[start:])
    return [part[len(part.chars) - len(part.chars.lstrip()) : len(part.chars.rstrip())] for part in parts]
