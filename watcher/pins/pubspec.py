"""Dart's `pubspec.yaml` and `pubspec.lock`: packages with a git source."""

from collections.abc import Iterable, Iterator

from watcher.pins import yamlnodes
from watcher.pins.checkout import Checkout
from watcher.pins.entries import entry
from watcher.pins.format import Broken
from watcher.pins.sites import Sighting
from watcher.pins.tree import Leaf, Table

_SECTIONS = ("dependencies", "dev_dependencies", "dependency_overrides")


def claims(path: str) -> bool:
    """Answer whether a file is pub's."""
    return path.rpartition("/")[2] in {"pubspec.yaml", "pubspec.yml", "pubspec.lock", "pubspec_overrides.yaml"}


def parse(path: str, text: str, _: Checkout) -> Iterable[Sighting | Broken]:
    """Find the packages with a git source."""
    if "git" not in text:
        return
    reading = yamlnodes.read(text, path)
    if reading.problem is not None:
        yield Broken(file=path, line=reading.problem.line, reason=reading.problem.reason)
    if not isinstance(reading.root, Table):
        return
    for section in ("packages",) if path.endswith(".lock") else _SECTIONS:
        for _name, package in reading.root.table(section).entries:
            if isinstance(package, Table):
                yield from _locked(package) if path.endswith(".lock") else _listed(package)


def _listed(package: Table) -> Iterator[Sighting]:
    git = package.get("git")
    sighting = None
    if isinstance(git, Leaf) and git.is_string:
        sighting = entry(git.text, None)
    elif isinstance(git, Table) and (url := git.text("url")) is not None:
        sighting = entry(url, git.text("ref"))
    if sighting is not None:
        yield sighting


def _locked(package: Table) -> Iterator[Sighting]:
    description = package.table("description")
    url, ref, asked = description.text("url"), description.text("resolved-ref"), description.text("ref")
    sighting = (
        entry(url, ref, requested=asked.chars if asked else None) if url is not None and ref is not None else None
    )
    if sighting is not None:
        yield sighting
