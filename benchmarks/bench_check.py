"""Measure what `watcher check` costs, beside the shell script that maintainers write for it.

    python benchmarks/bench_check.py [--upstreams N] [--repos FOLDER] [--rounds N] [--json FILE] [--profile]

Upstreams are drawn by script (10,000 commits, merged branches, fixes, releases) or, with `--repos`, borrow the smallest
bare repositories below a folder. Each has three pins, 10, 50 and 200 steps of its main line before the tip, for three
variants. The script is `peers/watch.sh`: ls-remote, a full bare clone that is fetched into, merge-base, `log --grep`.
Both run as programs, from start to end: processor time is user and system, children included.

A round is: cold; warm, nothing moved; the same 50 ms away; every tenth upstream moved on by five steps of its main
line; the same 50 ms away. Processes and requests are counted in a pass of its own, which is not timed.
"""

import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.distance import distant
from harness.measuring import Cost, outside
from harness.profiling import profile
from harness.rows import Bounds, Report, Row, arguments, bound, shares
from harness.serving import Serving, serving
from harness.upstreams import Upstream, borrowed, drawn, size_of
from harness.upstreams import given as given_ones
from harness.watching import NOWHERE, Watched, Wrapper, pins_of

_ROUND_TRIP = 0.05
_SCRIPT = Path(__file__).with_name("peers") / "watch.sh"
_PEER = "maintainers' shell script"
_CAREFUL = "the same script, which fetches only where ls-remote tells of something new"
_MOVING = 10
"""Every so many upstreams, one moves."""
_REAL = "the smallest of the real ones that were given"
_COMMITS = 10_000
"""Of a repository that is drawn: 22 MB, as a middling project."""
_DRAWN = f"drawn by script, with {_COMMITS:,} commits each"
_COLD, _WARM, _FAR, _MOVED, _MOVED_FAR = "cold", "warm", "warm, 50 ms", "moved", "moved, 50 ms"
_BUDGETS = {
    _COLD: (0.15, 0.08),
    _WARM: (0.15, 0.10),
    _FAR: (0.05, 0.03),
    _MOVED: (0.20, 0.14),
    _MOVED_FAR: (0.10, 0.06),
}


@dataclass(slots=True, kw_only=True)
class Bench:
    """Both programs, their folders, and what they were found to cost."""

    folder: Path
    upstreams: Sequence[Upstream]
    near: str
    far: str
    costs: dict[tuple[str, str], list[Cost]] = field(default_factory=lambda: defaultdict(list))
    """Situation and program → what each round took."""

    @property
    def watched(self) -> Watched:
        """Return our state."""
        return Watched(folder=self.folder / "watcher", pins=pins_of(self.upstreams))

    @property
    def clones(self) -> Path:
        """Return where the script keeps its clones."""
        return self.folder / "clones"

    def round(self) -> None:
        """Measure every situation once, both programs in turn."""
        self.forget()
        self._both(_COLD, self.near)
        self._both(_WARM, self.near, is_careful=True)
        self._both(_FAR, self.far)
        self.move()
        self._both(_MOVED, self.near)
        self.move()
        self._both(_MOVED_FAR, self.far)

    def forget(self) -> None:
        """Begin anew."""
        shutil.rmtree(self.watched.folder, ignore_errors=True)
        shutil.rmtree(self.clones, ignore_errors=True)

    def move(self) -> None:
        """Let one of every ten upstreams go on."""
        for upstream in self.upstreams[::_MOVING]:
            upstream.move()

    def _both(self, situation: str, base: str, *, is_careful: bool = False) -> None:
        self.costs[situation, "watcher"].append(self.watched.check(base).cost)
        self.costs[situation, "script"].append(self._script(base))
        if is_careful:
            self.costs[situation, "careful"].append(self._script(base, {"ONLY_IF_MOVED": "1"}))

    def _script(self, base: str, env: dict[str, str] | None = None) -> Cost:
        pins = self.folder / "pins"
        pins.write_text(
            "".join(f"{name.replace('/', '-')} {NOWHERE}/{name} {pin}\n" for name, pin in self.watched.pins)
        )
        elsewhere = {
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"url.{base}/.insteadOf",
            "GIT_CONFIG_VALUE_0": f"{NOWHERE}/",
        }
        return outside([_SCRIPT, pins, self.clones], folder=self.folder, env=elsewhere | (env or {})).cost


def timed(bench: Bench) -> list[Row]:
    """Return processor and wall time of every situation, as shares of the script's."""
    rows = []
    for situation, budget in _BUDGETS.items():
        mine, script = bench.costs[situation, "watcher"], bench.costs[situation, "script"]
        titled = _titled(situation, bench.upstreams)
        for name, seconds in _MEASURES.items():
            # Across a long way, waiting is all that differs.
            budgeted: Bounds = bound(*budget) if name == "wall" or "50 ms" not in situation else {}
            ours, theirs = list(map(seconds, mine)), list(map(seconds, script))
            rows += [
                Row(what=f"{titled}: {name} / script", figures=shares(ours, theirs), peer=_PEER, **budgeted),
                Row(what=f"{titled}: {name}, s", figures=ours),
                Row(what=f"{titled}: {name} of the script, s", figures=theirs),
            ]
            if careful := list(map(seconds, bench.costs.get((situation, "careful"), []))):
                what = f"{titled}: {name} / careful script"
                rows.append(Row(what=what, figures=shares(ours, careful), peer=_CAREFUL))
    return rows


_MEASURES: dict[str, Callable[[Cost], float]] = {"wall": lambda cost: cost.wall, "CPU": lambda cost: cost.cpu}


def counted(bench: Bench, served: Serving, report: Report) -> list[Row]:
    """Return what a pass starts and asks for, by situation; nothing is timed here."""
    count = len(bench.upstreams)
    wrapper = Wrapper(folder=bench.folder / "wrapper")
    bench.forget()
    bench.watched.check(bench.near, env=wrapper.env)
    cold = wrapper.started()
    before = served.requests()
    bench.watched.check(bench.near, env=wrapper.env)
    asked, warm = served.requests() - before, wrapper.started()
    bench.move()
    bench.watched.check(bench.near, env=wrapper.env)
    moved = wrapper.started()
    for situation, started in ((_COLD, cold), (_WARM, warm), (_MOVED, moved)):
        if started.by_it:
            report.explain(f"git processes that one pass starts, {situation}", started.by_verb)
    changed = len(bench.upstreams[::_MOVING])
    return [
        Row(what="unchanged: requests per upstream", figures=[asked / count], must=1),
        Row(what="unchanged: git processes per upstream", figures=[len(warm.by_it) / count], must=0),
        Row(what="lazy fetches, cold and warm and moved", figures=[cold.lazy + warm.lazy + moved.lazy], must=0),
        Row(what="cold: fetches per upstream", figures=[cold.fetches / count]),
        Row(what="cold: git processes per upstream", figures=[len(cold.by_it) / count]),
        Row(what="moved: fetches per moved upstream", figures=[moved.fetches / changed]),
        Row(what="moved: git processes per moved upstream", figures=[len(moved.by_it) / changed]),
    ]


def explained(bench: Bench, report: Report) -> None:
    """Profile the situations that fall short."""
    short = {situation for situation in _BUDGETS for row in report.rows if row.is_short and _is_of(row, situation)}
    bench.forget()
    for situation, base in ((_COLD, bench.near), (_WARM, bench.near), (_FAR, bench.far), (_MOVED, bench.near)):
        if situation == _MOVED:
            bench.move()
        command = bench.watched.command(base)[1:]
        if situation in short:
            report.explain(f"watcher check, {situation}", profile("watcher", *command, folder=bench.watched.folder))
        else:
            bench.watched.check(base)


def _titled(situation: str, upstreams: Sequence[Upstream]) -> str:
    size = f"{len(upstreams)} × 3"
    moved = f"{len(upstreams[::_MOVING])} of {len(upstreams)} moved"
    return f"{size}, {situation.replace('moved', moved)}"


def _is_of(row: Row, situation: str) -> bool:
    name = row.what.partition(": ")[0].partition(", ")[2]
    return name == situation or (situation == _MOVED and name.endswith("moved"))


def main() -> None:
    """Measure, and print one line for each figure."""
    asked = arguments(__doc__)
    asked.add_argument("--upstreams", type=int, default=50, help="default: %(default)s")
    asked.add_argument("--repos", type=Path, metavar="FOLDER", help="a folder with bare repositories at any depth")
    given = asked.parse_args()
    report = Report()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        root = folder / "served"
        count, moving, moves = given.upstreams, range(0, given.upstreams, _MOVING), 2 * given.rounds + 2
        sources = (
            given_ones(given.repos.resolve(), count)
            if given.repos
            else drawn(folder / "sources", count, commits=_COMMITS)
        )
        upstreams = borrowed(sources, root, moving=moving, moves=moves)
        report.say(f"{len(upstreams)} upstreams: {_REAL if given.repos else _DRAWN}.")
        with serving(folder / "server", root) as served, distant(served.base, _ROUND_TRIP) as far:
            report.say(served.how)
            bench = Bench(folder=folder, upstreams=upstreams, near=served.base, far=far)
            counts = counted(bench, served, report)
            for _ in range(given.rounds):
                bench.round()
            report.add(*timed(bench))
            held = size_of(bench.watched.state) / size_of(bench.clones)
            report.add(Row(what="state folder / full bare clones, bytes", figures=[held], must=0.15, peer="clones"))
            report.add(*counts)
            told = len(bench.watched.told(bench.near)["findings"]) / len(bench.watched.pins)
            report.add(Row(what="findings per pin", figures=[told]))
            if given.profile:
                explained(bench, report)
    sys.exit(report.finish(given.json))


if __name__ == "__main__":
    main()
