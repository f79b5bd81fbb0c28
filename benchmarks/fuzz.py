"""Look for inputs that break a parser, and for histories of which the watcher says what is not so.

`python benchmarks/fuzz.py --minutes 60 [--only NAME …] [--seed N] [--keep]`. Parsers are led by what of the program an
input reaches, where `atheris` is installed; else the same inputs are made blindly. Inputs that break something are
written below `--out`, and make the exit code 1. `--keep` puts those that reach new lines into `tests/fuzz/corpus`.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
HISTORIES = "histories"
_HISTORIES_WEIGHT = 15
_EXAMPLES = 20
_STEPS = 20
_SLOWER = 4.0
"""How much slower a program is that is watched."""
_SHORTEST = 2.0
_GRACE = 60.0
_MOST_TRACED, _SECONDS_TRACED = 400, 20.0
_MOST_KEPT = {"manifest": 60_000, "config": 20_000}
_FEW_KEPT = 6_000
"""Bytes of the corpus that one parser may fill."""


@dataclass
class Tally:
    """What came of one target."""

    executions: int = 0
    seconds: float = 0.0
    new: int = 0
    crashes: list[str] = field(default_factory=list)

    def line(self, name: str) -> str:
        """Return it as a line of the table."""
        speed = self.executions / self.seconds if self.seconds else 0
        return f"{name:18}{self.executions:>12,}{speed:>12,.0f}{self.new:>10}{len(self.crashes):>10}"


def main() -> int:
    """Share the time out, run each target in a process of its own, and print what came of it."""
    asked = _arguments()
    if asked.child:
        return _child(asked.child, asked.seconds, asked.seed, asked.out)
    from tests.fuzz.parsers import PARSERS  # noqa: PLC0415 - a child imports it in another way

    out = asked.out or Path(tempfile.mkdtemp(prefix="watcher-fuzz-"))
    weights = {name: it.weight for name, it in PARSERS.items()} | {HISTORIES: _HISTORIES_WEIGHT}
    wanted = {name: it for name, it in weights.items() if not asked.only or name in asked.only}
    print(f"seed {asked.seed}, everything below {out}\n\n{'target':18}{'executions':>12}{'a second':>12}", end="")
    print(f"{'new':>10}{'crashes':>10}")
    found = []
    for name, weight in wanted.items():
        tally = _run(name, asked.minutes * 60 * weight / sum(wanted.values()), asked.seed, out)
        print(tally.line(name), flush=True)
        found += tally.crashes
        if asked.keep and name != HISTORIES:
            print(f"{'':18}{_keep(name, out / name / 'corpus')} kept")
    print("\n".join(["", *found]) if found else "\nnothing broke")
    return 1 if found else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--only", action="append", metavar="NAME", help="a parser, or histories")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, default=10.0, help=argparse.SUPPRESS)
    return parser.parse_args()


def _run(name: str, seconds: float, seed: int, out: Path) -> Tally:
    """Run one target; what ends its process (a hang, too much memory) is a crash, and it goes on behind it."""
    folder, tally, end = out / name, Tally(), time.monotonic() + seconds
    (folder / "crashes").mkdir(parents=True, exist_ok=True)
    while (left := end - time.monotonic()) > _SHORTEST or not tally.seconds:
        command = [sys.executable, __file__, "--child", name, f"--seconds={left:.0f}", f"--seed={seed}"]
        with (folder / "log").open("ab") as log, suppress(subprocess.TimeoutExpired):
            # What is found last may be made smaller for minutes; it was written as it is before.
            subprocess.run(
                [*command, f"--out={folder}"], stdout=log, stderr=log, check=False, cwd=ROOT, timeout=left + _GRACE
            )
        if not (folder / "status").exists():
            tally.crashes.append(f"{name} did not begin: see {folder / 'log'}")
            break
        said = json.loads((folder / "status").read_text())
        tally.executions, tally.seconds = tally.executions + said["executions"], tally.seconds + said["seconds"]
        seed += 1
    tally.new = sum(1 for _ in _new(folder / "corpus"))
    tally.crashes += [f"{name}: {it}" for it in sorted((folder / "crashes").iterdir()) if not _is_in_bounds(name, it)]
    return tally


def _new(corpus: Path) -> Iterator[Path]:
    """Yield the inputs that were not there at first."""
    yield from (it for it in sorted(corpus.glob("*")) if not it.name.startswith("seed-"))


def _is_in_bounds(name: str, crash: Path) -> bool:
    """Answer whether an input that took too long here is given up in time where processes are really limited."""
    from tests.fuzz.bounded import attempt  # noqa: PLC0415 - as above
    from tests.fuzz.parsers import PARSERS  # noqa: PLC0415 - likewise

    is_slow = crash.name.startswith(("timeout-", "slow-", "oom-", "greedy-"))
    if name != "manifest" or not is_slow or crash.suffix == ".txt" or attempt(PARSERS[name], crash.read_bytes()):
        return crash.suffix == ".txt"
    crash.rename(crash.parent.parent / f"given-up-{crash.name}")
    return True


# --- one target, in a process of its own -----------------------------------------------------------------------------


def _child(name: str, seconds: float, seed: int, out: Path) -> int:
    import stamina  # noqa: PLC0415 - the parent needs none of it

    stamina.set_testing(True, attempts=3)
    status = _Status(out)
    if name == HISTORIES:
        _play(seconds, seed, out, status)
    else:
        _fuzz(name, seconds, seed, out, status)
    return 0


class _Status:
    """Write down from time to time how far a child is: it may be ended at any moment."""

    def __init__(self, out: Path) -> None:
        self._out, self._begun, self._told, self.count = out, time.monotonic(), 0.0, 0
        self._write()

    def more(self, count: int = 1) -> None:
        """Count executions."""
        self.count += count
        if time.monotonic() - self._told > 0.5:  # noqa: PLR2004 - seconds
            self._write()

    def _write(self) -> None:
        self._told = time.monotonic()
        said = json.dumps({"executions": self.count, "seconds": self._told - self._begun})
        (self._out / "status.new").write_text(said)
        (self._out / "status.new").rename(self._out / "status")


def _fuzz(name: str, seconds: float, seed: int, out: Path, status: _Status) -> None:
    """Try one parser until the time is over."""
    try:
        import atheris  # noqa: PLC0415 - an extra
    except ImportError:
        atheris = None
    with atheris.instrument_imports(include=["watcher"]) if atheris else _unwatched():
        from tests.fuzz.parsers import PARSERS  # noqa: PLC0415 - it is to be watched
    from tests.fuzz.mutate import LONGEST, mutated  # noqa: PLC0415 - likewise not earlier

    parser, one = PARSERS[name], _once(name, out, status)
    known = [*parser.seeds(), *(it.read_bytes() for it in _saved(name))]
    corpus = out / "corpus"
    corpus.mkdir(exist_ok=True)
    for number, data in enumerate(known):
        (corpus / f"seed-{number}").write_bytes(data)
        one(data)
    with _in_process() if atheris else _unwatched():
        if atheris is None:
            random, end = Random(seed), time.monotonic() + seconds  # noqa: S311 - inputs, not secrets
            while time.monotonic() < end:
                one(mutated(random, random.choice(known), known, parser.words))
            return

        def mutate(data: bytes, most: int, number: int) -> bytes:
            random = Random(number)  # noqa: S311 - likewise
            if random.random() < 0.3:  # noqa: PLR2004 - as good as any
                return bytes(atheris.Mutate(data, most))
            return mutated(random, bytes(data), known, parser.words)[:most]

        flags = [f"-max_total_time={max(1, int(seconds))}", f"-seed={seed % 2**31}", f"-max_len={LONGEST}"]
        flags += ["-timeout=20", "-rss_limit_mb=3000", f"-artifact_prefix={out / 'crashes'}{os.sep}"]
        atheris.Setup([sys.argv[0], *flags, str(corpus)], one, custom_mutator=mutate)
        atheris.Fuzz()


def _once(name: str, out: Path, status: _Status) -> Callable[[bytes], None]:
    """Return what tries an input; of each failure the shortest input is written."""
    from tests.fuzz.bounded import SECONDS, attempt  # noqa: PLC0415 - it imports the parsers
    from tests.fuzz.parsers import KNOWN, PARSERS  # noqa: PLC0415 - likewise

    waiting, shortest = {failure for failure, _ in KNOWN.values()}, dict[str, int]()

    def one(data: bytes) -> None:
        failure = attempt(PARSERS[name], data, seconds=SECONDS * _SLOWER)
        status.more()
        if failure is None or failure.name in waiting or len(data) >= shortest.get(failure.name, len(data) + 1):
            return
        shortest[failure.name] = len(data)
        (out / "crashes" / failure.name).write_bytes(data)
        (out / "crashes" / f"{failure.name}.txt").write_text(failure.text)

    return one


def _saved(name: str) -> list[Path]:
    from tests.fuzz.parsers import CORPUS, KNOWN  # noqa: PLC0415 - as above

    return [it for it in sorted((CORPUS / name).glob("*")) if f"{name}/{it.name}" not in KNOWN]


@contextmanager
def _unwatched() -> Iterator[None]:
    yield


@contextmanager
def _in_process() -> Iterator[None]:
    """Read manifests in this process, where they are watched, and not in a child with a limit."""
    from watcher import pins  # noqa: PLC0415 - it is to be watched

    limited = pins.within
    pins.within = lambda _, work, pieces: ((piece, work(piece)) for piece in pieces)  # type: ignore[assignment]
    try:
        yield
    finally:
        pins.within = limited


def _play(seconds: float, seed: int, out: Path, status: _Status) -> None:
    """Play histories until the time is over."""
    from hypothesis import HealthCheck, Phase, settings  # noqa: PLC0415 - likewise
    from hypothesis import seed as seeded  # noqa: PLC0415 - likewise
    from hypothesis.stateful import run_state_machine_as_test  # noqa: PLC0415 - likewise

    from tests.fuzz.machine import Histories  # noqa: PLC0415 - likewise

    class Counted(Histories):
        """Histories that are counted; what is wrong is written at once, in full when it is as small as can be."""

        def __init__(self) -> None:
            super().__init__()
            status.more()

        def look(self, hours: float) -> list[str]:
            """Write down what is wrong."""
            said = super().look(hours)
            if said and not (crash := out / "crashes" / f"seed-{seed}").exists():
                crash.write_text("\n".join(said))
            return said

    end, many = (
        time.monotonic() + seconds,
        settings(
            max_examples=_EXAMPLES,
            stateful_step_count=_STEPS,
            deadline=None,
            database=None,
            print_blob=True,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        ),
    )
    while time.monotonic() < end:
        seeded(seed)(Counted)
        try:
            run_state_machine_as_test(Counted, settings=many)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is reported
            told = "\n".join([repr(error), *getattr(error, "__notes__", ())])
            (out / "crashes" / f"seed-{seed}").write_text(f"{told}\n")
        seed += 1_000_003


# --- what is worth keeping -------------------------------------------------------------------------------------------


def _keep(name: str, corpus: Path) -> int:
    """Put the inputs into the corpus that reach lines which no kept one does, shortest first; return how many."""
    from tests.fuzz.parsers import CORPUS, PARSERS  # noqa: PLC0415 - as above

    folder, kept, end = CORPUS / name, 0, time.monotonic() + _SECONDS_TRACED
    left = _MOST_KEPT.get(name, _FEW_KEPT) - sum(it.stat().st_size for it in folder.glob("*"))
    with _in_process():
        reached = Counter[tuple[str, int]]()
        for data in [*PARSERS[name].seeds(), *(it.read_bytes() for it in _saved(name))]:
            reached.update(_lines(name, data))
        for path in sorted(_new(corpus), key=lambda it: it.stat().st_size)[:_MOST_TRACED]:
            data = path.read_bytes()
            if time.monotonic() > end or len(data) > left:
                break
            if more := _lines(name, data) - reached.keys():
                reached.update(more)
                folder.mkdir(parents=True, exist_ok=True)
                (folder / path.name[:12]).write_bytes(data)
                left, kept = left - len(data), kept + 1
    return kept


def _lines(name: str, data: bytes) -> set[tuple[str, int]]:
    """Return the lines of the program that an input reaches."""
    from tests.fuzz.bounded import attempt  # noqa: PLC0415 - as above
    from tests.fuzz.parsers import PARSERS  # noqa: PLC0415 - likewise

    found: set[tuple[str, int]] = set()
    own = f"{ROOT / 'watcher'}{os.sep}"

    def traced(frame, event, _):  # noqa: ANN001, ANN202 - as sys.settrace has it
        if not frame.f_code.co_filename.startswith(own):
            return None
        if event == "line":
            found.add((frame.f_code.co_filename, frame.f_lineno))
        return traced

    sys.settrace(traced)
    try:
        attempt(PARSERS[name], data)
    finally:
        sys.settrace(None)
    return found


if __name__ == "__main__":
    sys.exit(main())
