"""The database file: made, upgraded, shared, and refused with a way on where it cannot be used."""

import sqlite3
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta

import pytest
import sqlite_utils

from watcher.errors import StoreError
from watcher.model import Identity, oid
from watcher.store import Store
from watcher.store.schema import STEPS

NOW = datetime(2026, 8, 19, 9, tzinfo=UTC)
AT_ONCE = timedelta(milliseconds=20)


def pragma(store, name):
    return store._row(f"PRAGMA {name}")[0]


def test_makes_the_folder(tmp_path):
    """Opening makes the state folder and a database with every step taken."""
    with Store.open(tmp_path / "deep" / "state") as store:
        assert (tmp_path / "deep" / "state" / "watcher.db", True) == (store.path, store.path.exists())
        assert len(STEPS) == store.schema_version


def test_settings(tmp_path):
    """Readers do not wait for a writer, references hold, commits survive a power cut, a writer waits its turn."""
    with Store.open(tmp_path) as store:
        assert ["wal", 1, 2, 5000] == [
            pragma(store, name) for name in ("journal_mode", "foreign_keys", "synchronous", "busy_timeout")
        ]


def test_tables_are_strict(tmp_path):
    """Every table of ours refuses a value of another type."""
    with Store.open(tmp_path) as store:
        tables = store._rows("SELECT name, strict FROM pragma_table_list WHERE schema = 'main' AND type = 'table'")
    assert {name for name, strict in tables if not strict} == {"_sqlite_migrations", "sqlite_schema"}


def test_opens_again(tmp_path):
    """What was written is there when the folder is opened again, and no step is taken twice."""
    with Store.open(tmp_path) as store:
        store.record_run("miles", NOW)
    with Store.open(tmp_path) as store:
        assert not store.is_first_run("miles")
        assert len(STEPS) == store.schema_version


@pytest.mark.parametrize("taken", range(1, len(STEPS)))
def test_upgrade(tmp_path, monkeypatch, taken):
    """A database of an older version keeps its rows and takes the steps that it lacks."""
    upstream, root = "https://example.org/one", oid("a" * 40)
    with monkeypatch.context() as older:
        older.setattr("watcher.store.schema.STEPS", STEPS[:taken])
        older.setattr("watcher.store.database.STEPS", STEPS[:taken])
        with Store.open(tmp_path) as store:
            store.record_identity(upstream, NOW, roots=[root])
            assert taken == store.schema_version
    with Store.open(tmp_path) as store:
        assert len(STEPS) == store.schema_version
        assert () == store.findings()
        assert Identity(roots=frozenset({root})) == store.identity(upstream)


def test_upgrade_that_fails(tmp_path, monkeypatch):
    """A step that fails takes the steps before it back: the database is as it was."""

    def m000_broken(db):
        db.execute("CREATE TABLE half (id INTEGER)")
        db.execute("nonsense")

    with monkeypatch.context() as broken:
        broken.setattr("watcher.store.schema.STEPS", (*STEPS, m000_broken))
        with pytest.raises(sqlite3.OperationalError, match="nonsense"):
            Store.open(tmp_path)
    db = sqlite_utils.Database(tmp_path / "watcher.db")
    assert [] == db.table_names()
    db.close()


def test_newer_version(tmp_path):
    """A database that knows a step of the future is refused by that name, and stays as it is."""
    with Store.open(tmp_path) as store, store.atomic():
        store._write("INSERT INTO _sqlite_migrations (migration_set, name) VALUES ('watcher', 'm999_future')")
    before = (tmp_path / "watcher.db").read_bytes()
    with pytest.raises(StoreError, match=r"watcher\.db was written by a newer watcher .*m999_future.*upgrade this one"):
        Store.open(tmp_path)
    assert before == (tmp_path / "watcher.db").read_bytes()


def test_database_of_something_else(tmp_path):
    """A database with other tables is somebody else's: refused and not touched."""
    other = sqlite3.connect(tmp_path / "watcher.db")
    other.execute("CREATE TABLE invoices (id INTEGER)")
    other.close()
    before = (tmp_path / "watcher.db").read_bytes()
    with pytest.raises(StoreError, match="is a database of something else; name another folder under `state`"):
        Store.open(tmp_path)
    assert before == (tmp_path / "watcher.db").read_bytes()


def test_folder_is_a_file(tmp_path):
    """A state folder that is a file is refused by its name."""
    (tmp_path / "state").write_text("")
    for folder in (tmp_path / "state", tmp_path / "state" / "deeper"):
        with pytest.raises(StoreError, match=f"cannot use {folder} as the state folder: .*name another folder"):
            Store.open(folder)


def test_database_is_a_folder(tmp_path):
    """A folder in place of the database is refused."""
    (tmp_path / "watcher.db").mkdir()
    with pytest.raises(StoreError, match=r"cannot write to .*watcher\.db \(unable to open"):
        Store.open(tmp_path)


@pytest.mark.parametrize("refused", ["state", "watcher.db"])
def test_not_writable(tmp_path, monkeypatch, refused):
    """A folder or a file that the user may not write is refused at once, by its name."""
    Store.open(tmp_path / "state").close()
    # The superuser may write anywhere, so the answer of the system is what is made up here.
    monkeypatch.setattr("watcher.store.database.os.access", lambda path, mode: path.name != refused)
    with pytest.raises(StoreError, match=f"cannot write to .*{refused}; make it writable"):
        Store.open(tmp_path / "state")


def test_read_only(tmp_path):
    """A write to a database that turned read-only is told as such."""
    with Store.open(tmp_path) as store:
        store._db.execute("PRAGMA query_only = ON")
        with pytest.raises(StoreError, match=r"cannot write to .*watcher\.db.*make it writable"):
            store.record_run("miles", NOW)


def test_full_disk(tmp_path):
    """A write for which there is no room leaves everything as it was, and says so."""
    with Store.open(tmp_path) as store:
        store._row(f"PRAGMA max_page_count = {pragma(store, 'page_count') + 2}")
        with pytest.raises(StoreError, match="make room on the disk"):
            store.record_facts("https://example.org/one", "big", 1, {oid("a" * 40): {"is": "x" * 100_000}})
        assert {} == store.facts("https://example.org/one", "big", 1)


def test_our_own_mistakes_are_no_store_errors(tmp_path):
    """A statement that is wrong is a defect of the program, and not blamed on the file."""
    with Store.open(tmp_path) as store, pytest.raises(sqlite3.OperationalError, match="syntax error"):
        store._rows("SELEKT 1")


# --- transactions ----------------------------------------------------------------------------------------------------


def write_and_fail(store, *names):
    """Write each name in a block of its own inside the next, and fail in the innermost."""
    with store.atomic():
        store.record_run(names[0], NOW)
        if not names[1:]:
            raise KeyboardInterrupt
        write_and_fail(store, *names[1:])


def test_atomic_undoes_everything(tmp_path):
    """An exception inside the block takes back all of it, nested blocks included; the store goes on working."""
    with Store.open(tmp_path) as store:
        with pytest.raises(KeyboardInterrupt):
            write_and_fail(store, "one", "two")
        assert (True, True) == (store.is_first_run("one"), store.is_first_run("two"))
        store.record_run("three", NOW)
        assert not store.is_first_run("three")


def test_inner_block_can_fail_alone(tmp_path):
    """A nested block that failed and was dealt with leaves the rest of the outer one."""
    with Store.open(tmp_path) as store:
        with store.atomic():
            store.record_run("one", NOW)
            with pytest.raises(KeyboardInterrupt):
                write_and_fail(store, "two")
        assert (False, True) == (store.is_first_run("one"), store.is_first_run("two"))


def test_second_writer_waits_then_says_who(tmp_path):
    """A writer that cannot get its turn says which database it is and that another watcher is writing."""
    with Store.open(tmp_path) as one, Store.open(tmp_path, patience=AT_ONCE) as other:
        with one.atomic():
            one.record_run("miles", NOW)
            expected = r"watcher\.db is locked: another watcher is writing; try again"
            with pytest.raises(StoreError, match=expected):
                other.record_run("miles", NOW)
            assert other.is_first_run("miles"), "a reader neither waits nor sees what is not committed"
        assert not other.is_first_run("miles")


def test_second_writer_gets_its_turn(tmp_path):
    """A writer that waits goes on when the first is done, and its block sees what the first wrote."""
    seen, waiting = [], threading.Event()

    def write():
        with Store.open(tmp_path) as other:
            waiting.set()
            with other.atomic():
                seen.append(other.is_first_run("miles"))

    with Store.open(tmp_path) as one, one.atomic():
        second = threading.Thread(target=write)
        second.start()
        assert waiting.wait(10)
        one.record_run("miles", NOW)
    second.join(10)
    assert [False] == seen


def test_block_that_reads_first_may_write(tmp_path):
    """Nobody writes between the reading and the writing of one block: what was read is still true."""
    with Store.open(tmp_path) as one, Store.open(tmp_path, patience=AT_ONCE) as other:
        with one.atomic():
            assert one.is_first_run("miles")
            with pytest.raises(StoreError, match="another watcher is writing"):
                other.record_run("miles", NOW)
            one.record_run("miles", NOW)
        assert not other.is_first_run("miles")


OPEN = """
import sys
from pathlib import Path
from watcher.model import oid
from watcher.store import Store
sys.stdin.readline()
with Store.open(Path(sys.argv[1])) as store:
    print(store.schema_version)
"""


def test_several_processes_make_one_database(tmp_path):
    """Processes that find no database at the same moment make one, and none of them fails."""
    started = [
        subprocess.Popen([sys.executable, "-c", OPEN, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in range(6)
    ]
    for process in started:
        process.stdin.write(b"go\n")
        process.stdin.flush()
    assert [(b"%d\n" % len(STEPS), None)] * 6 == [process.communicate(timeout=60) for process in started]


def test_another_thread(tmp_path):
    """A store belongs to the thread that opened it; another one is told so."""
    failed = []

    def ask():
        try:
            store.is_first_run("miles")
        except sqlite3.ProgrammingError as error:
            failed.append(str(error))

    with Store.open(tmp_path) as store:
        other = threading.Thread(target=ask)
        other.start()
        other.join(10)
    assert ["SQLite objects created in a thread"] == [text[:34] for text in failed]
