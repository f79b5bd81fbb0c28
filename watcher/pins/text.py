"""Text that remembers where each part of it is written.

A shell script, a RUN instruction, a heredoc, the value of a variable and a quoted command inside a command are all the
same thing here: characters, and for each run of them the file and line they came from. Whatever is cut out of a text or
put together from several keeps that memory; so a ref used on line 40 is reported at the ARG on line 2.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from functools import partial
from itertools import accumulate, repeat
from typing import NamedTuple

UNKNOWN = "\ue000"
"""Stands in a text for one part that the files do not tell. Private use: shell grammar reads it as a letter."""
_LONGEST = 20_000
"""A line that is longer is several spans, so that cutting it up costs no more than others."""
_PIECE = re.compile(rf"[^\n]{{0,{_LONGEST - 1}}}\n|[^\n]{{1,{_LONGEST}}}")


class Place(NamedTuple):
    """A line of a file."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class Span(NamedTuple):
    """A run of characters that stand together in one file."""

    chars: str
    place: Place
    """Where the first character stands."""
    name: str = ""
    """The first variable that held it, else empty; for an unknown part, what is unknown."""
    whole: str = ""
    """What is written there where an expansion such as `${X#v}` cut the characters out of something longer."""

    def cut(self, start: int, end: int) -> "Span":
        """Return a part of it; its line counts the line ends before it."""
        chars, place, name, whole = self
        if start == 0:
            return self if end >= len(chars) else Span(chars[:end], place, name, whole)
        if chars.find("\n", 0, start) >= 0:
            place = Place(place.file, place.line + chars.count("\n", 0, start))
        return Span(chars[start:end], place, name, whole)

    @property
    def is_unknown(self) -> bool:
        """Answer whether this part is not told by the files."""
        return self.chars == UNKNOWN


class Text:
    """Characters with their places; immutable."""

    __slots__ = ("_starts", "chars", "spans")

    def __init__(self, spans: Iterable[Span] = ()) -> None:
        self.spans = tuple([span for span in spans if span[0]])
        self.chars = self.spans[0][0] if len(self.spans) == 1 else "".join([span[0] for span in self.spans])
        self._starts: list[int] | None = None

    def __add__(self, other: "Text") -> "Text":
        return Text((*self.spans, *other.spans))

    def __getitem__(self, part: slice) -> "Text":
        start, end, _ = part.indices(len(self.chars))
        if start >= end:
            return _EMPTY
        if start == 0 and end == len(self.chars):
            return self
        spans = self.spans
        if len(spans) == 1:
            return Text((spans[0].cut(start, end),))
        offsets = self._offsets()
        first, last = bisect_right(offsets, start) - 1, bisect_left(offsets, end) - 1
        if first == last:
            return Text((spans[first].cut(start - offsets[first], end - offsets[first]),))
        head = spans[first].cut(start - offsets[first], len(spans[first].chars))
        tail = spans[last].cut(0, end - offsets[last])
        return Text((head, *spans[first + 1 : last], tail))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Text) and self.spans == other.spans

    def __hash__(self) -> int:
        return hash((self.chars, self.spans[0].place if self.spans else None))

    def __repr__(self) -> str:
        return f"Text({self.key!r})"

    def __bool__(self) -> bool:
        return bool(self.chars)

    def _offsets(self) -> list[int]:
        if self._starts is None:
            self._starts = [0, *accumulate(len(span[0]) for span in self.spans)][:-1]
        return self._starts

    def _index(self, offset: int) -> int:
        return bisect_right(self._offsets(), offset) - 1

    def place(self, offset: int = 0) -> Place:
        """Return where the character at the offset stands; `("", 0)` for an empty text."""
        if not self.spans:
            return Place("", 0)
        if offset == 0:
            return self.spans[0].place
        index = self._index(min(offset, len(self.chars) - 1))
        return self.spans[index].cut(offset - self._offsets()[index], len(self.chars)).place

    @property
    def is_known(self) -> bool:
        """Answer whether every character is told by the files."""
        return UNKNOWN not in self.chars

    @property
    def key(self) -> str:
        """Return the characters with each unknown part named, so that two texts of one key are the same value."""
        return "".join(
            f"{UNKNOWN}{_plain(span.name)}{UNKNOWN}" if span.is_unknown else span.chars for span in self.spans
        )

    def named(self, name: str) -> "Text":
        """Return the text as the value of a variable; parts that already had a name keep it."""
        return Text([span if span[2] else Span(span[0], span[1], name, span[3]) for span in self.spans])

    def remembering(self, original: "Text") -> "Text":
        """Return the text with each part that was changed or cut knowing what is written where it came from."""
        wholes = {(span.place, span.name): span.whole or span.chars for span in original.spans}
        return Text(
            span._replace(whole=whole)
            if (whole := wholes.get((span.place, span.name), span.chars)) != span.chars
            else span
            for span in self.spans
        )

    def mapped(self, change: Callable[[str], str]) -> "Text":
        """Return the text with a change of equal length made to every known part."""
        return Text(span if span.is_unknown else span._replace(chars=change(span.chars)) for span in self.spans)


_EMPTY = Text()
_PLACE = partial(tuple.__new__, Place)
_SPAN = partial(tuple.__new__, Span)
"""Like the classes themselves, three times as fast: large files have very many lines."""


def _plain(name: str) -> str:
    """Keep a name from being read as part of a path."""
    return re.sub(r"\W+", "_", name)


def written(chars: str, file: str, line: int = 1) -> Text:
    """Return a text that stands in a file from the given line on."""
    if "\n" not in chars and len(chars) <= _LONGEST:
        return Text((Span(chars, Place(file, line)),))
    pieces = _PIECE.findall(chars)
    lines = accumulate((piece[-1] == "\n" for piece in pieces), initial=line)
    places = map(_PLACE, zip(repeat(file), lines, strict=False))
    return Text(map(_SPAN, zip(pieces, places, repeat(""), repeat(""), strict=False)))


def unknown(name: str, place: Place) -> Text:
    """Return a text that is one unknown part."""
    return Text((Span(UNKNOWN, place, name),))


def joined(parts: Iterable[Text]) -> Text:
    """Put texts one after the other."""
    return Text(span for part in parts for span in part.spans)
