"""Measure what it costs to start `watcher`, beside a Python that does nothing and `git --version`.

    python benchmarks/bench_start.py [--rounds N] [--json FILE] [--profile]

`watcher check` on nothing is one pass over one upstream that did not change since the pass before, served on loopback.
Figures are seconds of processor time from start to end, user and system, children included.
"""

import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path

from harness.measuring import Cost, outside
from harness.profiling import profile
from harness.rows import Report, Row, arguments, bound, shares
from harness.serving import serving
from harness.upstreams import borrowed, drawn
from harness.watching import PROGRAM, Watched, pins_of

_HELP, _CHECK, _NOTHING, _GIT = "watcher --help", "watcher check on nothing", "python -c pass", "git --version"
_PASS = [sys.executable, "-c", "pass"]


def compared(rounds: int, ways: Mapping[str, Callable[[], Cost]]) -> list[Row]:
    """Return processor time of every way."""
    costs: dict[str, list[float]] = defaultdict(list)
    for _ in range(rounds):
        for way, run in ways.items():
            costs[way].append(run().cpu)
    rows = [
        Row(what=f"{way}: CPU, s", figures=figures, **(bound(0.25, 0.15) if way in {_HELP, _CHECK} else {}))
        for way, figures in costs.items()
    ]
    ratios = [
        Row(what=f"{way} / {peer}", figures=shares(costs[way], costs[peer]), peer=peer)
        for way in (_HELP, _CHECK)
        for peer in (_NOTHING, _GIT)
    ]
    return [*rows, *ratios]


def main() -> None:
    """Measure, and print one line for each figure."""
    given = arguments(__doc__, rounds=10).parse_args()
    report = Report()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        upstreams = borrowed(drawn(folder / "sources", 1), folder / "served", moving=(), moves=0)
        with serving(folder / "server", folder / "served") as served:
            watched = Watched(folder=folder / "watcher", pins=pins_of(upstreams)[:1])
            for _ in range(2):
                watched.check(served.base)
            ways: Mapping[str, Callable[[], Cost]] = {
                _NOTHING: lambda: outside(_PASS, folder=folder).cost,
                _GIT: lambda: outside(["git", "--version"], folder=folder).cost,
                _HELP: lambda: outside([PROGRAM, "--help"], folder=folder).cost,
                _CHECK: lambda: watched.check(served.base).cost,
            }
            report.add(*compared(given.rounds, ways))
            short = {row.what.partition(":")[0] for row in report.rows if row.is_short}
            if given.profile and _HELP in short:
                report.explain(_HELP, profile("watcher", "--help"))
            if given.profile and _CHECK in short:
                command = watched.command(served.base)[1:]
                report.explain(_CHECK, profile("watcher", *command, folder=watched.folder))
    sys.exit(report.finish(given.json))


if __name__ == "__main__":
    main()
