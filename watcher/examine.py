"""Look at one upstream that moved, or whose pins did, and judge it: what any worker can do, given values alone."""

import asyncio
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from watcher.address import Allowed
from watcher.assess import Assessment, assess
from watcher.conclude import conclude, sighting
from watcher.conclusion import Conclusion, Dependency, Report, Said
from watcher.errors import GitError
from watcher.judge.concerns import is_withheld
from watcher.judge.shipped import Scope
from watcher.materials import Facts
from watcher.model import Advertisement, Oid, Pin, Same, Unobserved
from watcher.observe import Memory, Pulls, observe
from watcher.opinions import Asking, Background, Opinion, opinion
from watcher.upstream import salvage
from watcher.upstream.mirror import Mirror
from watcher.upstream.refs import Manner, poll, pull_refs

_TRIES = 2
"""How often an upstream is asked again that moved on while we looked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One upstream to look at."""

    upstream: str
    url: str
    allowed: Allowed
    pins: tuple[Pin, ...]
    dependencies: tuple[Dependency, ...]
    """Those whose variants all come from here."""
    folder: Path
    tracked: tuple[str, ...]
    scope: Scope
    memory: Memory
    facts: Facts
    background: Background
    dismissed: frozenset[Oid]
    """Landings that somebody said are no fix."""
    at: datetime
    last: Conclusion | None = None
    """What followed last time from the same pins and settings."""


def report(task: Task, said: Said, asking: Asking | None) -> Report:
    """Look at an upstream that gave an answer, and return what came of it."""
    asked = opinion(task.background, asking)
    asked.look()
    if isinstance(said, Same) and task.last is not None and asked.hosted in {None, task.background.identity.hosted}:
        return replace(_heard(asked), conclusion=task.last)
    result = _examined(task, _told(task, said), asked)
    if isinstance(result, Unobserved):
        return replace(_heard(asked), failure=asked.with_word(result) if result.missing else result)
    concluded = conclude(result, task.pins, task.dependencies, is_open=asked.is_open)
    seen = sighting(result, concluded, task.pins, task.facts, asked.learned)
    return replace(_heard(asked), conclusion=concluded, sighting=seen)


def examine(task: Task, said: Said, asking: Asking | None) -> Assessment | Unobserved:
    """Look at an upstream, and return everything that was judged of it, or why nothing could be."""
    asked = opinion(task.background, asking)
    asked.look()
    result = _examined(task, _told(task, said), asked)
    return asked.with_word(result) if isinstance(result, Unobserved) and result.missing else result


def _told(task: Task, said: Said) -> Advertisement | Unobserved:
    """Return what a server said, in full; what it said again is remembered.

    An empty repository is one that is missing: what is pinned was in another, and a server that lost a disk has such.
    """
    if isinstance(said, Advertisement) and not said.refs:
        return Unobserved(upstream=task.upstream, reason="the repository has neither a branch nor a tag", missing=True)
    if not isinstance(said, Same):
        return said
    if task.memory.before is None:
        raise AssertionError("unreachable: only what is remembered is the same again")
    return replace(task.memory.before, pulls=())


def _heard(asked: Opinion) -> Report:
    """Return what came of asking the forge."""
    new = asked.reply if asked.reply.is_new and asked.reply.kept else None
    return Report(
        hosted=asked.hosted,
        accepted_id=asked.before.accepted_id,
        reply=(new.address, new.kept) if new and new.kept else None,
        trouble=asked.trouble,
    )


def _examined(task: Task, said: Advertisement | Unobserved, asked: Opinion) -> Assessment | Unobserved:
    """Observe and judge one upstream; whatever git could not do makes it unobserved."""
    if isinstance(said, Unobserved):
        return said
    for _ in range(_TRIES):
        try:
            with salvage.alone(task.folder):
                return _attempt(task, said, asked)
        except MemoryError:
            return Unobserved(upstream=task.upstream, reason="judging it takes more memory than there is")
        except GitError as error:
            if not error.retryable:
                return Unobserved(upstream=task.upstream, reason=str(error))
            trouble = Unobserved(upstream=task.upstream, reason=str(error))
        again = asyncio.run(poll({task.upstream: task.url}, _manner(task)))[task.upstream]
        if isinstance(again, Unobserved):
            return again
        said = again
    return trouble


def _attempt(task: Task, advertisement: Advertisement, asked: Opinion) -> Assessment:
    mirror = Mirror.open(
        task.folder,
        task.url,
        filters=advertisement.filters,
        object_format=advertisement.object_format,
        allowed=task.allowed,
    )
    seen = observe(
        task.upstream,
        task.pins,
        mirror,
        advertisement,
        task.memory,
        pulls=_pulls(task, advertisement),
        tracked=task.tracked,
        at=task.at,
    )
    seen = asked.told_of(seen)
    assessment = assess(
        seen,
        task.pins,
        mirror,
        task.facts,
        tracked=task.tracked,
        scope=task.scope,
        dismissed=task.dismissed,
        discussed=asked.discussions,
    )
    reach = {name: asked.with_fate(said) for name, said in assessment.reachability.items()}
    judged = replace(assessment, reachability=reach)
    return _without_offers(judged) if is_withheld(seen) else judged


def _without_offers(assessment: Assessment) -> Assessment:
    """Return the assessment of another repository than the one that was pinned: it says nothing of fixes."""
    judgement = replace(assessment.judgement, verdicts={})
    return replace(assessment, judgement=judgement, suggestions=(), single={})


def _pulls(task: Task, advertisement: Advertisement) -> Pulls:
    """Return how to ask a server for its proposals; only http(s) servers of forges have any."""
    if not task.url.startswith(("http://", "https://")):
        return tuple
    return lambda: asyncio.run(pull_refs(task.url, _manner(task), before=advertisement))


def _manner(task: Task) -> Manner:
    return Manner(local=task.allowed.files, named=None if task.allowed.private else frozenset())
