"""Keep a mirror's files few: count them, put packs together, leave out what can be had again.

Every step adds before it removes: whoever is killed in the middle has lost nothing, and the next one needs no hand. The
caller holds the mirror (see `guard`).
"""

import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from watcher.model import Oid
from watcher.upstream import salvage
from watcher.upstream.git import Git
from watcher.upstream.objects import HOUR, lines

_LEFT = timedelta(hours=2)
"""So old is nothing that somebody still works on: no program of ours may run longer than an hour."""
_LEFTOVERS = (
    "*.lock",
    "packed-refs.new",
    "refs/**/*.lock",
    "objects/**/*.lock",
    "objects/**/tmp_*",
    "objects/pack/.tmp-*",
    "objects/pack/*.keep",  # a fetch's, until the refs of its pack are written; git packs no such pack again
    "objects/slim-*",
    "asked-*",
)
"""What git and we leave in a mirror when killed. A lock that was left makes every later call fail."""
_SPARING = (
    ("pack.threads", "1"),
    ("pack.windowMemory", "64m"),
    ("repack.writeBitmaps", "false"),
    ("core.fsync", "all"),
)
"""Nobody waits for it, nobody is served from it, and what it replaces is gone: a power cut must not take it."""
_LIST = ("rev-list", "--objects", "--no-object-names", "--missing=allow-any", "--stdin")
_WORTH = 0.9
"""What would leave more than this share of the objects is not worth the work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clutter:
    """How many files the objects of a mirror lie in."""

    packs: int
    loose: int
    """About how many objects have a file of their own."""


def clutter(directory: Path) -> Clutter:
    """Return in how many files objects lie; as git does, one of 256 folders is taken for all."""
    return Clutter(packs=len(_packs(directory)), loose=256 * len(_names(directory / "objects" / "17")))


def size(place: Path) -> int:
    """Return the bytes of the files below a folder; one that goes away meanwhile counts for nothing."""
    total = 0
    for file in place.rglob("*"):
        try:
            total += file.lstat().st_size if file.is_file() else 0
        except OSError:
            continue
    return total


def kept_commits(directory: Path) -> tuple[Oid, ...]:
    """Return the commits that a mirror keeps for pins, of now and of before; of a tag that it keeps, the commit."""
    asked = ("for-each-ref", "--format=%(objectname) %(*objectname)", salvage.KEPT)
    rows = Git(directory=directory).run(*asked).decode().splitlines()
    return tuple(dict.fromkeys(Oid(row.split()[-1]) for row in rows))


def is_published(directory: Path, commits: Iterable[Oid]) -> bool:
    """Answer whether branches and tags hold all commits, as upstream showed them last."""
    asked = ("rev-list", "--max-count=1", "--stdin", "--not", "--branches", "--tags")
    return not Git(directory=directory).run(*asked, stdin=lines(commits))


def size_of(directory: Path, needed: Iterable[Oid]) -> int:
    """Return the bytes that commits need, on disk: their own contents, and the trees of all before them."""
    asked = lines(_needs(Git(directory=directory), needed))
    printed = Git(directory=directory).run("cat-file", "--batch-check=%(objectsize:disk)", "--buffer", stdin=asked)
    return sum(int(row) for row in printed.split() if row.isdigit())


def sweep(directory: Path, now: datetime) -> None:
    """Remove what killed programs left in a mirror and beside it: locks, and files that were never finished."""
    found = [left for left in directory.parent.glob(f".{directory.name}.*") if left.is_dir()]  # the files are locks
    found += [left for pattern in _LEFTOVERS for left in directory.glob(pattern)]
    found += [part for part in (directory / "objects" / "pack").glob("pack-*") if not part.with_suffix(".idx").exists()]
    for left in found:
        if _is_old(left, now):
            _remove(left)


def tidy(directory: Path, *, timeout: float = HOUR) -> None:
    """Put all packs of a mirror together, its refs in one file, and its table of commits in one layer.

    Objects that no ref reaches stay: a branch that was forced left them behind, and its story is still asked for.
    """
    git = _packing(directory)
    with salvage.noticed(directory):
        git.run("pack-refs", "--all")
        # Not --geometric: git 2.39 forgets with it that upstream promised what is missing, or fails.
        git.run("repack", "-a", "-d", "--keep-unreachable", "-q", timeout=timeout)
        _tabulate(git)


def slim(directory: Path, needed: Iterable[Oid], *, timeout: float = HOUR) -> bool:
    """Leave of a mirror every commit of its refs, and what some commits need; return whether anything was left out.

    They need their own contents, and the trees of all before them: `standalone` makes repositories of these. A mirror
    with all contents stays as it is, as its server does not hand out parts.
    """
    git = _packing(directory)
    if not salvage.is_partial(directory):
        return False
    before = _packs(directory)  # what comes later stays
    wanted = dict.fromkeys([*_commits(git), *_needs(git, needed)])
    if len(wanted) > _WORTH * _packed(git):
        return False
    objects = directory / "objects"
    with salvage.noticed(directory), tempfile.TemporaryDirectory(prefix="slim-", dir=objects) as place:
        git.run("pack-objects", "-q", str(Path(place) / "pack"), stdin=lines(wanted), timeout=timeout)
        made = _adopted(Path(place), objects / "pack", git, timeout)
    _tabulate(git)  # before anything goes: it must not name commits that are not there
    for pack in before - made:
        _drop(objects / "pack", pack)
    return True


def remove(directory: Path) -> None:
    """Remove a whole mirror. It goes under another name first, so nobody meets half of one."""
    place = Path(tempfile.mkdtemp(prefix=f".{directory.name}.", dir=directory.parent))
    directory.rename(place / directory.name)
    shutil.rmtree(place)


def _packing(directory: Path) -> Git:
    """Return git for packing: it must know that something is missing on purpose, but not where to fetch it from."""
    promise = (("remote.origin.promisor", "true"),) if salvage.is_partial(directory) else ()
    return Git(directory=directory, config=(*_SPARING, *promise))


def _tabulate(git: Git) -> None:
    git.run("commit-graph", "write", "--reachable", "--split=replace", "--no-progress")


def _commits(git: Git) -> list[str]:
    """Return all commits and tags that refs reach."""
    return git.run(*_LIST, "--filter=tree:0", "--all", stdin=b"").decode().split()


def _needs(git: Git, commits: Iterable[Oid]) -> list[str]:
    """Return the objects that commits need, as far as they are there."""
    asked = lines(commits)
    if not asked:
        return []
    past = git.run(*_LIST, "--filter=blob:none", stdin=asked).decode().split()
    return [*past, *git.run(*_LIST, "--no-walk", stdin=asked).decode().split()]


def _packed(git: Git) -> int:
    """Return how many objects are in packs; one that is in two counts twice."""
    rows = (row.split(": ") for row in git.run("count-objects", "-v").decode().splitlines())
    return next(int(number) for name, number in rows if name == "in-pack")


def _packs(directory: Path) -> set[str]:
    names = _names(directory / "objects" / "pack")
    return {name.removesuffix(".pack") for name in names if name.endswith(".pack")}


def _names(folder: Path) -> list[str]:
    """Return the names in a folder; none where it is not there. Asked of every mirror after every check."""
    try:
        return [it.name for it in folder.iterdir()]
    except FileNotFoundError:
        return []


def _adopted(made: Path, packs: Path, git: Git, timeout: float) -> set[str]:
    """Check new packs, and put them among the others; the index comes last, as git looks for it. Return their names."""
    names = {index.stem for index in made.glob("*.idx")}
    for name in names:
        git.run("verify-pack", str(made / f"{name}.idx"), timeout=timeout)
        (made / f"{name}.promisor").touch()
        for suffix in (".pack", ".promisor", ".idx"):
            (made / f"{name}{suffix}").replace(packs / f"{name}{suffix}")
    salvage.settle(packs)
    return names


def _drop(packs: Path, name: str) -> None:
    """Remove a pack; the index goes first, as no git takes a pack without one. `sweep` finds what is left of it."""
    for part in sorted(packs.glob(f"{name}.*"), key=lambda it: it.suffix != ".idx"):
        part.unlink(missing_ok=True)


def _is_old(place: Path, now: datetime) -> bool:
    try:
        return place.lstat().st_mtime < (now - _LEFT).timestamp()
    except OSError:
        return False


def _remove(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place, ignore_errors=True)
    else:
        place.unlink(missing_ok=True)
