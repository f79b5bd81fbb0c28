"""Pairs of a name and a quoted value in languages that we do not otherwise read: Ruby, Swift, Elixir, Erlang.

Comments are blanked first. A value may be a name that the same file sets to a string once, or a string with such names
in it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from watcher.pins.lines import Lines
from watcher.pins.text import Place, Span, Text, joined, unknown

_STRING = r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'"
_COMMENTS = {
    "#": re.compile(rf"{_STRING}|(?P<comment>#[^\n]*|^=begin\b.*?^=end\b)", re.DOTALL | re.MULTILINE),
    "//": re.compile(rf"{_STRING}|(?P<comment>//[^\n]*|/\*.*?\*/)", re.DOTALL),
    "%": re.compile(rf"{_STRING}|(?P<comment>%[^\n]*)", re.DOTALL),
}
_VALUE = rf"(?P<string>{_STRING})|(?P<name>@?[A-Za-z_][\w.]*)"
_PAIR = re.compile(
    rf"(?:(?<![\w:]):?(?P<key>[A-Za-z_]\w*)\s*(?::(?!:)|=>)|[\"'](?P<quoted>[A-Za-z_]\w*)[\"']\s*(?::|=>))\s*(?:{_VALUE})"
)
_CONSTANT = re.compile(
    r"^[ \t]*(?:let\s+|var\s+|private\s+|static\s+)*(?P<name>@?[A-Za-z_]\w*)\s*(?::\s*String\s*)?=?\s*"
    rf"(?P<string>{_STRING})[ \t]*$",
    re.MULTILINE,
)
_HOLE = re.compile(r"#\{\s*(?P<name>@?\w+)\s*\}|\\\(\s*(?P<swift>\w+)\s*\)")


def without_comments(text: str, mark: str) -> str:
    """Return a text of equal length and lines with spaces for its comments."""
    return _COMMENTS[mark].sub(lambda found: re.sub(r"[^\n]", " ", found[0]) if found["comment"] else found[0], text)


def constants(lines: Lines) -> Mapping[str, Text]:
    """Return the names that a file sets to a string, each once."""
    found: dict[str, list[Text]] = {}
    for match in _CONSTANT.finditer(lines.text):
        start, end = match.span("string")
        found.setdefault(match["name"], []).append(lines.cut(start + 1, end - 1).named(match["name"]))
    return {name: texts[0] for name, texts in found.items() if len(texts) == 1}


def pairs(lines: Lines, start: int, end: int, known: Mapping[str, Text]) -> dict[str, Text]:
    """Return the values of the names between two offsets; one that the file does not tell is unknown."""
    values: dict[str, Text] = {}
    for found in _PAIR.finditer(lines.text, start, end):
        values.setdefault(found["key"] or found["quoted"], value(lines, found, known))
    return values


def value(lines: Lines, found: re.Match[str], known: Mapping[str, Text]) -> Text:
    """Return what a `string` or a `name` group stands for."""
    if found["string"]:
        start, end = found.span("string")
        return filled(lines.cut(start + 1, end - 1), known)
    place = Place(lines.file, lines.line(found.start()))
    return known.get(found["name"].lstrip("."), unknown(found["name"], place))


def filled(text: Text, known: Mapping[str, Text]) -> Text:
    """Put the names of a file into a string that interpolates them."""
    return joined(_filled(text, known))


def _filled(text: Text, known: Mapping[str, Text]) -> Iterator[Text]:
    last = 0
    for found in _HOLE.finditer(text.chars):
        name = found["name"] or found["swift"]
        yield text[last : found.start()]
        yield known.get(name, unknown(name, text.place(found.start())))
        last = found.end()
    yield text[last:]


def strings(lines: Lines, start: int, end: int) -> Iterable[Text]:
    """Yield the strings between two offsets."""
    for found in re.finditer(_STRING, lines.text[start:end]):
        yield lines.cut(start + found.start() + 1, start + found.end() - 1)


def on_forge(host: str, path: Text) -> Text:
    """Return the address of a repository that is named by its path alone."""
    return Text((Span(f"https://{host}/", path.place()), *path.spans))
