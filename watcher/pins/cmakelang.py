"""The syntax of CMake: commands with arguments, nothing else.

Its lexical rules are six expressions; a grammar that builds one tree of the whole file would lose everything behind the
first parenthesis that is not closed, where this reader goes on with the next command.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from watcher.pins.format import Broken
from watcher.pins.text import Place, Text, written

_SPACE = re.compile(r"\s+")
_COMMENT = re.compile(r"#[^\n]*")
_BRACKET = re.compile(r"#?\[(=*)\[")
_OPENING = re.compile(r"([A-Za-z_]\w*)[ \t]*\(")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_UNQUOTED = re.compile(r'(?:[^\s()#"\\]|\\.)(?:[^\s()#"\\]|\\.|"(?:[^"\\\n]|\\.)*")*', re.DOTALL)
_NEXT = re.compile(
    r"[ \t]*(?:set|unset|if|elseif|else|endif|foreach|endforeach|function|endfunction|macro|endmacro|message"
    r"|include|option|project|find_package|add_\w+|target_\w+|list|string|file|install|execute_process|FetchContent_\w+|ExternalProject_\w+"
    r"|CPM\w+)[ \t]*\(",
    re.IGNORECASE,
)
_TEMPLATE = re.compile(r"(?:@[A-Za-z_]\w*@|\{[{%#]|%\{|<%|\$\{)[^\n]*")
_WIDEST_INDENT = 120
_MOST_ARGUMENTS = 20_000
_RESTARTS = 20
"""How often a file may be broken before the rest of it is left."""


class Argument(NamedTuple):
    """One argument as written, without its quotes."""

    text: Text
    quote: str
    """`"`, `[` for a bracket argument, or empty."""


class Command(NamedTuple):
    """One command."""

    name: str
    """In lower case."""
    arguments: tuple[Argument, ...]
    place: Place


@dataclass(slots=True, kw_only=True, eq=False)
class Block:
    """A command that has others inside: `if`, `foreach`, `while`, `function`, `macro`, `block`."""

    arms: list[tuple[Command, list["Item"]]] = field(default_factory=list)
    """The opening command with what it encloses; for `if` also each `elseif` and `else`."""

    @property
    def name(self) -> str:
        """Return the name of the opening command."""
        return self.arms[0][0].name


Item = Command | Block


class _Failure(NamedTuple):
    """Where reading a command failed."""

    offset: int
    reason: str
    resume: int


class Reader:
    """Reads the commands of one file in order."""

    def __init__(self, path: str, text: str, line: int = 1) -> None:
        self.path = path
        self.text = text
        self.line = line
        """On which the text starts."""
        self._missing: set[str] = set()
        """Closing brackets that do not occur any more."""
        self._ends = [found.start() for found in re.finditer("\n", text)]

    def read(self) -> Iterator[Command | Broken]:
        """Yield the commands; one `Broken` for each place that is no CMake."""
        at, failures = 0, 0
        while failures < _RESTARTS:
            at = self._skipped(at)
            if at >= len(self.text):
                return
            opening = _OPENING.match(self.text, at)
            if opening is None:
                template = _TEMPLATE.match(self.text, at)
                if template is None:
                    failures += 1
                    yield self._broken(at, f"expected a command, found {self.text[at : at + 40].split(chr(10))[0]!r}")
                at = self._next_line(at)
                continue
            found = self._arguments(opening.end())
            if isinstance(found, _Failure):
                failures += 1
                yield self._broken(at, found.reason)
                at = found.resume if found.resume >= 0 else self._next_line(at)
                continue
            arguments, end = found
            yield Command(opening[1].lower(), arguments, self._place(at))
            at = end

    def _skipped(self, at: int) -> int:
        """Return where the next thing begins that is neither space nor a comment."""
        while True:
            space = _SPACE.match(self.text, at)
            at = space.end() if space else at
            if not self.text.startswith("#", at):
                return at
            at = self._comment_end(at)

    def _comment_end(self, at: int) -> int:
        bracket = _BRACKET.match(self.text, at)
        closed = self._closing(bracket.end(), bracket[1]) if bracket else -1
        if bracket and closed >= 0:
            return closed + len(bracket[1]) + 2
        comment = _COMMENT.match(self.text, at)
        return comment.end() if comment else at + 1

    def _closing(self, start: int, equals: str) -> int:
        mark = f"]{equals}]"
        if mark in self._missing:
            return -1
        found = self.text.find(mark, start)
        if found < 0:
            self._missing.add(mark)
        return found

    def _arguments(self, at: int) -> tuple[tuple[Argument, ...], int] | _Failure:
        """Read up to the parenthesis that closes the command."""
        start, depth = at, 1
        arguments: list[Argument] = []
        while True:
            at = self._skipped(at)
            if at >= len(self.text) or len(arguments) > _MOST_ARGUMENTS:
                return _Failure(start, "expected `)`, found the end", -1)
            char = self.text[at]
            if depth == 1 and arguments and self._begins_line(at) and _NEXT.match(self.text, at):
                return _Failure(start, "expected `)`, found the next command", at)
            if char in "()":
                depth += 1 if char == "(" else -1
                at += 1
                if depth == 0:
                    return tuple(arguments), at
                arguments.append(Argument(self._text(at - 1, at), ""))
                continue
            found = self._argument(at)
            if found is None:
                return _Failure(start, "expected the end of a quoted argument", -1)
            argument, at = found
            arguments.append(argument)

    def _argument(self, at: int) -> tuple[Argument, int] | None:
        bracket = _BRACKET.match(self.text, at)
        closed = self._closing(bracket.end(), bracket[1]) if bracket else -1
        if bracket and closed >= 0:
            return Argument(self._text(bracket.end(), closed), "["), closed + len(bracket[1]) + 2
        quoted = _QUOTED.match(self.text, at)
        if quoted:
            return Argument(self._text(*quoted.span(1)), '"'), quoted.end()
        plain = _UNQUOTED.match(self.text, at)
        return (Argument(self._text(*plain.span()), ""), plain.end()) if plain else None

    def _begins_line(self, at: int) -> bool:
        line = bisect_left(self._ends, at)
        start = self._ends[line - 1] + 1 if line else 0
        return at - start < _WIDEST_INDENT and not self.text[start:at].strip()

    def _text(self, start: int, end: int) -> Text:
        return written(self.text[start:end], self.path, self._place(start).line)

    def _place(self, offset: int) -> Place:
        return Place(self.path, bisect_left(self._ends, offset) + self.line)

    def _next_line(self, at: int) -> int:
        end = self.text.find("\n", at)
        return len(self.text) if end < 0 else end + 1

    def _broken(self, at: int, reason: str) -> Broken:
        return Broken(file=self.path, line=self._place(at).line, reason=reason)


_CLOSING = {
    "endif": "if",
    "endforeach": "foreach",
    "endwhile": "while",
    "endfunction": "function",
    "endmacro": "macro",
    "endblock": "block",
}
_OPENS = frozenset(_CLOSING.values())


def blocks(commands: Iterator[Command | Broken]) -> tuple[list[Item], list[Broken]]:
    """Put what stands between `if` and `endif` … inside; a block that nothing closes ends with the file."""
    top: list[Item] = []
    open_: list[Block] = []
    broken: list[Broken] = []
    for command in commands:
        if isinstance(command, Broken):
            broken.append(command)
            continue
        inside = open_[-1].arms[-1][1] if open_ else top
        if command.name in _OPENS:
            block = Block(arms=[(command, [])])
            inside.append(block)
            open_.append(block)
        elif command.name in {"elseif", "else"} and open_ and open_[-1].name == "if":
            open_[-1].arms.append((command, []))
        elif command.name in _CLOSING:
            kind = _CLOSING[command.name]
            at = next((at for at in range(len(open_) - 1, -1, -1) if open_[at].name == kind), None)
            if at is not None:
                del open_[at:]
        else:
            inside.append(command)
    return top, broken
