"""Measure how fast refs are remembered, beside a plain `executemany` into a table of the same shape.

    python benchmarks/bench_store.py [--rounds N] [--json FILE] [--profile]

Sizes are upstreams with 839 refs and with 50,000, one in each transaction, and 1,000 upstreams with 20 refs each, in
one transaction as in a pass. The peer writes the same rows by `sqlite3` alone: same table, same journal, same promise
of being on the disk. Figures are rows per second of wall time, as a share of the peer's; each measurement is a fresh
process and a new file. What is small is written many times: one slow turn of the disk would be all that is seen.
"""

import argparse
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from math import prod
from pathlib import Path

from harness.measuring import Cost, costing, measured, tell
from harness.profiling import profile
from harness.rows import Report, Row, arguments, bound, shares

from watcher.model import Advertisement, Oid, Ref
from watcher.store import Store

_SIZES = {"839 refs": (40, 1, 839), "50,000 refs": (3, 1, 50_000), "1,000 upstreams × 20 refs": (3, 1000, 20)}
"""Transactions, upstreams in each, refs of each."""
_NOW = datetime(2026, 11, 1, tzinfo=UTC)
_TABLE = """
    CREATE TABLE refs (
        upstream TEXT NOT NULL, is_pull INTEGER NOT NULL, name TEXT NOT NULL, oid TEXT NOT NULL, peeled TEXT,
        PRIMARY KEY (upstream, is_pull, name)
    ) STRICT, WITHOUT ROWID
"""


def _refs(count: int) -> tuple[Ref, ...]:
    """Return branches and tags, sorted; every second one is an annotated tag."""
    names = (f"refs/{'tags/v1' if at % 2 else 'heads/topic'}.{at}" for at in range(count))
    return tuple(
        Ref(name=name, oid=Oid(f"{at:040x}"), peeled=Oid(f"{at + 1:040x}") if "tags" in name else None)
        for at, name in enumerate(sorted(names))
    )


def watcher(folder: Path, passes: Sequence[Sequence[str]], refs: int) -> Cost:
    """Record a snapshot of each upstream."""
    said = Advertisement(refs=_refs(refs), head="refs/heads/topic.0", digest="1")
    with Store.open(folder) as store, costing() as cost:
        for upstreams in passes:
            store.record_snapshots(dict.fromkeys(upstreams, said), _NOW)
    return cost


def executemany(folder: Path, passes: Sequence[Sequence[str]], refs: int) -> Cost:
    """Write the same rows by the driver alone."""
    listed = _refs(refs)
    with sqlite3.connect(folder / "plain.db", isolation_level=None) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute(_TABLE)
        with costing() as cost:
            for upstreams in passes:
                db.execute("BEGIN IMMEDIATE")
                rows = ((name, 0, ref.name, ref.oid, ref.peeled) for name in upstreams for ref in listed)
                db.executemany("INSERT INTO refs VALUES (?, ?, ?, ?, ?)", rows)
                db.execute("COMMIT")
    return cost


_WAYS: dict[str, Callable[[Path, Sequence[Sequence[str]], int], Cost]] = {
    way.__name__: way for way in (watcher, executemany)
}


def _measure(way: str, times: int, upstreams: int, refs: int) -> None:
    passes = [[f"https://upstream.example/{turn}/{number}" for number in range(upstreams)] for turn in range(times)]
    with tempfile.TemporaryDirectory() as name:
        tell(_WAYS[way](Path(name), passes, refs))


def _speeds(way: str, size: Sequence[int]) -> float:
    """Return rows per second."""
    cost = measured([sys.executable, __file__, "--measure", way, *map(str, size)])
    return prod(size) / cost.wall


def compared(rounds: int) -> Sequence[Row]:
    """Return rows per second for every size, as a share of the peer's."""
    rows = []
    for what, size in _SIZES.items():
        pairs = [(_speeds("watcher", size), _speeds("executemany", size)) for _ in range(rounds)]
        mine, theirs = [one for one, _ in pairs], [other for _, other in pairs]
        figures = shares(mine, theirs)
        rows += [
            Row(what=f"{what}: rows/s / executemany", figures=figures, is_least=True, peer=_PEER, **bound(0.6, 0.9)),
            Row(what=f"{what}: rows/s", figures=mine),
            Row(what=f"{what}: rows/s of executemany", figures=theirs),
        ]
    return rows


_PEER = "plain executemany"


def main() -> None:
    """Measure, and print one line for each figure."""
    asked = arguments(__doc__, rounds=5)
    asked.add_argument("--measure", nargs=4, help=argparse.SUPPRESS)
    given = asked.parse_args()
    if given.measure:
        way, *size = given.measure
        _measure(way, *map(int, size))
        return
    report = Report()
    report.add(*compared(given.rounds))
    if given.profile and any(row.is_short for row in report.rows):
        for what, size in _SIZES.items():
            if any(row.is_short and row.what.startswith(what) for row in report.rows):
                report.explain(
                    f"record_snapshot, {what}",
                    profile("bench_store", "--measure", "watcher", *map(str, size), is_inside=True),
                )
    sys.exit(report.finish(given.json))


if __name__ == "__main__":
    main()
