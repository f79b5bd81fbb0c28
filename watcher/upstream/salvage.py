"""Make mirrors on disk, tell whether one is sound, and build a broken one anew without losing what it kept.

Several processes may have one mirror: it is made and built anew by one of them at a time, and looked at by one.
"""

import hashlib
import re
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from watcher.errors import GitError
from watcher.model import Oid, oid
from watcher.upstream.git import Git
from watcher.upstream.guard import held

KEPT = "refs/watcher/kept/"
_PARTIAL = "tree:0"
_FILTERS = (_PARTIAL, "blob:none")
"""What a mirror may have been made without: older ones have all trees."""
_UNSOUND = "unsound"
_KEPT_NAME = re.compile(r"refs/watcher/kept/([0-9a-f]{64}|[0-9a-f]{40})\b")


@contextmanager
def alone(directory: Path, *, seconds: float = 600.0) -> Iterator[None]:
    """Have a mirror for oneself: between a fetch and the last question nobody else may move its refs.

    Raises a retryable GitError where somebody else has it for so many seconds.
    """
    with held(directory, wait=seconds) as is_mine:
        if not is_mine:
            raise GitError(f"somebody else worked on the mirror for {seconds:g} s", retryable=True)
        yield


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
        shutil.rmtree(broken, ignore_errors=True)
        directory.rename(broken)
        fresh.rename(directory)
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


def note_unsound(directory: Path, reason: str) -> None:
    """Write down that a mirror turned out to be broken, so that the next one who opens it builds it anew."""
    (directory / _UNSOUND).write_text(f"{reason}\n", encoding="utf-8")


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


def _salvage(broken: Path, fresh: Path, object_format: str) -> None:
    """Bring every object that can still be read, and every kept ref whose history is whole."""
    objects = fresh / "objects"
    git = Git(directory=fresh)
    for pack in sorted((broken / "objects" / "pack").glob("*.pack")):
        copy = objects / "pack" / pack.name
        copy.parent.mkdir(exist_ok=True)
        shutil.copyfile(pack, copy)
        try:
            git.run("index-pack", "--promisor=salvaged", str(copy))
        except GitError:
            copy.unlink()
    for loose in sorted((broken / "objects").glob("[0-9a-f][0-9a-f]/*")):
        if _is_whole(loose, object_format):
            target = objects / loose.parent.name / loose.name
            target.parent.mkdir(exist_ok=True)
            shutil.copyfile(loose, target)
    for name in kept(broken):
        try:
            git.run("rev-list", "--quiet", name)
            git.run("update-ref", f"{KEPT}{name}", name)
        except GitError:
            continue  # Whoever needs it asks for it again, and upstream may still hand it out.


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
