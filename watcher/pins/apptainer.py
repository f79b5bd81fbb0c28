"""Definition files of Apptainer and Singularity: the sections that are shell scripts."""

import re
from collections.abc import Iterable

from watcher.pins.checkout import Checkout
from watcher.pins.format import Broken
from watcher.pins.live import is_live
from watcher.pins.scope import Scope
from watcher.pins.shell import Reader
from watcher.pins.sites import Sighting
from watcher.pins.text import Place, unknown, written
from watcher.pins.values import just

_NAME = re.compile(r"(?:apptainer|singularity)(?:file)?(?:[.-].*)?|.*\.(?:def|sif\.def)", re.IGNORECASE)
_SECTION = re.compile(r"^%(?:(?P<script>pre|setup|post|environment)|\w+)\b.*$", re.MULTILINE)
_HEADER = re.compile(r"^\s*bootstrap\s*:", re.IGNORECASE | re.MULTILINE)


def claims(path: str) -> bool:
    """Answer whether a file may define an image."""
    return _NAME.fullmatch(path.rpartition("/")[2]) is not None


def parse(path: str, text: str, checkout: Checkout) -> Iterable[Sighting | Broken]:
    """Find what the scripts do with upstreams; other files that end alike lack the header."""
    if not _HEADER.search(text) or not is_live(text):
        return
    reader = Reader(checkout)
    scope = Scope(cwd=just(unknown("start", Place(path, 1))))
    starts = [*_SECTION.finditer(text)]
    for at, found in enumerate(starts):
        end = starts[at + 1].start() if at + 1 < len(starts) else len(text)
        if found["script"]:
            line = text.count("\n", 0, found.end()) + 1
            reader.run(written(text[found.end() : end], path, line), scope)
    yield from reader.finish()
    if reader.is_exhausted:
        yield Broken(file=path, line=1, reason="too much to follow: what comes late in this file was not read")
