"""Show what the state folder takes on disk, largest first: a line for each mirror."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from watcher.plural import counted
from watcher.report.text import safe

_UNITS = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """One mirror."""

    name: str
    """The upstream's address; `downstream` and an address; or a folder's name."""
    size: int
    """Bytes on disk."""
    kept: int | None
    """Bytes of it that pins need, of now and of before; None where that cannot be told."""
    is_pinned: bool
    """Whether pins still name it."""
    seen: datetime | None
    """When its upstream was last observed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The whole state folder."""

    folder: str
    mirrors: tuple[Held, ...]
    database: int
    """Bytes of the database."""
    at_most: int | None
    """Bytes that the mirrors may take; None for no limit."""

    @property
    def size(self) -> int:
        """Return the bytes of all mirrors."""
        return sum(it.size for it in self.mirrors)

    def largest_first(self) -> list[Held]:
        """Return the mirrors in the order of the report."""
        return sorted(self.mirrors, key=lambda it: (-it.size, it.name))


def size_text(count: int) -> str:
    """Return bytes in a unit that people read."""
    size, unit = next((it for it in _UNITS if count >= it[0]), _UNITS[-1])
    return f"{count / size:.1f} {unit}"


def render(state: State) -> str:
    """Return the table: size, what of it is kept for pins, when it was last seen, whose it is."""
    rows = [("size", "for pins", "last seen", "mirror"), *map(_row, state.largest_first())]
    whole = [
        (size_text(state.size), "", "", f"all of {counted(len(state.mirrors), 'mirror')}{_limit(state)}"),
        (size_text(state.database), "", "", "database"),
    ]
    return "".join(f"{line}\n" for line in _lines([*rows, *whole]))


def render_json(state: State) -> str:
    """Return the same as JSON; sizes are bytes."""
    document: dict[str, Any] = {
        "version": 1,
        "folder": state.folder,
        "database": state.database,
        "size": state.size,
        "at_most": state.at_most,
        "mirrors": [
            {
                "name": it.name,
                "size": it.size,
                "kept": it.kept,
                "pinned": it.is_pinned,
                "last_seen": it.seen.isoformat() if it.seen else None,
            }
            for it in state.largest_first()
        ],
    }
    return json.dumps(document, indent=1) + "\n"


def _row(it: Held) -> tuple[str, str, str, str]:
    name = safe(it.name) if it.is_pinned else f"{safe(it.name)} (no pin any more)"
    seen = f"{it.seen:%Y-%m-%d}" if it.seen else "-"
    return size_text(it.size), "?" if it.kept is None else size_text(it.kept), seen, name


def _limit(state: State) -> str:
    return f", of {size_text(state.at_most)} at most" if state.at_most is not None else ""


def _lines(rows: Iterable[tuple[str, str, str, str]]) -> list[str]:
    told = list(rows)
    size, kept, seen = (max(len(row[column]) for row in told) for column in range(3))
    return [f"{row[0].rjust(size)}  {row[1].rjust(kept)}  {row[2].ljust(seen)}  {row[3]}" for row in told]
