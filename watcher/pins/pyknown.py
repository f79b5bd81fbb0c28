"""Calls whose meaning is known: of Python's own library, of methods of strings, lists and dictionaries, of git."""

from collections.abc import Callable

from watcher.pins import pygit
from watcher.pins.filevalues import file_value
from watcher.pins.pycall import Call
from watcher.pins.pycommands import enter
from watcher.pins.pyframe import of_name
from watcher.pins.pytexts import (
    NO_METHOD,
    STRING_METHODS,
    loaded,
    map_method,
    path_of,
    path_part,
    split_lines,
    string_method,
)
from watcher.pins.pyvalues import Map, Obj, PyValue, Seq, cases, flat, items, mapped, plain
from watcher.pins.text import Place, unknown
from watcher.pins.tree import inline
from watcher.pins.values import just

NOT_KNOWN = object()
_VARIABLE = frozenset(
    {
        *("os.environ.get", "os.getenv", "environ.get", "getenv"),
        *("os.environ.setdefault", "environ.setdefault"),
    }
)
_READS = frozenset({"read_text", "read_bytes", "readline", "read", "readlines"})
_LOADS_FILE = frozenset({"json.load", "yaml.safe_load", "yaml.load", "toml.load", "tomllib.load", "tomli.load"})
_LOADS_TEXT = frozenset({"json.loads", "tomllib.loads", "toml.loads", "tomli.loads"})
_SAME = frozenset(
    {
        *("str", "Path", "PurePath", "PurePosixPath", "PosixPath", "abspath", "realpath", "normpath", "relpath"),
        *("expanduser", "expandvars", "resolve", "absolute", "as_posix", "fspath", "dedent", "quote", "unquote"),
        *("list", "tuple", "set", "sorted", "frozenset", "reversed", "deepcopy", "copy", "cast", "decode", "encode"),
    }
)
"""Functions and methods that give back what they are given, as far as it matters here."""
_SAME_METHODS = frozenset({"resolve", "absolute", "decode", "encode"})
"""Those of them whose arguments are not what they give back."""


def known(call: Call) -> object:
    """Return what a call gives whose meaning is known; `NOT_KNOWN` for all others."""
    answers = _OF_DICTIONARY if isinstance(call.owner, Map) else _OF_OTHERS
    return next((found for answer in answers if (found := answer(call)) is not NOT_KNOWN), NOT_KNOWN)


def _environment(call: Call) -> object:
    """Read variables and options, and change the folder."""
    if call.dotted in _VARIABLE:
        return _variable(call)
    if call.dotted in {"os.chdir", "chdir"}:
        enter(call.first, call.frame.scope, call.frame.file)
        return None
    if call.last == "add_argument":
        _declare_option(call)
        return None
    return NOT_KNOWN


def _variable(call: Call) -> PyValue:
    name = plain(call.first) or "variable"
    default = call.arguments[1] if len(call.arguments) > 1 else call.keywords.get("default")
    found = call.frame.scope.value(name)
    if not found and isinstance(default, tuple):
        return of_name(default, name)
    return found or just(unknown(name, call.place))


def _declare_option(call: Call) -> None:
    """Remember the default of a command-line option under the name of its attribute."""
    names = [name for value in call.arguments if (name := plain(value))]
    target = plain(call.keywords.get("dest")) or next(
        (name for name in names if name.startswith("--")), names[0] if names else ""
    )
    if "default" in call.keywords:
        name = target.lstrip("-").replace("-", "_")
        call.program.options[name] = of_name(call.keywords["default"], name)


def _path(call: Call) -> object:
    if call.last == "join" and call.dotted.endswith("path.join"):
        return path_of([call.text(value) for value in call.arguments])
    if call.last == "dirname":
        return path_part(cases(call.first), "parent")
    if call.last == "joinpath" and isinstance(call.owner, tuple):
        return path_of([call.owner, *(call.text(value) for value in call.arguments)])
    return NOT_KNOWN


def _file(call: Call) -> object:
    """Read a file of the checkout, as it is or by its structure."""
    if call.dotted == "open" or (call.last == "open" and call.owner is not None):
        return Obj("file", {"path": call.first if call.dotted == "open" else call.owner})
    if call.last in _READS or call.dotted in _LOADS_FILE:
        return _contents(call)
    if call.dotted in _LOADS_TEXT:
        return loaded(cases(call.first), call.dotted)
    return NOT_KNOWN


def _contents(call: Call) -> PyValue:
    is_loaded = call.dotted.endswith((".load", "safe_load"))
    source = call.first if is_loaded else call.owner
    path = source.fields.get("path") if isinstance(source, Obj) and source.kind == "file" else source
    if not isinstance(path, tuple):
        return None
    found = file_value(call.program.shell, call.frame.scope, cases(path), Place(call.frame.file, 1))
    if found is None:
        return None
    if is_loaded:
        return loaded(found, call.dotted)
    match call.last:
        case "readline":
            return mapped(found, lambda text: text[: (text.chars + "\n").index("\n")])
        case "readlines":
            return split_lines(found)
    return found


def _string(call: Call) -> object:
    if not isinstance(call.owner, tuple) or call.last not in STRING_METHODS:
        return NOT_KNOWN
    texts = [call.text(value) for value in call.arguments]
    by_name = {name: call.text(value) for name, value in call.keywords.items()}
    found = string_method(call.owner, call.last, call.arguments, texts, by_name)
    if isinstance(found, Seq):
        call.program.attention.take(call.owner, call.frame.scope.guard)
    return found


def _dictionary(call: Call) -> object:
    if not isinstance(call.owner, Map):
        return NOT_KNOWN
    found = map_method(call.owner, call.last, call.arguments)
    return NOT_KNOWN if found is NO_METHOD else found


def _list(call: Call) -> object:
    """Add to a list, or take the default of a key that is looked up in something unknown."""
    if isinstance(call.owner, Seq) and call.last in {"append", "extend", "insert", "add", "update"}:
        added = list(call.arguments[-1:])
        call.owner.items += flat(added) if call.last in {"extend", "update"} else added
        return None
    if call.last in {"get", "pop", "setdefault"} and call.owner is None and len(call.arguments) == 2:  # noqa: PLR2004 - key and default
        return call.arguments[1]
    return NOT_KNOWN


def _same(call: Call) -> object:
    if call.last not in _SAME or (call.first is None and call.owner is None):
        return NOT_KNOWN
    is_owners = call.first is None or (isinstance(call.owner, tuple) and call.last in _SAME_METHODS)
    return call.owner if is_owners else call.first


def _builtin(call: Call) -> object:
    match call.dotted:
        case "dict":
            keys = {name: inline(name, call.frame.file, call.node.lineno) for name in call.keywords}
            return Map(dict(call.keywords), keys)
        case "enumerate" if call.first is not None:
            return Seq([Seq([None, value]) for value in items(call.first)])
        case "zip":
            return Seq([Seq(list(row)) for row in zip(*(items(value) for value in call.arguments), strict=False)])
        case "shlex.split":
            return call.first
    return NOT_KNOWN


def _git(call: Call) -> object:
    if pygit.is_clone(call):
        return pygit.clone(call)
    if call.dotted in {"Repo", "git.Repo"}:
        return Obj("repo", {"path": call.first})
    repo = pygit.repository(call)
    if repo is None:
        return NOT_KNOWN
    pygit.command(call, repo)
    return None


_OF_DICTIONARY: tuple[Callable[[Call], object], ...] = (_environment, _path, _file, _dictionary)
_OF_OTHERS: tuple[Callable[[Call], object], ...] = (
    *(_environment, _path, _file, _string),
    *(_list, _same, _builtin, _git),
)
