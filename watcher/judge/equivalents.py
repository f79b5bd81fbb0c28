"""Under which other ids does the same change live?

A fix is picked to a release branch, squashed, or rebased: the pin then has it, though not by that id. Signals, in the
order of trust: a note of its origin (`git cherry-pick -x`, stable's "commit … upstream"), the same author, author
date and subject, the same patch, the same pull request under the same title. A part of a change is not the change.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from watcher.model import Change, Commit, Oid
from watcher.observation import Observation

_NOTE = re.compile(
    r"\(cherry[- ]picked from commit ([0-9a-f]{7,64})|\[ ?upstream commit ([0-9a-f]{7,64}) ?\]"
    r"|^\s*commit ([0-9a-f]{7,64}) upstream|\b(?:backport|cherry-?pick) of (?:commit )?([0-9a-f]{7,64})",
    re.IGNORECASE | re.MULTILINE,
)
_TAGS = re.compile(r"^\s*(?:\[[^\]]*\]\s*)+|\s*\(#\d+\)")
_NUMBER = re.compile(r"\(#(\d+)\)|^Merge pull request #(\d+) |\bSee merge request \S*!(\d+)", re.MULTILINE)
_REVERT = re.compile(r"This reverts (?:commit|merge) ([0-9a-f]{7,64})", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Equivalents:
    """The ways in which a history can have one change."""

    change: Oid
    """The landing."""
    ways: tuple[frozenset[Oid], ...]
    """Each way is a set of commits, all of which must be there; the landing itself comes first."""
    reverts: frozenset[Oid] = frozenset()
    """Commits that say they take the change back."""
    relandings: frozenset[Oid] = frozenset()
    """Commits that take such a revert back."""


def normalised(subject: str) -> str:
    """Return a subject without leading [tags] and pull-request numbers, in lower case."""
    return _TAGS.sub("", subject).strip().lower()


def pull_requests(commit: Commit) -> tuple[int, ...]:
    """Return the pull-request numbers that a message names as its own, first to last."""
    found = _NUMBER.findall(f"{commit.subject}\n{commit.body}")
    return tuple(int(next(filter(None, numbers))) for numbers in found)


def noted_origins(commit: Commit) -> tuple[str, ...]:
    """Return the (possibly short) ids that a message names as the commits it was picked from."""
    return tuple(next(filter(None, groups)) for groups in _NOTE.findall(commit.body))


def reverted_oids(commit: Commit) -> tuple[str, ...]:
    """Return the (possibly short) ids that a message says it reverts."""
    return tuple(_REVERT.findall(commit.body))


class Index:
    """Metadata of many commits, arranged to find picks, reverts and rewritten twins quickly."""

    def __init__(self, commits: Mapping[Oid, Commit], patch_ids: Mapping[Oid, str] | None = None) -> None:
        self.commits = commits
        self._by_identity: dict[tuple[str, datetime, str], list[Oid]] = {}
        self._by_title: dict[tuple[int, str], list[Oid]] = {}
        self._by_patch: dict[str, list[Oid]] = {}
        self._picks: list[tuple[str, Oid]] = []
        self._reverts: list[tuple[str, Oid]] = []
        self._patch_ids = patch_ids or {}
        for oid, commit in commits.items():
            self._add(oid, commit)
        for oid, patch_id in self._patch_ids.items():
            self._by_patch.setdefault(patch_id, []).append(oid)

    def _add(self, oid: Oid, commit: Commit) -> None:
        self._by_identity.setdefault(_identity(commit), []).append(oid)
        for number in pull_requests(commit):
            self._by_title.setdefault((number, normalised(commit.subject)), []).append(oid)
        self._picks.extend((origin, oid) for origin in noted_origins(commit))
        self._reverts.extend((reverted, oid) for reverted in reverted_oids(commit))

    def same(self, oid: Oid) -> frozenset[Oid]:
        """Return the commits (the given one included) that do what one commit does."""
        found = {oid} | {pick for origin, pick in self._picks if oid.startswith(origin.lower())}
        commit = self.commits.get(oid)
        if commit is not None:
            if len(commit.parents) <= 1:
                found |= set(self._by_identity.get(_identity(commit), ()))
            for number in pull_requests(commit):
                found |= set(self._by_title.get((number, normalised(commit.subject)), ()))
            for origin in noted_origins(commit):
                found |= {other for other in self.commits if other.startswith(origin.lower())}
        if patch_id := self._patch_ids.get(oid):
            found |= set(self._by_patch.get(patch_id, ()))
        return frozenset(found)

    def reverts(self, oids: Iterable[Oid]) -> frozenset[Oid]:
        """Return the commits that say they revert one of the given ones."""
        wanted = tuple(oids)
        return frozenset(
            by for reverted, by in self._reverts if any(oid.startswith(reverted.lower()) for oid in wanted)
        )

    def titled(self, number: int, title: str) -> frozenset[Oid]:
        """Return the commits that carry a pull request's number and title: its squash, and picks of that."""
        return frozenset(self._by_title.get((number, normalised(title)), ()))


def equivalents(change: Change, index: Index) -> Equivalents:
    """Return the ways in which a history can have a change, its reverts and the reverts of those."""
    ways = [frozenset({change.landing})]
    if change.commits and change.commits != (change.landing,):
        ways.append(frozenset(change.commits))
    ways += [frozenset({other}) for other in sorted(index.same(change.landing) - {change.landing})]
    if change.pull_request is not None:
        ways += [frozenset({other}) for other in sorted(index.titled(change.pull_request, change.title))]
    copies = [index.same(commit) - {commit} for commit in change.commits]
    if copies and all(copies):
        ways.append(frozenset(min(others) for others in copies))
    carriers = {change.landing, *(change.commits if len(change.commits) == 1 else ())}
    taken_back = index.reverts(carriers)
    return Equivalents(
        change=change.landing,
        ways=tuple(dict.fromkeys(ways)),
        reverts=taken_back,
        relandings=index.reverts(taken_back),
    )


def held_as(same: Equivalents, ancestors: set[Oid] | frozenset[Oid]) -> Oid | None:
    """Return the id under which a history has a change, or None.

    A change that the history took back is not there; one that was taken back and landed again is.
    """
    way = next((way for way in same.ways if way <= ancestors), None)
    if way is None:
        return None
    standing = len(same.reverts & ancestors) - len(same.relandings & ancestors)
    if standing > 0:
        return None
    return same.change if same.change in way else min(way)


def twins(commit: Oid, seen: Observation) -> tuple[Oid, ...]:
    """Return the advertised commits that are a lost commit under another id: rewritten, rebased, or squashed.

    The same author, author date and subject, or a note of the origin; newest first.
    """
    known = seen.commits.get(commit)
    if known is None:
        return ()
    index = Index(seen.commits)
    found = set(index.same(commit))
    for number, pull in ((pull.name.split("/")[2], pull) for pull in seen.advertisement.pulls):
        if number.isdigit() and seen.graph.is_ancestor(commit, pull.commit):
            found |= {oid for oid, other in seen.commits.items() if int(number) in pull_requests(other)}
    alive = seen.graph.ancestors(*(ref.commit for ref in seen.advertisement.refs))
    return tuple(sorted((found - {commit}) & alive, key=lambda oid: (-seen.graph.generations[oid], oid)))


def _identity(commit: Commit) -> tuple[str, datetime, str]:
    return (commit.author, commit.authored_at, normalised(commit.subject))
