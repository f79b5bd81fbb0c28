"""Measure what workers of dask.distributed bring: two and four of them against the threads of one process.

    python benchmarks/bench_workers.py [--upstreams N] [--repos FOLDER] [--rounds N] [--json FILE]

Upstreams are drawn by script, or borrow the bare repositories below a folder, which stand for several as they were at
different times where they are too few; each has three pins. A round is
a first look, then every tenth upstream moved on, by threads, by two and by four workers, all three the same; where the
machine allows it (`unshare`, as root), also by four workers that see none of the service's mirrors; and a first look by
four workers of which one is killed (-9) at work. Every report must be the same to the last byte of JSON, the moments of
the looks apart. Servers, workers and service share this machine's cores: what N machines would take is computed from
what the parts took, T(N) = start + upstreams × overhead + work / N.
"""

import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from distributed import Client
from harness.measuring import Cost, Run
from harness.rows import Report, Row, arguments
from harness.serving import serving
from harness.upstreams import COMMITS, borrowed, drawn
from harness.upstreams import given as given_ones
from harness.watching import Watched, pins_of

_MOVING = 10
_LONG = 120
_KILLED_AFTER = 3.0
"""Seconds after which a worker is killed, once the first look began."""
_MACHINES = (1, 2, 4, 8, 16, 64)
_NOW = re.compile(rb'"(at|opened_at|since|first_seen|last_seen)": "[^"]*"')
_THREADS, _TWO, _FOUR, _APART, _KILLED = "threads", "2 workers", "4 workers", "4 workers apart", "4 workers, 1 killed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Employing(Watched):
    """The same watcher, with workers or without."""

    scheduler: str | None

    def command(self, base: str) -> list[str | Path]:
        """Return the command of one pass, its configuration written."""
        command = [*Watched.command(self, base), "--format", "json"]
        if self.scheduler:
            with (self.folder / "config.yaml").open("a") as file:
                file.write(f"executor: {{dask: '{self.scheduler}'}}\n")
        return command


@dataclass(slots=True, kw_only=True)
class Team:
    """A scheduler and its workers."""

    folder: Path
    address: str = ""
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, workers: int, *, hidden: Path | None) -> None:
        """Start a scheduler and workers, which cannot see a folder that is hidden from them."""
        file = self.folder / "scheduler.json"
        self._run([], "scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file))
        options = ("--nthreads", "1", "--nworkers", str(workers), "--name", "w", "--memory-limit", "0")
        where = ("--scheduler-file", str(file), "--local-directory", str(self.folder / "scratch"))
        hide = f'mount -t tmpfs none {hidden} && exec "$@"'
        self._run(["unshare", "-m", "sh", "-c", hide, "sh"] if hidden else [], "worker", *options, *where)
        while not file.exists():
            threading.Event().wait(0.1)
        self.address = json.loads(file.read_text())["address"]
        with self.client() as client:
            client.wait_for_workers(workers, timeout=_LONG)

    def client(self) -> Client:
        """Return a client of its own."""
        return Client(self.address, timeout=_LONG, set_as_default=False)

    def kill_one(self) -> None:
        """Kill a worker that is at work."""
        with self.client() as client:
            pids = client.run(os.getpid)
            busy = [at for at, keys in client.processing().items() if keys]
            if busy:
                os.kill(pids[busy[0]], signal.SIGKILL)

    def stop(self) -> None:
        """End the workers, then the scheduler."""
        for process in reversed(self.started):
            process.terminate()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _run(self, before: Sequence[str], what: str, *options: str) -> None:
        command = [*before, sys.executable, "-m", f"distributed.cli.dask_{what}", "--no-dashboard", *options]
        env = {**os.environ, "WATCHER_MIRRORS": str(self.folder / "cache")}
        with (self.folder / f"{what}.log").open("ab") as log:
            self.started.append(subprocess.Popen(command, env=env, stdout=log, stderr=log))


@contextmanager
def team(folder: Path, workers: int, *, hidden: Path | None = None) -> Iterator[Team]:
    """Run a scheduler with workers."""
    folder.mkdir(parents=True)
    running = Team(folder=folder)
    try:
        running.start(workers, hidden=hidden)
        yield running
    finally:
        running.stop()


@dataclass(slots=True, kw_only=True)
class Bench:
    """What each way took, and what it said."""

    folder: Path
    pins: Sequence[tuple[str, str]]
    base: str
    costs: dict[tuple[str, str], list[Cost]] = field(default_factory=lambda: defaultdict(list))
    said: dict[str, bytes] = field(default_factory=dict)

    def watched(self, way: str, scheduler: str | None) -> Employing:
        """Return the watcher of one way."""
        return Employing(folder=self.folder / re.sub(r"[^a-z0-9]+", "-", way), pins=self.pins, scheduler=scheduler)

    def look(self, way: str, situation: str, scheduler: str | None) -> None:
        """Make one pass, and see that it says what the others said."""
        run = self.watched(way, scheduler).check(self.base)
        self.costs[way, situation].append(run.cost)
        if self.said.setdefault(situation, _plain(run)) != _plain(run):
            raise SystemExit(f"{way}, {situation}: the report is another one than that of {_THREADS}")


def _plain(run: Run) -> bytes:
    """Return a report without the moments of the look."""
    if json.loads(run.out)["warnings"]:
        raise SystemExit(f"not done as asked: {json.loads(run.out)['warnings'][:3]}")
    return _NOW.sub(rb'"\1": ""', run.out)


def measured(bench: Bench, upstreams: Sequence, has_unshare: bool, number: int) -> None:
    """Make one round."""
    shutil.rmtree(bench.folder, ignore_errors=True)
    bench.said.clear()
    ways: Mapping[str, int] = {_TWO: 2, _FOUR: 4, **({_APART: 4} if has_unshare else {})}
    bench.look(_THREADS, "cold", None)
    for way, count in ways.items():
        state = bench.watched(way, None).state
        state.mkdir(parents=True)
        with team(bench.folder / f"team {way} {number}", count, hidden=state if way == _APART else None) as running:
            bench.look(way, "cold", running.address)
            bench.look(way, "unchanged", running.address)
    with team(bench.folder / f"team killed {number}", 4) as running:
        timer = threading.Timer(_KILLED_AFTER, running.kill_one)
        timer.start()
        bench.look(_KILLED, "cold", running.address)
        timer.join()
    for upstream in upstreams[::_MOVING]:
        upstream.move()
    bench.look(_THREADS, "moved", None)
    for way, count in ways.items():
        state = bench.watched(way, None).state
        with team(bench.folder / f"again {way} {number}", count, hidden=state if way == _APART else None) as running:
            bench.look(way, "moved", running.address)


def told(bench: Bench, report: Report) -> None:
    """Print every figure, and what follows for N machines."""
    for (way, situation), costs in bench.costs.items():
        report.add(Row(what=f"{situation}, {way}: wall, s", figures=[cost.wall for cost in costs]))
        report.add(Row(what=f"{situation}, {way}: CPU of the service, s", figures=[cost.cpu for cost in costs]))
        if way != _THREADS and (threads := bench.costs.get((_THREADS, situation))):
            speed = [one.wall / other.wall for one, other in zip(threads, costs, strict=True)]
            report.add(Row(what=f"{situation}, {way}: speed-up over threads", figures=speed))


def modelled(bench: Bench, count: int, report: Report) -> None:
    """Say what N machines with one worker each would take for a first look, on a shared disk and on their own."""
    for way in (_FOUR, _APART):
        if (way, "cold") in bench.costs:
            _model(bench, way, count, report)


def _model(bench: Bench, way: str, count: int, report: Report) -> None:
    start = _middle(bench.costs[way, "unchanged"])
    service = _middle(bench.costs[way, "cold"])
    overhead = max(0.0, service - start) / count
    work = max(0.0, _middle(bench.costs[_THREADS, "cold"]) - start)
    report.say(
        f"T(N) = start {start:.2f} s + {count} × overhead {1000 * overhead:.1f} ms + work {work:.1f} s / N"
        f" ({way}; CPU seconds, so with one core for each worker and a network that is no limit)"
    )
    for machines in _MACHINES:
        seconds = start + count * overhead + work / machines
        report.add(Row(what=f"model: cold, as {way}, but N = {machines}: s", figures=[seconds]))


def _middle(costs: Sequence[Cost]) -> float:
    return statistics.median(cost.cpu for cost in costs)


def main() -> None:
    """Measure, and print one line for each figure."""
    asked = arguments(__doc__, rounds=1)
    asked.add_argument("--upstreams", type=int, default=200, help="default: %(default)s")
    asked.add_argument("--repos", type=Path, metavar="FOLDER", help="a folder with bare repositories at any depth")
    given = asked.parse_args()
    report = Report()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        root, moving = folder / "served", range(0, given.upstreams, _MOVING)
        count = given.upstreams
        sources = (
            given_ones(given.repos.resolve(), count, again=True) if given.repos else drawn(folder / "sources", count)
        )
        upstreams = borrowed(sources, root, moving=moving, moves=given.rounds, ages=bool(given.repos))
        how = (
            f"have the histories of {len(set(sources))} real repositories, at different times"
            if given.repos
            else f"have {COMMITS} drawn commits"
        )
        report.say(f"{len(upstreams)} upstreams {how}.")
        has_unshare = subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode == 0
        with serving(folder / "server", root) as served:
            report.say(served.how)
            report.say(f"{os.cpu_count()} cores for servers, scheduler, workers and service together.")
            bench = Bench(folder=folder / "ways", pins=pins_of(upstreams), base=served.base)
            for number in range(given.rounds):
                measured(bench, upstreams, has_unshare, number)
            told(bench, report)
            modelled(bench, len(upstreams), report)
    sys.exit(report.finish(given.json))


if __name__ == "__main__":
    main()
