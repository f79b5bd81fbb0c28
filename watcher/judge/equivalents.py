"""Under which other ids does the same change live?

A fix is picked to a release branch, squashed, or rebased: the pin then has it, though not by that id. Signals, in the
order of trust: a note of its origin (`git cherry-pick -x`, stable's "commit … upstream"), the same author, author
date and subject, the same patch, the same pull request under the same title. A part of a change is not the change.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from watcher.graph import Graph
from watcher.model import Change, Commit, Oid, Ref, is_oid
from watcher.observation import Observation

_ID = r"([0-9a-f]{7,64})\b"
_NOTE = re.compile(
    rf"\(cherry[- ]picked from commit {_ID}|\[ ?upstream commit {_ID} ?\]|^[ \t]*commit {_ID} upstream"
    rf"|\b(?:backport|cherry-?pick) of (?:commit )?{_ID}|\[PR #[0-9]+/{_ID} backport\]",
    re.IGNORECASE | re.MULTILINE,
)
_TAGS = re.compile(r"^(?:\s*\[[^\]]*\])+\s*| ?\(#[0-9]+\)")
_NUMBER = re.compile(r"\(#([0-9]{1,9})\)|^Merge pull request #([0-9]{1,9}) |\(pull request #([0-9]{1,9})\)")
_MERGE_REQUEST = re.compile(r"\bSee merge request \S*!([0-9]{1,9})\b")
_REVERT = re.compile(rf"This reverts (?:commit|merge) {_ID}", re.IGNORECASE)
_REVERTED_PULL = re.compile(r"^Reverts (?:[\w.-]+/[\w.-]+)?#([0-9]{1,9})\b", re.MULTILINE)
_REVERTED_TITLE = re.compile(r'^Revert "(.*)"')
_PULL_REF = re.compile(r"refs/(?:pull|merge-requests)/([0-9]{1,9})/")
_MOST = 50
"""What more commits than this share identifies none of them; a message that names more is a list, not a note."""
SHORTEST = 7
"""Digits of the shortest id that a message is believed to name a commit by."""

Way = tuple[frozenset[Oid], ...]
"""The parts of a change: each is there when any one of its commits is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Revert:
    """A commit that takes a change back, or takes back such a revert."""

    by: Oid
    of: frozenset[Oid]
    """Those of the named change's commits which the revert has: what landed after it stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Equivalents:
    """The ways in which a history can have one change."""

    change: Oid
    """The landing."""
    ways: tuple[Way, ...]
    """The whole change in one commit first, then part by part."""
    reverts: tuple[Revert, ...] = ()
    """Newest first, reverts of reverts included."""


def normalised(subject: str) -> str:
    """Return a subject without leading [tags] and pull-request numbers, in lower case."""
    return _TAGS.sub("", subject).strip().lower()


def pull_requests(commit: Commit) -> tuple[int, ...]:
    """Return the pull-request numbers that a message names as its own, first to last; none of what it quotes."""
    own = commit.subject.rpartition('"')[2] if commit.subject.startswith('Revert "') else commit.subject
    found = [next(filter(None, numbers)) for numbers in _NUMBER.findall(own)]
    return tuple(int(number) for number in (*found, *_MERGE_REQUEST.findall(commit.body)))


def noted_origins(commit: Commit) -> tuple[str, ...]:
    """Return the (possibly short) ids that a message names as the commits it was picked from."""
    found = _NOTE.findall(f"{commit.subject}\n{commit.body}")
    return tuple(dict.fromkeys(next(filter(None, groups)).lower() for groups in found))


def reverted_oids(commit: Commit) -> tuple[str, ...]:
    """Return the (possibly short) ids that a message says it reverts."""
    return tuple(dict.fromkeys(name.lower() for name in _REVERT.findall(commit.body)))


class Names:
    """Expands the ids that messages name; one that fits several commits names none."""

    def __init__(self, oids: Iterable[Oid]) -> None:
        self._near: dict[str, list[Oid]] = {}
        for oid in oids:
            self._near.setdefault(oid[:SHORTEST], []).append(oid)

    def expand(self, name: str) -> Oid | None:
        """Return the one commit that a (possibly short) id in lower case means, or None."""
        found = [oid for oid in self._near.get(name[:SHORTEST], ()) if oid.startswith(name)]
        if not found and is_oid(name):
            return Oid(name)
        return found[0] if len(found) == 1 else None


class Index:
    """Metadata of many commits, arranged to find picks, reverts and rewritten twins quickly."""

    def __init__(
        self,
        commits: Mapping[Oid, Commit],
        patch_ids: Mapping[Oid, str] | None = None,
        pulls: Iterable[Ref] = (),
    ) -> None:
        self.commits = commits
        self._head_of = {number: ref.commit for ref in pulls if (number := proposal_number(ref)) is not None}
        self._number_of = {head: number for number, head in self._head_of.items()}
        self._by_number: dict[int, list[Oid]] = {}
        self._names = Names(commits)
        self._patch_ids = patch_ids or {}
        self._by_identity: dict[tuple[str, datetime, str], list[Oid]] = {}
        self._by_title: dict[tuple[int, str], list[Oid]] = {}
        self._by_patch: dict[str, list[Oid]] = {}
        self._origin: dict[Oid, Oid] = {}
        self._picks: dict[Oid, list[Oid]] = {}
        self._reverts: dict[Oid, list[Oid]] = {}
        self._reverts_of_pull: dict[tuple[int, str], list[Oid]] = {}
        self._same: dict[Oid, frozenset[Oid]] = {}
        for oid, commit in commits.items():
            self._add(oid, commit)
        for oid, patch_id in self._patch_ids.items():
            self._by_patch.setdefault(patch_id, []).append(oid)

    def _add(self, oid: Oid, commit: Commit) -> None:
        self._by_identity.setdefault(_identity(commit), []).append(oid)
        for number in pull_requests(commit):
            self._by_title.setdefault((number, normalised(commit.subject)), []).append(oid)
            if number in self._head_of:
                self._by_number.setdefault(number, []).append(oid)
        self._add_picks(oid, commit)
        for reverted in filter(None, map(self._names.expand, reverted_oids(commit))):
            self._reverts.setdefault(reverted, []).append(oid)
        if quoted := _REVERTED_TITLE.match(commit.subject):
            for number in _REVERTED_PULL.findall(commit.body):
                self._reverts_of_pull.setdefault((int(number), normalised(quoted[1])), []).append(oid)

    def _add_picks(self, oid: Oid, commit: Commit) -> None:
        """Note what a commit was picked from; a pick of several is a pick of each, but does not join them."""
        noted = noted_origins(commit)
        if len(noted) > _MOST:
            return
        origins = [origin for origin in map(self._names.expand, noted) if origin and self._may_be(commit, origin)]
        for origin in origins:
            self._picks.setdefault(origin, []).append(oid)
        if len(noted) == 1 and origins:
            self._origin[oid] = origins[0]

    def _may_be(self, pick: Commit, origin: Oid) -> bool:
        """Answer whether a pick can be of an origin: a revert which quotes the note of what it reverts is none."""
        known = self.commits.get(origin)
        return known is None or bool(reverted_oids(known)) == bool(reverted_oids(pick))

    def same(self, oid: Oid) -> frozenset[Oid]:
        """Return the commits (the given one included) that do what one commit does, found in two steps."""
        if oid not in self._same:
            near = self._near(oid)
            self._same[oid] = frozenset(near.union(*(self._near(other) for other in near)))
        return self._same[oid]

    def _near(self, oid: Oid) -> set[Oid]:
        """Return the commits that one signal joins to a commit."""
        found = {oid, *_few(self._picks.get(oid, ())), *self._of_proposal(oid)}
        if oid in self._origin:
            found.add(self._origin[oid])
        commit = self.commits.get(oid)
        if commit is not None:
            if len(commit.parents) <= 1:
                found.update(_few(self._by_identity[_identity(commit)]))
            for number in pull_requests(commit):
                found |= self.titled(number, commit.subject)
        if patch_id := self._patch_ids.get(oid):
            found.update(_few(self._by_patch[patch_id]))
        return found

    def _of_proposal(self, oid: Oid) -> Iterable[Oid]:
        """Return the squashes of a proposal whose head a commit is, and the head of the proposal that it squashes."""
        commit = self.commits.get(oid)
        own = pull_requests(commit)[-1:] if commit else ()
        heads = [self._head_of[number] for number in own if number in self._head_of]
        return (*_few(self._by_number.get(self._number_of.get(oid, -1), ())), *heads)

    def reverts(self, oids: Iterable[Oid]) -> frozenset[Oid]:
        """Return the commits that say they revert one of the given ones, or the pull request that these were."""
        wanted = tuple(oids)
        by_id = {by for oid in wanted for by in self._reverts.get(oid, ())}
        known = (self.commits[oid] for oid in wanted if oid in self.commits)
        by_pull = (self.reverts_of_pull(number, it.subject) for it in known for number in pull_requests(it))
        return frozenset(by_id.union(*by_pull))

    def reverts_of_pull(self, number: int, title: str) -> frozenset[Oid]:
        """Return the commits that say they revert a pull request and quote its title."""
        return frozenset(self._reverts_of_pull.get((number, normalised(title)), ()))

    def titled(self, number: int, title: str) -> frozenset[Oid]:
        """Return the commits that carry a pull request's number and title: its squash, and picks of that."""
        return frozenset(_few(self._by_title.get((number, normalised(title)), ())))


def equivalents(change: Change, index: Index, graph: Graph) -> Equivalents:
    """Return the ways in which a history can have a change, its reverts and the reverts of those."""
    parts = tuple(index.same(commit) for commit in change.commits)
    whole = {change.landing, *index.same(change.landing)}
    if change.pull_request is not None:
        # A commit of the branch, or a pick of it, may bear the number and title of the whole.
        several = frozenset[Oid]().union(*parts) if len(parts) > 1 else frozenset()
        whole |= index.titled(change.pull_request, change.title) - several
    if len(parts) == 1:
        whole |= parts[0]
    ways: tuple[Way, ...] = ((frozenset(whole),), parts) if len(parts) > 1 else ((frozenset(whole),),)
    return Equivalents(change=change.landing, ways=ways, reverts=_reverts(change, frozenset(whole), ways, index, graph))


def _reverts(
    change: Change, whole: frozenset[Oid], ways: Iterable[Way], index: Index, graph: Graph
) -> tuple[Revert, ...]:
    """Return who takes the whole change back, and who takes those back, newest first.

    A revert undoes what it has of the change under any id: a pick of a revert names the original, and means the pick.
    """
    by = index.reverts(whole)
    if change.pull_request is not None:
        by |= index.reverts_of_pull(change.pull_request, change.title)
    level = whole.union(*(part for way in ways for part in way))
    found: list[Revert] = []
    seen: set[Oid] = set()
    while by := frozenset(oid for oid in by - seen if oid in graph):
        # Who also names one of the reverts takes that back, and only quotes what it was about.
        by = by - index.reverts(by) or by
        seen |= by
        found += [
            Revert(by=oid, of=frozenset(one for one in level - {oid} if graph.is_ancestor(one, oid))) for oid in by
        ]
        level, by = by, index.reverts(by)
    newest = sorted(found, key=lambda revert: (-graph.generations[revert.by], revert.by))
    return tuple(revert for revert in newest if revert.of)


def held_as(same: Equivalents, has: Callable[[Oid], bool]) -> Oid | None:
    """Return the id under which a history has a change, or None; `has` tells what the history has.

    A change that the history took back is not there; one that was taken back and landed again is.
    """
    gone: set[Oid] = set()
    for revert in same.reverts:
        # Newest first: a revert that was itself taken back is known by now.
        if has(revert.by) and revert.by not in gone:
            gone |= revert.of
    for way in same.ways:
        there = [[oid for oid in part if has(oid) and oid not in gone] for part in way]
        if all(there):
            return same.change if same.change in there[0] else min(there[-1])
    return None


def was_held(same: Equivalents, has: Callable[[Oid], bool]) -> bool:
    """Answer whether a history has a change, whatever became of it."""
    return any(all(any(map(has, part)) for part in way) for way in same.ways)


def proposal_number(ref: Ref) -> int | None:
    """Return the number of the proposal whose head a ref holds; None for the trial merges that forges make."""
    named = _PULL_REF.match(ref.name)
    return int(named[1]) if named and ref.name.endswith("/head") else None


class Twins:
    """Finds lost commits under other ids; what several searches need is worked out once."""

    def __init__(self, seen: Observation) -> None:
        self._seen = seen

    def of(self, commit: Oid) -> tuple[Oid, ...]:
        """Return the advertised commits that are a lost commit under another id: rewritten, rebased, or squashed.

        The same author, author date and subject, or a note of the origin, or the number of the proposal that holds it;
        those on the default branch first, then the newest.
        """
        if commit not in self._seen.commits:
            return ()
        graph = self._seen.graph
        squashed = {oid for number in self._numbers(commit) for oid in self._numbered.get(number, ())}
        found = {oid for oid in (self._index.same(commit) | squashed) - {commit} if oid in self._alive}
        return tuple(sorted(found, key=lambda oid: (oid not in self._leading, -graph.generations[oid], oid)))

    def _numbers(self, commit: Oid) -> set[int]:
        """Return the numbers of the proposals that hold a commit."""
        held = self._seen.graph.holders([commit], [tip for _, tip in self._pulls]).get(commit, 0)
        return {number for at, (number, _) in enumerate(self._pulls) if held >> at & 1}

    @cached_property
    def _pulls(self) -> Sequence[tuple[int, Oid]]:
        """Return the number and the tip of each proposal."""
        pulls = self._seen.advertisement.pulls
        return [(int(named[1]), pull.commit) for pull in pulls if (named := _PULL_REF.match(pull.name))]

    @cached_property
    def _index(self) -> Index:
        return Index(self._seen.commits)

    @cached_property
    def _numbered(self) -> Mapping[int, list[Oid]]:
        """Return pull-request number → the commits that name it as their own."""
        found: dict[int, list[Oid]] = {}
        for oid, commit in self._seen.commits.items():
            for number in pull_requests(commit):
                found.setdefault(number, []).append(oid)
        return found

    @cached_property
    def _alive(self) -> Set[Oid]:
        return self._seen.graph.reached(ref.commit for ref in self._seen.advertisement.refs)

    @cached_property
    def _leading(self) -> Set[Oid]:
        head = self._seen.advertisement.tip(self._seen.advertisement.head or "")
        return self._seen.graph.ancestors(*([head] if head else []))


def twins(commit: Oid, seen: Observation) -> tuple[Oid, ...]:
    """Return the advertised commits that are a lost commit under another id, found for it alone."""
    return Twins(seen).of(commit)


def _few(found: Sequence[Oid]) -> Sequence[Oid]:
    """Return what a signal found, or nothing where it finds so many that it says nothing."""
    return found if len(found) <= _MOST else ()


def _identity(commit: Commit) -> tuple[str, datetime, str]:
    return (commit.author, commit.authored_at, normalised(commit.subject))
