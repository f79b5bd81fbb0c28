"""A damaged database is set aside whole, and what can be read of it is carried over; a locked or full one is not."""

import random
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from math import ceil
from pathlib import Path

import pytest

from watcher.errors import DamagedError, StoreError
from watcher.findings import acknowledge, reconcile
from watcher.model import Advertisement, Concern, Kind, Ref, Severity, State, oid
from watcher.store import Look, Message, Store, damage

NOW = datetime(2026, 8, 19, 9, tzinfo=UTC)
AT_ONCE = timedelta(milliseconds=20)
ONE = "https://example.org/one"
MANY = 60
PAGE = 4096


def concern(number):
    """Return one thing that is wrong, with much to say."""
    key = f"pin-absent:{number:03}"
    return Concern(key=key, kind=Kind.PIN_ABSENT, severity=Severity.HIGH, headline=key, detail=("so " * 90,))


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """Return a state folder with findings, some acknowledged, their events and messages, and refs of an upstream."""
    folder = tmp_path_factory.mktemp("filled")
    refs = tuple(Ref(name=f"refs/tags/v{number:03}", oid=oid(f"{number:040x}")) for number in range(200))
    with Store.open(folder) as store, store.atomic():
        found, events = reconcile(
            [], map(concern, range(MANY)), unknown=lambda _: False, now=NOW, is_first=lambda _: False
        )
        owed = [Message(about=it.id, channel="slack", payload={"finding": it.finding.key}) for it in events]
        store.commit_pass(found, events, owed, NOW)
        for it in found[::7]:
            after, event = acknowledge(it, NOW + timedelta(hours=1), by="ann")
            store.commit_pass([after], [event], [], NOW)
        store.record_run("miles", NOW)
        store.record_snapshot(ONE, Advertisement(refs=refs, head="refs/heads/main", digest="d", reply="r"), NOW)
        store.record_holdings(ONE, oid("a" * 40), refs[:5], NOW)
        store.record_looks({"duty self-check": Look(at=NOW), f"upstream {ONE}": Look(at=NOW)})
        store.record_standings({"wish abc": {"way": "issue"}}, NOW)
    with closing(sqlite3.connect(folder / damage.FILE)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return folder


@pytest.fixture
def state(filled, tmp_path):
    """Return a copy of the filled folder."""
    return Path(shutil.copytree(filled, tmp_path / "state"))


def everything(store):
    """Return all that matters most: findings with their state and by whom, events, messages."""
    return (
        {it.key: (it.state, it.by) for it in store.findings()},
        [it.id for it in store.events()],
        [it.key for it in store.outbox()],
    )


def read_all(store):
    """Read what a pass reads."""
    return (
        everything(store),
        store.snapshot(ONE),
        store.ledger(ONE),
        store.looks(),
        store.readings(),
        store.standings("wish"),
        store.is_first_run("miles"),
    )


def aside(state):
    """Return the one database that was set aside."""
    [found] = [it for it in state.glob("watcher.db.damaged-*") if not it.name.endswith(("-wal", "-shm"))]
    return found


def used(state):
    """Use the database as two passes would, the first of which may meet the damage; return what the second reads."""
    news = ""
    try:
        with Store.open(state) as store:
            news = store.news
            store.verify()
            return news, read_all(store)
    except DamagedError:
        with Store.open(state) as store:
            store.verify()
            return store.news, read_all(store)


def noise(seed, size):
    """Return bytes that mean nothing, the same for the same seed."""
    return random.Random(seed).randbytes(size)  # noqa: S311 - no secret


def overwritten(file, at, content):
    """Write over a part of a file."""
    with file.open("r+b") as it:
        it.seek(at)
        it.write(content)


DAMAGES = {
    "header overwritten": lambda file: overwritten(file, 0, b"\xff" * 100),
    "first page zeroed": lambda file: overwritten(file, 0, bytes(PAGE)),
    "second half zeroed": lambda file: overwritten(file, file.stat().st_size // 2, bytes(file.stat().st_size // 2)),
    "cut in half": lambda file: file.write_bytes(file.read_bytes()[: file.stat().st_size // 2]),
    "cut within a page": lambda file: file.write_bytes(file.read_bytes()[: -PAGE - 100]),
    "cut within the header": lambda file: file.write_bytes(file.read_bytes()[:50]),
    "random bytes": lambda file: file.write_bytes(noise(8, file.stat().st_size)),
    "a page that is text": lambda file: overwritten(file, 9 * PAGE, b"<html>login</html>" * 200),
    "no database at all": lambda file: file.write_text("this is a log file, and no database\n" * 300),
    "a few bytes": lambda file: file.write_bytes(b"short"),
}


@pytest.mark.parametrize("kind", DAMAGES)
def test_damaged(state, filled, kind):
    """It is found, set aside as it was, told of, and what is read afterwards was there before."""
    DAMAGES[kind](state / damage.FILE)
    content = (state / damage.FILE).read_bytes()
    news, ((found, events, messages), *_, is_first) = used(state)
    assert content == aside(state).read_bytes()
    assert str(aside(state)) in news
    assert "\n" not in news
    with Store.open(filled) as store:
        known, all_events, all_messages = everything(store)
    assert found.items() <= known.items()
    assert set(events) <= set(all_events)
    assert set(messages) <= set(all_messages)
    if known != found:
        assert is_first, "what nobody knows any more is told in one summary, and not as news"
    [line] = damage.aside(state)
    assert line.startswith(f"{aside(state)}: the state database was damaged and is set aside here")
    with Store.open(state) as store:
        assert "" == store.news


def schema_pages(file):
    """Return how many pages the description of the tables needs, as full as they can be, without the first one."""
    with closing(sqlite3.connect(file)) as db:
        rows = db.execute("SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema").fetchall()
    return ceil(sum(8 + sum(len(str(it)) for it in row) for row in rows) / PAGE)


@pytest.mark.parametrize("zeroed", [True, False], ids=["zeroed", "random"])
def test_any_one_page(filled, tmp_path, zeroed):
    """Whichever page goes: nothing that is read afterwards is false, and hardly a finding is lost for the one page."""
    with Store.open(filled) as store:
        known, all_events, all_messages = everything(store)
    shares = []
    for page in range(1, (filled / damage.FILE).stat().st_size // PAGE):
        state = Path(shutil.copytree(filled, tmp_path / f"{page}"))
        content = bytes(PAGE) if zeroed else noise(page, PAGE)
        overwritten(state / damage.FILE, page * PAGE, content)
        _, ((found, events, messages), snapshot, *_, is_first) = used(state)
        assert found.items() <= known.items()
        assert set(events) <= set(all_events)
        assert set(messages) <= set(all_messages)
        assert snapshot is None or 200 == len(snapshot.refs)
        assert is_first or known == found
        shares.append(len(found) / len(known))
        shutil.rmtree(state)
    # Without its schema nothing in a database is found; every other page costs what stood on it, at most.
    some = [it for it in shares if it]
    assert 0.99 < sum(some) / len(some)
    assert len(shares) - len(some) <= schema_pages(filled / damage.FILE)


def test_a_header_alone_costs_nothing(state, filled):
    """It says nothing that is not known."""
    overwritten(state / damage.FILE, 0, b"\0" * 100)
    news, ((found, *_), *_, is_first) = used(state)
    with Store.open(filled) as store:
        assert everything(store)[0] == found
    assert not is_first
    assert "all of it could be read and was carried over" in news


def test_everything_is_looked_at_anew(state):
    """What was concluded from a damaged database may be wrong: upstreams are due, and asked for all that they say."""
    overwritten(state / damage.FILE, 0, b"\0" * 100)
    _, (_, snapshot, _, looks, _, wishes, _) = used(state)
    assert ("", "", 200) == (snapshot.digest, snapshot.reply, len(snapshot.refs))
    assert {"duty self-check"} == looks.keys()
    assert {"abc": {"way": "issue"}} == wishes


def test_lost_findings_come_back_from_their_events(state):
    """Each event has its finding as it was; who took note of it is not asked again."""
    with closing(sqlite3.connect(state / damage.FILE)) as db:
        [root] = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'findings'").fetchone()
    overwritten(state / damage.FILE, (root - 1) * PAGE, bytes(PAGE))
    news, ((found, *_), *_, is_first) = used(state)
    assert MANY == len(found)
    assert (State.ACKNOWLEDGED, "ann") == found["pin-absent:007"]
    assert is_first
    assert "all but a part (findings) was carried over" in news


@pytest.mark.parametrize("is_there", [True, False])
def test_a_log_without_its_database(filled, tmp_path, is_there):
    """An empty file, or none, beside a log: SQLite would begin anew and throw the log away. It has everything here."""
    folder = tmp_path / "living"
    with Store.open(folder) as store:
        store.record_run("miles", NOW)
        state = Path(shutil.copytree(folder, tmp_path / "state"))
    (state / damage.FILE).write_bytes(b"")
    if not is_there:
        (state / damage.FILE).unlink()
    news, (*_, is_first) = used(state)
    assert not is_first
    assert "it is empty, but watcher.db-wal is not" in news
    [log] = state.glob("watcher.db.damaged-*-wal")
    assert log.stat().st_size


def test_two_damaged_ones_are_both_kept(state):
    """In the same second, too: a name is never taken twice."""
    for content in (b"first", b"second"):
        (state / damage.FILE).write_bytes(content)
        Store.open(state).close()
    found = sorted(it.read_bytes() for it in state.glob("watcher.db.damaged-*") if it.stat().st_size < PAGE)
    assert [b"first", b"second"] == found


def test_a_text_that_is_none_spoils_its_row_alone(state):
    """SQLite keeps whatever bytes it is given; the driver refuses to read them."""
    with closing(sqlite3.connect(state / damage.FILE)) as db, db:
        db.execute("UPDATE outbox SET channel = CAST(x'ff41' AS TEXT) WHERE id = 3")
    with pytest.raises(DamagedError), Store.open(state) as store:
        store.outbox()
    with Store.open(state) as store:
        assert MANY - 1 == len(store.outbox())


@pytest.mark.parametrize(
    ("change", "read"),
    [
        ("UPDATE looks SET at = '2026-08-1x' WHERE subject = 'duty self-check'", lambda store: store.looks()),
        ("UPDATE holdings SET tip = 'zz'", lambda store: store.ledger(ONE)),
        ("UPDATE outbox SET created_at = '' WHERE id = 3", lambda store: store.outbox()),
        (
            "UPDATE findings SET body = replace(body, 'opened_at', 'opened') WHERE rowid = 3",
            lambda store: store.findings(),
        ),
    ],
)
def test_what_makes_no_sense(state, change, read):
    """A flipped bit that SQLite does not mind ends one pass; what it spoiled is not carried over, if it is no text."""
    with closing(sqlite3.connect(state / damage.FILE)) as db, db:
        db.execute(change)
    with pytest.raises((ValueError, StoreError)), Store.open(state) as store:
        read(store)
    with suppress(StoreError), Store.open(state) as store:
        read(store)
        assert "a text, a time or an id in it makes no sense" in store.news
        return
    assert "opened_at" in change, "that may be a newer version's: nothing of it is thrown away"
    assert not list(state.glob("watcher.db.damaged-*"))


def test_an_error_of_another_sort_is_no_damage(state):
    """A defect of the program does not cost a database."""
    with pytest.raises(ValueError, match="ours"), Store.open(state):
        raise ValueError("ours")
    with Store.open(state) as store:
        assert "" == store.news


# --- what is no damage -----------------------------------------------------------------------------------------------


def fails(state, message):
    """Use a database that cannot be written, and see what is said."""
    with pytest.raises(StoreError, match=message) as caught, Store.open(state, patience=AT_ONCE) as store:
        store.record_run("other", NOW)
    assert not isinstance(caught.value, DamagedError)
    assert not list(state.glob("watcher.db.damaged-*"))
    assert not list(state.glob("watcher.db-damaged*"))


def test_locked(state):
    """Another process has it for a minute: one line, nothing set aside, and later all is well."""
    with Store.open(state) as other, other.atomic():
        fails(state, "is locked: another watcher is writing; try again when it is done")
    with closing(sqlite3.connect(state / damage.FILE)) as db:
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        db.execute("BEGIN EXCLUSIVE")
    with Store.open(state) as store:
        assert not store.is_first_run("miles")


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (sqlite3.SQLITE_IOERR, "make room on the disk"),
        (sqlite3.SQLITE_IOERR_FSYNC, "make room on the disk"),
        (sqlite3.SQLITE_FULL, "make room on the disk"),
        (sqlite3.SQLITE_READONLY, "make it writable"),
        (sqlite3.SQLITE_CANTOPEN, "make it writable"),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, "is locked"),
    ],
)
def test_other_troubles_of_the_disk(state, monkeypatch, code, message):
    """They are told as what they are."""

    def failing(*_):
        error = sqlite3.OperationalError("what the disk says")
        error.sqlite_errorcode = code
        raise error

    with monkeypatch.context() as sick:
        sick.setattr("watcher.store.database.Database._refuse_foreign", failing)
        fails(state, message)
    with Store.open(state) as store:
        assert ("", False) == (store.news, store.is_first_run("miles"))


def test_whoever_uses_it_is_waited_for(state):
    """Nobody's writes go to a file that was set aside meanwhile."""
    with Store.open(state) as other:
        damage.note(other.path, "seen")
        with pytest.raises(DamagedError, match="made anew once no other watcher uses it"):
            Store.open(state, patience=AT_ONCE)
        other.record_run("late", NOW)
    with Store.open(state) as store:
        assert not store.is_first_run("late")


OPEN = """
import sys
from pathlib import Path
from watcher.store import Store
sys.stdin.readline()
with Store.open(Path(sys.argv[1])) as store:
    print(len(store.findings()), bool(store.news))
"""


def test_several_processes_set_it_aside_once(state):
    """One does it, and the others wait for it."""
    overwritten(state / damage.FILE, 0, b"\0" * 100)
    started = [
        subprocess.Popen([sys.executable, "-c", OPEN, state], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in range(4)
    ]
    for process in started:
        process.stdin.write(b"go\n")
        process.stdin.flush()
    said = sorted(process.communicate(timeout=60)[0].decode().split() for process in started)
    assert [[f"{MANY}", "False"]] * 3 + [[f"{MANY}", "True"]] == said
    assert aside(state)


# --- killed meanwhile ------------------------------------------------------------------------------------------------

KILLED = """
import os, signal, sys, sqlite3
from pathlib import Path
from watcher.store import Store, damage, carrying
left = int(sys.argv[2])
def deadly(function):
    def wrapped(*args, **kwargs):
        global left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*args, **kwargs)
    return wrapped
for owner, name in ((Path, "rename"), (Path, "replace"), (Path, "unlink"), (Path, "open"), (os, "fsync"),
                    (damage.shutil, "copyfile"), (carrying, "carried"), (carrying, "_copy"),
                    (carrying, "_made_consistent")):
    setattr(owner, name, deadly(getattr(owner, name)))
Store.open(Path(sys.argv[1])).close()
"""


def test_killed_at_each_step(state, filled, tmp_path):
    """Whoever comes next goes on: everything is there, and the damaged file too."""
    overwritten(state / damage.FILE, 0, b"\0" * 100)
    content = (state / damage.FILE).read_bytes()
    with Store.open(filled) as store:
        known = everything(store)
    for step in range(100):
        spare = Path(shutil.copytree(state, tmp_path / f"spare{step}"))
        done = subprocess.run([sys.executable, "-c", KILLED, spare, str(step)], check=False, timeout=60)
        with Store.open(spare) as store:
            assert known == everything(store)
        assert content == aside(spare).read_bytes()
        assert {"watcher.db", aside(spare).name} == {
            it.name for it in spare.iterdir() if not it.name.endswith(("-wal", "-shm", "-opening", "-use"))
        }
        if done.returncode == 0:
            break
    assert 20 < step < 99
