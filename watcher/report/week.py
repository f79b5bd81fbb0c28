"""What a digest tells of a week, as values."""

from dataclasses import dataclass
from datetime import datetime

from watcher.model import Moved, Place, Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class Stuck:
    """Messages that were tried and did not arrive."""

    channel: str
    reason: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One open finding, or several that differ in their place alone."""

    severity: Severity
    headline: str
    places: tuple[Place, ...] = ()
    since: datetime
    advice: str = ""
    """What to do; empty where a bump of the digest says it."""
    handle: str
    """What to type after `watcher explain`."""
    url: str | None = None
    """Where a browser shows more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Over:
    """One finding that was resolved."""

    headline: str
    note: str = ""
    link: str | None = None
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bump:
    """The smallest commit with the fixes that a pin lacks."""

    name: str
    places: tuple[Place, ...] = ()
    before: str
    after: str
    commits: int | None = None
    landings: int | None = None
    fixes: tuple[str, ...] = ()
    """What it repairs, in words."""
    version: str = ""
    """What becomes of the package's version, in words."""
    cautions: tuple[str, ...] = ()
    compare: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stand:
    """Where one variant of a dependency stands."""

    variant: str
    ref: str
    """A commit's id, or the ref as it is written."""
    lacks: tuple[str, ...] = ()
    """Fixes in words that another variant has."""
    target: str | None = None
    """The smallest commit that brings it level."""
    compare: str | None = None
    """Where a browser shows what lies between the two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drifted:
    """How one dependency stands across its variants."""

    name: str
    relation: str
    stands: tuple[Stand, ...]

    @property
    def is_level(self) -> bool:
        """Answer whether no variant lacks a known fix or floats beside a pinned one."""
        return self.relation != "floating-vs-pinned" and not any(it.lacks for it in self.stands)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What became of one ref in the whole period."""

    what: str
    """`moved`, `forced`, `deleted`, `new`."""
    ref: str
    """Its short name."""
    before: str | None = None
    after: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Movement:
    """What moved in one upstream."""

    name: str
    url: str
    steps: tuple[Step, ...]
    """The ones to name: forced and deleted branches, moved tags, the default branch."""
    tags: tuple[str, ...] = ()
    """New tags."""
    others: str = ""
    """The rest, counted."""

    @property
    def is_routine(self) -> bool:
        """Answer whether nothing but ordinary progress happened."""
        return all(step.what == "moved" for step in self.steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """One upstream that could not be observed."""

    name: str
    url: str
    since: datetime
    tries: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """One week, or another period, as it is told."""

    name: str = ""
    """Whose digest it is: the downstreams."""
    since: datetime
    until: datetime
    """Both in the time zone in which they are shown."""
    at: datetime
    """When it was written: what is open, stuck or silent is told as it stood then."""
    due: datetime | None = None
    """When it should have been sent, in its time zone, where it is late."""
    stuck: tuple[Stuck, ...] = ()
    new: tuple[Item, ...] = ()
    """Open findings of this period, the most severe first."""
    still: tuple[Item, ...] = ()
    """Open findings from before, the most severe first."""
    open: tuple[tuple[Severity, int], ...] = ()
    """How many findings are open, the most severe first."""
    acknowledged: int = 0
    snoozed: int = 0
    resolved: tuple[Over, ...] = ()
    bumps: tuple[Bump, ...] = ()
    drift: tuple[Drifted, ...] = ()
    made: tuple[Moved, ...] = ()
    """Pins that downstreams moved or removed."""
    moved: tuple[Movement, ...] = ()
    silent: tuple[Silence, ...] = ()
    alerts: int = 0
    dismissed: int = 0
    """How many findings people dismissed as "not a fix"."""
    upstreams: int = 0
    """How many are watched."""

    @property
    def is_quiet(self) -> bool:
        """Answer whether there is nothing to tell: what merely moved on, and what people put off, are no news."""
        told = (self.stuck, self.new, self.still, self.resolved, self.bumps, self.made, self.silent)
        is_calm = all(it.is_level for it in self.drift) and all(it.is_routine for it in self.moved)
        return is_calm and not any(told) and not self.alerts and not self.dismissed
