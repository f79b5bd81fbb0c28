"""Say where a pin stands."""

from collections.abc import Mapping

from watcher.model import Concern, Pin


def place(concern: Concern, pins: Mapping[str, Pin]) -> str:
    """Return `file:line (variant)` of the pin that a concern is about, else its own place; `pins` by id.

    Where the pins are of several downstreams, the downstream's name stands before it.
    """
    pin = pins.get(concern.pin or "")
    if pin is None:
        return concern.place or ""
    is_one_of_several = len({it.downstream for it in pins.values()}) > 1
    owner = f"{pin.downstream} " if is_one_of_several else ""
    return f"{owner}{pin.place}" if pin.variant == "any" else f"{owner}{pin.place} ({pin.variant})"
