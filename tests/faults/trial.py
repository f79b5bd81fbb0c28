"""One kind of trouble, brought about on purpose, and what it did to what was known and told."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a trial."""

    injected: int
    """How often it was brought about."""
    lost: int = 0
    """Kept commits, events and messages that should be there afterwards, and are not."""
    false_alarms: int = 0
    """Events and messages that should not be."""
    recovery: float | None = None
    """Seconds from its end to the end of the first pass that tells everything; None: nothing to recover from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One kind of trouble."""

    group: str
    """Whose: a heading of the table."""
    name: str
    """What happens, in a few words."""
    run: Callable[[Path], Outcome]
    """Bring it about in an empty folder, as often as there are ways to, and count."""
    lack: Callable[[], str] = str
    """Say why that cannot be done here; empty where it can."""
