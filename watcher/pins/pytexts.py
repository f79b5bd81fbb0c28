"""What Python's functions do to texts: paths, placeholders, the methods of strings."""

import ast
import re
from collections.abc import Callable, Mapping, Sequence

from watcher.pins import jsontext, tomltext, yamlnodes
from watcher.pins.pyvalues import MOST_ITEMS, Map, PyValue, Seq, cases, from_tree, items, mapped, plain
from watcher.pins.text import UNKNOWN, Span, Text, joined, unknown
from watcher.pins.tree import inline
from watcher.pins.values import MOST, Case, Value, concat, distinct, just


def dotted_name(node: ast.expr) -> str:
    """Return `a.b.c` of names and attributes; of anything else what can be read of its end."""
    parts: list[str] = []
    while True:
        match node:
            case ast.Attribute(value=inner, attr=name):
                parts.append(name)
                node = inner
            case ast.Call(func=inner):
                node = inner
            case ast.Name(id=name):
                parts.append(name)
                return ".".join(reversed(parts))
            case _:
                return ".".join(["", *reversed(parts)])


def is_literal(node: ast.expr) -> bool:
    """Answer whether an expression is written as a constant or an f-string."""
    return isinstance(node, ast.Constant | ast.JoinedStr)


def is_static(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> bool:
    """Answer whether a method takes no object."""
    return not isinstance(node, ast.Lambda) and any(dotted_name(one) == "staticmethod" for one in node.decorator_list)


def is_variable(name: str) -> bool:
    """Answer whether a key could be the name of a variable."""
    return re.fullmatch(r"[A-Za-z_]\w*", name) is not None


def only(value: PyValue) -> Text | None:
    """Return a string without alternatives; None for an empty one and all else."""
    found = cases(value)
    return found[0].text if len(found) == 1 and found[0].text else None


def line_end(chars: str, start: int) -> int:
    """Return where the line that holds an offset ends."""
    end = chars.find("\n", start)
    return end if end >= 0 else len(chars)


def added(left: PyValue, right: PyValue) -> PyValue:
    """Return what `+` gives of two strings or two lists."""
    if isinstance(left, tuple) and isinstance(right, tuple):
        return concat(left, right)
    if isinstance(left, Seq) or isinstance(right, Seq):
        return Seq([*items(left), *items(right)][:MOST_ITEMS])
    return None


def path_of(parts: list[Value]) -> PyValue:
    """Put a path together; an absolute part starts it anew."""
    value: Value = ()
    for part in parts:
        is_start = not value or all(case.text.chars.startswith("/") for case in part)
        place = part[0].text.place()
        value = part if is_start else concat(concat(value, just(Text((Span("/", place),)))), part)
    return value or None


def path_part(owner: Value, name: str) -> PyValue:
    """Return the `parent` or the `name` of a path."""
    match name:
        case "parent":
            return mapped(
                owner,
                lambda text: text[: max(text.chars.rstrip("/").rfind("/"), 0)] or Text((Span(".", text.place()),)),
            )
        case "name":
            return mapped(owner, lambda text: text[text.chars.rfind("/") + 1 :])
    return None


STRING_METHODS = frozenset(
    {
        *(
            "format",
            "join",
            "strip",
            "rstrip",
            "lstrip",
            "removeprefix",
            "removesuffix",
            "replace",
            "split",
            "splitlines",
        ),
        *("lower", "upper", "expanduser", "resolve", "absolute", "as_posix", "decode", "encode", "with_suffix"),
    }
)
NO_METHOD = object()
_INTERPRETER = re.compile(rf"(?:.*/)?python[\d.]*|.*{UNKNOWN}.*")
_FIELD = re.compile(r"\{(\w{0,40})(?:[.\[][^{}]*)?(?:![rsa])?(?::[^{}]*)?\}")


def filled(source: Value, hole: re.Pattern[str], value_of: "Callable[[re.Match[str], int], Value | None]") -> PyValue:
    """Put values into a text where a pattern finds placeholders."""
    result: list[Case] = []
    for case in source[:MOST]:
        value: Value = just(Text())
        last = 0
        for at, found in enumerate(hole.finditer(case.text.chars)):
            value = concat(value, just(case.text[last : found.start()]))
            value = concat(value, value_of(found, at) or just(unknown(found[0], case.text.place(found.start()))))
            last = found.end()
        result += [Case(inner.text, inner.guard | case.guard) for inner in concat(value, just(case.text[last:]))]
    return distinct(result)


def string_method(
    owner: Value, name: str, arguments: Sequence[PyValue], texts: Sequence[Value], by_name: Mapping[str, Value]
) -> PyValue:
    """Return what a method of a string gives; `texts` are the arguments as strings, unknown where they are none."""
    first = plain(arguments[0]) if arguments else None
    match name:
        case "format":
            return _formatted(owner, texts, by_name)
        case "join":
            return _glued(owner, [cases(item) or texts[0] for item in items(arguments[0])] if arguments else [])
        case "strip" | "rstrip" | "lstrip":
            return mapped(owner, lambda text: _stripped(text, name, first))
        case "removeprefix" | "removesuffix":
            return mapped(owner, lambda text: _without(text, name, first or "")) if first is not None else None
        case "replace":
            new = plain(arguments[1]) if len(arguments) > 1 else None
            return mapped(owner, lambda text: _replaced(text, first, new)) if first and new is not None else None
        case "split":
            return _split(owner, first)
        case "splitlines":
            return split_lines(owner)
        case "lower" | "upper":
            return mapped(owner, lambda text: _cased(text, str.lower if name == "lower" else str.upper))
    return owner


def map_method(owner: Map, name: str, arguments: Sequence[PyValue]) -> object:
    """Return what a method of a dictionary gives; `NO_METHOD` for one that is not followed."""
    match name:
        case "get" | "pop" | "setdefault":
            key = plain(arguments[0]) if arguments else None
            default = arguments[1] if len(arguments) > 1 else None
            return owner.entries.get(key, default) if key is not None else default
        case "items":
            return Seq([Seq([_key(owner, key), value]) for key, value in owner.entries.items()])
        case "values":
            return Seq(list(owner.entries.values()))
        case "keys":
            return Seq(items(owner))
        case "copy":
            return Map(dict(owner.entries), dict(owner.keys))
        case "update":
            for other in arguments:
                if isinstance(other, Map):
                    owner.entries |= other.entries
                    owner.keys |= other.keys
            return None
    return NO_METHOD


def _key(owner: Map, key: str) -> PyValue:
    return just(owner.keys[key]) if key in owner.keys else None


def _formatted(owner: Value, texts: Sequence[Value], by_name: Mapping[str, Value]) -> PyValue:
    numbers = iter(range(len(texts)))

    def value_of(found: re.Match[str], _: int) -> Value | None:
        key = found[1]
        if key and not key.isdecimal():
            return by_name.get(key)
        at = int(key) if key else next(numbers, -1)
        return texts[at] if 0 <= at < len(texts) else None

    return filled(owner, _FIELD, value_of)


def _cased(text: Text, change: Callable[[str], str]) -> Text:
    return text.mapped(change).remembering(text) if len(change(text.chars)) == len(text.chars) else text


def _stripped(text: Text, how: str, chars: str | None) -> Text:
    start = len(text.chars) - len(text.chars.lstrip(chars)) if how != "rstrip" else 0
    end = len(text.chars.rstrip(chars)) if how != "lstrip" else len(text.chars)
    return text[start : max(start, end)]


def _without(text: Text, how: str, part: str) -> Text:
    if how == "removeprefix":
        return text[len(part) :].remembering(text) if part and text.chars.startswith(part) else text
    return text[: len(text.chars) - len(part)].remembering(text) if part and text.chars.endswith(part) else text


def _replaced(text: Text, old: str | None, new: str | None) -> Text:
    if not old or new is None or old not in text.chars:
        return text
    pieces: list[Text] = []
    last = 0
    for found in re.finditer(re.escape(old), text.chars):
        pieces += [text[last : found.start()], inline(new, *text.place(found.start())) if new else Text()]
        last = found.end()
    return joined([*pieces, text[last:]]).remembering(text)


def _split(owner: Value, separator: str | None) -> PyValue:
    """Split a string without alternatives; where white space splits a command, it stays a line of shell."""
    if separator is None or len(owner) != 1:
        return owner if separator is None else None
    text, start, found = owner[0].text, 0, Seq()
    for part in text.chars.split(separator)[:MOST_ITEMS] if separator else ():
        found.items.append(just(text[start : start + len(part)]))
        start += len(part) + len(separator)
    return found


def split_lines(owner: Value) -> PyValue:
    """Return the lines of a string that are not empty."""
    if len(owner) != 1:
        return None
    text, start, found = owner[0].text, 0, Seq()
    for part in text.chars.split("\n")[:MOST_ITEMS]:
        if part:
            found.items.append(just(text[start : start + len(part)]))
        start += len(part) + 1
    return found


def _glued(glue: Value, parts: list[Value]) -> PyValue:
    value: Value = ()
    for part in parts[:MOST_ITEMS]:
        value = concat(concat(value, glue), part) if value else part
    return value or None


def loaded(found: Value, dotted: str) -> PyValue:
    """Return what a structured file holds."""
    if len(found) != 1 or not found[0].text.spans or UNKNOWN in found[0].text.chars:
        return None
    text = found[0].text
    place = text.place()
    chars = "\n" * (place.line - 1) + text.chars
    if "json" in dotted:
        return from_tree(jsontext.read(chars, place.file).root)
    if "yaml" in dotted:
        return from_tree(yamlnodes.read(chars, place.file).root)
    return from_tree(tomltext.read(chars, place.file).root)


def installer(words: tuple[Text, ...]) -> tuple[Text, ...]:
    """Return `pip install …` for `python -m pip install …`."""
    is_module = [word.chars for word in words[1:2]] == ["-m"]
    return words[2:] if is_module and _INTERPRETER.fullmatch(words[0].chars) else words
