"""`Cargo.toml`, `.cargo/config.toml` and `Cargo.lock`: dependencies, patches and sources with a `git` key."""

import posixpath
import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from urllib.parse import parse_qsl

from watcher.model import RefKind
from watcher.pins import tomltext
from watcher.pins.checkout import Checkout
from watcher.pins.entries import entry, keyed
from watcher.pins.format import Broken
from watcher.pins.pythonlocks import only_telling
from watcher.pins.sites import Sighting
from watcher.pins.text import Text
from watcher.pins.tree import Table, walk

_REFS = {"rev": None, "tag": RefKind.TAG, "branch": RefKind.BRANCH}
_LOCKS = frozenset({"Cargo.lock", "Cargo.Bazel.lock", "Cargo.raze.lock"})
_PACKAGE = re.compile(r"^(?=\[\[package\]\])", re.MULTILINE)
_SOURCE = re.compile(r"git\+\S+")
_GIT = re.compile(r"\bgit\b")
_TARGET = "target"


def claims(path: str) -> bool:
    """Answer whether a file is one of Cargo's."""
    name = path.rpartition("/")[2]
    is_config = name in {"config.toml", "config"} and posixpath.basename(posixpath.dirname(path)) == ".cargo"
    return is_config or name in _LOCKS or re.fullmatch(r"Cargo(?:[._-][\w.-]+)?\.toml", name) is not None


def parse(path: str, text: str, _: Checkout) -> Iterable[Sighting | Broken]:
    """Find the git dependencies of a manifest, or the commits of a lock file."""
    if not _GIT.search(text):
        return
    is_lock = PurePosixPath(path).name in _LOCKS
    reading = tomltext.read(only_telling(text, _PACKAGE, re.compile(r"git\+")) if is_lock else text, path)
    if reading.problem is not None:
        yield Broken(file=path, line=reading.problem.line, reason=reading.problem.reason)
    for found in walk(reading.root):
        if not isinstance(found.node, Table):
            continue
        if is_lock:
            yield from _locked(found.node)
        elif found.keys[:2] != ("package", "metadata") and (
            sighting := keyed(found.node, ("git",), _REFS, labels=_labels(found.keys))
        ):
            yield sighting


def _labels(keys: tuple[str, ...]) -> tuple[str, ...]:
    """Return the condition that a dependency is for; names of crates tell nothing."""
    return keys[1:2] if keys[:1] == (_TARGET,) else ()


def _locked(table: Table) -> Iterator[Sighting]:
    source = table.text("source")
    sighting = locked(source) if source is not None and _SOURCE.match(source.chars) else None
    if sighting is not None:
        yield sighting


def locked(source: Text) -> Sighting | None:
    """Return the pin of `git+https://host/a/b?branch=main#<commit>`."""
    address, mark, _ = source.chars.partition("#")
    bare, _, query = address.partition("?")
    if not mark:
        return None
    asked = dict(parse_qsl(query))
    requested = asked.get("tag") or asked.get("branch") or asked.get("rev")
    return entry(source[: len(bare)], source[len(address) + 1 :], requested=requested)
