"""Say one event in words: what, which pin and where, since when, why we say so, what to do."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from watcher.model import Concern, Event, EventKind, Finding, Kind, Pin, Place, Severity, Side, State
from watcher.report.places import is_of_several, place
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
_NOT_A_FIX = "not a fix"


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A bump that the service can propose as soon as a person asks for it."""

    name: str
    """What people call the dependency."""
    repositories: tuple[str, ...]
    """Where it is proposed, the pin's own first: `github.com/acme/images`."""
    targets: tuple[str, ...]
    """The commits that its pins are to move to, the pin's own first; several pins may have to agree on one."""
    is_issue: bool = False
    """It is to be an issue, not a pull request."""
    is_together: bool = False
    """It moves the pins of other variants too."""

    @property
    def options(self) -> str:
        """Return what to add to `watcher bump` to have the same."""
        return f"{'--all-variants ' if self.is_together else ''}{'--issue' if self.is_issue else '--pull-request'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """One event in words, each line harmless to show anywhere."""

    severity: Severity
    verb: str
    """What happened to the finding."""
    headline: str
    """What it is."""
    state: State
    stands: str
    """Where it is in its life, by whom, until when, and why."""
    change: str = ""
    """What this event changed, for those who know the rest; empty where all of it is news."""
    is_louder: bool = False
    """It was quiet, or less severe: whoever saw the first message may want to know."""
    places: tuple[Place, ...] = ()
    """`file:line` of each pin that is meant, or the upstream."""
    since: str
    why: tuple[str, ...] = ()
    lines: Mapping[str, str] = field(default_factory=dict)
    """Line of what is pinned, as `why` names it → where a browser shows who wrote it."""
    what_to_do: str = ""
    compares: Mapping[str, str] = field(default_factory=dict)
    """Commit to bump to → where a browser shows what the bump brings."""
    sides: tuple[Side, ...] = ()
    """Of a drift: the variants, side by side."""
    handles: tuple[str, ...]
    """What to type to acknowledge it, for each pin."""
    link: str | None = None
    """Where a browser shows what resolved it."""
    is_over: bool = False
    """It is resolved: told once more, and then no longer."""
    is_about_fix: bool = False
    """Somebody may say that it is not a fix."""
    asks_for_bump: bool = False
    """`watcher bump` says how to be rid of it."""
    offer: Offer | None = None
    """What the service can do about it when it is asked to."""

    @property
    def title(self) -> str:
        """Return severity, what happened to the finding, and what it is."""
        return f"{self.severity.upper()} {self.verb}: {self.headline}"


def alerts(
    events: Iterable[Event],
    pins: Mapping[str, Pin],
    before: Mapping[str, Finding] | None = None,
    offers: Mapping[str, Offer] | None = None,
) -> tuple[Alert, ...]:
    """Return events in words, the most severe first, those that differ in their place alone together; `pins` by id.

    `before` has findings by key as they stood before these events: a change is told against them. `offers` has what
    the service can do about findings, by key.
    """
    together: dict[tuple[str, str], list[Event]] = {}
    for event in sorted(events, key=lambda it: -it.finding.concern.severity.rank):
        concern = event.finding.concern
        title = f"{concern.severity} {_verb(event)}: {safe(concern.headline)}"
        together.setdefault((title, concern.advice), []).append(event)
    return tuple(_alert(same, pins, before or {}, offers or {}) for same in together.values())


def asks_for_bump(concern: Concern) -> bool:
    """Answer whether there is a commit to bump to."""
    return concern.kind in {Kind.FIX_AVAILABLE, Kind.VARIANT_DRIFT} and concern.target is not None


def plain(told: Iterable[Alert]) -> str:
    """Return alerts as plain text, one after the other."""
    return "\n".join("\n".join(_lines(it)) for it in told) + "\n"


def placed(it: Place) -> str:
    """Return `file:line (variant)`."""
    return safe(it.text if it.variant == "any" else f"{it.text} ({it.variant})")


def who(by: str) -> str:
    """Return a person's name, without the id that stands behind it."""
    name, _, after = by.rpartition(" (")
    return safe(name if name and after.endswith(")") else by, 60)


def _alert(
    same: list[Event], pins: Mapping[str, Pin], before: Mapping[str, Finding], offers: Mapping[str, Offer]
) -> Alert:
    event = same[0]
    finding, concern = event.finding, event.finding.concern
    is_over = event.kind is EventKind.RESOLVED
    known = before.get(finding.key)
    return Alert(
        severity=concern.severity,
        verb=_verb(event),
        headline=safe(concern.headline),
        state=finding.state,
        stands=_stands(finding),
        change=_change(event, known),
        is_louder=event.kind in {EventKind.WOKE, EventKind.REOPENED} or _is_worse(finding, known),
        places=tuple(dict.fromkeys(it for event in same for it in _places(event.finding, pins))),
        since=f"since {concern.since or finding.opened_at:%Y-%m-%d %H:%M} UTC",
        why=() if is_over else tuple(dict.fromkeys(safe(line) for it in same for line in it.finding.concern.detail)),
        lines={safe(line.text): line.url for it in same for line in it.finding.concern.lines if line.url},
        what_to_do="" if is_over else safe(concern.advice),
        compares={} if is_over else _compares(finding),
        sides=() if is_over else concern.sides,
        handles=tuple(it.finding.handle for it in same),
        link=finding.link,
        is_over=is_over,
        is_about_fix=concern.kind is Kind.FIX_AVAILABLE,
        asks_for_bump=asks_for_bump(concern) and not is_over,
        offer=None if is_over else offers.get(finding.key),
    )


def _verb(event: Event) -> str:
    return _NOT_A_FIX if event.finding.is_dismissed else _VERB[event.kind]


def _stands(finding: Finding) -> str:
    """Return where a finding is in its life: in one sentence."""
    by = f" by {name}" if (name := who(finding.by)) else ""
    match finding.state:
        case State.OPEN:
            return "Open"
        case State.ACKNOWLEDGED:
            return _noted(f"Acknowledged{by}", finding.note)
        case State.SNOOZED:
            until = f" until {finding.snoozed_until:%Y-%m-%d}" if finding.snoozed_until else ""
            return _noted(f"Snoozed{until}{by}", finding.note)
        case State.RESOLVED if finding.is_dismissed:
            says = f", says {name}" if name else ""
            return _noted(f"Not a fix{says}", finding.note.removeprefix(_NOT_A_FIX).removeprefix(": "))
        case State.RESOLVED:
            return _noted(f"Resolved{by}", finding.note)


def _change(event: Event, known: Finding | None) -> str:
    """Return what an event changed, in a line or two."""
    finding = event.finding
    match event.kind:
        case EventKind.OPENED:
            return ""
        case EventKind.WOKE:
            return "Back: its snooze is over"
        case EventKind.REOPENED:
            return f"Open again{f', says {name}' if (name := who(finding.by)) else ''}"
        case EventKind.CHANGED:
            return "; ".join(_changes(finding, known)) or f"Now {finding.concern.severity.upper()}"
        case _:
            return _stands(finding)


def _changes(finding: Finding, known: Finding | None) -> list[str]:
    if known is None:
        return []
    old, new = known.concern, finding.concern
    told = [f"Severity {old.severity} → {new.severity}"] if old.severity is not new.severity else []
    if known.state is not finding.state:
        told.append("open again")
    if old.target != new.target:
        told.append(f"Bump to {new.target[:12]}" if new.target else "No commit to bump to any more")
    return told


def _is_worse(finding: Finding, known: Finding | None) -> bool:
    return known is not None and finding.concern.severity.rank > known.concern.severity.rank


def _noted(said: str, note: str) -> str:
    return safe(f"{said}: {note}" if note else said)


def _places(finding: Finding, pins: Mapping[str, Pin]) -> tuple[Place, ...]:
    """Return where the pins stand; of rows that do not say it, the one place that they name."""
    concern = finding.concern
    if concern.places:
        return concern.places
    where = place(concern, pins, is_owned=is_of_several(pins)) or concern.upstream
    return (Place(text=where),) if where else ()


def _compares(finding: Finding) -> dict[str, str]:
    concern = finding.concern
    ways = [(concern.target, concern.compare), *((it.target, it.compare) for it in concern.sides)]
    return {str(target): url for target, url in ways if target and url}


def _lines(it: Alert) -> list[str]:
    lines = [it.title, *(f"    where   {placed(at)}" for at in it.places), f"    when    {it.since}"]
    if it.state is not State.OPEN and it.stands != "Resolved":
        lines.append(f"    now     {it.stands}")
    lines += [f"    why     {line}" for line in it.why]
    if it.what_to_do:
        lines.append(f"    do      {it.what_to_do}")
    lines += [f"    see     {safe(url)}" for url in (*it.compares.values(), it.link) if url]
    return [*lines, f"    handle  {' '.join(it.handles)}"]
