"""Conda environments: what their `pip:` section installs from a repository."""

import posixpath
import re
from collections.abc import Iterable, Iterator

from watcher.pins import yamlnodes
from watcher.pins.checkout import Checkout
from watcher.pins.entries import requirement
from watcher.pins.format import Broken
from watcher.pins.sites import Sighting
from watcher.pins.text import Text, written
from watcher.pins.tree import Leaf, Row, Table, strings, tables

_NAME = re.compile(
    r"(?:.*[-_.])?(?:env|envs|environment|environments|conda|mamba|micromamba)(?:[-_.0-9].*)?\.ya?ml(?:\.\w+)?",
    re.IGNORECASE,
)
_FOLDER = re.compile(r"conda.*|envs?|environments?|mamba", re.IGNORECASE)
_OPTION = re.compile(r"\s*(?:-e|--editable)[\s=]+")
_ITEM = re.compile(r"\s*-\s+(?P<quote>[\"']?)(?P<value>.*?)(?P=quote)\s*(?:\s#.*)?")


def claims(path: str) -> bool:
    """Answer whether a file may be a conda environment."""
    folder, name = posixpath.split(path)
    is_yaml = name.lower().endswith((".yml", ".yaml"))
    return _NAME.fullmatch(name) is not None or (is_yaml and _FOLDER.fullmatch(posixpath.basename(folder)) is not None)


def parse(path: str, text: str, _: Checkout) -> Iterable[Sighting | Broken]:
    """Find the addresses among what pip installs; conda's own packages come from channels."""
    if "dependencies" not in text or "pip" not in text or "://" not in text:
        return
    reading = yamlnodes.read(text, path)
    if reading.problem is not None:
        yield Broken(file=path, line=reading.problem.line, reason=reading.problem.reason)
        yield from _after(path, text, reading.problem.line)
    if isinstance(reading.root, Table):
        name = reading.root.text("name")
        yield from _installed(reading.root, (name.chars,) if name else ())


def _installed(root: Table, labels: tuple[str, ...]) -> Iterator[Sighting]:
    dependencies = root.get("dependencies")
    for section in tables(dependencies):
        for line in strings(section.get("pip")):
            yield from requirement(_plain(line), labels)
    platforms = root.entries if isinstance(dependencies, Row) else []
    for key, node in platforms:  # conda-lock's and anaconda-project's `platforms:` hold sections of the same form
        if key.chars == "pip" and not isinstance(node, Leaf):
            for line in strings(node):
                yield from requirement(_plain(line), labels)


def _plain(line: Text) -> Text:
    option = _OPTION.match(line.chars)
    return line[option.end() :] if option else line


def _after(path: str, text: str, line: int) -> Iterator[Sighting]:
    """Read the items of lists behind the place where the file is broken, each for itself."""
    for number, raw in enumerate(text.split("\n"), 1):
        found = _ITEM.fullmatch(raw)
        if number >= line and found:
            yield from requirement(_plain(written(found["value"], path, number)))
