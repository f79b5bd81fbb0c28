"""Measure what a program costs: its own and its children's processor time, its wall time, its memory.

A measurement is a fresh process that does something once and prints `Cost` as JSON; `measured` runs it. Within it,
`costing` leaves out what came before, such as imports. `outside` leaves nothing out: it runs any program from start to
end, as a person does.
"""

import json
import os
import resource
import statistics
import subprocess
import tempfile
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What a program printed, and what that took."""

    cost: Cost
    code: int
    out: bytes
    err: bytes


def outside(
    command: Sequence[str | Path], *, folder: Path, env: Mapping[str, str] | None = None, codes: Sequence[int] = (0,)
) -> Run:
    """Run a program in a folder, and return what it took from start to end; raise for other exit codes.

    The kernel says what it and the children that it waited for took, and no other child of ours.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        began = time.perf_counter()
        running = subprocess.Popen(
            command, cwd=folder, env={**environment(), **(env or {})}, stdin=subprocess.DEVNULL, stdout=out, stderr=err
        )
        _, status, used = os.wait4(running.pid, 0)
        wall = time.perf_counter() - began
        code = running.returncode = os.waitstatus_to_exitcode(status)
        for file in (out, err):
            file.seek(0)
        run = Run(cost=Cost(cpu=used.ru_utime + used.ru_stime, wall=wall), code=code, out=out.read(), err=err.read())
    if code not in codes:
        raise RuntimeError(f"{list(map(str, command))} ended with {code}:\n{run.err.decode(errors='replace')[-2000:]}")
    return run


def environment() -> dict[str, str]:
    """Return the environment for programs that are measured: everything is on loopback, nothing is a person's own.

    Without `PYTHONDONTWRITEBYTECODE`, too, under which an editable install is compiled again at each start.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PYTHON", "WATCHER_"))}
    return kept | {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "LC_ALL": "C", "no_proxy": "*"}


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
