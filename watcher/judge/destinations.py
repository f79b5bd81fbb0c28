"""Where do pins of one upstream go: to the smallest commit, to one with all fixes, or to one that a person named?"""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cached_property

from watcher.judge.equivalents import Index, held_as
from watcher.judge.lines import followed_lines
from watcher.judge.suggest import ladder_for
from watcher.judge.survey import Judged, Survey
from watcher.model import Oid, Pin, Reachability, ReachabilityClass, Repair, Rung, Suggestion
from watcher.observation import Observation

LOST = {
    ReachabilityClass.ORPHANED,
    ReachabilityClass.SERVED_ONLY,
    ReachabilityClass.GONE,
    ReachabilityClass.UNKNOWN,
}
"""Classes of pins that get evidence and advice, never a bump."""


class Aim(StrEnum):
    """What a bump is for, where no commit is named."""

    MINIMAL = "minimal"
    """The smallest commit with every fix worth a bump."""
    ALL_FIXES = "all-fixes"
    """The smallest commit with as many fixes as one commit can have, the possible ones included."""


@dataclass(frozen=True, kw_only=True)
class Ground:
    """What was judged of one upstream and its pins."""

    seen: Observation
    surveyed: Survey
    judgement: Judged
    repairs: Mapping[Oid, Repair]
    reachability: Mapping[str, Reachability]
    """Pin id → class."""
    suggestions: Mapping[str, Suggestion]
    """Pin id → the bump that is proposed for it."""
    tracked: tuple[str, ...] = ()
    """The branches to follow, as configured."""
    _histories: dict[Oid, Set[Oid]] = field(default_factory=dict, repr=False)

    @cached_property
    def index(self) -> Index:
        """Return where to find the other ids of a commit, and its reverts."""
        return Index(self.seen.commits, pulls=self.seen.advertisement.pulls)

    def history(self, commit: Oid) -> Set[Oid]:
        """Return a commit and all that it reaches."""
        if commit not in self._histories:
            self._histories[commit] = self.seen.graph.ancestors(commit)
        return self._histories[commit]

    def commit(self, pin: Pin) -> Oid:
        """Return the commit of a pin that may move."""
        commit = self.seen.commit_of(pin)
        if commit is None:
            raise ValueError(f"{pin.id}: expected a pin whose commit is known")
        return commit

    def may_move(self, pin: Pin) -> bool:
        """Answer whether a pin names one commit that is there and reachable."""
        reach = self.reachability.get(pin.id)
        is_alive = reach is not None and reach.cls not in LOST
        return is_alive and not pin.ref_kind.is_floating and self.seen.commit_of(pin) in self.seen.graph

    def has(self, commit: Oid, fixes: Iterable[str]) -> frozenset[str]:
        """Return those fixes that a commit has, under whatever id."""
        has = self.history(commit).__contains__
        return frozenset(name for name in fixes if held_as(self.judgement.same[name], has))


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """One commit, and the pins that go there."""

    to: Oid
    line: str | None
    """The published line (full ref name) that had it as a tip; None for a commit inside somebody's branch."""
    is_followed: bool
    """That line is one of those that we follow."""
    committed_at: datetime | None
    pins: tuple[Pin, ...]


def destinations(pins: Iterable[Pin], aim: Aim | Oid, ground: Ground, *, together: bool) -> tuple[Destination, ...]:
    """Return where pins go; those that gain nothing or may not move go nowhere.

    `together`: all to one commit, the earliest with all of them and their fixes, where upstream published one.
    """
    movable = [pin for pin in pins if ground.may_move(pin)]
    if not isinstance(aim, Aim):
        going = tuple(pin for pin in movable if ground.seen.commit_of(pin) != aim)
        return (_to(aim, _line_of(aim, ground), going, ground),) if going else ()
    goals = {pin.id: _goal(made, aim) for pin in movable if (made := ground.suggestions.get(pin.id))}
    common = _common(goals, ground) if together else None
    rungs = dict.fromkeys(goals, common) if common else goals
    found: dict[Oid, Destination] = {}
    for rung in rungs.values():
        mine = tuple(pin for pin in movable if pin.id in rungs and rungs[pin.id].to == rung.to)
        found.setdefault(rung.to, _to(rung.to, rung.line, mine, ground))
    return tuple(found.values())


def _goal(made: Suggestion, aim: Aim) -> Rung:
    if aim is Aim.MINIMAL:
        return made.target
    return max((made.target, *made.ladder), key=lambda rung: (len(rung.fixes), -rung.commits))


def _common(goals: Mapping[str, Rung], ground: Ground) -> Rung | None:
    """Return the earliest commit that has all pins and all their fixes, or None."""
    names = dict.fromkeys(name for rung in goals.values() for name in rung.fixes)
    wanted = [ground.judgement.same[name] for name in names]
    pinned = {made.from_ for name, made in ground.suggestions.items() if name in goals}
    seen = ground.seen
    rungs = (ladder_for(commit, seen, ground.surveyed).minimal(wanted) for commit in sorted(pinned))
    fitting = [rung for rung in rungs if rung and all(seen.graph.is_ancestor(commit, rung.to) for commit in pinned)]
    return min(fitting, key=lambda rung: (rung.commits, rung.committed_at, rung.to), default=None)


def _to(to: Oid, line: str | None, pins: tuple[Pin, ...], ground: Ground) -> Destination:
    seen = ground.seen
    followed = {it.name for it in followed_lines(seen.advertisement, seen.graph, ground.tracked)}
    known = seen.commits.get(to)
    return Destination(
        to=to,
        line=line,
        is_followed=line in followed,
        committed_at=known.committed_at if known else None,
        pins=pins,
    )


def _line_of(commit: Oid, ground: Ground) -> str | None:
    """Return the first published line that had a commit as its tip, or None."""
    lines = ground.surveyed.lines
    held = ground.seen.graph.holders([commit], [line.tip for line in lines], first_parent=True).get(commit, 0)
    return next((line.name for at, line in enumerate(lines) if held >> at & 1), None)
