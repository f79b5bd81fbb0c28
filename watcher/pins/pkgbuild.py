"""PKGBUILD: the entries of `source` that come from git or are archives at a ref, and what its functions do with git."""

import re
from collections.abc import Iterable, Iterator

from watcher.model import RefKind
from watcher.pins.checkout import Checkout
from watcher.pins.format import Broken
from watcher.pins.scope import Scope
from watcher.pins.shell import Reader
from watcher.pins.sites import Pick, Sighting
from watcher.pins.sources import archive, repository
from watcher.pins.text import Place, Text, unknown, written
from watcher.pins.values import Guard, just

_FRAGMENT = re.compile(r"(commit|tag|branch|revision)=(.*)", re.DOTALL)
_HINTS = {"tag": RefKind.TAG, "branch": RefKind.BRANCH}


def claims(path: str) -> bool:
    """Answer whether a file is a build script of pacman."""
    return path.rpartition("/")[2] in {"PKGBUILD", "APKBUILD"}


def parse(path: str, text: str, checkout: Checkout) -> Iterable[Sighting | Broken]:
    """Find the sources of a package."""
    reader = Reader(checkout)
    scope = Scope(cwd=just(unknown("start", Place(path, 1))))
    reader.run(written(text, path), scope)
    for name, array in scope.arrays.items():
        if name == "source" or name.startswith("source_"):
            for _key, value in array:
                for case in value:
                    yield from _entry(case.text, case.guard, name)
    for case in scope.variables.get("source", ()):
        for found in re.finditer(r"\S+", case.text.chars):
            yield from _entry(case.text[found.start() : found.end()], case.guard, "source")
    yield from reader.finish()


def _entry(entry: Text, guard: Guard, name: str) -> Iterator[Sighting]:
    """Read `name::git+https://host/x#commit=…` or the address of an archive."""
    at = entry.chars.find("::")
    url = entry[at + 2 :] if at >= 0 else entry
    pick = _git(url, guard, (name,)) or archive(url, url.place(), guard=guard, labels=(name,))
    if pick is not None:
        yield pick.sighting()


def _git(url: Text, guard: Guard, labels: tuple[str, ...]) -> Pick | None:
    chars = url.chars
    if not chars.startswith(("git+", "git://", "git@")):
        return None
    start = len("git+") if chars.startswith("git+") else 0
    end = min((at for at in (chars.find("#"), chars.find("?")) if at >= 0), default=len(chars))
    fragment = _FRAGMENT.fullmatch(chars[chars.find("#") + 1 :].partition("?")[0]) if "#" in chars else None
    first = chars.find("#") + 1
    ref = url[first + fragment.start(2) : first + fragment.end(2)] if fragment else None
    hint = _HINTS.get(fragment[1]) if fragment else None
    return repository(url[start:end], ref, url.place(), hint=hint, guard=guard, labels=labels)
