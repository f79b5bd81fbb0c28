"""Shell scripts: the plain wrapper around the shell reader."""

import re
from collections.abc import Iterable

from watcher.pins import inlinedocker
from watcher.pins.checkout import Checkout
from watcher.pins.format import Broken
from watcher.pins.live import is_live
from watcher.pins.shell import read_script
from watcher.pins.sites import Sighting
from watcher.pins.text import written

_SUFFIXES = (".sh", ".bash", ".zsh", ".ksh", ".sh.in", ".bash.in", ".sh.j2", ".sh.template")
_SHEBANG = re.compile(r"#!.*\b(?:ba|da|z|k|a)?sh\b")

_SCRIPT = re.compile(r"[\w./-]+\.(?:sh|bash)\b")


def claims(path: str) -> bool:
    """Answer whether a file may be a shell script: by its suffix, or because it has none and may start with `#!`."""
    name = path.rpartition("/")[2]
    return name.endswith(_SUFFIXES) or ("." not in name and name not in {"LICENSE", "Makefile", "Dockerfile"})


def parse(path: str, text: str, checkout: Checkout) -> Iterable[Sighting | Broken]:
    """Find what a script does with upstreams."""
    if not path.endswith(_SUFFIXES) and not _SHEBANG.match(text):
        return
    if not _is_worth_reading(path, text, checkout):
        return
    yield from read_script(written(text, path), path, checkout)
    yield from inlinedocker.sightings(path, text, checkout)


def _is_worth_reading(path: str, text: str, checkout: Checkout) -> bool:
    """Answer whether a script may touch an upstream, or hands values to one that does."""
    if is_live(text):
        return True
    others = {checkout.find(name, path) for name in _SCRIPT.findall(text)}
    return any(name is not None and is_live(checkout.texts[name]) for name in others)
