"""What a name, an attribute or an item of a Python program stands for."""

import ast
import re

from watcher.pins.pyframe import Frame, Program
from watcher.pins.pytexts import dotted_name, path_part
from watcher.pins.pyvalues import Class, Func, Map, Obj, PyValue, Seq, cases, plain, together
from watcher.pins.text import unknown
from watcher.pins.values import ALWAYS, MOST, just


def name(program: Program, node: ast.Name, frame: Frame) -> PyValue:
    """Return what a name stands for."""
    return _origin(program, frame.names.get(node.id), frame)


def _origin(program: Program, value: PyValue, frame: Frame) -> PyValue:
    """Follow an imported name to what it is in its own file."""
    if not isinstance(value, Obj) or value.kind != "import":
        return value
    module, imported = plain(value.fields.get("")), plain(value.fields.get("name"))
    names = program.modules.names(module or "", frame.file)
    found = names.get(imported or "") if names is not None else None
    if found is None and module is not None:
        path = f"{module.rstrip('.')}.{imported}" if module.strip(".") else f"{module}{imported}"
        inner = program.modules.names(path, frame.file)
        if inner is not None:
            return Obj("module", dict(inner.own))
    return found if found is not None else value


def _in_module(program: Program, module: Obj, wanted: str, frame: Frame) -> PyValue:
    """Return what a name stands for in a module that is imported as a whole."""
    names = program.modules.names(plain(module.fields.get("")) or "", frame.file)
    return _origin(program, names.get(wanted), frame) if names is not None else None


def attribute(program: Program, node: ast.Attribute, frame: Frame) -> PyValue:
    """Return what an attribute stands for; that of something unknown may be a command-line option."""
    if dotted_name(node) == "sys.executable":
        return frame.word("python3", node)
    owner = program.value(node.value, frame)
    match owner:
        case Obj(kind="module") if node.attr not in owner.fields:
            return _in_module(program, owner, node.attr, frame)
        case Obj() if node.attr in owner.fields:
            return owner.fields[node.attr]
        case Obj(type=Class(fields=fields)) if node.attr in fields:
            return fields[node.attr]
        case Class(fields=fields):
            return fields.get(node.attr)
        case tuple():
            return path_part(owner, node.attr)
        case None | Obj():
            return program.options.get(node.attr)
    return None


def subscript(program: Program, node: ast.Subscript, frame: Frame) -> PyValue:
    """Return what `owner[key]` stands for; of a small dictionary and an unknown key, any of its values."""
    owner, key = program.value(node.value, frame), program.quietly(node.slice, frame)
    known = plain(key)
    if known is not None and dotted_name(node.value) in {"os.environ", "environ"}:
        return frame.scope.value(known) or just(unknown(known, frame.place(node)))
    match owner:
        case Map() if known is not None:
            return owner.entries.get(known)
        case Map() if cases(key):
            return None
        case Map() if len(owner.entries) <= MOST:
            return together([(ALWAYS, value) for value in owner.entries.values()]) if owner.entries else None
        case Seq() if known is not None and re.fullmatch(r"-?\d{1,4}", known):
            at = int(known)
            return owner.items[at] if -len(owner.items) <= at < len(owner.items) else None
    return None


def callee(program: Program, node: ast.expr, owner: PyValue, frame: Frame) -> PyValue:
    """Return the function or class that is called, if it is the program's own."""
    if isinstance(node, ast.Name):
        return name(program, node, frame)
    if not isinstance(node, ast.Attribute):
        return None
    match owner:
        case Obj(kind="module"):
            found = owner.fields.get(node.attr)
            return _in_module(program, owner, node.attr, frame) if found is None else _origin(program, found, frame)
        case Obj(type=Class(fields=fields)) | Class(fields=fields):
            method = fields.get(node.attr)
            if isinstance(method, Func) and isinstance(owner, Obj):
                return Func(method.node, method.home, method.file, owner)
            return method
    return None
