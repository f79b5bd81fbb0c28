"""Lock files of npm, yarn, pnpm and bun: the commits that dependencies from a repository were resolved to."""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from watcher.pins.checkout import Checkout
from watcher.pins.entries import entry
from watcher.pins.format import Broken
from watcher.pins.lines import Lines
from watcher.pins.npm import specifier
from watcher.pins.sites import Sighting
from watcher.pins.text import Text

_NPM = frozenset({"package-lock.json", "npm-shrinkwrap.json", ".package-lock.json"})
_NAMES = _NPM | {"yarn.lock", "pnpm-lock.yaml", "bun.lock"}
_LIVE = re.compile(r"git|codeload|tarball|/archive/", re.IGNORECASE)
_RESOLVED = (
    re.compile(r'"(?:resolved|version)":\s*"(?P<url>[^"\s]{0,300}?(?:git|/archive/|/tarball/)[^"\s]{0,500})"'),
    re.compile(
        r'^[ \t]+(?:resolved|resolution:?)[ \t]+"?(?P<url>[^"\s]{0,300}?(?:git|/archive/)[^"\s]{0,500})"?[ \t]*$',
        re.MULTILINE,
    ),
    re.compile(r"\btarball:\s*['\"]?(?P<url>https?://[^\s,}'\"]+)"),
    re.compile(
        r'^[ \t]*"[^"\n]+":[ \t]*\["(?P<url>[^"\s]{1,300}?@(?:github:|gitlab:|bitbucket:|git)[^"\s]{1,500})"',
        re.MULTILINE,
    ),
)
_COMMIT = re.compile(r"\bcommit:\s*['\"]?(?P<ref>[0-9a-f]{7,40})\b")
_REPO = re.compile(r"\brepo:\s*['\"]?(?P<url>[^\s,}'\"]+)")
_NAMED = re.compile(r"(?:@[^/@]+/)?[^@/]+@(?=(?:git|github:|gitlab:|bitbucket:|https?:|ssh:))")
_ENTRY = re.compile(r"^[ \t]+resolution:[^\n]*(?:\n[ ]{6,}[^\n]*){0,5}", re.MULTILINE)


def claims(path: str) -> bool:
    """Answer whether a file is a lock file of npm's kind."""
    return path.rpartition("/")[2] in _NAMES


def parse(path: str, text: str, _: Checkout) -> Iterable[Sighting | Broken]:
    """Find the resolved commits; the files are long and written by programs, so that single lines tell all."""
    if not _LIVE.search(text):
        return
    if PurePosixPath(path).name in _NPM:
        yield from _check(path, text)
    lines = Lines(text, path)
    for pattern in _RESOLVED:
        for found in pattern.finditer(text):
            yield from _resolved(lines.cut(*found.span("url")))
    if path.endswith(".yaml"):
        yield from _commits(lines)


def _check(path: str, text: str) -> Iterator[Broken]:
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        yield Broken(file=path, line=error.lineno, reason=f"expected JSON: {error.msg}")
    except (RecursionError, ValueError):
        yield Broken(file=path, line=1, reason="expected less nesting and shorter numbers")


def _resolved(text: Text) -> Iterator[Sighting]:
    named = _NAMED.match(text.chars)
    sighting = specifier(text[named.end() :] if named else text)
    if sighting is not None and sighting.pin.ref is not None:
        yield sighting


def _commits(lines: Lines) -> Iterator[Sighting]:
    """Read pnpm's `resolution: {commit: …, repo: …, type: git}`, on one line or on several."""
    for found in _ENTRY.finditer(lines.text):
        commit, repo = _COMMIT.search(found[0]), _REPO.search(found[0])
        if commit is None or repo is None:
            continue
        start = found.start()
        ref = lines.cut(start + commit.start("ref"), start + commit.end("ref"))
        pinned = entry(lines.cut(start + repo.start("url"), start + repo.end("url")), ref)
        if pinned is not None:
            yield pinned
