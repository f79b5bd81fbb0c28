"""Was everything told, once, in order? The outbox held against what the Slack on loopback received."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from tests.soak.stage import Stage, Timed
from watcher.model import Event, EventKind, Severity, State
from watcher.store import Owed


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What became of the messages."""

    events: int
    """Events that are worth a message."""
    delivered: int
    dropped: int
    held: int
    received: int
    """Messages that arrived, those that came twice included."""
    twice: Mapping[str, int]
    """Why messages came twice → how many did."""
    troubles: tuple[str, ...]


@dataclass
class _Books:
    received: dict[str, list[float]] = field(default_factory=dict)
    """Idempotency key → when it arrived."""


def told(stage: Stage) -> Told:
    """Return what became of all messages; call it when the outbox is empty."""
    books, outbox = _received(stage), stage.store.outbox()
    troubles: list[str] = []
    by_key = {it.key: it for it in outbox}
    twice: Counter[str] = Counter()
    for key, times in books.received.items():
        if key not in by_key:
            troubles.append(f"arrived, but nobody owed it: {key}")
        for first, second in pairwise(times):
            why = _why_twice(stage, by_key.get(key), first, second)
            twice[why] += 1
            if why == "unexplained":
                troubles.append(f"arrived twice without a reason: {key} at {first:.1f} and {second:.1f}")
    for message in outbox:
        troubles += _unsent(message, books)
    worth = [event for event in stage.store.events() if _is_worth(event)]
    needless = {(it.payload.get("finding"), it.dropped_at) for it in outbox if it.dropped_at}
    owed = {key.rpartition(" ")[0] for key in by_key}
    for event in worth:
        # What was held back, of a finding that comes and goes, and what ended it: nobody needs to hear of either.
        if event.id not in owed and (event.finding.key, event.at) not in needless:
            troubles.append(f"owed to nobody: {event.id}")
    troubles += _left_wrong(stage, outbox)
    troubles += _untold_baseline(stage, outbox)
    troubles += _out_of_order(outbox, books)
    return Told(
        events=len(worth),
        delivered=sum(it.delivered_at is not None for it in outbox),
        dropped=sum(it.dropped_at is not None for it in outbox),
        held=sum(it.not_before is not None and it.delivered_at is None and it.dropped_at is None for it in outbox),
        received=sum(len(times) for times in books.received.values()),
        twice=dict(twice),
        troubles=tuple(troubles),
    )


def _received(stage: Stage) -> _Books:
    books = _Books()
    assert isinstance(stage.slack.messages, Timed)
    for at, message in stage.slack.messages.put_at:
        if message["method"] == "chat.postMessage":
            said = message["metadata"]
            payload = (json.loads(said) if isinstance(said, str) else said)["event_payload"]
            books.received.setdefault(payload["key"], []).append(at)
    return books


def _why_twice(stage: Stage, message: Owed | None, first: float, second: float) -> str:
    """Explain why a message came again: nobody could have noted that it arrived."""
    if message is None:
        return "unexplained"
    marked = message.delivered_at.timestamp() if message.delivered_at else second
    if any(first <= at <= min(second, marked) for at in stage.service.kills):
        return "killed between sending and noting it"
    return "unexplained"


def _unsent(message: Owed, books: _Books) -> list[str]:
    is_there = message.key in books.received
    if message.delivered_at is not None and not is_there:
        return [f"marked as sent, but it never arrived: {message.key}"]
    if message.failed_at is not None:
        return [f"given up: {message.key}: {message.reason}"]
    if message.delivered_at is None and is_there and message.dropped_at is None:
        return [f"arrived, but was never marked: {message.key}"]
    return []


def _is_worth(event: Event) -> bool:
    severity = event.finding.concern.severity
    if event.is_baseline:
        return severity is Severity.CRITICAL
    return severity is not Severity.LOW and event.kind is not EventKind.WOKE


def _untold_baseline(stage: Stage, outbox: tuple[Owed, ...]) -> list[str]:
    """Return what the one summary of the first look leaves out."""
    summaries = [it for it in outbox if "baseline" in it.payload]
    listed = {key for it in summaries for key in it.payload["baseline"]}
    first = [event for event in stage.store.events() if event.is_baseline and not _is_worth(event)]
    untold = [f"not in the summary of the first look: {it.finding.key}" for it in first if it.finding.key not in listed]
    return [*untold, *([f"{len(summaries)} summaries of the first look"] if len(summaries) != 1 else [])]


def _left_wrong(stage: Stage, outbox: tuple[Owed, ...]) -> list[str]:
    """Return the findings of which people believe that they are over, or not over, while it is the other way round."""
    last: dict[str, Owed] = {}
    for message in outbox:
        if message.dropped_at is None and "finding" in message.payload:
            last[message.payload["finding"]] = message
    return [
        f"last told as {last[it.key].payload['event']}, but it is {it.state}: {it.key}"
        for it in stage.store.findings()
        if it.key in last and (last[it.key].payload["event"] == "resolved") != (it.state is State.RESOLVED)
    ]


def _out_of_order(outbox: tuple[Owed, ...], books: _Books) -> list[str]:
    """Return what was told of a finding before something that happened to it earlier."""
    found, last = [], dict[str, tuple[float, str]]()
    for message in outbox:
        finding, times = message.payload.get("finding"), books.received.get(message.key)
        if finding is None or times is None:
            continue
        before = last.get(finding)
        if before and before[0] > times[-1]:
            found.append(f"told before what came first: {message.key}, {before[1]}")
        last[finding] = (times[0], message.key)
    return found
