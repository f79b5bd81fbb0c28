"""Run every benchmark, one after the other, and write down what they say.

    python benchmarks/run.py [--repos FOLDER] [--rounds N] [--only NAME] [--upstreams N] [--to FILE]

Each is a program of its own and can be run alone; see its `--help`. What is written is a table of all budgets, then the
other figures, then profiles of what fell short of what was hoped for. Load on the machine shows in the ranges: run it
on one that does nothing else.
"""

import argparse
import ast
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from harness.machine import described, load
from harness.rows import Report, Row

_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One benchmark."""

    name: str
    title: str
    takes_repos: bool = False
    takes_upstreams: bool = False
    options: tuple[str, ...] = ()
    """So that all of them take less than a quarter of an hour."""

    @property
    def script(self) -> Path:
        """Return its program."""
        return _HERE / f"bench_{self.name}.py"

    @property
    def question(self) -> str:
        """Return what it measures, in its own words."""
        told = ast.get_docstring(ast.parse(self.script.read_text())) or ""
        return told.partition("\n\n")[0].replace("\n", " ")


PARTS = (
    Part(name="poll", title="Polling", options=("--upstreams", "500")),
    Part(name="check", title="A pass", takes_repos=True, takes_upstreams=True),
    Part(name="unchanged", title="A pass over what did not change", takes_upstreams=True),
    Part(name="graph", title="Ancestry", options=("--plain", "10000")),
    Part(name="scan", title="Reading history", takes_repos=True),
    Part(name="store", title="Remembering"),
    Part(name="start", title="Starting"),
    Part(name="board", title="Pages"),
)


def measured(part: Part, given: argparse.Namespace) -> Report:
    """Run one benchmark, and return its report; one that fails says so in its place."""
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "report.json"
        command = [sys.executable, str(part.script), "--profile", "--rounds", str(given.rounds), "--json", str(file)]
        command += part.options
        if given.repos and part.takes_repos:
            command += ["--repos", str(given.repos.resolve())]
        if given.upstreams and part.takes_upstreams:
            command += ["--upstreams", str(given.upstreams)]
        done = subprocess.run(command, check=False, env={**os.environ, "PYTHONUNBUFFERED": "1"})
        if file.exists():
            return Report.read(file)
        return Report(conditions=[f"**It did not finish** (exit code {done.returncode})."])


def document(reports: Sequence[tuple[Part, Report]], machine: Iterable[tuple[str, str]], *, rounds: int) -> str:
    """Return the page."""
    budgeted = [row for _, report in reports for row in report.rows if row.must is not None]
    lines = [
        "# Results",
        "",
        "What `make bench` measured: each figure with what a user would run instead, in the same run and in turn.",
        "`benchmarks/run.py` writes this page; every word and figure of it comes from there.",
        "Machines are noisy: ratios within a run count, seconds are for orientation.",
        f"Rounds: {rounds}. Given are medians, with the smallest and the largest figure.",
        "",
        "## The machine",
        "",
        *_table(("", ""), machine),
        "",
        "## Budgets",
        "",
        _summary(budgeted),
        "",
        *_table(("what", "must", "stretch", "measured", "peer", "verdict"), map(_budget, budgeted)),
        "",
        "## What else was measured",
        "",
        *(line for part, report in reports for line in _others(part, report)),
        *_profiles(reports),
    ]
    return "\n".join(lines).rstrip("\n") + "\n"


def _summary(rows: Sequence[Row]) -> str:
    counts = {verdict: sum(row.verdict == verdict for row in rows) for verdict in ("stretch", "must", "MISSED")}
    return (
        f"Of {len(rows)} budgets, {counts['stretch']} are within what was hoped for (stretch), {counts['must']} within "
        f"what must hold, {counts['MISSED']} are missed."
    )


def _budget(row: Row) -> tuple[str, ...]:
    sign = "≥" if row.is_least else "≤"
    hoped = "" if row.stretch is None else f"{sign} {row.stretch:g}"
    return (row.what, f"{sign} {row.must:g}", hoped, _figures(row), row.peer, row.verdict)


def _others(part: Part, report: Report) -> Iterator[str]:
    """Yield what stands under a benchmark's heading."""
    yield f"### {part.title}"
    yield ""
    yield from (part.question, *report.conditions, "")
    if rest := [row for row in report.rows if row.must is None]:
        yield from _table(("what", "measured"), ((row.what, _figures(row)) for row in rest))
        yield ""


def _profiles(reports: Sequence[tuple[Part, Report]]) -> Iterator[str]:
    told = [(part, title, text) for part, report in reports for title, text in report.profiles.items()]
    if not told:
        return
    yield from ("## Where the time goes", "", "Of what falls short of its stretch figure; waiting is counted.", "")
    for part, title, text in told:
        yield from (f"### {part.title}: {title}", "", "```", text, "```", "")


def _figures(row: Row) -> str:
    low, middle, high = map(_number, (min(row.figures), median(row.figures), max(row.figures)))
    return middle if low == high else f"{middle} ({low}–{high})"


def _number(figure: float) -> str:
    return f"{figure:,.0f}" if abs(figure) >= 100 else f"{figure:.3g}"  # noqa: PLR2004 - three digits are enough


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{' --- |' * len(head)}"
    yield from (f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows)


def main() -> None:
    """Measure everything, and write the page."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--rounds", type=int, default=3, help="default: %(default)s")
    asked.add_argument("--repos", type=Path, metavar="FOLDER", help="a folder with bare repositories at any depth")
    asked.add_argument("--upstreams", type=int, help="fewer or more than usual, where a pass is measured")
    asked.add_argument("--only", default="", help=f"one of {', '.join(part.name for part in PARTS)}")
    asked.add_argument("--to", type=Path, default=_HERE / "RESULTS.md", help="default: RESULTS.md beside this file")
    given = asked.parse_args()
    began = datetime.now(UTC)
    machine = [("at", f"{began:%Y-%m-%d %H:%M} UTC"), *described(), ("load at the start", load())]
    reports = []
    for part in PARTS:
        if given.only in {"", part.name}:
            print(f"\n== {part.title}: {part.question}", flush=True)
            reports.append((part, measured(part, given)))
    took = (datetime.now(UTC) - began).total_seconds() / 60
    machine.append(("took", f"{took:.0f} minutes"))
    given.to.write_text(document(reports, machine, rounds=given.rounds))
    rows = [row for _, report in reports for row in report.rows]
    print(f"\n{_summary([row for row in rows if row.must is not None])}\nwritten: {given.to}")
    sys.exit(any(row.verdict == "MISSED" for row in rows) or any(not report.rows for _, report in reports))


if __name__ == "__main__":
    main()
