"""Every place in a downstream's files where an upstream git repository is pinned.

A format is a module with `claims` and `parse`, and a row in `FORMATS`. `discover` reads a `Checkout` with all of them.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from watcher.model import Pin
from watcher.pins import dockerfile, gitmodules, requirements, shellscript
from watcher.pins.checkout import Checkout, read
from watcher.pins.format import Broken, Format
from watcher.pins.identity import identify
from watcher.pins.merge import merged
from watcher.pins.sites import Sighting

FORMATS: Mapping[str, Format] = {
    "dockerfile": dockerfile,
    "requirements": requirements,
    "gitmodules": gitmodules,
    "shell": shellscript,
}
_HINT = re.compile(r"git|://|\.sh\b|\bgh |\bnpm |\byarn |\bpnpm ", re.IGNORECASE)
"""What a file lacks that neither pins anything nor hands a ref to a script: it costs one search."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """What was found in a checkout."""

    pins: tuple[Pin, ...]
    """Sorted by file and line; without ids, which `identify` gives."""
    warnings: tuple[Broken, ...]


def is_claimed(path: str) -> bool:
    """Answer whether some format reads files of this path."""
    return any(fmt.claims(path) for fmt in FORMATS.values())


def discover(
    checkout: Checkout,
    *,
    is_wanted: Callable[[str], bool] = lambda _: True,
    variant: Callable[[str], str | None] = lambda _: None,
) -> Discovery:
    """Find the pins of a checkout, in those of its files that are wanted; others may still hold what these refer to.

    `variant` returns the variant that the configuration says a file's pins are for; it wins over what names tell.
    """
    sightings: list[Sighting] = []
    warnings: list[Broken] = []
    for path, text in sorted(checkout.texts.items()):
        if not is_wanted(path) or not _HINT.search(text):
            continue
        for fmt in FORMATS.values():
            if not fmt.claims(path):
                continue
            for found in fmt.parse(path, text, checkout):
                if isinstance(found, Broken):
                    warnings.append(found)
                else:
                    sightings.append(found)
    return Discovery(pins=merged(sightings, variant), warnings=tuple(_first_of_each_file(warnings)))


def _first_of_each_file(warnings: Iterable[Broken]) -> Iterable[Broken]:
    return {warning.file: warning for warning in reversed(list(warnings))}.values()


__all__ = ["FORMATS", "Broken", "Checkout", "Discovery", "Format", "discover", "identify", "is_claimed", "read"]
