"""Write down what a pass saw, and how things stand."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from watcher.address import host
from watcher.conclusion import Sighting, account_text, text_of
from watcher.config import Settings
from watcher.downstreams import Found
from watcher.due import observable
from watcher.facts import DISCUSSED, VERSION, to_discussed, to_fact
from watcher.judge.drift import groups
from watcher.model import Pass, Patience
from watcher.report.json import drift_document, upstream_documents
from watcher.store import Look, Store
from watcher.upstreams import Looked, forge_look


def remember(store: Store, settings: Settings, found: Found, looked: Looked, now: datetime) -> dict[str, Patience]:
    """Record pins, refs, moves, the ledger, identities, facts and looks; return what patience is left, by upstream."""
    # Another pass may have seen, and recorded, the same moves since this one began.
    held = {pin for reading in store.readings().values() for pin in reading.pins}
    store.record_moved_pins(it for it in found.moved if it.pin in held)
    store.record_readings((it for it in found.readings if it.name in found.fresh), now)
    store.forget_readings({*found.downstreams, *found.unread})
    store.record_looks(_looks(settings, found, looked, store.looks(), now))
    store.record_looks({forge_look(name): Look(at=now) for name in looked.hosted})
    store.record_snapshots({name: it.advertisement for name, it in looked.sightings.items()}, now)
    for upstream, sighting in looked.sightings.items():
        _remember(store, upstream, sighting, now)
        concluded = looked.conclusions[upstream]
        inputs = looked.inputs[upstream] if concluded.is_settled else ""
        store.record_conclusion(upstream, inputs, text_of(concluded), account_text(sighting.account))
    store.touch(looked.conclusions.keys() - looked.sightings.keys(), now)
    for upstream, hosted in looked.hosted.items():
        seen = looked.sightings.get(upstream)
        if upstream in looked.conclusions:
            store.record_hosted(upstream, hosted, is_same=seen is None or seen.is_same)
    for place, kept in looked.replies.items():
        store.keep_reply(place, kept, now)
    store.forget_failures_of(looked.conclusions)
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
    """Record that downstreams ran, and how what was judged stands, in the public shape of a report."""
    for name in found.downstreams:
        store.record_run(name, told.at)
    documents = upstream_documents(told, looked.sightings)
    upstreams = {f"upstream {name}": document for name, document in documents.items()}
    drifts = {f"drift {drift.name}": drift_document(drift) for drift in told.drift}
    store.record_standings(upstreams | drifts, told.at)
    if not found.unread:
        watched = observable(found.pins)
        store.forget_standings("upstream", watched)
        store.forget_standings("drift", groups(found.pins, settings.relatives))
        store.forget_failures(watched)
        store.forget_conclusions(watched)


def _remember(store: Store, upstream: str, sighting: Sighting, now: datetime) -> None:
    store.record_moves(upstream, sighting.moves)
    for commit, refs in sighting.holders.items():
        store.record_holdings(upstream, commit, refs, now)
    if sighting.is_same:
        store.record_identity(upstream, now, roots=sighting.roots, moved_to=sighting.advertisement.moved_to)
    facts = {landing: to_fact(repair) for landing, repair in sighting.repairs.items()}
    store.record_facts(upstream, "repair", VERSION, facts)
    told = {landing: to_discussed(it) for landing, it in sighting.discussions.items()}
    store.record_facts(upstream, "discussion", DISCUSSED, told)
