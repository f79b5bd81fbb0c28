"""A crash between any two statements loses nothing and repeats nothing."""

import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from watcher.errors import StoreError
from watcher.findings import reconcile
from watcher.model import Concern, EventKind, Kind, Severity
from watcher.store import Message, Store

NOW = datetime(2026, 8, 19, 9, tzinfo=UTC)
LATER = NOW + timedelta(minutes=15)


def concern(key):
    return Concern(key=key, kind=Kind.PIN_ABSENT, severity=Severity.CRITICAL, headline=key)


def run_pass(store, *keys, now):
    """Make a pass that finds these wrong, as one block."""
    with store.atomic():
        known = store.findings()
        found, events = reconcile(known, map(concern, keys), unknown=lambda _: False, now=now, is_first=lambda _: False)
        messages = [Message(about=event.id, channel="slack", payload={"text": event.id}) for event in events]
        store.commit_pass(found, events, messages, now)
        store.record_run("miles", now)


def told(store):
    """Return what happened, what is owed for it and what it led to."""
    return (
        [(event.kind, event.finding.key) for event in store.events()],
        [owed.payload["text"] for owed in store.outbox()],
        {found.key: found.state.value for found in store.findings()},
    )


@pytest.fixture(scope="module")
def before_and_after(tmp_path_factory):
    """Return what is told before and after the second pass when nothing goes wrong."""
    with Store.open(tmp_path_factory.mktemp("whole")) as store:
        run_pass(store, "a", "b", now=NOW)
        before = told(store)
        run_pass(store, "b", "c", now=LATER)
        return before, told(store)


class Failing(Store):
    """A store that fails at its n-th write."""

    left = 0

    def _die(self):
        self.left -= 1
        if self.left < 0:
            raise MemoryError

    def _write(self, sql, *values):
        self._die()
        return super()._write(sql, *values)

    def _write_all(self, sql, rows):
        self._die()
        super()._write_all(sql, rows)


def test_exception_between_any_two_writes(tmp_path, before_and_after):
    """Wherever an exception strikes, the pass was not made; made again, it is told once."""
    before, after = before_and_after
    survived = []
    for writes in count():
        folder = tmp_path / str(writes)
        with Failing.open(folder) as store:
            store.left = 99
            run_pass(store, "a", "b", now=NOW)
            store.left = writes
            try:
                run_pass(store, "b", "c", now=LATER)
            except MemoryError:
                assert before == told(store)
                store.left = 99
                run_pass(store, "b", "c", now=LATER)
            else:
                survived.append(writes)
            assert after == told(store)
        if survived:
            break
    assert [5] == survived, "findings, events, messages, what those name, the run: five writes to die at"


KILLED = """
import os, signal, sys
from datetime import datetime
from pathlib import Path
from tests.store.test_crash import run_pass
from watcher.store import Store
left = int(sys.argv[2])
def die(statement):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
with Store.open(Path(sys.argv[1])) as store:
    store._db.set_trace_callback(die)
    run_pass(store, "b", "c", now=datetime.fromisoformat(sys.argv[3]))
"""


def killed(folder, statements):
    """Run the second pass in a process that is killed before its n-th statement; return its exit code."""
    return subprocess.run(
        [sys.executable, "-c", KILLED, folder, str(statements), LATER.isoformat()], check=False, timeout=60
    ).returncode


def test_kill_between_any_two_statements(tmp_path, before_and_after):
    """Wherever a process is killed, the pass was made wholly or not at all; made again, it is told once."""
    before, after = before_and_after
    folder, codes, seen = tmp_path, [], []
    with Store.open(folder) as store:
        run_pass(store, "a", "b", now=NOW)
    # Killed in the same folder again and again: each attempt finds what the one before left behind.
    for statements in range(200):
        codes.append(killed(folder, statements))
        with Store.open(folder) as store:
            seen.append(told(store))
        if codes[-1] == 0:
            break
    assert [-signal.SIGKILL] * (len(codes) - 1) + [0] == codes
    assert len(codes) > 10, "BEGIN, savepoints, the writes and COMMIT are all points to die at"
    assert [before] * (len(codes) - 1) + [after] == seen


def test_kill_after_sending(tmp_path):
    """A process that dies between sending and marking sends again under the same key: late or twice, never not."""
    with Store.open(tmp_path) as store:
        run_pass(store, "a", now=NOW)
        (sent,) = store.due(NOW)
    with Store.open(tmp_path) as store:
        (again,) = store.due(LATER)
        assert (sent.key, sent.payload) == (again.key, again.payload)
        store.delivered(again.id, LATER)
        assert () == store.due(LATER)
        assert [EventKind.OPENED] == [event.kind for event in store.events()]


def large_pass(store):
    """Make the second pass with much to write; return why it could not be, empty where it was."""
    try:
        with store.atomic():
            run_pass(store, "b", "c", now=LATER)
            store.record_standings({f"much {it}": {"is": "x" * 3000} for it in range(20)}, LATER)
    except StoreError as error:
        return str(error)
    return ""


def test_no_room_for_any_page(tmp_path, before_and_after):
    """The disk is full at each page of a pass: it was made wholly or not at all, and is made once there is room."""
    before, after = before_and_after
    with Store.open(tmp_path) as store:
        run_pass(store, "a", "b", now=NOW)
        store._write_all("INSERT INTO standings VALUES (?, '', '{}')", [("x" * 900 + str(it),) for it in range(40)])
        [pages] = store._row("PRAGMA page_count")
    seen = []
    for room in range(60):
        with Store.open(tmp_path) as store:
            store._row(f"PRAGMA max_page_count = {pages + room}")
            said = large_pass(store)
            if not said:
                assert after == told(store)
                break
            assert "make room on the disk and run again" in said
            seen.append(told(store))
    assert [before] * len(seen) == seen
    assert 10 < len(seen) < 59
