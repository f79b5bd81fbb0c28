"""What one word of a shell command, or of a Dockerfile instruction, may be once its variables are put in."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from watcher.pins.scope import Scope
from watcher.pins.text import UNKNOWN, Text, joined, unknown
from watcher.pins.values import (
    ALWAYS,
    LONGEST,
    MOST,
    Case,
    Guard,
    Value,
    bounded,
    concat,
    distinct,
    is_compatible,
    just,
    named,
    together,
)

Substitute = Callable[[Text, Scope], Value]
"""Says what a command prints: the content of `$(…)`."""


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


_SPECIAL = re.compile(r"['\"\\$`<>]")
_SPECIAL_IN_QUOTES = re.compile(r"[\\$`]")
_IN_QUOTES = re.compile(r"[\\\"]|\$[({]")
_IN_BRACKETS = {marks: re.compile(rf"[\\'\"{re.escape(marks)}]") for marks in ("()", "{}")}
_NAME = re.compile(r"[A-Za-z_]\w*|[0-9]|[@*#?$!-]")
_BRACED = re.compile(r"(!?)([A-Za-z_]\w*|\d+|[@*])(?:\[((?:[^\]\[]|\[[^\]]*\])*)\])?")
_OPERATOR = re.compile(r":?[-=+?]|##?|%%?|//?[#%]?|\^\^?|,,?|:|@[A-Za-z]")
_DEEPEST = 12
_MOST_FIELDS = 500
_MOST_PARTS = 20_000
"""How many pieces of one word are read: quoted and plain ones, variables."""


class Expander:
    """Expands words in a scope; `substitute` runs what stands in `$(…)`."""

    def __init__(self, substitute: Substitute) -> None:
        self._substitute = substitute
        self._depth = 0

    def fields(self, source: Text, scope: Scope) -> tuple[Fields, ...]:
        """Return what a word of a command becomes: alternatives of fields, split where nothing quotes a variable."""
        if not _SPECIAL.search(source.chars):
            return (Fields(ALWAYS, (source,) if source else ()),)
        open_: tuple[_Open, ...] = (_Open(ALWAYS, (), None),)
        for part in islice(_together(islice(self._parts(source, scope), _MOST_PARTS)), _MOST_FIELDS):
            open_ = _extended(open_, part)
        return tuple(Fields(one.guard, one.done if one.rest is None else (*one.done, one.rest)) for one in open_)

    def value(self, source: Text, scope: Scope) -> Value:
        """Return what a word becomes where it stays one field: in an assignment, in quotes."""
        if len(source.chars) <= LONGEST and not _SPECIAL.search(source.chars):
            return just(source)
        return _joined(self._parts(source, scope))

    def quoted(self, source: Text, scope: Scope) -> Value:
        """Return what the inside of double quotes or the body of a heredoc becomes."""
        return _joined(self._inside_quotes(source, scope, 0, len(source.chars)))

    # --- reading -----------------------------------------------------------------------------------------------------

    def _parts(self, source: Text, scope: Scope) -> Iterator["_Part"]:
        chars, at, plain = source.chars, 0, 0
        while found := _SPECIAL.search(chars, at):
            at, char = found.start(), found[0]
            if plain < at:
                yield _Part(just(source[plain:at]))
            if char == "'":
                end = _find(chars, "'", at + 1)
                yield _Part(just(source[at + 1 : end]), is_quoted=True)
                at = end + 1
            elif char == '"':
                end = _closing_quote(chars, at + 1)
                yield _Part(just(Text()), is_quoted=True)
                yield from self._inside_quotes(source, scope, at + 1, end)
                at = end + 1
            elif char == "\\":
                if chars[at + 1 : at + 2] != "\n":
                    yield _Part(just(source[at + 1 : at + 2]), is_quoted=True)
                at += 2
            else:
                part, at = self._dollar(source, scope, at, is_quoted=False)
                yield part
            plain = at
        if plain < len(chars):
            yield _Part(just(source[plain:]))

    def _inside_quotes(self, source: Text, scope: Scope, at: int, end: int) -> Iterator["_Part"]:
        chars, plain = source.chars, at
        while found := _SPECIAL_IN_QUOTES.search(chars, at, end):
            at = found.start()
            if plain < at:
                yield _Part(just(source[plain:at]), is_quoted=True)
            if chars[at] == "\\":
                escaped = chars[at + 1 : at + 2]
                plain = at + {"\n": 2, "$": 1, "`": 1, '"': 1, "\\": 1}.get(escaped, 0)
                at += 2
                continue
            part, at = self._dollar(source, scope, at, is_quoted=True)
            yield part
            plain = at
        if plain < end:
            yield _Part(just(source[plain:end]), is_quoted=True)

    def _dollar(self, source: Text, scope: Scope, at: int, *, is_quoted: bool) -> tuple["_Part", int]:
        """Read what starts with `$`, a backtick or `<(`; return it and where it ends."""
        chars = source.chars
        opening = chars[at : at + 3]
        if opening == "$((":
            end = _closing(chars, at + 2, "(", ")")
            return _Part(just(unknown(chars[at : end + 1], source.place(at))), is_quoted=is_quoted), end + 1
        if opening.startswith(("$(", "<(", ">(")):
            end = _closing(chars, at + 1, "(", ")")
            value = self._run(source[at + 2 : end], scope)
            return _Part(value, is_quoted=is_quoted, is_split=True), end + 1
        if opening.startswith("`"):
            end = _find(chars, "`", at + 1)
            return _Part(self._run(source[at + 1 : end], scope), is_quoted=is_quoted, is_split=True), end + 1
        if opening.startswith("${"):
            end = _closing(chars, at + 1, "{", "}")
            return self._braced(source[at + 2 : end], scope, is_quoted=is_quoted), end + 1
        if opening.startswith("$'") and not is_quoted:
            end = _find(chars, "'", at + 2)
            return _Part(just(source[at + 2 : end]), is_quoted=True), end + 1
        name = _NAME.match(chars, at + 1) if chars[at] == "$" else None
        if name is None:
            return _Part(just(source[at : at + 1]), is_quoted=is_quoted), at + 1
        return self._variable(name[0], source[at : name.end()], scope, is_quoted=is_quoted), name.end()

    def _run(self, source: Text, scope: Scope) -> Value:
        if self._depth >= _DEEPEST:
            return just(unknown(source.chars[:40], source.place()))
        self._depth += 1
        try:
            return self._substitute(source, scope)
        finally:
            self._depth -= 1

    # --- variables ---------------------------------------------------------------------------------------------------

    def _variable(self, name: str, source: Text, scope: Scope, *, is_quoted: bool) -> "_Part":
        if name in {"@", "*"} and scope.arguments is not None:
            items = tuple(just(text) for text in scope.arguments)
            return _Part(
                _spaced(items),
                is_quoted=is_quoted,
                is_split=True,
                items=items if name == "@" or not is_quoted else None,
            )
        value = _known(name, scope)
        return _Part(value or just(unknown(name, source.place())), is_quoted=is_quoted, is_split=True)

    def _braced(self, source: Text, scope: Scope, *, is_quoted: bool) -> "_Part":
        """Read the inside of `${…}`."""
        found = _BRACED.match(source.chars)
        if found is None or self._depth >= _DEEPEST:
            return _Part(just(unknown(source.chars[:40], source.place())), is_quoted=is_quoted)
        is_indirect, name, index = bool(found[1]), found[2], found[3]
        rest = source[found.end() :]
        if index in {"@", "*"} or (name in {"@", "*"} and not rest):
            items = self._elements(name, is_indirect, scope)
            if items is not None:
                return _Part(_spaced(items), is_quoted=is_quoted, is_split=True, items=items)
        value = self._element(name, index, source, scope) if index is not None else _known(name, scope)
        if is_indirect:
            value = _followed(value, scope)
        self._depth += 1
        try:
            value = self._operated(value, name, rest, source, scope)
        finally:
            self._depth -= 1
        return _Part(value, is_quoted=is_quoted, is_split=True)

    def _elements(self, name: str, is_indirect: bool, scope: Scope) -> tuple[Value, ...] | None:
        if name in {"@", "*"}:
            return None if scope.arguments is None else tuple(just(text) for text in scope.arguments)
        array = scope.arrays.get(name)
        if array is None:
            value = scope.value(name)
            return None if value is None else (value,)
        place = next((case.text.place() for _, value in array for case in value), None)
        if is_indirect and place is not None:
            return tuple(just(_key_text(key, value)) for key, value in array)
        return tuple(value for _, value in array)

    def _element(self, name: str, index: str, source: Text, scope: Scope) -> Value | None:
        array = scope.arrays.get(name)
        if array is None:
            return scope.value(name) if index == "0" else None
        at = source.chars.index("[") + 1
        keys = {case.text.chars for case in self.value(source[at : at + len(index)], scope)}
        cases = [case for key, value in array for case in value if key in keys or key == index]
        return tuple(cases) or None

    def _operated(  # noqa: C901 - one row an operator
        self, value: Value | None, name: str, rest: Text, source: Text, scope: Scope
    ) -> Value:
        """Apply what follows the name in `${name…}`."""
        unset = just(unknown(name, source.place()))
        operator = _OPERATOR.match(rest.chars)
        if operator is None:
            return value or unset
        word = rest[operator.end() :]
        match operator[0].lstrip(":") if operator[0] != ":" else ":":
            case "-" | "=" as how:
                default = named(self.value(word, scope), name)
                result = _defaulted(value, default, is_empty_unset=operator[0].startswith(":"))
                if how == "=":
                    result = tuple(Case(case.text.named(name), case.guard) for case in result)
                    scope.assign(name, result)
                return result
            case "+":
                other = self.value(word, scope)
                cases = value or ()
                return distinct(
                    Case(b.text if a.text and a.text.is_known else Text(), a.guard | b.guard)
                    for a in cases or (Case(Text()),)
                    for b in other
                    if is_compatible(a.guard, b.guard)
                )
            case "?":
                return value or unset
            case ":":
                return _each(value or unset, lambda text: _substring(text, word.chars))
            case "#" | "##" | "%" | "%%" as how:
                return self._trimmed(value or unset, how, self.value(word, scope))
            case how if how.startswith("/"):
                return self._replaced(value or unset, how, word, scope)
            case "^" | "^^" as how:
                return _each(value or unset, lambda text: _cased(text, how == "^", str.upper))
            case "," | ",," as how:
                return _each(value or unset, lambda text: _cased(text, how == ",", str.lower))
        return value or unset

    def _trimmed(self, value: Value, how: str, pattern: Value) -> Value:
        glob = pattern[0].text.chars if pattern else ""
        return _each(value, lambda text: _without(text, how, glob))

    def _replaced(self, value: Value, how: str, word: Text, scope: Scope) -> Value:
        cut = _unescaped_slash(word.chars)
        glob = self.value(word[:cut], scope)[0].text.chars
        new = self.value(word[cut + 1 :], scope)[0].text
        regex = re.compile(_regex(glob, is_greedy=True), re.DOTALL)
        stars = glob.count("*")
        return _each(
            value,
            lambda text: (
                unknown(glob[:20], text.place())
                if is_costly(text.chars, stars)
                else _substituted(text, regex, new, is_all=how.startswith("//"))
            ),
        )


class _Part(NamedTuple):
    value: Value
    is_quoted: bool = False
    is_split: bool = False
    """It came from a variable: without quotes it falls apart at blanks."""
    items: tuple[Value, ...] | None = None
    """Elements that are fields of their own, even in quotes."""


# --- fields ---------------------------------------------------------------------------------------------------------


def _together(parts: Iterator[_Part]) -> Iterator[_Part]:
    """Join neighbours that hold no variable, so that a word of many small pieces is not copied for each of them."""
    plain: list[Text] = []
    for part in parts:
        if part.items is None and not part.is_split and len(part.value) == 1 and not part.value[0].guard:
            plain.append(part.value[0].text)
            continue
        if plain:
            yield _Part(just(joined(plain)))
            plain = []
        yield part
    if plain:
        yield _Part(just(joined(plain)))


def _joined(parts: Iterator[_Part]) -> Value:
    """Put parts together to one value, those that have one alternative all at once."""
    value: Value = just(Text())
    plain: list[Text] = []
    for part in islice(parts, _MOST_PARTS):
        one = part.value if part.items is None else _spaced(part.items)
        if len(one) == 1 and not one[0].guard:
            plain.append(one[0].text)
        else:
            value = concat(concat(value, just(together(plain))), one)
            plain = []
    return concat(value, just(together(plain))) if plain else value


def _extended(open_: tuple[_Open, ...], part: _Part) -> tuple[_Open, ...]:
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


def _spaced(items: Sequence[Value]) -> Value:
    value: Value = just(Text())
    for at, item in enumerate(items):
        if at and (place := next((case.text for case in item if case.text), None)):
            value = concat(value, just(_blank_at(place)))
        value = concat(value, item)
    return value


def _blank_at(text: Text) -> Text:
    return text[:1].mapped(lambda _: " ") if text.spans[0].chars != UNKNOWN else Text((text.spans[0].cut(0, 0),))


def _key_text(key: str, value: Value) -> Text:
    place = next((case.text for case in value if case.text), None)
    if place is None:
        return Text()
    span = place.spans[0]
    return Text((type(span)(key, span.place),))


# --- values ---------------------------------------------------------------------------------------------------------


def _known(name: str, scope: Scope) -> Value | None:
    if name.isdigit() and name != "0":
        if scope.arguments is None:
            return None
        at = int(name) - 1
        return just(scope.arguments[at] if at < len(scope.arguments) else Text())
    if name in scope.arrays:
        return scope.arrays[name][0][1] if scope.arrays[name] else None
    return scope.value(name)


def _followed(value: Value | None, scope: Scope) -> Value | None:
    """Return the values of the variables that a value names: `${!name}`."""
    cases = [
        Case(inner.text, case.guard | inner.guard)
        for case in value or ()
        for inner in scope.value(case.text.chars) or ()
        if is_compatible(case.guard, inner.guard)
    ]
    return distinct(cases) or None


def _defaulted(value: Value | None, default: Value, *, is_empty_unset: bool) -> Value:
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


def _each(value: Value, change: Callable[[Text], Text]) -> Value:
    return distinct(Case(change(case.text), case.guard) for case in value)


def _substring(text: Text, numbers: str) -> Text:
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
    if is_costly(chars, glob.count("*")):
        return unknown(glob[:20], text.place())
    regex = re.compile(_regex(glob, is_greedy=how == "##"), re.DOTALL)
    if how[0] == "#":
        found = regex.match(chars)
        return text[found.end() :] if found else text
    starts = range(len(chars) + 1) if how == "%%" else range(len(chars), -1, -1)
    start = next((at for at in starts if regex.fullmatch(chars, at)), None)
    return text if start is None else text[:start]


_COST = 3_000_000


def is_costly(chars: str, repeats: int) -> bool:
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


# --- finding ends ---------------------------------------------------------------------------------------------------


def _find(chars: str, mark: str, start: int) -> int:
    end = chars.find(mark, start)
    return len(chars) if end < 0 else end


def _closing_quote(chars: str, at: int) -> int:
    """Return where double quotes end that opened before `at`."""
    while found := _IN_QUOTES.search(chars, at):
        match found[0]:
            case '"':
                return found.start()
            case "\\":
                at = found.end() + 1
            case "$(":
                at = _closing(chars, found.end() - 1, "(", ")") + 1
            case _:
                at = _closing(chars, found.end() - 1, "{", "}") + 1
    return len(chars)


def _closing(chars: str, at: int, opening: str, closing: str) -> int:
    """Return where the bracket at `at` is closed; the end of the text where it is not."""
    depth, mark = 0, ""
    marks = _IN_BRACKETS[opening + closing]
    while found := marks.search(chars, at):
        at, char = found.end(), found[0]
        if char == "\\":
            at += 1
        elif mark:
            if char == mark:
                mark = ""
        elif char in "'\"":
            mark = char if opening == "(" or char == '"' else ""
        elif char == opening:
            depth += 1
        elif char == closing:
            depth -= 1
            if depth == 0:
                return found.start()
    return len(chars)


def _unescaped_slash(chars: str) -> int:
    found = re.search(r"(?<!\\)/", chars)
    return found.start() if found else len(chars)
