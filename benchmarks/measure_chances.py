"""Measure how often a pin has the bug, by what the judgement rests on: the figures of `judge/affected.py`.

    python benchmarks/measure_chances.py REPOS [--most N]

REPOS is a folder of bare repositories, OWNER+NAME/repo or OWNER+NAME.git, with full history; those of `SOURCES` that
are missing are told and left out. Where a commit's message names the one commit that brought the bug, it is known which
pins have it. For up to N such fixes of a repository, a random choice that is the same every time, the default branch is
asked about at five places: well before the bug, directly before and after it came, between, and directly before the
fix. The judgement is blind: it does not see that the message names a commit.

Printed for each basis: how often the pin was affected, of how many, and the chance that the judgement gives it.
"""

import argparse
import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from watcher.asking import History
from watcher.errors import GitError
from watcher.judge.affected import CHANCES
from watcher.judge.culprits import introduced
from watcher.judge.shipped import is_shipped
from watcher.model import Oid
from watcher.questions import opened

SOURCES = (
    "bluez/bluez", "bytecodealliance/wasmtime", "clap-rs/clap", "curl/curl", "DPDK/dpdk", "etcd-io/etcd",
    "facebook/rocksdb", "FRRouting/frr", "grpc/grpc-go", "iproute2/iproute2", "libgit2/libgit2",
    "linux-test-project/ltp", "mesonbuild/meson", "NVIDIA/TransformerEngine", "ofiwg/libfabric",
    "OpenVPN/openvpn", "openvswitch/ovs", "prometheus/prometheus", "pytest-dev/pytest", "python/mypy",
    "pytorch/executorch", "pytorch/FBGEMM", "rapidsai/cudf", "rust-lang/cargo", "sphinx-doc/sphinx", "strace/strace",
    "util-linux/util-linux", "vllm-project/vllm-ascend",
)  # fmt: skip
"""Public histories in C, C++, CUDA, Rust, Go and Python; none of them is in `judgement/questions.jsonl`."""
_FAR = 60
"""So many landings before the bug are well before it, and up to 255 more."""
_REVERTS = 0.25
"""Largest share of reverts among the fixes: they are easy."""


def fixes(history: History, line: list[Oid]) -> Iterator[tuple[Oid, Oid]]:
    """Yield fixes on a line with the commit that brought their bug, in random order."""
    for oid in sorted(line, key=lambda oid: hashlib.sha256(oid.encode()).digest()):
        culprits = introduced((history.commits[oid],), history.commits)
        if len(history.graph.parents(oid)) == 1 and len(culprits) == 1:
            yield oid, culprits[0]


def pins(history: History, line: list[Oid], fix: Oid, culprit: Oid) -> Iterator[tuple[Oid, bool]]:
    """Yield commits of a line, oldest first, that a fix is asked about, and whether they have the bug."""
    having = history.graph.descendants(culprit)
    at = next((index for index, oid in enumerate(line) if oid in having), None)
    end = line.index(fix)
    if at is None or at >= end:
        return
    far = _FAR + hashlib.sha256(fix.encode()).digest()[0]
    for place in dict.fromkeys((at - far, at - 1, at, (at + end) // 2, end - 1)):
        if place >= 0:
            yield line[place], place >= at


def measure(folder: Path, most: int) -> Counter[tuple[str, bool]]:
    """Return (basis, is affected) → how many, over the questions of one repository."""
    mirror, advertisement = opened(str(folder))
    history = History(mirror, advertisement, is_blind=True)
    line = history.graph.first_parent_line(history.lines[0].tip)
    line = line if history.graph.is_ancestor(line[0], line[-1]) else line[::-1]
    seen: Counter[tuple[str, bool]] = Counter()
    kinds: Counter[bool] = Counter()
    for fix, culprit in fixes(history, line):
        is_revert = history.commits[fix].subject.startswith("Revert")
        if kinds.total() >= most:
            break
        if is_revert and kinds[True] >= _REVERTS * most:
            continue
        known = history.known(fix)
        if not any(is_shipped(path) for path in known.fix.paths):
            continue
        asked = list(pins(history, line, fix, culprit))
        try:
            said = [(history.judged(pin, known)[1].basis, has_bug) for pin, has_bug in asked]
        except GitError:  # a snapshot without its largest files
            continue
        kinds[is_revert] += 1
        seen.update((basis, has_bug) for basis, has_bug in said if basis not in {"", "contained", "reverted"})
    return seen


def main() -> None:
    """Measure each repository, print the sums."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repos", type=Path)
    parser.add_argument("--most", type=int, default=40, help="fixes of a repository")
    asked = parser.parse_args()
    ways = {name: name.replace("/", "+") for name in SOURCES}
    both = {name: (asked.repos / slug / "repo", asked.repos / f"{slug}.git") for name, slug in ways.items()}
    folders = {name: folder for name, found in both.items() for folder in found if folder.is_dir()}
    print("not at hand:", ", ".join(name for name in SOURCES if name not in folders) or "none")
    total: Counter[tuple[str, bool]] = Counter()
    repositories: dict[str, set[str]] = defaultdict(set)
    with ProcessPoolExecutor(2, max_tasks_per_child=1) as pool:
        running = {name: pool.submit(measure, folder, asked.most) for name, folder in folders.items()}
        for name, it in running.items():
            seen = it.result()
            total += seen
            for basis, _ in seen:
                repositories[basis].add(name)
            right = sum(count for (basis, has), count in seen.items() if (CHANCES[basis] >= 0.5) == has)  # noqa: PLR2004 - even
            print(f"  {name:36} {right:4} of {seen.total():4} right", flush=True)
    print(f"\n{'basis':40} affected      of  repositories  chance given")
    for basis in CHANCES:
        count = total[basis, True] + total[basis, False]
        if count:
            share = total[basis, True] / count
            print(f"{basis:40} {share:8.3f} {count:7} {len(repositories[basis]):13} {CHANCES[basis]:13.2f}")
    right = sum(count for (basis, has), count in total.items() if (CHANCES[basis] >= 0.5) == has)  # noqa: PLR2004 - even
    print(f"right: {right} of {total.total()}, {right / max(1, total.total()):.3f}")


if __name__ == "__main__":
    main()
