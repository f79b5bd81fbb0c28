"""Compute what very many pins over very many upstreams would take, from what single steps were measured to cost.

    python benchmarks/scale.py [--pins N] [--upstreams N] [--poll 15m] [--moved SHARE] ... [--write docs/scaling.md]

Printed are the tables of docs/scaling.md, each between the lines `<!-- table NAME -->` and `<!-- end -->`; `--write`
puts them into the document in place of the old ones. Costs are in `COSTS`, each with the benchmark that measured it;
what nobody measured is an option with a default, and stands in the first table. Costs are those of one core of the
machine that measured; how much faster another one is has to be found out there.
"""

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import timedelta
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What one step costs."""

    value: float
    unit: str
    what: str
    source: str


COSTS: Mapping[str, Measured] = {
    "poll": Measured(value=0.2, unit="ms CPU", what="a poll over TLS, the answer as before", source="bench_poll.py"),
    "same": Measured(value=0.46, unit="ms CPU", what="an upstream that did not move, polled", source="sweep.py"),
    "moved": Measured(value=75, unit="ms CPU", what="an upstream that moved, with its git", source="sweep.py"),
    "serial": Measured(
        value=2, unit="ms CPU", what="of that, in the service: record, report", source="a profile of it"
    ),
    "first": Measured(value=78, unit="ms CPU", what="the first look at a small upstream", source="sweep.py"),
    "commit": Measured(value=0.014, unit="ms CPU", what="each commit of it at the first look", source="sweep.py"),
    "pin": Measured(value=0.13, unit="ms CPU", what="a pin whose upstream did not move", source="sweep.py"),
    "pin_moved": Measured(value=1.2, unit="ms CPU", what="a pin whose upstream moved", source="sweep.py"),
    "base": Measured(value=55, unit="MB", what="memory of a pass over next to nothing", source="sweep.py"),
    "memory": Measured(value=11, unit="KB", what="memory for an upstream, during a pass", source="sweep.py"),
    "pin_memory": Measured(value=6, unit="KB", what="memory for a pin, during a pass", source="sweep.py"),
    "mirror": Measured(value=91, unit="KB", what="a small mirror on disk: blocks of files", source="sweep.py"),
    "commit_disk": Measured(value=0.41, unit="KB", what="each commit in a mirror", source="git.git, commits only"),
    "row": Measured(value=14, unit="KB", what="an upstream with one pin in the database", source="sweep.py"),
    "writes": Measured(value=27_000, unit="rows/s", what="refs of small upstreams written", source="bench_store.py"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be watched, and what is assumed of it."""

    pins: int = 1_000_000
    upstreams: int = 100_000
    poll: timedelta = timedelta(minutes=15)
    moved: float = 0.01
    """Share of all upstreams that move within one poll interval."""
    weekly: float = 0.2
    """Share that did not move for a week: polled half as often."""
    monthly: float = 0.5
    """Share that did not move for a month: polled a quarter as often."""
    answer: float = 6.0
    """Kilobytes of an answer with all branches and tags."""
    commits: int = 3000
    """Of an upstream, on average."""
    news: float = 20.0
    """Kilobytes that are fetched when an upstream moved."""
    round_trip: float = 0.05
    """Seconds to a forge."""
    cores: int = 8
    """Of one machine."""

    @property
    def seconds(self) -> float:
        """Return the poll interval."""
        return self.poll.total_seconds()

    @property
    def often(self) -> float:
        """Return how often upstreams are polled on average, as a share of once each interval."""
        return 1 - self.weekly / 2 - self.monthly * 3 / 4

    @property
    def polls(self) -> float:
        """Return polls in one interval."""
        return self.upstreams * self.often

    @property
    def moves(self) -> float:
        """Return upstreams that moved in one interval."""
        return self.upstreams * self.moved


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """Where upstreams live, and how often it may be asked over git's own protocol."""

    name: str
    share: float
    """Of all upstreams; assumed."""
    limit: float | None
    """Requests a minute from one address; None where none is published."""
    word: str


HOSTS = (
    Host(name="github.com", share=0.88, limit=None, word="none published; 15 reads a second for one repository"),
    Host(name="gitlab.com", share=0.07, limit=15_000, word="15,000 a minute from one address without a login"),
    Host(name="codeberg.org", share=0.01, limit=None, word="none published; throttles bulk readers"),
    Host(name="huggingface.co and others", share=0.04, limit=None, word="none published"),
)
_IN_FLIGHT = 16
"""`per_host` of `watcher.upstream.refs.news`."""
_POINTS = 900
"""GitHub's REST API: requests a minute to one endpoint, the secondary limit; 304s count in it as well."""
_HOURLY = (5000, 12_500)
"""GitHub's REST API: requests an hour of an app's installation, at least and at most; 304s are free."""
_MACHINES = (1, 2, 4, 8, 16, 32)


def cost(name: str) -> float:
    """Return a measured cost, times in seconds."""
    found = COSTS[name]
    return found.value / 1000 if found.unit.startswith("ms") else found.value


# --- the model -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Seconds of processor time."""

    serial: Mapping[str, float]
    """What the service does by itself, by name."""
    shared: float
    """What any worker can do."""

    def wall(self, machines: int, cores: int) -> float:
        """Return how long it takes: the serial part, then the work in as many parts as there are cores."""
        return sum(self.serial.values()) + self.shared / (machines * cores)


def interval(plan: Plan) -> Work:
    """Return the work of one poll interval."""
    each = plan.pins / plan.upstreams
    return Work(
        serial={
            "poll and compare": plan.polls * cost("same"),
            "read manifests and report": plan.pins * cost("pin"),
            "record what moved": plan.moves * cost("serial"),
        },
        shared=plan.moves * (cost("moved") - cost("serial") + each * cost("pin_moved")),
    )


def first(plan: Plan) -> Work:
    """Return the work of the first look at everything."""
    each = cost("first") - cost("serial") + plan.commits * cost("commit")
    return Work(
        serial={
            "poll": plan.upstreams * cost("same"),
            "read manifests": plan.pins * cost("pin"),
            "record": plan.upstreams * cost("serial"),
        },
        shared=plan.upstreams * each + plan.pins * cost("pin_moved"),
    )


# --- the tables ------------------------------------------------------------------------------------------------------

Rows = Sequence[Sequence[str]]


def tables(plan: Plan) -> dict[str, str]:
    """Return every table of the document, by name."""
    return {
        "assumed": _table(("assumed", "is"), _assumed(plan)),
        "costs": _table(("step", "costs", "measured by"), _costs()),
        "hosts": _table(("host", "upstreams", "polls a second", "a minute", "limit of the host"), _hosts(plan)),
        "needs": _table(("what", "at this size", "how it comes about"), _needs(plan)),
        "interval": _table(("in one poll interval", "seconds of one core"), _parts(interval(plan))),
        "machines": _table(
            ("machines", "one poll interval's work", "speed-up", "first look at everything"), _machines(plan)
        ),
        "forge": _table(("asked of GitHub's REST API", "requests an hour", "limit"), _forge(plan)),
    }


def _assumed(plan: Plan) -> Rows:
    return [
        ("pins", f"{plan.pins:,}"),
        ("upstreams", f"{plan.upstreams:,}"),
        ("poll interval", _span(plan.seconds)),
        ("upstreams that move within one interval", f"{plan.moved:.1%}"),
        ("upstreams calm for a week, polled half as often", f"{plan.weekly:.0%}"),
        ("upstreams calm for a month, polled a quarter as often", f"{plan.monthly:.0%}"),
        ("an answer with all branches and tags", f"{plan.answer:g} KB"),
        ("commits of an upstream, on average", f"{plan.commits:,}"),
        ("fetched when an upstream moved", f"{plan.news:g} KB"),
        ("round trip to a forge", f"{plan.round_trip * 1000:g} ms"),
        ("cores of a machine", f"{plan.cores}"),
    ]


def _costs() -> Rows:
    return [(it.what, f"{it.value:,g} {it.unit}", it.source) for it in COSTS.values()]


def _hosts(plan: Plan) -> Rows:
    rows = []
    for host in HOSTS:
        rate = plan.polls * host.share / plan.seconds
        word = host.word if host.limit is None else f"{host.word}: {rate * 60 / host.limit:.0%} of it used"
        rows.append((host.name, f"{plan.upstreams * host.share:,.0f}", f"{rate:,.1f}", f"{rate * 60:,.0f}", word))
    return rows


def _needs(plan: Plan) -> Rows:
    rate, work = plan.polls / plan.seconds, interval(plan)
    busy = max(host.share for host in HOSTS) * rate * plan.round_trip
    received = rate * plan.answer + plan.moves / plan.seconds * plan.news
    disk = plan.upstreams * (cost("mirror") + plan.commits * cost("commit_disk"))
    database = plan.upstreams * cost("row") + (plan.pins - plan.upstreams) * cost("row") / 4
    rows = (plan.polls + 30 * plan.moves) / plan.seconds
    memory = cost("base") + (plan.upstreams * cost("memory") + plan.pins * cost("pin_memory")) / 1000
    return [
        ("requests", f"{rate:,.0f} a second", f"{plan.upstreams:,} each {_span(plan.seconds)}, calm ones less often"),
        ("received", f"{received * 8 / 1000:,.1f} Mbit/s", "answers to polls, and what is fetched"),
        (
            "connections to the busiest host",
            f"{busy:,.1f} at a time",
            f"of {_IN_FLIGHT} that one process opens to a host",
        ),
        ("processor, polling included", f"{_cores(work, plan):,.1f} cores", "the interval's work over its length"),
        ("memory of the service", f"{memory / 1000:,.1f} GB", "every pin and upstream is held during a pass"),
        ("disk for mirrors", f"{disk / 1e6:,.0f} GB", "commits only; trees and contents of candidates beside that"),
        ("database", f"{database / 1e6:,.1f} GB", "a quarter for each further pin of an upstream"),
        ("rows written", f"{rows:,.0f} a second", f"one a look, thirty a move; {cost('writes'):,.0f} were measured"),
    ]


def _parts(work: Work) -> Rows:
    total = sum(work.serial.values())
    rows = [(name, f"{seconds:,.0f}") for name, seconds in work.serial.items()]
    return [
        *rows,
        ("all of that, in the service alone", f"{total:,.0f}"),
        ("fetch and judge, on any worker", f"{work.shared:,.0f}"),
    ]


def _machines(plan: Plan) -> Rows:
    alone = interval(plan).wall(1, 1)
    rows = []
    for count in _MACHINES:
        wall = interval(plan).wall(count, plan.cores)
        late = " – too long" if wall > plan.seconds else ""
        begun = _span(first(plan).wall(count, plan.cores))
        rows.append((f"{count} × {plan.cores} cores", f"{_span(wall)}{late}", f"{alone / wall:.1f}", begun))
    return rows


def _forge(plan: Plan) -> Rows:
    share = HOSTS[0].share
    looks = plan.polls * share * 3600 / plan.seconds
    changes = plan.moves * share * 3600 / plan.seconds
    return [
        (
            "is it still the same repository? (at each look, mostly 304)",
            f"{looks:,.0f}",
            f"{_POINTS * 60:,} (900 a minute to one endpoint): {looks / _POINTS / 60:.1f} × of it",
        ),
        (
            "what was said of a change? (two requests for each move)",
            f"{2 * changes:,.0f}",
            f"{_HOURLY[0]:,} to {_HOURLY[1]:,} for one installation: {2 * changes / _HOURLY[1]:.1f} × the larger",
        ),
    ]


def _cores(work: Work, plan: Plan) -> float:
    return (sum(work.serial.values()) + work.shared) / plan.seconds


def _span(seconds: float) -> str:
    """Return a length of time for people."""
    if seconds < 120:  # noqa: PLR2004 - below two minutes seconds say more
        return f"{seconds:.0f} s"
    if seconds < 7200:  # noqa: PLR2004 - likewise
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def _table(head: Sequence[str], rows: Rows) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))


# --- the document ----------------------------------------------------------------------------------------------------

BLOCK = re.compile(r"<!-- table (\w+) -->\n(.*?)\n?<!-- end -->", re.DOTALL)
"""One table of the document: its name, and what stands there."""


def written(text: str, found: Mapping[str, str]) -> str:
    """Return a document with its tables as they are now."""
    return BLOCK.sub(lambda block: f"<!-- table {block[1]} -->\n{found[block[1]]}\n<!-- end -->", text)


def _interval(text: str) -> timedelta:
    """Read 15m, 6h, 1d."""
    units = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
    if not re.fullmatch(r"\d+[smhd]", text):
        raise argparse.ArgumentTypeError("a number and one of s, m, h, d")
    return timedelta(**{units[text[-1]]: int(text[:-1])})


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables, or write them."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for field in fields(Plan):
        kind = _interval if field.name == "poll" else type(field.default)
        asked.add_argument(f"--{field.name.replace('_', '-')}", type=kind, default=field.default)
    asked.add_argument("--write", type=Path, metavar="FILE", help="put the tables into this document")
    given = vars(asked.parse_args(arguments))
    file: Path | None = given.pop("write")
    found = tables(Plan(**given))
    if file is None:
        sys.stdout.write(
            "\n\n".join(f"<!-- table {name} -->\n{table}\n<!-- end -->" for name, table in found.items()) + "\n"
        )
    else:
        file.write_text(written(file.read_text(), found))


if __name__ == "__main__":
    main()
