"""Which pins does a name on the command line mean?"""

from collections.abc import Iterable

from watcher.errors import UsageError
from watcher.model import Pin
from watcher.store import Store

_SUGGESTED = 8
"""How many names a message offers."""


def meant(store: Store, what: str, pins: Iterable[Pin]) -> tuple[Pin, ...]:
    """Return the pins of an id, a name, a place or an upstream, else those that a finding is about.

    Raises UsageError for a name that means nothing.
    """
    mine = tuple(pins)
    if named := tuple(pin for pin in mine if what in {pin.id, pin.name, pin.place, pin.upstream}):
        return named
    known = [finding for finding in store.findings() if what in {finding.handle, finding.key}]
    concerned = {finding.concern.pin for finding in known}
    upstreams = {finding.concern.upstream for finding in known if finding.concern.pin is None}
    found = tuple(pin for pin in mine if pin.id in concerned or pin.upstream in upstreams)
    if not found:
        names = ", ".join(sorted({pin.name for pin in mine})[:_SUGGESTED])
        raise UsageError(f"no pin or finding {what!r}; there are pins of {names}")
    return found
