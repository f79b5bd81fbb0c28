"""The statements of a Python program: one row for each kind."""

import ast
from collections.abc import Callable, Mapping

from watcher.pins.pyassign import annotated, assign, augmented
from watcher.pins.pybranches import for_, if_, match, try_, while_, with_
from watcher.pins.pydefinitions import class_, function, import_, import_from
from watcher.pins.pyframe import Frame, Program


def _expression(program: Program, node: ast.Expr, frame: Frame) -> None:
    if not isinstance(node.value, ast.Constant) and not program.attention.is_defining:
        program.value(node.value, frame)


def _return(program: Program, node: ast.Return, frame: Frame) -> None:
    if node.value is not None:
        frame.returns.append((frame.scope.guard, program.value(node.value, frame)))
    frame.scope.is_alive = False


def _raise(program: Program, node: ast.Raise, frame: Frame) -> None:
    if node.exc is not None:
        program.quietly(node.exc, frame)
    frame.scope.is_alive = False


STATEMENTS: Mapping[type[ast.stmt], Callable[..., None]] = {
    ast.Expr: _expression,
    ast.Assign: assign,
    ast.AnnAssign: annotated,
    ast.AugAssign: augmented,
    ast.If: if_,
    ast.Match: match,
    ast.For: for_,
    ast.AsyncFor: for_,
    ast.While: while_,
    ast.With: with_,
    ast.AsyncWith: with_,
    ast.Try: try_,
    ast.FunctionDef: function,
    ast.AsyncFunctionDef: function,
    ast.ClassDef: class_,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Import: import_,
    ast.ImportFrom: import_from,
}
"""Kind → how it is followed; kinds that do nothing here are left out."""
