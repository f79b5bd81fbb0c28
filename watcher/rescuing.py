"""Write a pinned commit to an archive that builds without its upstream, and try every day that this would work.

Nothing here needs the upstream where the mirror holds the commit whole; where it does not, the upstream is asked.
"""

import shutil
import tarfile
import tempfile
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from watcher.config import Settings
from watcher.downstreams import discover
from watcher.errors import GitError, UnobservedError, UsageError
from watcher.meant import meant
from watcher.model import Advertisement, Oid, Pin, RefKind, Unobserved, is_oid, oid
from watcher.observation import named_refs
from watcher.progress import Progress, quiet
from watcher.report.rescue import Rescued
from watcher.store import Store
from watcher.upstream import salvage
from watcher.upstream.history import open_graph
from watcher.upstream.mirror import Mirror
from watcher.upstream.standalone import checked, created, name, tried
from watcher.upstreams import advertisements, mirror_folder

_TRIAL = "drill-"
"""How the folders begin in which a rescue is tried; one process at a time has a state folder for its drill."""
_DIGITS = 12
_NAMED = 5
"""How many missing files a message names."""
_LARGEST = 64 * 1024
"""Bytes of an attributes file that is read."""
_WAIT, _GLANCE = 600.0, 1.0
"""Seconds that a person's rescue, and a drill, wait for whoever works on a mirror."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """One pinned commit, in the mirror that holds it."""

    pin: Pin
    commit: Oid
    mirror: Mirror
    refs: tuple[str, ...] = ()
    """Full ref names by which the pin calls it."""
    tags: Mapping[str, Oid] = field(default_factory=dict)
    """The tags on what it contains: builds ask `git describe` for their version."""
    silent: str = ""
    """Why the upstream cannot be asked; empty where it answers."""


# --- one pin ---------------------------------------------------------------------------------------------------------


def rescue(
    settings: Settings, store: Store, what: str, output: Path, *, now: datetime, progress: Progress = quiet
) -> tuple[Rescued, ...]:
    """Write an archive for each commit that a name means, and return what was written.

    Raises UsageError for a name that means nothing, UnobservedError where a commit is not held whole and upstream does
    not hand out what is missing.
    """
    wanted = meant(store, what, _pins(settings, store, now, progress))
    upstreams = dict.fromkeys(pin.upstream for pin in wanted if pin.upstream)
    seen = advertisements(settings, upstreams, {}, progress) if upstreams else {}
    kept = [_kept(settings, store, pin, seen.get(pin.upstream or "")) for pin in wanted]
    try:
        output.mkdir(parents=True, exist_ok=True)
        return tuple(_rescued(it, output) for it in _each_once(kept))
    except OSError as error:
        raise UsageError(f"{output}: the archive cannot be written: {error.strerror}; nothing is left of it") from error


def _pins(settings: Settings, store: Store, now: datetime, progress: Progress) -> tuple[Pin, ...]:
    """Return what is pinned: as it was read last, where a downstream cannot be read now."""
    before = store.readings()
    found = discover(settings, before, now=now, progress=progress)
    return (*found.pins, *(pin for name in sorted(found.unread & before.keys()) for pin in before[name].pins))


def _each_once(kept: Iterable[_Kept]) -> Iterable[_Kept]:
    """Return each commit of an upstream once, with all names that pins have for it."""
    found: dict[tuple[str | None, Oid], _Kept] = {}
    for it in kept:
        key = (it.pin.upstream, it.commit)
        refs = found[key].refs if key in found else ()
        found[key] = replace(it, refs=tuple(dict.fromkeys((*refs, *it.refs))))
    return found.values()


def _kept(settings: Settings, store: Store, pin: Pin, answer: Advertisement | Unobserved | None) -> _Kept:
    """Return the commit of a pin, held; what was seen last stands in for an upstream that is silent."""
    if pin.upstream is None or answer is None or pin.ref_kind is RefKind.UNRESOLVED:
        raise UsageError(f"{pin.place}: {pin.name}: the files do not say which repository, or which ref, it is")
    silent = answer.reason if isinstance(answer, Unobserved) else ""
    refs = store.snapshot(pin.upstream) if isinstance(answer, Unobserved) else answer
    if refs is None:
        raise UnobservedError(f"{pin.name} cannot be rescued: nothing of it is held here, and upstream says: {silent}")
    with salvage.alone(mirror_folder(settings, pin.upstream), seconds=_WAIT):
        mirror = _mirror(settings, pin.upstream, refs)
        if not silent:
            mirror.fetch(refs)
            if is_oid(written := str(pin.wanted).lower()):
                mirror.keep(oid(written))
        commit = _commit(pin, mirror, refs)
        if commit is None:
            said = silent or "upstream does not hand it out"
            raise UnobservedError(f"{pin.name} cannot be rescued: {_wanted(pin)} is not held here: {said}")
        has = open_graph(mirror).ancestors(commit)
    refs_of = () if is_oid(str(pin.wanted).lower()) else named_refs(refs, pin)
    tags = {ref.name: ref.commit for ref in refs.refs if ref.name.startswith("refs/tags/") and ref.commit in has}
    return _Kept(pin=pin, commit=commit, mirror=mirror, refs=refs_of, tags=tags, silent=silent)


def _wanted(pin: Pin) -> str:
    """Return what a pin asks for, in few words."""
    written = pin.wanted or "its branch"
    return written[:_DIGITS] if is_oid(written.lower()) else written


def _mirror(settings: Settings, upstream: str, refs: Advertisement) -> Mirror:
    return Mirror.open(
        mirror_folder(settings, upstream),
        settings.address(upstream),
        filters=refs.filters,
        object_format=refs.object_format,
        allowed=settings.allowed(settings.address(upstream)),
    )


def _commit(pin: Pin, mirror: Mirror, refs: Advertisement) -> Oid | None:
    """Return the commit that a pin's ref stands for, where the mirror holds it; nobody is asked."""
    written = str(pin.wanted).lower()
    if is_oid(written):
        return mirror.peel(oid(written))
    found = mirror.expand(written) if pin.ref_kind is RefKind.SHORT_SHA else ()
    names = named_refs(refs, pin)
    named = refs.tip(names[0]) if names else None
    return found[0] if len(found) == 1 else mirror.peel(named) if named else None


def _completed(it: _Kept) -> _Kept:
    """Bring what the commit lacks; raise UnobservedError that says what is missing where nobody has it."""
    try:
        it.mirror.complete(it.commit)
    except GitError as error:
        files = _listed(it)
        if not files:
            raise UnobservedError(
                f"{it.pin.name} at {it.commit[:_DIGITS]} is not whole: its files are missing; {it.silent or error}"
            ) from error
        lacking = set(it.mirror.lacking(it.commit))
        names = sorted(path for path, blob in files.items() if blob in lacking)
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        raise UnobservedError(
            f"{it.pin.name} at {it.commit[:_DIGITS]} is not whole: {len(names)} of {len(files)} files are missing:"
            f" {', '.join(names[:_NAMED])}{more}; {it.silent or error}"
        ) from error
    with suppress(GitError):  # the archive says what it has of older commits
        it.mirror.bring_past(it.commit)
    return it


def _listed(it: _Kept) -> Mapping[str, Oid]:
    """Return the files of a commit, as far as its trees are held."""
    try:
        return it.mirror.files(it.commit)
    except GitError:
        return {}


def _rescued(it: _Kept, output: Path) -> Rescued:
    with salvage.locked(it.mirror.directory, seconds=_WAIT):
        with salvage.noticed(it.mirror.directory):
            whole = _completed(it)
        return _written(whole, output)


def _written(it: _Kept, output: Path) -> Rescued:
    """Write the archive, read it back, check every object in it, and only then give it its name."""
    folder = f"{_plain(it.pin.name)}-{it.commit[:_DIGITS]}.git"
    archive = output / f"{folder.removesuffix('.git')}.tar"
    files, submodules = it.mirror.tree(it.commit)
    with tempfile.TemporaryDirectory(prefix=".rescue-", dir=output) as place:
        fresh, back = Path(place) / "fresh" / folder, Path(place) / "back"
        past = created(it.mirror, it.commit, fresh, ask=not it.silent)
        name(fresh, it.commit, {**it.tags, **dict.fromkeys(it.refs, it.commit)})
        _pack(fresh, Path(place) / archive.name)
        with tarfile.open(Path(place) / archive.name) as packed:
            packed.extractall(back, filter="data")
        tree = checked(back / folder, it.commit, past)
        salvage.settle(Path(place) / archive.name)
        (Path(place) / archive.name).replace(archive)
        salvage.settle(archive)
    return Rescued(
        name=it.pin.name,
        upstream=it.pin.upstream or "",
        commit=it.commit,
        tree=tree,
        archive=str(archive),
        folder=folder,
        size=archive.stat().st_size,
        past=past,
        refs=tuple(ref.removeprefix("refs/heads/").removeprefix("refs/tags/") for ref in it.refs),
        submodules=submodules,
        has_large_files=_has_large_files(it.mirror, files),
    )


def _pack(folder: Path, archive: Path) -> None:
    """Write a folder to an archive as root's, without times: the same commit gives the same bytes on this machine."""

    def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = "root"
        entry.mtime = 0
        entry.mode = 0o755 if entry.isdir() else 0o644
        return entry

    with tarfile.open(archive, "w") as packed:
        packed.add(folder, arcname=folder.name, filter=plain)


def _has_large_files(mirror: Mirror, files: Mapping[str, Oid]) -> bool:
    attributes = [blob for path, blob in files.items() if path.rpartition("/")[2] == ".gitattributes"]
    return any(b"filter=lfs" in text for text in mirror.read(attributes, largest=_LARGEST).values())


def _plain(name: str) -> str:
    """Return a name that is safe in a file name and in a shell."""
    return "".join(char if char.isascii() and (char.isalnum() or char in "._-") else "-" for char in name).lstrip(".-")


# --- every pin -------------------------------------------------------------------------------------------------------


def drill(
    settings: Settings,
    store: Store,
    *,
    now: datetime,
    seconds: float = 600.0,
    most: int = 2 * 2**30,
    progress: Progress = quiet,
) -> tuple[str, ...]:
    """Try to rescue every commit that is pinned now, and return one line for each that could not be.

    What is missing is fetched while upstream still answers. It ends after so many seconds, or bytes that were fetched;
    each day begins with another commit, so that in the end every one has its turn.
    """
    for abandoned in settings.state.glob(f"{_TRIAL}*"):  # of a drill that was killed
        shutil.rmtree(abandoned, ignore_errors=True)
    troubles: list[str] = []
    tried: set[tuple[str, Oid]] = set()
    deadline, left = time.monotonic() + seconds, most
    for pin, refs in _turned(_seen(store), now):
        if time.monotonic() > deadline or left < 0:
            break
        progress(f"trying {pin.name}", 0, 0)
        try:
            left -= _drilled_again(settings, pin, refs, tried)
        except (GitError, UnobservedError) as error:
            troubles.append(f"{pin.name} at {_wanted(pin)} could not be rescued today: {error}")
    return tuple(dict.fromkeys(troubles))


def _seen(store: Store) -> list[tuple[Pin, Advertisement]]:
    """Return what was pinned when the downstreams were read last, with what its upstream showed; each ref once."""
    found: dict[tuple[str | None, RefKind, str | None], tuple[Pin, Advertisement]] = {}
    for pin in (pin for reading in store.readings().values() for pin in reading.pins):
        if pin.upstream is None or pin.ref_kind is RefKind.UNRESOLVED:
            continue
        key = (pin.upstream, pin.ref_kind, pin.wanted)
        if key not in found and (refs := store.snapshot(pin.upstream)):
            found[key] = (pin, refs)
    return list(found.values())


def _drilled_again(settings: Settings, pin: Pin, refs: Advertisement, tried: set[tuple[str, Oid]]) -> int:
    """Try one pin, and once more where its mirror turned out to be damaged: it is built anew then."""
    try:
        return _drilled(settings, pin, refs, tried)
    except GitError as error:
        if not error.retryable or salvage.is_sound(mirror_folder(settings, pin.upstream or "")):
            raise
    tried.difference_update([it for it in tried if it[0] == pin.upstream])
    return _drilled(settings, pin, refs, tried)


def _drilled(settings: Settings, pin: Pin, refs: Advertisement, tried: set[tuple[str, Oid]]) -> int:
    """Try one pin, unless its commit was tried already; return by how many bytes its mirror grew."""
    upstream = pin.upstream or ""
    with salvage.alone(mirror_folder(settings, upstream), seconds=_GLANCE):
        mirror = _mirror(settings, upstream, refs)
        commit = _commit(pin, mirror, refs)
        before = 0 if commit and mirror.is_whole(commit) else mirror.size()
        commit = commit or _brought(pin, mirror, refs)
        if commit is None or (upstream, commit) in tried:
            return 0
        tried.add((upstream, commit))
        _try(_completed(_Kept(pin=pin, commit=commit, mirror=mirror)), settings.state)
        return mirror.size() - before if before else 0


def _brought(pin: Pin, mirror: Mirror, refs: Advertisement) -> Oid | None:
    """Bring again what the mirror has lost of a pin; return None where its ref means no commit, or several.

    Raises UnobservedError where upstream does not hand it out any more.
    """
    if not is_oid(written := str(pin.wanted).lower()):
        mirror.fetch(refs)
        return _commit(pin, mirror, refs)
    if not mirror.keep(oid(written)):
        raise UnobservedError("it is not held here, and upstream does not hand it out")
    return mirror.peel(oid(written))


def _try(it: _Kept, state: Path) -> None:
    """Copy a commit as a rescue would, check it, and throw it away."""
    with tempfile.TemporaryDirectory(prefix=_TRIAL, dir=state) as place:
        tried(it.mirror, it.commit, Path(place) / "tried.git")


def _turned(pins: list[tuple[Pin, Advertisement]], now: datetime) -> list[tuple[Pin, Advertisement]]:
    """Return what there is to try, each day from another one on."""
    start = now.toordinal() % len(pins) if pins else 0
    return pins[start:] + pins[:start]
