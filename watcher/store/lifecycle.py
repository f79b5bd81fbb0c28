"""What became of findings, and the messages that are owed for it: written together, so that no crash parts them.

A message is owed under an idempotency key. It is sent after the pass is on the disk and marked afterwards: a crash in
between sends it again under the same key, never not at all.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from watcher.errors import StoreError
from watcher.model import Event, EventKind, Finding
from watcher.store import rows
from watcher.store.database import Database
from watcher.store.rows import json_text, stamp, stamp_or_none, storable, time, time_or_none


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message that is to be sent."""

    about: str
    """What it tells, once per channel: an event's id, or a name such as that of a week's digest."""
    channel: str
    payload: Mapping[str, Any]
    """What the sender makes words of; `finding` names the finding that it is about."""
    not_before: datetime | None = None
    """It is held until then: quiet hours, or a finding that comes and goes."""

    @property
    def key(self) -> str:
        """Return the idempotency key."""
        return f"{self.about} {self.channel}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Owed:
    """One message in the outbox."""

    id: int
    key: str
    """Idempotency key, to be handed to the receiver where it takes one."""
    channel: str
    payload: Mapping[str, Any]
    created_at: datetime
    attempts: int
    """How often it was tried, the successful one included."""
    next_try_at: datetime
    delivered_at: datetime | None
    failed_at: datetime | None
    """When it was given up."""
    reason: str
    """Why the last try failed; empty where none did."""
    not_before: datetime | None = None
    """It is held until then."""
    dropped_at: datetime | None = None
    """When something newer made it needless before it was sent."""


_FURTHEST = timedelta(hours=2)
"""No try is put off for longer: what is to be tried later than that was put off by a clock that went wrong."""
_LONGEST_HELD = timedelta(days=2)
"""Likewise for what is held: quiet hours end within a day."""
_TOLD = timedelta(days=14)
"""How long a message that was given up is told of."""
_LOGGED = "SELECT kind, body, at, is_baseline FROM events"
_OWED = (
    "SELECT id, idempotency_key, channel, payload, created_at, attempts, next_try_at, delivered_at, failed_at, reason,"
    " not_before, dropped_at FROM outbox"
)
_WAITS = "delivered_at IS NULL AND failed_at IS NULL AND dropped_at IS NULL"


class Lifecycle(Database):
    """The memory of findings, events and messages."""

    def findings(self, only: Iterable[str] | None = None) -> tuple[Finding, ...]:
        """Return every finding that was ever made, resolved ones too, or those of some keys; by key."""
        found = self._among("SELECT body FROM findings", "key", only)
        return tuple(rows.finding(body) for (body,) in found)

    def finding(self, key: str) -> Finding | None:
        """Return one finding, or None."""
        row = self._row("SELECT body FROM findings WHERE key = ?", storable(key))
        return None if row is None else rows.finding(row[0])

    def is_snooze_over(self, now: datetime) -> bool:
        """Answer whether a finding was put off until now or earlier."""
        asked = "SELECT 1 FROM findings WHERE state = 'snoozed' AND json_extract(body, '$.snoozed_until') <= ?"
        return self._row(asked, stamp(now)) is not None

    def dismissed(self) -> tuple[Finding, ...]:
        """Return the findings of which somebody said that they are about no fix."""
        found = self._rows("SELECT body FROM findings WHERE json_extract(body, '$.is_dismissed') ORDER BY key")
        return tuple(rows.finding(body) for (body,) in found)

    def events(self, key: str | None = None) -> tuple[Event, ...]:
        """Return the log of events, oldest first; of one finding, if its key is given."""
        return tuple(self._events("") if key is None else self._events("WHERE key = ?", storable(key)))

    def events_since(self, since: datetime) -> tuple[Event, ...]:
        """Return the log of events from a moment on, oldest first."""
        return tuple(self._events("WHERE at >= ?", stamp(since)))

    def commit_pass(
        self, findings: Iterable[Finding], events: Iterable[Event], messages: Iterable[Message], at: datetime
    ) -> None:
        """Write findings, what happened to them and what is owed for it: everything or nothing.

        To write the same pass twice is to write it once.
        """
        with self.atomic():
            self._record_findings(findings)
            self._record_events(events)
            self.owe(messages, at)

    # --- the outbox --------------------------------------------------------------------------------------------------

    def owe(self, messages: Iterable[Message], at: datetime) -> None:
        """Put messages into the outbox, due at once; one whose key is there already is left as it is."""
        owed = tuple(messages)
        if not owed:
            return
        with self.atomic():
            self._write_all(
                """
                INSERT INTO outbox (idempotency_key, channel, payload, finding, created_at, next_try_at, not_before)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (idempotency_key) DO NOTHING
                """,
                [_message_row(it, stamp(at)) for it in owed],
            )
            self._write_all(
                "INSERT OR IGNORE INTO named (finding, message) SELECT ?, id FROM outbox WHERE idempotency_key = ?",
                [(storable(key), storable(it.key)) for it in owed for key in it.payload.get("baseline", ())],
            )

    def due(self, now: datetime) -> tuple[Owed, ...]:
        """Return the messages to try now, in the order in which they came to be owed.

        None overtakes an earlier one of its channel that waits for its next try, nor one about its finding that is
        held.
        """
        found: list[Owed] = []
        shut: set[str] = set()
        held: set[tuple[str, str | None]] = set()
        for message in self.waiting():
            about = (message.channel, message.payload.get("finding"))
            if now < message.next_try_at <= now + _FURTHEST:
                shut.add(message.channel)
            if message.not_before and now < message.not_before <= now + _LONGEST_HELD:
                held.add(about)
                continue
            is_behind = message.channel in shut or (about[1] is not None and about in held)
            if not is_behind:
                found.append(message)
        return tuple(found)

    def waiting(self) -> tuple[Owed, ...]:
        """Return the messages that are owed and were not sent yet, oldest first."""
        return self._owed(f"WHERE {_WAITS}")

    def about(self, finding: str) -> tuple[Owed, ...]:
        """Return every message that was ever owed about a finding, first looks that name it too, oldest first."""
        key = storable(finding)
        return self._owed("WHERE finding = ? OR id IN (SELECT message FROM named WHERE finding = ?)", key, key)

    def drop(self, messages: Iterable[int], at: datetime) -> None:
        """Mark messages as needless before they were sent."""
        now = stamp(at)
        self._write_all(
            f"UPDATE outbox SET dropped_at = ? WHERE id = ? AND {_WAITS}",  # noqa: S608 - no text of others in it
            [(now, message) for message in messages],
        )

    def event_of(self, message: Owed) -> Event | None:
        """Return the event that a message tells, None for one that tells something else."""
        about = message.key.removesuffix(f" {message.channel}")
        return next(self._events("WHERE event = ?", about), None)

    def outbox(self) -> tuple[Owed, ...]:
        """Return every message that was ever owed."""
        return self._owed("")

    def stuck(self, now: datetime) -> tuple[tuple[str, str, int], ...]:
        """Return (channel, reason, how many) of the messages that were tried and did not arrive, or not everywhere.

        What waits is told as long as it waits; what was given up, or refused to some, for a fortnight: so that it is
        in a digest.
        """
        return tuple(
            self._rows(
                "SELECT channel, reason, count(*) FROM outbox WHERE dropped_at IS NULL AND reason <> ''"
                " AND coalesce(delivered_at, failed_at, '9') > ?"
                " GROUP BY channel, reason ORDER BY channel, reason",
                stamp(now - _TOLD),
            )
        )

    def delivered(self, message: int, at: datetime, but: str = "") -> None:
        """Mark a message as sent, but for those that `but` names with the reason; once more changes nothing."""
        self._mark(
            message,
            "UPDATE outbox SET attempts = attempts + 1, delivered_at = ?, failed_at = NULL, reason = ?"
            " WHERE delivered_at IS NULL AND id = ?",
            stamp(at),
            storable(but),
        )

    def postponed(self, message: int, reason: str, next_try_at: datetime, *, is_failure: bool = True) -> None:
        """Mark a try as failed, to be made again; one that the other side merely put off is not counted."""
        self._mark(
            message,
            "UPDATE outbox SET attempts = attempts + ?, reason = ?, next_try_at = ?"
            " WHERE delivered_at IS NULL AND id = ?",
            int(is_failure),
            storable(reason),
            stamp(next_try_at),
        )

    def given_up(self, message: int, reason: str, at: datetime) -> None:
        """Mark a message as one that can never be sent; it stays, with the reason."""
        self._mark(
            message,
            "UPDATE outbox SET attempts = attempts + 1, reason = ?, failed_at = ?"
            " WHERE delivered_at IS NULL AND id = ?",
            storable(reason),
            stamp(at),
        )

    def post_of(self, key: str, channel: str) -> str | None:
        """Return where the first message about a finding stands in a channel, as the channel told it, or None."""
        row = self._row("SELECT place FROM posts WHERE key = ? AND channel = ?", storable(key), channel)
        return None if row is None else str(row[0])

    def record_post(self, key: str, channel: str, place: str | None) -> None:
        """Note where the first message about a finding stands; None forgets it."""
        if place is None:
            self._write("DELETE FROM posts WHERE key = ? AND channel = ?", storable(key), channel)
        else:
            self._write(
                "INSERT INTO posts (key, channel, place) VALUES (?, ?, ?)"
                " ON CONFLICT DO UPDATE SET place = excluded.place",
                storable(key),
                channel,
                place,
            )

    # --- first runs --------------------------------------------------------------------------------------------------

    def last_changes(self) -> tuple[object, ...]:
        """Return what is another value after every pass, every event, and every message that was tried."""
        [looked] = self._row("SELECT max(at) FROM looks") or (None,)
        [happened] = self._row("SELECT max(id) FROM events") or (None,)
        told = self._row("SELECT max(id), sum(attempts), count(delivered_at), count(dropped_at) FROM outbox") or ()
        return (looked, happened, *told)

    def first_run_at(self) -> datetime | None:
        """Return when the first pass over any downstream was recorded."""
        row = self._row("SELECT min(first_run_at) FROM downstreams")
        return time_or_none(row[0]) if row else None

    def is_first_run(self, downstream: str) -> bool:
        """Answer whether no pass over a downstream was ever recorded."""
        return self._row("SELECT 1 FROM downstreams WHERE name = ?", downstream) is None

    def record_run(self, downstream: str, at: datetime) -> None:
        """Note that a pass over a downstream was made."""
        self._write(
            "INSERT INTO downstreams (name, first_run_at) VALUES (?, ?) ON CONFLICT DO NOTHING", downstream, stamp(at)
        )

    # --- parts -------------------------------------------------------------------------------------------------------

    def _record_findings(self, findings: Iterable[Finding]) -> None:
        """Write findings as they are now; those that did not change cost no write."""
        self._write_all(
            """
            INSERT INTO findings (key, kind, severity, state, body) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET
                kind = excluded.kind, severity = excluded.severity, state = excluded.state, body = excluded.body
            WHERE excluded.body <> findings.body
            """,
            [
                (storable(it.key), it.concern.kind, it.concern.severity, it.state, rows.finding_text(it))
                for it in findings
            ],
        )

    def _record_events(self, events: Iterable[Event]) -> None:
        """Add events to the log."""
        self._write_all(
            """
            INSERT INTO events (event, key, kind, at, is_baseline, body) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (event) DO NOTHING
            """,
            [
                (
                    storable(event.id),
                    storable(event.finding.key),
                    event.kind,
                    stamp(event.at),
                    event.is_baseline,
                    rows.finding_text(event.finding),
                )
                for event in events
            ],
        )

    def _events(self, which: str, *values: object) -> Iterator[Event]:
        """Yield events of the log, oldest first."""
        found = self._rows(f"{_LOGGED} {which} ORDER BY id", *values)
        for kind, body, at, is_baseline in found:
            yield Event(kind=EventKind(kind), finding=rows.finding(body), at=time(at), is_baseline=bool(is_baseline))

    def _owed(self, which: str, *values: object) -> tuple[Owed, ...]:
        """Return messages of the outbox, oldest first."""
        return tuple(_message(row) for row in self._rows(f"{_OWED} {which} ORDER BY id", *values))

    def _mark(self, message: int, change: str, *values: object) -> None:
        """Write down how one try of a message went, unless it was sent before."""
        with self.atomic():
            if self._row("SELECT 1 FROM outbox WHERE id = ?", message) is None:
                raise StoreError(f"{self.path} holds no message {message}")
            self._write(change, *values, message)


def _message_row(it: Message, now: str) -> tuple[str | None, ...]:
    """Return a message as it is written."""
    finding = it.payload.get("finding")
    about = None if finding is None else storable(finding)
    return (
        storable(it.key),
        it.channel,
        json_text(it.payload),
        about,
        now,
        now,
        stamp_or_none(it.not_before),
    )


def _message(row: tuple[Any, ...]) -> Owed:
    """Return the message in a row of the outbox."""
    number, key, channel, payload, created, attempts, next_try, delivered, failed, reason, not_before, dropped = row
    return Owed(
        id=number,
        key=key,
        channel=channel,
        payload=json.loads(payload),
        created_at=time(created),
        attempts=attempts,
        next_try_at=time(next_try),
        delivered_at=time_or_none(delivered),
        failed_at=time_or_none(failed),
        reason=reason,
        not_before=time_or_none(not_before),
        dropped_at=time_or_none(dropped),
    )
