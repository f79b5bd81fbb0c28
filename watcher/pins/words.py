"""What one word of a shell command, or of a Dockerfile instruction, may be once its variables are put in."""

import re
from collections.abc import Callable, Iterator

from watcher.pins.scope import Scope
from watcher.pins.text import Text, unknown
from watcher.pins.values import ALWAYS, LONGEST, Case, Value, distinct, is_compatible, just, named
from watcher.pins.wordends import closing_bracket, closing_quote, next_mark, unescaped_slash
from watcher.pins.wordfields import Fields, Part, fields_of, key_text, one_value, spaced
from watcher.pins.wordoperators import alternative, cased, defaulted, replaced, substring, trimmed

Substitute = Callable[[Text, Scope], Value]
"""Says what a command prints: the content of `$(…)`."""
_SPECIAL = re.compile(r"['\"\\$`<>]")
_SPECIAL_IN_QUOTES = re.compile(r"[\\$`]")
_NAME = re.compile(r"[A-Za-z_]\w*|[0-9]|[@*#?$!-]")
_BRACED = re.compile(r"(!?)([A-Za-z_]\w*|\d+|[@*])(?:\[((?:[^\]\[]|\[[^\]]*\])*)\])?")
_OPERATOR = re.compile(r":?[-=+?]|##?|%%?|//?[#%]?|\^\^?|,,?|:|@[A-Za-z]")
_DEEPEST = 12


class Expander:
    """Expands words in a scope; `substitute` runs what stands in `$(…)`."""

    def __init__(self, substitute: Substitute) -> None:
        self._substitute = substitute
        self._depth = 0

    def fields(self, source: Text, scope: Scope) -> tuple[Fields, ...]:
        """Return what a word of a command becomes: alternatives of fields, split where nothing quotes a variable."""
        if not _SPECIAL.search(source.chars):
            return (Fields(ALWAYS, (source,) if source else ()),)
        return fields_of(self._parts(source, scope))

    def value(self, source: Text, scope: Scope) -> Value:
        """Return what a word becomes where it stays one field: in an assignment, in quotes."""
        if len(source.chars) <= LONGEST and not _SPECIAL.search(source.chars):
            return just(source)
        return one_value(self._parts(source, scope))

    def quoted(self, source: Text, scope: Scope) -> Value:
        """Return what the inside of double quotes or the body of a heredoc becomes."""
        return one_value(self._inside_quotes(source, scope, 0, len(source.chars)))

    # --- reading -----------------------------------------------------------------------------------------------------

    def _parts(self, source: Text, scope: Scope) -> Iterator[Part]:
        chars, at, plain = source.chars, 0, 0
        while found := _SPECIAL.search(chars, at):
            at, char = found.start(), found[0]
            if plain < at:
                yield Part(just(source[plain:at]))
            if char == "'":
                end = next_mark(chars, "'", at + 1)
                yield Part(just(source[at + 1 : end]), is_quoted=True)
                at = end + 1
            elif char == '"':
                end = closing_quote(chars, at + 1)
                yield Part(just(Text()), is_quoted=True)
                yield from self._inside_quotes(source, scope, at + 1, end)
                at = end + 1
            elif char == "\\":
                if chars[at + 1 : at + 2] != "\n":
                    yield Part(just(source[at + 1 : at + 2]), is_quoted=True)
                at += 2
            else:
                part, at = self._dollar(source, scope, at, is_quoted=False)
                yield part
            plain = at
        if plain < len(chars):
            yield Part(just(source[plain:]))

    def _inside_quotes(self, source: Text, scope: Scope, at: int, end: int) -> Iterator[Part]:
        chars, plain = source.chars, at
        while found := _SPECIAL_IN_QUOTES.search(chars, at, end):
            at = found.start()
            if plain < at:
                yield Part(just(source[plain:at]), is_quoted=True)
            if chars[at] == "\\":
                escaped = chars[at + 1 : at + 2]
                plain = at + {"\n": 2, "$": 1, "`": 1, '"': 1, "\\": 1}.get(escaped, 0)
                at += 2
                continue
            part, at = self._dollar(source, scope, at, is_quoted=True)
            yield part
            plain = at
        if plain < end:
            yield Part(just(source[plain:end]), is_quoted=True)

    def _dollar(self, source: Text, scope: Scope, at: int, *, is_quoted: bool) -> tuple[Part, int]:
        """Read what starts with `$`, a backtick or `<(`; return it and where it ends."""
        chars = source.chars
        opening = chars[at : at + 3]
        if opening == "$((":
            end = closing_bracket(chars, at + 2, "(", ")")
            return Part(just(unknown(chars[at : end + 1], source.place(at))), is_quoted=is_quoted), end + 1
        if opening.startswith(("$(", "<(", ">(")):
            end = closing_bracket(chars, at + 1, "(", ")")
            value = self._run(source[at + 2 : end], scope)
            return Part(value, is_quoted=is_quoted, is_split=True), end + 1
        if opening.startswith("`"):
            end = next_mark(chars, "`", at + 1)
            return Part(self._run(source[at + 1 : end], scope), is_quoted=is_quoted, is_split=True), end + 1
        if opening.startswith("${"):
            end = closing_bracket(chars, at + 1, "{", "}")
            return self._braced(source[at + 2 : end], scope, is_quoted=is_quoted), end + 1
        if opening.startswith("$'") and not is_quoted:
            end = next_mark(chars, "'", at + 2)
            return Part(just(source[at + 2 : end]), is_quoted=True), end + 1
        name = _NAME.match(chars, at + 1) if chars[at] == "$" else None
        if name is None:
            return Part(just(source[at : at + 1]), is_quoted=is_quoted), at + 1
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

    def _variable(self, name: str, source: Text, scope: Scope, *, is_quoted: bool) -> Part:
        if name in {"@", "*"} and scope.arguments is not None:
            items = tuple(just(text) for text in scope.arguments)
            return Part(
                spaced(items),
                is_quoted=is_quoted,
                is_split=True,
                items=items if name == "@" or not is_quoted else None,
            )
        value = _known(name, scope)
        return Part(value or just(unknown(name, source.place())), is_quoted=is_quoted, is_split=True)

    def _braced(self, source: Text, scope: Scope, *, is_quoted: bool) -> Part:
        """Read the inside of `${…}`."""
        found = _BRACED.match(source.chars)
        if found is None or self._depth >= _DEEPEST:
            return Part(just(unknown(source.chars[:40], source.place())), is_quoted=is_quoted)
        is_indirect, name, index = bool(found[1]), found[2], found[3]
        rest = source[found.end() :]
        if index in {"@", "*"} or (name in {"@", "*"} and not rest):
            items = self._elements(name, is_indirect, scope)
            if items is not None:
                return Part(spaced(items), is_quoted=is_quoted, is_split=True, items=items)
        value = self._element(name, index, source, scope) if index is not None else _known(name, scope)
        if is_indirect:
            value = _followed(value, scope)
        self._depth += 1
        try:
            value = self._operated(value, name, rest, source, scope)
        finally:
            self._depth -= 1
        return Part(value, is_quoted=is_quoted, is_split=True)

    def _elements(self, name: str, is_indirect: bool, scope: Scope) -> tuple[Value, ...] | None:
        if name in {"@", "*"}:
            return None if scope.arguments is None else tuple(just(text) for text in scope.arguments)
        array = scope.arrays.get(name)
        if array is None:
            value = scope.value(name)
            return None if value is None else (value,)
        place = next((case.text.place() for _, value in array for case in value), None)
        if is_indirect and place is not None:
            return tuple(just(key_text(key, value)) for key, value in array)
        return tuple(value for _, value in array)

    def _element(self, name: str, index: str, source: Text, scope: Scope) -> Value | None:
        array = scope.arrays.get(name)
        if array is None:
            return scope.value(name) if index == "0" else None
        at = source.chars.index("[") + 1
        keys = {case.text.chars for case in self.value(source[at : at + len(index)], scope)}
        cases = [case for key, value in array for case in value if key in keys or key == index]
        return tuple(cases) or None

    def _operated(self, value: Value | None, name: str, rest: Text, source: Text, scope: Scope) -> Value:
        """Apply what follows the name in `${name…}`."""
        unset = just(unknown(name, source.place()))
        operator = _OPERATOR.match(rest.chars)
        if operator is None:
            return value or unset
        word = rest[operator.end() :]
        match operator[0].lstrip(":") if operator[0] != ":" else ":":
            case "-" | "=" as how:
                default = named(self.value(word, scope), name)
                result = defaulted(value, default, is_empty_unset=operator[0].startswith(":"))
                if how == "=":
                    result = tuple(Case(case.text.named(name), case.guard) for case in result)
                    scope.assign(name, result)
                return result
            case "+":
                return alternative(value, self.value(word, scope))
            case "?":
                return value or unset
            case ":":
                return substring(value or unset, word.chars)
            case "#" | "##" | "%" | "%%" as how:
                pattern = self.value(word, scope)
                return trimmed(value or unset, how, pattern[0].text.chars if pattern else "")
            case how if how.startswith("/"):
                return self._replaced(value or unset, how, word, scope)
            case "^" | "^^" | "," | ",," as how:
                return cased(value or unset, how)
        return value or unset

    def _replaced(self, value: Value, how: str, word: Text, scope: Scope) -> Value:
        cut = unescaped_slash(word.chars)
        glob = self.value(word[:cut], scope)[0].text.chars
        new = self.value(word[cut + 1 :], scope)[0].text
        return replaced(value, glob, new, is_all=how.startswith("//"))


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
