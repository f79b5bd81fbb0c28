"""What does a bump change beside code: the package version, the build contract?"""

import ast
import configparser
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

VERSION_FILES = ("pyproject.toml", "setup.cfg", "setup.py", "version.txt", "VERSION", "CMakeLists.txt")
"""Top-level files that may state the package version, in the order in which they are believed."""

_CONTRACT = {"pyproject.toml", "setup.py", "setup.cfg", "cmakelists.txt", "meson.build", ".gitmodules", "cargo.toml"}
_PROJECT = re.compile(r"^\s*project\s*\([^)]*\bVERSION\s+([\w.]+)", re.IGNORECASE | re.MULTILINE)


def contract_files(paths: Iterable[str]) -> tuple[str, ...]:
    """Return those paths that say how the project is built or what it needs."""
    return tuple(path for path in paths if _is_contract(PurePosixPath(path).name.lower()))


def package_version(texts: Mapping[str, str]) -> str | None:
    """Return the version that a tree's own files state, or None; `texts`: path → content of `VERSION_FILES`."""
    for path in VERSION_FILES:
        found = _READERS[path](texts[path]) if path in texts else None
        if found:
            return found
    return None


def _is_contract(name: str) -> bool:
    return name in _CONTRACT or name.endswith(".cmake") or re.fullmatch(r"requirements.*\.txt", name) is not None


def _from_pyproject(text: str) -> str | None:
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    for table in (document.get("project"), document.get("tool", {}).get("poetry")):
        if isinstance(table, dict) and isinstance(table.get("version"), str):
            return str(table["version"])
    return None


def _from_setup_cfg(text: str) -> str | None:
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(text)
    except configparser.Error:
        return None
    version = parser.get("metadata", "version", fallback=None)
    return None if version is None or ":" in version else version


def _from_setup_py(text: str) -> str | None:
    """Read `setup(version="…")`, or a constant that is handed to it; nothing is run."""
    try:
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
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "version":
            value = node.value
            found = value.value if isinstance(value, ast.Constant) else constants.get(getattr(value, "id", ""))
            if isinstance(found, str):
                return found
    return None


def _from_text(text: str) -> str | None:
    first = text.strip().split("\n", 1)[0].strip()
    return first if re.fullmatch(r"v?\d[\w.+-]*", first) else None


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
