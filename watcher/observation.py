"""What one pass saw of one upstream: everything that a verdict may look at, as a value."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from watcher.graph import Graph
from watcher.model import Advertisement, ChangedPath, Commit, Discussion, Holding, Hosted, Move, Oid, Pin, RefKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Which commit a pin's ref stands for at this upstream."""

    commit: Oid | None
    """None where it could not be had, or is ambiguous."""
    candidates: tuple[Oid, ...] = ()
    """Several commits that a short id may mean."""
    is_served: bool | None = None
    """Whether the server hands the commit out; None when nobody had to ask."""
    unasked: str = ""
    """Why we could not ask whether a proposal holds it; empty where we could, or where nobody had to."""
    holders: tuple[str, ...] = ()
    """For a named ref: the full names that bear it (a branch and a tag may both)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One upstream at one moment, with what was known of it before."""

    upstream: str
    at: datetime
    advertisement: Advertisement
    graph: Graph
    """Every commit of the advertised refs and of the commits we keep."""
    bound: Oid | None = None
    """A commit that every pin has, as new as can be; None where the pins share no history."""
    commits: Mapping[Oid, Commit] = field(default_factory=dict)
    """Metadata of the bound and of all commits that it does not have."""
    positions: Mapping[str, Position] = field(default_factory=dict)
    """Pin id → position."""
    before: Advertisement | None = None
    """What the previous pass saw advertised."""
    moves: tuple[Move, ...] = ()
    """The moves of refs since then."""
    known_moves: tuple[Move, ...] = ()
    """Every move that was ever recorded, oldest first; `moves` included."""
    holdings: Mapping[Oid, tuple[Holding, ...]] = field(default_factory=dict)
    """Pinned commit → the refs that were ever seen holding it."""
    roots: frozenset[Oid] = frozenset()
    """Root commits of all branches and tags, now."""
    known_roots: frozenset[Oid] = frozenset()
    """Root commits of all branches and tags, at earlier looks."""
    hosted: Hosted | None = None
    """What its forge says, now or when it last answered; None where it was never asked."""
    known_id: str | None = None
    """By which id the same forge knew it at earlier looks."""
    accepted_id: str | None = None
    """Another id of which a person took note."""

    def commit_of(self, pin: Pin) -> Oid | None:
        """Return the commit that a pin stands for now, or None."""
        position = self.positions.get(pin.id)
        return position.commit if position else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Materials:
    """Contents that the judgement of one upstream's pins asked for: facts of objects, never of moments."""

    paths: Mapping[Oid, tuple[ChangedPath, ...]] = field(default_factory=dict)
    """Landing → what it alters against its first parent."""
    trees: Mapping[Oid, frozenset[str]] = field(default_factory=dict)
    """Commit → its paths."""
    texts: Mapping[tuple[Oid, str], tuple[str, ...]] = field(default_factory=dict)
    """(commit, path) → lines."""
    patch_ids: Mapping[Oid, str] = field(default_factory=dict)
    """Commit → `git patch-id --verbatim` against its first parent."""
    discussions: Mapping[Oid, Discussion] = field(default_factory=dict)
    """Landing → what a forge tells of it, where it was asked."""


def named_refs(advertisement: Advertisement, pin: Pin) -> tuple[str, ...]:
    """Return the full names of the advertised refs that a pin's name may mean, the likeliest first.

    `git clone --branch` and pip look at branches before tags; a name that looks like a version means the tag.
    """
    if pin.ref_kind is RefKind.DEFAULT_BRANCH:
        return (advertisement.head,) if advertisement.head else ()
    name = (pin.wanted or "").removeprefix("refs/")
    if name.startswith(("tags/", "heads/")):
        return (f"refs/{name}",) if advertisement.tip(f"refs/{name}") else ()
    tag, branch = f"refs/tags/{name}", f"refs/heads/{name.removeprefix('origin/')}"
    order = (tag, branch) if pin.ref_kind is RefKind.TAG else (branch, tag)
    return tuple(full for full in order if advertisement.tip(full))
