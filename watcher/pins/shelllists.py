"""Lists of commands, `a && b || c`: what follows depends on how the one before it ends."""

from collections.abc import Sequence

from tree_sitter import Node

from watcher.pins.interpreter import Interpreter
from watcher.pins.scope import Scope
from watcher.pins.shellbranches import branch
from watcher.pins.shelltests import asked, is_test
from watcher.pins.syntax import Script, chain

Steps = Sequence[tuple[str, Node]]
"""The commands of a list, each with the operator before it."""


def list_(shell: Interpreter, script: Script, node: Node, scope: Scope) -> None:
    """Read a list."""
    follow(shell, script, list(chain(node)), scope)


def follow(shell: Interpreter, script: Script, steps: Steps, scope: Scope) -> None:
    """Read `a && b || c`: what follows a test is an arm, what follows `||` is what happens otherwise."""
    if shell.budget.is_deepest:
        return
    shell.budget.depth += 1
    try:
        at = 0
        while at < len(steps) and scope.is_alive and not shell.budget.is_spent:
            at = _step(shell, script, steps, at, scope)
    finally:
        shell.budget.depth -= 1


def _step(shell: Interpreter, script: Script, steps: Steps, at: int, scope: Scope) -> int:
    """Read one command of a list, with what hangs on its outcome; return where the list goes on."""
    operator, node = steps[at]
    after = steps[at + 1][0] if at + 1 < len(steps) else ""
    test = asked(shell, script, node, scope) if is_test(node) and after else None
    if operator == "||":  # a || b || c: the one before may have failed too
        branch(shell, None, _nothing, lambda arm: shell.statement(script, node, arm), scope)
        return at + 1
    if test is not None and after == "&&":
        end = next((i for i in range(at + 1, len(steps)) if steps[i][0] == "||"), len(steps))
        otherwise = [("", other) for _, other in steps[end : end + 1]]
        branch(
            shell,
            test,
            lambda arm: follow(shell, script, [("", steps[at + 1][1]), *steps[at + 2 : end]], arm),
            lambda arm: follow(shell, script, otherwise, arm),
            scope,
        )
        return end + 1
    if test is not None:
        branch(shell, test, _nothing, lambda arm: shell.statement(script, steps[at + 1][1], arm), scope)
        return at + 2
    shell.statement(script, node, scope)
    return at + 1


def _nothing(_: Scope) -> None:
    """Do nothing: the arm that a list leaves out."""
