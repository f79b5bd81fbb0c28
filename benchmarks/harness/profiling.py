"""Say where a program's time goes: cProfile in every thread of it, waiting included.

    python -m harness.profiling [--inside] MODULE [ARGUMENT ...]

Told are the twelve functions with the most time of their own, and the twelve of watcher with the most time in all.
"""

import cProfile
import pstats
import runpy
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from heapq import nlargest
from pathlib import Path

from harness import measuring
from harness.measuring import Cost, environment

_MOST = 12
_HERE = Path(__file__).parents[1]
_MARK = "--- profile ---\n"
_INSIDE = "--inside"


def profile(module: str, *arguments: str | Path, folder: Path = _HERE, is_inside: bool = False) -> str:
    """Run a module once, and return the excerpt; `is_inside`: only of what it measures itself by `costing`."""
    command = [sys.executable, "-m", "harness.profiling", *([_INSIDE] if is_inside else []), module, *arguments]
    env = {**environment(), "PYTHONPATH": str(_HERE)}
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=folder, env=env)
    return done.stderr.rpartition(_MARK)[2].strip("\n")


def _in_every_thread(stats: list[cProfile.Profile]) -> None:
    """Profile every thread that starts from now on; from Python 3.12 on, one profiler sees them all."""
    plain = threading.Thread.run

    def run(self: threading.Thread) -> None:
        own = cProfile.Profile()
        stats.append(own)
        try:
            own.enable()
        except ValueError:
            stats.remove(own)
            plain(self)
            return
        try:
            plain(self)
        finally:
            own.disable()

    threading.Thread.run = run  # type: ignore[method-assign]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spent:
    """One function's share."""

    file: str
    place: str
    calls: int
    own: float
    whole: float


def _excerpt(stats: pstats.Stats) -> Iterator[str]:
    """Yield the lines of both tables."""
    # What pstats keeps is documented nowhere else than in its own source, and has not changed in twenty years.
    kept: dict[tuple[str, int, str], tuple[int, int, float, float, object]] = vars(stats)["stats"]
    spent = [
        _Spent(file=file, place=f"{Path(file).name}:{line}({name})", calls=calls, own=own, whole=whole)
        for (file, line, name), (_, calls, own, whole, _) in kept.items()
    ]
    yield f"{'calls':>9} {'own s':>8} {'whole s':>8}  most time of its own"
    yield from map(_line, nlargest(_MOST, spent, key=lambda it: it.own))
    yield f"{'calls':>9} {'own s':>8} {'whole s':>8}  most time in all, of watcher"
    ours = (it for it in spent if "/watcher/" in it.file and not it.place.endswith("(<module>)"))
    yield from map(_line, nlargest(_MOST, ours, key=lambda it: it.whole))


def _line(it: _Spent) -> str:
    return f"{it.calls:9} {it.own:8.3f} {it.whole:8.3f}  {it.place}"


def _where_measured(own: cProfile.Profile) -> None:
    """Profile what stands in a block of `costing`, which the module has not imported yet."""
    plain = measuring.costing

    @contextmanager
    def costing() -> Iterator[Cost]:
        own.enable()
        try:
            with plain() as cost:
                yield cost
        finally:
            own.disable()

    measuring.costing = costing


def _main() -> None:
    is_inside = sys.argv[1] == _INSIDE
    sys.argv[:] = sys.argv[2 if is_inside else 1 :]
    stats = [cProfile.Profile()]
    _in_every_thread(stats)
    if is_inside:
        _where_measured(stats[0])
    else:
        stats[0].enable()
    try:
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    except SystemExit:
        pass
    finally:
        stats[0].disable()
        sys.stderr.write(_MARK + "\n".join(_excerpt(pstats.Stats(*stats))))


if __name__ == "__main__":
    _main()
