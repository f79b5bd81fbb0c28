"""Do what a person says about a finding, at the command line or by a button, and owe the news of it."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import assert_never

from watcher import findings
from watcher.config import Settings
from watcher.errors import UsageError
from watcher.model import Event, Finding
from watcher.routing import owe
from watcher.store import Store

_SUGGESTED = 8
"""How many names a message offers."""


class Act(StrEnum):
    """What a person can say about a finding."""

    ACKNOWLEDGE = "acknowledge"
    SNOOZE = "snooze"
    NOT_A_FIX = "not-a-fix"
    REOPEN = "reopen"


def act(
    store: Store,
    settings: Settings,
    name: str,
    what: Act,
    now: datetime,
    *,
    note: str = "",
    by: str = "",
    pause: timedelta = timedelta(days=7),
) -> Event:
    """Do it and record it, with who did; raise UsageError where the name means no finding, or it cannot be done."""
    with store.atomic():
        finding = finding_named(store, name)
        match what:
            case Act.ACKNOWLEDGE:
                after, event = findings.acknowledge(finding, now, note, by)
            case Act.SNOOZE:
                after, event = findings.snooze(finding, now + pause, now, note, by)
            case Act.NOT_A_FIX:
                after, event = findings.dismiss(finding, now, note, by)
            case Act.REOPEN:
                after, event = findings.reopen(finding, now)
            case other:
                assert_never(other)
        store.commit_pass([after], [event], (), now)
        owe(store, settings, [event], now)
    return event


def finding_named(store: Store, name: str) -> Finding:
    """Return the finding with this handle, or this key or unmistakable part of it; raise UsageError otherwise."""
    known = store.findings()
    exact = [finding for finding in known if name in {finding.handle, finding.key}]
    found = exact or [finding for finding in known if name in finding.key]
    match found:
        case [only]:
            return only
        case []:
            raise UsageError(f"no finding {name!r}: `watcher check` shows the seven digits of each")
        case several:
            names = ", ".join(f"{finding.handle} ({finding.concern.headline})" for finding in several[:_SUGGESTED])
            raise UsageError(f"{name!r} may mean {len(several)} findings: {names}")
