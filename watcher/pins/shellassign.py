"""The assignments of a script: variables, arrays, single elements."""

import re

from tree_sitter import Node

from watcher.pins.interpreter import Interpreter
from watcher.pins.scope import Array, Scope
from watcher.pins.syntax import Script
from watcher.pins.text import Text
from watcher.pins.values import Case, Value, distinct, is_compatible, just, named

_MOST_ELEMENTS = 500


def declare(shell: Interpreter, script: Script, node: Node, scope: Scope) -> None:
    """Read `local`, `declare`, `export` and the like."""
    is_local = node.children[0].type in {"local", "declare", "typeset"} and scope.arguments is not None
    for child in node.named_children:
        if child.type == "variable_assignment":
            target = child.child_by_field_name("name")
        elif child.type == "variable_name":
            target = child
        else:
            continue
        if is_local and target is not None:
            scope.local |= {script.text(target).chars}
        if child.type == "variable_assignment":
            assign(shell, script, child, scope)


def assign_all(shell: Interpreter, script: Script, node: Node, scope: Scope) -> None:
    """Read several assignments in one line."""
    for child in node.named_children:
        assign(shell, script, child, scope)


def assign(shell: Interpreter, script: Script, node: Node, scope: Scope) -> None:
    """Read `NAME=value`, `NAME+=value`, `NAME=(a b)` or `NAME[key]=value`."""
    target, source = node.child_by_field_name("name"), node.child_by_field_name("value")
    if target is None:
        return
    name = script.text(target).chars
    if target.type == "subscript":
        _assign_element(shell, script, target, source, scope)
        return
    is_added = any(child.type == "+=" for child in node.children)
    if source is not None and source.type == "array":
        before = scope.arrays.get(name, ()) if is_added else ()
        scope.arrays[name] = (*before, *_array(shell, script, source, name, scope, len(before)))[:_MOST_ELEMENTS]
        scope.variables.pop(name, None)
        return
    value = shell.value(script.text(source), scope) if source is not None else just(Text())
    if is_added and (old := scope.value(name)):
        value = distinct(
            Case(a.text + b.text, a.guard | b.guard) for a in old for b in value if is_compatible(a.guard, b.guard)
        )
    scope.assign(name, named(value, name))


def _array(shell: Interpreter, script: Script, node: Node, name: str, scope: Scope, start: int) -> Array:
    elements: list[tuple[str, Value]] = []
    for child in node.named_children[: 2 * _MOST_ELEMENTS]:
        if child.type == "comment":
            continue
        source = script.text(child)
        keyed = re.match(r"\[\s*[\"']?([^\]\"']*)[\"']?\s*\]=", source.chars)
        if keyed:
            elements.append((keyed[1], named(shell.value(source[keyed.end() :], scope), name)))
            continue
        for alternative in shell.expander.fields(source, scope):
            for field in alternative.fields:
                elements.append((str(start + len(elements)), named((Case(field, alternative.guard),), name)))
    return tuple(elements)


def _assign_element(shell: Interpreter, script: Script, target: Node, source: Node | None, scope: Scope) -> None:
    array, index = target.child_by_field_name("name"), target.child_by_field_name("index")
    if array is None or index is None or source is None:
        return
    name = script.text(array).chars
    key = shell.value(script.text(index), scope)[0].text.chars
    kept = tuple(element for element in scope.arrays.get(name, ()) if element[0] != key)
    scope.arrays[name] = (*kept, (key, named(shell.value(script.text(source), scope), name)))
