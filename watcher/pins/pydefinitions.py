"""The functions and classes that a Python program defines, and the names that it imports."""

import ast

from watcher.pins.pyframe import Frame, Program
from watcher.pins.pyfunctions import call_function
from watcher.pins.pyvalues import Class, Func, Names, Obj, PyValue


def function(program: Program, node: ast.FunctionDef | ast.AsyncFunctionDef, frame: Frame) -> None:
    """Remember a function."""
    frame.names.own[node.name] = _remembered(program, Func(node, frame.names, frame.file))


def _remembered(program: Program, found: Func) -> Func:
    """Remember that nothing has called a function yet; those of other files are read when their turn comes."""
    if not program.attention.is_defining and found.file == program.file:
        program.uncalled[id(found.node)] = found
    return found


def class_(program: Program, node: ast.ClassDef, frame: Frame) -> None:
    """Remember a class: what its body sets, then its methods; an object of it is made once."""
    methods = [one for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
    inner = Frame(Names({}, frame.names), frame.scope, frame.file)
    program.block([one for one in node.body if not isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)], inner)
    order = [s.target.id for s in node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]
    found = Class(node.name, inner.names.own, order)
    frame.names.own[node.name] = found
    itself = Obj(node.name, dict(inner.names.own), found)
    for method in methods:
        found.fields[method.name] = _remembered(program, Func(method, frame.names, frame.file, itself))
    start = found.fields.get("__init__")
    for method in methods:
        if method.name == "__init__" and isinstance(start, Func) and not program.attention.is_defining:
            call_function(program, start, [], {}, frame)
    for name, value in inner.names.own.items():
        if isinstance(value, tuple):
            program.options.setdefault(name, value)


def import_(_: Program, node: ast.Import, frame: Frame) -> None:
    """Remember modules."""
    for alias in node.names:
        name = alias.asname or alias.name.partition(".")[0]
        origin = frame.word(alias.name if alias.asname else name, node)
        frame.names.own.setdefault(name, Obj("module", {"": origin}))


def import_from(_: Program, node: ast.ImportFrom, frame: Frame) -> None:
    """Remember names of a module; what they are is looked up where they are used."""
    for alias in node.names:
        origin = "." * node.level + (node.module or "")
        fields: dict[str, PyValue] = {"": frame.word(origin, node), "name": frame.word(alias.name, node)}
        frame.names.own[alias.asname or alias.name] = Obj("import", fields)
