"""Batch files in their simple forms, read as the shell commands that they amount to."""

import re
from collections.abc import Iterable, Iterator

from watcher.pins.checkout import Checkout
from watcher.pins.filling import beside, rewritten
from watcher.pins.format import Broken
from watcher.pins.shell import read_script
from watcher.pins.sites import Sighting
from watcher.pins.text import Text, joined, written

_REMARK = re.compile(r"\s*@?\s*(?:rem\b|::|:\w)", re.IGNORECASE)
_DROPPED = re.compile(
    r"\s*(?:@?echo\s+(?:off|on)\b|setlocal|endlocal|goto\b|exit\b|title\b|chcp\b|\)\s*$|echo\b)", re.IGNORECASE
)
_PREFIX = re.compile(
    r"\s*(?:@|call\s+(?!:)|\)?\s*else\s*\(?|\)\s*|\(\s*|for\b[^\n]*?\bdo\s*\(?\s*|"
    r"if\s+(?:/i\s+)?(?:not\s+)?(?:exist\s+(?:\"[^\"]*\"|\S+)|defined\s+\w+|errorlevel\s+\d+|"
    r"(?:\"[^\"]*\"|\S+?)\s*(?:==|equ|neq|lss|leq|gtr|geq)\s*(?:\"[^\"]*\"|[^\s(]+))\s*\(?)\s*",
    re.IGNORECASE,
)
_DEFAULT = re.compile(
    r"\s*@?\s*if\s+(?:/i\s+)?(?:not\s+defined\s+(?P<a>\w+)|\"?%(?P<b>\w+)%\"?\s*==\s*\"\")\s*\(?\s*set\b", re.IGNORECASE
)
_SET = re.compile(r"\s*set\s+(?!/)(?P<quote>\"?)(?P<name>\w+)=(?P<value>.*?)(?P=quote)\s*\)?\s*", re.IGNORECASE)
_SET_OTHER = re.compile(r"\s*set\s+/[ap]\s+\"?(?P<name>\w+)=.*", re.IGNORECASE)
_VARIABLE = re.compile(r"%(\w+)%|!(\w+)!|%%~?\w*?([A-Za-z])\b|%~?(?:\w*?)([0-9*])")
_CD = re.compile(r"(?:^|(?<=&&)|(?<=\|\|))\s*(?:cd|chdir)\s+(?:/d\s+)?", re.IGNORECASE)
_SEPARATOR = re.compile(r"(?<![&>])\s&\s(?!&)")


def claims(path: str) -> bool:
    """Answer whether a file is a batch file."""
    return path.lower().endswith((".bat", ".cmd"))


def parse(path: str, text: str, checkout: Checkout) -> Iterable[Sighting | Broken]:
    """Find what a batch file does with upstreams."""
    yield from read_script(as_shell(written(text, path)), path, checkout)


def as_shell(source: Text) -> Text:
    """Return the shell text that a batch file amounts to; what branches is read as if all of it ran."""
    return joined(part for line in _lines(source) for part in (_line(line), beside("\n", line)))


def _lines(source: Text) -> Iterator[Text]:
    """Yield the logical lines: a caret at the end goes on in the next."""
    parts: list[Text] = []
    for found in re.finditer(r"([^\n]*)(?:\n|\Z)", source.chars):
        line = source[found.start() : found.end(1)]
        is_continued = line.chars.rstrip().endswith("^")
        parts.append(line[: len(line.chars.rstrip()) - 1] if is_continued else line)
        if not is_continued:
            yield joined(parts)
            parts = []
    yield joined(parts)


def _line(line: Text) -> Text:
    if _REMARK.match(line.chars):
        return Text()
    default = _DEFAULT.match(line.chars)
    if default:
        name = default["a"] or default["b"]
        return _assigned(line[default.end() - 3 :], name)
    while (prefix := _PREFIX.match(line.chars)) and prefix[0].strip():
        line = line[prefix.end() :]
    if _DROPPED.match(line.chars):
        return Text()
    parts, last = [], 0
    for cut in _SEPARATOR.finditer(line.chars):
        parts += [_command(line[last : cut.start()]), beside(" ; ", line)]
        last = cut.end()
    return joined((*parts, _command(line[last:])))


def _command(line: Text) -> Text:
    if re.match(r"\s*set\b", line.chars, re.IGNORECASE):
        return _assigned(line, "")
    return _expanded(rewritten(line, _CD, lambda _, piece: beside(" cd ", piece)))


def _assigned(line: Text, default: str) -> Text:
    """Write `set X=v` as `X="v"`; a default gives way to a value that is there."""
    found = _SET.fullmatch(line.chars)
    if found is None:
        other = _SET_OTHER.fullmatch(line.chars)
        return beside(f"{other['name'].upper()}=$(unknown_value)", line) if other else Text()
    name = found["name"].upper()
    value = _expanded(line[found.start("value") : found.end("value")])
    if '"' in value.chars:
        value = rewritten(value, re.compile('"'), lambda _, piece: beside(" ", piece))
    opening, closing = (f'{name}="${{{name}:-', '}"') if default else (f'{name}="', '"')
    return joined((beside(opening, line), value, beside(closing, line)))


def _expanded(line: Text) -> Text:
    text = rewritten(line, re.compile(r"\\"), lambda _, piece: beside("/", piece))
    return rewritten(text, _VARIABLE, lambda found, piece: beside(_reference(found), piece))


def _reference(found: re.Match[str]) -> str:
    name = found[1] or found[2]
    if name:
        return f"${{{name.upper()}}}"
    return f"${{{found[3]}}}" if found[3] else f"${found[4]}"
