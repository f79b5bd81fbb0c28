"""Look at every upstream that pins name, and judge each by itself, several at a time."""

import asyncio
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

import httpx

from watcher import findings
from watcher.assess import Assessment, assess
from watcher.config import Settings
from watcher.errors import GitError
from watcher.facts import VERSION, from_fact
from watcher.forges import Budget, connect
from watcher.judge.concerns import is_withheld
from watcher.judge.shipped import Scope
from watcher.materials import Facts
from watcher.model import Advertisement, Discussion, Hosted, Identity, Oid, Pin, Ref, RefKind, Unobserved
from watcher.observe import Memory, Pulls, observe
from watcher.opinions import Asking, Opinion, opinion
from watcher.progress import Progress, quiet
from watcher.store import Kept, Store
from watcher.upstream.mirror import Mirror, folder_name
from watcher.upstream.refs import Manner, poll, pull_refs, trust

_REQUESTS = 400
"""How many requests one pass may send to forges."""
_AT_ONCE = 4
"""How many mirrors are brought up to date at a time."""
_TRIES = 2
"""How often an upstream is asked again that moved on while we looked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What became of each upstream: judged, or not observed."""

    assessments: Mapping[str, Assessment] = field(default_factory=dict)
    unobserved: Mapping[str, Unobserved] = field(default_factory=dict)
    discussions: Mapping[str, Mapping[Oid, Discussion]] = field(default_factory=dict)
    """Upstream → landing → what its forge told now."""
    hosted: Mapping[str, Hosted] = field(default_factory=dict)
    """Upstream → what its forge told now of the repository as a whole."""
    replies: Mapping[str, Kept] = field(default_factory=dict)
    """Address → what a forge answered there, to be kept."""
    troubles: tuple[str, ...] = ()
    """Why forges were not asked everything."""

    def __contains__(self, upstream: object) -> bool:
        return upstream in self.assessments or upstream in self.unobserved


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """One upstream to look at: values only, so that it can be worked on by any thread."""

    upstream: str
    url: str
    is_local: bool
    pins: tuple[Pin, ...]
    folder: Path
    tracked: tuple[str, ...]
    scope: Scope
    memory: Memory
    facts: Facts
    opinion: Opinion
    dismissed: frozenset[Oid]
    """Landings that somebody said are no fix."""
    at: datetime


def look(settings: Settings, store: Store, pins: Iterable[Pin], *, now: datetime, progress: Progress = quiet) -> Looked:
    """Return the assessment of every upstream that could be observed, and the reason for each that could not."""
    is_any = any(forge.token for forge in settings.forges.values())
    with connect() if is_any else nullcontext() as http:
        asking = None if http is None else Asking(http=http, budget=Budget(left=_REQUESTS), now=now)
        return _looked(settings, {it.upstream: it for it in _tasks(settings, store, pins, asking, now)}, progress)


def _looked(settings: Settings, tasks: Mapping[str, _Task], progress: Progress) -> Looked:
    before = {name: task.memory.before for name, task in tasks.items() if task.memory.before}
    seen = advertisements(settings, tasks, before, progress)
    results: dict[str, Assessment | Unobserved] = {
        name: said for name, said in seen.items() if isinstance(said, Unobserved)
    }
    with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
        running = {pool.submit(_judge, tasks[name], said): name for name, said in seen.items() if _is_told(said)}
        for count, done in enumerate(as_completed(running)):
            progress(f"reading {running[done].rsplit('/', 1)[-1]}", count, len(running))
            results[running[done]] = done.result()
    return Looked(
        assessments={name: it for name in tasks if isinstance(it := results[name], Assessment)},
        unobserved={name: it for name in tasks if isinstance(it := results[name], Unobserved)},
        discussions={name: task.opinion.learned for name, task in tasks.items() if task.opinion.learned},
        hosted={name: told for name, task in tasks.items() if (told := task.opinion.hosted)},
        replies={new.address: new.kept for task in tasks.values() if (new := task.opinion.reply).is_new and new.kept},
        troubles=tuple(dict.fromkeys(task.opinion.trouble for task in tasks.values() if task.opinion.trouble)),
    )


def _is_told(said: Advertisement | Unobserved) -> bool:
    """Answer whether a server said something of a repository: its refs, or that there is none."""
    return isinstance(said, Advertisement) or said.missing


def advertisements(
    settings: Settings, upstreams: Iterable[str], before: Mapping[str, Advertisement], progress: Progress
) -> dict[str, Advertisement | Unobserved]:
    """Return what each upstream advertises now; where it moved to is told as people write it, rewrites undone."""
    addresses = {upstream: settings.address(upstream) for upstream in upstreams}
    finished: list[str] = []

    def done(upstream: str) -> None:
        finished.append(upstream)
        progress("asking upstreams", len(finished), len(addresses))

    progress("asking upstreams", 0, len(addresses))
    seen = asyncio.run(poll(addresses, Manner(local=settings.allows_files), before=before, done=done))
    return {upstream: _named(said, settings) for upstream, said in seen.items()}


def _named(said: Advertisement | Unobserved, settings: Settings) -> Advertisement | Unobserved:
    if isinstance(said, Unobserved) or said.moved_to is None:
        return said
    return replace(said, moved_to=settings.written(said.moved_to))


def mirror_folder(settings: Settings, upstream: str) -> Path:
    """Return where the mirror of an upstream lies."""
    return settings.state / "mirrors" / folder_name(upstream)


def _tasks(
    settings: Settings, store: Store, pins: Iterable[Pin], asking: Asking | None, now: datetime
) -> Iterable[_Task]:
    by_upstream: dict[str, list[Pin]] = {}
    for pin in pins:
        if pin.upstream is not None and pin.ref_kind is not RefKind.UNRESOLVED:
            by_upstream.setdefault(pin.upstream, []).append(pin)
    dismissed = findings.dismissed(store.dismissed())
    for upstream, mine in by_upstream.items():
        watched = settings.upstream(upstream)
        identity = store.identity(upstream)
        yield _Task(
            upstream=upstream,
            url=settings.address(upstream),
            is_local=settings.allows_files,
            pins=tuple(mine),
            folder=mirror_folder(settings, upstream),
            tracked=watched.track,
            scope=Scope(paths=watched.paths, variants=watched.variants),
            memory=_memory(store, upstream, identity),
            facts={landing: from_fact(landing, it) for landing, it in store.facts(upstream, "repair", VERSION).items()},
            opinion=opinion(settings, store, upstream, identity, asking),
            dismissed=dismissed.get(upstream, frozenset()),
            at=now,
        )


def _memory(store: Store, upstream: str, identity: Identity) -> Memory:
    """Read what earlier passes saw."""
    return Memory(
        before=store.snapshot(upstream),
        moves=store.moves(upstream),
        holdings=store.ledger(upstream),
        roots=identity.roots,
    )


def _judge(task: _Task, said: Advertisement | Unobserved) -> Assessment | Unobserved:
    """Ask the forge of one upstream, and judge it; of one that is missing, return what the forge says of that."""
    task.opinion.look()
    result = said if isinstance(said, Unobserved) else _assessed(task, said)
    return task.opinion.with_word(result) if isinstance(result, Unobserved) and result.missing else result


def _assessed(task: _Task, advertisement: Advertisement) -> Assessment | Unobserved:
    """Observe and judge one upstream; whatever git could not do makes it unobserved."""
    for _ in range(_TRIES):
        try:
            return _attempt(task, advertisement)
        except GitError as error:
            if not error.retryable:
                return Unobserved(upstream=task.upstream, reason=str(error))
            trouble = Unobserved(upstream=task.upstream, reason=str(error))
        again = asyncio.run(poll({task.upstream: task.url}, Manner(local=task.is_local)))[task.upstream]
        if isinstance(again, Unobserved):
            return again
        advertisement = again
    return trouble


def _attempt(task: _Task, advertisement: Advertisement) -> Assessment:
    mirror = Mirror.open(
        task.folder,
        task.url,
        filters=advertisement.filters,
        object_format=advertisement.object_format,
        local=task.is_local,
    )
    seen = observe(
        task.upstream,
        task.pins,
        mirror,
        advertisement,
        task.memory,
        pulls=_pulls(task.url, advertisement),
        tracked=task.tracked,
        at=task.at,
    )
    seen = task.opinion.told_of(seen)
    assessment = assess(
        seen,
        task.pins,
        mirror,
        task.facts,
        tracked=task.tracked,
        scope=task.scope,
        dismissed=task.dismissed,
        discussed=task.opinion.discussions,
    )
    reach = {name: task.opinion.with_fate(said) for name, said in assessment.reachability.items()}
    judged = replace(assessment, reachability=reach)
    return _without_offers(judged) if is_withheld(seen) else judged


def _without_offers(assessment: Assessment) -> Assessment:
    """Return the assessment of another repository than the one that was pinned: it says nothing of fixes."""
    judgement = replace(assessment.judgement, verdicts={})
    return replace(assessment, judgement=judgement, suggestions=(), single={})


def _pulls(url: str, advertisement: Advertisement) -> Pulls:
    """Return how to ask a server for its proposals; only http(s) servers of forges have any."""

    async def ask() -> tuple[Ref, ...] | Unobserved:
        async with httpx.AsyncClient(verify=trust()) as client:
            return await pull_refs(client, url, before=advertisement)

    return (lambda: asyncio.run(ask())) if url.startswith(("http://", "https://")) else tuple
