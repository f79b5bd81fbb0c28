"""What does a Python project need, and offer, by its own files? Nothing is run: what is computed is not known."""

import ast
import configparser
import re
import tomllib
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

Said = Iterator[tuple[str, str]]
"""(what it is about, what it says): `dependency torch`, `>=2.4`."""

_DEPENDENCY, _BUILD, _PYTHON, _SCRIPT = "dependency", "build requirement", "Python", "console script"
_COMMENT = re.compile(r"(?:^|\s)#.*")


def from_pyproject(text: str) -> Said:
    """Yield what a pyproject.toml says, Poetry's tables included."""
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return
    project, build = _table(document, "project"), _table(document, "build-system")
    yield from _requirements(_BUILD, build.get("requires"))
    yield from _text("build backend", build.get("build-backend"))
    yield from _text(_PYTHON, project.get("requires-python"))
    yield from _requirements(_DEPENDENCY, project.get("dependencies"))
    for extra, listed in _table(project, "optional-dependencies").items():
        yield from _requirements(_of_extra(extra), listed)
    for name, target in _table(project, "scripts").items():
        yield from _text(f"{_SCRIPT} {name}", target)
    poetry = _table(_table(document, "tool"), "poetry")
    for name, wanted in _table(poetry, "dependencies").items():
        value = wanted if isinstance(wanted, str) else str(wanted)
        yield (_PYTHON, value) if name == "python" else (f"{_DEPENDENCY} {canonicalize_name(name)}", value)


def from_setup_cfg(text: str) -> Said:
    """Yield what a setup.cfg says."""
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(text)
    except configparser.Error:
        return
    get = parser.get
    yield from _text(_PYTHON, get("options", "python_requires", fallback=None))
    yield from _requirements(_DEPENDENCY, get("options", "install_requires", fallback="").splitlines())
    yield from _requirements(_BUILD, get("options", "setup_requires", fallback="").splitlines())
    if parser.has_section("options.extras_require"):
        for extra, listed in parser.items("options.extras_require"):
            yield from _requirements(_of_extra(extra), listed.splitlines())
    yield from _scripts(get("options.entry_points", "console_scripts", fallback="").splitlines())


def from_setup_py(text: str) -> Said:
    """Yield what the call of `setup` in a setup.py says in literals, or in constants that are handed to it."""
    for name, value in setup_arguments(text).items():
        match name:
            case "python_requires":
                yield from _text(_PYTHON, value)
            case "install_requires":
                yield from _requirements(_DEPENDENCY, value)
            case "setup_requires":
                yield from _requirements(_BUILD, value)
            case "extras_require" if isinstance(value, dict):
                for extra, listed in value.items():
                    yield from _requirements(_of_extra(extra), listed)
            case "entry_points" if isinstance(value, dict):
                yield from _scripts(_strings(value.get("console_scripts")))


def from_requirements(text: str) -> Said:
    """Yield what a requirements file asks for; options and other files that it names are passed over."""
    lines = (_COMMENT.sub("", line).strip() for line in text.replace("\\\n", " ").split("\n"))
    yield from _requirements(_DEPENDENCY, [line.partition(" --")[0] for line in lines if not line.startswith("-")])


def setup_arguments(text: str) -> dict[str, object]:
    """Return the arguments of `setup(…)` whose values stand in the file."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a stray "\\d" in somebody else's file is none of our user's business
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    constants = {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and _is_setup(node.func))
    given = {it.arg: it.value for call in calls for it in call.keywords if it.arg}
    handed = {name: constants.get(value.id) if isinstance(value, ast.Name) else value for name, value in given.items()}
    return {name: value for name, node in handed.items() if (value := _literal(node)) is not None}


def _requirements(what: str, listed: object) -> Said:
    """Yield each requirement once; those for several platforms or versions of Python stand together."""
    together: dict[str, list[str]] = {}
    for line in filter(None, (line.strip() for line in _strings(listed))):
        try:
            asked = Requirement(line)
        except InvalidRequirement:
            together.setdefault(line, [])
            continue
        extras = f"[{','.join(sorted(asked.extras))}]" if asked.extras else ""
        marker = f"; {asked.marker}" if asked.marker else ""
        said = f"{extras}{f'@ {asked.url}' if asked.url else asked.specifier}{marker}"
        together.setdefault(canonicalize_name(asked.name), []).append(said)
    for name, said_of in together.items():
        yield f"{what} {name}", ", ".join(sorted(filter(None, said_of)))


def _scripts(lines: Iterable[str]) -> Said:
    for line in lines:
        name, equals, target = line.partition("=")
        if equals:
            yield f"{_SCRIPT} {name.strip()}", target.strip()


def _of_extra(extra: object) -> str:
    return f"{_DEPENDENCY} of extra {extra}:"


def _text(what: str, said: object) -> Said:
    if isinstance(said, str):
        yield what, said.strip()


def _strings(listed: object) -> list[str]:
    several = listed if isinstance(listed, list | tuple) else [listed]
    return [line for line in several if isinstance(line, str)]


def _table(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = document.get(name)
    return found if isinstance(found, dict) else {}


def _is_setup(called: ast.expr) -> bool:
    return "setup" in {getattr(called, "id", None), getattr(called, "attr", None)}


def _literal(node: ast.expr | None) -> object:
    """Return the value of a literal; of a list, those elements that are literals."""
    if isinstance(node, ast.List | ast.Tuple):
        return [value for element in node.elts if (value := _literal(element)) is not None]
    if isinstance(node, ast.Dict):
        pairs = ((_literal(key), _literal(value)) for key, value in zip(node.keys, node.values, strict=True))
        return {key: value for key, value in pairs if isinstance(key, str) and value is not None}
    return node.value if isinstance(node, ast.Constant) else None
