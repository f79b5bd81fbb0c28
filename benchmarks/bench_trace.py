"""Measure how often `watcher trace` finds the fix for an error that the fix's own message quotes.

    python benchmarks/bench_trace.py REPOS [--half dev|test] [--repo OWNER/NAME ...] [--missed N]

REPOS is a folder of bare repositories, OWNER+NAME/repo or OWNER+NAME.git; what is missing is named and left out. The
questions are `trace/questions.jsonl`, ids and line numbers alone: the error is read from the message at run time. The
pin is the fix's first parent, the candidates are the next 200 landings. What the fix says beside its title is hidden
from the ranking, all of it, or the quotation would find itself; `quoted` is what it is worth when it is not hidden. A
landing of the same score as the fix counts as better.

The weights were tuned on the repositories of the half `dev`; the other half was looked at for the figures alone. Beside
it, what simpler ways are worth: `files` ranks by how many named file names a landing alters, `words` by how many words
of the error stand in its message and paths.
"""

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from posixpath import basename
from typing import Any

from watcher.asking import History
from watcher.assess import assess
from watcher.errors import GitError
from watcher.judge.complaint import complaint, terms
from watcher.judge.trace import rank
from watcher.model import Advertisement, Commit, Oid, Pin, Ref, RefKind, oid
from watcher.observation import Observation, Position
from watcher.questions import opened
from watcher.suspicion import Complaint, Landing, Ranked, Suspects
from watcher.tracing import suspects

_QUESTIONS = Path(__file__).parent / "trace" / "questions.jsonl"
_LANDINGS = 200
_FIRST = 5
_WAYS = ("trace", "quoted", "files", "words")

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What one question gave."""

    row: Row
    candidates: int
    seconds: float
    """Time of judging and ranking, with the repository at hand."""
    ranks: Mapping[str, int]
    """Way → how many landings are at least as good, the fix included."""
    first: str
    """Title of the landing that came first."""


def half(repository: str) -> str:
    """Return which half a repository belongs to: a whole one, so that nothing is learned from its other questions."""
    return "dev" if int(sha256(repository.encode()).hexdigest(), 16) % 2 else "test"


def measure(folder: Path, rows: Sequence[Row]) -> list[Result]:
    """Ask everything about one repository."""
    mirror, advertisement = opened(str(folder))
    history = History(mirror, advertisement)
    line = history.graph.first_parent_line(history.lines[0].tip)
    found = []
    for row in rows:
        try:
            found.append(asked(history, line, row))
        except GitError as error:
            print(f"left out: {row['id']}: {error}")
    return found


def asked(history: History, line: Sequence[Oid], row: Row) -> Result:
    """Rank what landed after a pin, once with the fix's message hidden, once as it is."""
    pin, fix = oid(row["pin"]), oid(row["fix"])
    at = line.index(fix)
    tip = line[min(at + _LANDINGS, len(line)) - 1]
    body = history.commits[oid(row["message"])].body.split("\n")
    said = complaint("\n".join(body[row["lines"][0] - 1 : row["lines"][1]]))
    change = history.change(fix)
    told = {it: history.commits[it] for it in history.graph.between(pin, tip)} | {pin: history.commits[pin]}
    hidden = told | {it: replace(told[it], body="") for it in (fix, *change.commits)}
    start = time.perf_counter()
    known = gathered(history, pin, tip, hidden, said)
    found = rank(said, known)
    seconds = time.perf_counter() - start
    quoted = rank(said, replace(known, landings=tuple(restored(it, told) for it in known.landings)))
    ranks = {
        "trace": place(fix, {it.landing.change.landing: it.score for it in found}),
        "quoted": place(fix, {it.landing.change.landing: it.score for it in quoted}),
        "files": place(fix, {it.landing.change.landing: by_files(it, said) for it in found}),
        "words": place(fix, {it.landing.change.landing: by_words(it, said) for it in found}),
    }
    return Result(row=row, candidates=len(found), seconds=seconds, ranks=ranks, first=found[0].landing.title)


def gathered(history: History, pin: Oid, tip: Oid, commits: Mapping[Oid, Commit], said: Complaint) -> Suspects:
    """Judge a pin as a pass would, with an upstream that ends at `tip`, and return what is ranked."""
    asked_pin = Pin(name="asked", upstream="", ref=pin, ref_kind=RefKind.SHA, file="", line=0, id="asked")
    seen = Observation(
        upstream="",
        at=datetime.now(UTC),
        advertisement=Advertisement(refs=(Ref(name="refs/heads/main", oid=tip),), head="refs/heads/main", digest=""),
        graph=history.graph,
        bound=pin,
        commits=commits,
        positions={"asked": Position(commit=pin)},
    )
    judged = assess(seen, [asked_pin], history.mirror, {})
    return suspects(history.mirror, judged, pin, judged.judgement.verdicts.get("asked", {}), said)


def restored(it: Landing, told: Mapping[Oid, Commit]) -> Landing:
    """Return a landing with everything that its commits say."""
    said = [told[oid] for oid in dict.fromkeys((it.change.landing, *it.change.commits)) if oid in told]
    return replace(it, message="\n".join(f"{commit.subject}\n{commit.body}" for commit in said))


def place(fix: Oid, scores: Mapping[Oid, float]) -> int:
    """Return how many are at least as good as the fix; one that has nothing to do with the error comes last."""
    return sum(score >= scores[fix] for score in scores.values()) if scores[fix] > 0 else len(scores)


def by_files(it: Ranked, said: Complaint) -> float:
    """Return how many of the named file names a landing alters."""
    return len({basename(path) for path in said.files} & {basename(path) for path in it.landing.paths})


def by_words(it: Ranked, said: Complaint) -> float:
    """Return how many words of the error stand in a landing's message and paths."""
    return len(said.terms.keys() & {term for term, _ in terms(f"{it.landing.message} {' '.join(it.landing.paths)}")})


def share(results: Sequence[Result], way: str, most: int) -> str:
    """Return how often the fix is among the first `most`."""
    hits = sum(it.ranks[way] <= most for it in results)
    return f"{hits / max(1, len(results)):.2f} ({hits}/{len(results)})"


def report(results: Sequence[Result]) -> None:
    """Print the figures for each half and each kind of error."""
    groups: dict[str, list[Result]] = defaultdict(list)
    for it in results:
        groups[half(it.row["repo"])].append(it)
        groups[f"{half(it.row['repo'])}, {it.row['kind']}"].append(it)
    print("\n| questions | " + " | ".join(f"{way}: first | in {_FIRST}" for way in _WAYS) + " |")
    print("| --- |" + " --- | --- |" * len(_WAYS))
    for name, mine in sorted(groups.items()):
        cells = [cell for way in _WAYS for cell in (share(mine, way, 1), share(mine, way, _FIRST))]
        print(f"| {name} | {' | '.join(cells)} |")
    times = sorted(it.seconds for it in results)
    candidates = sorted(it.candidates for it in results)
    print(f"\njudging and ranking: median {times[len(times) // 2]:.2f} s, longest {times[-1]:.2f} s", end="")
    print(f", over {candidates[0]} to {candidates[-1]} landings")


def missed(results: Iterable[Result], most: int) -> None:
    """Print the questions whose fix is not among the first."""
    late = sorted((it for it in results if it.ranks["trace"] > _FIRST), key=lambda it: -it.ranks["trace"])
    for it in late[:most]:
        print(f"{it.row['id']} {it.row['kind']}: {it.ranks['trace']} of {it.candidates}, first: {it.first[:70]}")


def main() -> None:
    """Read, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repos", type=Path)
    parser.add_argument("--half", choices=("dev", "test"))
    parser.add_argument("--repo", action="append", help="only this one, OWNER/NAME")
    parser.add_argument("--missed", type=int, default=0, help="print up to so many questions that were missed")
    options = parser.parse_args()
    rows: dict[str, list[Row]] = defaultdict(list)
    for line in _QUESTIONS.read_text().splitlines():
        row = json.loads(line)
        if options.half in {None, half(row["repo"])} and (not options.repo or row["repo"] in options.repo):
            rows[row["repo"]].append(row)
    ways = {
        name: (options.repos / name.replace("/", "+") / "repo", options.repos / f"{name.replace('/', '+')}.git")
        for name in rows
    }
    folders = {name: folder for name, both in ways.items() for folder in both if folder.is_dir()}
    if absent := [name for name in rows if name not in folders]:
        print(f"not at hand: {', '.join(absent)}")
    with ProcessPoolExecutor(2, max_tasks_per_child=1) as pool:
        running = [pool.submit(measure, folder, rows[name]) for name, folder in folders.items()]
        results = [result for it in running for result in it.result()]
    report(results)
    missed(results, options.missed)


if __name__ == "__main__":
    main()
