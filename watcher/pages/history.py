"""What happened each week: to findings, to pins, and to refs of upstreams that moved as refs should not."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, tzinfo

from watcher.model import Event, Move, Moved
from watcher.pages import feed
from watcher.pages.layout import Frame, render
from watcher.plural import counted
from watcher.report import alert
from watcher.report.alert import Alert
from watcher.report.digest import day, short
from watcher.report.movements import movement
from watcher.report.text import safe
from watcher.report.week import Movement

_MOST = 100
"""How many of each sort are listed a week; the rest is counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Happened:
    """One step in a finding's life."""

    at: datetime
    told: Alert


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """What moved in one upstream, some of it unusually."""

    at: datetime
    """When a ref of it moved last in that week."""
    what: Movement


@dataclass(slots=True, kw_only=True)
class Week:
    """One week, each sort of news with the newest first."""

    begins: date
    """Its Monday."""
    findings: list[Happened] = field(default_factory=list)
    pins: list[Moved] = field(default_factory=list)
    """Those that downstreams moved or removed."""
    upstreams: list[Shift] = field(default_factory=list)
    calm: int = 0
    """How many upstreams merely moved on."""


def weeks(
    events: Sequence[Event], moved: Iterable[Moved], moves: Mapping[str, Iterable[Move]], zone: tzinfo
) -> tuple[Week, ...]:
    """Return the weeks in which something happened, the newest first; a week begins on Monday in the zone.

    `events` are in the order in which they happened; `moves` has upstream → what its refs did.
    """
    found: dict[date, Week] = {}
    for event, told in feed.in_words(events):
        _week(found, event.at, zone).findings.append(Happened(at=event.at, told=told))
    for it in moved:
        _week(found, it.at, zone).pins.append(it)
    for upstream, steps in moves.items():
        _add_moves(found, upstream, steps, zone)
    for week in found.values():
        for news in (week.findings, week.pins, week.upstreams):
            news.sort(key=lambda it: it.at, reverse=True)
    return tuple(sorted(found.values(), key=lambda it: it.begins, reverse=True))


def history(found: Sequence[Week], since: datetime, frame: Frame) -> str:
    """Return the page of what happened; `since` is how far back it goes."""
    return render(
        "history.html.j2",
        frame,
        weeks=found,
        since=since,
        few=lambda news: (news[:_MOST], len(news) - _MOST),
        day=day,
        short=short,
        safe=safe,
        counted=counted,
        placed=alert.placed,
        utc=UTC,
    )


def _week(found: dict[date, Week], at: datetime, zone: tzinfo) -> Week:
    begins = _monday(at, zone)
    return found.setdefault(begins, Week(begins=begins))


def _monday(at: datetime, zone: tzinfo) -> date:
    there = at.astimezone(zone).date()
    return there - timedelta(days=there.weekday())


def _add_moves(found: dict[date, Week], upstream: str, moves: Iterable[Move], zone: tzinfo) -> None:
    """Add what an upstream's refs did to each week, all moves of a week together as in a digest."""
    together: dict[date, list[Move]] = {}
    for it in moves:
        together.setdefault(_monday(it.at, zone), []).append(it)
    for same in together.values():
        told = movement(upstream, same, head=None)  # no head: a default branch that moves on is no news here
        if told is None:
            continue
        at = max(it.at for it in same)
        week = _week(found, at, zone)
        if told.steps:
            week.upstreams.append(Shift(at=at, what=told))
        else:
            week.calm += 1
