"""The page of one finding: what it is, what to do, what became of it, and the whole argument about its pin."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from watcher.model import Event, EventKind, Finding, Kind, State
from watcher.pages.argument import argued
from watcher.pages.layout import Frame, render
from watcher.plural import counted
from watcher.report import alert
from watcher.report.explain import Argument
from watcher.report.text import linked, safe
from watcher.standing import Watched
from watcher.store import Owed

MEANS: Mapping[Kind, str] = {
    Kind.PIN_ABSENT: "The upstream does not serve what is pinned: a new build fails.",
    Kind.UPSTREAM_GONE: "The server says that there is no such repository any more.",
    Kind.UPSTREAM_REPLACED: "Another repository answers at the upstream's address, with another history.",
    Kind.PIN_UNREACHABLE: "No branch or tag holds the pinned commit any more: the server may drop it at any time.",
    Kind.FIX_AVAILABLE: "The upstream published a repair that the pinned commit lacks.",
    Kind.VARIANT_DRIFT: "The variants of one dependency are not on the same state: they may behave differently.",
    Kind.TAG_MOVED: "A tag names another commit than before: the same name builds something else.",
    Kind.PIN_ON_PULL_ONLY: "Only a pull or merge request holds the pinned commit: it was never published on a branch.",
    Kind.PIN_AMBIGUOUS: "The short id that is pinned may mean several commits.",
    Kind.UPSTREAM_MOVED: "The upstream's repository has another address now; the old one leads on to it for a while.",
    Kind.UPSTREAM_UNOBSERVED: "The upstream could not be looked at: what is known of it grows old.",
    Kind.PIN_FLOATING: "The pin names something that moves: two builds of the same files may differ.",
    Kind.PIN_ON_TAG_ONLY: "The pinned commit is on no branch: only a tag holds it.",
    Kind.BRANCH_REWOUND: "A branch was rewound: commits that were published on it are no longer there.",
    Kind.UPSTREAM_ARCHIVED: "The upstream's repository is archived: nobody repairs anything there.",
}
"""What each kind of finding means, in a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One line of the timeline."""

    at: datetime
    words: str
    link: str | None = None


def finding(
    it: Finding, argument: Argument | None, steps: Iterable[Step], watched: Watched | None, frame: Frame
) -> str:
    """Return the page of a finding; `argument` is the one about its pin, `watched` its dependency, where it has one."""
    concern = it.concern
    [told] = alert.alerts([Event(kind=EventKind.OPENED, finding=it, at=it.changed_at)], {})
    return render(
        "finding.html.j2",
        frame,
        it=it,
        told=told,
        means=MEANS[concern.kind],
        since=concern.since or it.opened_at,
        why=[linked(line, told.lines) for line in told.why],
        steps=tuple(steps),
        watched=watched,
        argued=argued(argument) if argument else None,
        missing=None if argument else _missing(it, watched),
        commands=commands(it),
        placed=alert.placed,
        safe=safe,
        counted=counted,
        utc=UTC,
    )


def commands(it: Finding) -> tuple[str, ...]:
    """Return what a person may type about a finding."""
    if it.state is State.RESOLVED:
        return (f"watcher explain {it.handle}",)
    bump = [f"watcher bump {it.handle}"] if alert.asks_for_bump(it.concern) else []
    return (f"watcher explain {it.handle}", *bump, f"watcher ack {it.handle}")


def steps(events: Iterable[Event], owed: Iterable[Owed]) -> tuple[Step, ...]:
    """Return the life of one finding in order: what happened to it, and where the messages about it told that."""
    log = sorted(events, key=lambda it: it.at)
    keys = {it.finding.key for it in log}
    found = [*_happened(log), *(step for it in owed for step in _told(it, keys))]
    return tuple(sorted(found, key=lambda it: it.at))


def _happened(log: list[Event]) -> Iterator[Step]:
    before: dict[str, Finding] = {}
    for event in log:
        [told] = alert.alerts([event], {}, before)
        opened = f"Opened as {told.severity}: {told.headline}"
        yield Step(at=event.at, words=told.change or opened, link=told.link if told.is_over else None)
        before[event.finding.key] = event.finding


def _told(it: Owed, keys: set[str]) -> Iterator[Step]:
    """Give the step of one message; none where something newer took its place, or it is about something else."""
    what = _what(it.payload, keys)
    if what is None or it.dropped_at:
        return
    where, but = safe(it.channel.capitalize()), f": {safe(it.reason)}" if it.reason else ""
    if it.delivered_at:
        yield Step(at=it.delivered_at, words=f"Told in {where} ({what}){but}")
    elif it.failed_at:
        yield Step(at=it.failed_at, words=f"Could not be told in {where} ({what}){but}")
    else:
        yield Step(at=it.created_at, words=f"Waits to be told in {where} ({what}){but}")


def _what(payload: Mapping[str, Any], keys: set[str]) -> str | None:
    """Return what a message says of the finding."""
    if payload.get("finding") in keys:
        return safe(str(payload.get("event") or "news"))
    if keys & set(payload.get("baseline") or ()):
        return "in the summary of the first look"
    return "an answer to what somebody asked for" if payload.get("reply") in keys else None


def _missing(it: Finding, watched: Watched | None) -> str:
    """Return why there is no argument."""
    concern = it.concern
    if concern.pin is None:
        return "It is about no single pin: the argument about each pin is on the page of its findings."
    if watched is None or concern.pin not in watched.places:
        return "What it is about is not pinned any more."
    if concern.upstream in watched.silences:
        return "The upstream was not observed at the last look, so there is no argument as of now."
    return "The last look was made by an older version, which kept no argument: the next look brings it."
