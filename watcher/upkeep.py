"""Keep the mirrors in order and in bounds: once a day, one after the other, never one that somebody works on.

What is kept for pins, of now and of before, is never dropped; everything else of a mirror can be had again.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from watcher.config import Settings
from watcher.errors import GitError
from watcher.model import Oid, Pin, is_oid
from watcher.observation import named_refs
from watcher.progress import Progress, quiet
from watcher.report.state import Held, State, size_text
from watcher.store import Store
from watcher.upstream import packing
from watcher.upstream.git import Git, checked_address
from watcher.upstream.guard import held
from watcher.upstream.mirror import Mirror
from watcher.upstreams import mirror_folder

_MOST_PACKS = 50
"""git's own measure of too many. Each costs every call of git some 40 µs, and putting them together costs seconds."""
_MOST_LOOSE = 5000
_AT_ONCE = 4
"""How many mirrors are measured at a time."""
_GLANCE = 1.0
"""Seconds to wait for a mirror in use; the next day is soon enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One mirror on disk."""

    directory: Path
    name: str
    """The upstream's address, `downstream` and an address, or the folder's name where nobody remembers whose it is."""
    upstream: str | None
    """Where it can be had again; None for a downstream's, and where that is not known."""
    is_pinned: bool
    """Whether the configuration and what was read of the downstreams still name it."""
    tips: tuple[Oid, ...] = ()
    """What pins stand for that name a branch or a tag."""

    def needed(self) -> tuple[Oid, ...]:
        """Return the commits that pins need; raise GitError where one that was kept cannot be read."""
        return (*packing.kept_commits(self.directory), *self._held())

    def _held(self) -> Iterator[Oid]:
        git = Git(directory=self.directory)
        return (tip for tip in dict.fromkeys(self.tips) if git.answers("cat-file", "-e", f"{tip}^{{commit}}"))


def places(settings: Settings, store: Store) -> tuple[Place, ...]:
    """Return every mirror in the state folder."""
    readings = store.readings()
    pins = [pin for reading in readings.values() for pin in reading.pins]
    # As long as some downstream was never read, nobody knows what is not pinned.
    is_known = set(settings.sources) <= readings.keys()
    used = {related for pin in pins if pin.upstream for related in settings.relatives_of(pin.upstream)}
    upstreams = {mirror_folder(settings, name).name: name for name in {*used, *store.handshakes()}}
    downstreams = {f"downstream {it.repository}" for it in settings.downstreams if it.repository}
    names = {mirror_folder(settings, name).name: name for name in downstreams} | upstreams
    tips = _tips(store, pins)
    return tuple(
        Place(
            directory=folder,
            name=names.get(folder.name, folder.name),
            upstream=upstreams.get(folder.name),
            is_pinned=not is_known or names.get(folder.name) in {*used, *downstreams},
            tips=tuple(tips.get(names.get(folder.name, ""), ())),
        )
        for folder in sorted((settings.state / "mirrors").glob("*.git"))
        if folder.is_dir()
    )


def _tips(store: Store, pins: Iterable[Pin]) -> Mapping[str, list[Oid]]:
    """Return upstream → the commits of branches and tags that pins name, as they were seen last."""
    by_upstream: dict[str, list[Pin]] = {}
    for pin in pins:
        if pin.upstream and not is_oid(str(pin.wanted).lower()):
            by_upstream.setdefault(pin.upstream, []).append(pin)
    seen = ((name, store.snapshot(name), some) for name, some in by_upstream.items())
    return {
        name: [tip for pin in some for ref in named_refs(refs, pin)[:1] if (tip := refs.tip(ref))]
        for name, refs, some in seen
        if refs
    }


# --- once a day ------------------------------------------------------------------------------------------------------


def upkeep(settings: Settings, store: Store, *, now: datetime, seconds: float = 600.0) -> tuple[str, ...]:
    """Put packs together where there are too many, keep to the cap, and return one line for each trouble.

    It begins nothing new after so many seconds, and puts off until the next day what is left.
    """
    deadline = time.monotonic() + seconds
    found = places(settings, store)
    for place in found:
        with held(place.directory, wait=0) as is_ours:
            if is_ours:
                packing.sweep(place.directory, now)
    troubles = [*_tidied(found, deadline), *_fitted(settings, found, deadline)]
    measured = {"bytes": packing.size(settings.state / "mirrors"), "count": len(found)}
    store.record_standings({"state mirrors": measured}, now)
    return tuple(troubles)


def _tidied(found: Iterable[Place], deadline: float) -> Iterator[str]:
    """Put packs together, worst first; yield a line for each mirror where that fails."""
    clutter = {place.directory: packing.clutter(place.directory) for place in found}
    many = [it for it, of in clutter.items() if of.packs > _MOST_PACKS or of.loose > _MOST_LOOSE]
    for directory in sorted(many, key=lambda it: clutter[it].packs + clutter[it].loose / 100, reverse=True):
        left = deadline - time.monotonic()
        if left < 0:
            return
        with held(directory, wait=_GLANCE) as is_ours:
            if is_ours:
                yield from _tried(directory, left)


def _tried(directory: Path, seconds: float) -> Iterator[str]:
    try:
        packing.tidy(directory, timeout=max(seconds, _GLANCE))
    except GitError as error:
        yield f"{directory} cannot be packed ({error}); see to its disk, or remove it where no pin needs it"


# --- the cap ---------------------------------------------------------------------------------------------------------


def _fitted(settings: Settings, found: Iterable[Place], deadline: float) -> Iterator[str]:
    """Drop what can be had again until the mirrors fit, largest first; yield a line where they cannot."""
    most = settings.mirrors.at_most
    if most is None:
        return
    sizes = {place.directory: packing.size(place.directory) for place in found}
    order = sorted(found, key=lambda place: sizes[place.directory], reverse=True)
    total = packing.size(settings.state / "mirrors")
    is_all = True
    for way, some in ((_dropped, [it for it in order if not it.is_pinned]), (_slimmed, order)):
        for place in some:
            if total <= most or time.monotonic() > deadline:
                break
            saved = _saved(way, settings, place)
            total, is_all = total - (saved or 0), is_all and saved is not None
    if total > most and is_all and time.monotonic() <= deadline:
        what = f"{settings.state / 'mirrors'} takes {size_text(total)}, more than mirrors.at_most of {size_text(most)}"
        yield f"{what}: nothing more can be dropped; raise it, or unpin what is no longer built"


def _saved(way: Callable[[Settings, Place], None], settings: Settings, place: Place) -> int | None:
    """Make a mirror smaller, and return by how many bytes; None where it is in use. A failure leaves it as it is."""
    with held(place.directory, wait=_GLANCE) as is_ours:
        if not is_ours:
            return None
        before = packing.size(place.directory)
        if before:
            with suppress(GitError):  # whoever looks at this mirror next says what is wrong with it
                way(settings, place)
        return before - packing.size(place.directory)


def _dropped(settings: Settings, place: Place) -> None:
    """Remove a mirror that nothing is pinned to, where upstream has everything that was kept of it."""
    kept = packing.kept_commits(place.directory)
    if not kept or (place.upstream and _is_had_again(settings, place.directory, place.upstream, kept)):
        packing.remove(place.directory)


def _is_had_again(settings: Settings, directory: Path, upstream: str, kept: tuple[Oid, ...]) -> bool:
    """Answer whether upstream's branches and tags hold all commits, and it hands them out."""
    mirror = Mirror(
        directory=directory,
        url=checked_address(settings.address(upstream), local=settings.allows_files),
        partial=False,
        allowed=settings.allowed(settings.address(upstream)),
    )
    return packing.is_published(directory, kept) and all(map(mirror.serves, kept))


def _slimmed(_settings: Settings, place: Place) -> None:
    packing.slim(place.directory, place.needed())


# --- how much there is -----------------------------------------------------------------------------------------------


def state_of(settings: Settings, store: Store, *, progress: Progress = quiet) -> State:
    """Return what the state folder takes, of each mirror with what is kept for pins."""
    found, seen = places(settings, store), store.activity()
    with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
        rows = []
        for number, (place, (size, kept)) in enumerate(zip(found, pool.map(_sizes, found), strict=True)):
            progress("measuring mirrors", number, len(found))
            last = seen[place.upstream][1] if place.upstream in seen else None
            rows.append(Held(name=place.name, size=size, kept=kept, is_pinned=place.is_pinned, seen=last))
    database = sum(it.stat().st_size for it in settings.state.glob(f"{store.path.name}*"))
    return State(folder=str(settings.state), mirrors=tuple(rows), database=database, at_most=settings.mirrors.at_most)


def _sizes(place: Place) -> tuple[int, int | None]:
    """Return the bytes of a mirror, and of what is kept for pins; None where that cannot be told."""
    try:
        return packing.size(place.directory), packing.size_of(place.directory, place.needed())
    except GitError:
        return packing.size(place.directory), None
