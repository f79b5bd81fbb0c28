"""What CMake knows at one point of a file: variables, each with the arms of `if` under which it was set."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from watcher.pins.cmakelang import Argument
from watcher.pins.text import Place, Span, Text, joined, unknown
from watcher.pins.values import (
    ALWAYS,
    MOST,
    Case,
    Choice,
    Guard,
    Value,
    concat,
    distinct,
    is_compatible,
    just,
    named,
    together,
)

Values = list[Value]
"""The arguments of a command."""
_PART = re.compile(r"\\(?P<escaped>.)|\$(?P<kind>ENV|CACHE|)\{|@(?P<at>[A-Za-z_]\w*)@", re.DOTALL)
_DEEPEST = 8
_MOST_ARMS = 40
_LONGEST = 20_000
_MOST_PIECES = 1_000
"""A longer value is a list of files, never an address or a ref; so is one of more pieces."""
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


class Variables:
    """The variables of one scope; newest value first, each under the arm that set it."""

    def __init__(self, values: dict[str, tuple[Case, ...]] | None = None) -> None:
        self._values = values if values is not None else {}

    def copy(self) -> "Variables":
        """Return a scope that starts the same."""
        return Variables(dict(self._values))

    def set(self, name: str, value: Value, guard: Guard = ALWAYS) -> None:
        """Give a variable a value where the guard holds."""
        value = _shortened(value, name)
        fresh = tuple(Case(case.text, case.guard | guard) for case in value if is_compatible(case.guard, guard))
        older = self._values.get(name, ()) if guard or any(case.guard for case in value) else ()
        self._values[name] = (*fresh, *older)[:MOST]

    def default(self, name: str, value: Value, guard: Guard = ALWAYS) -> None:
        """Give a variable a value where it has none: a cache entry does not change what is set already."""
        fresh = tuple(Case(case.text, case.guard | guard) for case in value if is_compatible(case.guard, guard))
        self._values[name] = (*self._values.get(name, ()), *fresh)[:MOST]

    def unset(self, name: str) -> None:
        """Forget a variable."""
        self._values.pop(name, None)

    def get(self, name: str, guard: Guard = ALWAYS) -> Value | None:
        """Return what a variable may be where the guard holds; None where nothing sets it.

        The newest value counts wherever its arm was taken, the one before it only in the other arms, and so on.
        """
        open_, found = [guard], []
        for case in self._values.get(name, ()):
            rest: list[Guard] = []
            for arm in open_:
                if not is_compatible(case.guard, arm):
                    rest.append(arm)
                    continue
                found.append(Case(case.text, case.guard | arm))
                rest += _others(arm, case.guard)
            open_ = rest[:_MOST_ARMS]
            if not open_:
                break
        return distinct(found) or None


def _shortened(value: Value, name: str) -> Value:
    if all(len(case.text.chars) <= _LONGEST and len(case.text.spans) <= _MOST_PIECES for case in value):
        return value
    return tuple(case._replace(text=unknown(name, case.text.place())) for case in value)


def _others(arm: Guard, taken: Guard) -> list[Guard]:
    """Return the arms of `arm` in which `taken` does not hold."""
    points = {choice.point for choice in arm}
    others, inside = [], arm
    for choice in sorted(taken):
        if choice.point in points:
            continue
        others += [inside | {Choice(choice.point, at, choice.of)} for at in range(choice.of) if at != choice.arm]
        inside |= {choice}
    return others


@dataclass(slots=True, kw_only=True)
class Frame:
    """Where commands are read: the file, the variables in force, the arms of `if` that lead there."""

    file: str
    variables: Variables
    guard: Guard = ALWAYS
    outer: Variables | None = None
    """Where PARENT_SCOPE sets."""
    depth: int = 0
    calls: int = 0


class Expander:
    """Puts variables into arguments."""

    def __init__(self, elsewhere: Callable[[str], Value | None], *, is_template: bool = False) -> None:
        self._elsewhere = elsewhere
        """Asked for a variable that the file does not set."""
        self._is_template = is_template

    def value(self, argument: Argument, variables: Variables, guard: Guard) -> Value:
        """Return what an argument may be."""
        if argument.quote == "[":
            return just(argument.text)
        return self._expanded(argument.text, variables, guard, _DEEPEST)

    def _expanded(self, text: Text, variables: Variables, guard: Guard, depth: int) -> Value:
        if "$" not in text.chars and "\\" not in text.chars and not (self._is_template and "@" in text.chars):
            return just(text)
        value, at = just(Text()), 0
        while found := _PART.search(text.chars, at):
            value = concat(value, just(text[at : found.start()]))
            at = found.end()
            if found["escaped"] is not None:
                is_list = found["escaped"] == ";"  # stays escaped until the list is taken apart
                value = concat(value, just(text[found.start() : at] if is_list else _unescaped(text[at - 1 : at])))
            elif found["at"] is not None:
                part = just(text[found.start() : at])
                if self._is_template:
                    part = self._variable(found["at"], variables, guard, text.place(found.start()))
                value = concat(value, part)
            else:
                end = _closing(text.chars, at)
                inner = self._expanded(text[at:end], variables, guard, depth - 1) if depth else ()
                value = concat(value, self._named(found["kind"], inner, variables, guard, text.place(found.start())))
                at = end + 1
        return concat(value, just(text[at:]))

    def _named(self, kind: str, names: Value, variables: Variables, guard: Guard, place: Place) -> Value:
        """Return what the variables of these names hold."""
        cases = [
            Case(case.text, case.guard | name.guard)
            for name in names
            for case in self._variable(
                f"{kind}:{name.text.chars}" if kind == "ENV" else name.text.chars, variables, guard, place
            )
            if is_compatible(case.guard, name.guard)
        ]
        return distinct(cases) or just(unknown("", place))

    def _variable(self, name: str, variables: Variables, guard: Guard, place: Place) -> Value:
        value = variables.get(name, guard)
        if value is None:
            value = self._elsewhere(name)
        return named(value, name) if value else just(unknown(name, place))


def _unescaped(char: Text) -> Text:
    plain = _ESCAPES.get(char.chars)
    return char.mapped(lambda _: plain) if plain else char


def _closing(chars: str, at: int) -> int:
    """Return where the brace closes that was opened before; the end where it does not."""
    depth = 1
    for end in range(at, len(chars)):
        depth += {"{": 1, "}": -1}.get(chars[end], 0)
        if depth == 0:
            return end
    return len(chars)


def elements(value: Value) -> list[Text] | None:
    """Return the elements of a list whose value is known; None for one with alternatives."""
    if len(value) != 1:
        return None
    text = value[0].text
    parts = [text[found.start() : found.end()] for found in re.finditer(r"(?:[^;\\]|\\.)+", text.chars, re.DOTALL)]
    return [_plain(part) for part in parts]


def _plain(text: Text) -> Text:
    if "\\;" not in text.chars:
        return text
    return joined(text[found.start() : found.end()] for found in re.finditer(r"[^\\]+|\\(?!;)", text.chars))


def listed(values: Sequence[Value]) -> Value:
    """Join values to one list."""
    result: Value = just(Text())
    plain: list[Text] = []
    for at, value in enumerate(values):
        if at and value:
            plain.append(Text((Span(";", value[0].text.place()),)))
        if len(value) == 1 and not value[0].guard:
            plain.append(value[0].text)
        elif value:
            result = concat(concat(result, just(together(plain))), value)
            plain = []
    return concat(result, just(together(plain))) if plain else result
