"""What a benchmark says: figures with their budgets, profiles of what missed, and under which conditions it ran."""

import argparse
import json
import signal
import statistics
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Self, TypedDict

from harness.measuring import spread


class Bounds(TypedDict, total=False):
    """What a figure has to be within, and what is hoped for."""

    must: float
    stretch: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One figure for each round, and its budget."""

    what: str
    figures: Sequence[float]
    must: float | None = None
    stretch: float | None = None
    is_least: bool = False
    """Whether the budget is a lower bound: of a speed, say."""
    peer: str = ""
    """What it is a share of."""

    @property
    def verdict(self) -> str:
        """Return whether the median is within the budget; nothing where there is none."""
        if self.must is None:
            return ""
        if self.stretch is not None and self._holds(self.stretch):
            return "stretch"
        return "must" if self._holds(self.must) else "MISSED"

    @property
    def is_short(self) -> bool:
        """Answer whether the figure does not reach what was hoped for."""
        hoped = self.must if self.stretch is None else self.stretch
        return hoped is not None and not self._holds(hoped)

    def _holds(self, bound: float) -> bool:
        middle = statistics.median(self.figures)
        return middle >= bound if self.is_least else middle <= bound


@dataclass(slots=True, kw_only=True)
class Report:
    """Everything that one benchmark has to say."""

    rows: list[Row] = field(default_factory=list)
    profiles: dict[str, str] = field(default_factory=dict)
    """What was run → where the time went."""
    conditions: list[str] = field(default_factory=list)
    """Sentences: how upstreams were made and served."""

    def add(self, *rows: Row) -> None:
        """Take rows, and print them as soon as they are there."""
        for row in rows:
            print(f"{row.what:<66} {spread(row.figures)}{_budget(row)}", flush=True)
        self.rows += rows

    def say(self, condition: str) -> None:
        """Take a condition, and print it."""
        print(condition, file=sys.stderr, flush=True)
        self.conditions.append(condition)

    def explain(self, title: str, profile: str) -> None:
        """Take a profile, and print it."""
        print(f"{title}:\n{profile}", flush=True)
        self.profiles[title] = profile

    @classmethod
    def read(cls, file: Path) -> Self:
        """Read what `finish` wrote."""
        held = json.loads(file.read_text())
        return cls(rows=[Row(**row) for row in held["rows"]], profiles=held["profiles"], conditions=held["conditions"])

    def finish(self, file: Path | None) -> int:
        """Write everything where that is asked for; return the exit code: 1 where a budget is missed."""
        if file:
            file.write_text(json.dumps(asdict(self), indent=1) + "\n")
        return int(any(row.verdict == "MISSED" for row in self.rows))


def arguments(described: str | None, *, rounds: int = 3) -> argparse.ArgumentParser:
    """Return a parser with what all benchmarks are asked; whoever ends one from outside ends its servers, too."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    asked = argparse.ArgumentParser(description=described, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--rounds", type=int, default=rounds, help="default: %(default)s")
    asked.add_argument("--json", type=Path, metavar="FILE", help="write every figure there, too")
    asked.add_argument("--profile", action="store_true", help="say where the time goes where a figure falls short")
    return asked


def shares(mine: Iterable[float], theirs: Iterable[float]) -> list[float]:
    """Return each round's figure as a share of the peer's in the same round."""
    return [one / other for one, other in zip(mine, theirs, strict=True)]


def bound(must: float, stretch: float) -> Bounds:
    """Return a budget, for `Row`."""
    return {"must": must, "stretch": stretch}


def _budget(row: Row) -> str:
    if row.must is None:
        return ""
    hoped = "" if row.stretch is None else f", stretch {row.stretch:g}"
    return f"  must {row.must:g}{hoped}: {row.verdict}"
