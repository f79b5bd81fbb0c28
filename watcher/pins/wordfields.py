"""The fields that a word becomes: its parts put together, split where nothing quotes a variable."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from watcher.pins.text import UNKNOWN, Text, joined
from watcher.pins.values import ALWAYS, MOST, Guard, Value, bounded, concat, is_compatible, just, together

_MOST_FIELDS = 500
_MOST_PARTS = 20_000
"""How many pieces of one word are read: quoted and plain ones, variables."""


class Fields(NamedTuple):
    """One alternative of a word: the fields that it becomes."""

    guard: Guard
    fields: tuple[Text, ...]


class _Open(NamedTuple):
    """An alternative that is still being put together."""

    guard: Guard
    done: tuple[Text, ...]
    rest: Text | None
    """The field that is open; None between fields."""


class Part(NamedTuple):
    """A piece of a word: characters, or what a variable stands for."""

    value: Value
    is_quoted: bool = False
    is_split: bool = False
    """It came from a variable: without quotes it falls apart at blanks."""
    items: tuple[Value, ...] | None = None
    """Elements that are fields of their own, even in quotes."""


def fields_of(parts: Iterator[Part]) -> tuple[Fields, ...]:
    """Return what a word of a command becomes: alternatives of fields."""
    open_: tuple[_Open, ...] = (_Open(ALWAYS, (), None),)
    for part in islice(_together(islice(parts, _MOST_PARTS)), _MOST_FIELDS):
        open_ = _extended(open_, part)
    return tuple(Fields(one.guard, one.done if one.rest is None else (*one.done, one.rest)) for one in open_)


def _together(parts: Iterator[Part]) -> Iterator[Part]:
    """Join neighbours that hold no variable, so that a word of many small pieces is not copied for each of them."""
    plain: list[Text] = []
    for part in parts:
        if part.items is None and not part.is_split and len(part.value) == 1 and not part.value[0].guard:
            plain.append(part.value[0].text)
            continue
        if plain:
            yield Part(just(joined(plain)))
            plain = []
        yield part
    if plain:
        yield Part(just(joined(plain)))


def one_value(parts: Iterator[Part]) -> Value:
    """Put parts together to one value, those that have one alternative all at once."""
    value: Value = just(Text())
    plain: list[Text] = []
    for part in islice(parts, _MOST_PARTS):
        one = part.value if part.items is None else spaced(part.items)
        if len(one) == 1 and not one[0].guard:
            plain.append(one[0].text)
        else:
            value = concat(concat(value, just(together(plain))), one)
            plain = []
    return concat(value, just(together(plain))) if plain else value


def _extended(open_: tuple[_Open, ...], part: Part) -> tuple[_Open, ...]:
    if part.items is not None:
        for at, item in enumerate(part.items[:_MOST_FIELDS]):
            open_ = _appended(_closed(open_) if at else open_, item, is_split=not part.is_quoted)
        return open_
    return _appended(open_, part.value, is_split=part.is_split and not part.is_quoted)


def _closed(open_: tuple[_Open, ...]) -> tuple[_Open, ...]:
    return tuple(one if one.rest is None else _Open(one.guard, (*one.done, one.rest), None) for one in open_)


def _appended(open_: tuple[_Open, ...], value: Value, *, is_split: bool) -> tuple[_Open, ...]:
    result = [
        _one_appended(one._replace(guard=one.guard | case.guard), case.text, is_split=is_split)
        for one in open_
        for case in value
        if is_compatible(one.guard, case.guard)
    ]
    return tuple(result[:MOST])


def _one_appended(one: _Open, text: Text, *, is_split: bool) -> _Open:
    if not is_split or not re.search(r"\s", text.chars):
        return (
            one if is_split and not text else one._replace(rest=text if one.rest is None else bounded(one.rest, text))
        )
    done, rest = one.done, one.rest
    if text.chars[:1].isspace() and rest is not None:
        done, rest = (*done, rest), None
    words = [text[found.start() : found.end()] for found in re.finditer(r"\S+", text.chars)]
    for at, word in enumerate(words):
        if at:
            done, rest = (*done, rest or Text()), None
        rest = word if rest is None else bounded(rest, word)
    if text.chars[-1:].isspace() and rest is not None:
        done, rest = (*done, rest), None
    return _Open(one.guard, done, rest)


def spaced(items: Sequence[Value]) -> Value:
    """Return elements as one text with blanks between them."""
    value: Value = just(Text())
    for at, item in enumerate(items):
        if at and (place := next((case.text for case in item if case.text), None)):
            value = concat(value, just(_blank_at(place)))
        value = concat(value, item)
    return value


def _blank_at(text: Text) -> Text:
    return text[:1].mapped(lambda _: " ") if text.spans[0].chars != UNKNOWN else Text((text.spans[0].cut(0, 0),))


def key_text(key: str, value: Value) -> Text:
    """Return the key of an element as a text, at the place of the element."""
    place = next((case.text for case in value if case.text), None)
    if place is None:
        return Text()
    span = place.spans[0]
    return Text((type(span)(key, span.place),))
