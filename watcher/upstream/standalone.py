"""Make a bare repository that builds go on with when an upstream is gone, and say whether one is sound.

It has a commit, whole, under the same id. With the contents of all older commits too it is like any repository; without
them it still has their names and trees, so that what asks for no more than it needs (pip, `git clone --filter`) is
served. A shallow one would be smaller, but pip's clone of such a one never ends: git 2.39 asks for the missing parent
again and again.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from watcher.errors import GitError
from watcher.model import Oid, oid
from watcher.upstream import salvage
from watcher.upstream.git import Git
from watcher.upstream.mirror import Mirror

BRANCH = "refs/heads/rescued"
"""What a clone checks out that names no ref."""
_HOUR = 3600.0
_NAMES = ("--objects", "--no-object-names")


def created(mirror: Mirror, commit: Oid, folder: Path, *, ask: bool) -> bool:
    """Make the repository in a folder that is not there yet; return whether all older contents are in it.

    Where the mirror lacks some and `ask` allows it, the upstream is asked for the whole history.
    """
    git = _new(mirror, folder)
    if not _printed(mirror, *_NAMES, "--missing=print", commit, missing=True):
        _copy(mirror, folder, _printed(mirror, *_NAMES, commit))
        return True
    if ask and _fetched(git, commit):
        return True
    history = _printed(mirror, *_NAMES, "--filter=blob:none", commit)
    _copy(mirror, folder, dict.fromkeys((*history, *_printed(mirror, *_NAMES, "--no-walk", commit))))
    return False


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


def checked(folder: Path, commit: Oid) -> Oid:
    """Check every object of a repository, and that the commit's are all there; return the id of its tree.

    Raises GitError for an object that is damaged or missing.
    """
    _check_packs(folder)
    git = Git(directory=folder)
    git.run("rev-list", "--quiet", "--objects", "--no-walk", commit)
    git.run("rev-list", "--quiet", "--objects", "--filter=blob:none", commit)
    return oid(git.run("rev-parse", "--verify", f"{commit}^{{tree}}").decode().strip())


def _new(mirror: Mirror, folder: Path) -> Git:
    object_format = salvage.format_of(mirror.directory) or "sha1"
    Git().run("init", "-q", "--bare", "--template=", f"--object-format={object_format}", "--", str(folder))
    # A pack even for few objects: only packs have one command that reads all that is in them.
    config = (("fetch.unpackLimit", "1"), ("remote.origin.url", mirror.url))
    return Git(directory=folder, config=config, local=mirror.local)


def _fetched(git: Git, commit: Oid) -> bool:
    """Fetch the whole history of a commit from the upstream; return False where that cannot be had."""
    options = ("-q", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules")
    try:
        git.run("fetch", *options, "origin", commit, timeout=_HOUR)
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
