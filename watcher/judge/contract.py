"""What does a bump change beside code: the package version, the build contract?"""

import ast
import configparser
import re
import tomllib
import warnings
from collections.abc import Iterable, Mapping

VERSION_FILES = ("pyproject.toml", "setup.cfg", "setup.py", "version.txt", "VERSION", "CMakeLists.txt")
"""Top-level files that may state the package version, in the order in which they are believed."""

_CONTRACT = {"pyproject.toml", "setup.py", "setup.cfg", "cmakelists.txt", "meson.build", ".gitmodules", "cargo.toml"}
_PROJECT = re.compile(r"^[ \t]*project\s*\([^)]{0,500}\bVERSION\s+([\w.]+)", re.IGNORECASE | re.MULTILINE)
_VERSION = re.compile(r"v?[0-9][0-9A-Za-z.+!_-]{0,60}")
"""What a version looks like; anything else that a file states is passed over, `attr:` and variables too."""


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
    """Read `setup(version="…")`, or a constant that is handed to it; nothing is run."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a stray "\\d" in somebody else's file is none of our user's business
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    constants = {
        target.id: node.value.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and _is_setup(node.func))
    for value in (given.value for call in calls for given in call.keywords if given.arg == "version"):
        found = value.value if isinstance(value, ast.Constant) else constants.get(getattr(value, "id", ""))
        if isinstance(found, str):
            return found
    return None


def _is_setup(called: ast.expr) -> bool:
    """Answer whether `setup` or `setuptools.setup` is called; an extension has a version of its own."""
    return "setup" in {getattr(called, "id", None), getattr(called, "attr", None)}


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
