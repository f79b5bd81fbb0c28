"""What does a bump change beside code: the package version, the build contract, what it reads from outside?"""

import configparser
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from watcher.judge import needs, switches
from watcher.judge.shipped import Role, role
from watcher.model import Oid
from watcher.planned import Term

VERSION_FILES = ("pyproject.toml", "setup.cfg", "setup.py", "version.txt", "VERSION", "CMakeLists.txt")
"""Top-level files that may state the package version, in the order in which they are believed."""

_CONTRACT = {"pyproject.toml", "setup.py", "setup.cfg", "cmakelists.txt", "meson.build", ".gitmodules", "cargo.toml"}
_PROJECT = re.compile(r"^[ \t]*project\s*\([^)]{0,500}\bVERSION\s+([\w.]+)", re.IGNORECASE | re.MULTILINE)
_VERSION = re.compile(r"v?[0-9][0-9A-Za-z.+!_-]{0,60}")
"""What a version looks like; anything else that a file states is passed over, `attr:` and variables too."""

_SUBMODULES = ".gitmodules"
_NAMED = 6
"""So many build files are named that differ in nothing that can be told."""
_URL = re.compile(r"^[ \t]*(path|url)[ \t]*=[ \t]*(\S.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What differs between two commits, and what both hold of it."""

    paths: tuple[str, ...]
    """Every path that differs."""
    before: Mapping[str, str]
    """Path → its text at the older commit, of version files, of the build contract and of shipped code that differs."""
    after: Mapping[str, str]
    submodules_before: Mapping[str, Oid] = field(default_factory=dict)
    submodules_after: Mapping[str, Oid] = field(default_factory=dict)
    unread: int = 0
    """How many shipped files differ that were not read, since they are too many."""


def terms(difference: Difference) -> tuple[Term, ...]:
    """Return what a bump changes of how the project is built, and of what it needs and reads from outside."""
    files = [path for path in contract_files(difference.paths) if _is_built(path)]
    told = {path: _terms_of(path, difference) for path in files}
    return (
        *(term for terms_of in told.values() for term in terms_of),
        *_otherwise([path for path, terms_of in told.items() if not terms_of]),
        *_submodules(difference),
        *_variables(difference),
    )


def contract_files(paths: Iterable[str]) -> tuple[str, ...]:
    """Return those paths that say how the project is built or what it needs."""
    return tuple(path for path in paths if _is_contract(path.lower().rpartition("/")[2]))


def package_version(texts: Mapping[str, str]) -> str | None:
    """Return the version that a tree's own files state, or None; `texts`: path → content of `VERSION_FILES`."""
    for path in VERSION_FILES:
        found = _READERS[path](texts[path]) if path in texts else None
        if found and _VERSION.fullmatch(found):
            return found
    return None


def _is_built(path: str) -> bool:
    """Answer whether a folder is one that is built, and not one of tests, documents or tooling."""
    folder, _, name = path.rpartition("/")
    return name != _SUBMODULES and role(f"{folder}/setup.py") in {Role.BUILD, Role.VENDORED}


def _terms_of(path: str, difference: Difference) -> list[Term]:
    """Return what one file says otherwise than before; nothing where that is nothing we can read."""
    was, now = difference.before.get(path), difference.after.get(path)
    if now is None and was is not None:
        return [Term(place=path, said="is gone")]
    return [Term(place=path, said=said) for said in _changes(dict(_said(path, was)), dict(_said(path, now)))]


def _otherwise(paths: Sequence[str]) -> list[Term]:
    if not paths:
        return []
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    said = "differs in what we cannot read" if len(paths) == 1 else "differ in what we cannot read"
    return [Term(place=f"{', '.join(paths[:_NAMED])}{more}", said=said)]


def _said(path: str, text: str | None) -> Iterator[tuple[str, str]]:
    reader = _reader(path)
    return reader(text) if reader and text else iter(())


def _reader(path: str) -> Callable[[str], Iterator[tuple[str, str]]] | None:
    name = path.lower().rpartition("/")[2]
    if name.startswith("requirements"):
        return needs.from_requirements
    if name.endswith(".cmake"):
        return switches.from_cmake
    return _NEEDS.get(name)


def _changes(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    for what in dict.fromkeys((*before, *after)):
        was, now = before.get(what), after.get(what)
        match was, now:
            case None, str():
                yield f"new {what} {now}".rstrip()
            case str(), None:
                yield f"{what} {was}".rstrip() + " is gone"
            case _ if was != now:
                yield f"{what}: {was or 'any'} → {now or 'any'}"


def _submodules(difference: Difference) -> Iterator[Term]:
    before, after = difference.submodules_before, difference.submodules_after
    was, now = (_addresses(texts.get(_SUBMODULES, "")) for texts in (difference.before, difference.after))
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path), after.get(path)
        if old != new:
            yield Term(place=path, said=_moved(old, new))
        if old and new and was.get(path) != now.get(path):
            yield Term(place=path, said=f"submodule comes from {now.get(path)} in place of {was.get(path)}")


def _moved(old: Oid | None, new: Oid | None) -> str:
    if old is None:
        return f"new submodule at {str(new)[:12]}"
    return f"submodule {old[:12]} → {new[:12]}" if new else "submodule is gone"


def _addresses(text: str) -> dict[str, str]:
    """Return path → address of the submodules of a .gitmodules file."""
    found: dict[str, str] = {}
    for section in text.split("[submodule"):
        said = dict(_URL.findall(section))
        if "path" in said and "url" in said:
            found[said["path"].strip()] = said["url"].strip()
    return found


def _variables(difference: Difference) -> Iterator[Term]:
    """Say which variables of the environment are read that were not, and the other way round."""
    before, after = _read(difference.before), _read(difference.after)
    for name, place in sorted(after.items()):
        if name not in before:
            yield Term(place=place, said=f"newly reads environment variable {name}")
    for name, place in sorted(before.items()):
        if name not in after:
            yield Term(place=place, said=f"no longer reads environment variable {name}")
    if difference.unread:
        yield Term(place="environment variables", said=f"not looked for: {difference.unread} shipped files differ")


def _read(texts: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for path, text in texts.items():
        for name, line in switches.variables(path, text).items():
            found.setdefault(name, f"{path}:{line}")
    return found


def _is_contract(name: str) -> bool:
    return name in _CONTRACT or name.endswith(".cmake") or re.fullmatch(r"requirements.*\.txt", name) is not None


def _from_pyproject(text: str) -> str | None:
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    tool = document.get("tool")
    for table in (document.get("project"), tool.get("poetry") if isinstance(tool, dict) else None):
        if isinstance(table, dict) and isinstance(table.get("version"), str):
            return str(table["version"])
    return None


def _from_setup_cfg(text: str) -> str | None:
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(text)
    except configparser.Error:
        return None
    return parser.get("metadata", "version", fallback=None)


def _from_setup_py(text: str) -> str | None:
    found = needs.setup_arguments(text).get("version")
    return found if isinstance(found, str) else None


def _from_text(text: str) -> str | None:
    return text.strip().split("\n", 1)[0].strip()


def _from_cmake(text: str) -> str | None:
    found = _PROJECT.search(text)
    return found[1] if found else None


_READERS = {
    "pyproject.toml": _from_pyproject,
    "setup.cfg": _from_setup_cfg,
    "setup.py": _from_setup_py,
    "version.txt": _from_text,
    "VERSION": _from_text,
    "CMakeLists.txt": _from_cmake,
}

_NEEDS: Mapping[str, Callable[[str], Iterator[tuple[str, str]]]] = {
    "pyproject.toml": needs.from_pyproject,
    "setup.cfg": needs.from_setup_cfg,
    "setup.py": needs.from_setup_py,
    "cmakelists.txt": switches.from_cmake,
}
