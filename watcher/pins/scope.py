"""What a shell knows at one moment: variables, folders, functions, and which folder holds which clone.

A branch runs each arm on a copy; `join` puts the copies together again. Variables come out with alternatives, each
under the arm that set it; folders come out with the clones of all arms.
"""

import posixpath
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from watcher.pins.sites import Site
from watcher.pins.text import UNKNOWN, Place, Span, Text
from watcher.pins.values import ALWAYS, MOST, Guard, Value, is_compatible, merged, under

Array = tuple[tuple[str, Value], ...]
"""Key (index or word) and value of each element, in order."""


class Function(NamedTuple):
    """A function that the script defines."""

    body: str
    run: Callable[["Scope"], None]
    """Reads the body in a scope."""


@dataclass(slots=True, kw_only=True)
class Scope:
    """The state of one shell; changed as its commands are read."""

    cwd: Value
    variables: dict[str, Value] = field(default_factory=dict)
    arrays: dict[str, Array] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    arguments: tuple[Text, ...] | None = None
    """`$1`, `$2` …; None where they come from outside."""
    folders: dict[str, tuple[tuple[Guard, Site], ...]] = field(default_factory=dict)
    """Normalised path → the clones that may be there."""
    stack: tuple[Value, ...] = ()
    """What `popd` goes back to."""
    before: Value | None = None
    """What `cd -` goes back to."""
    guard: Guard = ALWAYS
    """The arms that lead here."""
    labels: tuple[str, ...] = ()
    """Names around this place that may tell the platform: function, stage."""
    is_alive: bool = True
    """False after `exit` or `return`: the rest of the list does not run."""
    local: frozenset[str] = frozenset()
    """Names that vanish when the function returns."""

    def copy(self, guard: Guard = ALWAYS) -> "Scope":
        """Return a scope of its own that starts the same, under further arms."""
        return Scope(
            cwd=self.cwd,
            variables=dict(self.variables),
            arrays=dict(self.arrays),
            functions=dict(self.functions),
            arguments=self.arguments,
            folders=dict(self.folders),
            stack=self.stack,
            before=self.before,
            guard=self.guard | guard if guard else self.guard,
            labels=self.labels,
            is_alive=self.is_alive,
            local=self.local,
        )

    def value(self, name: str) -> Value | None:
        """Return what a variable may be here; None where no line read so far sets it."""
        value = self.variables.get(name)
        return None if value is None else under(value, self.guard) or None

    def assign(self, name: str, value: Value) -> None:
        """Set a variable."""
        self.variables[name] = value
        self.arrays.pop(name, None)

    # --- folders -----------------------------------------------------------------------------------------------------

    def paths(self, folder: Text | None = None) -> list[tuple[Guard, str]]:
        """Return the normalised path of a folder, for each folder that the shell may be in."""
        key = folder.key if folder is not None else "."
        cwds = under(self.cwd, self.guard) or self.cwd
        return [(case.guard, resolved(case.text.key, key)) for case in cwds]

    def enter(self, folder: Text, place: Place) -> None:
        """Change the current folder."""
        self.before = self.cwd
        cwds = under(self.cwd, self.guard) or self.cwd
        self.cwd = tuple(case._replace(text=_moved(case.text, folder, place)) for case in cwds)

    def settle(self, site: Site, folder: Text | None) -> None:
        """Remember that a clone stands in a folder."""
        for guard, path in self.paths(folder):
            others = self.folders.pop(path, ())
            kept = tuple(other for other in others if _is_again(other[1], site) or not is_compatible(other[0], guard))
            self.folders[path] = (*kept, (guard, site))[-MOST:]

    def sites(self, folder: Text | None = None) -> list[tuple[Guard, Site]]:
        """Return the clones that a command in the folder works on."""
        found: dict[int, tuple[Guard, Site]] = {}
        for guard, path in self.paths(folder):
            for inner, site in self._at(path):
                both = guard | inner
                if is_compatible(guard, inner) and is_compatible(both, self.guard):
                    found.setdefault(id(site), (both, site))
        return list(found.values())

    def _at(self, path: str) -> tuple[tuple[Guard, Site], ...]:
        if path in self.folders:
            return self.folders[path]
        for parent in _parents(path):
            if parent in self.folders:
                return self.folders[parent] if _is_inside(path[len(parent) :]) else ()
        return self._alike(path)

    def _alike(self, path: str) -> tuple[tuple[Guard, Site], ...]:
        """Find a clone by its folder's name where one of the two paths starts at a place that the files do not tell."""
        name = posixpath.basename(path)
        if not name or UNKNOWN in name or name in {".", ".."}:
            return ()
        alike = [
            sites
            for other, sites in self.folders.items()
            if posixpath.basename(other) == name and not (_is_fixed(path) and _is_fixed(other))
        ]
        return alike[-1] if alike else ()


def _is_again(old: Site, new: Site) -> bool:
    """Answer whether a clone is another try at the same: what is checked out later is meant for either."""
    if old is new:
        return True
    return bool(old.origin and new.origin and old.origin.upstream == new.origin.upstream and not old.picks)


_DEEPEST = 40
_FOREIGN = re.compile(r"third[-_]?party|3rd[-_]?party|extern|vendor|submodules?|deps|modules", re.IGNORECASE)


def _is_inside(rest: str) -> bool:
    """Answer whether a folder below a clone is the clone's own and not, by its name, a submodule's."""
    return not any(_FOREIGN.match(part) for part in rest.split("/"))


def _is_fixed(path: str) -> bool:
    return path.startswith("/") and UNKNOWN not in path


def _parents(path: str) -> Iterable[str]:
    for _ in range(_DEEPEST):
        if "/" not in path.strip("/"):
            return
        path = posixpath.dirname(path)
        yield path


def resolved(base: str, folder: str) -> str:
    """Return a folder's path as seen from another one, without `.` and `..`."""
    if folder.startswith(("/", "~", UNKNOWN)):
        base = ""
    return posixpath.normpath(posixpath.join(base, folder) or ".")


def _moved(cwd: Text, folder: Text, place: Place) -> Text:
    path = resolved(cwd.key, folder.key)
    return Text(
        Span(UNKNOWN, place, part) if at % 2 else Span(part, place) for at, part in enumerate(path.split(UNKNOWN))
    )


def join(into: Scope, arms: Sequence[tuple[Guard, Scope]]) -> None:
    """Continue a scope with what the arms of a branch left; an arm that ended in `exit` leaves only its clones."""
    live = [(guard, arm) for guard, arm in arms if arm.is_alive]
    if len(live) == 1:  # from here on nothing else can have happened
        arms = [(ALWAYS if arm.is_alive else guard, arm) for guard, arm in arms]
        live = [(ALWAYS, arm) for _, arm in live]
    into.folders = _joined_folders(into.folders, arms)
    if not live:
        into.is_alive = False
        return
    likely = [(guard, arm) for guard, arm in live if not any(choice.is_unlikely for choice in guard)] or live
    first = likely[0][1]
    into.variables = _joined_variables(into.variables, likely)
    into.arrays = {name: array for _, arm in reversed(likely) for name, array in arm.arrays.items()}
    into.functions = {name: body for _, arm in arms for name, body in arm.functions.items()}
    into.cwd = first.cwd if len(likely) == 1 else merged([(guard, arm.cwd) for guard, arm in likely], "")
    into.stack, into.before, into.local, into.arguments = first.stack, first.before, first.local, first.arguments


def _joined_variables(before: dict[str, Value], arms: Sequence[tuple[Guard, Scope]]) -> dict[str, Value]:
    if len(arms) == 1:
        return arms[0][1].variables
    names = dict.fromkeys(name for _, arm in arms for name in arm.variables)
    return {
        name: before[name]
        if name in before and all(arm.variables.get(name) is before[name] for _, arm in arms)
        else merged([(guard, arm.variables.get(name)) for guard, arm in arms], name)
        for name in names
    }


def _joined_folders(
    before: dict[str, tuple[tuple[Guard, Site], ...]], arms: Sequence[tuple[Guard, Scope]]
) -> dict[str, tuple[tuple[Guard, Site], ...]]:
    paths = dict.fromkeys((*before, *(path for _, arm in arms for path in arm.folders)))
    result: dict[str, tuple[tuple[Guard, Site], ...]] = {}
    for path in paths:
        sites: dict[int, tuple[Guard, Site]] = {}
        for guard, arm in arms:
            for inner, site in arm.folders.get(path, ()):
                kept = inner if (inner, site) in before.get(path, ()) else inner | guard
                if is_compatible(inner, guard):
                    sites.setdefault(id(site), (kept, site))
        result[path] = tuple(sites.values())[-MOST:]
    return result
