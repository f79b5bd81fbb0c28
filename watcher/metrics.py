"""What does Prometheus get to see: counts since the service started, and what the store holds at each scrape?

Names: https://prometheus.io/docs/practices/naming/
"""

import time
from collections import Counter as Tally
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from importlib.metadata import version
from itertools import product
from pathlib import Path
from threading import Lock

from prometheus_client import CollectorRegistry, Counter, Histogram, Info, Metric, ProcessCollector
from prometheus_client.metrics_core import GaugeMetricFamily

from watcher.due import observable
from watcher.errors import StoreError
from watcher.model import Finding, State
from watcher.store import Owed, Store

_SECONDS = (0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600)
"""What tells passes apart: nothing new, a few fetches, a first look."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat:
    """How the service does at one moment; ages are seconds of a clock that nobody sets."""

    age: float
    """Since the service started."""
    every: timedelta
    """How often a pass is due."""
    channels: frozenset[str]
    """The channels that messages can be sent to."""
    ticked: float
    """Since the scheduler gave its last sign of life; since the start, where there was none."""
    looked: float
    """Since the last good pass ended, or nothing was due; since the start, where neither was."""
    running: float | None
    """Since the pass under way began; None between two."""
    failure: str
    """Why the last pass failed; empty where it did not."""


class Pulse:
    """What the service tells of itself while it runs, from any thread."""

    def __init__(
        self, *, every: timedelta, channels: Collection[str] = (), clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock, self._lock, self._start = clock, Lock(), clock()
        self._beat = Beat(
            age=0,
            every=every,
            channels=frozenset(channels),
            ticked=self._start,
            looked=self._start,
            running=None,
            failure="",
        )
        self.registry = CollectorRegistry()
        """What is counted since the start."""
        ProcessCollector(registry=self.registry)
        Info("watcher_build", "The version that runs.", registry=self.registry).info({"version": version("watcher")})
        self._polls = Counter(
            "watcher_polls", "Looks at upstreams since the start, by result.", ["result"], registry=self.registry
        )
        self._cycles = Counter(
            "watcher_cycles", "Passes since the start, by result.", ["result"], registry=self.registry
        )
        self._seconds = Histogram(
            "watcher_cycle_duration_seconds", "Seconds that passes took.", buckets=_SECONDS, registry=self.registry
        )
        for counter, results in ((self._polls, ("observed", "unobserved")), (self._cycles, ("ok", "failed"))):
            for result in results:
                counter.labels(result)

    def expect(self, *, every: timedelta, channels: Collection[str]) -> None:
        """Take up a changed configuration."""
        with self._lock:
            self._beat = replace(self._beat, every=every, channels=frozenset(channels))

    def ticked(self) -> None:
        """Note that the scheduler lives."""
        with self._lock:
            self._beat = replace(self._beat, ticked=self._clock())

    def idled(self) -> None:
        """Note that nothing was due."""
        with self._lock:
            self._beat = replace(self._beat, looked=self._clock())

    def began(self) -> None:
        """Note that a pass begins."""
        with self._lock:
            self._beat = replace(self._beat, running=self._clock())

    def ended(self, *, observed: int, unobserved: int) -> None:
        """Note that the pass ended well, and how many upstreams could and could not be observed."""
        self._polls.labels("observed").inc(observed)
        self._polls.labels("unobserved").inc(unobserved)
        self._finish("ok", failure="", looked=self._clock())

    def failed(self, reason: str) -> None:
        """Note that the pass failed."""
        self._finish("failed", failure=reason, looked=None)

    def beat(self) -> Beat:
        """Return how the service does now."""
        with self._lock:
            now, it = self._clock(), self._beat
        running = None if it.running is None else now - it.running
        return replace(it, age=now - self._start, ticked=now - it.ticked, looked=now - it.looked, running=running)

    def _finish(self, result: str, *, failure: str, looked: float | None) -> None:
        with self._lock:
            began, now = self._beat.running, self._clock()
            looked = self._beat.looked if looked is None else looked
            self._beat = replace(self._beat, running=None, failure=failure, looked=looked)
        self._cycles.labels(result).inc()
        if began is not None:
            self._seconds.observe(now - began)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scrape:
    """Everything that Prometheus sees at one moment, as a collector of its library."""

    pulse: Pulse
    state: Path
    now: datetime

    def collect(self) -> Iterator[Metric]:
        """Yield what was counted and what the store holds; where it does not answer, that alone is said of it."""
        yield from self.pulse.registry.collect()
        try:
            with Store.open(self.state) as store:
                found = list(remembered(store, self.pulse.beat().channels, self.now))
                found.append(_database(store.path))
        except StoreError:
            found = []
        yield GaugeMetricFamily(
            "watcher_database_up", "Whether the state database answers: 1 or 0.", value=float(bool(found))
        )
        yield from found


def remembered(store: Store, channels: Collection[str], now: datetime) -> Iterator[Metric]:
    """Yield what the store holds of upstreams, findings and messages."""
    yield from _upstreams(store, now)
    yield _findings(store.findings())
    yield from _outbox(store, channels, now)
    yield from _mirrors(store)


def sendable_since(messages: Iterable[Owed]) -> tuple[tuple[Owed, datetime], ...]:
    """Return waiting messages, oldest first, each with the moment from which it could be sent.

    It is held until then, or an earlier one about its finding in its channel is: none overtakes the other.
    """
    held: dict[tuple[str, object], datetime] = {}
    found = []
    for message in messages:
        about = (message.channel, message.payload.get("finding") or message.id)
        held[about] = max(filter(None, (held.get(about), message.not_before, message.created_at)))
        found.append((message, held[about]))
    return tuple(found)


def _upstreams(store: Store, now: datetime) -> Iterator[Metric]:
    """Yield how many upstreams are watched and how old what we know of them is.

    The oldest and the newest one tell what matters; one series for each of thousands would be a burden.
    """
    watched = observable(pin for reading in store.readings().values() for pin in reading.pins)
    failed, activity = store.failures(), store.activity()
    seen = [max((now - activity[name][1]).total_seconds(), 0) for name in watched if name in activity]
    unobserved = sum(name in failed or name not in activity for name in watched)
    yield GaugeMetricFamily("watcher_upstreams", "Upstreams that pins point into.", value=len(watched))
    yield GaugeMetricFamily(
        "watcher_upstreams_unobserved",
        "Upstreams whose last look failed, or that were never observed.",
        value=unobserved,
    )
    for name, which, age in (("oldest", "longest", max), ("newest", "least", min)):
        yield GaugeMetricFamily(
            f"watcher_{name}_observation_age_seconds",
            f"Seconds since the last good look at the upstream for which it is {which} ago.",
            value=age(seen) if seen else None,
        )


def _database(path: Path) -> Metric:
    """Return what the database takes, with what waits to be written into it."""
    size = sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*"))
    return GaugeMetricFamily("watcher_database_bytes", "Bytes of the state database.", value=size)


def _mirrors(store: Store) -> Iterator[Metric]:
    """Yield what the mirrors took when they were measured last, once a day; nothing before the first time.

    `watcher state` tells it of each upstream; one series for each of thousands would be a burden.
    """
    measured = store.standings("state").get("mirrors")
    if measured:
        yield GaugeMetricFamily("watcher_mirrors", "Mirrors, as counted once a day.", value=measured["count"])
        yield GaugeMetricFamily(
            "watcher_mirrors_bytes", "Bytes of all mirrors, as measured once a day.", value=measured["bytes"]
        )


def _findings(findings: Iterable[Finding]) -> Metric:
    """Return how many findings there are; where there was one of a kind, every state is told, so that 0 is seen."""
    tally = Tally((it.concern.kind, it.concern.severity, it.state) for it in findings)
    kinds = sorted({(kind, severity) for kind, severity, _ in tally})
    family = GaugeMetricFamily(
        "watcher_findings", "Findings by kind, severity and state.", labels=["kind", "severity", "state"]
    )
    for (kind, severity), state in product(kinds, State):
        family.add_metric([kind, severity, state], tally[kind, severity, state])
    return family


def _outbox(store: Store, channels: Collection[str], now: datetime) -> Iterator[Metric]:
    """Yield how many messages did not arrive yet, and since when the oldest could have been sent."""
    waiting = sendable_since(store.waiting())
    tally = Tally((message.channel, "held" if since > now else "waiting") for message, since in waiting)
    for channel, _, count in store.stuck(now):
        tally[channel, "failed"] += count
    tally.subtract((message.channel, "failed") for message, _ in waiting if message.reason)
    names = sorted({*channels, *(channel for channel, _ in tally)})
    depth = GaugeMetricFamily(
        "watcher_outbox_messages",
        "Messages that did not arrive: waiting to be sent, held until later, failed for good.",
        labels=["channel", "state"],
    )
    age = GaugeMetricFamily(
        "watcher_outbox_oldest_age_seconds",
        "Seconds since the oldest waiting message could have been sent; 0 where none waits.",
        labels=["channel"],
    )
    for name, state in product(names, ("waiting", "held", "failed")):
        depth.add_metric([name, state], max(tally[name, state], 0))
    for name in names:
        ages = [(now - since).total_seconds() for message, since in waiting if message.channel == name]
        age.add_metric([name], max([0.0, *ages]))
    yield depth
    yield age
