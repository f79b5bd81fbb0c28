"""The calls of a Python program: of its own functions, of those whose meaning is known, of all others."""

import ast
import re

from watcher.pins.pycall import Call
from watcher.pins.pycommands import is_start, start
from watcher.pins.pyframe import Frame, Program, of_name
from watcher.pins.pyfunctions import call_function, construct
from watcher.pins.pyknown import NOT_KNOWN, known
from watcher.pins.pynames import callee
from watcher.pins.pytexts import STRING_METHODS, dotted_name
from watcher.pins.pyvalues import MOST_ITEMS, Class, Func, Map, Obj, PyValue, items

_QUIET = re.compile(
    r"print|pprint|echo|secho|log|logger|debug|info|warn|warning|error|critical|exception|fail|exit|abort|skip|skipif|xfail|"
    r"help|hint|raises|deprecated|deprecate|format_exc|_?log_?\w*|assert\w*|\w*(?:Error|Exception|Warning|Failure|Exit)"
)
"""Functions whose arguments are read by people."""
_PROSE = frozenset({"help", "description", "long_description", "epilog", "reason", "doc", "msg", "message", "text"})
"""Keywords whose values are read by people."""


def call(program: Program, node: ast.Call, frame: Frame) -> PyValue:
    """Follow a call and return what it gives."""
    dotted = dotted_name(node.func)
    last = dotted.rpartition(".")[2]
    owner = _owner(program, node.func, frame)
    if dotted in {"sys.exit", "exit", "os._exit"}:
        frame.scope.is_alive = False
    if _QUIET.fullmatch(last):
        for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
            program.quietly(argument, frame)
        return None
    function = callee(program, node.func, owner, frame)
    is_command = not isinstance(function, Func) and is_start(last)
    is_quiet = is_command or (isinstance(owner, tuple) and last in STRING_METHODS)
    arguments, keywords = _arguments(program, node, frame, is_quiet=is_quiet)
    if isinstance(function, Func):
        return call_function(program, function, arguments, keywords, frame)
    if isinstance(function, Class):
        return construct(program, function, arguments, keywords, frame)
    found = Call(
        program=program,
        frame=frame,
        node=node,
        dotted=dotted,
        last=last,
        owner=owner,
        arguments=arguments,
        keywords=keywords,
    )
    result = known(found)
    if result is NOT_KNOWN:
        return _other(found, is_command=is_command)
    return result  # type: ignore[return-value] # the sentinel is excluded


def _owner(program: Program, function: ast.expr, frame: Frame) -> PyValue:
    """Return what a method is looked up in."""
    match function:
        case ast.Attribute(value=ast.Constant() | ast.JoinedStr() | ast.BinOp() as text):
            return program.quietly(text, frame)
        case ast.Attribute(value=holder):
            return program.value(holder, frame)
    return None


def _arguments(
    program: Program, node: ast.Call, frame: Frame, *, is_quiet: bool
) -> tuple[list[PyValue], dict[str, PyValue]]:
    evaluate = program.quietly if is_quiet else program.value
    arguments: list[PyValue] = []
    for argument in node.args[:MOST_ITEMS]:
        value = evaluate(argument, frame)
        if isinstance(argument, ast.Starred):
            arguments += items(value)
        else:
            arguments.append(value)
    keywords: dict[str, PyValue] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            spread = evaluate(keyword.value, frame)
            keywords |= spread.entries if isinstance(spread, Map) else {}
            continue
        is_prose = keyword.arg in _PROSE
        with program.attention.labelled([keyword.arg]):
            value = program.quietly(keyword.value, frame) if is_prose else evaluate(keyword.value, frame)
        keywords[keyword.arg] = of_name(value, keyword.arg)
    return arguments, keywords


def _other(found: Call, *, is_command: bool) -> PyValue:
    """Follow a call whose meaning is not known: a command, a download, a table, an image that is built."""
    attention, guard = found.program.attention, found.frame.scope.guard
    if not attention.is_defining:
        start(found, is_command=is_command)
    attention.download(found.last, found.arguments, guard)
    attention.table(Map(dict(found.keywords)), guard)
    attention.build(found.keywords.get("buildargs"), found.keywords)
    if found.last[:1].isupper():
        return Obj(found.last, {**found.keywords, **{str(at): value for at, value in enumerate(found.arguments)}})
    return None
