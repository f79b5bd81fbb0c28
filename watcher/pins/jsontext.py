"""JSON whose strings know their lines; comments and trailing commas, as editors and npm allow them, are accepted."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from watcher.pins.text import Place, Text
from watcher.pins.tree import DEEPEST, Leaf, Node, Problem, Reading, Row, Table, inline

_TOKEN = re.compile(
    r"(?P<space>[ \t\r\n\ufeff]+|//[^\n]*|/\*.*?\*/)"
    r'|(?P<string>"(?:[^"\\\n]|\\.)*")'
    r"|(?P<mark>[{}\[\]:,])"
    r"|(?P<bare>[^\s{}\[\]:,\"/]+)"
    r"|(?P<wrong>.)",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)", re.DOTALL)
_PLAIN = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_BARE = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")


class _Token(NamedTuple):
    kind: str
    chars: str
    line: int


def read(text: str, file: str) -> Reading:
    """Read a document. What cannot be read is left out, the rest stays: never raises, never recurses."""
    reader = _Reader(file)
    for token in _tokens(text):
        reader.take(token)
    return reader.finish(text.count("\n") + 1)


def _tokens(text: str) -> Iterator[_Token]:
    line = 1
    for found in _TOKEN.finditer(text):
        kind = found.lastgroup or "wrong"
        if kind != "space":
            yield _Token(kind, found[0], line)
        line += found[0].count("\n") if kind in {"space", "string", "wrong"} else 0


class _Reader:
    """Puts the tokens together; knows the containers that are open."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.top = Row(Place(file, 1))
        self.open: list[Row | Table] = [self.top]
        self.keys: list[Text | None] = [None]
        """For each open container the key that waits for its value."""
        self.problem: Problem | None = None
        self.skipped = 0
        """How many containers are open below the deepest that is read."""
        self.needs_comma = [False]

    def take(self, token: _Token) -> None:
        """Add one token."""
        match token.kind, token.chars:
            case "mark", "{" | "[":
                self._enter(token)
            case "mark", "}" | "]":
                self._leave(token)
            case "mark", ",":
                self._object(token, "a value" if self.keys[-1] is not None else "", is_wrong=self.keys[-1] is not None)
                self.keys[-1], self.needs_comma[-1] = None, False
            case "mark", ":":
                self._object(token, "a key before `:`", is_wrong=self.keys[-1] is None)
            case "string", chars:
                self._string(token, _unescaped(chars[1:-1]))
            case "bare", chars if _BARE.fullmatch(chars):
                self._put(token, Leaf(inline(chars, self.file, token.line), False, Place(self.file, token.line)))
            case _:
                self._object(token, "a value", is_wrong=True)

    def finish(self, line: int) -> Reading:
        """Return what was read."""
        if len(self.open) > 1 or self.skipped:
            self._object(_Token("end", "the end", line), "`}` or `]`", is_wrong=True)
        if not self.top.nodes:
            self._object(_Token("end", "the end", line), "a value", is_wrong=True)
        root: Node = self.top.nodes[0] if self.top.nodes else Table(Place(self.file, 1))
        return Reading(root, self.problem)

    def _string(self, token: _Token, value: str) -> None:
        place = Place(self.file, token.line)
        if isinstance(self.open[-1], Table) and self.keys[-1] is None:
            self._object(token, "`,`", is_wrong=self.needs_comma[-1])
            self.keys[-1] = inline(value, self.file, token.line)
        else:
            self._put(token, Leaf(inline(value, self.file, token.line), True, place))

    def _put(self, token: _Token, node: Node) -> None:
        if self.skipped:
            return
        holder, key = self.open[-1], self.keys[-1]
        if isinstance(holder, Row):
            self._object(token, "`,`", is_wrong=self.needs_comma[-1])
            holder.nodes.append(node)
        elif key is None:
            self._object(token, "a key in quotes", is_wrong=True)
        else:
            holder.put(key, node)
            self.keys[-1] = None
        self.needs_comma[-1] = holder is not self.top

    def _enter(self, token: _Token) -> None:
        if self.skipped or len(self.open) > DEEPEST:
            self.skipped += 1
            return
        place = Place(self.file, token.line)
        node = Table(place) if token.chars == "{" else Row(place)
        self._put(token, node)
        self.open.append(node)
        self.keys.append(None)
        self.needs_comma.append(False)

    def _leave(self, token: _Token) -> None:
        if self.skipped:
            self.skipped -= 1
            return
        kind = Table if token.chars == "}" else Row
        at = next((at for at in range(len(self.open) - 1, 0, -1) if isinstance(self.open[at], kind)), 0)
        self._object(
            token, "nothing to close", is_wrong=at != len(self.open) - 1 or at == 0 or self.keys[-1] is not None
        )
        if at:
            del self.open[at:], self.keys[at:], self.needs_comma[at:]

    def _object(self, token: _Token, expected: str, *, is_wrong: bool) -> None:
        if is_wrong and self.problem is None:
            self.problem = Problem(token.line, f"expected {expected}, found {token.chars[:40]!r}")


def _unescaped(chars: str) -> str:
    if "\\" not in chars:
        return chars
    joined = _ESCAPE.sub(lambda found: _escaped(found[1]), chars)
    return joined.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _escaped(code: str) -> str:
    return chr(int(code[1:], 16)) if len(code) > 1 else _PLAIN.get(code, code)
