"""`setup.py` and other Python programs: requirements, cloned repositories, build arguments. Nothing is run."""

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from watcher.pins import pyproject
from watcher.pins.checkout import Checkout
from watcher.pins.format import Broken
from watcher.pins.pyreader import PyReader
from watcher.pins.pysyntax import parsed
from watcher.pins.sites import Sighting

_HINTS = (
    "# /// script",
    *(
        "git+",
        "git clone",
        '"git"',
        "'git'",
        "clone_from",
        "/archive/",
        "build_arg",
        "build-arg",
        "buildarg",
        "BUILD_ARG",
    ),
    *("tarball/", "zipball/", "codeload", '.git"', ".git'", ".git@"),
)
"""What a program without any pin lacks: most of a large checkout costs a few searches."""
_ADDRESS = re.compile(
    r"git\+(?:https?|ssh|git)|git@|(?:github|gitlab|gitee|bitbucket|codeberg|googlesource|gitcode|sourceware|gitea|git)[\w-]*(?:\.[\w-]+)+(?::\d+)?[/:][\w~.{-]|"
    r"://[^\s\"']*\.git\b|build_?args?\b|--build-arg",
    re.IGNORECASE,
)
_TEST = re.compile(
    r"(?:^|/)(?:tests?|testing|unittests?)/|(?:^|/)(?:test_[^/]*|[^/]*_tests?|conftest)\.py$", re.IGNORECASE
)
_SETUP = re.compile(
    r"(?:setup|setup[-_]\w+|build|_?build_?backend|noxfile|conanfile|tasks|dodo|fabfile|hatch_build|versioneer)\.py"
)
_SCRIPT = re.compile(r"^# /// script\s*$(?P<body>(?:\n#(?: [^\n]*)?)*?)\n# ///\s*$", re.MULTILINE)
_LONGEST = 1_500_000


def claims(path: str) -> bool:
    """Answer whether a file is a Python program."""
    return path.endswith(".py")


def parse(path: str, text: str, checkout: Checkout) -> Iterable[Sighting | Broken]:
    """Find what a program installs, clones and builds with."""
    if len(text) > _LONGEST or not any(hint in text for hint in _HINTS) or not _ADDRESS.search(text):
        return
    yield from _inline_metadata(path, text, checkout)
    tree = parsed(text)
    if not isinstance(tree, ast.Module):
        line = (tree.lineno or 1) if tree is not None else 1
        expected = f"Python, found {tree.msg}" if tree is not None else "less nesting, or a smaller file"
        yield Broken(file=path, line=line, reason=f"expected {expected}")
        yield from _up_to(path, text, line, checkout)
        return
    yield from _followed(path, text, tree, checkout)


def _followed(path: str, text: str, tree: ast.Module, checkout: Checkout) -> Iterator[Sighting | Broken]:
    reader = PyReader(
        checkout,
        path,
        is_setup=_SETUP.fullmatch(PurePosixPath(path).name) is not None,
        is_test=_TEST.search(path) is not None,
    )
    reader.run(tree, text)
    yield from reader.finish()
    if reader.is_exhausted or reader.shell.is_exhausted:
        yield Broken(file=path, line=1, reason="too much to follow: what comes late in this file was not read")


def _up_to(path: str, text: str, line: int, checkout: Checkout) -> Iterator[Sighting | Broken]:
    """Follow the statements before the place where a program is broken."""
    lines = text.split("\n")[: max(line - 1, 0)]
    starts = [at for at, one in enumerate(lines) if one and not one[0].isspace() and one[0] not in "#)]}\"'"]
    for end in [len(lines), *reversed(starts[-5:])]:
        part = "\n".join(lines[:end])
        tree = parsed(part)
        if isinstance(tree, ast.Module):
            yield from _followed(path, part, tree, checkout)
            return


def _inline_metadata(path: str, text: str, checkout: Checkout) -> Iterator[Sighting | Broken]:
    """Read the dependencies that a script lists in a comment of TOML, on the lines where they stand."""
    found = _SCRIPT.search(text)
    if found is None:
        return
    before = text.count("\n", 0, found.start("body"))
    body = "\n".join(line[2:] for line in found["body"].split("\n"))
    yield from pyproject.parse(path, "\n" * before + body, checkout)
