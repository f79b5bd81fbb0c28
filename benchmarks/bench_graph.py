"""Measure what questions of ancestry cost on a long history, beside one `git rev-list --stdin`.

    python benchmarks/bench_graph.py [--commits N] [--pins N] [--tips N] [--rounds N] [--plain N,N] [--profile]

The history is made by script, shaped like real ones: a main line with merges of short branches, release branches that
go on for a while, tags. `reachable` opens the graph and says of each pin whether a branch or tag holds it; git answers
the same for all pins in one process, with the same commit-graph file at hand, and once more without it. `matrix` says
which ref holds which pin. `load` opens the graph, the check of the file's checksum and the import of numpy included.
The plain graph, read from git's output, stands beside the mapped one on shorter histories.

Each measurement is a fresh process; rounds are interleaved. Figures are processor time, children included, from the
first question on; ratios are taken within a round. Memory is the peak over the imports, pages of the file included.
"""

import argparse
import random
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from harness.measuring import Cost, costing, measured, tell
from harness.profiling import profile
from harness.rows import Bounds, Report, Row, arguments, bound, shares

from watcher.graph import Graph
from watcher.model import Oid
from watcher.upstream.history import open_graph
from watcher.upstream.mirror import Mirror

_SEED = 7
_MERGES = 0.35
"""Share of the main line's steps that merge a branch."""
_RELEASES = 20
_PEER = "git rev-list --stdin"
_CHECKED = 20
"""So many answers of the matrix are compared with git's: it takes seconds for every ref of one pin."""


# --- a history -------------------------------------------------------------------------------------------------------


def made(folder: Path, commits: int, pins: int, tips: int) -> Path:
    """Return a repository with so many commits and refs, git's file of it, and a list of pins beside it."""
    repository = folder / f"{commits}.git"
    if (repository / "pins").exists():
        return repository
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(repository)], check=True)
    with subprocess.Popen(["git", f"--git-dir={repository}", "fast-import", "--quiet"], stdin=subprocess.PIPE) as git:
        if git.stdin is None:
            raise RuntimeError("git takes no input")
        for part in _stream(commits, tips):
            git.stdin.write(part.encode())
    if git.returncode:
        raise RuntimeError("git could not import the history")
    _git(repository, "commit-graph", "write", "--reachable", "--split", "--no-progress")
    every = _git(repository, "rev-list", "--all").split()
    chosen = random.Random(_SEED).sample(every, min(pins, len(every)))  # noqa: S311 - no secret
    (repository / "pins").write_text("\n".join(chosen) + "\n")
    return repository


def _stream(commits: int, tips: int) -> Iterator[str]:
    """Yield fast-import's commands."""
    dice = random.Random(_SEED)  # noqa: S311 - no secret
    recent: list[int] = []
    releases: list[int] = []
    tags: list[int] = []
    number = 0

    def commit(*parents: int) -> str:
        nonlocal number
        number += 1
        links = "".join(f"{'merge' if at else 'from'} :{parent}\n" for at, parent in enumerate(parents))
        who = f"committer A <a@example.org> {1_000_000_000 + 60 * number} +0000"
        return f"commit refs/heads/main\nmark :{number}\n{who}\ndata 0\n{links}\n"

    yield commit()
    while number < commits:
        main = recent[-1] if recent else number
        side: tuple[int, ...] = ()
        if dice.random() < _MERGES:
            at = recent[-1 - min(len(recent) - 1, int(dice.expovariate(1 / 15)))] if recent else number
            for _ in range(1 + min(8, int(dice.expovariate(0.4)))):
                yield commit(at)
                at = number
            side = (at,)
        yield commit(main, *side)
        recent = [*recent[-99:], number]
        if len(tags) < number * tips // commits - _RELEASES:
            tags.append(number)
        if len(releases) < number * _RELEASES // commits:
            releases.append(number)
        if releases and dice.random() < 1 / 20:
            yield commit(releases[-1])
            releases[-1] = number
    yield from (f"reset refs/heads/release/{at}\nfrom :{tip}\n\n" for at, tip in enumerate(releases))
    yield from (f"reset refs/tags/v{at}\nfrom :{tip}\n\n" for at, tip in enumerate(tags))
    yield f"reset refs/heads/main\nfrom :{recent[-1]}\n\n"


def _git(repository: Path, *args: str, text: str = "", config: Sequence[str] = ()) -> str:
    """Run git in a repository."""
    command = ["git", f"--git-dir={repository}", *(word for it in config for word in ("-c", it)), *args]
    return subprocess.run(command, input=text, check=True, capture_output=True, text=True).stdout


def _refs(repository: Path) -> list[Oid]:
    return [Oid(tip) for tip in _git(repository, "for-each-ref", "--format=%(objectname)").split()]


def _pins(repository: Path) -> list[Oid]:
    return [Oid(pin) for pin in (repository / "pins").read_text().split()]


# --- one measurement, in a process of its own ------------------------------------------------------------------------


def _graph(repository: Path, *, mapped: bool) -> Graph:
    mirror = Mirror(directory=repository, url="", partial=False)
    return open_graph(mirror, worth=0 if mapped else sys.maxsize)


def git_reachable(repository: Path, *, mapped: bool) -> Cost:
    """Let git name the pins that no ref holds."""
    asked = "".join([*(f"^{tip}\n" for tip in _refs(repository)), *(f"{pin}\n" for pin in _pins(repository))])
    config = () if mapped else ("core.commitGraph=false",)
    with costing() as cost:
        lost = _git(repository, "rev-list", "--stdin", text=asked, config=config)
    _require(not lost, "git knows of pins that no ref holds")
    return cost


def load(repository: Path, *, mapped: bool) -> Cost:
    """Open the graph."""
    with costing() as cost:
        graph = _graph(repository, mapped=mapped)
    _require(len(graph) > 0, "the graph is empty")
    return cost


def reachable(repository: Path, *, mapped: bool) -> Cost:
    """Open the graph, and say of each pin whether a ref holds it."""
    tips, pins = _refs(repository), _pins(repository)
    with costing() as cost:
        alive = _graph(repository, mapped=mapped).reached(tips)
        lost = [pin for pin in pins if pin not in alive]
    _require(not lost, "the graph knows of pins that no ref holds")
    return cost


def matrix(repository: Path, *, mapped: bool) -> Cost:
    """Say which refs hold which pins, with the graph at hand."""
    tips, pins = _refs(repository), _pins(repository)
    graph = _graph(repository, mapped=mapped)
    with costing() as cost:
        held = graph.holders(pins, tips)
    dice = random.Random(_SEED)  # noqa: S311 - no secret
    for pin, at in [(dice.choice(pins), dice.randrange(len(tips))) for _ in range(_CHECKED)]:
        command = ["git", f"--git-dir={repository}", "merge-base", "--is-ancestor", pin, tips[at]]
        is_held = subprocess.run(command, check=False).returncode == 0
        _require(is_held == bool(held[pin] >> at & 1), "git says otherwise")
    return cost


_WAYS: dict[str, Callable[..., Cost]] = {way.__name__: way for way in (git_reachable, load, reachable, matrix)}


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise RuntimeError(otherwise)


# --- all of them -----------------------------------------------------------------------------------------------------


def rows(repository: Path, rounds: int, *, is_budgeted: bool) -> list[Row]:
    """Return the figures of one history; the budgets are for the longest one."""
    graphs = (True,) if is_budgeted else (True, False)
    costs: dict[tuple[str, bool], list[Cost]] = defaultdict(list)
    for _ in range(rounds):
        for way in _WAYS:
            for mapped in (True, False) if way == "git_reachable" else graphs:
                command = [sys.executable, __file__, "--measure", way, str(repository), *([] if mapped else ["plain"])]
                costs[way, mapped].append(measured(command))
    size = f"{int(repository.stem):,} commits"
    base = costs["git_reachable", True]
    found = [
        Row(what=f"{size}: git rev-list --stdin, s", figures=[it.cpu for it in base]),
        Row(what=f"{size}: the same without its file, s", figures=[it.cpu for it in costs["git_reachable", False]]),
    ]
    for mapped in graphs:
        kind = "mapped" if mapped else "plain"
        ratios = shares((it.cpu for it in costs["reachable", mapped]), (it.cpu for it in base))
        reach: Bounds = bound(1.3, 0.5) if is_budgeted else {}
        full: Bounds = bound(5, 2) if is_budgeted else {}
        found += [
            Row(what=f"{size}, {kind}: load, s", figures=[it.cpu for it in costs["load", mapped]]),
            Row(what=f"{size}, {kind}: load, MB", figures=[it.memory for it in costs["load", mapped]]),
            Row(what=f"{size}, {kind}: reachable, s", figures=[it.cpu for it in costs["reachable", mapped]]),
            Row(what=f"{size}, {kind}: reachable / git rev-list --stdin", figures=ratios, peer=_PEER, **reach),
            Row(what=f"{size}, {kind}: matrix, s", figures=[it.cpu for it in costs["matrix", mapped]], **full),
            Row(what=f"{size}, {kind}: matrix, MB", figures=[it.memory for it in costs["matrix", mapped]]),
        ]
    return found


def main() -> None:
    """Measure, and print one line for each figure."""
    asked = arguments(__doc__, rounds=5)
    asked.add_argument("--commits", type=int, default=1_000_000, help="default: %(default)s")
    asked.add_argument("--pins", type=int, default=10_000, help="default: %(default)s")
    asked.add_argument("--tips", type=int, default=839, help="default: %(default)s")
    asked.add_argument("--plain", default="10000,100000", help="shorter histories, default: %(default)s")
    asked.add_argument("--folder", type=Path, help="keep the histories there, and use those that are there")
    asked.add_argument("--measure", nargs="+", help=argparse.SUPPRESS)
    given = asked.parse_args()
    if given.measure:
        way, repository, *plain = given.measure
        tell(_WAYS[way](Path(repository), mapped=not plain))
        return
    report = Report()
    with tempfile.TemporaryDirectory() as name:
        folder = (given.folder or Path(name)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        for commits in (*map(int, filter(None, given.plain.split(","))), given.commits):
            made_one = made(folder, commits, given.pins, given.tips)
            report.add(*rows(made_one, given.rounds, is_budgeted=commits == given.commits))
        if given.profile:
            for way in ("reachable", "matrix"):
                if any(row.is_short and f": {way}" in row.what for row in report.rows):
                    report.explain(way, profile("bench_graph", "--measure", way, made_one, is_inside=True))
    sys.exit(report.finish(given.json))


if __name__ == "__main__":
    main()
