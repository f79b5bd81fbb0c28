"""The functions that a script defines: called where it calls them, and read alone where nothing does."""

import re
from collections.abc import Callable

from tree_sitter import Node

from watcher.pins.interpreter import Interpreter
from watcher.pins.live import is_live
from watcher.pins.scope import Function, Scope
from watcher.pins.syntax import Script
from watcher.pins.text import Text, unknown
from watcher.pins.values import Value, just

_ASIDE = 200
"""What one call of a function may cost that touches no upstream."""
_WORDS = re.compile(r"[\w-]+")
_DEEPEST = 40


def define(shell: Interpreter, script: Script, node: Node, scope: Scope) -> None:
    """Remember a function, and that nothing has called it yet."""
    name = node.child_by_field_name("name")
    body = node.child_by_field_name("body")
    if name is None or body is None:
        return
    label = script.text(name).chars

    def call(inner: Scope) -> None:
        shell.uncalled.pop(id(call), None)
        inner.labels = (label, *inner.labels)
        shell.block(script, body.children, inner)

    scope.functions[label] = Function(script.text(body).chars, call)
    if not shell.included:  # another file's functions are read alone when its turn comes
        cwd = just(unknown(f"{label}()", script.text(name).place()))
        shell.uncalled[id(call)] = lambda: _call_alone(call, scope, cwd)


def _call_alone(call: Callable[[Scope], None], scope: Scope, cwd: Value) -> None:
    """Read a function that other files call: with arguments from outside and what this file set until its end."""
    inner = scope.copy()
    inner.arguments, inner.is_alive, inner.folders, inner.cwd = None, True, {}, cwd
    call(inner)


def called(shell: Interpreter, name: str, arguments: tuple[Text, ...], scope: Scope) -> None:
    """Read a function where it is called; its local variables end with it."""
    if shell.budget.is_deepest:
        return
    inner = scope.copy()
    inner.arguments = tuple(text.named("") for text in arguments)
    inner.local = frozenset()
    function = scope.functions[name]
    limit = shell.budget.limit
    if not _is_live(shell, function, scope, frozenset()):
        shell.budget.confine(_ASIDE)
    shell.budget.depth += 5  # a call is worth several levels of the host's stack
    try:
        function.run(inner)
    finally:
        shell.budget.depth -= 5
        shell.budget.limit = limit
    for local in inner.local:
        inner.variables.pop(local, None)
        if local in scope.variables:
            inner.variables[local] = scope.variables[local]
    scope.variables, scope.arrays = inner.variables, inner.arrays
    scope.folders, scope.cwd, scope.stack, scope.before = inner.folders, inner.cwd, inner.stack, inner.before
    scope.functions = inner.functions


def _is_live(shell: Interpreter, function: Function, scope: Scope, seen: frozenset[str]) -> bool:
    """Answer whether a function, or one that it calls, may touch an upstream."""
    if function.body not in shell.live:
        others = (scope.functions[word] for word in set(_WORDS.findall(function.body)) if word in scope.functions)
        deeper = seen | {function.body}
        shell.live[function.body] = is_live(function.body) or (
            len(seen) < _DEEPEST
            and any(_is_live(shell, other, scope, deeper) for other in others if other.body not in deeper)
        )
    return shell.live[function.body]
