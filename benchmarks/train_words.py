"""Learn what the words of a commit message are worth as signs of a repair, and write `watcher/judge/wordweights.py`.

    python benchmarks/train_words.py REPOS [--write] [--without OWNER/NAME ...]

REPOS is a folder of bare repositories, OWNER+NAME/repo or OWNER+NAME.git, with full history; those of `SOURCES` that
are missing are told and left out. A commit's label is what its author called it: a conventional type (`fix:` or
`feat:`, `refactor:` …), a tag (`[Bugfix]`, `BUG/MINOR:`), or the kind of the changelog fragment that it adds. What
gives the label is hidden from the words. Only commits that alter shipped files are looked at, no merges, and at most
350 of a label from a repository; each repository weighs as much as 150 of each at most.

The table is a logistic regression with an L1 penalty, so most words drop out. A word must be seen in six
repositories, and in none with more than a third of all its uses. Printed: precision, recall and F1 with whole
repositories left out, for each of them and in all.
"""

import argparse
import random
import re
import subprocess
from collections import Counter, defaultdict
from dataclasses import dataclass
from math import exp
from pathlib import Path

from watcher.judge.shipped import Role, is_shipped, role
from watcher.judge.wording import body_words, line_counts, paths_altered, title_words
from watcher.model import ChangedPath

SOURCES = (
    "apache/kvrocks", "apache/opendal", "aws-powertools/powertools-lambda-python", "aws/s2n-tls",
    "bytecodealliance/wasm-micro-runtime", "commitizen-tools/commitizen", "delta-io/delta-rs", "dragonflydb/dragonfly",
    "electron-userland/electron-builder", "element-hq/synapse", "facebookincubator/velox", "falcosecurity/libs",
    "getsentry/sentry-native", "GitoxideLabs/gitoxide", "goreleaser/goreleaser", "haproxy/haproxy", "helm/helm",
    "ibis-project/ibis", "jax-ml/jax", "lancedb/lance", "lttng/lttng-modules",
    "lttng/lttng-tools", "lvgl/lvgl", "mudler/LocalAI", "NVIDIA-NeMo/RL", "NVIDIA/Megatron-LM", "open62541/open62541",
    "pulp/pulpcore", "PyO3/pyo3", "pytest-dev/pytest", "radixark/miles", "snakemake/snakemake", "tarantool/tarantool",
    "THUDM/slime", "urcu/userspace-rcu", "vllm-project/vllm-ascend",
)  # fmt: skip
"""Public histories in C, C++, Rust, Go, Python and TypeScript; none of them is in `cases/fixes`."""

_TYPE = re.compile(r"^(?:\[[^\]]*\]\s*)*(\w+)(?:\([^)]*\))?!?:\s+")
_TAG = re.compile(r"^\s*\[([A-Za-z _-]+)\]")
_LEVEL = re.compile(r"^([A-Z]{3,})(?:/[A-Z]+)?:\s+")
_FRAGMENT = re.compile(
    r"^(?:\w+/)?(?:changelog|changelog\.d|newsfragments|changes|news|towncrier)/[^/]+\.(\w+)(?:\.\d+)?(?:\.(?:rst|md|txt))?$",
    re.IGNORECASE,
)
_ENTRIES = "changelogs/unreleased"
"""A folder of fragments whose kind stands in their first heading."""
_FRAGMENTS = ("changelog", "changelog.d", "newsfragments", "changes", "CHANGES", "news", "*/changelog")
_REPAIRS = {"fix", "bugfix", "hotfix", "bug", "bug fix", "bug-fix", "fixes", "fixed"}
_TYPES = {
    "feat", "feature", "refactor", "perf", "docs", "doc", "chore", "ci", "build", "test", "tests", "style", "enhance",
    "enhancement", "cleanup", "optim", "misc", "deprecation", "deprecated", "improvement", "performance", "packaging",
    "reorg", "removal",
}  # fmt: skip
_KINDS = _TYPES | {"added", "changed", "removed"}
_LEVELS = _TYPES | {"minor", "medium", "major"}
_MOST, _WEIGHT = 350, 150
_LEAST_USES, _LEAST_REPOSITORIES, _MOST_OF_ONE = 25, 6, 1 / 3
_PENALTY = 1 / 0.3
_SWEEPS = 40
_SMALLEST, _LARGEST = 0.1, 2.0
_UNTYPED = {"title fix": 0.6, "title fix typo": -0.6}
"""Added to what was learned: an author who has written `fix:` seldom says it again, others have only that word."""
_CUT = -0.4
"""As in `watcher/judge/fixes.py`."""
_TARGET = Path(__file__).parent.parent / "watcher" / "judge" / "wordweights.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One commit: what it says, and what its author called it."""

    repository: str
    is_fix: bool
    names: frozenset[str]


# --- read ------------------------------------------------------------------------------------------------------------


def git(folder: Path, *arguments: str, asked: str = "") -> str:
    """Return what git says; what it said before it met a missing object counts."""
    command = ["git", "-C", str(folder), "-c", "core.quotePath=false", *arguments]
    return subprocess.run(command, input=asked.encode(), capture_output=True, check=False).stdout.decode(
        "utf-8", "replace"
    )


def fragments(folder: Path) -> dict[str, set[str]]:
    """Return commit → kinds of the changelog fragments that it adds."""
    found = defaultdict(set)
    added = ("log", "--no-merges", "--diff-filter=A", "--format=\x02%H")
    commit = ""
    for line in git(folder, *added, "--name-only", "HEAD", "--", *_FRAGMENTS).splitlines():
        if line.startswith("\x02"):
            commit = line[1:]
        elif match := _FRAGMENT.match(line):
            found[commit].add(match[1].lower())
    for line in git(folder, *added, "-p", "HEAD", "--", _ENTRIES).splitlines():
        if line.startswith("\x02"):
            commit = line[1:]
        elif match := re.match(r"\+## (\w+)", line):
            found[commit].add(match[1].lower())
    return found


def label(subject: str, kinds: set[str]) -> bool | None:
    """Return whether the author called a commit a repair; None where nothing is said."""
    for pattern, others in ((_LEVEL, _LEVELS), (_TYPE, _TYPES), (_TAG, _TYPES)):
        match = pattern.match(subject)
        said = match[1].lower().strip() if match else ""
        if said in _REPAIRS or said in others:
            return said in _REPAIRS
    told = {kind in _REPAIRS for kind in kinds & (_REPAIRS | _KINDS)}
    return told.pop() if len(told) == 1 else None


def shapes(folder: Path, commits: list[str]) -> dict[str, tuple[list[ChangedPath], int, int]]:
    """Return commit → the paths that it alters, lines of shipped code added and removed."""
    found: dict[str, tuple[list[ChangedPath], int, int]] = {}
    options = ("--no-walk=unsorted", "--stdin", "--no-renames", "-w", "--raw", "--numstat", "--abbrev=40")
    for start in range(0, len(commits), 40):
        text = git(folder, "log", *options, "--format=\x02%H", asked="\n".join(commits[start : start + 40]))
        for part in text.split("\x02")[1:]:
            commit, *lines = part.splitlines()
            raw = [line.split("\t", 1) for line in lines if line.startswith(":")]
            counts = [line.split("\t", 2) for line in lines if line[:1].isdigit()]
            code = [(int(a), int(r)) for a, r, path in counts if role(path) in {Role.SOURCE, Role.BUILD}]
            paths = [
                ChangedPath(status=kind[-1], path=path, blob_before=None, blob_after=None)
                for kind, path in raw
                if not _FRAGMENT.match(path) and not path.startswith(_ENTRIES)
            ]
            found[commit] = (paths, sum(a for a, _ in code), sum(r for _, r in code))
    return found


def examples(repository: str, folder: Path) -> list[Example]:
    """Return labelled commits of one repository, a random choice that is the same every time."""
    kinds = fragments(folder)
    said: dict[bool, list[list[str]]] = {True: [], False: []}
    for record in git(folder, "log", "--no-merges", "--format=%H%x00%s%x00%b%x01", "HEAD").split("\x01"):
        fields = record.strip("\n").split("\0")
        told = label(fields[1], kinds.get(fields[0], set())) if len(fields) > 2 else None  # noqa: PLR2004 - the three asked for
        if told is not None:
            said[told].append(fields)
    choice = random.Random(repository)  # noqa: S311 - a sample, no secret
    found = []
    for told, commits in said.items():
        chosen = choice.sample(commits, min(len(commits), 2 * _MOST))
        known = shapes(folder, [commit for commit, *_ in chosen])
        mine = [(fields, known[fields[0]]) for fields in chosen if fields[0] in known]
        fitting = [(fields, seen) for fields, seen in mine if any(is_shipped(path.path) for path in seen[0])]
        for (_, subject, body), (paths, added, removed) in fitting[:_MOST]:
            names = {
                *title_words(subject),
                *body_words(body),
                *paths_altered(paths),
                *line_counts(added, removed),
            }
            found.append(Example(repository=repository, is_fix=told, names=frozenset(names)))
    return found


# --- learn -----------------------------------------------------------------------------------------------------------


def known_words(rows: list[Example]) -> list[str]:
    """Return the words that are common enough, and no project's own."""
    uses: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        for name in row.names:
            uses[name][row.repository] += 1
    return sorted(
        name
        for name, seen in uses.items()
        if len(seen) >= _LEAST_REPOSITORIES
        and seen.total() >= _LEAST_USES
        and max(seen.values()) <= _MOST_OF_ONE * seen.total()
    )


def learn(rows: list[Example]) -> tuple[float, dict[str, float]]:
    """Return the bias and the weights: logistic regression by coordinate descent."""
    per = Counter((row.repository, row.is_fix) for row in rows)
    share = [min(1.0, _WEIGHT / per[row.repository, row.is_fix]) for row in rows]
    truth = [float(row.is_fix) for row in rows]
    columns: dict[str, list[int]] = {name: [] for name in known_words(rows)}
    for index, row in enumerate(rows):
        for name in row.names & columns.keys():
            columns[name].append(index)
    score = [0.0] * len(rows)
    chance = [0.5] * len(rows)
    weights = dict.fromkeys(columns, 0.0)
    bias = 0.0

    def shift(members: list[int], before: float, penalty: float) -> float:
        """Move one weight to where it is best while the others stand; return how far."""
        slope = sum(share[i] * (chance[i] - truth[i]) for i in members)
        bend = sum(share[i] * chance[i] * (1 - chance[i]) for i in members) + 1e-6
        best = before - slope / bend
        room = penalty / bend
        after = 0.0 if abs(best) <= room else best - room if best > 0 else best + room
        step = max(-1.0, min(1.0, after - before))
        for i in members if step else ():
            score[i] += step
            chance[i] = 1 / (1 + exp(-max(-30.0, min(30.0, score[i]))))
        return step

    everything = list(range(len(rows)))
    for sweep in range(_SWEEPS):
        bias += shift(everything, bias, 0.0)
        # Most words are zero and stay so: look at them now and then.
        for name in columns if sweep % 8 < 2 else [name for name, weight in weights.items() if weight]:  # noqa: PLR2004
            weights[name] += shift(columns[name], weights[name], _PENALTY)
    return bias, weights


def trimmed(bias: float, weights: dict[str, float]) -> tuple[float, dict[str, float]]:
    """Return the table as it is written: small weights dropped, large ones clipped, all rounded."""
    whole = {name: weight + _UNTYPED.get(name, 0.0) for name, weight in weights.items()}
    kept = {name: max(-_LARGEST, min(_LARGEST, weight)) for name, weight in whole.items() if abs(weight) >= _SMALLEST}
    return round(bias, 2), {name: round(weight, 2) for name, weight in kept.items()}


def marks(rows: list[Example], table: tuple[float, dict[str, float]], cut: float) -> Counter[str]:
    """Return how often a table is right and wrong about examples."""
    bias, weights = table
    found: Counter[str] = Counter()
    for row in rows:
        said = bias + sum(weights.get(name, 0.0) for name in row.names) > cut
        found["hit" if said and row.is_fix else "false" if said else "missed" if row.is_fix else "right"] += 1
    return found


def told(seen: Counter[str]) -> str:
    """Return precision, recall and F1 in one line."""
    said, real = seen["hit"] + seen["false"], seen["hit"] + seen["missed"]
    precision, recall = seen["hit"] / max(1, said), seen["hit"] / max(1, real)
    score = 2 * seen["hit"] / max(1, said + real)
    right = (seen["hit"] + seen["right"]) / max(1, seen.total())
    return f"precision {precision:.3f} recall {recall:.3f} F1 {score:.3f} accuracy {right:.3f} of {seen.total()}"


def cross_validate(rows: list[Example], folds: int = 6) -> None:
    """Print what tables are worth that never saw the repositories they are tried on."""
    size = Counter(row.repository for row in rows)
    parts: list[set[str]] = [set() for _ in range(folds)]
    for repository, _ in size.most_common():
        min(parts, key=lambda part: sum(size[one] for one in part)).add(repository)
    total: dict[float, Counter[str]] = defaultdict(Counter)
    for part in parts:
        table = trimmed(*learn([row for row in rows if row.repository not in part]))
        for repository in sorted(part):
            mine = [row for row in rows if row.repository == repository]
            print(f"  {repository:42} {told(marks(mine, table, 0.0))}")
            for cut in (0.0, _CUT):
                total[cut] += marks(mine, table, cut)
    for cut, seen in total.items():
        print(f"left out, cut at {cut:4}: {told(seen)}")


def written(bias: float, weights: dict[str, float]) -> str:
    """Return the table as a module."""
    lines = [
        '"""What is each word of a message, and each trait of a change\'s shape, worth as a sign of a repair?',
        "",
        "Log-odds, learned and written by `benchmarks/train_words.py`; names are those of `wording.py`.",
        '"""',
        "",
        f"BIAS = {bias}",
        '"""Where a change stands that says nothing; 0 is even odds where one of two changes is a repair."""',
        "WEIGHTS = {",
        *(f'    "{name}": {weight},' for name, weight in sorted(weights.items())),
        "}",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Read, cross-validate, learn, and write where asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repos", type=Path)
    parser.add_argument("--write", action="store_true", help="write watcher/judge/wordweights.py")
    parser.add_argument("--without", nargs="*", default=[], help="sources to leave out")
    asked = parser.parse_args()
    rows: list[Example] = []
    for repository in SOURCES:
        slug = repository.replace("/", "+")
        folder = next((way for way in (asked.repos / slug / "repo", asked.repos / f"{slug}.git") if way.is_dir()), None)
        if folder is None or repository in asked.without:
            print(f"  {repository:42} left out")
            continue
        rows += (mine := examples(repository, folder))
        print(f"  {repository:42} {sum(row.is_fix for row in mine)} fixes of {len(mine)}", flush=True)
    cross_validate(rows)
    bias, weights = trimmed(*learn(rows))
    print(f"{len(rows)} commits, {len({row.repository for row in rows})} repositories, {len(weights)} words")
    if asked.write:
        _TARGET.write_text(written(bias, weights))


if __name__ == "__main__":
    main()
