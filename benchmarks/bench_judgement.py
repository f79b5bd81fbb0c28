"""Measure the judgement against known answers, and print how often it is right, how sure it was, and what it cost.

    python benchmarks/bench_judgement.py REPOS [--repo OWNER/NAME ...] [--wrong N]

REPOS is a folder of bare repositories, OWNER+NAME/repo or OWNER+NAME.git; what is missing is named and left out. The
questions and labels are `judgement/*.jsonl`; only ids are handed to what is measured. Beside it, in the same run, what
simpler ways are worth: `ancestor` says `contains` where git says that the fix is an ancestor, else `affected`, and
names the fix itself as the bump; `title` calls a commit a fix whose title says so.

An answer that is unsure counts as `affected`, as people are told. Times are of one process for each repository, two
side by side.
"""

import argparse
import json
import re
import resource
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from watcher.asking import History
from watcher.questions import answers, labels, opened

_HERE = Path(__file__).parent / "judgement"
_BINS = ((0.9, 1.01), (0.8, 0.9), (0.65, 0.8), (0.5, 0.65), (0.0, 0.5))
_TITLE = re.compile(r"\b(fix|fixes|fixed|bugfix)\b", re.IGNORECASE)
_WAYS = ("all evidence", "blind", "ancestor")

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What one repository gave."""

    repository: str
    commits: int
    loading: float
    """Seconds until the first question."""
    first: float
    """Seconds for the first question."""
    answering: float
    """Seconds for all questions with all evidence."""
    again: tuple[list[float], list[float]]
    """Seconds for verdicts on pins and fixes that are known: no, and yes with the places in the pin's tree."""
    memory: int
    """Largest resident set of the process so far, in bytes."""
    said: Mapping[str, list[tuple[Row, Row]]] = field(default_factory=dict)
    """Way → (question, answer)."""
    called: Mapping[str, list[tuple[Row, bool]]] = field(default_factory=dict)
    """Way → (label, is it called a fix)."""


# --- ask -------------------------------------------------------------------------------------------------------------


def measure(repository: str, folder: Path, questions: list[Row], labelled: list[Row]) -> Result:
    """Ask everything about one repository."""
    start = time.perf_counter()
    mirror, advertisement = opened(str(folder))
    history = History(mirror, advertisement)
    loaded = time.perf_counter()
    ask(history, questions[:1])
    first = time.perf_counter()
    said = {"all evidence": ask(history, questions)}
    answered = time.perf_counter()
    again = one_more_pin(history, questions)
    said["ancestor"] = [(row, ancestor(history, row)) for row in questions]
    called = {"title": [(row, bool(_TITLE.search(history.commits[row["sha"]].subject))) for row in labelled]}
    lines = [json.dumps({"sha": row["sha"]}) for row in labelled]
    for name, strip in (("prefix kept", False), ("prefix hidden", True)):
        called[name] = [
            (row, got["fix"]) for row, got in zip(labelled, labels(history, lines, strip_prefix=strip), strict=True)
        ]
    said["blind"] = ask(History(mirror, advertisement, is_blind=True), questions)
    return Result(
        repository=repository,
        commits=len(history.graph),
        loading=loaded - start,
        first=first - loaded,
        answering=answered - loaded,
        again=again,
        memory=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        said=said,
        called=called,
    )


def ask(history: History, questions: Iterable[Row]) -> list[tuple[Row, Row]]:
    """Return each question with its answer."""
    rows = list(questions)
    lines = [json.dumps({key: row[key] for key in ("id", "pin", "fix", "fixes") if key in row}) for row in rows]
    return list(zip(rows, answers(history, lines), strict=True))


def one_more_pin(history: History, questions: Iterable[Row]) -> tuple[list[float], list[float]]:
    """Return seconds for verdicts on pins and fixes that are known: where it is no, and where lines are looked up."""
    without, looked_up = [], []
    for row in questions:
        if "fix" in row:
            pin, known = history.commit(row["pin"]), history.known(history.commit(row["fix"]))
            history.judged(pin, known)
            start = time.perf_counter()
            answer, _ = history.judged(pin, known)
            (looked_up if answer == "affected" else without).append(time.perf_counter() - start)
    return without, looked_up


def ancestor(history: History, row: Row) -> Row:
    """Answer by ancestry alone."""
    fixes = [history.commit(fix) for fix in row.get("fixes") or [row["fix"]]]
    is_in = history.graph.is_ancestor(fixes[0], history.commit(row["pin"]))
    return {"answer": "contains" if is_in else "affected", "minimal": fixes[-1], "minimal_default": fixes[-1]}


# --- score -----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Tally:
    """How many of how many were right."""

    right: int = 0
    total: int = 0

    def add(self, is_right: bool) -> None:
        """Count one."""
        self.right += is_right
        self.total += 1

    def __str__(self) -> str:
        return f"{self.right / self.total if self.total else 0:.3f} ({self.right}/{self.total})"


def bumps(pairs: Iterable[tuple[Row, Row]], key: str, known: str) -> Tally:
    """Return how often the smallest bump is the known one."""
    found = Tally()
    for row, got in pairs:
        if known in row and "minimal_bump" in row and row["expect"] in {"affected", "bump"}:
            found.add(got[key] == row[known])
    return found


def judgements(pairs: Iterable[tuple[Row, Row]]) -> list[tuple[Row, Row]]:
    """Return the questions that want a judgement."""
    return [(row, got) for row, got in pairs if row["expect"] != "bump"]


def accuracy(pairs: Iterable[tuple[Row, Row]], group: Callable[[Row], str]) -> dict[str, Tally]:
    """Return group → how often the answer is right."""
    found: dict[str, Tally] = defaultdict(Tally)
    for row, got in pairs:
        found[group(row)].add(got["answer"] == row["expect"])
    return dict(found)


def precision_and_recall(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[float, float, int]]:
    """Return label → precision, recall, and how many there are, of (expected, said)."""
    seen = Counter(pairs)
    found = {}
    for label in sorted({expected for expected, _ in seen}):
        hits = seen[label, label]
        said = sum(count for (_, got), count in seen.items() if got == label)
        real = sum(count for (expected, _), count in seen.items() if expected == label)
        found[label] = (hits / said if said else 0.0, hits / real, real)
    return found


def calibration(pairs: Iterable[tuple[Row, Row]]) -> list[tuple[str, Tally, float]]:
    """Return for each range of confidence how often such answers are right, and how sure they were on average."""
    rows = judgements(pairs)
    found = []
    for low, high in _BINS:
        mine = [(row, got) for row, got in rows if low <= got["confidence"] < high]
        tally = Tally()
        for row, got in mine:
            tally.add(got["answer"] == row["expect"])
        mean = sum(got["confidence"] for _, got in mine) / max(1, len(mine))
        found.append((f"{low:.2f} to {min(high, 1.0):.2f}", tally, mean))
    return found


# --- print -----------------------------------------------------------------------------------------------------------


def table(title: str, heads: list[str], rows: Iterable[Iterable[object]]) -> None:
    """Print a table as Markdown, columns aligned."""
    cells = [heads, *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[at]) for row in cells) for at in range(len(heads))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in cells
    ]
    rule = "| " + " | ".join("-" * width for width in widths) + " |"
    print(f"\n{title}\n", lines[0], rule, *lines[1:], sep="\n")


def report(results: list[Result], seconds: float) -> None:
    """Print every table."""
    said = {way: [pair for it in results for pair in it.said[way]] for way in _WAYS}
    judged = {way: judgements(pairs) for way, pairs in said.items()}
    overall = {way: accuracy(pairs, lambda _: "")[""] for way, pairs in judged.items()}
    table(
        "Contains, affected, not affected, reverted; and the smallest bump",
        ["", *_WAYS],
        [
            ["right", *(overall[way] for way in _WAYS)],
            ["bump, all published lines", *(bumps(said[way], "minimal", "minimal_bump") for way in _WAYS)],
            ["bump, default branch", *(bumps(said[way], "minimal_default", "minimal_main") for way in _WAYS)],
        ],
    )
    classes = {way: precision_and_recall((row["expect"], got["answer"]) for row, got in judged[way]) for way in _WAYS}
    table(
        "By answer: precision / recall",
        ["", "questions", *_WAYS],
        [
            [label, real, *(f"{classes[way][label][0]:.3f} / {classes[way][label][1]:.3f}" for way in _WAYS)]
            for label, (_, _, real) in classes["blind"].items()
        ],
    )
    for name, key in (
        ("where the pin lies", "kind"),
        ("where the label comes from", "source"),
        ("strength", "strength"),
    ):
        groups = {way: accuracy(judged[way], lambda row, key=key: str(row[key])) for way in _WAYS[:2]}  # type: ignore[misc]
        table(
            f"By {name}",
            ["", *_WAYS[:2]],
            [[group, *(groups[way][group] for way in groups)] for group in sorted(groups["blind"])],
        )
    table(
        "Confidence: how often answers given with so much are right",
        ["confidence", *(f"{way}: {what}" for way in _WAYS[:2] for what in ("right", "mean"))],
        [
            [name, tally, f"{mean:.2f}", other, f"{their:.2f}"]
            for (name, tally, mean), (_, other, their) in zip(
                calibration(said["all evidence"]), calibration(said["blind"]), strict=True
            )
        ],
    )
    called = defaultdict(list)
    for it in results:
        for way, rows in it.called.items():
            called[way] += [(row["label"], "fix" if is_fix else "not-fix") for row, is_fix in rows]
    scores = {way: precision_and_recall(rows)["fix"] for way, rows in called.items() if rows}
    table(
        "Is it a fix?",
        ["", "precision", "recall", "F1"],
        [[way, f"{p:.3f}", f"{r:.3f}", f"{2 * p * r / max(1e-9, p + r):.3f}"] for way, (p, r, _) in scores.items()],
    )
    count = sum(len(it.said["all evidence"]) for it in results)
    again = [[each for it in results for each in it.again[at]] for at in (0, 1)]
    largest = max(results, key=lambda it: it.commits)
    table(
        "Cost",
        ["", ""],
        [
            ["questions", count],
            ["repositories, commits", f"{len(results)}, {sum(it.commits for it in results):,}"],
            ["loading, all", f"{sum(it.loading for it in results):.1f} s"],
            [f"loading {largest.repository}, {largest.commits:,} commits", f"{largest.loading:.1f} s"],
            ["its first question", f"{largest.first:.2f} s"],
            [
                "one question with all its facts, mean",
                f"{1000 * sum(it.answering for it in results) / max(1, count):.0f} ms",
            ],
            *(
                [f"a verdict on a known fix, {kind}, median", f"{1000 * median(times):.2f} ms"]
                for kind, times in zip(("no", "yes, its files at hand"), again, strict=True)
            ),
            ["memory of the largest process", f"{max(it.memory for it in results) / 2**20:.0f} MiB"],
            ["this whole run (each question twice), two processes", f"{seconds:.0f} s"],
        ],
    )


def wrong(results: list[Result], most: int) -> None:
    """Print wrong answers."""
    shown = [
        (way, row, got)
        for way in _WAYS[:2]
        for it in results
        for row, got in judgements(it.said[way])
        if got["answer"] != row["expect"]
    ]
    for way, row, got in shown[:most]:
        print(f"{way}: {row['repo']} {row['id']} {row['kind']}: {got['answer']} ({got['confidence']}), {got['reason']}")


# --- run -------------------------------------------------------------------------------------------------------------


def read(name: str) -> dict[str, list[Row]]:
    """Return repository → rows of a file of known answers."""
    found: dict[str, list[Row]] = defaultdict(list)
    for line in (_HERE / name).read_text().splitlines():
        row = json.loads(line)
        found[row["repo"]].append(row)
    return found


def main() -> None:
    """Read, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repos", type=Path)
    parser.add_argument("--repo", action="append", help="only this one, OWNER/NAME")
    parser.add_argument("--wrong", type=int, default=0, help="print up to so many wrong answers")
    asked = parser.parse_args()
    questions, labelled = read("questions.jsonl"), read("labels.jsonl")
    names = asked.repo or sorted({*questions, *labelled})
    ways = {
        name: (asked.repos / name.replace("/", "+") / "repo", asked.repos / f"{name.replace('/', '+')}.git")
        for name in names
    }
    folders = {name: folder for name, both in ways.items() for folder in both if folder.is_dir()}
    if absent := [name for name in names if name not in folders]:
        print(f"not at hand: {', '.join(absent)}")
    start = time.perf_counter()
    with ProcessPoolExecutor(2, max_tasks_per_child=1) as pool:
        running = [
            pool.submit(measure, name, folder, questions[name], labelled[name]) for name, folder in folders.items()
        ]
        results = [it.result() for it in running]
    report(results, time.perf_counter() - start)
    wrong(results, asked.wrong)


if __name__ == "__main__":
    main()
