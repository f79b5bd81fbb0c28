"""What the operators and methods of a Python-like file make of its texts."""

import re
from collections.abc import Mapping, Sequence

from watcher.pins.starlarkvalues import Call, Table, Unknown, Value
from watcher.pins.text import Place, Text, joined, unknown

_LONGEST = 4_000
"""No address is longer; what is put together beyond it is unknown."""
_MOST = 2_000
_FIELD = re.compile(r"\{\{|\}\}|\{([A-Za-z_]\w*|\d*)(?:\[[^\]]*\]|\.\w+)*(?:![rs])?(?::[^{}]*)?\}")
_PERCENT = re.compile(r"%(?:\((\w+)\))?[-#0 +]*\d*[srd%]")


def added(left: Value, right: Value, place: Place) -> Value:
    """Return what `+` or `|` gives."""
    if isinstance(left, list) and isinstance(right, list):
        return [*left, *right][:_MOST]
    if isinstance(left, list) or isinstance(right, list):
        return left if isinstance(left, list) else right
    if isinstance(left, Table) and isinstance(right, Table):
        return Table({**left.entries, **right.entries}, left.place)
    if isinstance(left, Text) or isinstance(right, Text):
        return bounded(joined((as_text(left, place), as_text(right, place))))
    return Unknown(place)


def as_text(value: Value, place: Place) -> Text:
    """Return a value as a text; an unknown one for all that is none."""
    match value:
        case Text():
            return value
        case Unknown(place=at, name=name):
            return unknown(name, at if at.line else place)
        case Call(arguments=[Text() as only], keywords={}):
            return only
    return unknown("", place)


def percent(left: Value, right: Value, place: Place) -> Value:
    """Return what `%` of a string gives."""
    if not isinstance(left, Text):
        return Unknown(place)
    values = right if isinstance(right, list) else [right]
    parts, last, at = [], 0, 0
    for found in _PERCENT.finditer(left.chars):
        parts.append(left[last : found.start()])
        last = found.end()
        if found[0] == "%%":
            parts.append(left[found.start() : found.start() + 1])
        elif found[1]:
            named = right.entries.get(found[1], Unknown()) if isinstance(right, Table) else Unknown()
            parts.append(as_text(named, place))
        else:
            parts.append(as_text(values[at], place) if at < len(values) else unknown("", place))
            at += 1
    return bounded(joined((*parts, left[last:])))


def formatted(text: Text, values: Sequence[Value], named: Mapping[str, Value], *, keep: bool = False) -> Text:
    """Put values into the fields of a format string; a field without one is unknown, or stays as written."""
    parts, last, at = [], 0, 0
    for found in _FIELD.finditer(text.chars):
        parts.append(text[last : found.start()])
        last = found.end()
        place = text.place(found.start())
        key = found[1] or ""
        if found[0] in {"{{", "}}"}:
            parts.append(text[found.start() : found.start() + 1])
            continue
        if key.isdigit() or not key:
            index = int(key[:4]) if key else at
            at += not key
            value = values[index] if index < len(values) else Unknown(place)
        else:
            value = named.get(key, Unknown(place, key))
        is_kept = keep and isinstance(value, Unknown)
        parts.append(text[found.start() : last] if is_kept else as_text(value, place))
    return bounded(joined((*parts, text[last:])))


def bounded(text: Text) -> Text:
    """Return a text; an unknown one in the place of a text that is too long for an address."""
    return text if len(text.chars) <= _LONGEST and len(text.spans) <= _LONGEST else unknown("", text.place())


def replaced(text: Text, old: str, new: Text) -> Text:
    """Return what `replace` gives."""
    if not old or len(text.chars) > _LONGEST:
        return text
    parts, at = [], 0
    while (found := text.chars.find(old, at)) >= 0:
        parts += [text[at:found], new]
        at = found + len(old)
    return bounded(joined((*parts, text[at:])).remembering(text))


def trimmed(text: Text, how: str, arguments: Sequence[Value]) -> Text:
    """Return what `strip`, `lower`, `removeprefix` and their like give."""
    chars = text.chars
    given = arguments[0].chars if arguments and isinstance(arguments[0], Text) else None
    match how:
        case "removeprefix":
            start, end = len(given) if given and chars.startswith(given) else 0, len(chars)
        case "lstrip":
            start, end = len(chars) - len(chars.lstrip(given)), len(chars)
        case "rstrip":
            start, end = 0, len(chars.rstrip(given))
        case "strip":
            start, end = len(chars) - len(chars.lstrip(given)), len(chars.rstrip(given))
        case _:
            changed = chars.lower() if how == "lower" else chars.upper()
            return text.mapped(str.lower if how == "lower" else str.upper) if len(changed) == len(chars) else text
    return text[start:end].remembering(text)
