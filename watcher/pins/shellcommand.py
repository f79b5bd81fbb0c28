"""One simple command of a script: its assignments, its words, what comes in and where its output goes."""

import re
from collections.abc import Sequence

from tree_sitter import Node

from watcher.pins.interpreter import Interpreter
from watcher.pins.scope import Scope
from watcher.pins.shellassign import assign
from watcher.pins.syntax import Script
from watcher.pins.text import Text
from watcher.pins.values import ALWAYS, MOST, Value, is_compatible
from watcher.pins.wordfields import Fields

_SILENT = frozenset({b"echo", b"printf", b"mkdir", b"rm", b"ls", b"chmod", b"apt-get", b"apt", b"true"})
"""What tells nothing about upstreams unless somebody reads its output."""
_MOST_WORDS = 500


def command(
    shell: Interpreter, script: Script, node: Node, scope: Scope, stdin: Value | None = None, target: str = ""
) -> None:
    """Put a command together and have it executed."""
    words = [child for child in node.children if child.is_named]
    prefixes = [child for child in words if child.type == "variable_assignment"]
    redirects = [child for child in words if child.type.endswith("_redirect")]
    arguments = [child for child in words if child not in prefixes and child not in redirects]
    for redirect in redirects:
        if redirect.type == "herestring_redirect" and redirect.named_children:
            stdin = shell.value(script.text(redirect.named_children[-1]), scope)
    name = arguments[0].text if arguments else None
    if not shell.printed.is_read and not target and name in _SILENT and b"$(" not in (node.text or b""):
        return
    shell.budget.steps += 1
    inside = scope.copy() if prefixes else scope
    for prefix in prefixes:
        assign(shell, script, prefix, inside)
    separator = next((found for prefix in prefixes if (found := _separator(script, prefix)) is not None), None)
    argvs = _argvs(shell, [script.text(word) for word in arguments[:_MOST_WORDS]], inside)
    shell.execute(argvs, scope, script.text(node).place(), stdin=stdin, target=target, separator=separator)


def _argvs(shell: Interpreter, words: Sequence[Text], scope: Scope) -> tuple[Fields, ...]:
    alternatives: list[Fields] = [Fields(ALWAYS, ())]
    for word in words:
        fields = shell.expander.fields(word, scope)
        shell.budget.spend_on(text for one in fields for text in one.fields)
        alternatives = [
            Fields(a.guard | b.guard, (*a.fields, *b.fields))
            for a in alternatives
            for b in fields
            if is_compatible(a.guard, b.guard)
        ][:MOST]
    return tuple(a for a in alternatives if is_compatible(a.guard, scope.guard))


def _separator(script: Script, node: Node) -> str | None:
    found = re.fullmatch(r"IFS=['\"$]*(.*?)['\"]*", script.text(node).chars, re.DOTALL)
    return found[1] if found else None
