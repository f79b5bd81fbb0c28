"""What do the files say is pinned, by dependency?"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from watcher.config import OWN, Settings
from watcher.judge.drift import families
from watcher.model import Pin, Place, Reading
from watcher.report.places import place_of

_ODD = re.compile(r"[^A-Za-z0-9._-]+")
_SLUG = 60
"""Characters of a name in an address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What is pinned, and where; nothing of it was asked of an upstream."""

    settings: Settings
    readings: tuple[Reading, ...]
    """Of the downstreams of the configuration, in its order."""
    dependencies: Mapping[str, tuple[Pin, ...]]
    """Name in addresses → pins."""
    places: Mapping[str, Place]
    """Pin id → where it stands."""
    order: tuple[str, ...]
    """Pin ids in the order of a report."""


def grounded(settings: Settings, held: Mapping[str, Reading], before: Ground | None) -> Ground:
    """Return what readings say under a configuration; the same value as before where they say nothing new."""
    readings = tuple(held[name] for name in (OWN, *(it.name for it in settings.downstreams)) if name in held)
    if before is not None and before.readings == readings and before.settings == settings:
        return before
    pins = [pin for reading in readings for pin in reading.pins]
    made = families(pins, settings.relatives)
    slugs = _slugs(made)
    return Ground(
        settings=settings,
        readings=readings,
        dependencies={slugs[it[0].id]: it for it in made},
        places={
            pin.id: place_of(settings.pages, pin, reading, is_owned=len(readings) > 1)
            for reading in readings
            for pin in reading.pins
        },
        order=tuple(pin.id for pin in pins),
    )


def _slugs(dependencies: Iterable[Sequence[Pin]]) -> dict[str, str]:
    """Return the id of each dependency's first pin → a name for addresses, which only one of them has."""
    names = {pins[0].id: _ODD.sub("-", pins[0].name).strip(".-")[:_SLUG] or "dependency" for pins in dependencies}
    count = Counter(name.casefold() for name in names.values())
    return {
        pin: name if count[name.casefold()] == 1 else f"{name}-{sha256(pin.encode()).hexdigest()[:8]}"
        for pin, name in names.items()
    }
