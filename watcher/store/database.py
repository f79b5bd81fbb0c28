"""The database file: opened, never overwritten, and every trouble with it said in one line that knows a way on.

A damaged one is set aside and made anew when it is opened (see `damage`); a locked or full one is left alone.
"""

import fcntl
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from watcher.errors import DamagedError, StoreError
from watcher.store import damage
from watcher.store.schema import STEPS, migrations

FILE = damage.FILE
_OPENING = "watcher.db-opening"
_MISREAD = (ValueError, KeyError, TypeError)
"""What comes of a text that is not what it should be; most often it is another defect."""
_TAKEN = "SELECT name FROM _sqlite_migrations WHERE migration_set = 'watcher'"
"""Where sqlite-utils notes the steps that it took."""


class Database:
    """One connection, for the thread that opened it."""

    def __init__(self, db: sqlite3.Connection, path: Path, use: IO[str]) -> None:
        self._db = db
        self._use = use
        self.path = path
        self.news = ""
        """What became of a damaged database when this one was opened; empty where nothing was wrong."""

    @classmethod
    def open(cls, folder: Path, *, patience: timedelta = timedelta(seconds=5)) -> Self:
        """Open the database of a state folder, making or upgrading what is missing, and anew what is damaged.

        `patience` is how long a write waits for another process that is writing.
        """
        path = folder / FILE
        _make(folder, path)
        found = damage.identity(path)
        try:
            return cls._opened(path, patience)
        except DamagedError as error:
            news = damage.renew(path, str(error), found, lambda new: cls._opened(new, patience), patience)
        store = cls._opened(path, patience)
        store.news = news
        return store

    @classmethod
    def _opened(cls, path: Path, patience: timedelta) -> Self:
        """Open a database as it is; raise DamagedError where it cannot be read."""
        use = damage.used(path)
        try:
            damage.refuse(path)
            with _told(path):
                db = sqlite3.connect(path)
        except BaseException:
            use.close()
            raise
        store = cls(db, path, use)
        try:
            store._prepare(patience)
        except BaseException:
            store.close()
            raise
        return store

    def close(self) -> None:
        """Close the connection; a transaction that is still open is undone."""
        self._db.close()
        self._use.close()

    def verify(self) -> None:
        """Read all of the database; raise DamagedError where something is wrong with it."""
        [said] = self._row("PRAGMA quick_check(1)") or ["it answers nothing"]
        if said != "ok":
            raise DamagedError(damage.words(self.path, str(said)))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        # Noted while it is in use: nobody has made it anew meanwhile.
        if isinstance(error, DamagedError):
            damage.note(self.path, str(error))
        elif isinstance(error, _MISREAD) or isinstance(getattr(error, "__cause__", None), _MISREAD):
            damage.note_misread(self.path, self._db)
        self.close()

    @contextmanager
    def atomic(self) -> Iterator[None]:
        """Write everything in the block, or nothing of it; nested blocks are part of the outermost one.

        The right to write is taken at the start: a block that read first and wrote later could find the database
        changed in between, and SQLite fails that at once however long it may wait.
        """
        with _told(self.path):
            if self._db.in_transaction:
                with self._part():
                    yield
                return
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.commit()
            except BaseException:
                self._db.rollback()
                raise

    @contextmanager
    def _part(self) -> Iterator[None]:
        """Write a part of a transaction, or nothing of that part."""
        self._db.execute("SAVEPOINT part")
        try:
            yield
        except BaseException:
            if self._db.in_transaction:  # else SQLite has undone everything already
                self._db.execute("ROLLBACK TO part")
                self._db.execute("RELEASE part")
            raise
        self._db.execute("RELEASE part")

    @property
    def schema_version(self) -> int:
        """Return how many steps of the schema the database has taken."""
        with _told(self.path):
            return len(self._applied())

    def _prepare(self, patience: timedelta) -> None:
        """Look before touching, then set up the connection and the tables."""
        with _told(self.path), self._alone():
            self._db.execute(f"PRAGMA busy_timeout = {round(patience.total_seconds() * 1000)}")
            self._refuse_foreign()
            if self._row("PRAGMA journal_mode") != ("wal",):
                self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA foreign_keys = ON")
            # A commit is on the disk before anybody is told of it: in WAL mode only FULL survives a power cut.
            self._db.execute("PRAGMA synchronous = FULL")
            if len(self._applied()) < len(STEPS):
                self._upgrade()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Let one process after the other set up the database.

        Where one switches a new database to WAL while another looks at it or does the same, SQLite fails one of them at
        once, however long it may wait.
        """
        name = self.path.parent / _OPENING
        try:
            turn = name.open("a")
        except OSError as error:
            raise StoreError(f"cannot write {name}: {error.strerror}") from error
        with turn:
            fcntl.flock(turn, fcntl.LOCK_EX)
            yield

    def _upgrade(self) -> None:
        """Take the missing steps, all or none; whoever waited here for another process finds them taken."""
        from sqlite_utils import Database as Library  # noqa: PLC0415 - large, and needed for an upgrade alone

        with self.atomic():
            self._refuse_foreign()
            # Plug-ins of other installed packages have no business in this database.
            migrations().apply(Library(self._db, execute_plugins=False))

    def _tables(self) -> set[str]:
        return {name for (name,) in self._rows("SELECT name FROM sqlite_master WHERE type = 'table'")}

    def _applied(self) -> set[str]:
        """Return the names of the steps that the database has taken."""
        return {name for (name,) in self._rows(_TAKEN)} if "_sqlite_migrations" in self._tables() else set()

    def _refuse_foreign(self) -> None:
        """Raise for a database that this version did not write."""
        # Tables before steps: another process may be making the database between the two questions.
        tables = self._tables()
        applied = self._applied()
        if tables and not applied:
            raise StoreError(f"{self.path} is a database of something else; name another folder under `state`")
        newer = applied - {step.__name__ for step in STEPS}
        if newer:
            raise StoreError(
                f"{self.path} was written by a newer watcher (it knows {', '.join(sorted(newer))}); "
                "upgrade this one, or name another folder under `state`"
            )

    def _rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Return every row of a question."""
        with _told(self.path):
            return self._db.execute(sql, values).fetchall()

    def _among(self, sql: str, key: str, names: Iterable[str] | None) -> list[tuple[Any, ...]]:
        """Return every row of a question by its key, or those of some names."""
        if names is None:
            return self._rows(f"{sql} ORDER BY {key}")
        some = "IN (SELECT value FROM json_each(?))"
        return self._rows(f"{sql} WHERE {key} {some} ORDER BY {key}", json.dumps([*names]))

    def _row(self, sql: str, *values: object) -> tuple[Any, ...] | None:
        """Return the first row of a question, or None."""
        return next(iter(self._rows(sql, *values)), None)

    def _write(self, sql: str, *values: object) -> int:
        """Run one statement and return how many rows it wrote."""
        with _told(self.path):
            if self._db.in_transaction:  # one statement is undone by itself where it fails
                return self._db.execute(sql, values).rowcount
        with self.atomic():
            return self._db.execute(sql, values).rowcount

    def _write_all(self, sql: str, rows: Sequence[Sequence[object]]) -> None:
        """Run one statement for many rows; for none, do not even ask for the right to write.

        Straight through the driver: the library's own bulk upsert is four to fourteen times slower.
        """
        if rows:
            with self.atomic():
                self._db.executemany(sql, rows)


def _make(folder: Path, path: Path) -> None:
    """Make the state folder; raise StoreError where it cannot be had or written."""
    advice = "make it writable, or name another folder under `state`"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot use {folder} as the state folder: {error.strerror}; {advice}") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise StoreError(f"cannot write to the state folder {folder}; {advice}")
    if path.exists() and not os.access(path, os.R_OK | os.W_OK):
        raise StoreError(f"cannot write to {path}; {advice}")


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Turn what SQLite says of the file into StoreError; what it says of our own SQL stays a defect."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if damage.is_damage(error):
            raise DamagedError(damage.words(path, str(error))) from error
        told = _trouble(path, error)
        if told is None:
            raise
        raise StoreError(told) from error


def _trouble(path: Path, error: sqlite3.DatabaseError) -> str | None:
    """Return what to say of an error of the file, or None for one of the program."""
    # The low byte is the primary code; the rest says more than people can use.
    match getattr(error, "sqlite_errorcode", 0) & 0xFF:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return f"{path} is locked: another watcher is writing; try again when it is done"
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return f"cannot write to {path} ({error}); make it writable, or name another folder under `state`"
        case sqlite3.SQLITE_FULL | sqlite3.SQLITE_IOERR:
            return f"cannot write to {path} ({error}); make room on the disk and run again: nothing was half written"
        case _:
            return None
