"""Say one event in words: what, which pin and where, since when, why we say so, what to do."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from watcher.model import Concern, Event, EventKind, Pin
from watcher.report.places import place
from watcher.report.text import safe

_VERB = {
    EventKind.OPENED: "new",
    EventKind.CHANGED: "changed",
    EventKind.ACKNOWLEDGED: "acknowledged",
    EventKind.SNOOZED: "snoozed",
    EventKind.WOKE: "back",
    EventKind.RESOLVED: "resolved",
    EventKind.REOPENED: "again",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """One event in words, each line harmless to show anywhere."""

    title: str
    """Severity, what happened to the finding, and what it is."""
    where: tuple[str, ...]
    """`file:line (variant)` of each pin that is meant."""
    since: str
    why: tuple[str, ...]
    what_to_do: str
    handles: tuple[str, ...]
    """What to type to acknowledge it, for each pin."""
    is_over: bool = False
    """It is resolved: told once more, and then no longer."""


def alerts(events: Iterable[Event], pins: Mapping[str, Pin]) -> tuple[Alert, ...]:
    """Return events in words, the most severe first, those that differ in their place alone together; `pins` by id."""
    together: dict[tuple[str, str], list[Event]] = {}
    for event in sorted(events, key=lambda it: -it.finding.concern.severity.rank):
        together.setdefault((_title(event), event.finding.concern.advice), []).append(event)
    return tuple(_alert(same, pins) for same in together.values())


def plain(told: Iterable[Alert]) -> str:
    """Return alerts as plain text, one after the other."""
    return "\n".join("\n".join(_lines(it)) for it in told) + "\n"


def _alert(same: list[Event], pins: Mapping[str, Pin]) -> Alert:
    event = same[0]
    concern = event.finding.concern
    since = concern.since or event.finding.opened_at
    is_over = event.kind is EventKind.RESOLVED
    return Alert(
        title=_title(event),
        where=tuple(dict.fromkeys(safe(where) for it in same if (where := _where(it.finding.concern, pins)))),
        since=f"since {since:%Y-%m-%d %H:%M} UTC",
        why=() if is_over else tuple(dict.fromkeys(safe(line) for it in same for line in it.finding.concern.detail)),
        what_to_do="" if is_over else safe(concern.advice),
        handles=tuple(it.finding.handle for it in same),
        is_over=is_over,
    )


def _title(event: Event) -> str:
    concern = event.finding.concern
    return f"{concern.severity.upper()} {_VERB[event.kind]}: {safe(concern.headline)}"


def _lines(it: Alert) -> list[str]:
    lines = [it.title, *(f"    where   {place}" for place in it.where), f"    when    {it.since}"]
    lines += [f"    why     {line}" for line in it.why]
    if it.what_to_do:
        lines.append(f"    do      {it.what_to_do}")
    return [*lines, f"    handle  {' '.join(it.handles)}"]


def _where(concern: Concern, pins: Mapping[str, Pin]) -> str:
    return place(concern, pins) or concern.upstream or ""
