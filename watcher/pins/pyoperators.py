"""Expressions of a Python program that are put together from others: operators, f-strings, conditions."""

import ast
import re
from collections.abc import Sequence

from watcher.pins.pyframe import Frame, Program
from watcher.pins.pytexts import added, filled, is_literal, path_of
from watcher.pins.pyvalues import Map, PyValue, Seq, cases, together
from watcher.pins.text import Text, unknown
from watcher.pins.values import Choice, Value, concat, just

_NAMED_HOLE = re.compile(r"%\((\w+)\)[sdr]")
_HOLE = re.compile(r"%[sdr]")


def formatted(program: Program, node: ast.JoinedStr, frame: Frame) -> PyValue:
    """Return what an f-string becomes."""
    value: Value = just(Text())
    for piece in program.literals[frame.file].pieces(node):
        if isinstance(piece, Text):
            value = concat(value, just(piece))
        else:
            value = concat(value, frame.text(program.quietly(piece, frame), piece))
    return value


def operation(program: Program, node: ast.BinOp, frame: Frame) -> PyValue:
    """Return what `+`, `/` of a path or `%` of a string gives."""
    is_text = isinstance(node.left, ast.Constant | ast.JoinedStr | ast.BinOp)
    left = program.quietly(node.left, frame) if is_text else program.value(node.left, frame)
    if isinstance(left, Seq):
        left = program.value(node.left, frame)
    match node.op:
        case ast.Mod() if isinstance(left, tuple):
            return _percent(program, left, node.right, frame)
        case ast.Div():
            right = frame.text(program.quietly(node.right, frame), node.right)
            return path_of([frame.text(left, node.left), right])
        case ast.Add():
            return _sum(program, node, left, frame)
    return None


def _sum(program: Program, node: ast.BinOp, left: PyValue, frame: Frame) -> PyValue:
    is_text = isinstance(left, tuple) or is_literal(node.right)
    right = program.quietly(node.right, frame) if is_text else program.value(node.right, frame)
    if isinstance(left, tuple) or isinstance(right, tuple):
        return concat(frame.text(left, node.left), frame.text(right, node.right))
    return added(left, right)


def _percent(program: Program, left: Value, right: ast.expr, frame: Frame) -> PyValue:
    nodes = right.elts if isinstance(right, ast.Tuple) else [right]
    value = program.quietly(right, frame)
    if isinstance(value, Map):
        names = {name: cases(inner) or just(unknown(name, frame.place(right))) for name, inner in value.entries.items()}
        return filled(left, _NAMED_HOLE, lambda found, _: names.get(found[1]))
    values = [frame.text(program.quietly(node, frame), node) for node in nodes]
    return filled(left, _HOLE, lambda _, at: values[at] if at < len(values) else None)


def boolean(program: Program, node: ast.BoolOp, frame: Frame) -> PyValue:
    """Return what `a or b` is unless somebody outside sets `a`; of `a and b` the last."""
    values = [program.value(value, frame) for value in node.values]
    return _first_known(values) if isinstance(node.op, ast.Or) else values[-1]


def _first_known(values: Sequence[PyValue]) -> PyValue:
    for value in values:
        if not isinstance(value, tuple) and value is not None:
            return value
        if isinstance(value, tuple) and any(case.text.is_known and case.text for case in value):
            return value
    return next((value for value in values if value is not None), None)


def either(program: Program, node: ast.IfExp, frame: Frame) -> PyValue:
    """Return what `a if test else b` may be."""
    program.quietly(node.test, frame)
    if ast.unparse(node.test) == ast.unparse(node.body):  # a default for what somebody outside may give
        return _first_known([program.value(node.body, frame), program.value(node.orelse, frame)])
    point, label = program.shell.point(), ast.unparse(node.test)[:120]
    arms = []
    for at, (name, branch) in enumerate(((label, node.body), ("", node.orelse))):
        arms.append((frozenset({Choice(point, at, 2, name)}), program.value(branch, frame)))
    return together(arms)


def comparison(program: Program, node: ast.Compare, frame: Frame) -> None:
    """Look at what is compared; which way it ends is not followed."""
    for other in (node.left, *node.comparators):
        program.quietly(other, frame)
