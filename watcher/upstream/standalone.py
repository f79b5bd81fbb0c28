"""Make a bare repository that builds go on with when an upstream is gone, and say whether one is sound.

It has a commit, whole, under the same id. With the contents of all older commits too it is like any repository; with
their trees alone, what asks for no more than it needs (pip, `git clone --filter`) is served. A shallow one would be
smaller, but pip's clone of such a one never ends: git 2.39 asks for the missing parent again and again.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path

from watcher.errors import GitError
from watcher.model import Oid, oid
from watcher.upstream import salvage
from watcher.upstream.git import Git
from watcher.upstream.mirror import Mirror
from watcher.upstream.objects import Config

BRANCH = "refs/heads/rescued"
"""What a clone checks out that names no ref."""
_HOUR = 3600.0
_NAMES = ("--objects", "--no-object-names")


class Past(StrEnum):
    """What a repository has of the commits before the one that it is for."""

    WHOLE = "whole"
    TREES = "trees"
    """Which files they had, without most contents."""
    NAMES = "names"
    """Their messages alone."""


_TREES = (*_NAMES, "--filter=blob:none")
_OF_PAST: Mapping[Past, tuple[str, ...]] = {Past.WHOLE: _TREES, Past.TREES: _TREES, Past.NAMES: ()}
"""What is asked for of older commits."""


def created(mirror: Mirror, commit: Oid, folder: Path, *, ask: bool) -> Past:
    """Make the repository in a folder that is not there yet; return what it has of the older commits.

    Where the mirror lacks contents and `ask` allows it, the upstream is asked for the whole history.
    """
    _new(mirror, folder)
    if not _printed(mirror, *_NAMES, "--missing=print", commit, missing=True):
        _copy(mirror, folder, _printed(mirror, *_NAMES, commit))
        return Past.WHOLE
    if ask and _fetched(mirror, commit, folder):
        return Past.WHOLE
    whole = _printed(mirror, *_NAMES, "--no-walk", commit)
    try:
        past, history = Past.TREES, _printed(mirror, *_OF_PAST[Past.TREES], commit)
    except GitError:
        past, history = Past.NAMES, _printed(mirror, *_OF_PAST[Past.NAMES], commit)
    _copy(mirror, folder, dict.fromkeys((*history, *whole)))
    return past


def tried(mirror: Mirror, commit: Oid, folder: Path) -> None:
    """Make a repository of one commit alone and check every object of it; raise GitError where one is not sound."""
    _new(mirror, folder)
    _copy(mirror, folder, _printed(mirror, *_NAMES, "--no-walk", commit))
    _check_packs(folder)


def name(folder: Path, commit: Oid, refs: Mapping[str, Oid]) -> None:
    """Give a repository its refs (full name → commit), and let any commit be asked for by its id, as pins do."""
    git = Git(directory=folder)
    wanted = {**refs, BRANCH: commit}
    git.run("update-ref", "--stdin", stdin="".join(f"update {ref} {tip}\n" for ref, tip in wanted.items()).encode())
    git.run("pack-refs", "--all")
    git.run("symbolic-ref", "HEAD", BRANCH)
    git.run("config", "uploadpack.allowAnySHA1InWant", "true")
    git.run("config", "uploadpack.allowFilter", "true")


def checked(folder: Path, commit: Oid, past: Past) -> Oid:
    """Check every object of a repository, and that what it shall have is there; return the id of the commit's tree.

    Raises GitError for an object that is damaged or missing.
    """
    _check_packs(folder)
    git = Git(directory=folder)
    git.run("rev-list", "--quiet", "--objects", "--no-walk", commit)
    git.run("rev-list", "--quiet", *_OF_PAST[past], commit)
    return oid(git.run("rev-parse", "--verify", f"{commit}^{{tree}}").decode().strip())


def _new(mirror: Mirror, folder: Path) -> None:
    object_format = salvage.format_of(mirror.directory) or "sha1"
    Git().run("init", "-q", "--bare", "--template=", f"--object-format={object_format}", "--", str(folder))


def _fetched(mirror: Mirror, commit: Oid, folder: Path) -> bool:
    """Fetch the whole history of a commit from the upstream; return False where that cannot be had."""
    options = ("-q", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules")

    def fetch(remote: Config) -> None:
        # A pack even for few objects: only packs have one command that reads all that is in them.
        git = Git(directory=folder, config=(("fetch.unpackLimit", "1"), *remote), local=mirror.allowed.files)
        git.run("fetch", *options, "origin", commit, timeout=_HOUR)

    try:
        mirror.ask(fetch)
    except GitError:
        return False
    return True


def _printed(mirror: Mirror, *options: str, missing: bool = False) -> list[str]:
    """Return the ids that `git rev-list` prints; those of missing objects, or of the others."""
    printed = Git(directory=mirror.directory).run("rev-list", *options, timeout=_HOUR).decode().split()
    return [found for found in printed if found.startswith("?") == missing]


def _copy(mirror: Mirror, folder: Path, objects: Iterable[str]) -> None:
    """Write objects of the mirror to a pack of the repository."""
    target = folder / "objects" / "pack"
    target.mkdir(parents=True, exist_ok=True)
    stdin = "".join(f"{found}\n" for found in objects).encode()
    Git(directory=mirror.directory).run("pack-objects", "-q", str(target / "pack"), stdin=stdin, timeout=_HOUR)


def _check_packs(folder: Path) -> None:
    """Read every object, and compute its id anew."""
    for index in sorted((folder / "objects" / "pack").glob("*.idx")):
        Git(directory=folder).run("verify-pack", str(index), timeout=_HOUR)
