"""What the service goes by: when what was looked at, what downstreams held, how upstreams and drifts stand."""

import json
from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from watcher.model import Moved, Reading
from watcher.store import rows
from watcher.store.database import Database
from watcher.store.rows import json_text, stamp, stamp_or_none, time, time_or_none

_OF_A_SORT = "FROM standings WHERE substr(subject, 1, ?) = ? ORDER BY subject"


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """When a thing was last looked at, or a duty last done."""

    at: datetime
    not_before: datetime | None = None
    """When the other side said that it wants to be asked again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A moment in what was written to one database."""

    database: str
    """Which one: another one takes its place where it was damaged."""
    last: int


class Standings(Database):
    """The memory of looks, readings and standings.

    A subject is a word and a name: `upstream https://…`, `downstream miles`, `drift saver`, `duty self-check`.
    """

    # --- what was written since ---------------------------------------------------------------------------------------

    def touched(self, since: Mark | None) -> tuple[Mark, Mapping[str, frozenset[str]] | None]:
        """Return a mark of now, and which rows were written since an earlier one: table → keys; None is all of them.

        Told are readings, standings and findings, those too that are no more.
        """
        [database] = self._row("SELECT name FROM touched WHERE sort = 'database'") or ("",)
        [last] = self._row("SELECT max(id) FROM touched") or (0,)
        mark = Mark(database=database, last=last)
        if since is None or since.database != database or since.last > last:
            return mark, None
        names: dict[str, set[str]] = {}
        for sort, name in self._rows("SELECT sort, name FROM touched WHERE id > ? AND id <= ?", since.last, last):
            names.setdefault(sort, set()).add(name)
        return mark, {sort: frozenset(some) for sort, some in names.items()}

    # --- looks -------------------------------------------------------------------------------------------------------

    def looks(self) -> dict[str, Look]:
        """Return every subject that was ever looked at."""
        found = self._rows("SELECT subject, at, not_before FROM looks")
        return {subject: Look(at=time(at), not_before=time_or_none(wait)) for subject, at, wait in found}

    def looked_at(self) -> datetime | None:
        """Return when anything was looked at last."""
        [at] = self._row("SELECT max(at) FROM looks") or (None,)
        return time_or_none(at)

    def record_looks(self, looks: Mapping[str, Look]) -> None:
        """Note looks, good ones and failed ones."""
        self._write_all(
            "INSERT INTO looks (subject, at, not_before) VALUES (?, ?, ?)"
            " ON CONFLICT DO UPDATE SET at = excluded.at, not_before = excluded.not_before",
            [(subject, stamp(look.at), stamp_or_none(look.not_before)) for subject, look in looks.items()],
        )

    def forget_looks(self, subjects: Iterable[str]) -> None:
        """Forget looks, so that their subjects are due at once."""
        self._write_all("DELETE FROM looks WHERE subject = ?", [(subject,) for subject in subjects])

    # --- what downstreams held ---------------------------------------------------------------------------------------

    def readings(self, only: Iterable[str] | None = None) -> dict[str, Reading]:
        """Return the last reading of every downstream, or of some, by name."""
        found = self._among("SELECT downstream, body FROM readings", "downstream", only)
        return {name: rows.reading(name, body) for name, body in found}

    def record_readings(self, readings: Iterable[Reading], at: datetime) -> None:
        """Keep readings in place of earlier ones."""
        self._write_all(
            "INSERT INTO readings (downstream, at, body) VALUES (?, ?, ?)"
            " ON CONFLICT DO UPDATE SET at = excluded.at, body = excluded.body WHERE excluded.body <> readings.body",
            [(it.name, stamp(at), rows.reading_text(it)) for it in readings],
        )

    def forget_readings(self, but: Collection[str]) -> None:
        """Forget the downstreams that the configuration no longer names."""
        known = [name for (name,) in self._rows("SELECT downstream FROM readings") if name not in but]
        self._write_all("DELETE FROM readings WHERE downstream = ?", [(name,) for name in known])

    def moved_pins(self, since: datetime | None = None) -> tuple[Moved, ...]:
        """Return the pins that downstreams moved or removed, oldest first."""
        found = self._rows(
            "SELECT body FROM moved_pins WHERE at >= ? ORDER BY id", "" if since is None else stamp(since)
        )
        return tuple(rows.moved(body) for (body,) in found)

    def record_moved_pins(self, moved: Iterable[Moved]) -> None:
        """Add moves of pins to the log."""
        self._write_all(
            "INSERT INTO moved_pins (at, body) VALUES (?, ?)", [(stamp(it.at), rows.moved_text(it)) for it in moved]
        )

    # --- how things stand, in the public JSON shape ------------------------------------------------------------------

    def standings(self, sort: str, only: Iterable[str] | None = None) -> dict[str, Mapping[str, Any]]:
        """Return how everything of a sort (`upstream`, `drift`), or some, stood when it was last judged, by name."""
        begin = f"{sort} "
        if only is None:
            found = self._rows(f"SELECT subject, body {_OF_A_SORT}", len(begin), begin)
        else:
            found = self._among("SELECT subject, body FROM standings", "subject", (f"{begin}{it}" for it in only))
        return {subject.removeprefix(begin): json.loads(body) for subject, body in found}

    def record_standings(self, standings: Mapping[str, Mapping[str, Any]], at: datetime) -> None:
        """Keep how subjects stand; those that stand as before cost no write."""
        self._write_all(
            "INSERT INTO standings (subject, at, body) VALUES (?, ?, ?)"
            " ON CONFLICT DO UPDATE SET at = excluded.at, body = excluded.body WHERE excluded.body <> standings.body",
            [(subject, stamp(at), json_text(body)) for subject, body in standings.items()],
        )

    def forget_standings(self, sort: str, but: Container[str]) -> None:
        """Forget what nothing of a sort is pinned to any more; `but` names what stays."""
        begin = f"{sort} "
        known = [subject for (subject,) in self._rows(f"SELECT subject {_OF_A_SORT}", len(begin), begin)]
        gone = [(subject,) for subject in known if subject.removeprefix(begin) not in but]
        self._write_all("DELETE FROM standings WHERE subject = ?", gone)
