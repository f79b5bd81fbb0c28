"""Follow a Python program without running it: which commands it starts, what it lists, what it builds with.

An abstract evaluation: strings are texts that know their lines and may have alternatives; everything that the program
does not tell is unknown. Commands go to the shell reader, so that a clone and the checkout below it mean the same in
both languages.
"""

import ast
import posixpath
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from watcher.pins.builds import BuildReader, overrides
from watcher.pins.checkout import Checkout
from watcher.pins.commands import file_value
from watcher.pins.pycommands import enter, execute, run_line
from watcher.pins.pyfinds import ARGUMENTS, Finds
from watcher.pins.pystrings import Literals
from watcher.pins.pysyntax import parsed
from watcher.pins.pytexts import (
    NO_METHOD,
    STRING_METHODS,
    added,
    dotted_name,
    filled,
    is_literal,
    is_static,
    is_variable,
    loaded,
    map_method,
    path_of,
    path_part,
    split_lines,
    string_method,
)
from watcher.pins.pyvalues import (
    MOST_ITEMS,
    Class,
    Func,
    Map,
    Names,
    Obj,
    PyValue,
    Seq,
    cases,
    flat,
    items,
    mapped,
    plain,
    together,
)
from watcher.pins.scope import Scope, join
from watcher.pins.sites import Sighting
from watcher.pins.text import Place, Text, unknown
from watcher.pins.tree import inline
from watcher.pins.values import ALWAYS, MOST, Choice, Guard, Value, concat, just, named, under

_STEPS = 30_000
"""Expressions that one file may cost; beyond them the rest of it is not read."""
_DEEPEST = 60
_CALLS = 14
"""How deep calls of the program's own functions are followed."""
_LOOPS = 48
_MODULES = 8
"""How many other files of the checkout are read for the functions that are imported from them."""
_LARGEST_MODULE = 300_000

_QUIET = re.compile(
    r"print|pprint|echo|secho|log|logger|debug|info|warn|warning|error|critical|exception|fail|exit|abort|skip|skipif|xfail|"
    r"help|hint|raises|deprecated|deprecate|format_exc|_?log_?\w*|assert\w*|\w*(?:Error|Exception|Warning|Failure|Exit)"
)
"""Functions whose arguments are read by people."""
_RUNS = re.compile(
    r"(?:.*_)?(?:run|runs|call|check_call|check_output|exec|execute|system|popen|shell|sh|cmd|command|commands|bash|spawn|sudo|"
    r"getoutput|getstatusoutput|subprocess|invoke|async_run|create_subprocess_exec|create_subprocess_shell|local)(?:_.*)?",
    re.IGNORECASE,
)
"""Functions that start a command, by their names."""
_PROGRAM = re.compile(
    r"git|pip3?|uv|bash|sh|docker|cargo|go|npm|wget|curl|svn|hub|gh|sudo|env|conda|mamba|poetry|make|python3?|repo|west"
)
_SAME = frozenset(
    {
        *("str", "Path", "PurePath", "PurePosixPath", "PosixPath", "abspath", "realpath", "normpath", "relpath"),
        *("expanduser", "expandvars", "resolve", "absolute", "as_posix", "fspath", "dedent", "quote", "unquote"),
        *("list", "tuple", "set", "sorted", "frozenset", "reversed", "deepcopy", "copy", "cast", "decode", "encode"),
    }
)
"""Functions and methods that give back what they are given, as far as it matters here."""


@dataclass(slots=True, eq=False)
class _Frame:
    """One run of a function's body, or the module's own."""

    names: Names
    scope: Scope
    file: str
    returns: list[tuple[Guard, PyValue]] = field(default_factory=list)


class _Exhausted(Exception):  # noqa: N818 - a way out, never seen outside
    """The program is too much to follow."""


class PyReader:
    """Follows one file; `strict` leaves out requirements that stand for themselves, as in tests."""

    def __init__(self, checkout: Checkout, file: str, *, is_setup: bool, is_test: bool) -> None:
        self.checkout = checkout
        self.file = file
        self.shell = BuildReader(checkout)
        self.is_exhausted = False
        self.finds = Finds(file=file, is_setup=is_setup, is_test=is_test)
        self._literals: dict[str, Literals] = {}
        self._modules: dict[str, Names | None] = {}
        self._paths: dict[tuple[str, str], str | None] = {}
        self._defaults: dict[str, PyValue] = {}
        """What command-line options are unless somebody gives them."""
        self._uncalled: dict[int, Func] = {}
        self._active: list[int] = []
        self._labels: list[str] = []
        self._steps = 0
        self._depth = 0
        self._is_quiet = False
        self._definitions_only = False

    def run(self, tree: ast.Module, text: str) -> None:
        """Follow a module, and then the functions that nothing in it calls."""
        self._literals[self.file] = Literals(text, self.file)
        place = Place(self.file, 1)
        frame = _Frame(Names(), Scope(cwd=just(unknown("start", place))), self.file)
        frame.names.own["__file__"] = just(inline(self.file, self.file, 1))
        try:
            self._block(tree.body, frame)
            while self._uncalled:
                function = self._uncalled.pop(next(iter(self._uncalled)))
                frame.scope.is_alive = True
                self._call_function(function, [], {}, frame)
        except (_Exhausted, RecursionError):
            self.is_exhausted = True

    def finish(self) -> Iterator[Sighting]:
        """Yield what was seen."""
        yield from self.shell.finish()
        yield from self.finds.sightings()
        yield from overrides([*self.shell.builds, *self.finds.builds], self.checkout)

    # --- statements --------------------------------------------------------------------------------------------------

    def _block(self, body: Iterable[ast.stmt], frame: _Frame) -> None:
        for statement in body:
            if not frame.scope.is_alive:
                return
            self._tick()
            handler = _STATEMENTS.get(type(statement))
            if handler is not None:
                handler(self, statement, frame)

    def _tick(self) -> None:
        self._steps += 1
        if self._steps > _STEPS:
            raise _Exhausted

    def _expression(self, node: ast.Expr, frame: _Frame) -> None:
        if isinstance(node.value, ast.Constant) or self._definitions_only:
            return
        self._value(node.value, frame)

    def _assign(self, node: ast.Assign, frame: _Frame) -> None:
        names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        keys = [key for target in node.targets for key in _item_key(target)]
        with _Labelled(self, [*names, *keys][:1]):
            value = self._value(node.value, frame)
        for target in node.targets:
            self._bind(target, value, frame)
        if names and ARGUMENTS.fullmatch(names[0]):
            self.finds.build(value, {}, self._names())

    def _annotated(self, node: ast.AnnAssign, frame: _Frame) -> None:
        if node.value is not None:
            assign = ast.Assign(targets=[node.target], value=node.value)
            self._assign(ast.copy_location(assign, node), frame)

    def _augmented(self, node: ast.AugAssign, frame: _Frame) -> None:
        value = self._value(node.value, frame)
        if isinstance(node.op, ast.Add):
            self._bind(node.target, added(self._quietly(node.target, frame), value), frame)

    def _bind(self, target: ast.expr, value: PyValue, frame: _Frame) -> None:
        match target:
            case ast.Name(id=name):
                frame.names.own[name] = named(value, name) if isinstance(value, tuple) else value
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                values = value.items if isinstance(value, Seq) else []
                for at, element in enumerate(elements):
                    self._bind(element, values[at] if at < len(values) else None, frame)
            case ast.Attribute(value=holder, attr=name):
                owner = self._quietly(holder, frame)
                if isinstance(owner, Obj):
                    owner.fields[name] = named(value, name) if isinstance(value, tuple) else value
            case ast.Subscript(value=holder, slice=key):
                self._bind_item(holder, self._quietly(key, frame), value, frame)
            case ast.Starred(value=inner):
                self._bind(inner, None, frame)

    def _bind_item(self, holder: ast.expr, key: PyValue, value: PyValue, frame: _Frame) -> None:
        table, name = self._quietly(holder, frame), plain(key)
        if name is None:
            return
        if isinstance(table, Map):
            table.entries[name] = value
            table.keys[name] = cases(key)[0].text
        elif dotted_name(holder) in {"os.environ", "environ"}:
            known = cases(value) or just(unknown(name, self._place(holder, frame)))
            frame.scope.assign(name, named(known, name))

    def _if(self, node: ast.If, frame: _Frame) -> None:
        test = ast.unparse(node.test)[:200]
        if "TYPE_CHECKING" in test:
            self._block(node.orelse, frame)
        elif "__name__" in test:
            if not self._definitions_only:
                self._block(node.body, frame)
        else:
            self._quietly(node.test, frame)
            self._arms([(test, node.body), ("", node.orelse)], frame, self._question(node.test, frame))

    def _question(self, test: ast.expr, frame: _Frame) -> str | None:
        """Return a name for `x == "a"` that is the same wherever the same x is asked the same."""
        match test:
            case ast.Compare(left=ast.Name() as left, ops=[ast.Eq()], comparators=[ast.Constant(value=str(wanted))]):
                value = cases(self._value(left, frame))
                if len(value) == 1 and value[0].text:
                    return f"?{value[0].text.key}@{value[0].text.place()}={wanted}"
        return None

    def _arms(self, bodies: list[tuple[str, list[ast.stmt]]], frame: _Frame, question: str | None = None) -> None:
        """Follow the arms of a branch, each on a state of its own, and put the states together."""
        point = question or self.shell.point()
        arms: list[tuple[Guard, Scope]] = []
        names: list[tuple[Guard, dict[str, PyValue]]] = []
        for at, (label, body) in enumerate(bodies):
            guard: Guard = frozenset({Choice(point, at, len(bodies), label)})
            arm = replace(frame, scope=frame.scope.copy(guard), names=Names(dict(frame.names.own), frame.names.outer))
            self._block(body, arm)
            arms.append((guard, arm.scope))
            if arm.scope.is_alive:
                names.append((guard, arm.names.own))
        join(frame.scope, arms)
        if len(names) == 1:
            frame.names.own.update(names[0][1])
            return
        for name in dict.fromkeys(name for _, own in names for name in own):
            values = [(guard, own.get(name)) for guard, own in names]
            if any(value is not values[0][1] for _, value in values):
                frame.names.own[name] = together(values)

    def _match(self, node: ast.Match, frame: _Frame) -> None:
        self._quietly(node.subject, frame)
        self._arms([(ast.unparse(case.pattern)[:80], case.body) for case in node.cases[:12]] + [("", [])], frame)

    def _for(self, node: ast.For | ast.AsyncFor, frame: _Frame) -> None:
        values = items(self._value(node.iter, frame))
        for value in values[:_LOOPS] or [None]:
            self._bind(node.target, value, frame)
            self._block(node.body, frame)
            if not frame.scope.is_alive and values:
                break
        self._block(node.orelse, frame)

    def _while(self, node: ast.While, frame: _Frame) -> None:
        self._block(node.body, frame)
        self._block(node.orelse, frame)

    def _with(self, node: ast.With | ast.AsyncWith, frame: _Frame) -> None:
        before = frame.scope.cwd
        for item in node.items:
            value = self._value(item.context_expr, frame)
            if item.optional_vars is not None:
                self._bind(item.optional_vars, value, frame)
            call = item.context_expr
            if (
                isinstance(call, ast.Call)
                and re.fullmatch(r"(?:.*[._])?(?:chdir|cd|pushd|working_dir\w*|cwd)", dotted_name(call.func))
                and call.args
            ):
                enter(self._quietly(call.args[0], frame), frame.scope, frame.file)
        self._block(node.body, frame)
        frame.scope.cwd = before

    def _try(self, node: ast.Try, frame: _Frame) -> None:
        self._block(node.body, frame)
        frame.scope.is_alive = True
        if node.handlers and not self._definitions_only:
            self._arms([("", node.orelse), *(("", handler.body) for handler in node.handlers[:6])], frame)
        self._block(node.finalbody, frame)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, frame: _Frame) -> None:
        function = Func(node, frame.names, frame.file)
        frame.names.own[node.name] = function
        if not self._definitions_only and frame.file == self.file:
            self._uncalled[id(node)] = function

    def _class(self, node: ast.ClassDef, frame: _Frame) -> None:
        inner = _Frame(Names({}, frame.names), frame.scope, frame.file)
        self._block(
            [statement for statement in node.body if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef)],
            inner,
        )
        order = [s.target.id for s in node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]
        found = Class(node.name, inner.names.own, order)
        frame.names.own[node.name] = found
        itself = Obj(node.name, dict(inner.names.own), found)
        methods = [s for s in node.body if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef)]
        for method in methods:
            function = Func(method, frame.names, frame.file, itself)
            found.fields[method.name] = function
            if not self._definitions_only and frame.file == self.file:
                self._uncalled[id(method)] = function
        for method in methods:
            if method.name == "__init__" and not self._definitions_only:
                self._call_function(found.fields["__init__"], [], {}, frame)  # type: ignore[arg-type] # it is a Func
        for name, value in inner.names.own.items():
            if isinstance(value, tuple):
                self._defaults.setdefault(name, value)

    def _return(self, node: ast.Return, frame: _Frame) -> None:
        if node.value is not None:
            frame.returns.append((frame.scope.guard, self._value(node.value, frame)))
        frame.scope.is_alive = False

    def _raise(self, node: ast.Raise, frame: _Frame) -> None:
        if node.exc is not None:
            self._quietly(node.exc, frame)
        frame.scope.is_alive = False

    def _import(self, node: ast.Import, frame: _Frame) -> None:
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            frame.names.own.setdefault(
                name, Obj("module", {"": just(inline(alias.name if alias.asname else name, frame.file, node.lineno))})
            )

    def _import_from(self, node: ast.ImportFrom, frame: _Frame) -> None:
        for alias in node.names:
            origin = "." * node.level + (node.module or "")
            fields: dict[str, PyValue] = {
                "": just(inline(origin, frame.file, node.lineno)),
                "name": just(inline(alias.name, frame.file, node.lineno)),
            }
            frame.names.own[alias.asname or alias.name] = Obj("import", fields)

    # --- expressions -------------------------------------------------------------------------------------------------

    def _quietly(self, node: ast.expr, frame: _Frame) -> PyValue:
        """Evaluate an expression of which no requirement is taken."""
        before, self._is_quiet = self._is_quiet, True
        try:
            return self._value(node, frame)
        finally:
            self._is_quiet = before

    def _value(self, node: ast.expr, frame: _Frame) -> PyValue:
        self._tick()
        if self._depth > _DEEPEST:
            return None
        self._depth += 1
        try:
            value = self._evaluated(node, frame)
        finally:
            self._depth -= 1
        if (
            isinstance(value, tuple)
            and not self._is_quiet
            and isinstance(node, ast.Constant | ast.JoinedStr | ast.BinOp | ast.Call)
        ):
            self.finds.take(value, frame.scope.guard, self._names())
        return value

    def _evaluated(self, node: ast.expr, frame: _Frame) -> PyValue:  # noqa: C901, PLR0912 - one row a node type
        match node:
            case ast.Constant(value=str()):
                return just(self._literals[frame.file].text(node))
            case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
                return just(inline(str(number)[:40], frame.file, node.lineno))
            case ast.JoinedStr():
                return self._formatted(node, frame)
            case ast.Name(id=name):
                return self._named(frame.names.get(name), frame)
            case ast.Attribute():
                return self._attribute(node, frame)
            case ast.Subscript():
                return self._subscript(node, frame)
            case ast.BinOp():
                return self._operation(node, frame)
            case ast.BoolOp(op=ast.Or(), values=values):
                return self._first_known([self._value(value, frame) for value in values])
            case ast.BoolOp(values=values):
                return [self._value(value, frame) for value in values][-1]
            case ast.IfExp():
                return self._either(node, frame)
            case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
                return Seq(list(self._elements(elements, frame)))
            case ast.Dict():
                return self._dictionary(node, frame)
            case (
                ast.ListComp(elt=element, generators=loops)
                | ast.GeneratorExp(elt=element, generators=loops)
                | ast.SetComp(elt=element, generators=loops)
            ):
                return self._comprehension(element, loops, frame)
            case ast.Call():
                return self._call(node, frame)
            case ast.Await(value=inner) | ast.Starred(value=inner):
                return self._value(inner, frame)
            case ast.NamedExpr(target=target, value=inner):
                value = self._value(inner, frame)
                self._bind(target, value, frame)
                return value
            case ast.Lambda():
                return Func(node, frame.names, frame.file)
            case ast.Compare(left=left, comparators=others):
                for other in (left, *others):
                    self._quietly(other, frame)
        return None

    def _place(self, node: ast.expr | ast.stmt, frame: _Frame) -> Place:
        return Place(frame.file, node.lineno)

    def _text_of(self, value: PyValue, node: ast.expr, frame: _Frame) -> Value:
        """Return a string; an unknown one for all else."""
        found = under(cases(value), frame.scope.guard) if isinstance(value, tuple) else ()
        return found or just(
            unknown(
                ast.unparse(node)[:60] if not isinstance(node, ast.Call | ast.Lambda) else dotted_name(node),
                self._place(node, frame),
            )
        )

    def _formatted(self, node: ast.JoinedStr, frame: _Frame) -> PyValue:
        value: Value = just(Text())
        for piece in self._literals[frame.file].pieces(node):
            if isinstance(piece, Text):
                value = concat(value, just(piece))
            else:
                value = concat(value, self._text_of(self._quietly(piece, frame), piece, frame))
        return value

    def _operation(self, node: ast.BinOp, frame: _Frame) -> PyValue:
        left = (
            self._quietly(node.left, frame)
            if isinstance(node.left, ast.Constant | ast.JoinedStr | ast.BinOp)
            else self._value(node.left, frame)
        )
        if isinstance(left, Seq):
            left = self._value(node.left, frame)
        match node.op:
            case ast.Mod() if isinstance(left, tuple):
                return self._percent(left, node.right, frame)
            case ast.Div():
                right = self._text_of(self._quietly(node.right, frame), node.right, frame)
                return path_of([self._text_of(left, node.left, frame), right])
            case ast.Add():
                is_text = isinstance(left, tuple) or is_literal(node.right)
                right_value = self._quietly(node.right, frame) if is_text else self._value(node.right, frame)
                if isinstance(left, tuple) or isinstance(right_value, tuple):
                    return concat(self._text_of(left, node.left, frame), self._text_of(right_value, node.right, frame))
                return added(left, right_value)
        return None

    def _percent(self, left: Value, right: ast.expr, frame: _Frame) -> PyValue:
        nodes = right.elts if isinstance(right, ast.Tuple) else [right]
        value = self._quietly(right, frame)
        if isinstance(value, Map):
            names = {
                name: cases(inner) or just(unknown(name, self._place(right, frame)))
                for name, inner in value.entries.items()
            }
            return filled(left, re.compile(r"%\((\w+)\)[sdr]"), lambda found, _: names.get(found[1]))
        values = [self._text_of(self._quietly(node, frame), node, frame) for node in nodes]
        return filled(left, re.compile(r"%[sdr]"), lambda _, at: values[at] if at < len(values) else None)

    def _first_known(self, values: list[PyValue]) -> PyValue:
        """Return what `a or b` is unless somebody outside sets `a`."""
        for value in values:
            if not isinstance(value, tuple) and value is not None:
                return value
            if isinstance(value, tuple) and any(case.text.is_known and case.text for case in value):
                return value
        return next((value for value in values if value is not None), None)

    def _either(self, node: ast.IfExp, frame: _Frame) -> PyValue:
        self._quietly(node.test, frame)
        if ast.unparse(node.test) == ast.unparse(node.body):  # a default for what somebody outside may give
            return self._first_known([self._value(node.body, frame), self._value(node.orelse, frame)])
        point, label = self.shell.point(), ast.unparse(node.test)[:120]
        arms = []
        for at, (name, branch) in enumerate(((label, node.body), ("", node.orelse))):
            arms.append((frozenset({Choice(point, at, 2, name)}), self._value(branch, frame)))
        return together(arms)

    def _elements(self, elements: list[ast.expr], frame: _Frame) -> Iterator[PyValue]:
        for element in elements[:MOST_ITEMS]:
            value = self._value(element, frame)
            if isinstance(element, ast.Starred):
                yield from items(value)
            else:
                yield value if value is not None else self._text_of(value, element, frame)

    def _dictionary(self, node: ast.Dict, frame: _Frame) -> Map:
        found = Map()
        for key, inner in zip(node.keys[:MOST_ITEMS], node.values[:MOST_ITEMS], strict=False):
            if key is None:
                spread = self._value(inner, frame)
                if isinstance(spread, Map):
                    found.entries.update(spread.entries)
                    found.keys.update(spread.keys)
                continue
            name_value = self._quietly(key, frame)
            name = plain(name_value)
            with _Labelled(self, [name] if name else []):
                value = self._value(inner, frame)
            if name is not None:
                found.entries[name] = named(value, name) if isinstance(value, tuple) and is_variable(name) else value
                found.keys[name] = cases(name_value)[0].text
        for name in filter(ARGUMENTS.fullmatch, found.entries):
            self.finds.build(found.entries[name], found.entries, self._names())
        self._table(found, frame)
        return found

    def _comprehension(self, element: ast.expr, loops: list[ast.comprehension], frame: _Frame) -> PyValue:
        inner = replace(frame, names=Names({}, frame.names))
        found: list[PyValue] = []
        for value in items(self._value(loops[0].iter, frame))[:_LOOPS]:
            self._bind(loops[0].target, value, inner)
            if len(loops) == 1:
                found.append(self._value(element, inner))
            else:
                found += items(self._comprehension(element, loops[1:], inner))
        return Seq(found)

    def _table(self, found: Map, frame: _Frame) -> None:
        if not self._is_quiet:
            self.finds.table(found, frame.scope.guard, self._names())

    def _names(self) -> list[str]:
        """Return the names around this place, the nearest first."""
        return self._labels[::-1]

    # --- names, attributes, items ------------------------------------------------------------------------------------

    def _named(self, value: PyValue, frame: _Frame) -> PyValue:
        """Follow an imported name to what it is in its own file."""
        if isinstance(value, Obj) and value.kind == "import":
            module, name = plain(value.fields.get("")), plain(value.fields.get("name"))
            names = self._module(module or "", frame.file)
            found = names.get(name or "") if names is not None else None
            if found is None and module is not None:
                inner = self._module(
                    f"{module.rstrip('.')}.{name}" if module.strip(".") else f"{module}{name}", frame.file
                )
                if inner is not None:
                    return Obj("module", dict(inner.own))
            return found if found is not None else value
        return value

    def _module(self, name: str, beside: str) -> Names | None:
        """Return the names of a module of the checkout; only its definitions are followed."""
        key = (name, posixpath.dirname(beside))
        if key not in self._paths:
            self._paths[key] = self._module_path(name, beside)
        path = self._paths[key]
        if path is None or path == self.file:
            return None
        if path not in self._modules:
            self._modules[path] = None
            if len(self._modules) <= _MODULES and len(self.checkout.texts[path]) <= _LARGEST_MODULE:
                self._modules[path] = self._definitions(path)
        return self._modules[path]

    def _module_path(self, name: str, beside: str) -> str | None:
        level = len(name) - len(name.lstrip("."))
        tail = name.lstrip(".").replace(".", "/")
        if not tail or (not level and name.partition(".")[0] in sys.stdlib_module_names):
            return None
        if not level:
            return self.checkout.find(f"{tail}.py", beside) or self.checkout.find(f"{tail}/__init__.py", beside)
        folder = beside
        for _ in range(level):
            folder = posixpath.dirname(folder)
        path = posixpath.join(folder, f"{tail}.py")
        return path if path in self.checkout.texts else None

    def _definitions(self, path: str) -> Names | None:
        text = self.checkout.texts[path]
        tree = parsed(text)
        if not isinstance(tree, ast.Module):
            return None
        self._literals[path] = Literals(text, path)
        before = self._definitions_only, self._is_quiet, self._labels
        self._definitions_only, self._is_quiet, self._labels = True, True, []
        frame = _Frame(
            Names({"__file__": just(inline(path, path, 1))}), Scope(cwd=just(unknown("start", Place(path, 1)))), path
        )
        try:
            self._block(tree.body, frame)
        finally:
            self._definitions_only, self._is_quiet, self._labels = before
        return frame.names

    def _attribute(self, node: ast.Attribute, frame: _Frame) -> PyValue:
        if dotted_name(node) == "sys.executable":
            return just(inline("python3", frame.file, node.lineno))
        owner = self._value(node.value, frame)
        match owner:
            case Obj(kind="module") if node.attr not in owner.fields:
                names = self._module(plain(owner.fields.get("")) or "", frame.file)
                return self._named(names.get(node.attr), frame) if names is not None else None
            case Obj() if node.attr in owner.fields:
                return owner.fields[node.attr]
            case Obj(type=Class(fields=fields)) if node.attr in fields:
                return fields[node.attr]
            case Class(fields=fields):
                return fields.get(node.attr)
            case tuple():
                return path_part(owner, node.attr)
            case None | Obj():
                return self._defaults.get(node.attr)
        return None

    def _subscript(self, node: ast.Subscript, frame: _Frame) -> PyValue:
        owner, key = self._value(node.value, frame), self._quietly(node.slice, frame)
        name = plain(key)
        if name is not None and dotted_name(node.value) in {"os.environ", "environ"}:
            return frame.scope.value(name) or just(unknown(name, self._place(node, frame)))
        match owner:
            case Map() if name is not None:
                return owner.entries.get(name)
            case Map() if cases(key):
                return None
            case Map() if len(owner.entries) <= MOST:
                return together([(ALWAYS, value) for value in owner.entries.values()]) if owner.entries else None
            case Seq() if name is not None and re.fullmatch(r"-?\d{1,4}", name):
                at = int(name)
                return owner.items[at] if -len(owner.items) <= at < len(owner.items) else None
            case Obj(kind="lines") if name is not None:
                return owner.fields.get(name)
        return None

    # --- calls -------------------------------------------------------------------------------------------------------

    def _call(self, node: ast.Call, frame: _Frame) -> PyValue:
        dotted = dotted_name(node.func)
        last = dotted.rpartition(".")[2]
        if isinstance(node.func, ast.Attribute) and isinstance(
            node.func.value, ast.Constant | ast.JoinedStr | ast.BinOp
        ):
            owner = self._quietly(node.func.value, frame)
        else:
            owner = self._value(node.func.value, frame) if isinstance(node.func, ast.Attribute) else None
        if last in {"exit", "_exit"} and dotted in {"sys.exit", "exit", "os._exit"}:
            frame.scope.is_alive = False
        if _QUIET.fullmatch(last):
            for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
                self._quietly(argument, frame)
            return None
        function = self._callee(node.func, owner, frame)
        is_command = not isinstance(function, Func) and (_RUNS.fullmatch(last) is not None or last == "Popen")
        arguments, keywords = self._arguments(
            node, frame, is_quiet=is_command or (isinstance(owner, tuple) and last in STRING_METHODS)
        )
        if isinstance(function, Func):
            return self._call_function(function, arguments, keywords, frame)
        if isinstance(function, Class):
            return self._construct(function, arguments, keywords, frame)
        known = self._known_call(node, dotted, last, owner, arguments, keywords, frame)
        if known is not _NOT_KNOWN:
            return known  # type: ignore[return-value] # the sentinel is excluded
        self._maybe_command(node, arguments, keywords, frame, is_command=is_command)
        self.finds.download(last, arguments, frame.scope.guard, self._names())
        self._table(Map(keywords), frame)
        self.finds.build(keywords.get("buildargs"), keywords, self._names())
        if last[:1].isupper():
            return Obj(last, {**keywords, **{str(at): value for at, value in enumerate(arguments)}})
        return None

    def _callee(self, node: ast.expr, owner: PyValue, frame: _Frame) -> PyValue:
        if isinstance(node, ast.Name):
            return self._named(frame.names.get(node.id), frame)
        if isinstance(node, ast.Attribute):
            match owner:
                case Obj(kind="module"):
                    found = owner.fields.get(node.attr)
                    if found is None:
                        names = self._module(plain(owner.fields.get("")) or "", frame.file)
                        found = names.get(node.attr) if names is not None else None
                    return self._named(found, frame)
                case Obj(type=Class(fields=fields)) | Class(fields=fields):
                    method = fields.get(node.attr)
                    if isinstance(method, Func) and isinstance(owner, Obj):
                        return Func(method.node, method.home, method.file, owner)
                    return method
        return None

    def _arguments(self, node: ast.Call, frame: _Frame, *, is_quiet: bool) -> tuple[list[PyValue], dict[str, PyValue]]:
        evaluate = self._quietly if is_quiet else self._value
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
            with _Labelled(self, [keyword.arg]):
                value = self._quietly(keyword.value, frame) if is_prose else evaluate(keyword.value, frame)
            keywords[keyword.arg] = named(value, keyword.arg) if isinstance(value, tuple) else value
        return arguments, keywords

    def _call_function(
        self, function: Func, arguments: list[PyValue], keywords: Mapping[str, PyValue], frame: _Frame
    ) -> PyValue:
        """Follow a function of the program; what it is not given is its default, else unknown."""
        self._uncalled.pop(id(function.node), None)
        if id(function.node) in self._active or len(self._active) >= _CALLS:
            return None
        inner = _Frame(Names({}, function.home), frame.scope.copy(), function.file)
        before = self._labels, self._is_quiet, self._definitions_only
        self._labels, self._is_quiet, self._definitions_only = [], function.file != self.file, False
        self._active.append(id(function.node))
        try:
            self._bind_parameters(function, arguments, keywords, inner)
            if isinstance(function.node, ast.Lambda):
                return self._value(function.node.body, inner)
            self._block(function.node.body, inner)
        finally:
            self._active.pop()
            self._labels, self._is_quiet, self._definitions_only = before
            frame.scope.folders = inner.scope.folders
            frame.scope.cwd = inner.scope.cwd
        return together(inner.returns)

    def _bind_parameters(
        self, function: Func, arguments: list[PyValue], keywords: Mapping[str, PyValue], frame: _Frame
    ) -> None:
        given = function.node.args
        parameters = [*given.posonlyargs, *given.args]
        names = frame.names.own
        if function.owner is not None and parameters and not is_static(function.node):
            names[parameters[0].arg] = function.owner
            parameters = parameters[1:]
        home = _Frame(function.home, frame.scope, frame.file)
        defaults = dict(zip([p.arg for p in reversed(parameters)], reversed(given.defaults), strict=False))
        defaults |= {
            p.arg: default
            for p, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)
            if default is not None
        }
        for at, parameter in enumerate([*parameters, *given.kwonlyargs]):
            name = parameter.arg
            if at < len(arguments) and at < len(parameters):
                value = arguments[at]
            elif name in keywords:
                value = keywords[name]
            elif name in defaults:
                value = self._default(defaults[name], home)
            else:
                value = None
            names[name] = named(value, name) if isinstance(value, tuple) else value
        if given.vararg is not None:
            names[given.vararg.arg] = Seq(arguments[len(parameters) :])
        if given.kwarg is not None:
            names[given.kwarg.arg] = Map(dict(keywords))

    def _default(self, node: ast.expr, frame: _Frame) -> PyValue:
        """Return a parameter's default; that of `typer.Option("main", …)` is its first argument."""
        if isinstance(node, ast.Call) and re.fullmatch(
            r"(?:\w+\.)*(?:Option|Argument|Field|Param|Query)", dotted_name(node.func)
        ):
            inner = next((k.value for k in node.keywords if k.arg == "default"), node.args[0] if node.args else None)
            return self._quietly(inner, frame) if inner is not None else None
        return self._quietly(node, frame)

    def _construct(self, found: Class, arguments: list[PyValue], keywords: Mapping[str, PyValue], frame: _Frame) -> Obj:
        fields = dict(found.fields)
        fields |= dict(zip(found.order, arguments, strict=False))
        fields |= keywords
        built = Obj(found.name, fields, found)
        self._table(Map(fields), frame)
        start = found.fields.get("__init__")
        if isinstance(start, Func):
            self._call_function(Func(start.node, start.home, start.file, built), arguments, keywords, frame)
        return built

    # --- calls that have a meaning -----------------------------------------------------------------------------------

    def _known_call(  # noqa: C901, PLR0912 - one row a function
        self,
        node: ast.Call,
        dotted: str,
        last: str,
        owner: PyValue,
        arguments: list[PyValue],
        keywords: Mapping[str, PyValue],
        frame: _Frame,
    ) -> object:
        first = arguments[0] if arguments else None
        place = self._place(node, frame)
        if dotted in {
            "os.environ.get",
            "os.getenv",
            "environ.get",
            "getenv",
            "os.environ.setdefault",
            "environ.setdefault",
        }:
            name = plain(first) or "variable"
            default = arguments[1] if len(arguments) > 1 else keywords.get("default")
            return frame.scope.value(name) or (
                named(default, name) if isinstance(default, tuple) else just(unknown(name, place))
            )
        if dotted in {"os.chdir", "chdir"}:
            enter(first, frame.scope, frame.file)
            return None
        if last == "add_argument":
            self._option(arguments, keywords)
            return None
        if last == "join" and dotted.endswith("path.join"):
            return path_of([self._text_of(value, node, frame) for value in arguments])
        if last == "dirname":
            return path_part(cases(first), "parent")
        if last == "joinpath" and isinstance(owner, tuple):
            return path_of([owner, *(self._text_of(value, node, frame) for value in arguments)])
        if dotted == "open" or (last == "open" and owner is not None):
            return Obj("file", {"path": first if dotted == "open" else owner})
        if last in {"read_text", "read_bytes", "readline", "read", "readlines"} or dotted in {
            "json.load",
            "yaml.safe_load",
            "yaml.load",
            "toml.load",
            "tomllib.load",
            "tomli.load",
        }:
            return self._contents(last, owner if not dotted.endswith((".load", "safe_load")) else first, dotted, frame)
        if dotted in {"json.loads", "tomllib.loads", "toml.loads", "tomli.loads"}:
            return loaded(cases(first), dotted)
        if isinstance(owner, tuple) and last in STRING_METHODS:
            texts = [self._text_of(value, node, frame) for value in arguments]
            by_name = {name: self._text_of(value, node, frame) for name, value in keywords.items()}
            found = string_method(owner, last, arguments, texts, by_name)
            if isinstance(found, Seq) and not self._is_quiet:
                self.finds.take(owner, frame.scope.guard, self._names())
            return found
        if isinstance(owner, Map):
            result = map_method(owner, last, arguments)
            return _NOT_KNOWN if result is NO_METHOD else result
        if isinstance(owner, Seq) and last in {"append", "extend", "insert", "add", "update"}:
            owner.items += flat(arguments[-1:]) if last in {"extend", "update"} else arguments[-1:]
            return None
        if last in {"get", "pop", "setdefault"} and owner is None and len(arguments) == 2:  # noqa: PLR2004 - key and default
            return arguments[1]
        if last in _SAME and (first is not None or owner is not None):
            return (
                first
                if first is not None
                and not (isinstance(owner, tuple) and last in {"resolve", "absolute", "decode", "encode"})
                else owner
            )
        if dotted == "dict":
            return Map(dict(keywords), {name: inline(name, frame.file, node.lineno) for name in keywords})
        if dotted == "enumerate" and first is not None:
            return Seq([Seq([None, value]) for value in items(first)])
        if dotted == "zip":
            return Seq([Seq(list(row)) for row in zip(*(items(value) for value in arguments), strict=False)])
        if dotted == "shlex.split":
            return first
        return self._git_library(node, dotted, last, arguments, keywords, frame)

    def _git_library(
        self,
        node: ast.Call,
        dotted: str,
        last: str,
        arguments: list[PyValue],
        keywords: Mapping[str, PyValue],
        frame: _Frame,
    ) -> object:
        """Follow GitPython and its like as the git commands that they stand for."""
        if last in {"clone_from", "clone_repository"} or dotted in {"porcelain.clone", "dulwich.porcelain.clone"}:
            url = arguments[0] if arguments else keywords.get("url")
            folder = (
                arguments[1]
                if len(arguments) > 1
                else keywords.get("to_path", keywords.get("path", keywords.get("target")))
            )
            branch = keywords.get("branch", keywords.get("checkout_branch", keywords.get("b")))
            words: list[PyValue] = [self._word("git", node, frame), self._word("clone", node, frame)]
            if branch is not None:
                words += [self._word("-b", node, frame), branch]
            words += [url, folder if folder is not None else just(unknown("folder", self._place(node, frame)))]
            execute(self.shell, words, None, self._place(node, frame), frame.scope)
            return Obj("repo", {"path": folder})
        if dotted in {"Repo", "git.Repo"}:
            return Obj("repo", {"path": arguments[0] if arguments else None})
        if (
            isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Attribute)
            and node.func.value.attr == "git"
        ):
            repo = self._quietly(node.func.value.value, frame)
            if isinstance(repo, Obj) and repo.kind == "repo":
                verb = last.replace("_", "-")
                words = [self._word("git", node, frame), self._word(verb, node, frame), *arguments]
                execute(self.shell, words, repo.fields.get("path"), self._place(node, frame), frame.scope)
                return None
        return _NOT_KNOWN

    def _word(self, chars: str, node: ast.expr, frame: _Frame) -> Value:
        return just(inline(chars, frame.file, node.lineno))

    def _option(self, arguments: list[PyValue], keywords: Mapping[str, PyValue]) -> None:
        """Remember the default of a command-line option under the name of its attribute."""
        names = [name for value in arguments if (name := plain(value))]
        target = plain(keywords.get("dest")) or next(
            (name for name in names if name.startswith("--")), names[0] if names else ""
        )
        if "default" in keywords:
            name = target.lstrip("-").replace("-", "_")
            default = keywords["default"]
            self._defaults[name] = named(default, name) if isinstance(default, tuple) else default

    def _contents(self, last: str, owner: PyValue, dotted: str, frame: _Frame) -> PyValue:
        path = owner.fields.get("path") if isinstance(owner, Obj) and owner.kind == "file" else owner
        found = (
            file_value(self.shell, frame.scope, cases(path), Place(frame.file, 1)) if isinstance(path, tuple) else None
        )
        if found is None:
            return None
        if dotted.endswith((".load", "safe_load")):
            return loaded(found, dotted)
        if last == "readline":
            return mapped(found, lambda text: text[: (text.chars + "\n").index("\n")])
        if last == "readlines":
            return split_lines(found)
        return found

    # --- commands ----------------------------------------------------------------------------------------------------

    def _maybe_command(
        self,
        node: ast.Call,
        arguments: list[PyValue],
        keywords: Mapping[str, PyValue],
        frame: _Frame,
        *,
        is_command: bool,
    ) -> None:
        """Follow a call that starts a command, by its name or because what it is given can be nothing else."""
        if self._definitions_only:
            return
        first = next(
            (value for value in arguments if value is not None),
            keywords.get("args", keywords.get("cmd", keywords.get("command"))),
        )
        folder = keywords.get("cwd", keywords.get("working_dir", keywords.get("workdir")))
        place = self._place(node, frame)
        if isinstance(first, Seq):
            program = posixpath.basename(plain(first.items[0]) or "") if first.items else ""
            if _PROGRAM.fullmatch(program) and (is_command or (program == "git" and len(first.items) > 1)):
                execute(self.shell, first.items, folder, place, frame.scope)
            elif is_command:
                for value in first.items:
                    run_line(self.shell, cases(value), folder, frame.scope)
            return
        if not is_command or not isinstance(first, tuple):
            return
        words = [value for value in arguments if isinstance(value, tuple)]
        program = plain(first) or ""
        if len(words) > 1 and _PROGRAM.fullmatch(posixpath.basename(program)):
            execute(self.shell, list(arguments), folder, place, frame.scope)
            return
        for value in words:
            run_line(self.shell, value, folder, frame.scope)


def _item_key(target: ast.expr) -> list[str]:
    """Return the key of `x["key"]`, if that is what is assigned."""
    match target:
        case ast.Subscript(slice=ast.Constant(value=str(key))):
            return [key]
    return []


class _Labelled:
    """Names that may tell the platform, while what they name is read."""

    def __init__(self, reader: PyReader, names: Iterable[str]) -> None:
        self._reader = reader
        self._names = list(names)

    def __enter__(self) -> None:
        self._reader._labels = [*self._reader._labels, *self._names]  # noqa: SLF001 - part of the reader

    def __exit__(self, *_: object) -> None:
        if self._names:
            self._reader._labels = self._reader._labels[: -len(self._names)]  # noqa: SLF001 - part of the reader


_NOT_KNOWN = object()
_PROSE = frozenset({"help", "description", "long_description", "epilog", "reason", "doc", "msg", "message", "text"})
"""Keywords whose values are read by people."""
_STATEMENTS: Mapping[type[ast.stmt], Callable[..., None]] = {
    ast.Expr: PyReader._expression,  # noqa: SLF001 - the reader's own table
    ast.Assign: PyReader._assign,  # noqa: SLF001 - likewise
    ast.AnnAssign: PyReader._annotated,  # noqa: SLF001 - likewise
    ast.AugAssign: PyReader._augmented,  # noqa: SLF001 - likewise
    ast.If: PyReader._if,  # noqa: SLF001 - likewise
    ast.Match: PyReader._match,  # noqa: SLF001 - likewise
    ast.For: PyReader._for,  # noqa: SLF001 - likewise
    ast.AsyncFor: PyReader._for,  # noqa: SLF001 - likewise
    ast.While: PyReader._while,  # noqa: SLF001 - likewise
    ast.With: PyReader._with,  # noqa: SLF001 - likewise
    ast.AsyncWith: PyReader._with,  # noqa: SLF001 - likewise
    ast.Try: PyReader._try,  # noqa: SLF001 - likewise
    ast.FunctionDef: PyReader._function,  # noqa: SLF001 - likewise
    ast.AsyncFunctionDef: PyReader._function,  # noqa: SLF001 - likewise
    ast.ClassDef: PyReader._class,  # noqa: SLF001 - likewise
    ast.Return: PyReader._return,  # noqa: SLF001 - likewise
    ast.Raise: PyReader._raise,  # noqa: SLF001 - likewise
    ast.Import: PyReader._import,  # noqa: SLF001 - likewise
    ast.ImportFrom: PyReader._import_from,  # noqa: SLF001 - likewise
}
