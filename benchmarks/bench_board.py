"""Measure how soon the board of 2,000 dependencies is shown, beside reading the same rows from SQLite.

    python benchmarks/bench_board.py [--dependencies N] [--rounds N] [--json FILE] [--profile]

A few upstreams are drawn, looked at by a real pass, and told again under many names: each dependency has three
variants, fixes, drift and findings. The pages are served by a process of their own, and asked over loopback. `changed`
is asked right after everything was looked at and one of a hundred upstreams stands otherwise; `again` when nothing
changed; `first` is the first board of a process, which reads everything. The peer is one thread that reads the rows
that stand behind the board, as text, and nothing more.
"""

import http.client
import json
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from harness.profiling import profile
from harness.rows import Report, Row, arguments, shares
from harness.serving import serving
from harness.upstreams import borrowed, drawn
from harness.watching import Watched

from watcher.config import load
from watcher.config.fields import Endpoint
from watcher.metrics import Pulse
from watcher.serving import Served
from watcher.showing import Door
from watcher.showing import shown as pages
from watcher.site import Site

_DRAWN = 10
_PINNED = (0, 0, 1)
"""Which of an upstream's pins the variants have: two are level, one is behind."""
_PEER = "SELECT of the same rows"
_ROWS = (
    "SELECT downstream, body FROM readings",
    "SELECT subject, body FROM standings",
    "SELECT body FROM findings",
    "SELECT upstream, changed_at, last_seen FROM snapshots",
    "SELECT upstream FROM failed_looks",
    "SELECT subject, at, not_before FROM looks",
)
"""What stands behind the board."""
_TOLD = ("standings", "findings", "looks", "snapshots")
"""Tables that have rows of an upstream."""


def multiplied(database: Path, names: list[str], count: int) -> None:
    """Tell everything that is known of some upstreams again, under other names, until there are so many."""
    others = {name: [f"{name}-{at}" for at in range(1, count // len(names))] for name in names}
    with closing(sqlite3.connect(database)) as db, db:
        for table in _TOLD:
            rows = db.execute(f"SELECT * FROM {table}").fetchall()  # noqa: S608 - our own names
            places = ", ".join("?" * len(rows[0]))
            again = (
                [it.replace(name, other) if isinstance(it, str) else it for it in row]
                for row in rows
                for name in names
                if any(isinstance(it, str) and name in it for it in row)
                for other in others[name]
            )
            db.executemany(f"INSERT OR IGNORE INTO {table} VALUES ({places})", again)  # noqa: S608
        [(downstream, body)] = db.execute("SELECT downstream, body FROM readings").fetchall()
        reading = json.loads(body)
        texts = [json.dumps(pin) for pin in reading["pins"]]
        reading["pins"] += [
            json.loads(text.replace(name, other)) for text in texts for name in names if name in text
            for other in others[name]
        ]  # fmt: skip
        db.execute("UPDATE readings SET body = ? WHERE downstream = ?", (json.dumps(reading), downstream))


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One answer: seconds until its first byte, and until its last."""

    first: float
    last: float
    size: int


def asked(address: str) -> Seen:
    """Ask for the board, on a connection that is there already, as a browser does that has one."""
    host, _, port = address.partition(":")
    with closing(http.client.HTTPConnection(host, int(port), timeout=60)) as http_:
        http_.connect()
        begin = time.perf_counter()
        http_.request("GET", "/", headers={"Accept-Encoding": "gzip"})
        answer = http_.getresponse()
        size = len(answer.read(1))
        first = time.perf_counter() - begin
        size += len(answer.read())
        if answer.status != http.HTTPStatus.OK:
            raise RuntimeError(f"the board is not shown: {answer.status}")
        return Seen(first=first, last=time.perf_counter() - begin, size=size)


def read(database: Path) -> float:
    """Read the rows behind the board; return the seconds."""
    begin = time.perf_counter()
    with closing(sqlite3.connect(database)) as db:
        for select in _ROWS:
            db.execute(select).fetchall()
    return time.perf_counter() - begin


def change(database: Path) -> None:
    """Let everything have been looked at, and one of a hundred upstreams stand otherwise."""
    at = datetime.now(UTC).isoformat()
    with closing(sqlite3.connect(database)) as db, db:
        db.execute("UPDATE looks SET at = ?", (at,))
        db.execute("UPDATE standings SET at = ?, body = json_set(body, '$.at', ?) WHERE rowid % 100 = 0", (at, at))


@contextmanager
def shown(config: Path) -> Iterator[str]:
    """Serve the pages in a process of their own."""
    command = [sys.executable, __file__, "--serve", str(config)]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield running.stdout.readline().strip() if running.stdout else ""
    finally:
        running.terminate()
        running.wait()


def serve(config: Path) -> None:
    """Serve the pages of a configuration, print where, and wait to be ended."""
    settings = load(config)
    site = Site(settings.state, lambda: settings, _now)
    answering = pages(site, Door(host="127.0.0.1", token=None))
    with Served(
        Endpoint(host="127.0.0.1", port=0), settings.state, Pulse(every=timedelta(minutes=15), channels=()), answering
    ) as served:
        print(served.address, flush=True)
        signal.pause()


def _now() -> datetime:
    return datetime.now(UTC)


def main() -> None:
    """Measure, and print one line for each figure."""
    parser = arguments(__doc__, rounds=15)
    parser.add_argument("--dependencies", type=int, default=2000, help="default: %(default)s")
    parser.add_argument("--serve", type=Path, metavar="CONFIG", help="what the other process does")
    given = parser.parse_args()
    if given.serve:
        serve(given.serve)
        return
    report = Report()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        upstreams = borrowed(drawn(folder / "sources", _DRAWN), folder / "served", moving=(), moves=0)
        watched = Watched(
            folder=folder / "watcher", pins=[(it.name, it.pins[at]) for it in upstreams for at in _PINNED]
        )
        with serving(folder / "server", folder / "served") as served:
            watched.check(served.base)
        database = watched.state / "watcher.db"
        multiplied(database, [it.name for it in upstreams], given.dependencies)
        compared(report, database, watched.folder / "config.yaml", given.dependencies, given.rounds)
        if given.profile and report.rows[0].is_short:
            command = ["report", "--html", str(folder / "pages"), "--config", str(watched.folder / "config.yaml")]
            report.explain("watcher report --html", profile("watcher", *command, folder=watched.folder))
    sys.exit(report.finish(given.json))


def compared(report: Report, database: Path, config: Path, count: int, rounds: int) -> None:
    """Ask and read in turns, and tell what it took."""
    rows, changed, again = [], [], []
    with shown(config) as address:
        for _ in range(rounds + 1):
            change(database)
            rows.append(read(database))
            changed.append(asked(address))
            again.append(asked(address))
    report.add(Row(what=f"board of {count:,}, first: last byte, ms", figures=[1000 * changed[0].last]))
    rows, changed, again = rows[1:], changed[1:], again[1:]
    what, ways = f"board of {count:,}", {"again": again, "changed": changed}
    for way, answers in ways.items():
        first, last = [it.first for it in answers], [it.last for it in answers]
        report.add(
            Row(what=f"{what}, {way}: first byte / rows", figures=shares(first, rows), peer=_PEER, must=3),
            Row(what=f"{what}, {way}: last byte / rows", figures=shares(last, rows), peer=_PEER),
            Row(what=f"{what}, {way}: first byte, ms", figures=[1000 * it for it in first]),
        )
    report.add(Row(what="rows behind it, ms", figures=[1000 * it for it in rows]))
    report.say(f"The board is {changed[-1].size / 1e6:.2f} MB, packed.")


if __name__ == "__main__":
    main()
