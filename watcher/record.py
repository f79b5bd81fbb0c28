"""Write down what a pass saw, and how things stand."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from watcher.address import host
from watcher.assess import Assessment
from watcher.config import Settings
from watcher.downstreams import Found
from watcher.due import observable
from watcher.facts import DISCUSSED, VERSION, to_discussed, to_fact
from watcher.judge.concerns import has_other_id
from watcher.judge.drift import groups
from watcher.judge.reachability import holders
from watcher.model import Hosted, Pass, Patience, Ref
from watcher.report.json import drift_document, upstream_document
from watcher.store import Look, Store
from watcher.upstreams import Looked

_MOST_HOLDERS = 50
"""How many refs the ledger keeps for one commit at one look; the branches that upstream publishes come first."""


def remember(store: Store, settings: Settings, found: Found, looked: Looked, now: datetime) -> dict[str, Patience]:
    """Record pins, refs, moves, the ledger, identities, facts and looks; return what patience is left, by upstream."""
    # Another pass may have seen, and recorded, the same moves since this one began.
    held = {pin for reading in store.readings().values() for pin in reading.pins}
    store.record_moved_pins(it for it in found.moved if it.pin in held)
    store.record_readings((it for it in found.readings if it.name in found.fresh), now)
    store.forget_readings({*found.downstreams, *found.unread})
    store.record_looks(_looks(settings, found, looked, store.looks(), now))
    for upstream, assessment in looked.assessments.items():
        _remember(store, upstream, assessment, looked.hosted.get(upstream), now)
        store.record_look(upstream, None, now)
    for upstream, told in looked.discussions.items():
        facts = {landing: to_discussed(it) for landing, it in told.items()}
        store.record_facts(upstream, "discussion", DISCUSSED, facts)
    for place, kept in looked.replies.items():
        store.keep_reply(place, kept, now)
    failures = {upstream: store.record_look(upstream, failure, now) for upstream, failure in looked.unobserved.items()}
    return {upstream: patience for upstream, patience in failures.items() if patience is not None}


def _looks(
    settings: Settings, found: Found, looked: Looked, known: Mapping[str, Look], now: datetime
) -> dict[str, Look]:
    """Return when what was looked at; a host that asked for patience is left alone with all that it serves."""
    waits: dict[str, datetime] = {}
    for name, failure in looked.unobserved.items():
        if failure.retry_after:
            at = host(settings.address(name))
            waits[at] = max(waits.get(at, now), now + timedelta(seconds=failure.retry_after))
    looks = {f"downstream {name}": Look(at=now) for name in found.fresh | found.unread}
    for name in observable(found.pins):
        last = known.get(f"upstream {name}")
        wait = waits.get(host(settings.address(name)))
        if name in looked:
            looks[f"upstream {name}"] = Look(at=now, not_before=wait)
        elif last and wait:
            looks[f"upstream {name}"] = replace(last, not_before=wait)
    return looks


def standing(store: Store, settings: Settings, found: Found, looked: Looked, told: Pass) -> None:
    """Record that downstreams ran, and how what was looked at stands, in the public shape of a report."""
    for name in found.downstreams:
        store.record_run(name, told.at)
    upstreams = {f"upstream {name}": upstream_document(told, name) for name in looked.assessments}
    drifts = {f"drift {drift.name}": drift_document(drift) for drift in told.drift}
    store.record_standings(upstreams | drifts, told.at)
    if not found.unread:
        store.forget_standings("upstream", observable(found.pins))
        store.forget_standings("drift", groups(found.pins, settings.relatives))
        store.forget_failures(observable(found.pins))


def _remember(store: Store, upstream: str, assessment: Assessment, hosted: Hosted | None, now: datetime) -> None:
    seen = assessment.seen
    store.record_snapshot(upstream, seen.advertisement, now)
    store.record_moves(upstream, seen.moves)
    head = seen.advertisement.head
    for commit in {found.commit for found in seen.positions.values() if found.commit and not found.holders}:
        refs = (*seen.advertisement.refs, *seen.advertisement.pulls)
        holding = sorted(holders(commit, refs, seen.graph), key=lambda ref: _rank(ref, head))
        store.record_holdings(upstream, commit, holding[:_MOST_HOLDERS], now)
    is_same = not has_other_id(seen) and not (seen.known_roots and seen.known_roots.isdisjoint(seen.roots))
    if is_same:
        store.record_identity(upstream, now, roots=seen.roots, moved_to=seen.advertisement.moved_to)
    if hosted is not None:
        store.record_hosted(upstream, hosted, is_same=is_same)
    facts = {landing: to_fact(repair) for landing, repair in assessment.repairs.items()}
    store.record_facts(upstream, "repair", VERSION, facts)


def _rank(ref: Ref, head: str | None) -> tuple[bool, bool, str]:
    return (ref.name != head, not ref.name.startswith("refs/heads/"), ref.name)
