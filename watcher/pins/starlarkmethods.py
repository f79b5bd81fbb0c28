"""What the methods and items of the texts, tables and lists of a Python-like file give."""

import ast

from watcher.pins.starlarktexts import as_text, bounded, formatted, replaced, trimmed
from watcher.pins.starlarkvalues import Call, Table, Unknown, Value
from watcher.pins.text import Place, Span, Text, joined

_MOST = 2_000


def method(held: Value, call: Call) -> Value | None:  # noqa: C901 - one row a method
    """Return what a method of a text, a table or a list gives; None for any other."""
    arguments = call.arguments
    match held, call.name:
        case Text(), "format":
            return formatted(held, arguments, call.keywords)
        case Text(), "replace" if len(arguments) == 2:  # noqa: PLR2004 - what and with what
            old, new = arguments
            return replaced(held, old.chars, new) if isinstance(old, Text) and isinstance(new, Text) else held
        case Text(), "join" if arguments and isinstance(arguments[0], list):
            parts = [part for item in arguments[0] for part in (held, as_text(item, call.place))]
            return bounded(joined(parts[1:]))
        case Text(), "strip" | "lower" | "upper" | "lstrip" | "rstrip" | "removeprefix":
            return trimmed(held, call.name, arguments)
        case Text(), "split":
            return [held]
        case Table(entries=entries), "get" if arguments and isinstance(arguments[0], Text):
            default = arguments[1] if len(arguments) > 1 else Unknown(call.place)
            return entries.get(arguments[0].chars, default)
        case Table(entries=entries, place=place), "items":
            return [[Text((Span(key, place),)), value] for key, value in entries.items()]
        case Table(entries=entries), "values":
            return list(entries.values())
        case list(), "append" if arguments:
            if len(held) < _MOST:
                held.append(arguments[0])
            return Unknown(call.place)
    return None


def built(call: Call) -> Table:
    """Return what `dict(…)` or `struct(…)` makes."""
    base = next((argument.entries for argument in call.arguments if isinstance(argument, Table)), {})
    named = {key: value.named(key) if isinstance(value, Text) else value for key, value in call.keywords.items()}
    return Table({**base, **named}, call.place)


def looked_up(holder: Value, key: Value, node: ast.expr, place: Place) -> Value:
    """Return what `holder[key]` is."""
    if isinstance(holder, Table) and isinstance(key, Text):
        return holder.entries.get(key.chars, Unknown(place, key.chars))
    if isinstance(holder, list) and isinstance(node, ast.Constant) and isinstance(node.value, int):
        return holder[node.value] if -len(holder) <= node.value < len(holder) else Unknown(place)
    if isinstance(holder, Text) and isinstance(node, ast.Slice):
        start, stop = _bound(node.lower), _bound(node.upper)
        return holder[slice(start, stop)].remembering(holder)
    return Unknown(place)


def _bound(node: ast.expr | None) -> int | None:
    match node:
        case ast.Constant(value=int() as number):
            return number
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as number)):
            return -number
    return None
