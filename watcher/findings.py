"""What becomes of a finding: a pure state machine over what was known and what this pass found wrong.

DESIGN.md §4 is the contract. A finding takes at most one step a pass, and each step that people may hear of is one
`Event`; a mere change of wording is taken over without one. What could not be observed neither opens nor resolves.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime

from watcher.errors import UsageError
from watcher.model import Concern, Event, EventKind, Finding, Kind, Oid, Severity, State, oid

Step = tuple[Finding, EventKind | None]
"""The finding as it is afterwards, and what to call what happened; None where nothing worth telling did."""
Reason = Callable[[Finding], tuple[str, str | None]]
"""Why a finding is over, in words, and where a browser shows that."""


def reconcile(
    known: Iterable[Finding],
    concerns: Iterable[Concern],
    *,
    unknown: Callable[[Concern], bool],
    now: datetime,
    is_first: Callable[[Concern], bool],
    reason: Reason = lambda _: ("it no longer holds", None),
) -> tuple[tuple[Finding, ...], tuple[Event, ...]]:
    """Return every finding as it stands after this pass, and the events that led there.

    `unknown` answers whether nothing could be observed this time about what a concern is about: then its absence ends
    nothing, and its presence changes nothing. `is_first` answers whether a concern comes of a first look, which makes
    its event part of the baseline; `reason` says why what is over is over. Applying the result to the same concerns
    again gives no event.
    """
    new = _loudest(concerns)
    steps = [_step(finding, new.pop(finding.key, None), unknown=unknown, now=now, reason=reason) for finding in known]
    steps += [_opened(concern, now) for concern in new.values()]
    events = (
        Event(kind=kind, finding=finding, at=now, is_baseline=is_first(finding.concern))
        for finding, kind in steps
        if kind is not None
    )
    return tuple(finding for finding, _ in steps), tuple(events)


def changed(known: Iterable[Finding], after: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return those findings after a pass that are new, or otherwise than they were known: what is to be written."""
    before = {finding.key: finding for finding in known}
    return tuple(finding for finding in after if finding != before.get(finding.key))


def acknowledge(finding: Finding, now: datetime, note: str = "", by: str = "") -> tuple[Finding, Event]:
    """Take note of a finding: it no longer counts, until it is over or grows more severe."""
    _refuse_resolved(finding, "acknowledge")
    return _told(finding, EventKind.ACKNOWLEDGED, state=State.ACKNOWLEDGED, now=now, note=note, by=by)


def dismiss(finding: Finding, now: datetime, note: str = "", by: str = "") -> tuple[Finding, Event]:
    """Say that what a finding calls a fix is none: it is over, and that change is not told again for any pin."""
    _refuse_resolved(finding, "dismiss")
    if finding.concern.kind is not Kind.FIX_AVAILABLE:
        raise UsageError(f"cannot dismiss {finding.key}: it is about no fix; acknowledge or snooze it")
    note = f"not a fix: {note}" if note else "not a fix"
    after, event = _told(finding, EventKind.RESOLVED, state=State.RESOLVED, now=now, note=note, by=by)
    after = replace(after, is_dismissed=True)
    return after, replace(event, finding=after)


def snooze(finding: Finding, until: datetime, now: datetime, note: str = "", by: str = "") -> tuple[Finding, Event]:
    """Put a finding off: it does not count before `until`, unless it grows more severe."""
    _refuse_resolved(finding, "snooze")
    if until <= now:
        raise UsageError(f"cannot snooze {finding.key} until {until:%Y-%m-%d %H:%M} UTC: that time has passed")
    return _told(finding, EventKind.SNOOZED, state=State.SNOOZED, now=now, note=note, until=until, by=by)


def reopen(finding: Finding, now: datetime) -> tuple[Finding, Event]:
    """Let an acknowledged, snoozed or dismissed finding count again."""
    if not finding.is_dismissed:
        _refuse_resolved(finding, "reopen")
    if finding.state is State.OPEN:
        raise UsageError(f"cannot reopen {finding.key}: it is open already")
    return _told(finding, EventKind.REOPENED, state=State.OPEN, now=now)


def landing_of(concern: Concern) -> Oid | None:
    """Return the landing of the fix that a concern is about; None where it is about none."""
    return oid(concern.key.rsplit(":", 1)[-1]) if concern.kind is Kind.FIX_AVAILABLE else None


def dismissed(known: Iterable[Finding]) -> dict[str, frozenset[Oid]]:
    """Return upstream → the landings that somebody said are no fix."""
    found: dict[str, set[Oid]] = {}
    for finding in known:
        landing = landing_of(finding.concern)
        if finding.is_dismissed and landing:
            found.setdefault(finding.concern.upstream or "", set()).add(landing)
    return {upstream: frozenset(landings) for upstream, landings in found.items()}


def _loudest(concerns: Iterable[Concern]) -> dict[str, Concern]:
    """Return the concerns by key; of two with one key the more severe, else the first."""
    found: dict[str, Concern] = {}
    for concern in concerns:
        rival = found.get(concern.key)
        if rival is None or concern.severity.rank > rival.severity.rank:
            found[concern.key] = concern
    return found


def _step(
    finding: Finding, concern: Concern | None, *, unknown: Callable[[Concern], bool], now: datetime, reason: Reason
) -> Step:
    """Return the one step that a known finding takes in this pass.

    What half a look would change (that one side floats is in the files, how bad that is nobody sees) stays as it was.
    """
    if concern is not None:
        is_half_seen = finding.state is not State.RESOLVED and unknown(concern)
        if not (is_half_seen and _weight(concern) != _weight(finding.concern)):
            return _seen(finding, concern, now)
    elif finding.state is State.RESOLVED:
        return finding, None
    elif not unknown(finding.concern) and _is_over(finding):
        return _resolved(finding, now, reason)
    # A snooze runs out by the clock: whoever asked to be reminded is reminded, though we could not look today.
    if _has_slept(finding, now):
        return _moved(finding, State.OPEN, now), EventKind.WOKE
    return finding, None


def _seen(finding: Finding, concern: Concern, now: datetime) -> Step:
    """Return the step of a known finding that this pass found again."""
    if finding.is_dismissed:
        return finding, None
    fresh = finding if concern == finding.concern else replace(finding, concern=concern)
    if finding.state is State.RESOLVED:
        return replace(_moved(fresh, State.OPEN, now), opened_at=now), EventKind.REOPENED
    if _has_slept(finding, now):
        return _moved(fresh, State.OPEN, now), EventKind.WOKE
    if concern.severity.rank > finding.concern.severity.rank:
        # Whoever silenced it, silenced something less severe.
        return _louder(fresh, now), EventKind.CHANGED
    if _weight(concern) != _weight(finding.concern):
        return replace(fresh, changed_at=now), EventKind.CHANGED
    return fresh, None


def _weight(concern: Concern) -> tuple[Severity, Oid | None]:
    """Return what is worth telling when it changes."""
    return concern.severity, concern.target


def _louder(finding: Finding, now: datetime) -> Finding:
    """Return a finding that grew more severe: open, whatever it was."""
    if finding.state is State.OPEN:
        return replace(finding, changed_at=now)
    return _moved(finding, State.OPEN, now)


def _opened(concern: Concern, now: datetime) -> Step:
    """Return the first step of a concern that nobody knew."""
    return Finding(concern=concern, state=State.OPEN, opened_at=now, changed_at=now), EventKind.OPENED


def _resolved(finding: Finding, now: datetime, reason: Reason) -> Step:
    """Return the last step; of something that merely happened, the note of whoever took note of it is kept."""
    note, link = (finding.note, finding.link) if finding.concern.is_event else reason(finding)
    return replace(_moved(finding, State.RESOLVED, now, note=note), link=link), EventKind.RESOLVED


def _is_over(finding: Finding) -> bool:
    """Answer whether absence ends it: what merely happened ends only after somebody took note."""
    return not finding.concern.is_event or finding.state is State.ACKNOWLEDGED


def _has_slept(finding: Finding, now: datetime) -> bool:
    """Answer whether the finding's snooze has run out."""
    return finding.state is State.SNOOZED and (finding.snoozed_until is None or finding.snoozed_until <= now)


def _moved(finding: Finding, state: State, now: datetime, *, note: str = "", until: datetime | None = None) -> Finding:
    """Return the finding in another state; a note, and who gave it, belong to the state that it was given with."""
    return replace(
        finding, state=state, changed_at=now, snoozed_until=until, note=note, by="", link=None, is_dismissed=False
    )


def _told(
    finding: Finding,
    kind: EventKind,
    *,
    state: State,
    now: datetime,
    note: str = "",
    until: datetime | None = None,
    by: str = "",
) -> tuple[Finding, Event]:
    """Return the finding after somebody acted on it, and the event."""
    after = replace(_moved(finding, state, now, note=note, until=until), by=by)
    return after, Event(kind=kind, finding=after, at=now)


def _refuse_resolved(finding: Finding, act: str) -> None:
    """Raise where there is nothing left to act on."""
    if finding.state is State.RESOLVED:
        resolved = f"resolved on {finding.changed_at:%Y-%m-%d %H:%M} UTC"
        raise UsageError(f"cannot {act} {finding.key}: it is {resolved} and opens by itself if it comes back")
