"""Make mirrors on disk, tell whether one is sound, and build a broken one anew without losing what it kept.

Several processes may have one mirror: it is made and built anew by one of them at a time, and looked at by one.
"""

import hashlib
import os
import re
import shutil
import tarfile
import tempfile
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from watcher.errors import GitError
from watcher.model import Advertisement, Oid, Ref, is_oid, oid
from watcher.upstream.git import Git
from watcher.upstream.guard import held

KEPT = "refs/watcher/kept/"
_PARTIAL = "tree:0"
_FILTERS = (_PARTIAL, "blob:none")
"""What a mirror may have been made without: older ones have all trees."""
_UNSOUND = "unsound"
_LOST = "lost"
RESCUED = "rescued"
"""The folder beside the mirrors where archives of `watcher rescue` are looked for."""
_DIGITS = 12
"""So many of a commit's id are in the name of its archive."""
_ABANDONED = 60.0
"""Seconds after which a lock is nobody's."""
_LOCK = re.compile(r"'([^'\n]*\.lock)': File exists")
_SUSPICIOUS = re.compile(
    r"corrupt|inflate|zlib|data (?:stream )?error|does not match|garbage|pack|bad object|loose object|index file"
    r"|unknown object type|mismatch|missing|could not|unable to read|cannot read|not a valid|invalid|walk",
    re.IGNORECASE,
)
"""What git says where its files are damaged, and sometimes where something else is wrong."""
_KEPT_NAME = re.compile(r"refs/watcher/kept/([0-9a-f]{64}|[0-9a-f]{40})\b")


@contextmanager
def alone(directory: Path, *, seconds: float = 600.0) -> Iterator[None]:
    """Have a mirror for oneself: between a fetch and the last question nobody else may move its refs.

    Raises a retryable GitError where somebody else has it for so many seconds, where it is damaged, or where the disk
    does not take or give something.
    """
    with noticed(directory), locked(directory, seconds=seconds):
        yield


@contextmanager
def locked(directory: Path, *, seconds: float) -> Iterator[None]:
    """Hold the lock of a mirror, as `alone` does, for more than what is done with the mirror itself."""
    with held(directory, wait=seconds) as is_mine:
        if not is_mine:
            raise GitError(f"{directory} is in use; try again later", retryable=True)
        yield


@contextmanager
def noticed(directory: Path) -> Iterator[None]:
    """Notice damage: where git fails in the block for files of the mirror, whoever opens it next builds it anew.

    The error is a retryable one then, and so is one of the disk.
    """
    try:
        yield
    except OSError as error:
        raise GitError(f"the mirror cannot be used: {error.strerror or error}", retryable=True) from error
    except GitError as error:
        if not (_SUSPICIOUS.search(error.said) and _is_damaged(directory)):
            raise
        note_unsound(directory, str(error))
        reason = f"{error}: the mirror is damaged, and built anew when it is opened next"
        raise GitError(reason, retryable=True, said=error.said) from error


def ensure(directory: Path, *, filters: bool, object_format: str) -> None:
    """Make sure that a sound mirror is there: create it, or rebuild a broken one."""
    with alone(directory):
        _ensure(directory, filters=filters, object_format=object_format)


def _ensure(directory: Path, *, filters: bool, object_format: str) -> None:
    broken = directory.with_name(f"{directory.name}.broken")
    if broken.exists() and not directory.exists():
        broken.rename(directory)  # A rebuild was interrupted between its two renames.
    if not directory.exists():
        _create(directory, filters=filters, object_format=object_format).rename(directory)
        return
    if (found := format_of(directory)) not in {object_format, None}:
        # Another repository under the old name. What was kept of the first one is not thrown away.
        directory.rename(_free(directory.with_name(f"{directory.name}.{found}")))
        _ensure(directory, filters=filters, object_format=object_format)
    elif not is_sound(directory):
        fresh = _create(directory, filters=filters, object_format=object_format)
        _salvage(directory, fresh, object_format)
        settle(fresh)
        shutil.rmtree(broken, ignore_errors=True)
        directory.rename(broken)
        fresh.rename(directory)
        settle(directory)
        shutil.rmtree(broken, ignore_errors=True)


def is_sound(directory: Path) -> bool:
    """Answer whether a mirror can be worked with: whole history, readable tips, nothing noted against it."""
    if (directory / _UNSOUND).exists() or (directory / "shallow").exists() or format_of(directory) is None:
        return False
    try:
        Git(directory=directory).run("rev-list", "--all", "--max-count=1", "--quiet")
    except GitError:
        return False
    return True


def _is_damaged(directory: Path) -> bool:
    """Read all objects of a mirror: is one of them not what its name says, or a pack without its index?"""
    if not directory.is_dir():
        return False
    for pack in (directory / "objects" / "pack").glob("*.pack"):
        try:
            Git(directory=directory).run("verify-pack", str(pack.with_suffix(".idx")), timeout=3600.0)
        except GitError:
            return True
    return not all(_is_whole(it, format_of(directory) or "sha1") for it in _loose(directory))


def note_unsound(directory: Path, reason: str) -> None:
    """Write down that a mirror turned out to be broken, so that the next one who opens it builds it anew."""
    (directory / _UNSOUND).write_text(f"{reason}\n", encoding="utf-8")


def unlocked(directory: Path, error: GitError) -> bool:
    """Remove the lock that git complains of, if it was left by a program that died; return whether there was one.

    The caller has the mirror for itself. A git whose parent was killed goes on, but has no lock for so long.
    """
    found = _LOCK.search(error.said)
    lock = Path(found[1]) if found else None
    if lock is None or not lock.is_relative_to(directory):
        return False
    try:
        is_left = time.time() - lock.lstat().st_mtime > _ABANDONED
        if is_left:
            lock.unlink()
    except OSError:
        return False
    return is_left


def restored(directory: Path, wanted: Oid) -> bool:
    """Bring a commit from an archive that `watcher rescue` wrote to the folder `rescued` beside the mirrors.

    Returns False where there is none, or none that is sound.
    """
    for archive in sorted((directory.parent.parent / RESCUED).glob(f"*-{wanted[:_DIGITS]}.tar")):
        with tempfile.TemporaryDirectory(prefix="slim-", dir=directory / "objects") as name:
            try:
                with tarfile.open(archive) as packed:
                    packed.extractall(name, filter="data")
                _index(directory, sorted(Path(name).glob("*.git/objects/pack/*.pack")))
                Git(directory=directory).run("rev-list", "--quiet", wanted)
            except (OSError, tarfile.TarError, GitError):
                continue
        return True
    return False


def lost(directory: Path) -> tuple[Oid, ...]:
    """Return the commits that a mirror kept before it was damaged and built anew, and that it has not got back."""
    try:
        noted = (directory / _LOST).read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return ()
    again = set(kept(directory))
    return tuple(oid(name) for name in noted if name not in again)


def is_partial(directory: Path) -> bool:
    """Answer whether a mirror was made without trees, or without contents."""
    config = _config(directory)
    return any(made_without in config for made_without in _FILTERS)


def format_of(directory: Path) -> str | None:
    """Return a mirror's object format, or None where its configuration is not ours."""
    config = _config(directory)
    if "[watcher]" not in config:
        return None
    return "sha256" if "sha256" in config else "sha1"


def kept(directory: Path) -> Iterator[Oid]:
    """Yield the ids of kept commits. Their names tell them, even where the files are damaged."""
    folder = directory / KEPT
    loose = [f"{KEPT}{file.name}" for file in folder.iterdir()] if folder.is_dir() else []
    packed = directory / "packed-refs"
    listed = packed.read_text(encoding="utf-8", errors="replace") if packed.is_file() else ""
    for found in sorted(set(_KEPT_NAME.findall("\n".join([listed, *loose])))):
        yield oid(found)


def shown_last(directory: Path) -> Advertisement | None:
    """Return the branches and tags that upstream showed when a mirror was last brought up to date; None for no answer.

    For those whose own memory of it was lost. What the mirror has not is which branch is the default one.
    """
    fields = "%(objectname) %(refname) %(*objectname)"
    try:
        printed = Git(directory=directory).run("for-each-ref", f"--format={fields}", "refs/heads/", "refs/tags/")
    except GitError:
        return None
    rows = (line.split(" ") for line in printed.decode(errors="replace").split("\n")[:-1])
    refs = tuple(Ref(name=name, oid=oid(tip), peeled=oid(peeled) if peeled else None) for tip, name, peeled in rows)
    return Advertisement(refs=refs, head=None, digest="") if refs else None


def held_last(directory: Path, shown: Advertisement) -> tuple[dict[Oid, tuple[Ref, ...]], datetime]:
    """Return which of the refs that upstream showed last held which kept commit, and when they were written."""
    git, refs = Git(directory=directory), {ref.name: ref for ref in shown.refs}
    found = {}
    for name in kept(directory):
        with suppress(GitError):  # no commit, or a damaged one
            named = git.run("for-each-ref", "--format=%(refname)", f"--contains={name}", "refs/heads/", "refs/tags/")
            found[name] = tuple(refs[it] for it in named.decode(errors="replace").split("\n") if it in refs)
    places = (directory / it for it in ("packed-refs", "refs/heads", "refs/tags"))
    at = max((it.stat().st_mtime for it in places if it.exists()), default=0.0)
    return found, datetime.fromtimestamp(at, UTC)


def _config(directory: Path) -> str:
    try:
        return (directory / "config").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _create(directory: Path, *, filters: bool, object_format: str) -> Path:
    """Make an empty mirror beside the place it shall have; the caller renames it, so nobody meets half of one."""
    fresh = Path(tempfile.mkdtemp(prefix=f".{directory.name}.", dir=directory.parent))
    Git().run("init", "-q", "--bare", "--template=", f"--object-format={object_format}", "--", str(fresh))
    # HEAD names nothing, so that no attributes of an upstream are read from it.
    (fresh / "HEAD").write_text("ref: refs/watcher/none\n", encoding="ascii")
    # The remote and its promise of missing blobs are told to fetches alone (see Mirror): where no question knows
    # them, no question can fetch one object at a time, and no address with a secret lies on disk.
    with (fresh / "config").open("a", encoding="ascii") as config:
        config.write(f"[gc]\n\tauto = 0\n[watcher]\n\tfilter = {_PARTIAL if filters else 'none'}\n")
    return fresh


def settle(folder: Path) -> None:
    """Wait until the disk has all files below a folder, and the names of all: only then may something else go."""
    for place in (*sorted(folder.rglob("*"), reverse=True), folder, folder.parent):
        if place.is_symlink():
            continue
        handle = os.open(place, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _salvage(broken: Path, fresh: Path, object_format: str) -> None:
    """Bring every object that can still be read, and every kept ref whose history is whole."""
    objects = fresh / "objects"
    git = Git(directory=fresh)
    _index(fresh, sorted((broken / "objects" / "pack").glob("*.pack")))
    for loose in _loose(broken):
        if _is_whole(loose, object_format):
            target = objects / loose.parent.name / loose.name
            target.parent.mkdir(exist_ok=True)
            shutil.copyfile(loose, target)
    missed = list(lost(broken))
    for name in kept(broken):
        try:
            if not git.answers("cat-file", "-e", name) or not _is_walked(git, name):
                _pick(broken, fresh, name)
            git.run("rev-list", "--quiet", name)
            git.run("update-ref", f"{KEPT}{name}", name)
        except GitError:
            missed.append(name)  # Whoever needs it asks for it again, and upstream may still hand it out.
    if missed:
        (fresh / _LOST).write_text("".join(f"{name}\n" for name in missed), encoding="ascii")


def _is_walked(git: Git, name: Oid) -> bool:
    """Answer whether the history of a commit is whole."""
    try:
        git.run("rev-list", "--quiet", name)
    except GitError:
        return False
    return True


def _pick(broken: Path, fresh: Path, name: Oid) -> None:
    """Bring one commit with its history out of packs that are damaged elsewhere; raise GitError where that fails."""
    git = Git(directory=fresh)
    borrowed = fresh / "objects" / "info" / "alternates"
    borrowed.parent.mkdir(parents=True, exist_ok=True)
    borrowed.write_text(f"{(broken / 'objects').absolute()}\n", encoding="utf-8")
    try:
        commits = git.run("rev-list", name)
        own = git.run("rev-list", "--objects", "--no-object-names", "--no-walk", "--missing=allow-any", name)
        packs = fresh / "objects" / "pack"
        packs.mkdir(exist_ok=True)
        # A mirror that promises nothing has no use for a commit without its files.
        for wanted in (commits + own, commits) if is_partial(fresh) else (commits + own,):
            try:
                made = git.run("pack-objects", "-q", str(packs / "pack"), stdin=wanted).decode().strip()
            except GitError:
                continue
            (packs / f"pack-{made}.promisor").touch()
            return
    finally:
        borrowed.unlink()


def _index(directory: Path, packs: Iterable[Path]) -> None:
    """Bring copies of packs into a mirror, those that are sound."""
    for pack in packs:
        copy = directory / "objects" / "pack" / pack.name
        copy.parent.mkdir(exist_ok=True)
        shutil.copyfile(pack, copy)
        try:
            Git(directory=directory).run("index-pack", "--promisor=salvaged", str(copy))
        except GitError:
            copy.unlink()


def _loose(directory: Path) -> list[Path]:
    """Return the objects that have files of their own."""
    found = (directory / "objects").glob("[0-9a-f][0-9a-f]/*")
    return sorted(it for it in found if is_oid(f"{it.parent.name}{it.name}"))


def _is_whole(loose: Path, object_format: str) -> bool:
    """Answer whether a loose object is what its name says."""
    try:
        content = zlib.decompress(loose.read_bytes())
    except (OSError, zlib.error):
        return False
    return hashlib.new(object_format, content).hexdigest() == f"{loose.parent.name}{loose.name}"


def _free(place: Path) -> Path:
    """Return the place, or the first numbered one beside it that is free."""
    number = 1
    while place.exists():
        number += 1
        place = place.with_name(f"{place.name.rstrip('0123456789')}{number}")
    return place
