"""Measure what a program costs: its own and its children's processor time, its wall time, its memory.

A measurement is a fresh process that does something once and prints `Cost` as JSON; `measured` runs it. Within it,
`costing` leaves out what came before, such as imports.
"""

import json
import os
import resource
import statistics
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

_BENCHMARKS = Path(__file__).parents[1]


@dataclass(slots=True, kw_only=True)
class Cost:
    """What one measurement took."""

    cpu: float = 0.0
    """Seconds, user and system, children included."""
    wall: float = 0.0
    memory: float = 0.0
    """Megabytes at the peak, over what there was before."""


@contextmanager
def costing() -> Iterator[Cost]:
    """Fill in what the block costs."""
    cost = Cost()
    memory, cpu, wall = _megabytes("VmRSS"), _cpu(), time.perf_counter()
    yield cost
    cost.wall = time.perf_counter() - wall
    cost.cpu = _cpu() - cpu
    cost.memory = max(0.0, _megabytes("VmHWM") - memory)


def tell(cost: Cost) -> None:
    """Print a cost for `measured`, as the last line."""
    print(json.dumps(asdict(cost)))


def measured(command: Sequence[str], *, env: Mapping[str, str] | None = None) -> Cost:
    """Run a program that tells its own cost, and return that."""
    env = {**os.environ, **(env or {})}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=env, cwd=_BENCHMARKS)
    if done.returncode:
        raise RuntimeError(f"{command} failed:\n{done.stderr[-2000:]}")
    return Cost(**json.loads(done.stdout.splitlines()[-1]))


def spread(figures: Sequence[float]) -> str:
    """Return median and range, for people."""
    return f"{statistics.median(figures):.3f} ({min(figures):.3f}–{max(figures):.3f})"


def _cpu() -> float:
    mine, theirs = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return mine.ru_utime + mine.ru_stime + theirs.ru_utime + theirs.ru_stime


def _megabytes(line: str) -> float:
    """Return what the kernel says of this process's memory: `ru_maxrss` would include the parent's."""
    told = Path("/proc/self/status").read_text().partition(f"{line}:")[2]
    return int(told.split()[0]) / 1024
