"""Put text into two columns of a terminal: labels left, words right, wrapped under themselves.

`rich` is asked for colours, and where characters are not plainly one column wide. Lines break between words and never
within one, so that ids and addresses can be copied.
"""

import re
from io import StringIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console
    from rich.text import Text

_INDENT = 10
NARROW = re.compile("[ -~\xa1-\xac\xae-\u02af\u2010-\u2027\u2190-\u21ff]*")
"""Texts whose characters are all one column wide, as is known without asking: most of what is ever shown."""
Piece = tuple[str, str]
"""Words, and their style; without one they are as they are."""


class Paper:
    """Lines that are written one below the other, whatever the terminal is."""

    def __init__(self, width: int, *, color: bool) -> None:
        self.width = width
        self._out = StringIO()
        self._color = color
        self._rich: Console | None = None

    @property
    def text(self) -> str:
        """Return everything that was written."""
        return self._out.getvalue()

    def line(self, *pieces: Piece) -> None:
        """Add a line as it is, however long."""
        if self._color:
            self._print(_text(pieces))
        else:
            self._out.write(_plain(pieces) + "\n")

    def wrap(self, left: tuple[Piece, ...], pieces: tuple[Piece, ...]) -> None:
        """Add pieces to the right of others, with as many lines as they need."""
        before = _plain(left)
        indent = len(before)
        if not self._color and NARROW.fullmatch(words := _plain(pieces)):
            lines = f"\n{' ' * indent}".join(wrapped(words, self.width - indent))
            self._out.write(f"{before}{lines}\n")
            return
        for row in self._rows(pieces, self.width - indent):
            if isinstance(row, str):
                self.line(*left, (row, ""))
            else:
                self._print(_text(left).append_text(row))
            left = ((" " * indent, ""),)

    def _rows(self, pieces: tuple[Piece, ...], width: int) -> "Iterator[str | Text]":
        """Yield lines that are so wide at most, unless one word is wider."""
        plain = _plain(pieces)
        if not NARROW.fullmatch(plain):
            for row in _text(pieces).wrap(self._console(), width):
                row.rstrip()
                yield row if self._color else row.plain
            return
        styled, at = _text(pieces) if self._color else plain, 0
        for part in wrapped(plain, width):
            at = plain.index(part, at)
            yield styled[at : at + len(part)]
            at += len(part)

    def _print(self, text: "Text") -> None:
        self._console().print(text, soft_wrap=True)

    def _console(self) -> "Console":
        from rich.console import Console  # noqa: PLC0415 - heavy, and seldom needed

        if self._rich is None:
            self._rich = Console(
                file=self._out,
                width=self.width,
                height=25,  # else it asks the terminal for its own at each line
                force_terminal=self._color,
                color_system="standard" if self._color else None,
                highlight=False,
                markup=False,
                emoji=False,
            )
        return self._rich


def put(paper: Paper, *pieces: Piece, label: Piece = ("", ""), mark: str = "", deeper: int = 0) -> None:
    """Write pieces in the right-hand column, wrapped under themselves; `label` stands left of them, `mark` before."""
    text, style = label
    paper.wrap(((text.ljust(_INDENT + deeper), style), (mark, "green")), pieces)


def wrapped(text: str, width: int) -> list[str]:
    """Return lines that are so wide at most, unless one word is wider; spaces where they end or break are dropped.

    They break where `textwrap` breaks them, which takes longer: reports have thousands of lines.
    """
    lines, rest = [], text.rstrip(" ")
    while len(rest) > width:
        rest = rest.lstrip(" ")
        at = rest.rfind(" ", 0, width + 1)
        if at < 0:
            at = rest.find(" ")
        if at < 0:
            break
        lines.append(rest[:at].rstrip(" "))
        rest = rest[at:].lstrip(" ")
    return [*lines, rest]


def _plain(pieces: tuple[Piece, ...]) -> str:
    return "".join(text for text, _ in pieces)


def _text(pieces: tuple[Piece, ...]) -> "Text":
    from rich.text import Text  # noqa: PLC0415 - heavy, and seldom needed

    return Text.assemble(*pieces, end="")
