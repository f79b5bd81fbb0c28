"""The story of one pass: discover the pins, look at their upstreams, judge, reconcile the findings, record, tell.

Read this file first. It decides nothing: what is judged is in `judge`, what becomes of it in `findings`.
"""

from datetime import datetime, timedelta

from watcher import findings
from watcher.across import (
    concerns,
    dependencies,
    drifts,
    first_looks,
    outcome,
    reasons,
    unknowns,
    with_past_events_ended,
)
from watcher.config import Settings
from watcher.downstreams import discover
from watcher.due import Due, chosen
from watcher.model import Pass
from watcher.progress import Progress, quiet
from watcher.record import remember, standing
from watcher.routing import owe
from watcher.store import Store
from watcher.upstreams import look

LATELY = timedelta(days=60)
"""How long ago a pin may have been moved for that to be why something is over now."""


def check(
    settings: Settings, store: Store, *, now: datetime, due: Due | None = None, progress: Progress = quiet
) -> Pass:
    """Make one pass, record it, and return what it found: over what is due, or over everything that is configured."""
    before = store.readings()
    found = discover(settings, before, now=now, due=None if due is None else due.downstreams, progress=progress)
    pins = chosen(due, found.readings, before, settings.relatives_of)
    shared = dependencies(settings, found.pins)
    looked = look(settings, store, pins, shared, now=now, progress=progress)
    drifted = drifts(shared, looked)
    with store.atomic():
        patience = remember(store, settings, found, looked, now)
        wrong = concerns(settings, found, looked, drifted, patience, now)
        first = frozenset(name for name in found.downstreams if store.is_first_run(name))
        known = store.findings()
        is_first = first_looks(found, first, {it.key for it in known})
        after, events = findings.reconcile(
            with_past_events_ended(known, found),
            wrong,
            unknown=unknowns(found, looked),
            is_first=is_first,
            reason=reasons(looked, store.moved_pins(now - LATELY), findings.dismissed(known)),
            now=now,
        )
        store.commit_pass(findings.changed(known, after), events, (), now)
        owe(store, settings, events, now)
        told = outcome(found, looked, drifted, after, events, now=now, is_first=bool(first))
        standing(store, settings, found, looked, told)
    return told
