"""The assignments of a Python program: what its names, attributes and items become."""

import ast

from watcher.pins.pyfinds import ARGUMENTS
from watcher.pins.pyframe import Frame, Program, of_name
from watcher.pins.pytexts import added, dotted_name
from watcher.pins.pyvalues import Map, Obj, PyValue, Seq, cases, plain
from watcher.pins.text import unknown
from watcher.pins.values import just, named


def assign(program: Program, node: ast.Assign, frame: Frame) -> None:
    """Follow `a = b = value`."""
    names = [target.id for target in node.targets if isinstance(target, ast.Name)]
    keys = [key for target in node.targets for key in _item_key(target)]
    with program.attention.labelled([*names, *keys][:1]):
        value = program.value(node.value, frame)
    for target in node.targets:
        bind(program, target, value, frame)
    if names and ARGUMENTS.fullmatch(names[0]):
        program.attention.build(value, {})


def _item_key(target: ast.expr) -> list[str]:
    """Return the key of `x["key"]`, if that is what is assigned."""
    match target:
        case ast.Subscript(slice=ast.Constant(value=str(key))):
            return [key]
    return []


def annotated(program: Program, node: ast.AnnAssign, frame: Frame) -> None:
    """Follow `a: kind = value`."""
    if node.value is not None:
        untyped = ast.Assign(targets=[node.target], value=node.value)
        assign(program, ast.copy_location(untyped, node), frame)


def augmented(program: Program, node: ast.AugAssign, frame: Frame) -> None:
    """Follow `a += value`."""
    value = program.value(node.value, frame)
    if isinstance(node.op, ast.Add):
        bind(program, node.target, added(program.quietly(node.target, frame), value), frame)


def bind(program: Program, target: ast.expr, value: PyValue, frame: Frame) -> None:
    """Set what stands on the left of an assignment, or of `in`."""
    match target:
        case ast.Name(id=name):
            frame.names.own[name] = of_name(value, name)
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            values = value.items if isinstance(value, Seq) else []
            for at, element in enumerate(elements):
                bind(program, element, values[at] if at < len(values) else None, frame)
        case ast.Attribute(value=holder, attr=name):
            owner = program.quietly(holder, frame)
            if isinstance(owner, Obj):
                owner.fields[name] = of_name(value, name)
        case ast.Subscript(value=holder, slice=key):
            _bind_item(program, holder, program.quietly(key, frame), value, frame)
        case ast.Starred(value=inner):
            bind(program, inner, None, frame)


def _bind_item(program: Program, holder: ast.expr, key: PyValue, value: PyValue, frame: Frame) -> None:
    table, name = program.quietly(holder, frame), plain(key)
    if name is None:
        return
    if isinstance(table, Map):
        table.entries[name] = value
        table.keys[name] = cases(key)[0].text
    elif dotted_name(holder) in {"os.environ", "environ"}:
        known = cases(value) or just(unknown(name, frame.place(holder)))
        frame.scope.assign(name, named(known, name))
