"""What an expression of a Python program gives: one row for each kind, and the kinds that hold others."""

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from watcher.pins.pyassign import bind
from watcher.pins.pycalls import call
from watcher.pins.pyfinds import ARGUMENTS
from watcher.pins.pyframe import MOST_TURNS, Frame, Program, of_name
from watcher.pins.pynames import attribute, name, subscript
from watcher.pins.pyoperators import boolean, comparison, either, formatted, operation
from watcher.pins.pytexts import is_variable
from watcher.pins.pyvalues import MOST_ITEMS, Func, Map, Names, PyValue, Seq, cases, items, plain
from watcher.pins.values import just


def evaluated(program: Program, node: ast.expr, frame: Frame) -> PyValue:
    """Return what an expression gives."""
    handler = _EXPRESSIONS.get(type(node))
    return handler(program, node, frame) if handler is not None else None


def _constant(program: Program, node: ast.Constant, frame: Frame) -> PyValue:
    match node.value:
        case str():
            return just(program.literals[frame.file].text(node))
        case bool():
            return None
        case int() | float() as number:
            return frame.word(str(number)[:40], node)
    return None


def _row(program: Program, node: ast.List | ast.Tuple | ast.Set, frame: Frame) -> PyValue:
    return Seq(list(_elements(program, node.elts, frame)))


def _elements(program: Program, elements: list[ast.expr], frame: Frame) -> Iterator[PyValue]:
    for element in elements[:MOST_ITEMS]:
        value = program.value(element, frame)
        if isinstance(element, ast.Starred):
            yield from items(value)
        else:
            yield value if value is not None else frame.text(value, element)


def _dictionary(program: Program, node: ast.Dict, frame: Frame) -> PyValue:
    found = Map()
    for key, value in zip(node.keys[:MOST_ITEMS], node.values[:MOST_ITEMS], strict=False):
        if key is None:
            spread = program.value(value, frame)
            if isinstance(spread, Map):
                found.entries.update(spread.entries)
                found.keys.update(spread.keys)
        else:
            _entry(program, found, key, value, frame)
    for arguments in filter(ARGUMENTS.fullmatch, found.entries):
        program.attention.build(found.entries[arguments], found.entries)
    program.attention.table(found, frame.scope.guard)
    return found


def _entry(program: Program, found: Map, key: ast.expr, node: ast.expr, frame: Frame) -> None:
    key_value = program.quietly(key, frame)
    known = plain(key_value)
    with program.attention.labelled([known] if known else []):
        value = program.value(node, frame)
    if known is not None:
        found.entries[known] = of_name(value, known) if is_variable(known) else value
        found.keys[known] = cases(key_value)[0].text


def _comprehension(program: Program, node: ast.ListComp | ast.GeneratorExp | ast.SetComp, frame: Frame) -> PyValue:
    return Seq(_turns(program, node.elt, node.generators, frame))


def _turns(program: Program, element: ast.expr, loops: list[ast.comprehension], frame: Frame) -> list[PyValue]:
    inner = replace(frame, names=Names({}, frame.names))
    found: list[PyValue] = []
    for value in items(program.value(loops[0].iter, frame))[:MOST_TURNS]:
        bind(program, loops[0].target, value, inner)
        if len(loops) == 1:
            found.append(program.value(element, inner))
        else:
            found += _turns(program, element, loops[1:], inner)[:MOST_ITEMS]
    return found


def _inside(program: Program, node: ast.Await | ast.Starred, frame: Frame) -> PyValue:
    return program.value(node.value, frame)


def _assigned(program: Program, node: ast.NamedExpr, frame: Frame) -> PyValue:
    value = program.value(node.value, frame)
    bind(program, node.target, value, frame)
    return value


def _lambda(_: Program, node: ast.Lambda, frame: Frame) -> PyValue:
    return Func(node, frame.names, frame.file)


_EXPRESSIONS: Mapping[type[ast.expr], Callable[..., PyValue]] = {
    ast.Constant: _constant,
    ast.JoinedStr: formatted,
    ast.Name: name,
    ast.Attribute: attribute,
    ast.Subscript: subscript,
    ast.BinOp: operation,
    ast.BoolOp: boolean,
    ast.IfExp: either,
    ast.Compare: comparison,
    **dict.fromkeys((ast.List, ast.Tuple, ast.Set), _row),
    ast.Dict: _dictionary,
    **dict.fromkeys((ast.ListComp, ast.GeneratorExp, ast.SetComp), _comprehension),
    ast.Call: call,
    ast.Await: _inside,
    ast.Starred: _inside,
    ast.NamedExpr: _assigned,
    ast.Lambda: _lambda,
}
