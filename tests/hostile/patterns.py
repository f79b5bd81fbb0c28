"""Every regular expression of the package, and for each the text that keeps it busy for longest."""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator, Mapping
from re import _parser as parser  # type: ignore[attr-defined]

import watcher

SKIPPED = ("watcher.demo", "watcher.__main__", "watcher.pins")
"""What reads nobody's text but our own drawings."""
_WAYS = {"fullmatch": "fullmatch", "match": "match", "search": "search"} | dict.fromkeys(
    ("findall", "finditer", "split", "sub", "subn"), "findall"
)
"""Method → one that works as hard and needs nothing but the text."""
_COMMON = "a", "A", "0", " ", "\n", "-", "/", ".", "\\", '"', "'", "(", "[", "{", "#", "$", "_", "x="


def compiled() -> Iterator[tuple[str, re.Pattern]]:
    """Yield each compiled expression that a module holds, with its name."""
    for found in pkgutil.walk_packages(watcher.__path__, "watcher."):
        if not found.name.startswith(SKIPPED):
            module = importlib.import_module(found.name)
            for name, value in vars(module).items():
                yield from _inside(f"{found.name}.{name}", value)


def ways(name: str) -> list[str]:
    """Return by which methods the module asks that holds an expression; one among others may be searched for."""
    module, _, attribute = name.partition("[")[0].rpartition(".")
    text = inspect.getsource(importlib.import_module(module))
    found = set(re.findall(rf"\b{re.escape(attribute)}\.({'|'.join(_WAYS)})\b", text)) if "[" not in name else set()
    return sorted({_WAYS[it] for it in found} or {"search"})


def _inside(name, value):
    if isinstance(value, re.Pattern):
        yield name, value
    elif isinstance(value, Mapping):
        for key, it in value.items():
            yield from _inside(f"{name}[{key!r}]", it)
    elif isinstance(value, tuple | list | frozenset):
        for number, it in enumerate(value):
            yield from _inside(f"{name}[{number}]", it)


def attacks(pattern: re.Pattern, size: int) -> Iterator[str | bytes]:
    """Yield long texts of what an expression itself is made of: its characters and its words, over and over."""
    told = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    words = dict.fromkeys([*_COMMON, *_words(parser.parse(told, pattern.flags & ~re.UNICODE | re.UNICODE))])
    shortest = next(iter(_example(parser.parse(told, pattern.flags))), "")
    for word in words:
        repeated = word * (size // len(word))
        for text in (f"{repeated}\x00", f"{shortest}{repeated}\x00", f"{shortest}{repeated}\n!"):
            yield text if isinstance(pattern.pattern, str) else text.encode("latin-1", "replace")
    for text in (shortest * (size // max(1, len(shortest))) + "\x00", shortest[:-1] * (size // max(1, len(shortest)))):
        yield text if isinstance(pattern.pattern, str) else text.encode("latin-1", "replace")


def _words(tree) -> Iterator[str]:
    """Yield the literal characters of a parsed expression, and the beginnings of its branches."""
    for op, argument in tree:
        match str(op):
            case "LITERAL":
                yield chr(argument)
            case "BRANCH":
                for branch in argument[1]:
                    yield "".join(_example(branch)) or " "
                    yield from _words(branch)
            case "SUBPATTERN":
                yield "".join(_example(argument[-1])) or " "
                yield from _words(argument[-1])
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                yield "".join(_example(argument[2])) or " "
                yield from _words(argument[2])
            case "ASSERT":
                yield from _words(argument[1])
            case "ATOMIC_GROUP":
                yield from _words(argument)


def _example(tree) -> Iterator[str]:
    """Yield one text that an expression, or a part of one, fits: as short as can be, once for each repeat."""
    found = ""
    for op, argument in tree:
        match str(op):
            case "LITERAL":
                found += chr(argument)
            case "NOT_LITERAL" | "ANY":
                found += "a"
            case "IN":
                found += _member(argument)
            case "BRANCH":
                found += "".join(_example(argument[1][0]))
            case "SUBPATTERN":
                found += "".join(_example(argument[-1]))
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                found += "".join(_example(argument[2])) * max(1, min(argument[0], 64))
            case "ATOMIC_GROUP":
                found += "".join(_example(argument))
    yield found


def _member(members) -> str:
    """Return one character of a class."""
    first, value = members[0]
    match str(first):
        case "LITERAL":
            return chr(value)
        case "RANGE":
            return chr(value[0])
        case "CATEGORY":
            return {"CATEGORY_SPACE": " ", "CATEGORY_DIGIT": "0", "CATEGORY_NOT_SPACE": "a"}.get(str(value), "a")
    return next((it for it in "a0 .-/x" if it not in {chr(v) for op, v in members if str(op) == "LITERAL"}), "z")
