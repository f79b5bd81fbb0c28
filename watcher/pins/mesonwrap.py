"""Meson's wrap files: a git repository with a revision, or a source archive."""

import re
from collections.abc import Iterable, Iterator

from watcher.pins.checkout import Checkout
from watcher.pins.format import Broken
from watcher.pins.sites import Sighting
from watcher.pins.sources import archive, repository
from watcher.pins.text import Text, written

_SECTION = re.compile(r"\s*\[\s*([\w-]+)\s*\]\s*(?:[#;].*)?")
_ENTRY = re.compile(r"\s*([\w.-]+)\s*[=:]\s*(.*?)\s*")


def claims(path: str) -> bool:
    """Answer whether a file is a wrap of a subproject."""
    return path.endswith(".wrap")


def parse(path: str, text: str, _: Checkout) -> Iterable[Sighting | Broken]:
    """Find where a subproject comes from; patches and fallbacks of the wrap database are release assets."""
    section = ""
    entries: dict[str, Text] = {}
    is_broken = False
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.lstrip().startswith(("#", ";")):
            continue
        opening, entry = _SECTION.fullmatch(line), _ENTRY.fullmatch(line)
        if opening:
            section = opening[1]
        elif entry and section.startswith("wrap-"):
            entries.setdefault(f"{section}.{entry[1]}", written(entry[2], path, number))
        elif not entry and not is_broken:
            is_broken = True
            yield Broken(file=path, line=number, reason=f"expected `key = value`, found {line.strip()[:60]!r}")
    yield from _sightings(entries)


def _sightings(entries: dict[str, Text]) -> Iterator[Sighting]:
    url, revision = entries.get("wrap-git.url"), entries.get("wrap-git.revision")
    if url is not None:
        ref = None if revision is None or revision.chars.upper() == "HEAD" else revision
        pick = repository(url, ref, (revision or url).place())
        if pick is not None:
            yield pick.sighting()
    source = entries.get("wrap-file.source_url")
    found = archive(source, source.place()) if source is not None else None
    if found is not None:
        yield found.sighting()
