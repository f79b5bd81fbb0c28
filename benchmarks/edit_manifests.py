"""Bump every pin of real manifests, one at a time, and show that each diff is the ref alone.

`python benchmarks/edit_manifests.py FOLDER [OWNER/NAME | PATH …] [--diffs N]`: the folder holds bare repositories as
`OWNER+NAME/repo`; a path is a repository by itself, bare or a checkout. Their manifests are read at HEAD. Each pin is
bumped alone and held against the bytes: outside of the places that the edit names nothing differs. Then all are bumped
at once, and a discovery of the whole tree must find each at its new ref and all others as they were: the proof that
every writing of a bump asks for.
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha1
from pathlib import Path
from time import perf_counter

from watcher.editing import cloning, prepared, unified
from watcher.errors import EditError, GitError
from watcher.model import Oid, Pin
from watcher.pins import Checkout, discover, identify, is_claimed
from watcher.pins.checkout import decoded
from watcher.pins.edit import Edit, Target, edited
from watcher.upstream.repository import Repository

TAG = "v987.6.5"
NAMES = (
    *("radixark/miles", "THUDM/slime", "vllm-project/vllm", "volcengine/verl"),
    *("pytorch/executorch", "mudler/LocalAI", "jax-ml/jax"),
)
SHORTEST = 9
"""Digits that a short id needs, as the pretended upstream has it."""


@dataclass(slots=True)
class Tally:
    """What became of the bumps of one repository."""

    pins: int = 0
    bumps: int = 0
    edited: int = 0
    comments: int = 0
    checksums: int = 0
    warned: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    diffs: list[str] = field(default_factory=list)
    seconds: float = 0.0


def tree(directory: Path) -> tuple[Checkout, dict[str, bytes]]:
    """Read the manifests of a repository at its head, and the bytes of each."""
    repository = Repository.at(directory)
    advertisement = repository.advertisement()
    commit = advertisement.tip(advertisement.head or "") or advertisement.refs[0].commit
    paths = {path: blob for path, blob in repository.files(commit).items() if is_claimed(path)}
    contents = held(repository, tuple(paths.values()))
    data = {path: contents[blob] for path, blob in paths.items() if blob in contents}
    texts = {path: decoded(content) for path, content in data.items()}
    return Checkout(texts=texts, gitlinks=repository.gitlinks(commit)), data


def held(repository: Repository, blobs: tuple[Oid, ...]) -> dict[Oid, bytes]:
    """Read those contents that a snapshot holds: it may lack the largest."""
    try:
        return repository.read(blobs)
    except GitError:
        if len(blobs) == 1:
            return {}
        half = len(blobs) // 2
        return held(repository, blobs[:half]) | held(repository, blobs[half:])


def reason(error: EditError) -> str:
    """Return a refusal without what differs from pin to pin."""
    message = str(error)
    for words in (
        "is a submodule",
        "a tool writes",
        "is not in the files",
        "default branch",
        "more or less",
        "no commit fits",
        "by the same text",
    ):
        if words in message:
            return words
    if "is taken at" in message:
        return "text around a variable"
    return re.sub(r"\S*[:/@'0-9]\S*", "…", message)[:90]


def is_exact(before: bytes, it: Edit) -> bool:
    """Answer whether the named places, and they alone, make the new bytes of the old ones."""
    lines = before.split(b"\n")
    for one in sorted(it.replaced, key=lambda one: (one.line, one.column), reverse=True):
        line, at = lines[one.line - 1], one.column - 1
        old = one.old.encode()
        if line[at : at + len(old)] != old:
            return False
        lines[one.line - 1] = line[:at] + one.new.encode() + line[at + len(old) :]
    return b"\n".join(lines) == it.content


def targets(upstream: str) -> tuple[Target, Target]:
    """Return a commit of an upstream's own to move to, bare and with a tag: one for all would make strangers alike."""
    commit = Oid(sha1(upstream.encode(), usedforsecurity=False).hexdigest())
    return Target(commit=commit), Target(commit=commit, tag=TAG, branch="main")


def bump(tally: Tally, tree_: Checkout, content: bytes, pins: list[Pin], pin: Pin, target: Target) -> bool:
    """Bump one pin, and answer whether that can be done."""
    tally.bumps += 1
    try:
        edit = edited(content, pins, {pin.id: target}, is_unambiguous=is_long, elsewhere=cloning(tree_))
    except EditError as error:
        tally.refused[reason(error)] += 1
        if "changed since" in str(error):
            tally.wrong.append(str(error))
        return False
    tally.edited += 1
    tally.comments += sum(one.what == "comment" for one in edit.replaced)
    tally.checksums += sum(one.what == "checksum" for one in edit.replaced)
    tally.warned += bool(edit.warnings)
    tally.diffs.append(unified(pin.file, content, edit.content) + "".join(f"! {line}\n" for line in edit.warnings))
    if not is_exact(content, edit):
        tally.wrong.append(f"{pin.place}: bytes outside of the named places differ")
    return True


def prove(
    tally: Tally, checkout: Checkout, data: dict[str, bytes], pins: list[Pin], targets: dict[str, Target]
) -> None:
    """Bump many pins at once, with one discovery over the whole tree as the proof."""
    files = {pin.file for pin in pins if pin.id in targets}
    try:
        prepared(checkout, {file: data[file] for file in files}, pins, targets, is_unambiguous=is_long)
    except EditError as error:
        tally.wrong.append(str(error))


def is_long(_: Pin, digits: str) -> bool:
    """Answer whether a short id is long enough for the pretended upstream."""
    return len(digits) >= SHORTEST


def measured(directory: Path) -> Tally:
    """Bump every pin of one repository to each kind of target."""
    checkout, data = tree(directory)
    pins = list(identify(discover(checkout).pins))
    tally = Tally(pins=len(pins))
    started = perf_counter()
    beside = {file: [pin for pin in pins if pin.file == file] for file in data}
    for kind in range(2):
        to = {pin.id: targets(pin.upstream or pin.name)[kind] for pin in pins if pin.file in data}
        done = [
            pin
            for pin in pins
            if pin.id in to and bump(tally, checkout, data[pin.file], beside[pin.file], pin, to[pin.id])
        ]
        prove(tally, checkout, data, pins, {pin.id: to[pin.id] for pin in done})
    tally.seconds = perf_counter() - started
    return tally


def report(name: str, tally: Tally, shown: int) -> Iterator[str]:
    """Yield the figures of one repository, and some of its diffs."""
    yield (
        f"{name}: {tally.pins} pins, {tally.bumps} bumps, {tally.edited} edited exactly "
        f"({tally.comments} comments, {tally.checksums} checksums, {tally.warned} with a warning), "
        f"{sum(tally.refused.values())} refused, {tally.seconds:.1f} s"
    )
    yield from (f"    refused, {why}: {count}" for why, count in tally.refused.most_common())
    yield from (f"    WRONG {line}" for line in tally.wrong)
    step = max(1, len(tally.diffs) // shown) if shown else 0
    yield from tally.diffs[::step][:shown] if step else ()


def main() -> int:
    """Measure the named repositories, or those of the issue; answer 1 where a diff is not the ref alone."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--diffs", type=int, default=0, help="show so many diffs of each")
    given = parser.parse_args()
    is_wrong = False
    for name in given.names:
        directory = Path(name) if Path(name).is_dir() else given.folder / name.replace("/", "+") / "repo"
        if not directory.is_dir():
            print(f"{name}: not there, left out")
            continue
        tally = measured(directory)
        is_wrong |= bool(tally.wrong)
        print(*report(name, tally, given.diffs), sep="\n", flush=True)
    return int(is_wrong)


if __name__ == "__main__":
    sys.exit(main())
