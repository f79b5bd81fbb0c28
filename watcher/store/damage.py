"""A damaged database: set aside whole, and made anew from what can still be read of it.

It is never deleted and never written to: it gets another name, and copies of it are read. Whoever is killed meanwhile
leaves a note by which the next one goes on. A database that is locked, full or read-only is not damaged.
"""

import fcntl
import json
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, Any

from watcher.errors import DamagedError, StoreError
from watcher.store import carrying

FILE = "watcher.db"
_ASIDE = "watcher.db.damaged-"
_NOTE = "watcher.db-damaged"
_USE = "watcher.db-use"
_WORK = "watcher.db-anew-"
_PARTS = ("-wal", "-shm", "")
"""What belongs to a database, by how its name ends: the file itself goes last, so that a log is never alone."""
_GLANCE = 0.02
"""Seconds between two looks whether the others are done."""


def is_damage(error: sqlite3.DatabaseError) -> bool:
    """Answer whether an error says that what is in the file makes no sense."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:  # the driver itself, of a text that is none
        return "Could not decode to UTF-8" in str(error)
    return code & 0xFF in {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}


def words(path: Path, reason: str) -> str:
    """Return what to say of a damaged database."""
    return (
        f"{path} is damaged or no database ({' '.join(reason.split())}); it is set aside when it is opened next, "
        "and what can be read of it is carried over into a new one"
    )


def aside(folder: Path) -> tuple[str, ...]:
    """Return one line for each damaged database that was set aside in a state folder and is still there."""
    found = (it for it in sorted(folder.glob(f"{_ASIDE}*")) if not it.name.endswith(_PARTS[:2]))
    return tuple(
        f"{it}: the state database was damaged and is set aside here; what could be read of it was carried over,"
        " the rest is looked at anew; remove the file once you need nothing of it"
        for it in found
    )


# --- who uses it, and what is known of it ----------------------------------------------------------------------------


def used(path: Path) -> IO[str]:
    """Return what holds a database in use until it is closed: none that is in use is set aside."""
    name = path.with_name(_USE)
    try:
        use = name.open("a")
    except OSError as error:
        raise StoreError(f"cannot write {name}: {error.strerror}") from error
    fcntl.flock(use, fcntl.LOCK_SH)
    return use


def refuse(path: Path) -> None:
    """Raise DamagedError for a database that was found damaged, or whose file is gone while its log is there."""
    if note := _noted(path):
        raise DamagedError(str(note["reason"]))
    log = path.with_name(f"{path.name}-wal")
    # SQLite takes an empty file for a new database, and throws the log away.
    if not _size(path) and _size(log):
        raise DamagedError(words(path, f"it is empty, but {log.name} is not"))


def note(path: Path, reason: str) -> None:
    """Write down that a database turned out to be damaged, so that whoever opens it next makes it anew."""
    if not _noted(path):
        with suppress(OSError):  # else the damage is met again
            _write_note(path, {"reason": reason})


def note_misread(path: Path, db: sqlite3.Connection) -> None:
    """Write down that a database is damaged where something in it makes no sense, after an error that may say so."""
    with suppress(sqlite3.Error):
        if not carrying.is_readable(db):
            note(path, words(path, "a text, a time or an id in it makes no sense"))


def _noted(path: Path) -> dict[str, Any] | None:
    try:
        found = path.with_name(_NOTE).read_text(encoding="utf-8")
    except OSError:
        return None
    try:
        return dict(json.loads(found))
    except (ValueError, RecursionError):
        return {"reason": words(path, "it was found so earlier")}


def _write_note(path: Path, said: dict[str, Any]) -> None:
    new = path.with_name(f"{_NOTE}.new")
    with new.open("w", encoding="utf-8") as file:
        file.write(json.dumps(said))
        file.flush()
        os.fsync(file.fileno())
    new.replace(path.with_name(_NOTE))
    _settle(path.parent)


# --- made anew -------------------------------------------------------------------------------------------------------


def identity(path: Path) -> int | None:
    """Return what tells a database file from one that takes its place; None where there is none."""
    try:
        return path.stat().st_ino
    except OSError:
        return None


def renew(
    path: Path,
    reason: str,
    damaged: int | None,
    open_: Callable[[Path], AbstractContextManager[object]],
    patience: timedelta,
) -> str:
    """Set a damaged database aside and put a new one in its place; return what to say of it.

    `damaged` is which file it is, `open_` makes an empty one. Empty is returned where somebody else did it meanwhile.
    """
    with used(path) as use:
        _wait_for_others(path, use, patience)
        try:
            if identity(path) != damaged:
                return ""
            place = _set_aside(path, reason)
            lost = _made_anew(path, place, open_)
            path.with_name(_NOTE).unlink()
            _settle(path.parent)
        except OSError as error:
            raise StoreError(
                f"{path} is damaged, and cannot be made anew: {error.strerror}; make room, and see to the disk"
            ) from error
    return (
        f"{path} was damaged ({_cause(reason)}) and is set aside as {place}; {_carried(lost)},"
        " and everything is looked at anew"
    )


def _carried(lost: frozenset[str]) -> str:
    """Return what of a database was carried over, in words; `lost` names the tables that were not all there."""
    if not lost:
        return "all of it could be read and was carried over"
    if lost >= set(carrying.TABLES):
        return "little or nothing of it could be read and was carried over"
    return f"all but a part ({', '.join(sorted(lost))}) was carried over"


def _cause(reason: str) -> str:
    """Return the innermost words of a reason."""
    return reason.partition("no database (")[2].partition("); ")[0] or reason


def _wait_for_others(path: Path, use: IO[str], patience: timedelta) -> None:
    end = time.monotonic() + patience.total_seconds()
    while True:
        try:
            fcntl.flock(use, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                raise DamagedError(f"{path} is damaged, and made anew once no other watcher uses it") from None
            time.sleep(_GLANCE)
        else:
            return


def _set_aside(path: Path, reason: str) -> Path:
    """Give a database and all that belongs to it another name, or go on with that; return the name."""
    said = _noted(path) or {"reason": reason}
    if "aside" not in said:
        said["aside"] = _free(path).name
        _write_note(path, said)
    place = path.with_name(str(said["aside"]))
    for part in _PARTS:
        old, new = path.with_name(f"{path.name}{part}"), place.with_name(f"{place.name}{part}")
        if old.exists() and not new.exists():
            old.rename(new)
    _settle(path.parent)
    return place


def _free(path: Path) -> Path:
    """Return a name for a damaged database that nothing has."""
    first = path.with_name(f"{_ASIDE}{datetime.now(UTC):%Y%m%dT%H%M%SZ}")
    place, number = first, 1
    while any(place.with_name(f"{place.name}{part}").exists() for part in _PARTS):
        number += 1
        place = first.with_name(f"{first.name}-{number}")
    return place


def _made_anew(path: Path, place: Path, open_: Callable[[Path], AbstractContextManager[object]]) -> frozenset[str]:
    """Make a new database of what can be read, and put it in its place; return the tables that were not all there."""
    for left in path.parent.glob(f"{_WORK}*"):
        shutil.rmtree(left, ignore_errors=True)
    if path.exists():  # whoever did it was killed just then
        return frozenset()
    with tempfile.TemporaryDirectory(prefix=_WORK, dir=path.parent) as name:
        work = Path(name)
        new = work / path.name
        with open_(new):
            pass
        lost = carrying.carried(_copied(place, work / "old.db", new), new)
        with new.open("rb") as file:
            os.fsync(file.fileno())
        new.rename(path)
    return lost


def _copied(place: Path, copy: Path, new: Path) -> Path:
    """Copy a damaged database to where it may be read, with a first page and header by which that can be begun."""
    log = place.with_name(f"{place.name}-wal")
    if _size(place):
        shutil.copyfile(place, copy)
    elif _size(log) > carrying.LOG_HEADER:
        copy.write_bytes(bytes(carrying.page_size(log)))
    if _size(log):
        shutil.copyfile(log, copy.with_name(f"{copy.name}-wal"))
    if copy.exists() and not carrying.has_header(copy):
        carrying.give_header(copy, new)
    return copy


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0


def _settle(folder: Path) -> None:
    """Let the names in a folder survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
