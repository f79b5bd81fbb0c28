"""What is due to be looked at now? Decided from what the store remembers, never from a clock that ran meanwhile."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256

from watcher.config import Settings
from watcher.model import Pin, Reading, RefKind
from watcher.store import Look, Store

_JITTER = 0.1
"""Share of an interval by which a look may be earlier or later, so that not all are due at once."""
_CALM = ((timedelta(days=30), 4), (timedelta(days=7), 2))
"""An upstream that did not change for so long is asked so many times less often."""
_LONGEST = timedelta(hours=1)
"""How long an upstream that fails is left alone at most, where the usual interval is not longer anyway."""
_MOST_DOUBLINGS = 16
_FURTHEST = timedelta(days=1)
"""A server that asks for a longer pause than this is asked after it nevertheless."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """What to look at in one pass."""

    downstreams: frozenset[str]
    """Names of the downstreams to read again."""
    upstreams: frozenset[str]
    is_snooze_over: bool = False
    """Somebody asked to be reminded of a finding by now."""

    @property
    def is_nothing(self) -> bool:
        """Answer whether a pass can be spared."""
        return not (self.downstreams or self.upstreams or self.is_snooze_over)


def due(settings: Settings, store: Store, now: datetime) -> Due:
    """Return what is due: what was never looked at, and what was for longer than its interval."""
    looks, failures, activity = store.looks(), store.failures(), store.activity()

    def is_due(subject: str, interval: timedelta) -> bool:
        return is_over(looks.get(subject), interval, subject, now)

    def interval(upstream: str) -> timedelta:
        changed, _ = activity.get(upstream, (now, now))
        tries = failures[upstream].tries if upstream in failures else 0
        return interval_of(settings.schedule.poll, calm=now - changed, failures=tries)

    pins = [pin for reading in store.readings().values() for pin in reading.pins]
    upstreams = {name for name in observable(pins) if is_due(f"upstream {name}", interval(name))}
    downstreams = {name for name in settings.sources if is_due(f"downstream {name}", settings.schedule.poll)}
    return Due(
        downstreams=frozenset(downstreams),
        upstreams=frozenset(upstreams),
        is_snooze_over=store.is_snooze_over(now),
    )


def interval_of(poll: timedelta, *, calm: timedelta, failures: int) -> timedelta:
    """Return how long to leave an upstream alone that did not change for `calm`, or failed so many times in a row."""
    if failures:
        doubled: timedelta = poll * 2 ** min(failures - 1, _MOST_DOUBLINGS)
        return min(doubled, max(poll, min(_LONGEST, poll * 60)))
    times = next((times for long, times in _CALM if calm >= long), 1)
    return poll * times


def is_over(look: Look | None, interval: timedelta, subject: str, now: datetime) -> bool:
    """Answer whether an interval has passed since a look.

    A look in the future was written by a clock that went wrong: then it is.
    """
    if look is None or look.at > now:
        return True
    if look.not_before and now < min(look.not_before, look.at + _FURTHEST):
        return False
    return now - look.at >= interval * _share(f"{subject} {look.at.isoformat()}")


def observable(pins: Iterable[Pin]) -> frozenset[str]:
    """Return the upstreams that pins give a reason to look at."""
    return frozenset(pin.upstream for pin in pins if pin.upstream and pin.ref_kind is not RefKind.UNRESOLVED)


def chosen(
    due_now: Due | None,
    readings: Iterable[Reading],
    before: Mapping[str, Reading],
    family: Callable[[str], Collection[str]],
) -> tuple[Pin, ...]:
    """Return the pins to judge: those of due upstreams, of upstreams whose pins changed, and of their relatives.

    What is one dependency is looked at together, so that a drift is judged of one moment. None: all are due.
    """
    pins = tuple(pin for reading in readings for pin in reading.pins)
    if due_now is None:
        return pins
    old = {pin for reading in before.values() for pin in reading.pins}
    changed = {pin.upstream for pin in {*pins} ^ old if pin.upstream}
    wanted = {other for name in due_now.upstreams | changed for other in family(name)}
    return tuple(pin for pin in pins if pin.upstream in wanted)


def _share(text: str) -> float:
    """Return 1 give or take the jitter: always the same for one text."""
    part = int.from_bytes(sha256(text.encode("utf-8", "surrogateescape")).digest()[:4], "big") / 2**32
    return 1 + _JITTER * (2 * part - 1)
