"""The branches, loops and blocks of a Python program: each arm is followed on a state of its own."""

import ast
import re
from collections.abc import Sequence
from dataclasses import replace

from watcher.pins.pyassign import bind
from watcher.pins.pycommands import enter
from watcher.pins.pyframe import MOST_TURNS, Frame, Program
from watcher.pins.pytexts import dotted_name
from watcher.pins.pyvalues import Names, PyValue, cases, items, together
from watcher.pins.scope import Scope, join
from watcher.pins.values import Choice, Guard

_ENTERING = re.compile(r"(?:.*[._])?(?:chdir|cd|pushd|working_dir\w*|cwd)")
"""Context managers that change the folder."""


def if_(program: Program, node: ast.If, frame: Frame) -> None:
    """Follow both arms of `if`, unless it asks how the file is used."""
    test = ast.unparse(node.test)[:200]
    if "TYPE_CHECKING" in test:
        program.block(node.orelse, frame)
    elif "__name__" in test:
        if not program.attention.is_defining:
            program.block(node.body, frame)
    else:
        program.quietly(node.test, frame)
        _arms(program, [(test, node.body), ("", node.orelse)], frame, _question(program, node.test, frame))


def _question(program: Program, test: ast.expr, frame: Frame) -> str | None:
    """Return a name for `x == "a"` that is the same wherever the same x is asked the same."""
    match test:
        case ast.Compare(left=ast.Name() as left, ops=[ast.Eq()], comparators=[ast.Constant(value=str(wanted))]):
            value = cases(program.value(left, frame))
            if len(value) == 1 and value[0].text:
                return f"?{value[0].text.key}@{value[0].text.place()}={wanted}"
    return None


def _arms(
    program: Program, bodies: Sequence[tuple[str, list[ast.stmt]]], frame: Frame, question: str | None = None
) -> None:
    """Follow the arms of a branch, each on a state of its own, and put the states together."""
    point = question or program.shell.point()
    arms: list[tuple[Guard, Scope]] = []
    names: list[tuple[Guard, dict[str, PyValue]]] = []
    for at, (label, body) in enumerate(bodies):
        guard: Guard = frozenset({Choice(point, at, len(bodies), label)})
        arm = replace(frame, scope=frame.scope.copy(guard), names=Names(dict(frame.names.own), frame.names.outer))
        program.block(body, arm)
        arms.append((guard, arm.scope))
        if arm.scope.is_alive:
            names.append((guard, arm.names.own))
    join(frame.scope, arms)
    _join_names(frame.names.own, names)


def _join_names(into: dict[str, PyValue], arms: Sequence[tuple[Guard, dict[str, PyValue]]]) -> None:
    if len(arms) == 1:
        into.update(arms[0][1])
        return
    for name in dict.fromkeys(name for _, own in arms for name in own):
        values = [(guard, own.get(name)) for guard, own in arms]
        if any(value is not values[0][1] for _, value in values):
            into[name] = together(values)


def match(program: Program, node: ast.Match, frame: Frame) -> None:
    """Follow the cases of `match`."""
    program.quietly(node.subject, frame)
    _arms(program, [(ast.unparse(case.pattern)[:80], case.body) for case in node.cases[:12]] + [("", [])], frame)


def for_(program: Program, node: ast.For | ast.AsyncFor, frame: Frame) -> None:
    """Follow the turns of `for`; one with something unknown where the program does not tell them."""
    values = items(program.value(node.iter, frame))
    for value in values[:MOST_TURNS] or [None]:
        bind(program, node.target, value, frame)
        program.block(node.body, frame)
        if not frame.scope.is_alive and values:
            break
    program.block(node.orelse, frame)


def while_(program: Program, node: ast.While, frame: Frame) -> None:
    """Follow one turn of `while`."""
    program.block(node.body, frame)
    program.block(node.orelse, frame)


def with_(program: Program, node: ast.With | ast.AsyncWith, frame: Frame) -> None:
    """Follow the body of `with`, in the folder that it enters."""
    before = frame.scope.cwd
    for item in node.items:
        value = program.value(item.context_expr, frame)
        if item.optional_vars is not None:
            bind(program, item.optional_vars, value, frame)
        call = item.context_expr
        if isinstance(call, ast.Call) and _ENTERING.fullmatch(dotted_name(call.func)) and call.args:
            enter(program.quietly(call.args[0], frame), frame.scope, frame.file)
    program.block(node.body, frame)
    frame.scope.cwd = before


def try_(program: Program, node: ast.Try, frame: Frame) -> None:
    """Follow what is tried, then what happens without an error and after each error."""
    program.block(node.body, frame)
    frame.scope.is_alive = True
    if node.handlers and not program.attention.is_defining:
        _arms(program, [("", node.orelse), *(("", handler.body) for handler in node.handlers[:6])], frame)
    program.block(node.finalbody, frame)
