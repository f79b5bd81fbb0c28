"""String literals of Python whose characters know their lines: joined ones, long ones, f-strings."""

import ast
import re
from collections.abc import Iterator
from typing import TypeAlias

from watcher.pins.text import Text, joined
from watcher.pins.tree import inline

Piece: TypeAlias = Text | ast.expr
"""A part of a literal: characters, or the expression of a placeholder."""

_OPENING = re.compile(r"(?P<prefix>[A-Za-z]{0,2})(?P<quote>\"\"\"|'''|\"|')")
_BETWEEN = re.compile(r"(?:\s+|#[^\n]*|\\\r?\n)*")
_ESCAPE = re.compile(
    r"\\(?:(\r?\n)|N\{([^}]*)\}|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|(.))", re.DOTALL
)
_PLAIN = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\", "'": "'", '"': '"'}


class Literals:
    """The source of one file, in which literals are looked up by their nodes."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self._lines = text.split("\n")

    def text(self, node: ast.Constant) -> Text:
        """Return a string constant."""
        if node.lineno == node.end_lineno:
            return inline(str(node.value), self.file, node.lineno)
        found = joined(piece for piece in self._scanned(node, []) if isinstance(piece, Text))
        return found if found.chars == node.value else inline(str(node.value), self.file, node.lineno)

    def pieces(self, node: ast.JoinedStr) -> list[Piece]:
        """Return the parts of an f-string in order."""
        holes = [value.value for value in node.values if isinstance(value, ast.FormattedValue)]
        if node.lineno == node.end_lineno:
            return [piece for value in node.values for piece in self._plain(value)]
        found = list(self._scanned(node, holes))
        if sum(isinstance(piece, ast.expr) for piece in found) == len(holes):
            return found
        return [piece for value in node.values for piece in self._plain(value)]

    def _plain(self, node: ast.expr) -> Iterator[Piece]:
        match node:
            case ast.Constant(value=str(value)):
                yield inline(value, self.file, node.lineno)
            case ast.FormattedValue(value=value):
                yield value

    def _scanned(self, node: ast.expr, holes: list[ast.expr]) -> Iterator[Piece]:
        """Read the tokens of a literal over several lines; the n-th placeholder is the n-th of the tree."""
        segment, line = self._segment(node), node.lineno
        waiting = iter(holes)
        at = 0
        while found := _OPENING.match(segment, at):
            quote, prefix = found["quote"], found["prefix"].lower()
            end = _closing(segment, found.end(), quote)
            body = segment[found.end() : end]
            yield from _body(body, self.file, line + segment.count("\n", 0, found.end()), prefix, waiting)
            at = end + len(quote)
            between = _BETWEEN.match(segment, at)
            at = between.end() if between else at

    def _segment(self, node: ast.expr) -> str:
        last = node.end_lineno or node.lineno
        lines = self._lines[node.lineno - 1 : last]
        lines[-1] = lines[-1].encode()[: node.end_col_offset].decode(errors="replace")
        lines[0] = lines[0].encode()[node.col_offset :].decode(errors="replace")
        return "\n".join(lines)


def _closing(segment: str, start: int, quote: str) -> int:
    at = start
    while at < len(segment):
        if segment[at] == "\\":
            at += 2
        elif segment.startswith(quote, at):
            return at
        else:
            at += 1
    return len(segment)


def _body(body: str, file: str, line: int, prefix: str, waiting: Iterator[ast.expr]) -> Iterator[Piece]:
    """Yield what stands between the quotes of one token."""
    start = at = 0
    if "f" not in prefix:
        yield _decoded(body, file, line, prefix)
        return
    while at < len(body):
        two = body[at : at + 2]
        if two in {"{{", "}}"}:
            yield _decoded(body[start : at + 1], file, line + body.count("\n", 0, start), prefix)
            at += 2
            start = at
        elif body[at] == "{":
            yield _decoded(body[start:at], file, line + body.count("\n", 0, start), prefix)
            at = _behind_hole(body, at)
            start = at
            hole = next(waiting, None)
            if hole is not None:
                yield hole
        else:
            at += 2 if body[at] == "\\" and "r" not in prefix and body[at + 1 : at + 2] not in {"{", "}"} else 1
    yield _decoded(body[start:], file, line + body.count("\n", 0, start), prefix)


def _behind_hole(body: str, at: int) -> int:
    depth = 0
    while at < len(body):
        char = body[at]
        if char in "'\"":
            closing = body.find(char, at + 1)
            at = closing if closing > 0 else at
        depth += (char in "{[(") - (char in "}])")
        at += 1
        if depth == 0:
            return at
    return at


def _decoded(chars: str, file: str, line: int, prefix: str) -> Text:
    """Return characters with their escapes put in; only a line end that is written counts."""
    parts: list[Text] = []
    last = 0
    for found in _ESCAPE.finditer(chars) if "r" not in prefix and "\\" in chars else ():
        parts += _lines(chars[last : found.start()], file, line + chars.count("\n", 0, last))
        last = found.end()
        parts.append(inline(_unescaped(found), file, line + chars.count("\n", 0, found.start())))
    return joined([*parts, *_lines(chars[last:], file, line + chars.count("\n", 0, last))])


def _lines(chars: str, file: str, line: int) -> Iterator[Text]:
    for number, part in enumerate(chars.split("\n")):
        yield inline(part + ("\n" if number < chars.count("\n") else ""), file, line + number)


def _unescaped(found: re.Match[str]) -> str:
    if found[1]:
        return ""
    if found[2]:
        return "\ufffd"
    code = found[3] or found[4] or found[5]
    if code or found[6]:
        number = int(code, 16) if code else int(found[6], 8)
        return chr(number) if number <= 0x10FFFF and not 0xD800 <= number <= 0xDFFF else "\ufffd"  # noqa: PLR2004 - as above
    return _PLAIN.get(found[7], "\\" + found[7])
