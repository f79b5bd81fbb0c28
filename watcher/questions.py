"""Read questions and labels as JSON lines, and answer them over one repository, given by address or by folder."""

import asyncio
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path

from watcher import address
from watcher.asking import Answered, History
from watcher.assess import Assessment, assess
from watcher.errors import GitError, UnobservedError, UsageError
from watcher.model import Advertisement, Commit, Oid, Pin, Unobserved
from watcher.observe import Memory, observe
from watcher.refkind import ref_kind
from watcher.report.explain import Argument, render
from watcher.upstream.mirror import Mirror
from watcher.upstream.refs import Manner, poll
from watcher.upstream.repository import Repository
from watcher.web import pages

_PREFIX = re.compile(r"^(?:\[[^\]]*\]\s*)*\w+(?:\([^)]*\))?!?:\s+")
"""A conventional-commit prefix, tags in brackets before it."""
_FRAGMENTS = ("CHANGES/", "news/")
"""Folders of changelog fragments, whose names tell the kind of a change."""


def opened(upstream: str) -> tuple[Mirror, Advertisement]:
    """Return the repository that is meant, and its refs: a folder on this machine, or an address, mirrored in a cache.

    Raises UsageError for what is neither, UnobservedError for an address that does not answer.
    """
    if Path(upstream).is_dir():
        repository = Repository.at(Path(upstream))
        return repository, repository.advertisement()
    if reason := address.refusal(upstream):
        raise UsageError(f"{upstream[:80]}: expected a folder with a git repository, or an address: {reason}")
    seen = asyncio.run(poll({upstream: upstream}, Manner()))[upstream]
    if isinstance(seen, Unobserved):
        raise UnobservedError(f"{upstream} could not be looked at: {seen.reason}")
    folder = user_cache_path("watcher") / "mirrors" / address.folder_name(upstream)
    mirror = Mirror.open(folder, upstream, filters=seen.filters, object_format=seen.object_format)
    mirror.fetch(seen)
    return mirror, seen


def answers(history: History, lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Answer questions `{"id", "pin", "fix" | "fixes"}`, one a line; one that cannot be answered says why."""
    for question in _read(lines, ("id", "pin")):
        wanted = question.get("fixes") or question.get("fix")
        fixes = wanted if isinstance(wanted, list) else [wanted]
        try:
            said = history.answer(history.commit(question["pin"]), [history.commit(str(fix)) for fix in fixes])
        except (UsageError, GitError) as error:
            yield {"id": question["id"], "answer": "unsure", "minimal": None, "confidence": 0.0, "reason": str(error)}
            continue
        yield {"id": question["id"], **document(said)}


def document(said: Answered) -> dict[str, Any]:
    """Return an answer as plain JSON values."""
    return {
        "answer": said.answer,
        "minimal": said.minimal,
        "minimal_default": said.minimal_default,
        "confidence": said.confidence,
        "reason": said.reason,
        "where": list(said.where),
    }


def labels(history: History, lines: Iterable[str], *, strip_prefix: bool) -> Iterator[dict[str, Any]]:
    """Say of commits `{"sha"}`, one a line, whether they are fixes, and why.

    `strip_prefix` hides the conventional-commit prefix of subjects, and changelog fragments, before anything looks.
    """
    if strip_prefix:
        history.commits = stripped(history.commits)
    for row in _read(lines, ("sha",)):
        try:
            fix = history.classified(history.commit(row["sha"]), without=_FRAGMENTS if strip_prefix else ())
        except (UsageError, GitError) as error:
            yield {"sha": row["sha"], "fix": False, "grade": None, "evidence": [], "reason": str(error)}
            continue
        evidence = (
            [{"signal": it.signal, "detail": it.detail, "weight": it.weight} for it in fix.evidence] if fix else []
        )
        yield {"sha": row["sha"], "fix": fix is not None, "grade": fix.grade if fix else None, "evidence": evidence}


def stripped(commits: Mapping[Oid, Commit]) -> dict[Oid, Commit]:
    """Return the commits with the prefixes of their subjects hidden."""
    return {oid: replace(commit, subject=_PREFIX.sub("", commit.subject)) for oid, commit in commits.items()}


def judged(upstream: str, name: str, now: datetime) -> tuple[Pin, Mirror, Assessment]:
    """Judge one commit, tag or branch of a repository as a pass would judge a pin; `opened` says what it raises."""
    mirror, advertisement = opened(upstream)
    pin = Pin(
        name=address.last_component(upstream),
        upstream=upstream,
        ref=name,
        ref_kind=ref_kind(name),
        file="",
        line=0,
        id="asked",
    )
    pulls = advertisement.pulls
    seen = observe(upstream, [pin], mirror, advertisement, Memory(), pulls=lambda: pulls, tracked=(), at=now)
    return pin, mirror, assess(seen, [pin], mirror, {})


def argument(upstream: str, name: str, now: datetime) -> str:
    """Return the whole argument about one pin, judged as a pass would: everything that concerns it."""
    pin, mirror, found = judged(upstream, name, now)
    return render(
        Argument(
            pin=pin,
            commit=found.seen.commit_of(pin),
            reachability=found.reachability[pin.id],
            bound=found.seen.bound,
            verdicts=found.judgement.verdicts.get(pin.id, {}),
            fixes=found.judgement.fixes,
            repairs=found.repairs,
            single=found.single.get(pin.id, {}),
            suggestion=next(iter(found.suggestions), None),
            pages=pages(address.normalise(upstream)),
            mirror=str(mirror.directory),
        )
    )


def _read(lines: Iterable[str], keys: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Yield the objects of JSON lines; raise UsageError that names the line and what it lacks."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UsageError(
                f"(standard input):{number}: expected a JSON object, found {line.strip()[:60]!r}"
            ) from error
        if not isinstance(row, dict) or not all(isinstance(row.get(key), str) for key in keys):
            raise UsageError(f"(standard input):{number}: expected the keys {', '.join(keys)}")
        yield row
