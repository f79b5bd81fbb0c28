"""Look at every upstream that pins name, and conclude what is to be told of each, several at a time.

An upstream that says what it said before, pinned as before, costs one request: what was concluded then still holds.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from watcher import address, findings
from watcher.conclusion import Conclusion, Dependency, Report, Said, Sighting, conclusion_of
from watcher.config import Settings
from watcher.facts import DISCUSSED, VERSION, from_fact
from watcher.model import Advertisement, Handshake, Hosted, Identity, Pin, RefKind, Same, Unobserved
from watcher.opinions import Asking, accepted_id, background
from watcher.progress import Progress, quiet
from watcher.store import Kept, Store
from watcher.upstream.refs import Manner
from watcher.workers import AT_ONCE, Poll, news_here, workers

if TYPE_CHECKING:
    from watcher.assess import Assessment
    from watcher.examine import Task
    from watcher.observe import Memory

_REQUESTS = 400
"""How many requests one pass may send to forges."""
_SELDOM = timedelta(hours=1)
"""How long a forge is not asked about an upstream whose refs are as before: it could only tell that it was renamed,
archived or hidden, and an hour later will do."""
_Made = TypeVar("_Made")


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What became of each upstream: concluded, or not observed."""

    conclusions: Mapping[str, Conclusion] = field(default_factory=dict)
    unobserved: Mapping[str, Unobserved] = field(default_factory=dict)
    sightings: Mapping[str, Sighting] = field(default_factory=dict)
    """Of those upstreams that were judged now."""
    inputs: Mapping[str, str] = field(default_factory=dict)
    """Upstream → what its conclusion follows from, beside its refs."""
    hosted: Mapping[str, Hosted] = field(default_factory=dict)
    """Upstream → what its forge told now of the repository as a whole."""
    replies: Mapping[str, Kept] = field(default_factory=dict)
    """Address → what a forge answered there, to be kept."""
    troubles: tuple[str, ...] = ()
    """Why forges were not asked everything, or the work was not done as configured."""

    def __contains__(self, upstream: object) -> bool:
        return upstream in self.conclusions or upstream in self.unobserved


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """Everything that was judged of each upstream that could be observed, for those who ask for the whole argument."""

    assessments: "Mapping[str, Assessment]"
    unobserved: Mapping[str, Unobserved]


def look(
    settings: Settings,
    store: Store,
    pins: Iterable[Pin],
    dependencies: Iterable[Dependency],
    *,
    now: datetime,
    progress: Progress = quiet,
) -> Looked:
    """Return the conclusion about every upstream that could be observed, and the reason for each that could not."""
    with _asking(settings, now) as asking:
        plan = _Plan(settings, store, pins, dependencies, asking, now)
        if not plan.pins:
            return Looked()
        with workers(settings, asking) as crew:
            said = _changes(settings, plan.pins, plan.handshakes, progress, crew.news)
            kept = {name: last for name, it in said.items() if isinstance(it, Same) and (last := plan.settled(name))}
            tasks = {name: plan.task(name) for name, it in said.items() if name not in kept and _is_told(it)}
            reports = _worked(tasks, said, crew.submit, progress)
    return _looked(plan, said, kept, reports, crew.troubles)


def examined(
    settings: Settings, store: Store, pins: Iterable[Pin], *, now: datetime, progress: Progress = quiet
) -> Examined:
    """Judge every upstream of pins anew, and return all of it; nothing is recorded."""
    from watcher.assess import Assessment  # noqa: PLC0415 - the judges are large, and most passes judge nothing anew
    from watcher.examine import examine  # noqa: PLC0415 - likewise

    with _asking(settings, now) as asking:
        plan = _Plan(settings, store, pins, (), asking, now)
        said = _changes(settings, plan.pins, plan.handshakes, progress, news_here)
        tasks = {name: plan.task(name) for name, it in said.items() if _is_told(it)}
        with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
            results = _worked(tasks, said, lambda task, it: pool.submit(examine, task, it, asking), progress)
    everything = {name: results.get(name, it) for name, it in said.items()}
    return Examined(
        assessments={name: it for name, it in everything.items() if isinstance(it, Assessment)},
        unobserved={name: it for name, it in everything.items() if isinstance(it, Unobserved)},
    )


def advertisements(
    settings: Settings, upstreams: Iterable[str], before: Mapping[str, Advertisement], progress: Progress
) -> dict[str, Advertisement | Unobserved]:
    """Return what each upstream advertises now; where it moved to is told as people write it, rewrites undone."""
    known = {upstream: it.handshake for upstream, it in before.items()}
    seen = _changes(settings, upstreams, known, progress, news_here)
    return {
        upstream: replace(before[upstream], pulls=()) if isinstance(it, Same) else it for upstream, it in seen.items()
    }


def forge_look(upstream: str) -> str:
    """Return under which subject the store remembers when a forge last told of an upstream."""
    return f"forge {upstream}"


def mirror_folder(settings: Settings, upstream: str) -> Path:
    """Return where the mirror of an upstream lies."""
    return settings.state / "mirrors" / address.folder_name(upstream)


# --- what there is to do ---------------------------------------------------------------------------------------------


class _Plan:
    """What one pass needs to know of each upstream, read from the store when it is needed."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        pins: Iterable[Pin],
        dependencies: Iterable[Dependency],
        asking: Asking | None,
        now: datetime,
    ) -> None:
        self._settings, self._store, self._asking, self._now = settings, store, asking, now
        self.pins: dict[str, list[Pin]] = {}
        for pin in pins:
            if pin.upstream is not None and pin.ref_kind is not RefKind.UNRESOLVED:
                self.pins.setdefault(pin.upstream, []).append(pin)
        self._dependencies: dict[str, list[Dependency]] = {}
        for dependency in dependencies:
            if dependency.upstream is not None:
                self._dependencies.setdefault(dependency.upstream, []).append(dependency)
        self._dismissed = findings.dismissed(store.dismissed())
        self._version = version("watcher")
        self.handshakes = store.handshakes()
        self._identities = store.identities()
        self._looks = {} if asking is None else store.looks()

    def settled(self, upstream: str) -> Conclusion | None:
        """Return what followed last time from the same pins and settings, where nobody else has to be asked."""
        last = None if self._is_to_be_asked(upstream) else self._last(upstream)
        return last if last and last.is_settled else None

    def task(self, upstream: str) -> "Task":
        """Return what is to be done about an upstream."""
        from watcher.examine import Task  # noqa: PLC0415 - the judges are large, and most passes judge nothing anew
        from watcher.judge.shipped import Scope  # noqa: PLC0415 - likewise

        watched = self._settings.upstream(upstream)
        identity = self._identity(upstream)
        repairs = self._store.facts(upstream, "repair", VERSION)
        last = self._last(upstream)
        return Task(
            upstream=upstream,
            url=self._settings.address(upstream),
            allowed=self._settings.allowed(self._settings.address(upstream)),
            pins=tuple(self.pins[upstream]),
            dependencies=tuple(self._dependencies.get(upstream, ())),
            folder=mirror_folder(self._settings, upstream),
            tracked=watched.track,
            scope=Scope(paths=watched.paths, variants=watched.variants),
            memory=self._memory(upstream, identity),
            facts={landing: from_fact(landing, it) for landing, it in repairs.items()},
            background=background(self._settings, self._store, upstream, identity, self._asking),
            dismissed=self._dismissed.get(upstream, frozenset()),
            at=self._now,
            last=last if last and last.is_settled else None,
        )

    def inputs(self, upstream: str, hosted: Hosted | None, accepted: str | None) -> str:
        """Return a digest of all that a conclusion follows from, beside the refs.

        `hosted` is what the forge says of the repository, `accepted` the id of another one of which somebody took note.
        """
        watched = self._settings.upstream(upstream)
        parts = (
            self._version,
            VERSION,
            DISCUSSED,
            self.pins[upstream],
            self._dependencies.get(upstream),
            watched,
            sorted(self._dismissed.get(upstream, ())),
            self._place(upstream),
            hosted,
            accepted,
        )
        return hashlib.sha256(repr(parts).encode("utf-8", "surrogateescape")).hexdigest()

    def hosted(self, upstream: str) -> Hosted | None:
        """Return what the forge said last of a repository."""
        return self._identity(upstream).hosted

    def _identity(self, upstream: str) -> Identity:
        return self._identities.get(upstream) or Identity()

    def _is_to_be_asked(self, upstream: str) -> bool:
        """Answer whether a forge is asked about an upstream, and was not lately."""
        if self._asking is None or self._place(upstream) is None:
            return False
        last = self._looks.get(forge_look(upstream))
        return last is None or not timedelta() <= self._now - last.at < _SELDOM

    def _place(self, upstream: str) -> str | None:
        """Return which forge is asked about an upstream: only with a token."""
        place = self._settings.forge(upstream)
        return place.api if place is not None and place.token is not None else None

    def _last(self, upstream: str) -> Conclusion | None:
        if not mirror_folder(self._settings, upstream).exists():
            return None  # Else the pinned commits would not be kept.
        identity = self._identity(upstream)
        accepted = accepted_id(self._store, upstream, identity)
        text = self._store.conclusion(upstream, self.inputs(upstream, identity.hosted, accepted))
        try:
            return None if text is None else conclusion_of(text)
        except ValueError:
            return None  # Written by another version: it is judged anew.

    def _memory(self, upstream: str, identity: Identity) -> "Memory":
        """Read what earlier passes saw."""
        from watcher.observe import Memory  # noqa: PLC0415 - the judges are large, and most passes judge nothing anew

        return Memory(
            before=self._store.snapshot(upstream) or self._reminded(upstream),
            moves=self._store.moves(upstream),
            holdings=self._store.ledger(upstream),
            roots=identity.roots,
        )

    def _reminded(self, upstream: str) -> Advertisement | None:
        """Return what an upstream showed last, of its mirror, which remembers for a database that was lost.

        The refs that held pinned commits then are written down anew.
        """
        from watcher.upstream.salvage import held_last, shown_last  # noqa: PLC0415 - most passes judge nothing anew

        folder = mirror_folder(self._settings, upstream)
        shown = shown_last(folder) if folder.exists() else None
        if shown:
            holders, at = held_last(folder, shown)
            for commit, refs in holders.items():
                self._store.record_holdings(upstream, commit, refs, min(at, self._now))
        return shown


@contextmanager
def _asking(settings: Settings, now: datetime) -> Iterator[Asking | None]:
    """Offer a way to ask forges, where there is a token for any."""
    if not any(forge.token for forge in settings.forges.values()):
        yield None
        return
    from watcher.forges import Budget, connect  # noqa: PLC0415 - large, and needed only where a forge is asked

    with connect() as http:
        yield Asking(http=http, budget=Budget(left=_REQUESTS), now=now)


# --- doing it --------------------------------------------------------------------------------------------------------


def _changes(
    settings: Settings, upstreams: Iterable[str], known: Mapping[str, Handshake], progress: Progress, poll: Poll
) -> dict[str, Said]:
    """Return what each upstream says; where that is what is `known` of it already, nothing of it is read again."""
    addresses = {upstream: settings.address(upstream) for upstream in upstreams}
    finished: list[str] = []

    def done(upstream: str) -> None:
        finished.append(upstream)
        progress("asking upstreams", len(finished), len(addresses))

    progress("asking upstreams", 0, len(addresses))
    manner = Manner(local=settings.allows_files, named=settings.named_hosts)
    seen = poll(addresses, known, manner, done)
    return {upstream: _named(said, settings) for upstream, said in seen.items()}


def _worked(
    tasks: "Mapping[str, Task]",
    said: Mapping[str, Said],
    submit: "Callable[[Task, Said], Future[_Made]]",
    progress: Progress,
) -> dict[str, _Made]:
    """Return what came of each task, several worked at a time."""
    results: dict[str, _Made] = {}
    running = {submit(task, said[name]): name for name, task in tasks.items()}
    for count, done in enumerate(as_completed(running)):
        progress(f"reading {running[done].rsplit('/', 1)[-1]}", count, len(running))
        results[running[done]] = done.result()
    return results


def _looked(
    plan: _Plan,
    said: Mapping[str, Said],
    kept: Mapping[str, Conclusion],
    reports: Mapping[str, Report],
    troubles: tuple[str, ...],
) -> Looked:
    """Put what came of each upstream together, in their order."""
    conclusions = dict(kept) | {name: it.conclusion for name, it in reports.items() if it.conclusion}
    silent = {name: it for name, it in said.items() if isinstance(it, Unobserved)}
    silent |= {name: it.failure for name, it in reports.items() if it.failure}
    judged = {name: it for name, it in reports.items() if it.sighting}
    return Looked(
        conclusions={name: conclusions[name] for name in said if name in conclusions},
        unobserved={name: silent[name] for name in said if name in silent},
        sightings={name: it.sighting for name, it in judged.items() if it.sighting},
        inputs={name: plan.inputs(name, it.hosted or plan.hosted(name), it.accepted_id) for name, it in judged.items()},
        hosted={name: it.hosted for name, it in reports.items() if it.hosted},
        replies=dict(it.reply for it in reports.values() if it.reply),
        troubles=tuple(dict.fromkeys((*troubles, *(it.trouble for it in reports.values() if it.trouble)))),
    )


def _is_told(said: Said) -> bool:
    """Answer whether a server said something of a repository: its refs, or that there is none."""
    return not isinstance(said, Unobserved) or said.missing


def _named(said: Said, settings: Settings) -> Said:
    if not isinstance(said, Advertisement) or said.moved_to is None:
        return said
    return replace(said, moved_to=settings.written(said.moved_to))
