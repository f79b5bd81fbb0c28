"""Make docs/reliability.md of what came of the trials."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from tests.faults.beside import Answer, Beside
from tests.faults.trial import Outcome
from watcher.plural import counted

_INTRODUCTION = """\
# Reliability

What can go wrong in the world was brought about here on purpose, with real servers on loopback and real git, and each
time something happened meanwhile that has to be told: {trials} kinds of trouble, in {rounds} of trials. This page is
made by `python -m tests.faults.run`; every figure on it comes from that run. In all, trouble struck {injected} times;
{lost} commits, events or messages were lost, and {false_alarms} were told that should not have been.

- *injected*: the looks, or tries to send, that met the trouble.
- *lost*: kept commits, events and messages that the same story has without the trouble, and has not with it.
- *false alarms*: events and messages that it has with the trouble alone, but for those which say that the trouble
  lasts and is over. What may come twice, because the answer to it was lost, is named where it does.
- *recovery*: from the end of the trouble to the end of the first look that tells everything, when that begins at once;
  the median of the rounds, and the longest.
"""
_BESIDE = """\
## Beside nvchecker

The same server, fault and history, in the same run: a commit lands, and the fault strikes those who ask for it.
nvchecker follows the commit of HEAD (`source = "git"`, `use_commit = true`, `--failures`); it has no memory of
branches, tags or commits that could be lost. Of troubles with many variations {most} are met. Seconds are the longest
of them, with everybody's own patience.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One trial, and what came of each of its rounds."""

    group: str
    name: str
    outcomes: Sequence[Outcome]

    @property
    def injected(self) -> int:
        """Return how often the trouble was met."""
        return sum(it.injected for it in self.outcomes)

    @property
    def lost(self) -> int:
        """Return what was lost in all rounds."""
        return sum(it.lost for it in self.outcomes)

    @property
    def false_alarms(self) -> int:
        """Return what was told for nothing in all rounds."""
        return sum(it.false_alarms for it in self.outcomes)

    @property
    def recovery(self) -> str:
        """Return how long it took until everything was told."""
        times = [it.recovery for it in self.outcomes if it.recovery is not None]
        return f"{median(times):.1f} s, {max(times):.1f} s" if times else "–"


def page(
    rows: Sequence[Row],
    pairs: Sequence[Beside],
    *,
    rounds: int,
    machine: Iterable[tuple[str, str]],
    has_peer: bool,
) -> str:
    """Return the page."""
    introduction = _INTRODUCTION.format(
        trials=len(rows),
        rounds=counted(rounds, "round"),
        injected=sum(it.injected for it in rows),
        lost=sum(it.lost for it in rows),
        false_alarms=sum(it.false_alarms for it in rows),
    )
    return "\n".join(
        [introduction, *_table(("The machine", ""), machine), "", *_groups(rows), *_beside(pairs, has_peer)]
    )


def _groups(rows: Sequence[Row]) -> Iterator[str]:
    """Yield one table for each group."""
    for group in dict.fromkeys(it.group for it in rows):
        yield from (f"## {group[0].upper()}{group[1:]}", "")
        cells = [
            (it.name, str(it.injected), str(it.lost), str(it.false_alarms), it.recovery)
            for it in rows
            if it.group == group
        ]
        yield from (*_table(("trouble", "injected", "lost", "false alarms", "recovery"), cells), "")


def _beside(pairs: Sequence[Beside], has_peer: bool) -> Iterator[str]:
    """Yield the table of what nvchecker says of the same faults."""
    yield _BESIDE.format(most="six")
    if not has_peer:
        yield "nvchecker is not installed here (`pip install 'watcher[bench]'`), so its column is left out."
        yield ""
    columns = ["fault", "watcher", "watcher afterwards", "nvchecker", "nvchecker afterwards"]
    cells = [(it.fault, _said(it.ours), it.ours_after, _said(it.theirs), it.theirs_after) for it in pairs]
    width = 5 if has_peer else 3
    yield from _table(columns[:width], [it[:width] for it in cells])
    yield ""


def _said(answers: Sequence[Answer]) -> str:
    """Return the different things that were said, how often each, and how long it took at most."""
    words = dict.fromkeys(it.said for it in answers)
    counts = {said: sum(it.said == said for it in answers) for said in words}
    longest = max((it.seconds for it in answers), default=0.0)
    return "; ".join(f"{count} × {said}" for said, count in counts.items()) + f" ({longest:.1f} s)"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table."""
    yield _line(head)
    yield _line(["---"] * len(head))
    yield from map(_line, rows)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(it.replace('|', chr(92) + '|') for it in cells)} |"
