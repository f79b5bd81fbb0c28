"""Lock files of Python tools: `uv.lock`, `poetry.lock`, `pdm.lock`, `pylock.toml` and `Pipfile.lock`.

The commit that was resolved is the pin; the branch or tag that somebody asked for is told beside it. What other
packages ask for (`requires-dist`, overrides, constraints) repeats the project's own files and is none.
"""

import re
from collections.abc import Iterable, Iterator
from urllib.parse import parse_qsl

from watcher.pins import jsontext, tomltext
from watcher.pins.checkout import Checkout
from watcher.pins.entries import carried, entry
from watcher.pins.format import Broken
from watcher.pins.sites import Sighting
from watcher.pins.text import Text
from watcher.pins.tree import Reading, Table, walk

_NAME = re.compile(
    r"uv\.lock|poetry\.lock|pdm(?:\.[\w.-]+)?\.lock|pylock(?:\.[\w-]+)?\.toml|Pipfile\.lock|[\w.-]+\.py\.lock|.*\.uv\.lock"
)
_GIT = re.compile(r"git\+|\bgit\b|/archive/|codeload|tarball|zipball", re.IGNORECASE)
_PACKAGE = re.compile(r"^(?=\[\[packages?\]\])", re.MULTILINE)


def claims(path: str) -> bool:
    """Answer whether a file is a lock file of a Python tool."""
    return _NAME.fullmatch(path.rpartition("/")[2]) is not None


def parse(path: str, text: str, _: Checkout) -> Iterable[Sighting | Broken]:
    """Find the packages that come from a repository, and the source archives at a ref."""
    if not _GIT.search(text):
        return
    reading = _read(path, text)
    if reading.problem is not None:
        yield Broken(file=path, line=reading.problem.line, reason=reading.problem.reason)
    for found in walk(reading.root):
        if isinstance(found.node, Table):
            yield from _locked(found.node, found.keys)


def _read(path: str, text: str) -> Reading:
    if path.endswith("Pipfile.lock"):
        return jsontext.read(text, path)
    return tomltext.read(only_telling(text, _PACKAGE, _GIT), path)


def only_telling(text: str, start: re.Pattern[str], hint: re.Pattern[str]) -> str:
    """Return a lock file with the packages that cannot matter left blank, line by line: most of a large one."""
    blocks = start.split(text)
    return "".join(block if hint.search(block) else "\n" * block.count("\n") for block in blocks)


def _locked(table: Table, keys: tuple[str, ...]) -> Iterator[Sighting]:
    """Read one table of a lock file: the source of a package, or the package itself."""
    sighting: Sighting | None = None
    url = table.text("git")
    if url is not None:
        sighting = _with_fragment(url) if "#" in url.chars else _with_ref(table, url)
    elif (address := table.text("url", "file")) is None:
        return
    elif table.text("resolved_reference") is not None:
        asked = table.text("reference")
        sighting = entry(address, table.text("resolved_reference"), requested=asked.chars if asked else None)
    elif table.text("commit-id") is not None:
        asked = table.text("requested-revision")
        sighting = entry(address, table.text("commit-id"), requested=asked.chars if asked else None)
    elif keys[-1:] in {("source",), ("archive",)} or table.text("file") is address:
        sighting = _archive(address)
    if sighting is not None:
        yield sighting


def _with_fragment(url: Text) -> Sighting | None:
    """Read uv's `https://host/a/b.git?tag=v1#<commit>`."""
    address, _, _ = url.chars.partition("#")
    bare, _, query = address.partition("?")
    asked = dict(parse_qsl(query))
    requested = asked.get("tag") or asked.get("branch") or asked.get("rev")
    return entry(url[: len(bare)], url[len(address) + 1 :], requested=requested)


def _with_ref(table: Table, url: Text) -> Sighting | None:
    """Read pdm's and Pipenv's tables: `revision` or `ref` is the commit, the other keys are what was asked for."""
    asked = table.text("branch", "tag") or (table.text("ref") if table.text("revision") else None)
    ref = table.text("revision", "ref")
    return entry(url, ref, requested=asked.chars if asked else None) if ref else None


def _archive(url: Text) -> Sighting | None:
    sighting = carried(url)
    return sighting if sighting is not None and sighting.pin.ref is not None else None
