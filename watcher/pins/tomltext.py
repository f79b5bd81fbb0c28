"""TOML whose strings know their lines: a reader that goes on after what it cannot read.

The standard library's reader has no positions and stops at the first mistake. This one takes the same documents for the
same values (the tests compare them) but is lenient with what is wrong: a key that is set twice, a table defined twice.
"""

import re
from collections.abc import Iterator, Mapping

from watcher.pins.text import Place, Text, joined
from watcher.pins.tree import DEEPEST, Leaf, Node, Problem, Reading, Row, Table, inline

_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_REST = re.compile(r"[ \t]*(?:#[^\n]*)?\r?(?:\n|\Z)")
_LINE = re.compile(r"[^\n]*\n?")
_KEY = re.compile(r"[A-Za-z0-9_-]+|\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'")
_BASIC = re.compile(r'"(?:[^"\\\n]|\\[^\n])*"')
_LITERAL = re.compile(r"'[^'\n]*'")
_LONG_BASIC = re.compile(r'"""(?:[^"\\]|\\.|""?(?!"))*"{3,5}', re.DOTALL)
_LONG_LITERAL = re.compile(r"'''(?:[^']|''?(?!'))*'{3,5}", re.DOTALL)
_BARE = re.compile(r"[+\-]?[\w.:+\-]+(?: \d\d:[\d:.]+(?:Z|[+\-][\d:]+)?)?")
_NUMBER = re.compile(r"[+\-]?(?:\d[\w.+\-:]*(?: [\d:.Z+\-]+)?|inf|nan)|true|false")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([ \t]*\r?\n[ \t\r\n]*)|(.))", re.DOTALL)
_PLAIN: Mapping[str, str] = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "e": "\x1b"}


def read(text: str, file: str) -> Reading:
    """Read a document. What cannot be read is left out, the rest stays: never raises, nests only so deep."""
    reader = _Reader(text, file)
    reader.document()
    return Reading(reader.root, reader.problem)


class _Wrong(Exception):  # noqa: N818 - a way out of a statement, never seen outside
    """A statement cannot be read on."""


class _Reader:
    """Walks over the text once."""

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file
        self.at = 0
        self.root = Table(Place(file, 1))
        self.here = self.root
        self.problem: Problem | None = None
        self._counted = (0, 1)

    def document(self) -> None:
        """Read statements; after one that is wrong go on with the next line."""
        while True:
            self._skip(_BLANK)
            if self.at >= len(self.text):
                return
            start = self.at
            try:
                self._statement()
            except _Wrong as wrong:
                if self.problem is None:
                    found = self.text[self.at : self.at + 40].partition("\n")[0]
                    self.problem = Problem(self._line(self.at), f"expected {wrong}, found {found!r}")
                self.at = start
                self._skip(_LINE)

    # --- statements --------------------------------------------------------------------------------------------------

    def _statement(self) -> None:
        if self._take("[["):
            self.here = self.root  # what follows a broken header belongs to nothing known
            keys = self._header("]]")
            self.here = self._appended(keys)
        elif self._take("["):
            self.here = Table(self._place(self.at))
            keys = self._header("]")
            self.here = self._descend(self.root, keys)
        else:
            self._entry(self.here, 0)
        if not self._skip(_REST):
            raise _Wrong("the end of the line")

    def _header(self, closing: str) -> list[Text]:
        self._skip(_SPACE)
        keys = self._keys()
        if not self._take(closing):
            raise _Wrong(f"`{closing}`")
        return keys

    def _entry(self, table: Table, depth: int) -> None:
        keys = self._keys()
        if not self._take("="):
            raise _Wrong("`key = value`")
        self._skip(_SPACE)
        value = self._value(depth)
        self._descend(table, keys[:-1]).put(keys[-1], value)

    def _keys(self) -> list[Text]:
        keys: list[Text] = []
        while True:
            self._skip(_SPACE)
            found = _KEY.match(self.text, self.at)
            if found is None or len(keys) >= DEEPEST:
                raise _Wrong("a key")
            keys.append(self._key(found[0]))
            self.at = found.end()
            self._skip(_SPACE)
            if not self._take("."):
                return keys

    def _key(self, chars: str) -> Text:
        line = self._line(self.at)
        if chars[0] == '"':
            return self._decoded(chars[1:-1], self.at + 1)
        return inline(chars.strip("'"), self.file, line)

    def _descend(self, table: Table, keys: list[Text]) -> Table:
        """Go to the table at a path, in a list of tables to its last one; make what is missing."""
        for key in keys:
            node = table.index.get(key.chars)
            if isinstance(node, Row) and node.nodes:
                node = node.nodes[-1]
            if not isinstance(node, Table):
                node = Table(key.place())
                table.put(key, node)
            table = node
        return table

    def _appended(self, keys: list[Text]) -> Table:
        holder = self._descend(self.root, keys[:-1])
        row = holder.index.get(keys[-1].chars)
        if not isinstance(row, Row):
            row = Row(keys[-1].place())
            holder.put(keys[-1], row)
        table = Table(keys[-1].place())
        row.nodes.append(table)
        return table

    # --- values ------------------------------------------------------------------------------------------------------

    def _value(self, depth: int) -> Node:
        if depth > DEEPEST:
            raise _Wrong("less nesting")
        match self.text[self.at : self.at + 1]:
            case '"':
                return self._string(_LONG_BASIC, _BASIC, '"""')
            case "'":
                return self._string(_LONG_LITERAL, _LITERAL, "'''")
            case "[":
                return self._array(depth)
            case "{":
                return self._inline_table(depth)
        found = _BARE.match(self.text, self.at)
        if found is None or not _NUMBER.fullmatch(found[0]):
            raise _Wrong("a value")
        place = self._place(self.at)
        self.at = found.end()
        return Leaf(inline(found[0], self.file, place.line), False, place)

    def _array(self, depth: int) -> Row:
        row = Row(self._place(self.at))
        self.at += 1
        while True:
            self._skip(_BLANK)
            if self._take("]"):
                return row
            row.nodes.append(self._value(depth + 1))
            self._skip(_BLANK)
            if not self._take(","):
                if self._take("]"):
                    return row
                raise _Wrong("`,` or `]`")

    def _inline_table(self, depth: int) -> Table:
        table = Table(self._place(self.at))
        self.at += 1
        while True:
            self._skip(_BLANK)
            if self._take("}"):
                return table
            self._entry(table, depth + 1)
            self._skip(_BLANK)
            if not self._take(","):
                if self._take("}"):
                    return table
                raise _Wrong("`,` or `}`")

    def _string(self, long: re.Pattern[str], short: re.Pattern[str], marks: str) -> Leaf:
        is_long = self.text.startswith(marks, self.at)
        found = (long if is_long else short).match(self.text, self.at)
        if found is None:
            raise _Wrong(f"a string that ends with `{marks if is_long else marks[0]}`")
        width = 3 if is_long else 1
        start, end = self.at + width, found.end() - width
        if is_long:
            start += len(re.match(r"\r?\n|", self.text[start : start + 2])[0])  # type: ignore[index] # matches nothing too
        place, chars = self._place(self.at), self.text[start:end]
        self.at = found.end()
        text = self._decoded(chars, start) if marks[0] == '"' else joined(self._lines(chars, start))
        return Leaf(text, True, place)

    def _decoded(self, chars: str, offset: int) -> Text:
        """Return a string's content with its escapes put in, each part on the line where it stands."""
        if "\\" not in chars and "\n" not in chars:
            return inline(chars, self.file, self._line(offset))
        parts: list[Text] = []
        last = 0
        for found in _ESCAPE.finditer(chars):
            parts += self._lines(chars[last : found.start()], offset + last)
            last = found.end()
            if found[3] is None:
                parts.append(inline(_unescaped(found), self.file, self._line(offset + found.start())))
        return joined([*parts, *self._lines(chars[last:], offset + last)])

    def _lines(self, chars: str, offset: int) -> Iterator[Text]:
        line = self._line(offset)
        for number, part in enumerate(chars.split("\n")):
            ending = "\n" if number < chars.count("\n") else ""
            yield inline(part + ending, self.file, line + number)

    # --- where we are ------------------------------------------------------------------------------------------------

    def _skip(self, pattern: re.Pattern[str]) -> bool:
        found = pattern.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return found is not None

    def _take(self, chars: str) -> bool:
        is_there = self.text.startswith(chars, self.at)
        self.at += len(chars) if is_there else 0
        return is_there

    def _place(self, offset: int) -> Place:
        return Place(self.file, self._line(offset))

    def _line(self, offset: int) -> int:
        """Return the line of an offset; counts on from the last one asked for, so that all of them cost one walk."""
        at, line = self._counted
        line += self.text.count("\n", at, offset) if offset >= at else -self.text.count("\n", offset, at)
        self._counted = (offset, line)
        return line


def _unescaped(found: re.Match[str]) -> str:
    code = found[1] or found[2]
    if code is None:
        return _PLAIN.get(found[4], found[4])
    number = int(code, 16)
    is_character = number <= 0x10FFFF and not 0xD800 <= number <= 0xDFFF  # noqa: PLR2004 - the range of Unicode, less surrogates
    return chr(number) if is_character else "\ufffd"
