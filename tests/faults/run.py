"""Bring about everything that can go wrong, several times over, and write docs/reliability.md.

    python -m tests.faults.run [--rounds 3] [--output docs/reliability.md] [--only TEXT]

Exits with 1 where anything was lost, or anybody was alarmed for nothing.
"""

import argparse
import os
import platform
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.faults.beside import Beside, beside, has_nvchecker
from tests.faults.page import Row, page
from tests.faults.table import trials
from tests.faults.trial import Trial


def main() -> None:
    """Run, write, and tell."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--rounds", type=int, default=3, help="how often each trial runs (default: %(default)s)")
    asked.add_argument("--output", type=Path, default=Path("docs/reliability.md"), help="default: %(default)s")
    asked.add_argument("--only", default="", help="run only the trials that have this in their group or name")
    given = asked.parse_args()
    load, start = os.getloadavg()[0], time.monotonic()
    rows = [_row(it, given.rounds) for it in trials() if given.only in f"{it.group}: {it.name}"]
    pairs = [_shown(it) for it in beside(given.only)]
    minutes = (time.monotonic() - start) / 60
    given.output.write_text(
        page(rows, pairs, rounds=given.rounds, machine=_machine(load, minutes), has_peer=has_nvchecker())
    )
    sys.exit(any(it.lost or it.false_alarms for row in rows for it in row.outcomes))


def _row(trial: Trial, rounds: int) -> Row:
    """Run a trial so many times; where it cannot be run, its line says why."""
    if reason := trial.lack():
        sys.stderr.write(f"{trial.group}: {trial.name}: not run: {reason}\n")
        return Row(group=trial.group, name=f"{trial.name} (not run here: {reason})", outcomes=())
    outcomes = []
    for _ in range(rounds):
        with TemporaryDirectory() as name:
            outcomes.append(trial.run(Path(name)))
    row = Row(group=trial.group, name=trial.name, outcomes=outcomes)
    found = f"{row.injected} times, {row.lost} lost, {row.false_alarms} false alarms"
    sys.stderr.write(f"{row.group}: {row.name}: {found}\n")
    return row


def _shown(pair: Beside) -> Beside:
    sys.stderr.write(f"beside nvchecker: {pair.fault}\n")
    return pair


def _machine(load: float, minutes: float) -> Sequence[tuple[str, str]]:
    """Describe where and when all this was."""
    git = subprocess.run(["git", "--version"], capture_output=True, text=True, check=True).stdout.split()[2]
    info = Path("/proc/cpuinfo")
    names = [line.partition(":")[2].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
    return [
        ("day", f"{datetime.now(UTC):%Y-%m-%d}"),
        ("processor", f"{names[0] if names else platform.processor()}, {os.cpu_count()} cores"),
        ("load at the start", f"{load:.1f}"),
        ("system", f"{platform.system()} {platform.release()}"),
        ("Python", platform.python_version()),
        ("git", git),
        ("watcher", version("watcher")),
        ("nvchecker", version("nvchecker") if has_nvchecker() else "not installed"),
        ("time that all of it took", f"{minutes:.0f} minutes"),
    ]


if __name__ == "__main__":
    main()
