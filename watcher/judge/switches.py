"""Which switches does code have: options and packages of CMake, variables of the environment?

Names in the text alone tell; nothing is parsed to the end, and no expression can be kept busy by what it reads.
"""

import re
from collections.abc import Iterator

_COMMENT = re.compile(r"#[^\n]*")
_COMMAND = re.compile(
    r"\b(option|set|find_package|cmake_minimum_required|cmake_dependent_option|set_property)[ \t]{0,20}"
    r"\(([^()]{1,2000})\)",
    re.IGNORECASE,
)
_ARGUMENT = re.compile(r'"[^"]{0,1000}"|[^\s"]+')
_NAME = r"[A-Za-z_][A-Za-z0-9_]{1,99}"
_READ = re.compile(
    rf"""environ(?:\.get|\.setdefault|\.pop)?[ ]?[(\[]\s{{0,40}}["']({_NAME})["']"""
    rf"""|(?<!\w)(?:[A-Za-z_]{{0,40}}(?:env|ENV|Env)[A-Za-z_]{{0,40}}(?:::var|::var_os|\.fetch)?)!?[ ]?[(\[]"""
    rf"""\s{{0,40}}b?["']({_NAME})["']"""
    rf"""|process\.env\.({_NAME})"""
    rf"""|\$ENV\{{({_NAME})\}}"""
    rf"""|\$\{{([A-Z_][A-Z0-9_]{{1,99}}):?[-=?]"""
)
"""os.environ["X"], getenv("X") and helpers that are named so, env::var("X"), process.env.X, $ENV{X}, ${X:-default}."""
_ENVIRONMENT = re.compile(r"[A-Z][A-Z0-9_]*")
"""How variables of the environment are spelled; `getenv("name")` of somebody's own is something else."""
_LONG = 2000
"""Characters of a line that no person wrote."""
_SHELL = (".sh", ".bash")


def from_cmake(text: str) -> Iterator[tuple[str, str]]:
    """Yield (what it is, its default) for the options, cache variables and packages of a CMake file."""
    for command, inside in _COMMAND.findall(_COMMENT.sub("", text)):
        arguments = [found.strip('"') for found in _ARGUMENT.findall(inside)]
        match command.lower(), arguments:
            case "option", [name, _, default, *_]:
                yield f"CMake option {name}", default
            case "option", [name, *_]:
                yield f"CMake option {name}", "OFF"
            case "cmake_dependent_option", [name, _, default, *_]:
                yield f"CMake option {name}", default
            case "set", [name, *values] if "CACHE" in values:
                yield f"CMake variable {name}", " ".join(values[: values.index("CACHE")])
            case "find_package", [name, *more]:
                version = more[0] if more and more[0][:1].isdigit() else ""
                yield f"CMake package {name}", version
            case "cmake_minimum_required", ["VERSION", version, *_]:
                yield "CMake", f">={version}"


def variables(path: str, text: str) -> dict[str, int]:
    """Return the variables of the environment that a file reads, each with the first line that does."""
    is_shell = path.endswith(_SHELL)
    found: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > _LONG or not (is_shell or "nv" in line or "NV" in line):
            continue
        for *named, defaulted in _READ.findall(line):
            name = next(filter(None, named), defaulted if is_shell else "")
            if _ENVIRONMENT.fullmatch(name):
                found.setdefault(name, number)
    return found
