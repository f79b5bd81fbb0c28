"""Measure how the cost of `watcher check` grows: with upstreams, with pins on one of them, with its history.

    python benchmarks/sweep.py [--only upstreams|pins|history] [--largest N] [--rounds N] [--folder FOLDER]

The installed command runs in a process of its own against upstreams on loopback; counted are processor time (its
children's too, such as git's), wall time, and the peak of its own memory. Each size is looked at for the first time,
then with nothing moved, then with some upstreams moved by three commits, one of them a fix.

  upstreams  10 to 10,000 small ones, one pin each; nothing, 1 % and 10 % of them moved
  pins       1 to 10,000 on one upstream of 20,000 commits, ten fixes among them
  history    10,000 to 1,000,000 commits, shaped like real ones; ten pins among the latest thousand

On two idle cores the sweeps take about 20, 10 and 5 minutes, most of it at the largest size (10,000 upstreams: ten
minutes for the first look alone); with `--rounds 1 --largest 1000` upstreams and pins take 3 and 1. `--largest` leaves
larger sizes out, `--folder` keeps the long histories. Figures go to sweep.json beside this file, drawings to
docs/sweep-*.svg; `--draw` only draws anew. A sweep that is measured anew replaces its old figures.
"""

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from bench_graph import made
from harness.measuring import Cost
from sweeping.answering import answering
from sweeping.curves import Point, draw, growth
from sweeping.world import World, names, successor
from sweeping.world import draw as drawn

_HERE = Path(__file__).parent
_FIGURES = _HERE / "sweep.json"
_DOCS = _HERE.parent / "docs"
_WATCHER = Path(sys.executable).with_name("watcher")
_TOLD = (0, 1)
"""Exit codes of a pass that saw everything: without findings, with some."""
_FIRST, _SAME = "first look", "nothing moved"
_SMALL = 20
"""Commits of each of many upstreams."""
_LONG = 20_000
"""Commits of the one with many pins."""
_FIXES = 10
_LATEST = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measured run."""

    size: int
    what: str
    cost: Cost


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One sweep."""

    title: str
    axis: str
    sizes: Sequence[int]
    measure: Callable[[Path, int, int], Iterator[Figure]]
    """Takes a folder to keep things in, a size, how many rounds."""


def check(config: Path) -> Cost:
    """Run one pass and return what it cost."""
    before, start, memory = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter(), 0.0
    with tempfile.TemporaryFile() as trouble:
        command = [str(_WATCHER), "check", "--config", str(config)]
        env = {**os.environ, "no_proxy": "*"}
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=trouble, cwd=config.parent, env=env)
        while running.poll() is None:
            memory = max(memory, _peak(running.pid))
            time.sleep(0.01)
        wall = time.perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if running.returncode not in _TOLD:
            trouble.seek(0)
            raise RuntimeError(f"watcher ended with {running.returncode}: {trouble.read()[-2000:].decode()}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(cpu=cpu, wall=wall, memory=memory)


def _peak(process: int) -> float:
    """Return the peak of a process's memory so far in megabytes: the last answer before it ends is as good as all."""
    try:
        told = Path(f"/proc/{process}/status").read_text().partition("VmHWM:")[2]
    except OSError:
        return 0.0
    return int(told.split()[0]) / 1024 if told else 0.0


# --- the sweeps ------------------------------------------------------------------------------------------------------


def upstreams(folder: Path, size: int, rounds: int) -> Iterator[Figure]:
    """Measure many small upstreams."""
    versions = [folder / "small.git"]
    pinned = drawn(versions[0], _SMALL, fixes=2)[_SMALL // 2]
    for number in range(2 * rounds):
        versions.append(successor(versions[-1], folder / f"small-{number + 1}.git", number))
    every = names(size)
    with _watched(folder, [(name, pinned) for name in every]) as world:
        world.point(every, versions[0])
        yield from _unmoved(world, size, rounds)
        at = 0
        for share in (1, 10):
            moved = every[: size * share // 100]
            for _ in range(rounds if moved else 0):
                at += 1
                world.point(moved, versions[at])
                yield Figure(size=size, what=f"{share} % moved", cost=check(world.config))


def pins(folder: Path, size: int, rounds: int) -> Iterator[Figure]:
    """Measure many pins on one upstream: the oldest is the same whatever their number, so is the history after it."""
    repository = folder / "long.git"
    commits = drawn(repository, _LONG, fixes=2 * _FIXES)
    recent = commits[_LONG // 2 :]
    step = max(1, len(recent) // size)
    chosen = [recent[at * step % len(recent)] for at in range(size)]
    yield from _one(folder, repository, chosen, size, rounds)


def history(folder: Path, size: int, rounds: int) -> Iterator[Figure]:
    """Measure one upstream with a long history."""
    repository = made(folder.parent, size, _FIXES, 100)
    for key in ("uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"):
        subprocess.run(["git", f"--git-dir={repository}", "config", key, "true"], check=True)
    asked = ["git", f"--git-dir={repository}", "rev-list", f"-n{_LATEST}", "main"]
    latest = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.split()
    yield from _one(folder, repository, latest[:: _LATEST // 10], size, rounds)


def _one(folder: Path, repository: Path, pinned: Sequence[str], size: int, rounds: int) -> Iterator[Figure]:
    """Measure one upstream with some pins."""
    with _watched(folder, [("one", commit) for commit in pinned]) as world:
        world.point(["one"], repository)
        yield from _unmoved(world, size, rounds)
        for number in range(rounds):
            repository = successor(repository, folder / f"moved-{number}.git", number)
            world.point(["one"], repository)
            yield Figure(size=size, what="it moved", cost=check(world.config))


def _unmoved(world: World, size: int, rounds: int) -> Iterator[Figure]:
    yield Figure(size=size, what=_FIRST, cost=check(world.config))
    for _ in range(rounds):
        yield Figure(size=size, what=_SAME, cost=check(world.config))


@contextmanager
def _watched(folder: Path, pinned: Sequence[tuple[str, str]]) -> Iterator[World]:
    """Give a world whose upstreams are served."""
    world = World(folder=folder)
    world.root.mkdir()
    with answering(world.root) as base:
        world.watch(base, pinned)
        yield world


PARTS: Mapping[str, Part] = {
    "upstreams": Part(
        title="One pass over many upstreams",
        axis="upstreams, one pin each",
        sizes=(10, 100, 1000, 10_000),
        measure=upstreams,
    ),
    "pins": Part(
        title=f"One pass over many pins on one upstream of {_LONG:,} commits",
        axis="pins",
        sizes=(1, 10, 100, 1000, 10_000),
        measure=pins,
    ),
    "history": Part(
        title="One pass over ten pins on one upstream",
        axis="commits of the upstream",
        sizes=(10_000, 100_000, 1_000_000),
        measure=history,
    ),
}


# --- all of them -----------------------------------------------------------------------------------------------------


def measured(part: Part, largest: int, rounds: int, kept: Path) -> list[Figure]:
    """Return every figure of a sweep, and print each as soon as it is there."""
    found = []
    for size in (it for it in part.sizes if it <= largest):
        with tempfile.TemporaryDirectory(dir=kept) as name:
            for figure in part.measure(Path(name), size, rounds):
                cost = figure.cost
                print(
                    f"{figure.what:<16} {size:>9,}  {cost.cpu:8.2f} s CPU {cost.wall:8.2f} s {cost.memory:6.0f} MB",
                    flush=True,
                )
                found.append(figure)
    return found


def curves(figures: Sequence[Figure]) -> dict[str, list[Point]]:
    """Return the medians, by what was done."""
    found: dict[str, list[Point]] = {}
    for what, size in dict.fromkeys((it.what, it.size) for it in figures):
        costs = [it.cost for it in figures if (it.what, it.size) == (what, size)]
        point = Point(
            size=size,
            cpu=statistics.median(it.cpu for it in costs),
            memory=statistics.median(it.memory for it in costs),
        )
        found.setdefault(what, []).append(point)
    return found


def read() -> dict[str, list[Figure]]:
    """Return the figures that were measured before."""
    if not _FIGURES.exists():
        return {}
    parts = json.loads(_FIGURES.read_text())["parts"]
    return {
        name: [Figure(size=it["size"], what=it["what"], cost=Cost(**it["cost"])) for it in figures]
        for name, figures in parts.items()
    }


def _write(parts: Mapping[str, Sequence[Figure]]) -> None:
    git = subprocess.run(["git", "version"], check=True, capture_output=True, text=True).stdout.split()[2]
    document = {
        "machine": f"{os.cpu_count()} cores {platform.machine()}, Python {platform.python_version()}, git {git}",
        "parts": {name: [asdict(it) for it in figures] for name, figures in parts.items()},
    }
    _FIGURES.write_text(json.dumps(document, indent=1) + "\n")


def main() -> None:
    """Measure what is asked for, and draw it."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--only", choices=PARTS, help="measure one sweep")
    asked.add_argument("--largest", type=int, default=1_000_000, help="leave larger sizes out (default: %(default)s)")
    asked.add_argument("--rounds", type=int, default=3, help="of all but the first look (default: %(default)s)")
    asked.add_argument("--folder", type=Path, help="keep long histories there, and use those that are there")
    asked.add_argument("--draw", action="store_true", help="measure nothing, draw what was measured before")
    given = asked.parse_args()
    with tempfile.TemporaryDirectory() as name:
        kept = (given.folder or Path(name)).resolve()
        kept.mkdir(parents=True, exist_ok=True)
        for part in () if given.draw else [given.only] if given.only else PARTS:
            print(f"--- {part}", flush=True)
            figures = measured(PARTS[part], given.largest, given.rounds, kept)
            _write({**read(), part: figures})
    for part, figures in read().items():
        found = curves(figures)
        for what, points in found.items():
            print(f"{part}: {what}: {growth(points)}, at most {max(it.memory for it in points):.0f} MB")
        draw(found, title=PARTS[part].title, axis=PARTS[part].axis, file=_DOCS / f"sweep-{part}.svg")


if __name__ == "__main__":
    main()
