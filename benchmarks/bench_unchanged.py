"""Measure one pass over many upstreams that did not change, beside as many conditional requests through httpx.

    python benchmarks/bench_unchanged.py [--upstreams N] [--rounds N] [--json FILE] [--profile]

All upstreams are one small repository under many names, each with one pin. They are seen once from a real server; what
is measured is asked of a server that replays that server's answers, so that the client alone costs something. The peer
(`peers/conditional_gets.py`) asks it as often with an ETag, one after the other through one httpx client, and gets
304. Both run as programs, from start to end: processor time is user and system, children included.

Most of the time goes into what is not measured: the first look at so many upstreams starts a dozen git programs for
each, and as many at the server. That is a minute where nothing else runs, and many where others have the processors.
"""

import sys
import tempfile
from pathlib import Path

from harness.measuring import outside
from harness.profiling import profile
from harness.replay import recorded, replaying
from harness.repositories import make, refs_of
from harness.rows import Report, Row, arguments, bound, shares
from harness.serving import serving
from harness.watching import Watched

from watcher.upstream.protocol import ls_refs
from watcher.upstream.refs import HEADS_AND_TAGS

_PEER = "conditional GETs (304) through httpx"
_GETS = Path(__file__).with_name("peers") / "conditional_gets.py"


def prepared(folder: Path, count: int) -> tuple[Path, Watched]:
    """Return the repository, and what watcher watches: the repository under many names."""
    root = folder / "served"
    (name,) = make(root, 1)
    (root / "group").mkdir()
    for number in range(count):
        (root / "group" / f"{number:05}").symlink_to(root / name)
    tip = refs_of(root / name)["refs/heads/main"]
    pins = [(f"group/{number:05}", tip) for number in range(count)]
    return root / name, Watched(folder=folder / "watcher", pins=pins)


def main() -> None:
    """Measure, and print one line for each figure."""
    asked = arguments(__doc__)
    asked.add_argument("--upstreams", type=int, default=1000, help="default: %(default)s")
    given = asked.parse_args()
    count, report = given.upstreams, Report()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        repository, watched = prepared(folder, count)
        print(f"a first look at {count:,} upstreams, which takes a minute or more", file=sys.stderr, flush=True)
        with serving(folder / "server", folder / "served") as served:
            watched.check(served.base)
        request = ls_refs(HEADS_AND_TAGS, object_format="sha1", agent="bench")
        with replaying(recorded(repository, folder / "record", request)) as base:
            watched.check(base)
            mine, theirs = [], []
            for _ in range(given.rounds):
                mine.append(watched.check(base).cost.cpu)
                theirs.append(outside([sys.executable, _GETS, base, str(count)], folder=folder).cost.cpu)
            what = f"{count:,} unchanged upstreams"
            report.add(
                Row(what=f"{what}: CPU / {count:,} GETs", figures=shares(mine, theirs), peer=_PEER, **bound(1.5, 0.4)),
                Row(what=f"{what}: CPU, s", figures=mine),
                Row(what=f"{what}: CPU of the GETs, s", figures=theirs),
            )
            if given.profile and report.rows[0].is_short:
                command = watched.command(base)[1:]
                report.explain(f"watcher check, {what}", profile("watcher", *command, folder=watched.folder))
    sys.exit(report.finish(given.json))


if __name__ == "__main__":
    main()
