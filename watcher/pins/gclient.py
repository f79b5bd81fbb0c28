"""`DEPS` files of gclient: addresses with a revision behind `@`, put together from `vars`."""

from collections.abc import Iterable, Iterator

from watcher.pins.checkout import Checkout
from watcher.pins.format import Broken
from watcher.pins.sites import Sighting
from watcher.pins.sources import repository
from watcher.pins.starlark import Module
from watcher.pins.starlarktexts import formatted
from watcher.pins.starlarkvalues import Call, Table, Unknown, Value
from watcher.pins.text import Text

_TABLES = ("deps", "deps_os", "solutions")


def claims(path: str) -> bool:
    """Answer whether a file is one of gclient's."""
    name = path.rpartition("/")[2]
    return name in {"DEPS", ".gclient", ".DEPS.git"} or name.startswith("DEPS.")


def parse(path: str, text: str, _: Checkout) -> Iterable[Sighting | Broken]:
    """Find the repositories of `deps`; packages from CIPD and buckets are no git."""
    if not any(name in text for name in _TABLES):
        return
    module = Module(path, text)
    module.builtins = {"Var": lambda call: _variable(module, call), "Str": _first}
    module.run()
    yield from module.broken[:1]
    for name in _TABLES:
        yield from _entries(module, module.names.get(name))


def _entries(module: Module, value: Value | None) -> Iterator[Sighting]:
    stack: list[Value] = [value] if value is not None else []
    for _ in range(20_000):
        if not stack:
            return
        match stack.pop():
            case Text() as url:
                yield from _sighting(module, url)
            case list() as items:
                stack += [item for item in reversed(items) if isinstance(item, Table)]
            case Table(entries={"url": Text() as url}):
                yield from _sighting(module, url)
            case Table(entries=entries) if not {"packages", "objects", "bucket"} & entries.keys():
                stack += [item for item in reversed(entries.values()) if isinstance(item, Text | Table)]


def _sighting(module: Module, url: Text) -> Iterator[Sighting]:
    known = module.names.get("vars")
    full = formatted(url, (), known.entries if isinstance(known, Table) else {})
    at = full.chars.rfind("@", full.chars.find("/", full.chars.find("://") + 3))
    head, ref = (full[:at], full[at + 1 :]) if at > 0 else (full, None)
    pick = repository(head, ref, full.place())
    if pick is not None:
        yield pick.sighting()


def _variable(module: Module, call: Call) -> Value:
    known = module.names.get("vars")
    name = _first(call)
    if isinstance(known, Table) and isinstance(name, Text):
        return known.entries.get(name.chars, Unknown(call.place, name.chars))
    return Unknown(call.place)


def _first(call: Call) -> Value:
    return call.arguments[0] if call.arguments else Unknown(call.place)
