"""Say where a pin stands."""

from collections.abc import Mapping

from watcher.model import Concern, Pin, Place, Reading
from watcher.web import PagesOf


def is_of_several(pins: Mapping[str, Pin]) -> bool:
    """Answer whether pins are of several downstreams, so that each needs the name of its own."""
    return len({pin.downstream for pin in pins.values()}) > 1


def place(concern: Concern, pins: Mapping[str, Pin], *, is_owned: bool) -> str:
    """Return `file:line (variant)` of the pin that a concern is about, else its own place; `pins` by id.

    The downstream's name stands before it where it is `is_owned`.
    """
    pin = pins.get(concern.pin or "")
    if pin is None:
        return concern.place or ""
    owner = f"{pin.downstream} " if is_owned else ""
    return f"{owner}{pin.place}" if pin.variant == "any" else f"{owner}{pin.place} ({pin.variant})"


def place_of(shown: PagesOf, pin: Pin, reading: Reading, *, is_owned: bool) -> Place:
    """Return where a pin of a downstream's reading stands, and the page that shows that line."""
    owner = f"{pin.downstream} " if is_owned else ""
    at = reading.commit
    url = shown(reading.address).file(at, reading.prefix + pin.file, pin.line) if at else None
    return Place(text=f"{owner}{pin.place}", variant=pin.variant, url=url)
