"""The program's own functions and classes where they are called: what is given to them, and what they give back."""

import ast
import re
from collections.abc import Mapping, Sequence

from watcher.pins.pyframe import Frame, Program, of_name
from watcher.pins.pytexts import dotted_name, is_static
from watcher.pins.pyvalues import Class, Func, Map, Names, Obj, PyValue, Seq, together

_CALLS = 14
"""How deep calls of the program's own functions are followed."""
_DECLARED = re.compile(r"(?:\w+\.)*(?:Option|Argument|Field|Param|Query)")
"""What declares an option in the place of a parameter's default."""


def call_function(
    program: Program, function: Func, arguments: Sequence[PyValue], keywords: Mapping[str, PyValue], frame: Frame
) -> PyValue:
    """Follow a function of the program; what it is not given is its default, else unknown."""
    program.uncalled.pop(id(function.node), None)
    if id(function.node) in program.active or len(program.active) >= _CALLS:
        return None
    inner = Frame(Names({}, function.home), frame.scope.copy(), function.file)
    program.active.append(id(function.node))
    try:
        with program.attention.elsewhere(is_quiet=function.file != program.file, is_defining=False):
            _bind_parameters(program, function, arguments, keywords, inner)
            if isinstance(function.node, ast.Lambda):
                return program.value(function.node.body, inner)
            program.block(function.node.body, inner)
    finally:
        program.active.pop()
        frame.scope.folders = inner.scope.folders
        frame.scope.cwd = inner.scope.cwd
    return together(inner.returns)


def _bind_parameters(
    program: Program, function: Func, arguments: Sequence[PyValue], keywords: Mapping[str, PyValue], frame: Frame
) -> None:
    given = function.node.args
    parameters = [*given.posonlyargs, *given.args]
    names = frame.names.own
    if function.owner is not None and parameters and not is_static(function.node):
        names[parameters[0].arg] = function.owner
        parameters = parameters[1:]
    home = Frame(function.home, frame.scope, frame.file)
    defaults = _defaults(given, parameters)
    for at, parameter in enumerate([*parameters, *given.kwonlyargs]):
        name = parameter.arg
        if at < len(arguments) and at < len(parameters):
            value = arguments[at]
        elif name in keywords:
            value = keywords[name]
        else:
            value = _default(program, defaults[name], home) if name in defaults else None
        names[name] = of_name(value, name)
    if given.vararg is not None:
        names[given.vararg.arg] = Seq(list(arguments[len(parameters) :]))
    if given.kwarg is not None:
        names[given.kwarg.arg] = Map(dict(keywords))


def _defaults(given: ast.arguments, parameters: Sequence[ast.arg]) -> dict[str, ast.expr]:
    """Return the default of each parameter that has one."""
    found = dict(zip([p.arg for p in reversed(parameters)], reversed(given.defaults), strict=False))
    by_name = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    return found | {parameter.arg: default for parameter, default in by_name if default is not None}


def _default(program: Program, node: ast.expr, frame: Frame) -> PyValue:
    """Return a parameter's default; that of `typer.Option("main", …)` is its first argument."""
    if isinstance(node, ast.Call) and _DECLARED.fullmatch(dotted_name(node.func)):
        inner = next((k.value for k in node.keywords if k.arg == "default"), node.args[0] if node.args else None)
        return program.quietly(inner, frame) if inner is not None else None
    return program.quietly(node, frame)


def construct(
    program: Program, found: Class, arguments: Sequence[PyValue], keywords: Mapping[str, PyValue], frame: Frame
) -> Obj:
    """Return an object of a class of the program, as its `__init__` or its fields make it."""
    fields = dict(found.fields)
    fields |= dict(zip(found.order, arguments, strict=False))
    fields |= keywords
    built = Obj(found.name, fields, found)
    program.attention.table(Map(fields), frame.scope.guard)
    start = found.fields.get("__init__")
    if isinstance(start, Func):
        call_function(program, Func(start.node, start.home, start.file, built), arguments, keywords, frame)
    return built
