"""The branches of a script, `if` and `case`: each arm is read on a scope of its own."""

import re
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from functools import partial

from tree_sitter import Node

from watcher.pins.conditions import Condition
from watcher.pins.interpreter import Interpreter
from watcher.pins.scope import Scope, join
from watcher.pins.shelltests import asked, is_test, is_unlikely, refine
from watcher.pins.syntax import Script, between
from watcher.pins.text import UNKNOWN
from watcher.pins.values import Choice, Guard, Value, is_compatible

_ARGUMENT = re.compile(r"\"?\$(?:1|\{1\})\"?")


def branch(
    shell: Interpreter,
    test: Condition | None,
    then: Callable[[Scope], None],
    otherwise: Callable[[Scope], None],
    scope: Scope,
) -> None:
    """Read both arms of a branch and put what they leave together."""
    shell.budget.spend_on_copy(len(scope.variables))
    point = f"?{test.key}" if test is not None and test.key is not None else shell.point()
    yes = 1 if test is not None and test.is_negated else 0
    arms: list[tuple[Guard, Scope]] = []
    for is_yes, body in ((True, then), (False, otherwise)):
        arm_number = yes if is_yes else 1 - yes
        unlikely = test is not None and is_unlikely(test, scope, is_yes=is_yes)
        default = test is not None and is_unlikely(test, scope, is_yes=not is_yes)
        label = test.labels[not is_yes] if test is not None else ""
        guard: Guard = frozenset({Choice(point, arm_number, 2, label, unlikely, default)})
        if not is_compatible(guard, scope.guard):
            continue
        arm = scope.copy(guard)
        if test is not None:
            refine(test, arm, is_yes=is_yes)
        shell.printed.under(guard, partial(body, arm))
        arms.append((guard, arm))
    join(scope, arms)


def if_(shell: Interpreter, script: Script, node: Node, scope: Scope) -> None:
    """Read `if` or `elif`, with the clauses that follow it."""
    tests = between(node, node.children[0].type, "then")
    shell.block(script, [test for test in tests if not is_test(test)], scope)
    test = asked(shell, script, tests[-1], scope) if tests else None
    others = [child for child in node.children if child.type in {"elif_clause", "else_clause"}]
    if node.type == "elif_clause":
        others = _later_clauses(node)
    branch(
        shell,
        test,
        lambda arm: shell.block(script, between(node, "then", "elif_clause", "else_clause", "fi"), arm),
        lambda arm: _otherwise(shell, script, others[:1], arm),
        scope,
    )


def _otherwise(shell: Interpreter, script: Script, clauses: Sequence[Node], scope: Scope) -> None:
    for clause in clauses:
        if clause.type == "elif_clause":
            shell.statement(script, clause, scope)
        else:
            shell.block(script, clause.children, scope)


def _later_clauses(node: Node) -> list[Node]:
    later: list[Node] = []
    sibling = node.next_sibling
    while sibling is not None:
        if sibling.type in {"elif_clause", "else_clause"}:
            later.append(sibling)
        sibling = sibling.next_sibling
    return later


def case_(shell: Interpreter, script: Script, node: Node, scope: Scope) -> None:
    """Read `case`: all its arms, or the one that a known argument chooses."""
    items = [child for child in node.named_children if child.type == "case_item"]
    subject = node.child_by_field_name("value")
    value = shell.value(script.text(subject), scope) if subject is not None else ()
    patterns = [[script.text(p).chars for p in item.children_by_field_name("value")] for item in items]
    point = _point(shell, value, patterns)
    if subject is not None and len(value) == 1 and _ARGUMENT.fullmatch(script.text(subject).chars):
        chosen = _matching(value[0].text.chars, patterns)
        if chosen is not None:  # an argument is what it is; a variable may be set from outside
            shell.block(script, _after_pattern(items[chosen]), scope)
            return
    shell.budget.spend_on_copy(len(scope.variables))
    is_total = any("*" in pattern for pattern in patterns)
    count = len(items) + (not is_total)
    arms: list[tuple[Guard, Scope]] = []
    for number in range(count):
        label = "" if number >= len(items) else " ".join(patterns[number])
        guard: Guard = frozenset({Choice(point, number, count, label)})
        if not is_compatible(guard, scope.guard):
            continue
        arm = scope.copy(guard)
        if number < len(items):
            shell.printed.under(guard, partial(shell.block, script, _after_pattern(items[number]), arm))
        arms.append((guard, arm))
    join(scope, arms)


def _point(shell: Interpreter, value: Value, patterns: Sequence[Sequence[str]]) -> str:
    """Return a name for a `case` that is the same wherever the same is asked."""
    if len(value) == 1 and "$(" not in value[0].text.key:
        return f"?case {value[0].text.key} {patterns}"
    return shell.point()


def _matching(chars: str, patterns: Sequence[Sequence[str]]) -> int | None:
    """Return the first case whose pattern matches what is known to the last character."""
    if not chars or UNKNOWN in chars:
        return None
    plain = [[re.sub(r"[\"'\\]", "", pattern) for pattern in one] for one in patterns]
    return next((at for at, one in enumerate(plain) if any(fnmatchcase(chars, pattern) for pattern in one)), None)


def _after_pattern(item: Node) -> list[Node]:
    at = next((i for i, child in enumerate(item.children) if child.type == ")"), 0)
    return list(item.children[at + 1 :])
