"""What a test of a script asks, and what its arms tell about the variable that it asks for."""

from tree_sitter import Node

from watcher.pins.conditions import Condition, condition
from watcher.pins.interpreter import Interpreter
from watcher.pins.scope import Scope
from watcher.pins.syntax import Script
from watcher.pins.text import Place, Text, unknown
from watcher.pins.values import Value, just


def is_test(node: Node) -> bool:
    """Answer whether a statement does nothing but test something."""
    if node.type == "test_command":
        return True
    if node.type == "negated_command":
        return bool(node.named_children) and is_test(node.named_children[-1])
    name = node.child_by_field_name("name") if node.type == "command" else None
    return name is not None and name.text in {b"test", b"["}


def asked(shell: Interpreter, script: Script, node: Node, scope: Scope) -> Condition:
    """Return what a test, or a command in its place, asks; what the command does is read."""
    source = script.text(node)
    if node.type == "negated_command" and not is_test(node.named_children[-1] if node.named_children else node):
        shell.block(script, node.named_children, scope)
    raw = source.chars[:400]
    if not is_test(node):
        return condition(raw, None)
    value = shell.expander.quoted(source[:400], scope) if "`" not in raw and "$(" not in raw else ()
    expanded = value[0].text.key if len(value) == 1 else f"{raw}@{source.place()}"
    return condition(raw, expanded)


def is_unlikely(test: Condition, scope: Scope, *, is_yes: bool) -> bool:
    """Answer whether the known value of the variable that is asked for leads to the other arm."""
    value = _known(test.variable, scope) if test.variable else None
    if value is None:
        return False
    is_empty_here = test.is_empty == is_yes
    return all(case.text.is_known and bool(case.text) == is_empty_here for case in value)


def _known(name: str, scope: Scope) -> Value | None:
    """Return what a variable or, by its number, an argument may be; None where the file does not tell."""
    if not name.isdigit():
        return scope.value(name)
    at = int(name) - 1
    return None if scope.arguments is None else just(scope.arguments[at] if at < len(scope.arguments) else Text())


def refine(test: Condition, arm: Scope, *, is_yes: bool) -> None:
    """Keep of the variable that is asked for what can be so in this arm."""
    value = arm.value(test.variable) if test.variable else None
    if value is None or test.variable is None:
        return
    is_empty_here = test.is_empty == is_yes
    kept = tuple(case for case in value if not case.text.is_known or bool(case.text) != is_empty_here)
    if is_empty_here and not kept:
        arm.variables[test.variable] = just(Text())
    elif not kept:
        place = next((case.text.place() for case in value if case.text), Place("", 0))
        arm.variables[test.variable] = just(unknown(test.variable, place))
    elif len(kept) < len(value):
        arm.variables[test.variable] = kept
