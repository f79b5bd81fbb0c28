"""Write down what a pass saw, and the messages that it owes."""

from collections.abc import Iterable
from datetime import datetime

from watcher.assess import Assessment
from watcher.config import Settings
from watcher.facts import VERSION, to_fact
from watcher.judge.reachability import holders
from watcher.model import Event, EventKind, Patience, Ref, Severity
from watcher.store import Message, Store
from watcher.upstreams import Looked

_MOST_HOLDERS = 50
"""How many refs the ledger keeps for one commit at one look; the branches that upstream publishes come first."""


def remember(store: Store, looked: Looked, now: datetime) -> dict[str, Patience]:
    """Record refs, moves, the ledger, identities, facts and failed looks; return what patience is left, by upstream."""
    for upstream, assessment in looked.assessments.items():
        _remember(store, upstream, assessment, now)
        store.record_look(upstream, None, now)
    failures = {upstream: store.record_look(upstream, failure, now) for upstream, failure in looked.unobserved.items()}
    return {upstream: patience for upstream, patience in failures.items() if patience is not None}


def _remember(store: Store, upstream: str, assessment: Assessment, now: datetime) -> None:
    seen = assessment.seen
    store.record_snapshot(upstream, seen.advertisement, now)
    store.record_moves(upstream, seen.moves)
    head = seen.advertisement.head
    for commit in {found.commit for found in seen.positions.values() if found.commit and not found.holders}:
        refs = (*seen.advertisement.refs, *seen.advertisement.pulls)
        holding = sorted(holders(commit, refs, seen.graph), key=lambda ref: _rank(ref, head))
        store.record_holdings(upstream, commit, holding[:_MOST_HOLDERS], now)
    if not seen.known_roots or seen.known_roots & seen.roots:
        store.record_identity(upstream, now, roots=seen.roots, moved_to=seen.advertisement.moved_to)
    facts = {landing: to_fact(repair) for landing, repair in assessment.repairs.items()}
    store.record_facts(upstream, "repair", VERSION, facts)


def _rank(ref: Ref, head: str | None) -> tuple[bool, bool, str]:
    return (ref.name != head, not ref.name.startswith("refs/heads/"), ref.name)


def owed(settings: Settings, events: Iterable[Event]) -> tuple[Message, ...]:
    """Return the messages that the events owe to the channels of the configuration.

    A baseline is one message, but for what is critical; low findings wait for the digest.
    """
    channels = [name for name, there in (("slack", settings.slack),) if there is not None]
    alone = [event for event in events if _is_told_alone(event)]
    summary = [event for event in events if event.is_baseline and event not in alone]
    messages = [
        Message(about=event.id, channel=channel, payload={"finding": event.finding.key, "event": event.kind})
        for event in alone
        for channel in channels
    ]
    if summary:
        about = f"baseline {summary[0].at.isoformat()}"
        keys = [event.finding.key for event in summary]
        messages += [Message(about=about, channel=channel, payload={"baseline": keys}) for channel in channels]
    return tuple(messages)


def _is_told_alone(event: Event) -> bool:
    severity = event.finding.concern.severity
    if event.is_baseline:
        return severity is Severity.CRITICAL
    if event.kind is EventKind.RESOLVED:
        return severity.rank > Severity.LOW.rank
    return severity.rank > Severity.LOW.rank and event.kind is not EventKind.WOKE
