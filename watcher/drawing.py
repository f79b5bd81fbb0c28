"""What is drawn of an upstream's history: the few commits that matter to pins, and how many lie between them."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from watcher.model import Oid


class StrandKind(StrEnum):
    """What keeps the commits of a strand."""

    FOLLOWED = "followed"
    """The tracked branch, whose landings are looked at."""
    BRANCH = "branch"
    TAG = "tag"
    SIDE = "side"
    """Commits of a branch that was merged since: they were never published by themselves."""
    LOST = "lost"
    """No ref holds them any more."""


class At(NamedTuple):
    """One stop of a drawing."""

    strand: int
    stop: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """One commit that is drawn."""

    commit: Oid
    subject: str
    at: datetime | None
    """When it was committed; None where that was not read."""
    landings: int
    """How many states of the strand lie below it that are not drawn, down to the stop before, or the strand's base."""
    commits: int
    """How many commits it has that the stop before (the strand's base) has not, itself among them."""
    refs: tuple[str, ...] = ()
    """Full names of branches and tags that stand here."""
    pins: tuple[str, ...] = ()
    """Ids of the pins that stand here."""
    fixes: tuple[str, ...] = ()
    """Ids of the fixes that landed here and that a pin lacks, or one variant has over another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strand:
    """Some states of one first-parent line, oldest first."""

    kind: StrandKind
    name: str
    """Full name of the ref; empty for a side branch, and where nobody knows which ref it was."""
    base: At | None
    """From where it branches off; None for the first strand, and where that lies too far back."""
    joins: At | None = None
    """The landing with which it was merged."""
    stops: tuple[Stop, ...]
    hidden: int = 0
    """How many fixes are not drawn, of too many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """One upstream's history as far as it matters to pins; the first strand is the one that is followed."""

    strands: tuple[Strand, ...] = ()
    absent: tuple[str, ...] = ()
    """Ids of pins whose commit is not held, so that nobody knows where it stood."""
    more: int = 0
    """How many pins are not drawn, of too many."""
