"""The story of one pass: discover the pins, look at their upstreams, judge, reconcile the findings, record, tell.

Read this file first. It decides nothing: what is judged is in `judge`, what becomes of it in `findings`.
"""

from datetime import datetime

from watcher import findings
from watcher.across import concerns, drifts, first_looks, outcome, unknowns, with_past_events_ended
from watcher.config import Settings
from watcher.downstreams import discover
from watcher.model import Pass
from watcher.progress import Progress, quiet
from watcher.record import owed, remember
from watcher.store import Store
from watcher.upstreams import look


def check(settings: Settings, store: Store, *, now: datetime, progress: Progress = quiet) -> Pass:
    """Make one pass over everything that the configuration names, record it, and return what it found."""
    found = discover(settings, progress=progress)
    looked = look(settings, store, found.pins, now=now, progress=progress)
    drifted = drifts(settings, found.pins, looked)
    with store.atomic():
        patience = remember(store, looked, now)
        wrong = concerns(settings, found, looked, drifted, patience, now)
        first = frozenset(name for name in found.downstreams if store.is_first_run(name))
        known, events = findings.reconcile(
            with_past_events_ended(store.findings(), found),
            wrong,
            unknown=unknowns(found, looked),
            is_first=first_looks(found, first),
            now=now,
        )
        store.commit_pass(known, events, owed(settings, events), now)
        for name in found.downstreams:
            store.record_run(name, now)
    return outcome(found, looked, drifted, known, events, now=now, is_first=bool(first))
