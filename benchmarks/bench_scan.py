"""Measure reading 5,000 commits with the files that they change, beside one `git log -z --raw --no-renames` alone.

    python benchmarks/bench_scan.py [--commits N] [--repos FOLDER] [--rounds N] [--json FILE] [--profile]

What is measured is what a look at an upstream calls for its new commits: `Mirror.commits` for the messages, then
`Mirror.changed_paths` for the files, each commit against its first parent; values come out. Git's output is read and
thrown away. The history is drawn by script or, with `--repos`, the smallest given one that is long enough. Figures
are processor time, children included, without imports; each measurement is a fresh process.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from harness.histories import draw
from harness.measuring import Cost, costing, measured, tell
from harness.profiling import profile
from harness.rows import Report, Row, arguments, bound, shares
from harness.upstreams import git, repositories_below, size_of

from watcher.model import Oid
from watcher.upstream.repository import Repository

_PEER = "git log -z --raw --no-renames"


def watcher(repository: Path, older: str, newer: str) -> Cost:
    """Read messages and files."""
    mirror = Repository.at(repository)
    with costing() as cost:
        commits = mirror.commits([Oid(newer)], [Oid(older)])
        paths = mirror.changed_paths((it.parents[0] if it.parents else None, it.oid) for it in commits)
    if not any(paths.values()):
        raise RuntimeError("no commit changes a file")
    return cost


def log(repository: Path, older: str, newer: str) -> Cost:
    """Let git print both."""
    with costing() as cost:
        command = ["git", f"--git-dir={repository}", "log", "-z", "--raw", "--no-renames", "--no-mailmap"]
        subprocess.run([*command, f"{older}..{newer}"], check=True, capture_output=True)
    return cost


_WAYS: dict[str, Callable[[Path, str, str], Cost]] = {way.__name__: way for way in (watcher, log)}


def prepared(folder: Path, given: Path | None, commits: int) -> tuple[Path, str, str]:
    """Return a repository, and the ends of a range of about so many commits on its main line."""
    if given is None:
        repository = folder / "drawn"
        draw(repository, commits=commits + commits // 5, seed=1)
    else:
        found = (it for it in sorted(repositories_below(given), key=size_of) if _count(it, "HEAD") > commits)
        repository = next(found, None) or _refuse(given, commits)
    line = git(repository, "rev-list", "--first-parent", "HEAD").split()
    low, high = 0, len(line) - 1
    while low < high:
        middle = (low + high) // 2
        if _count(repository, f"{line[middle]}..{line[0]}") < commits:
            low = middle + 1
        else:
            high = middle
    return repository, line[low], line[0]


def _count(repository: Path, revisions: str) -> int:
    return int(git(repository, "rev-list", "--count", revisions))


def _refuse(given: Path, commits: int) -> Path:
    raise SystemExit(f"{given} holds no bare repository with more than {commits} commits")


def compared(place: tuple[Path, str, str], rounds: int) -> list[Row]:
    """Return what both take, and how many commits that is a second."""
    repository, older, newer = place
    costs: dict[str, list[float]] = {way: [] for way in _WAYS}
    for _ in range(rounds):
        for way, taken in costs.items():
            taken.append(measured(_command(way, place)).cpu)
    count = _count(repository, f"{older}..{newer}")
    name = f"{count:,} commits with files"
    mine, theirs = costs["watcher"], costs["log"]
    return [
        Row(what=f"{name}: CPU / git log --raw", figures=shares(mine, theirs), peer=_PEER, **bound(1.5, 1.2)),
        Row(what=f"{name}: CPU, s", figures=mine),
        Row(what=f"{name}: CPU of git log, s", figures=theirs),
        Row(what="commits a second", figures=[count / taken for taken in mine]),
    ]


def _command(way: str, place: tuple[Path, str, str]) -> list[str]:
    return [sys.executable, __file__, "--measure", way, *map(str, place)]


def main() -> None:
    """Measure, and print one line for each figure."""
    asked = arguments(__doc__, rounds=5)
    asked.add_argument("--commits", type=int, default=5000, help="default: %(default)s")
    asked.add_argument("--repos", type=Path, metavar="FOLDER", help="a folder with bare repositories at any depth")
    asked.add_argument("--measure", nargs=4, help=argparse.SUPPRESS)
    given = asked.parse_args()
    if given.measure:
        way, repository, older, newer = given.measure
        tell(_WAYS[way](Path(repository), older, newer))
        return
    report = Report()
    with tempfile.TemporaryDirectory() as name:
        place = prepared(Path(name), given.repos and given.repos.resolve(), given.commits)
        report.say(f"The history that is scanned is {place[0].name if given.repos is None else 'a given one'}.")
        report.add(*compared(place, given.rounds))
        if given.profile and any(row.is_short for row in report.rows):
            report.explain(
                "Mirror.commits and Mirror.changed_paths",
                profile("bench_scan", *_command("watcher", place)[2:], is_inside=True),
            )
    sys.exit(report.finish(given.json))


if __name__ == "__main__":
    main()
