"""What a Python-like file says without being run: constants, tables of them, calls of its own functions, what it loads.

Starlark and the `DEPS` files of gclient are Python to the letter as far as `ast` is concerned. Values are texts that
know where they are written, lists and tables of them; everything else is unknown.
"""

import ast
import io
import re
import tokenize
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from watcher.pins.format import Broken
from watcher.pins.pysyntax import parsed
from watcher.pins.sources import PARAMETER
from watcher.pins.text import Place, Span, Text, joined, unknown, written

_DEEPEST = 60
_CALLS = 6
_STEPS = 60_000
_LONGEST = 4_000
"""No address is longer; what is put together beyond it is unknown."""
_MOST = 2_000
_FIELD = re.compile(r"\{\{|\}\}|\{([A-Za-z_]\w*|\d*)(?:\[[^\]]*\]|\.\w+)*(?:![rs])?(?::[^{}]*)?\}")
_PERCENT = re.compile(r"%(?:\((\w+)\))?[-#0 +]*\d*[srd%]")


@dataclass(slots=True, eq=False)
class Table:
    """A dictionary or a `struct`."""

    entries: dict[str, "Value"]
    place: Place


@dataclass(slots=True, eq=False)
class Call:
    """A call of something that the file does not define, with its evaluated arguments."""

    name: str
    """The last part of its dotted name."""
    arguments: list["Value"]
    keywords: dict[str, "Value"]
    place: Place
    places: dict[str, Place]
    """Where the value of each keyword stands."""


@dataclass(slots=True, eq=False)
class Function:
    """A function that the file defines."""

    node: ast.FunctionDef
    module: "Module"


@dataclass(slots=True, eq=False)
class Unknown:
    """What the file does not tell."""

    place: Place = field(default_factory=lambda: Place("", 0))
    name: str = ""


Value: TypeAlias = Text | list["Value"] | Table | Call | Function | Unknown


def trees(path: str, text: str) -> Iterator[ast.Module | Broken]:
    """Yield the parsed file; where it is no Python, those of its top-level statements that are."""
    tree = _tree(text)
    if isinstance(tree, ast.Module):
        yield tree
        return
    yield Broken(file=path, line=tree.line, reason=tree.reason)
    for start, chunk in _chunks(text):
        part = _tree(chunk)
        if isinstance(part, ast.Module):
            ast.increment_lineno(part, start)
            yield part


@dataclass(frozen=True, slots=True)
class _Wrong:
    line: int
    reason: str


def _tree(text: str) -> ast.Module | _Wrong:
    tree = parsed(text)
    if isinstance(tree, SyntaxError):
        return _Wrong(tree.lineno or 1, f"expected Python syntax: {tree.msg}")
    return tree or _Wrong(1, "expected Python syntax: nested too deeply, too large or no text")


def _chunks(text: str) -> Iterator[tuple[int, str]]:
    """Cut a file where a line begins with a word: each piece with the number of lines before it."""
    lines = text.split("\n")
    starts = [at for at, line in enumerate(lines) if re.match(r"[A-Za-z_@]", line)]
    for at, start in enumerate(starts[:_MOST]):
        end = starts[at + 1] if at + 1 < len(starts) else len(lines)
        yield start, "\n".join(lines[start:end])


class Module:
    """One file being read."""

    def __init__(self, path: str, text: str, load: Callable[[str, str], "Module | None"] | None = None) -> None:
        self.path = path
        self.lines = text.split("\n")
        self.names: dict[str, Value] = {}
        self.calls: list[Call] = []
        """Every call met, in order; those inside functions that nothing calls too."""
        self.broken: list[Broken] = []
        self.load = load
        self.builtins: dict[str, Callable[[Call], Value]] = {}
        self._steps = 0
        self._depth = 0
        self._active = 0
        self._called: set[int] = set()
        self._functions: list[Function] = []
        self._text = text

    def run(self) -> None:
        """Read the whole file, then the functions that nothing called."""
        for found in trees(self.path, self._text):
            if isinstance(found, Broken):
                self.broken.append(found)
                continue
            self._body(found.body, self.names)
        for function in list(self._functions):
            if id(function.node) not in self._called:
                place = Place(self.path, function.node.lineno)
                parameters = [*function.node.args.posonlyargs, *function.node.args.args, *function.node.args.kwonlyargs]
                missing: dict[str, Value] = {parameter.arg: Unknown(place, PARAMETER) for parameter in parameters}
                for name in _defaulted(function.node):
                    missing.pop(name, None)
                self._apply(function, Call(function.node.name, [], missing, place, {}))

    # --- statements ---------------------------------------------------------------------------------------------------

    def _body(self, body: Sequence[ast.stmt], names: dict[str, Value]) -> Value | None:
        """Follow statements; return what a `return` gives."""
        result: Value | None = None
        for statement in body:
            self._steps += 1
            if self._steps > _STEPS:
                return result
            given = self._statement(statement, names)
            result = given if result is None else result
        return result

    def _statement(self, node: ast.stmt, names: dict[str, Value]) -> Value | None:  # noqa: C901 - one row a statement
        match node:
            case ast.Assign(targets=targets, value=value):
                result = self.value(value, names)
                for target in targets:
                    self._assign(target, result, names)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign(target, self.value(value, names), names)
            case ast.AugAssign(target=ast.Name(id=name) as target, op=ast.Add(), value=value):
                names[name] = self._added(names.get(name, Unknown()), self.value(value, names), self.place(target))
            case ast.Expr(value=ast.Call(func=ast.Name(id="load")) as call):
                self._load(call, names)
            case ast.Expr(value=value):
                self.value(value, names)
            case ast.Return(value=ast.expr() as value):
                return self.value(value, names)
            case ast.FunctionDef(name=name):
                names[name] = function = Function(node, self)
                self._functions.append(function)
            case ast.ClassDef(body=body):
                self._body(body, names)
            case ast.If(body=body, orelse=orelse):
                first, second = self._body(body, names), self._body(orelse, names)
                return second if first is None else first
            case ast.For(target=target, iter=source, body=body):
                return self._for(target, self.value(source, names), body, names)
            case ast.Try(body=body) | ast.With(body=body):
                return self._body(body, names)
        return None

    def _for(self, target: ast.expr, source: Value, body: Sequence[ast.stmt], names: dict[str, Value]) -> Value | None:
        items: list[Value] = source[:200] if isinstance(source, list) else []
        if isinstance(source, Table):
            items = [Text((Span(key, source.place),)) for key in list(source.entries)[:200]]
        for item in items or [Unknown()]:
            self._assign(target, item, names)
            given = self._body(body, names)
            if given is not None:
                return given
        return None

    def _assign(self, target: ast.expr, value: Value, names: dict[str, Value]) -> None:
        match target:
            case ast.Name(id=name):
                names[name] = value.named(name) if isinstance(value, Text) else value
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for at, part in enumerate(parts):
                    is_inside = isinstance(value, list) and at < len(value)
                    self._assign(part, value[at] if is_inside else Unknown(), names)  # type: ignore[index] # a list where inside
            case ast.Subscript(value=holder, slice=key):
                table, entry = self.value(holder, names), self.value(key, names)
                if isinstance(table, Table) and isinstance(entry, Text):
                    table.entries[entry.chars] = value

    def _load(self, call: ast.Call, names: dict[str, Value]) -> None:
        words = [self.value(argument, {}) for argument in call.args]
        label = words[0] if words and isinstance(words[0], Text) else None
        module = self.load(label.chars, self.path) if label is not None and self.load is not None else None
        if module is None:
            return
        pairs = [(word.chars, word.chars) for word in words[1:] if isinstance(word, Text)]
        pairs += [
            (keyword.arg, value.chars)
            for keyword in call.keywords
            if keyword.arg and isinstance(value := self.value(keyword.value, {}), Text)
        ]
        for name, original in pairs:
            if original in module.names:
                names[name] = module.names[original]

    # --- expressions --------------------------------------------------------------------------------------------------

    def place(self, node: ast.expr | ast.stmt) -> Place:
        """Return the line of a node."""
        return Place(self.path, node.lineno)

    def value(self, node: ast.expr | None, names: Mapping[str, Value]) -> Value:
        """Evaluate an expression."""
        if node is None:
            return Unknown()
        self._steps += 1
        if self._depth > _DEEPEST or self._steps > _STEPS:
            return Unknown(self.place(node))
        self._depth += 1
        try:
            return self._value(node, names)
        finally:
            self._depth -= 1

    def _value(self, node: ast.expr, names: Mapping[str, Value]) -> Value:  # noqa: C901, PLR0912 - one row a kind of expression
        match node:
            case ast.Constant(value=str()):
                return self._string(node)
            case ast.Name(id=name):
                return names.get(name) or self.names.get(name) or Unknown(self.place(node), name)
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
                return [self.value(part, names) for part in parts[:_MOST]]
            case ast.Dict(keys=keys, values=values):
                return self._table(keys, values, names, self.place(node))
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self._added(self.value(left, names), self.value(right, names), self.place(node))
            case ast.BinOp(left=left, op=ast.Mod(), right=right):
                return self._percent(self.value(left, names), self.value(right, names), self.place(node))
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return self._added(self.value(left, names), self.value(right, names), self.place(node))
            case ast.JoinedStr(values=parts):
                return joined(self._as_text(self.value(part, names), self.place(node)) for part in parts)
            case ast.FormattedValue(value=value):
                return self.value(value, names)
            case ast.IfExp(body=body, orelse=orelse):
                first, second = self.value(body, names), self.value(orelse, names)
                return second if isinstance(first, Unknown) else first
            case ast.BoolOp(values=parts):
                values_ = [self.value(part, names) for part in parts]
                return next((value for value in values_ if not isinstance(value, Unknown)), Unknown(self.place(node)))
            case ast.Subscript(value=holder, slice=key):
                return self._item(self.value(holder, names), self.value(key, names), key, self.place(node))
            case ast.Attribute(value=holder, attr=name):
                held = self.value(holder, names)
                return (
                    held.entries.get(name, Unknown(self.place(node), name))
                    if isinstance(held, Table)
                    else Unknown(self.place(node), name)
                )
            case ast.Call():
                return self._call(node, names)
            case ast.ListComp(elt=element, generators=[ast.comprehension(target=target, iter=source)]):
                return self._comprehension(element, target, self.value(source, names), names)
        return Unknown(self.place(node))

    def _string(self, node: ast.Constant) -> Text:
        place, value = self.place(node), str(node.value)
        end = node.end_lineno or node.lineno
        if end == node.lineno:
            return written(value, *place)
        source = "\n".join(self.lines[place.line - 1 : end])
        return _spread(source, node, value, place) or written(value, *place)

    def _table(
        self, keys: Sequence[ast.expr | None], values: Sequence[ast.expr], names: Mapping[str, Value], place: Place
    ) -> Table:
        table = Table({}, place)
        for key, value in list(zip(keys, values, strict=False))[:_MOST]:
            name, content = self.value(key, names), self.value(value, names)
            if isinstance(name, Text):
                table.entries[name.chars] = content.named(name.chars) if isinstance(content, Text) else content
            elif key is None and isinstance(content, Table):
                table.entries |= content.entries
        return table

    def _item(self, holder: Value, key: Value, node: ast.expr, place: Place) -> Value:
        if isinstance(holder, Table) and isinstance(key, Text):
            return holder.entries.get(key.chars, Unknown(place, key.chars))
        if isinstance(holder, list) and isinstance(node, ast.Constant) and isinstance(node.value, int):
            return holder[node.value] if -len(holder) <= node.value < len(holder) else Unknown(place)
        if isinstance(holder, Text) and isinstance(node, ast.Slice):
            start, stop = _bound(node.lower), _bound(node.upper)
            return holder[slice(start, stop)].remembering(holder)
        return Unknown(place)

    def _added(self, left: Value, right: Value, place: Place) -> Value:
        if isinstance(left, list) and isinstance(right, list):
            return [*left, *right][:_MOST]
        if isinstance(left, list) or isinstance(right, list):
            return left if isinstance(left, list) else right
        if isinstance(left, Table) and isinstance(right, Table):
            return Table({**left.entries, **right.entries}, left.place)
        if isinstance(left, Text) or isinstance(right, Text):
            return _bounded(joined((self._as_text(left, place), self._as_text(right, place))))
        return Unknown(place)

    def _as_text(self, value: Value, place: Place) -> Text:
        match value:
            case Text():
                return value
            case Unknown(place=at, name=name):
                return unknown(name, at if at.line else place)
            case Call(arguments=[Text() as only], keywords={}):
                return only
        return unknown("", place)

    def _percent(self, left: Value, right: Value, place: Place) -> Value:
        if not isinstance(left, Text):
            return Unknown(place)
        values = right if isinstance(right, list) else [right]
        parts, last, at = [], 0, 0
        for found in _PERCENT.finditer(left.chars):
            parts.append(left[last : found.start()])
            last = found.end()
            if found[0] == "%%":
                parts.append(left[found.start() : found.start() + 1])
            elif found[1]:
                named = right.entries.get(found[1], Unknown()) if isinstance(right, Table) else Unknown()
                parts.append(self._as_text(named, place))
            else:
                parts.append(self._as_text(values[at], place) if at < len(values) else unknown("", place))
                at += 1
        return _bounded(joined((*parts, left[last:])))

    def formatted(self, text: Text, values: Sequence[Value], named: Mapping[str, Value], *, keep: bool = False) -> Text:
        """Put values into the fields of a format string; a field without one is unknown, or stays as written."""
        parts, last, at = [], 0, 0
        for found in _FIELD.finditer(text.chars):
            parts.append(text[last : found.start()])
            last = found.end()
            place = text.place(found.start())
            key = found[1] or ""
            if found[0] in {"{{", "}}"}:
                parts.append(text[found.start() : found.start() + 1])
                continue
            if key.isdigit() or not key:
                index = int(key[:4]) if key else at
                at += not key
                value = values[index] if index < len(values) else Unknown(place)
            else:
                value = named.get(key, Unknown(place, key))
            is_kept = keep and isinstance(value, Unknown)
            parts.append(text[found.start() : last] if is_kept else self._as_text(value, place))
        return _bounded(joined((*parts, text[last:])))

    def _comprehension(
        self, element: ast.expr, target: ast.expr, source: Value, names: Mapping[str, Value]
    ) -> list[Value]:
        items: list[Value] = source[:200] if isinstance(source, list) else []
        results: list[Value] = []
        for item in items:
            inner = dict(names)
            self._assign(target, item, inner)
            results.append(self.value(element, inner))
        return results

    # --- calls --------------------------------------------------------------------------------------------------------

    def _call(self, node: ast.Call, names: Mapping[str, Value]) -> Value:
        arguments = [self.value(argument, names) for argument in node.args[:_MOST]]
        keywords: dict[str, Value] = {}
        places: dict[str, Place] = {}
        for keyword in node.keywords:
            value = self.value(keyword.value, names)
            if keyword.arg:
                keywords[keyword.arg], places[keyword.arg] = value, self.place(keyword.value)
            elif isinstance(value, Table):
                keywords |= value.entries
        name = (
            node.func.attr
            if isinstance(node.func, ast.Attribute)
            else node.func.id
            if isinstance(node.func, ast.Name)
            else ""
        )
        call = Call(name, arguments, keywords, self.place(node), places)
        if isinstance(node.func, ast.Attribute):
            held = self.value(node.func.value, names)
            done = self._method(held, call)
            if done is not None:
                return done
        if isinstance(node.func, ast.Name):
            if name in {"dict", "struct"}:
                return self._built(call)
            if name in self.builtins:
                return self.builtins[name](call)
            function = names.get(name) or self.names.get(name)
            if isinstance(function, Function):
                return self._apply(function, call)
        self.calls.append(call)
        return call

    def _built(self, call: Call) -> Table:
        base = next((argument.entries for argument in call.arguments if isinstance(argument, Table)), {})
        named = {key: value.named(key) if isinstance(value, Text) else value for key, value in call.keywords.items()}
        return Table({**base, **named}, call.place)

    def _method(self, held: Value, call: Call) -> Value | None:  # noqa: C901 - one row a method
        arguments = call.arguments
        match held, call.name:
            case Text(), "format":
                return self.formatted(held, arguments, call.keywords)
            case Text(), "replace" if len(arguments) == 2:  # noqa: PLR2004 - what and with what
                old, new = arguments
                return _replaced(held, old.chars, new) if isinstance(old, Text) and isinstance(new, Text) else held
            case Text(), "join" if arguments and isinstance(arguments[0], list):
                parts = [part for item in arguments[0] for part in (held, self._as_text(item, call.place))]
                return _bounded(joined(parts[1:]))
            case Text(), "strip" | "lower" | "upper" | "lstrip" | "rstrip" | "removeprefix":
                return _trimmed(held, call.name, arguments)
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
            case Table(entries=entries), name if isinstance(entries.get(name), Function):
                return self._apply(entries[name], call)  # type: ignore[arg-type] # a function by the guard
        return None

    def _apply(self, function: Function, call: Call) -> Value:
        """Call a function of this file, or of one that it loads."""
        module = function.module
        self._called.add(id(function.node))
        if self._active >= _CALLS or self._steps > _STEPS:
            return Unknown(call.place)
        names = module.bound(function.node, call)
        module._active += 1  # noqa: SLF001 - another file of the same kind
        before, before_calls = module._active, module.calls  # noqa: SLF001 - likewise
        if module is not self:
            module._active = max(before, self._active + 1)  # noqa: SLF001 - likewise
            module.calls, module._steps = self.calls, self._steps  # noqa: SLF001 - likewise
        result = module._body(function.node.body, names)  # noqa: SLF001 - likewise
        module._active = before - 1  # noqa: SLF001 - likewise
        if module is not self:
            self._steps = module._steps  # noqa: SLF001 - likewise
            module.calls = before_calls
        return result if result is not None else Unknown(call.place)

    def bound(self, node: ast.FunctionDef, call: Call) -> dict[str, Value]:
        """Return the parameters of a function with what a call, or their defaults, give them."""
        parameters = [*node.args.posonlyargs, *node.args.args]
        names: dict[str, Value] = {}
        self._active += 1
        for parameter, default in zip(
            parameters[len(parameters) - len(node.args.defaults) :], node.args.defaults, strict=False
        ):
            names[parameter.arg] = self.value(default, {})
        for parameter, given in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=False):
            if given is not None:
                names[parameter.arg] = self.value(given, {})
        self._active -= 1
        names |= {parameter.arg: value for parameter, value in zip(parameters, call.arguments, strict=False)}
        known = {parameter.arg for parameter in (*parameters, *node.args.kwonlyargs)}
        names |= {key: value for key, value in call.keywords.items() if key in known}
        rest = {key: value for key, value in call.keywords.items() if key not in known}
        if node.args.kwarg is not None:
            names[node.args.kwarg.arg] = Table(rest, call.place)
        for parameter in (*parameters, *node.args.kwonlyargs):
            names.setdefault(parameter.arg, Unknown(call.place, parameter.arg))
        return {name: value.named(name) if isinstance(value, Text) else value for name, value in names.items()}


def _defaulted(node: ast.FunctionDef) -> list[str]:
    """Return the parameters that have a default."""
    plain = [*node.args.posonlyargs, *node.args.args]
    names = [parameter.arg for parameter in plain[len(plain) - len(node.args.defaults) :]]
    keyed = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=False)
    return names + [parameter.arg for parameter, default in keyed if default is not None]


def _bound(node: ast.expr | None) -> int | None:
    match node:
        case ast.Constant(value=int() as number):
            return number
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as number)):
            return -number
    return None


def _bounded(text: Text) -> Text:
    return text if len(text.chars) <= _LONGEST and len(text.spans) <= _LONGEST else unknown("", text.place())


def _replaced(text: Text, old: str, new: Text) -> Text:
    if not old or len(text.chars) > _LONGEST:
        return text
    parts, at = [], 0
    while (found := text.chars.find(old, at)) >= 0:
        parts += [text[at:found], new]
        at = found + len(old)
    return _bounded(joined((*parts, text[at:])).remembering(text))


def _trimmed(text: Text, how: str, arguments: Sequence[Value]) -> Text:
    chars = text.chars
    given = arguments[0].chars if arguments and isinstance(arguments[0], Text) else None
    match how:
        case "removeprefix":
            start, end = len(given) if given and chars.startswith(given) else 0, len(chars)
        case "lstrip":
            start, end = len(chars) - len(chars.lstrip(given)), len(chars)
        case "rstrip":
            start, end = 0, len(chars.rstrip(given))
        case "strip":
            start, end = len(chars) - len(chars.lstrip(given)), len(chars.rstrip(given))
        case _:
            changed = chars.lower() if how == "lower" else chars.upper()
            return text.mapped(str.lower if how == "lower" else str.upper) if len(changed) == len(chars) else text
    return text[start:end].remembering(text)


def _spread(source: str, node: ast.Constant, value: str, place: Place) -> Text | None:
    """Read a string that is written over several lines, each part at its own."""
    parts: list[Text] = []
    length = 0
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for token in tokenize.generate_tokens(io.StringIO("(" + source[_column(source, node) :]).readline):
                if token.type == tokenize.STRING:
                    content = str(ast.literal_eval(token.string))
                    parts.append(written(content, place.file, place.line + token.start[0] - 1))
                    length += len(content)
                if length >= len(value):
                    break
    except (tokenize.TokenError, SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    text = joined(parts)
    return text if text.chars == value else None


def _column(source: str, node: ast.Constant) -> int:
    """Return where the string begins in its first line; `ast` counts bytes."""
    return len(source.encode()[: node.col_offset].decode(errors="replace"))
