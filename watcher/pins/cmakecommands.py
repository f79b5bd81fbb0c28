"""What CMake's commands for variables do: set, option, list, string, file, cmake_parse_arguments."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from watcher.pins.checkout import Checkout
from watcher.pins.cmakescope import Frame, Values, elements, listed
from watcher.pins.text import Place, Span, Text, joined, unknown, written
from watcher.pins.values import Value, concat, just

_MOST_LINES = 200
_LONGEST_FILE = 100_000
_LONGEST_PATTERN = 80
_LONGEST_TEXT = 400
_MOST_REPETITIONS = 2


@dataclass(frozen=True, slots=True)
class Step:
    """One command with its arguments put in, where it is read."""

    words: Values
    frame: Frame
    place: Place
    checkout: Checkout

    @property
    def chars(self) -> list[str]:
        """Return the arguments as plain characters; empty for one with alternatives."""
        return [plain(value) for value in self.words]

    def get(self, name: str) -> Value | None:
        """Return a variable."""
        return self.frame.variables.get(name, self.frame.guard)

    def put(self, name: str, value: Value) -> None:
        """Set a variable."""
        self.frame.variables.set(name, value, self.frame.guard)


def plain(value: Value) -> str:
    """Return the characters of a value; empty for one with alternatives."""
    return value[0].text.chars if len(value) == 1 else ""


def _set(step: Step) -> None:
    chars = step.chars
    if not chars or not chars[0]:
        return
    frame, name = step.frame, chars[0].replace("ENV{", "ENV:").removesuffix("}")
    is_parent = chars[-1] == "PARENT_SCOPE"
    cached = next((at for at in range(1, len(chars)) if chars[at] == "CACHE"), None)
    values = step.words[1 : cached if cached is not None else len(chars) - is_parent]
    target = frame.outer if is_parent and frame.outer is not None else frame.variables
    if cached is not None and "FORCE" not in chars[cached:]:
        target.default(name, listed(values), frame.guard)
    else:
        target.set(name, listed(values), frame.guard)


def _option(step: Step) -> None:
    match step.chars:
        case [name, _, _, *_]:
            step.frame.variables.default(name, step.words[2], step.frame.guard)
        case [name, *_]:
            step.frame.variables.default(name, just(Text((Span("OFF", step.place),))), step.frame.guard)


def _unset(step: Step) -> None:
    for name in step.chars[:1]:
        step.frame.variables.unset(name)


def _project(step: Step) -> None:
    chars = step.chars
    at = chars.index("VERSION") + 1 if "VERSION" in chars else len(chars)
    for value in step.words[at : at + 1]:
        step.put("PROJECT_VERSION", value)


# --- list -------------------------------------------------------------------------------------------------------------


def _list(step: Step) -> None:
    match step.chars:
        case ["APPEND", name, *_]:
            step.put(name, listed([*_present(step.get(name)), *step.words[2:]]))
        case ["PREPEND", name, *_]:
            step.put(name, listed([*step.words[2:], *_present(step.get(name))]))
        case ["GET", name, *indices, result] if indices:
            items = elements(step.get(name) or ()) or []
            texts = [_element(items, index, result, step.place) for index in indices]
            step.put(result, listed([just(text) for text in texts]))
        case ["JOIN", name, _, result]:
            glue = step.words[2][0].text
            items = elements(step.get(name) or ()) or []
            step.put(result, just(joined([part for text in items for part in (glue, text)][1:])))


def _present(value: Value | None) -> Values:
    return [value] if value and any(case.text for case in value) else []


def _element(items: list[Text], index: str, name: str, place: Place) -> Text:
    is_number = re.fullmatch(r"-?\d{1,4}", index) is not None
    if is_number and -len(items) <= int(index) < len(items):
        return items[int(index)]
    return unknown(name, place)


# --- string -----------------------------------------------------------------------------------------------------------


def _string(step: Step) -> None:  # noqa: C901 - one row an operation
    words = step.words
    match step.chars:
        case ["CONCAT", result, *_]:
            step.put(result, _together(words[2:]))
        case ["APPEND", name, *_]:
            step.put(name, _together([*_present(step.get(name)), *words[2:]]))
        case ["PREPEND", name, *_]:
            step.put(name, _together([*words[2:], *_present(step.get(name))]))
        case ["JOIN", _, result, *_]:
            parts = [part for value in words[3:] for part in (words[1], value)][1:]
            step.put(result, _together(parts))
        case ["STRIP", _, result]:
            step.put(result, _changed(words[1], _stripped))
        case ["TOLOWER", _, result]:
            step.put(result, _changed(words[1], lambda text: text.mapped(lambda chars: _same(chars, str.lower))))
        case ["TOUPPER", _, result]:
            step.put(result, _changed(words[1], lambda text: text.mapped(lambda chars: _same(chars, str.upper))))
        case ["REPLACE", old, _, result, _]:
            step.put(result, _changed(words[4], lambda text: replaced(text, old, words[2][0].text)))
        case ["SUBSTRING", _, start, length, result] if re.fullmatch(r"\d{1,4} -?\d{1,4}", f"{start} {length}"):
            end = int(start) + int(length) if int(length) >= 0 else None
            step.put(result, _changed(words[1], lambda text: text[int(start) : end].remembering(text)))
        case ["REGEX", "MATCH", pattern, result, _]:
            step.put(result, _changed(words[4], lambda text: _matched(text, pattern)))
        case ["REGEX", "REPLACE", pattern, new, result, _]:
            step.put(result, _changed(words[5], lambda text: _substituted(text, pattern, new)))
        case ["REGEX", "MATCHALL", _, result, *_] | ["REGEX", "REPLACE", _, _, result, *_]:
            step.put(result, just(unknown(result, step.place)))


def _together(values: Values) -> Value:
    whole: Value = just(Text())
    for value in values:
        whole = concat(whole, value)
    return whole


def _changed(value: Value, change: Callable[[Text], Text]) -> Value:
    return tuple(case._replace(text=change(case.text)) for case in value)


def _same(chars: str, change: Callable[[str], str]) -> str:
    changed = change(chars)
    return changed if len(changed) == len(chars) else chars


def _expression(pattern: str) -> re.Pattern[str] | None:
    """Return a regular expression that is cheap whatever the text: none with nested or many repetitions."""
    repetitions = len(re.findall(r"[*+]", pattern))
    if len(pattern) > _LONGEST_PATTERN or repetitions > _MOST_REPETITIONS or re.search(r"[*+?)][*+?]|\)[*+?]", pattern):
        return None
    try:
        return re.compile(pattern)
    except (re.error, RecursionError, OverflowError):
        return None


def _matched(text: Text, pattern: str) -> Text:
    expression = _expression(pattern)
    if expression is None or len(text.chars) > _LONGEST_TEXT:
        return unknown("", text.place())
    found = expression.search(text.chars)
    return text[found.start() : found.end()].remembering(text) if found else Text()


def _substituted(text: Text, pattern: str, new: str) -> Text:
    """Return a text with every match taken out, or only its first group left."""
    expression = _expression(pattern)
    group = {"": 0, "\\1": 1}.get(new)
    if expression is None or group is None or group > expression.groups or len(text.chars) > _LONGEST_TEXT:
        return unknown("", text.place())
    parts, last = [], 0
    for found in expression.finditer(text.chars):
        parts += [text[last : found.start()], text[slice(*found.span(group))] if group else Text()]
        last = found.end()
    return joined((*parts, text[last:])).remembering(text)


def _stripped(text: Text) -> Text:
    chars = text.chars
    return text[len(chars) - len(chars.lstrip()) : len(chars.rstrip())]


def replaced(text: Text, old: str, new: Text) -> Text:
    """Return a text with something in place of something else; what is written stays known."""
    if not old or not text.chars:
        return text
    parts, at = [], 0
    while (found := text.chars.find(old, at)) >= 0:
        parts += [text[at:found], new]
        at = found + len(old)
    return joined((*parts, text[at:])).remembering(text)


# --- file -------------------------------------------------------------------------------------------------------------


def _file(step: Step) -> None:
    match step.chars:
        case ["READ" | "STRINGS" as how, path, result, *_]:
            name = step.checkout.find(path, step.frame.file) if path else None
            if name is None:
                step.put(result, just(unknown(result, step.place)))
                return
            content = written(step.checkout.texts[name][:_LONGEST_FILE], name)
            step.put(result, just(content) if how == "READ" else _lines(content))


def _lines(content: Text) -> Value:
    """Return the lines of a file as a list; what would separate elements inside a line is escaped."""
    found = list(re.finditer(r"[^\n]+", content.chars))[:_MOST_LINES]
    lines = [content[one.start() : one.end()] for one in found]
    return listed([just(replaced(line, ";", Text((Span("\\;", line.place()),)))) for line in lines])


# --- functions --------------------------------------------------------------------------------------------------------


def _parse_arguments(step: Step) -> None:
    """Give a function's keyword arguments their variables; those that are not there are empty."""
    words, chars = step.words, step.chars
    if chars[:1] == ["PARSE_ARGV"]:
        rest = elements(step.get("ARGV") or ()) or []
        words, chars = [*words[2:6], *(just(text) for text in rest)], [*chars[2:6], *(text.chars for text in rest)]
    if len(words) < 4:  # noqa: PLR2004 - a prefix and three lists of keywords
        return
    options, single, several = (set(names.split(";")) - {""} for names in chars[1:4])
    given = _given([part for word in words[4:] for part in _taken_apart(word)], options | single | several, single)
    open_ = next((case.text for word in words[4:] for case in word if not case.text.is_known), None)
    for name in options | single | several:
        values = given.get(name, [])
        if name in options and name in given:
            value: Value = just(Text((Span("TRUE", step.place),)))
        elif values or open_ is None:
            value = listed(values)
        else:
            value = just(unknown(next(span.name for span in open_.spans if span.is_unknown), step.place))
        step.put(f"{chars[0]}_{name}", value)


def _given(words: Values, known: set[str], single: set[str]) -> dict[str, Values]:
    given: dict[str, Values] = {}
    key = ""
    for value in words:
        if plain(value) in known:
            key = plain(value)
            given.setdefault(key, [])
        elif key and not (key in single and given[key]):
            given[key].append(value)
    return given


def _taken_apart(value: Value) -> Values:
    parts = elements(value)
    return [just(part) for part in parts] if parts is not None else [value]


VARIABLES: Mapping[str, Callable[[Step], None]] = {
    "set": _set,
    "option": _option,
    "unset": _unset,
    "project": _project,
    "list": _list,
    "string": _string,
    "file": _file,
    "cmake_parse_arguments": _parse_arguments,
}
"""Name of a command → what it does."""
KEEPS_EMPTY = frozenset({"cmake_parse_arguments"})
"""Commands whose arguments are counted, so that an empty list stays one."""
