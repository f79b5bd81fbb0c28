"""Say one event in words: what, which pin and where, since when, why we say so, what to do."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from watcher.model import Concern, Event, EventKind, Pin
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
    where: str
    """`file:line (variant)`; empty where no pin is meant."""
    since: str
    why: tuple[str, ...]
    what_to_do: str
    handle: str
    """What to type to acknowledge it."""


def alert(event: Event, pins: Mapping[str, Pin]) -> Alert:
    """Return an event in words; `pins` by id."""
    finding, concern = event.finding, event.finding.concern
    since = concern.since or finding.opened_at
    return Alert(
        title=f"{concern.severity.upper()} {_VERB[event.kind]}: {safe(concern.headline)}",
        where=safe(_where(concern, pins)),
        since=f"since {since:%Y-%m-%d %H:%M} UTC",
        why=tuple(safe(line) for line in concern.detail),
        what_to_do="" if event.kind is EventKind.RESOLVED else safe(concern.advice),
        handle=finding.handle,
    )


def plain(alerts: Iterable[Alert]) -> str:
    """Return alerts as plain text, one after the other."""
    return "\n".join("\n".join(_lines(it)) for it in alerts) + "\n"


def _lines(it: Alert) -> list[str]:
    lines = [it.title]
    if it.where:
        lines.append(f"    where   {it.where}")
    lines.append(f"    when    {it.since}")
    lines += [f"    why     {line}" for line in it.why]
    if it.what_to_do:
        lines.append(f"    do      {it.what_to_do}")
    return [*lines, f"    handle  {it.handle}"]


def _where(concern: Concern, pins: Mapping[str, Pin]) -> str:
    pin = pins.get(concern.pin or "")
    if pin is None:
        return concern.place or concern.upstream or ""
    return pin.place if pin.variant == "any" else f"{pin.place} ({pin.variant})"
