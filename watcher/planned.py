"""The nouns of a bump's plan: where pins go, what that gains and brings along, and which pins stay."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from watcher.model import Change, Fix, Oid, Pin, Rung, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One thing of the build contract that a bump changes."""

    place: str
    """The file that says it."""
    said: str


class Stance(StrEnum):
    """Why a pin is not moved."""

    NOTHING_TO_GAIN = "nothing-to-gain"
    NO_WAY = "no-way"
    """It lacks a fix, and no published commit has both."""
    HAS_IT = "has-it"
    NOT_CONCERNED = "not-concerned"
    THERE = "there"
    """It stands at the target already."""
    LEFT_BEHIND = "left-behind"
    """It lacks the same fixes, and nobody asked to move it."""
    APART = "apart"
    """It moves to another commit."""
    STAYS = "stays"
    FLOATING = "floating"
    LOST = "lost"
    """It gets evidence and advice, never a bump."""
    UNRESOLVED = "unresolved"
    OTHER_REPOSITORY = "other-repository"
    UNOBSERVED = "unobserved"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stay:
    """A pin that is not moved."""

    pin: Pin
    stance: Stance
    said: str
    advice: tuple[str, ...] = ()
    """Evidence, and what to do."""


class Way(StrEnum):
    """How a target stands to what is pinned."""

    FORWARD = "fast-forward"
    SIDEWAYS = "not-a-fast-forward"
    BACK = "older"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """A fix that concerns a pin, in the words of its alert."""

    fix: Fix
    verdict: Verdict
    is_worth: bool
    """It is worth a bump by itself."""
    headline: str
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """One landing on the way."""

    change: Change
    is_fix: bool
    is_gained: bool
    later: tuple[str, ...] = ()
    """What became of it later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """The way of one pin."""

    pin: Pin
    from_: Oid
    way: Way
    rung: Rung
    gains: tuple[Gain, ...]
    """Those worth a bump first."""
    lacks: tuple[Gain, ...]
    """Fixes that concern the pin and that the target does not have either."""
    loses: tuple[Fix, ...]
    """Fixes that the pin has and the target does not."""
    passed: tuple[Passed, ...]
    """What landed on the way, oldest first; of a move back, what that takes away."""
    back: int
    """How many commits the pin has that the target does not."""
    files: Mapping[str, int]
    """How many shipped files differ, by the variant that their path names."""
    other_files: int
    """How many files differ that are not shipped: tests, docs, tooling."""
    version_from: str | None
    version_to: str | None
    terms: tuple[Term, ...]
    """How the build contract changes."""
    cautions: tuple[str, ...]
    ladder: tuple[Rung, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Where anybody finds the picture of a dependency."""

    name: str
    """What it is called."""
    picture: str
    page: str
    """Where the dependency is told of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One bump: the pins that go to one commit, and those that do not move."""

    name: str
    upstream: str
    forge: str | None = None
    """Which software serves the upstream's pages; None: its host's name must tell."""
    to: Oid | None
    """None where nothing moves."""
    line: str | None = None
    """The published line (full ref name) that had the target as its tip."""
    committed_at: datetime | None = None
    tags: tuple[str, ...] = ()
    """The tags that are the target."""
    why: tuple[str, ...] = ()
    """Why it is this commit."""
    steps: tuple[Step, ...] = ()
    stays: tuple[Stay, ...] = ()
    cautions: tuple[str, ...] = ()
    """What to mind about the target, whatever the pin."""
    shown: Shown | None = None
    """Its dependency's picture, where anybody finds one."""

    @property
    def gained(self) -> tuple[Fix, ...]:
        """Return the fixes that any of the pins gains, each once."""
        return tuple({gain.fix.id: gain.fix for it in self.steps for gain in it.gains}.values())
