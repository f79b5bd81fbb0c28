"""The loops of a script: what their variables become, one turn after the other."""

import re
from collections.abc import Iterable

from tree_sitter import Node

from watcher.pins.interpreter import Interpreter
from watcher.pins.scope import Scope, join
from watcher.pins.shellbuiltins import read_into
from watcher.pins.shelltests import is_test
from watcher.pins.syntax import Script
from watcher.pins.text import Text, unknown
from watcher.pins.values import Case, Value, is_compatible, just, named
from watcher.pins.wordfields import Fields

_LOOPS = 64
_MOST_WORDS = 500
_ARGUMENTS = re.compile(r"\$\{?#\}?(?![\w}])|\$\{?1\b")


def for_(shell: Interpreter, script: Script, node: Node, scope: Scope) -> None:
    """Read the body of `for` for each word."""
    variable = node.child_by_field_name("variable")
    body = node.child_by_field_name("body")
    if variable is None or body is None:
        return
    name = script.text(variable).chars
    words = node.children_by_field_name("value")
    items = [
        Case(field, alternative.guard)
        for word in words[:_MOST_WORDS]
        for alternative in _items(shell, script.text(word), scope)
        for field in alternative.fields
    ] or ([Case(text) for text in scope.arguments or ()] if not words else [])
    items = [item for item in dict.fromkeys(items) if not set(item.text.chars) & set("*?")] or [
        Case(unknown(name, script.text(node).place()))
    ]
    for item in items[:_LOOPS]:
        if not is_compatible(item.guard, scope.guard):
            continue
        arm = scope.copy(item.guard) if item.guard else scope
        arm.assign(name, named(just(item.text), name))
        shell.block(script, body.children, arm)
        if arm is not scope:
            join(scope, [(item.guard, arm), (frozenset(), scope.copy())])
        scope.is_alive = True


def _items(shell: Interpreter, source: Text, scope: Scope) -> Iterable[Fields]:
    array = re.fullmatch(r'"?\$\{(\w+)\[[@*]\]\}"?', source.chars)
    if array and array[1] in scope.arrays:
        for _, value in scope.arrays[array[1]]:
            yield from (Fields(case.guard, (case.text,)) for case in value)
        return
    braces = re.fullmatch(r"([^{}$'\"]*)\{([^{}$'\"]+,[^{}$'\"]*)\}([^{}$'\"]*)", source.chars)
    if braces:
        pieces = [(found.start(), found.end()) for found in re.finditer(r"[^,]+", braces[2])]
        for start, end in pieces:
            inner = source[braces.start(2) + start : braces.start(2) + end]
            yield Fields(frozenset(), (source[: braces.end(1)] + inner + source[braces.start(3) :],))
        return
    yield from shell.expander.fields(source, scope)


def while_(shell: Interpreter, script: Script, node: Node, scope: Scope, lines: Value | None = None) -> None:
    """Read the body of `while`: for each line that comes in, for each argument, else once."""
    body = node.child_by_field_name("body")
    tests = [child for child in node.children_by_field_name("condition") if child.is_named]
    reads = next((call for test in tests if (call := _read_call(script, test))), None)
    if lines is not None and reads is not None and body is not None:
        separator, names = reads
        for case in lines:
            for start, end in _line_parts(case.text.chars)[:_LOOPS]:
                read_into(scope, names, case.text[start:end], separator)
                shell.block(script, body.children, scope)
                scope.is_alive = True
        return
    if body is not None and scope.arguments and any(_ARGUMENTS.search(script.text(test).chars) for test in tests):
        _each_argument(shell, script, body, scope)
        return
    arm = scope.copy()
    for name in reads[1] if reads else ():
        arm.assign(name, just(unknown(name, script.text(node).place())))
    shell.block(script, [test for test in tests if not is_test(test)], arm)
    if body is not None:
        shell.block(script, body.children, arm)
    arm.is_alive = True
    join(scope, [(frozenset(), arm)])


def _each_argument(shell: Interpreter, script: Script, body: Node, scope: Scope) -> None:
    """Read the body of `while [ $# -gt 0 ]` for as long as a `shift` in it leaves arguments."""
    for _ in range(_LOOPS):
        before = scope.arguments
        shell.block(script, body.children, scope)
        scope.is_alive = True
        if not scope.arguments or scope.arguments == before:
            return


def _read_call(script: Script, node: Node) -> tuple[str | None, tuple[str, ...]] | None:
    """Return the separator and the names of `IFS=… read -r a b`."""
    found = re.match(r"(?:IFS=(?P<ifs>\S*|' '|'[^']*')\s+)?read\s+(?P<names>.*)", script.text(node).chars, re.DOTALL)
    if found is None:
        return None
    names = tuple(word for word in found["names"].split() if re.fullmatch(r"[A-Za-z_]\w*", word))
    ifs = found["ifs"]
    return (ifs.strip("'\"").replace("\\", "").replace("$", "") if ifs else None), names


def _line_parts(chars: str) -> list[tuple[int, int]]:
    return [
        (found.start(), found.end())
        for found in re.finditer(r"[^\n]+", chars)
        if found[0].strip() and not found[0].lstrip().startswith("#")
    ]
