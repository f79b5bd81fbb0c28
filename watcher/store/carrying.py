"""Carry over what can still be read of a damaged database into a new one.

Rows are read from both ends of each table, and beyond what cannot be read; each is looked at before it is believed.
What can be computed or asked for anew (facts, answers of forges, conclusions) is not carried over at all.
"""

import json
import sqlite3
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from watcher.errors import StoreError
from watcher.model import oid
from watcher.store import rows

LOG_HEADER = 32
"""Bytes with which a log of SQLite's begins."""
_HEADER = 100
_MAGIC = b"SQLite format 3\0"
_VALID_FOR = slice(92, 96)
_PAGES = 4096
_FARTHEST = 1 << 40
_REFS = frozenset({"snapshots", "refs"})
TABLES = (
    "findings",
    "events",
    "outbox",
    "posts",
    "downstreams",
    "readings",
    "moved_pins",
    "standings",
    "looks",
    "identities",
    "hosted",
    "holdings",
    "moves",
    "failed_looks",
    "snapshots",
    "refs",
)
"""What is carried over."""
_TIMES = (
    *("at", "since", "missing_since", "first_seen", "last_seen", "changed_at", "first_run_at"),
    *("created_at", "next_try_at", "not_before", "delivered_at", "failed_at", "dropped_at"),
)
_SHAPES: Mapping[str, Callable[[str], object]] = {
    **dict.fromkeys(_TIMES, rows.time),
    **dict.fromkeys(("oid", "peeled", "held", "tip", "before", "after"), oid),
    **dict.fromkeys(("body", "payload"), json.loads),
}
"""What the texts in columns of these names are, whatever the table; each raises ValueError for another one."""
_BODIES: Mapping[str, Callable[[str], object]] = {
    "findings": rows.finding,
    "events": rows.finding,
    "readings": lambda body: rows.reading("", body),
    "moved_pins": rows.moved,
}
_TROUBLES = (sqlite3.Error, OverflowError, MemoryError)
_Row = tuple[Any, ...]
_Some = Generator[_Row, None, bool]
"""Rows, and at last whether these were all."""


def carried(old: Path, new: Path) -> frozenset[str]:
    """Copy what can be read; return the tables of which something could not, or may not, have been read.

    Where findings are among them, every downstream is looked at as for the first time: what nobody knows any more is
    told in one summary, and not as news.
    """
    with closing(sqlite3.connect(new)) as db:
        db.execute("PRAGMA journal_mode = DELETE")
        with db:
            lost = set(TABLES) if not old.exists() else _filled(old, db)
            _made_consistent(db, lost)
    return frozenset(lost)


def has_header(file: Path) -> bool:
    """Answer whether a file begins as databases do, and as ours do."""
    with file.open("rb") as begun:
        found = begun.read(_HEADER)
    return found[:16] == _MAGIC and found[21:24] == b"\x40\x20\x20"


def give_header(file: Path, other: Path) -> None:
    """Let a file begin as another database does; how long it is, is asked of the file."""
    with other.open("rb") as begun:
        header = bytearray(begun.read(_HEADER))
    header[_VALID_FOR] = b"\0\0\0\0"
    header[18:20] = b"\2\2"
    with file.open("r+b") as begun:
        begun.write(header)


def page_size(log: Path) -> int:
    """Return how large the pages are that a log has."""
    with log.open("rb") as begun:
        found = int.from_bytes(begun.read(12)[8:12], "big")
    return found if 512 <= found <= 65536 else _PAGES  # noqa: PLR2004 - what SQLite allows


def _filled(old: Path, db: sqlite3.Connection) -> set[str]:
    """Copy table by table, and return those that were not all there."""
    lost: set[str] = set()
    with closing(sqlite3.connect(old)) as damaged:
        damaged.text_factory = bytes  # a text that is none spoils its row alone
        for table in TABLES:
            if not _copy(damaged, db, table):
                lost.add(table)
    return lost


def _copy(damaged: sqlite3.Connection, db: sqlite3.Connection, table: str) -> bool:
    """Copy the rows of one table; return whether it could be read to its end and every row was believed."""
    known = _columns(db, table)
    try:
        there = [name for name in _columns(damaged, table) if name in known]
    except _TROUBLES:
        return False
    if not there:
        return False
    reading = _Reading(damaged, table, there)
    # The columns are those of our own schema.
    insert = f"INSERT OR IGNORE INTO {table} ({', '.join(there)}) VALUES ({', '.join('?' * len(there))})"  # noqa: S608
    for row in reading.rows():
        if (read := _believed(table, there, row)) is None:
            reading.is_whole = False
            continue
        try:
            db.execute(insert, read)
        except sqlite3.Error:
            reading.is_whole = False
    return reading.is_whole


def _columns(db: sqlite3.Connection, table: str) -> list[str]:
    names = (row[1] for row in db.execute(f"PRAGMA table_info({table})"))
    return [name.decode() if isinstance(name, bytes) else name for name in names]


class _Reading:
    """The rows of one damaged table, as far as they can be had."""

    def __init__(self, db: sqlite3.Connection, table: str, columns: Iterable[str]) -> None:
        self._db, self._table, self._columns = db, table, ", ".join(columns)
        self.is_whole = True
        self._last = 0
        self._has_rowid = self._answers(f"SELECT rowid FROM {table} LIMIT 0")  # noqa: S608 - a table of ours

    def rows(self) -> Iterator[_Row]:
        """Yield what can be read, some of it twice."""
        if not self._has_rowid:
            key = ", ".join(self._key())
            for order in (key, key.replace(",", " DESC,") + " DESC"):
                if (yield from self._read(f"ORDER BY {order}", ())):
                    return
            return
        if (yield from self._onward()):
            return
        yield from self._read("ORDER BY rowid DESC", ())

    def _onward(self) -> _Some:
        """Yield rows from the first one on, and beyond each gap; return whether there was none."""
        start, step = -_FARTHEST, 1
        self._last = start
        while start < _FARTHEST:
            is_end = yield from self._read("WHERE rowid >= ? ORDER BY rowid", (start,))
            if is_end:
                break
            step = 1 if self._last >= start else step * 2
            start = max(self._last, start, 0) + step
        return self.is_whole

    def _read(self, how: str, values: tuple[int, ...]) -> _Some:
        """Yield rows until the end, or until something cannot be read."""
        first = "rowid" if self._has_rowid else "0"
        try:
            found = self._db.execute(f"SELECT {first}, {self._columns} FROM {self._table} NOT INDEXED {how}", values)  # noqa: S608
            for number, *row in found:
                self._last = number
                yield tuple(row)
        except _TROUBLES:
            self.is_whole = False
            return False
        return True

    def _key(self) -> list[str]:
        found = sorted(
            (row[5], bytes(row[1]).decode()) for row in self._db.execute(f"PRAGMA table_info({self._table})")
        )
        return [name for place, name in found if place]

    def _answers(self, sql: str) -> bool:
        try:
            self._db.execute(sql).fetchall()
        except _TROUBLES:
            return False
        return True


def is_readable(db: sqlite3.Connection) -> bool:
    """Answer whether every text, time, id and body in a database is one: SQLite itself looks at none of them."""
    for table in TABLES:
        columns = _columns(db, table)
        if any(_read(columns, row) is None for row in db.execute(f"SELECT {', '.join(columns)} FROM {table}")):  # noqa: S608
            return False
    return True


def _believed(table: str, columns: list[str], row: _Row) -> _Row | None:
    """Return a row that means something to this version; None for any other."""
    read = _read(columns, row)
    try:
        if read and table in _BODIES:
            _BODIES[table](read["body"])
    except (StoreError, ValueError, TypeError, KeyError, AttributeError):
        return None
    return tuple(read.values()) if read else None


def _read(columns: list[str], row: _Row) -> dict[str, Any] | None:
    """Return a row by column; None where a text, a time, an id or a body is none."""
    try:
        texts = (value.decode() if isinstance(value, bytes) else value for value in row)
        read = dict(zip(columns, texts, strict=True))
        for name, value in read.items():
            if value is not None and name in _SHAPES:
                _SHAPES[name](value)
    except (ValueError, TypeError, RecursionError):
        return None
    return read


def _made_consistent(db: sqlite3.Connection, lost: set[str]) -> None:
    """Let what was carried over fit together, and everything be looked at anew."""
    # An event has its finding as it was then: the last one has it as it is.
    for key, body in db.execute(
        "SELECT key, body FROM events WHERE id IN (SELECT max(id) FROM events GROUP BY key)"
        " AND key NOT IN (SELECT key FROM findings)"
    ).fetchall():
        known = rows.finding(body)
        db.execute(
            "INSERT INTO findings (key, kind, severity, state, body) VALUES (?, ?, ?, ?, ?)",
            (key, known.concern.kind, known.concern.severity, known.state, body),
        )
    db.execute(
        "INSERT OR IGNORE INTO named SELECT DISTINCT it.value, outbox.id"
        " FROM outbox, json_each(outbox.payload, '$.baseline') AS it"
    )
    db.execute("UPDATE outbox SET finding = json_extract(payload, '$.finding') WHERE finding IS NULL")
    db.execute("DELETE FROM looks WHERE subject LIKE 'upstream %' OR subject LIKE 'downstream %'")
    db.execute("UPDATE snapshots SET digest = '', reply = ''")
    if lost & _REFS:
        # A part of what an upstream advertised is a false answer.
        db.execute("DELETE FROM refs")
        db.execute("DELETE FROM snapshots")
        lost |= _REFS
    if "findings" in lost:
        db.execute("DELETE FROM downstreams")
