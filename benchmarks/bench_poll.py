"""Measure what a poll of many unchanged upstreams costs, beside what people would run instead.

    python benchmarks/bench_poll.py [--upstreams N] [--rounds N] [--json FILE] [--only NAME] [--profile]

Everything is on loopback. Upstreams are bare repositories made by script. They are served by nginx, fcgiwrap and
`git http-backend` where these are installed, and by a server that replays recorded bytes, so that the client alone
costs something; both over http and https, with an authority of our own. Each measurement is a fresh process; rounds
are interleaved. Machines are noisy: only ratios within a round count, and those are printed, median and range.

Processor time is the client's own, user and system, its children included, from the first request on: a service
imports and reads its trusted certificates once, git does so for each upstream.
"""

import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from harness import nginx, repositories
from harness.certificates import Certificates, certificates
from harness.measuring import Cost, measured
from harness.profiling import profile
from harness.replay import recorded, replaying
from harness.rows import Bounds, Report, Row, arguments, bound, shares

from watcher.upstream.protocol import ls_refs
from watcher.upstream.refs import HEADS_AND_TAGS

_SERIAL = ("git", 1)
_RIVALS = (("git", 16), ("nvchecker", 16), ("dulwich", 1), ("dulwich", 16), ("httpx", 1), ("httpx", 16), ("httpx", 64))
_OURS = (("warm", 1), ("warm", 16), ("warm", 64), ("cold", 16))
_ROUND_TRIP = 0.05
_LANES = 64
_MANY = 10_000
_FAR = 2000
"""Enough that 64 first connections do not show."""
_REAL = 200
"""A real server costs twenty times what the client costs."""
_FEW = 60
"""Programs that start others for each upstream are measured on so many: a cost per upstream is all that is compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One server to measure against."""

    name: str
    base: str
    names: Sequence[str]
    """Of repositories, below the base."""


def compared(place: Place, rounds: int, trusted: Path, folder: Path) -> list[Row]:
    """Return processor time per upstream, as a share of the serial git's, for every way to ask."""
    costs: dict[tuple[str, int], list[float]] = defaultdict(list)
    for _ in range(rounds):
        for way, in_flight in (_SERIAL, *_installed(), *_OURS):
            names = place.names[:_FEW] if way in {"git", "nvchecker"} else place.names
            cost = _asked(place, names, way, in_flight, trusted, folder)
            costs[way, in_flight].append(cost.cpu / len(names))
    serial = costs[_SERIAL]
    budget = bound(0.03, 0.01) if place.base.startswith("https") else bound(0.10, 0.03)
    rows = [Row(what=f"{place.name}: serial git ls-remote, ms of CPU", figures=[cost * 1000 for cost in serial])]
    for (way, in_flight), mine in costs.items():
        limits: Bounds = budget if way == "warm" and in_flight > 1 else {}
        what = f"{place.name}: {way}, {in_flight} in flight / serial git"
        rows.append(Row(what=what, figures=shares(mine, serial), peer="serial git ls-remote", **limits))
    return rows


def distant(record: Path, rounds: int, certs: Certificates, folder: Path) -> list[Row]:
    """Return wall time across a long way, as a multiple of the time that the round trips alone take."""
    rows = []
    for scheme, cert in (("http", None), ("https", certs.server)):
        with replaying(record, delay=_ROUND_TRIP, cert=cert) as base:
            place = Place(name=f"replay, {scheme}, 50 ms", base=base, names=_numbered(_FAR))
            figures = [
                _asked(place, place.names, "warm", _LANES, certs.authority, folder).wall / (_FAR * _ROUND_TRIP / _LANES)
                for _ in range(rounds)
            ]
        rows.append(
            Row(what=f"{place.name}: wall / ideal, 64 in flight", figures=figures, peer="ideal", **bound(2.2, 1.3))
        )
    return rows


def growing(record: Path, rounds: int, certs: Certificates, folder: Path) -> list[Row]:
    """Return processor time with many in flight, as a multiple of the time with one: for very many upstreams.

    With few of them, what shows is that 64 connections are made in place of one.
    """
    rows = []
    for scheme, cert in (("http", None), ("https", certs.server)):
        with replaying(record, cert=cert) as base:
            place = Place(name=f"replay, {scheme}", base=base, names=_numbered(_MANY))
            figures = []
            for _ in range(rounds):
                one, many = (
                    _asked(place, place.names, "remembered", in_flight, certs.authority, folder).cpu
                    for in_flight in (1, _LANES)
                )
                figures.append(many / one)
        what = f"{place.name}, {_MANY:,} upstreams: 64 in flight / 1 in flight"
        rows.append(Row(what=what, figures=figures, peer="1 in flight", **bound(1.2, 1.0)))
    return rows


def spacious(record: Path, rounds: int, trusted: Path, folder: Path) -> list[Row]:
    """Return the memory that a poll of very many upstreams takes, results included."""
    with replaying(record) as base:
        place = Place(name="replay", base=base, names=_numbered(_MANY))
        return [
            Row(
                what=f"{_MANY:,} upstreams, {way}: MB over the imports",
                figures=[_asked(place, place.names, way, _LANES, trusted, folder).memory for _ in range(rounds)],
                **bound(60, 35),
            )
            for way in ("cold", "remembered")
        ]


def _asked(place: Place, names: Sequence[str], way: str, in_flight: int, trusted: Path, folder: Path) -> Cost:
    """Measure one way once."""
    urls = _listed(place, names, folder)
    command = [sys.executable, "-m", "harness.clients", way, str(urls), "--in-flight", str(in_flight)]
    return measured(command, env={"SSL_CERT_FILE": str(trusted)})


def _listed(place: Place, names: Sequence[str], folder: Path) -> Path:
    """Write addresses down, one a line."""
    urls = folder / "urls"
    urls.write_text("\n".join(f"{place.base}/{name}" for name in names))
    return urls


def _installed() -> Iterator[tuple[str, int]]:
    """Yield the rivals that can be measured here."""
    for way, in_flight in _RIVALS:
        if way == "git" or find_spec(way):
            yield way, in_flight


def _numbered(count: int) -> tuple[str, ...]:
    return tuple(f"group/project-{number}.git" for number in range(count))


@contextmanager
def served(folder: Path, count: int, certs: Certificates) -> Iterator[tuple[Sequence[Place], Path]]:
    """Serve repositories in every way that there is; give the places, and a folder with recorded answers."""
    root = folder / "repositories"
    names = repositories.make(root, count)
    request = ls_refs(HEADS_AND_TAGS, object_format="sha1", agent="bench")
    record = recorded(root / names[0], folder / "record", request)
    with ExitStack() as running:
        places = [
            Place(name="replay, http", base=running.enter_context(replaying(record)), names=names),
            Place(name="replay, https", base=running.enter_context(replaying(record, cert=certs.server)), names=names),
        ]
        if missing := nginx.missing():
            print(f"without {missing} there is no nginx to measure against", file=sys.stderr)
        else:
            real = running.enter_context(nginx.nginx(folder / "nginx", root, cert=certs.server))
            places += [
                Place(name=f"nginx, {address.partition(':')[0]}", base=address, names=names[:_REAL])
                for address in (real.plain, real.tls)
                if address
            ]
        yield places, record


def main() -> None:
    """Measure, and print one line for each figure."""
    asked = arguments(__doc__, rounds=5)
    asked.add_argument("--upstreams", type=int, default=1000, help="how many a poll asks (default: %(default)s)")
    asked.add_argument("--only", default="", help="measure only what has this in its name, such as `replay, http`")
    given = asked.parse_args()
    report = Report()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        certs = certificates(folder)
        with served(folder, given.upstreams, certs) as (places, record):
            for place in places:
                if given.only in place.name:
                    report.add(*compared(place, given.rounds, certs.authority, folder))
            if given.profile and any(row.is_short for row in report.rows):
                addresses = _listed(places[0], places[0].names, folder)
                report.explain(
                    f"warm, 16 in flight, {places[0].name}",
                    profile("harness.clients", "warm", addresses, is_inside=True),
                )
        if not given.only:
            report.add(*distant(record, given.rounds, certs, folder))
            report.add(*growing(record, given.rounds, certs, folder))
            report.add(*spacious(record, given.rounds, certs.authority, folder))
    sys.exit(report.finish(given.json))


if __name__ == "__main__":
    main()
