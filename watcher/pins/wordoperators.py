"""What follows the name in `${name…}` does to a value: defaults, cuts, patterns."""

import re
from collections.abc import Callable

from watcher.pins.text import UNKNOWN, Text, joined, unknown
from watcher.pins.values import Case, Value, distinct, is_compatible

_COST = 3_000_000


def defaulted(value: Value | None, default: Value, *, is_empty_unset: bool) -> Value:
    """Return `${X:-default}`: what nobody sets in the files is taken to be unset."""
    if value is None:
        return default
    cases: list[Case] = []
    for case in value:
        is_unset = case.text.chars == UNKNOWN or (is_empty_unset and not case.text)
        cases += (
            [Case(d.text, d.guard | case.guard) for d in default if is_compatible(d.guard, case.guard)]
            if is_unset
            else [case]
        )
    return distinct(cases)


def alternative(value: Value | None, other: Value) -> Value:
    """Return `${X:+other}`: the other where X is set, else nothing."""
    return distinct(
        Case(b.text if a.text and a.text.is_known else Text(), a.guard | b.guard)
        for a in value or (Case(Text()),)
        for b in other
        if is_compatible(a.guard, b.guard)
    )


def substring(value: Value, numbers: str) -> Value:
    """Return `${X:start:length}`."""
    return _each(value, lambda text: _cut(text, numbers))


def cased(value: Value, how: str) -> Value:
    """Return `${X^^}` and the like: one mark changes the first letter, two change all."""
    change = str.upper if how[0] == "^" else str.lower
    return _each(value, lambda text: _cased(text, len(how) == 1, change))


def trimmed(value: Value, how: str, glob: str) -> Value:
    """Return `${X#glob}` or `${X%glob}`; two marks take as much as they can."""
    return _each(value, lambda text: _without(text, how, glob))


def replaced(value: Value, glob: str, new: Text, *, is_all: bool) -> Value:
    """Return `${X/glob/new}`."""
    regex = re.compile(_regex(glob, is_greedy=True), re.DOTALL)
    stars = glob.count("*")
    return _each(
        value,
        lambda text: (
            unknown(glob[:20], text.place())
            if _is_costly(text.chars, stars)
            else _substituted(text, regex, new, is_all=is_all)
        ),
    )


def _each(value: Value, change: Callable[[Text], Text]) -> Value:
    return distinct(Case(change(case.text), case.guard) for case in value)


def _cut(text: Text, numbers: str) -> Text:
    found = re.fullmatch(r"\s*(-?\d+)(?::\s*(-?\d+))?", numbers)
    if found is None or not text.is_known:
        return text
    length = int(found[2]) if found[2] else None
    cut = text[int(found[1]) :]
    return (cut if length is None else cut[:length]).remembering(text)


def _cased(text: Text, is_first: bool, change: Callable[[str], str]) -> Text:
    if is_first:
        return text[:1].mapped(change) + text[1:]
    return text.mapped(change).remembering(text)


def _without(text: Text, how: str, glob: str) -> Text:
    """Remove a prefix or suffix. A literal one (`#v`) leaves what is written in mind; a pattern picks a part out."""
    chars = text.chars
    is_literal = not re.search(r"[*?\[]", glob)
    if is_literal:
        if how[0] == "#" and glob and chars.startswith(glob):
            return text[len(glob) :].remembering(text)
        if how[0] == "%" and glob and chars.endswith(glob):
            return text[: -len(glob)].remembering(text)
        return text
    if _is_costly(chars, glob.count("*")):
        return unknown(glob[:20], text.place())
    regex = re.compile(_regex(glob, is_greedy=how == "##"), re.DOTALL)
    if how[0] == "#":
        found = regex.match(chars)
        return text[found.end() :] if found else text
    starts = range(len(chars) + 1) if how == "%%" else range(len(chars), -1, -1)
    start = next((at for at in starts if regex.fullmatch(chars, at)), None)
    return text if start is None else text[:start]


def _is_costly(chars: str, repeats: int) -> bool:
    """Answer whether a pattern with some open repeats may take long on a text: each of them multiplies the steps."""
    steps: int = len(chars) ** (repeats + 1)
    return steps > _COST


def _regex(glob: str, *, is_greedy: bool) -> str:
    star = ".*" if is_greedy else ".*?"
    parts = re.findall(r"\\.|\*+|\?|\[!?\]?[^\]]*\]|.", glob[:200], re.DOTALL)
    return "".join(
        star
        if part[0] == "*"
        else "."
        if part == "?"
        else re.escape(part[1:])
        if part[0] == "\\" and len(part) > 1
        else _class(part)
        if len(part) > 1
        else re.escape(part)
        for part in parts
    )


def _class(part: str) -> str:
    inside = part[1:-1]
    is_negated, inside = inside.startswith(("!", "^")), inside.lstrip("!^")
    if inside == "[:space:":
        return r"\s"
    safe = re.sub(r"([\\\[\]^&~|])", r"\\\1", inside)
    try:
        re.compile(f"[{safe}]")
    except re.error:
        return re.escape(part)
    return f"[{'^' if is_negated else ''}{safe}]"


def _substituted(text: Text, regex: re.Pattern[str], new: Text, *, is_all: bool) -> Text:
    parts, last = [], 0
    for found in regex.finditer(text.chars):
        if found.end() == found.start():
            break
        parts += [text[last : found.start()], new]
        last = found.end()
        if not is_all:
            break
    return joined((*parts, text[last:])).remembering(text)
