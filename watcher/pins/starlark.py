"""What a Python-like file says without being run: constants, tables of them, calls of its own functions, what it loads.

Starlark and the `DEPS` files of gclient are Python to the letter as far as `ast` is concerned. Values are texts that
know where they are written, lists and tables of them; everything else is unknown.
"""

import ast
from collections.abc import Callable, Mapping, Sequence

from watcher.pins.format import Broken
from watcher.pins.sources import PARAMETER
from watcher.pins.starlarkmethods import built, looked_up, method
from watcher.pins.starlarksyntax import string, trees
from watcher.pins.starlarktexts import added, as_text, percent
from watcher.pins.starlarkvalues import Call, Function, Table, Unknown, Value
from watcher.pins.text import Place, Span, Text, joined

_DEEPEST = 60
_CALLS = 6
_STEPS = 60_000
_MOST = 2_000


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
        self.steps = 0
        self._depth = 0
        self.active = 0
        self._called: set[int] = set()
        self._functions: list[Function] = []
        self._text = text

    def run(self) -> None:
        """Read the whole file, then the functions that nothing called."""
        for found in trees(self.path, self._text):
            if isinstance(found, Broken):
                self.broken.append(found)
                continue
            self.body(found.body, self.names)
        for function in list(self._functions):
            if id(function.node) not in self._called:
                place = Place(self.path, function.node.lineno)
                parameters = [*function.node.args.posonlyargs, *function.node.args.args, *function.node.args.kwonlyargs]
                missing: dict[str, Value] = {parameter.arg: Unknown(place, PARAMETER) for parameter in parameters}
                for name in _defaulted(function.node):
                    missing.pop(name, None)
                self._apply(function, Call(function.node.name, [], missing, place, {}))

    # --- statements ---------------------------------------------------------------------------------------------------

    def body(self, body: Sequence[ast.stmt], names: dict[str, Value]) -> Value | None:
        """Follow statements; return what a `return` gives."""
        result: Value | None = None
        for statement in body:
            self.steps += 1
            if self.steps > _STEPS:
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
                names[name] = added(names.get(name, Unknown()), self.value(value, names), self.place(target))
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
                self.body(body, names)
            case ast.If(body=body, orelse=orelse):
                first, second = self.body(body, names), self.body(orelse, names)
                return second if first is None else first
            case ast.For(target=target, iter=source, body=body):
                return self._for(target, self.value(source, names), body, names)
            case ast.Try(body=body) | ast.With(body=body):
                return self.body(body, names)
        return None

    def _for(self, target: ast.expr, source: Value, body: Sequence[ast.stmt], names: dict[str, Value]) -> Value | None:
        items: list[Value] = source[:200] if isinstance(source, list) else []
        if isinstance(source, Table):
            items = [Text((Span(key, source.place),)) for key in list(source.entries)[:200]]
        for item in items or [Unknown()]:
            self._assign(target, item, names)
            given = self.body(body, names)
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
        self.steps += 1
        if self._depth > _DEEPEST or self.steps > _STEPS:
            return Unknown(self.place(node))
        self._depth += 1
        try:
            return self._value(node, names)
        finally:
            self._depth -= 1

    def _value(self, node: ast.expr, names: Mapping[str, Value]) -> Value:  # noqa: C901, PLR0912 - one row a kind of expression
        match node:
            case ast.Constant(value=str()):
                return string(node, self.path, self.lines)
            case ast.Name(id=name):
                return names.get(name) or self.names.get(name) or Unknown(self.place(node), name)
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
                return [self.value(part, names) for part in parts[:_MOST]]
            case ast.Dict(keys=keys, values=values):
                return self._table(keys, values, names, self.place(node))
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return added(self.value(left, names), self.value(right, names), self.place(node))
            case ast.BinOp(left=left, op=ast.Mod(), right=right):
                return percent(self.value(left, names), self.value(right, names), self.place(node))
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return added(self.value(left, names), self.value(right, names), self.place(node))
            case ast.JoinedStr(values=parts):
                return joined(as_text(self.value(part, names), self.place(node)) for part in parts)
            case ast.FormattedValue(value=value):
                return self.value(value, names)
            case ast.IfExp(body=body, orelse=orelse):
                first, second = self.value(body, names), self.value(orelse, names)
                return second if isinstance(first, Unknown) else first
            case ast.BoolOp(values=parts):
                values_ = [self.value(part, names) for part in parts]
                return next((value for value in values_ if not isinstance(value, Unknown)), Unknown(self.place(node)))
            case ast.Subscript(value=holder, slice=key):
                return looked_up(self.value(holder, names), self.value(key, names), key, self.place(node))
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
                return built(call)
            if name in self.builtins:
                return self.builtins[name](call)
            function = names.get(name) or self.names.get(name)
            if isinstance(function, Function):
                return self._apply(function, call)
        self.calls.append(call)
        return call

    def _method(self, held: Value, call: Call) -> Value | None:
        given = method(held, call)
        function = held.entries.get(call.name) if given is None and isinstance(held, Table) else None
        return self._apply(function, call) if isinstance(function, Function) else given

    def _apply(self, function: Function, call: Call) -> Value:
        """Call a function of this file, or of one that it loads."""
        module = function.module
        self._called.add(id(function.node))
        if self.active >= _CALLS or self.steps > _STEPS:
            return Unknown(call.place)
        names = module.bound(function.node, call)
        module.active += 1
        before, before_calls = module.active, module.calls
        if module is not self:
            module.active = max(before, self.active + 1)
            module.calls, module.steps = self.calls, self.steps
        result = module.body(function.node.body, names)
        module.active = before - 1
        if module is not self:
            self.steps = module.steps
            module.calls = before_calls
        return result if result is not None else Unknown(call.place)

    def bound(self, node: ast.FunctionDef, call: Call) -> dict[str, Value]:
        """Return the parameters of a function with what a call, or their defaults, give them."""
        parameters = [*node.args.posonlyargs, *node.args.args]
        names: dict[str, Value] = {}
        self.active += 1
        for parameter, default in zip(
            parameters[len(parameters) - len(node.args.defaults) :], node.args.defaults, strict=False
        ):
            names[parameter.arg] = self.value(default, {})
        for parameter, given in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=False):
            if given is not None:
                names[parameter.arg] = self.value(given, {})
        self.active -= 1
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
