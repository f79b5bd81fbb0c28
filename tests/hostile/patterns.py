"""Every regular expression of the package, what it is used for, and the texts that keep it busy for longest."""

import ast
import functools
import importlib
import pkgutil
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from re import _parser as parser  # type: ignore[attr-defined]

import watcher

SKIPPED = ("watcher.demo", "watcher.__main__")
"""What reads nobody's text but our own drawings."""
_READERS = "watcher.pins"
_UNTIMED = frozenset(
    {"pins", "checksums", "fitting", "groups", "lockfiles", "merge", "patterns", "remarks", "spots", "target"}
)
"""The modules of readers that work outside of the limit of time: what edits a manifest, and what puts pins together."""
_METHODS = frozenset({"search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"})
_COMMON = "a", "A", "0", " ", "\n", "-", "/", ".", "\\", '"', "'", "(", "[", "{", "#", "$", "_", "x="
_ROOT = Path(watcher.__file__).parent
_SLOW = 0.004
"""Seconds: no text that takes less is looked at twice; what is square takes longer for 8,000 characters."""
_STEEP = 9.0
"""So many times longer for a text four times as long is no straight line, where that takes 4 times and a square 16."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expression:
    """A regular expression, and how the package uses it."""

    name: str
    """`module.name`, or `module:line` where it stands in a call."""
    pattern: re.Pattern
    methods: tuple[str, ...]
    is_timed: bool
    """Only the child process uses it that reads manifests within a limit of time."""
    is_of_paths: bool
    """It tells which files a reader wants, and sees paths alone."""

    @property
    def key(self) -> tuple:
        """What the engine makes of it is the same for two of the same key."""
        return self.pattern.pattern, self.pattern.flags


@functools.cache
def expressions() -> tuple[Expression, ...]:
    """Return every expression that a module holds, or that stands in a call as it is."""
    return tuple(
        it for name in _modules() for it in (*_held(name, importlib.import_module(name)), *_written(name, _tree(name)))
    )


def put_together() -> Iterator[str]:
    """Yield the calls, outside of the limit of time, whose expression is put together when they run."""
    for name in _modules():
        if not name.startswith(_READERS) or name.rpartition(".")[2] in _UNTIMED:
            for call, function in _calls(_tree(name)):
                if function and not isinstance(call.args[0], ast.Constant):
                    yield f"{name}.{function}: {ast.unparse(call.args[0])}"


def _modules() -> Iterator[str]:
    for found in pkgutil.walk_packages(watcher.__path__, "watcher."):
        if not found.name.startswith(SKIPPED):
            yield found.name


@functools.cache
def _tree(name: str) -> ast.Module:
    place = _ROOT.joinpath(*name.split(".")[1:])
    return ast.parse((place / "__init__.py" if place.is_dir() else place.with_suffix(".py")).read_text("utf-8"))


def _held(name: str, module) -> Iterator[Expression]:
    for attribute, value in vars(module).items():
        for inner, pattern in _inside(attribute, value):
            methods = tuple(sorted(_used(name, attribute))) or ("search",)
            yield Expression(
                name=f"{name}.{inner}",
                pattern=pattern,
                methods=methods,
                is_timed=_is_timed(name) and attribute not in _named_in_claims(name),
                is_of_paths=attribute in _named_in_claims(name),
            )


def _inside(name: str, value) -> Iterator[tuple[str, re.Pattern]]:
    if isinstance(value, re.Pattern):
        yield name, value
    elif isinstance(value, Mapping):
        for key, it in value.items():
            yield from _inside(f"{name}[{key!r}]", it)
    elif isinstance(value, tuple | list | set | frozenset):
        for number, it in enumerate(value):
            yield from _inside(f"{name}[{number}]", it)
    elif isinstance(value, type) and value.__module__.startswith("watcher."):
        for key, it in vars(value).items():
            if not key.startswith("__"):
                yield from _inside(f"{name}.{key}", it)


def _used(name: str, attribute: str) -> set[str]:
    """Return how an expression is used by its name: a public one by any module, a private one by its own."""
    modules = [name] if attribute.startswith("_") else list(_modules())
    return {
        node.attr
        for module in modules
        for node in ast.walk(_tree(module))
        if isinstance(node, ast.Attribute)
        and node.attr in _METHODS
        and ast.unparse(node.value).rpartition(".")[2] == attribute
    }


def _is_timed(name: str) -> bool:
    return name.startswith(_READERS) and name.rpartition(".")[2] not in _UNTIMED


@functools.cache
def _named_in_claims(name: str) -> frozenset[str]:
    """Return what the function reads that answers whether a reader wants a file: it looks at all paths of a tree."""
    found = [it for it in ast.walk(_tree(name)) if isinstance(it, ast.FunctionDef) and it.name == "claims"]
    return frozenset(it.id for function in found for it in ast.walk(function) if isinstance(it, ast.Name))


def _written(name: str, tree: ast.Module) -> Iterator[Expression]:
    for call, function in _calls(tree):
        if function and isinstance(call.args[0], ast.Constant):
            flags = functools.reduce(lambda flags, it: flags | _flags(it), [*call.args[1:], *call.keywords], 0)
            yield Expression(
                name=f"{name}:{call.lineno}",
                pattern=re.compile(call.args[0].value, flags),
                methods=(call.func.attr if call.func.attr in _METHODS else "search",),
                is_timed=_is_timed(name) and function not in {"claims", *_named_in_claims(name)},
                is_of_paths=function in {"claims", *_named_in_claims(name)},
            )


def _calls(tree: ast.Module) -> Iterator[tuple[ast.Call, str]]:
    """Yield the calls of `re`, each with the function that it stands in; empty for what runs on import."""
    inner = {
        id(node): function.name
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=called), args=[_, *_]):
                if called in _METHODS or called == "compile":
                    yield node, inner.get(id(node), "")


def _flags(node: ast.AST) -> int:
    named = {it.attr for it in ast.walk(node) if isinstance(it, ast.Attribute)}
    return sum(re.RegexFlag[it] for it in named if it in re.RegexFlag.__members__)


def steep(expression: Expression, size: int) -> str | None:
    """Return a text that takes more than in proportion to its length, or None."""
    for method in expression.methods:
        for long, short in zip(attacks(expression.pattern, size), attacks(expression.pattern, size // 4), strict=True):
            taken = _seconds(expression.pattern, method, long)
            if taken < _SLOW:
                continue
            taken = min(taken, *(_seconds(expression.pattern, method, long) for _ in range(2)))
            shorter = min(_seconds(expression.pattern, method, short) for _ in range(3))
            if taken > max(_SLOW, _STEEP * shorter):
                return f"{method} {long[:30]!r} {shorter:.4f} s, {taken:.4f} s"
    return None


def _seconds(pattern: re.Pattern, method: str, text: str | bytes) -> float:
    arguments = (text[:0], text) if method in {"sub", "subn"} else (text,)
    start = time.perf_counter()
    found = getattr(pattern, method)(*arguments)
    if method == "finditer":
        for _ in found:
            pass
    return time.perf_counter() - start


def attacks(pattern: re.Pattern, size: int) -> Iterator[str | bytes]:
    """Yield long texts of what an expression is made of: what comes before a part, and that part over and over."""
    told = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    tree = parser.parse(told, pattern.flags & ~(re.UNICODE | re.ASCII))
    shortest = _example(tree)
    pumps = [*_pumps(tree, ""), *(("", it) for it in _COMMON), *((shortest, it) for it in _COMMON)]
    texts = {(before, word): before + word * (size // len(word)) for before, word in pumps if word}
    repeated = shortest * (size // max(1, len(shortest)))
    for text in (*(f"{it}{end}" for it in texts.values() for end in ("\x00", "\n!")), f"{repeated}\x00", repeated[:-1]):
        yield text if isinstance(pattern.pattern, str) else text.encode("latin-1", "replace")


def _pumps(tree, before: str) -> Iterator[tuple[str, str]]:
    """Yield each part of a parsed expression, and what fits the parts before it."""
    for op, argument in tree:
        parts = []
        match str(op):
            case "LITERAL":
                yield "", chr(argument)
            case "BRANCH":
                parts = argument[1]
            case "SUBPATTERN":
                parts = [argument[-1]]
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                parts = [argument[2]]
            case "ASSERT" | "ASSERT_NOT":
                parts = [argument[1]]
            case "ATOMIC_GROUP":
                parts = [argument]
        for part in parts:
            yield before, _example(part)
            yield "", _example(part)
            yield from _pumps(part, before)
        if str(op) != "LITERAL":
            yield from (("", before), ("", f"{before} "))
        before += _example([(op, argument)])


def _example(tree) -> str:
    """Return one text that an expression, or a part of one, fits: as short as can be, once for each repeat."""
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
                found += _example(argument[1][0])
            case "SUBPATTERN":
                found += _example(argument[-1])
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                found += _example(argument[2]) * max(1, min(argument[0], 64))
            case "ATOMIC_GROUP":
                found += _example(argument)
    return found


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
