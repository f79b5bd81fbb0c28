"""Compare where lines came from, as `watcher.lineage` follows them, with `git blame -w`.

    python benchmarks/compare_lineage.py REPOSITORY [REPOSITORY ...] [--ranges N] [--steps N] [--files N] [--seed N]

For each bare repository some ranges of its main line are drawn, and in each some of the files that it altered. Every
line of them is followed both ways, back to the range's beginning. Printed are the files in which an answer differs, and
at the end how many lines do.
"""

import argparse
import random
from collections.abc import Iterable
from pathlib import Path

from watcher.graph import Graph
from watcher.lineage import lineage
from watcher.model import BlamedLine, LineRange, Oid
from watcher.upstream.repository import Repository


def compared(repository: Repository, graph: Graph, bound: Oid, tip: Oid, paths: Iterable[str]) -> tuple[int, int]:
    """Return of how many lines the answers were compared, and how many differ."""
    chosen = list(paths)
    found = lineage(repository, graph, [tip], chosen, bound, dates={})
    if found is None:
        return 0, 0
    files = repository.files(tip)
    contents = repository.read(files[path] for path in chosen)
    lines, wrong = 0, 0
    for path in chosen:
        if not (content := contents.get(files[path])):
            continue  # git blames no empty file
        texts = content.decode(errors="replace").removesuffix("\n").split("\n")
        mine = found.blame(tip, path, dict(enumerate(texts, 1)))
        told = repository.blame(tip, path, [LineRange(first=1, last=len(texts))], bound=bound)
        apart = sum(_facts(one) != _facts(other) for one, other in zip(told, mine, strict=True)) if told else 0
        lines, wrong = lines + len(told), wrong + apart
        if apart:
            print(f"{repository.directory}: {path} at {tip[:12]} back to {bound[:12]}: {apart} of {len(told)} lines")
    return lines, wrong


def _facts(line: BlamedLine) -> tuple[object, ...]:
    return line.line, line.text, line.origin, line.origin_path, line.origin_line, line.is_boundary


def drawn(repository: Repository, given: argparse.Namespace, dice: random.Random) -> tuple[int, int]:
    """Compare ranges of one repository's main line."""
    graph = Graph(repository.parents())
    line = graph.first_parent_line(repository.peel(Oid("HEAD")) or Oid(""))
    lines, wrong = 0, 0
    for _ in range(given.ranges):
        at = dice.randrange(min(given.steps, len(line) - 1), len(line))
        bound, tip = line[max(0, at - given.steps)], line[at]
        pairs = [(graph.parents(it)[0], it) for it in graph.between(bound, tip) if graph.parents(it)]
        altered = {change.path for changed in repository.changed_paths(pairs).values() for change in changed}
        there = sorted(altered & repository.files(tip).keys())
        some = compared(repository, graph, bound, tip, dice.sample(there, min(given.files, len(there))))
        lines, wrong = lines + some[0], wrong + some[1]
    return lines, wrong


def main() -> None:
    """Compare, and print how many answers differ."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("repositories", nargs="+", type=Path)
    asked.add_argument("--ranges", type=int, default=5)
    asked.add_argument("--steps", type=int, default=300)
    asked.add_argument("--files", type=int, default=12)
    asked.add_argument("--seed", type=int, default=1)
    given = asked.parse_args()
    dice = random.Random(given.seed)  # noqa: S311 - no secret
    lines, wrong = 0, 0
    for path in given.repositories:
        some = drawn(Repository.at(path.resolve()), given, dice)
        lines, wrong = lines + some[0], wrong + some[1]
    print(f"{len(given.repositories)} histories, {lines:,} lines, {wrong} otherwise than git blame -w")


if __name__ == "__main__":
    main()
