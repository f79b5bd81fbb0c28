"""Say from the script alone what a watcher must have found, and what it may have found.

Independent of the program's judgement: everything here is a walk along parents. What is wrong *now* follows from the
refs and pins of the moment; what merely happened (a forced branch, a moved tag) from the moments that somebody saw.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tests.soak.script import MAIN, PARTS, TAG, Pin, Refs, Upstream


@dataclass(frozen=True, slots=True, order=True)
class Wrong:
    """One thing that is wrong."""

    kind: str
    about: str
    """The pin, the upstream, or the dependency."""
    what: str = ""
    """The part that a fix repairs, or where a tag moved to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What must be found, and what may be found beside it."""

    must: frozenset[Wrong]
    may: frozenset[Wrong] = frozenset()

    def missing(self, found: Iterable[Wrong]) -> frozenset[Wrong]:
        """Return what should have been found."""
        return self.must.difference(found)

    def wrongly(self, found: Iterable[Wrong]) -> frozenset[Wrong]:
        """Return what should not have been found."""
        return frozenset(found) - self.must - self.may


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """An upstream and its pins between two things that happened."""

    refs: Refs
    pins: tuple[Pin, ...]
    is_seen: bool
    """A pass began and ended in it, and could look."""
    doubtful: tuple[Pin, ...] = ()
    """The pins whose commit the server threw away, maybe before anybody kept it."""


def standing(upstream: Upstream, refs: Refs, pins: Sequence[Pin]) -> Expected:
    """Return what is wrong with an upstream and its pins as they are."""
    must, may = set[Wrong](), set[Wrong]()
    if {root(upstream, tip) for tip in refs.values()}.isdisjoint(root(upstream, tip) for tip in upstream.refs.values()):
        must.add(Wrong("upstream-replaced", upstream.name))
    for pin in pins:
        must |= _of_pin(upstream, refs, pin)
    sure, unsure = _lines(upstream, refs, pins)
    for pin in pins:
        must |= {Wrong("fix-available", pin.id, part) for part in _lacking(upstream, refs, pin, sure)}
        may |= {Wrong("fix-available", pin.id, part) for part in _lacking(upstream, refs, pin, unsure)}
        may |= {Wrong("fix-available", pin.id, part) for part in _broken_in_lost(upstream, refs, pin)}
    told, maybe = _drift(upstream, refs, pins, sure)
    must |= told
    may |= maybe
    return Expected(must=frozenset(must), may=frozenset(may))


def doubted(expected: Expected, pins: Iterable[Pin]) -> Expected:
    """Return what is expected where nobody surely kept what these pins name, before upstream threw it away."""
    doubtful = {pin.id for pin in pins}
    if not doubtful:
        return expected
    must = frozenset(it for it in expected.must if it.about not in doubtful and it.kind != "variant-drift")
    absent = {Wrong("pin-absent", it) for it in doubtful}
    return Expected(must=must, may=expected.may | expected.must | absent)


def without_drift(expected: Expected) -> Expected:
    """Return what is expected while a downstream cannot be read: the other side of a drift may be in it."""
    drifts = {it for it in expected.must | expected.may if it.kind == "variant-drift"}
    return Expected(must=expected.must - drifts, may=expected.may | drifts)


def root(upstream: Upstream, tip: str) -> str:
    """Return the first commit of a history."""
    return list(upstream.line(tip))[-1]


def past(upstream: Upstream, moments: Sequence[Moment]) -> tuple[Expected, range]:
    """Return the tags that were seen to move, and how often the main branch was seen to be forced: at least, at most.

    A tag that moved stays told as long as its pin names it, or for ever where no pin does.
    """
    must, may = set[Wrong](), set[Wrong]()
    users = {pin.id for pin in moments[-1].pins if pin.ref == TAG}
    seen_at = seen_last = None
    for moment in moments:
        tag = moment.refs.get(TAG)
        if tag is None:
            continue
        about = [pin.id for pin in moment.pins if pin.ref == TAG] or [upstream.name]
        moved = {Wrong("tag-moved", it, tag) for it in about if it in users or it == upstream.name}
        if seen_at is not None and seen_at != tag and moment.is_seen:
            must |= moved
        if seen_last is not None and seen_last != tag:
            may |= moved
        seen_last = tag
        seen_at = tag if moment.is_seen else seen_at
    tips = [moment.refs[MAIN] for moment in moments]
    seen = [moment.refs[MAIN] for moment in moments if moment.is_seen]
    forced = range(_forced(upstream, seen), _forced(upstream, tips) + 1)
    return Expected(must=frozenset(must), may=frozenset(may)), forced


def _forced(upstream: Upstream, tips: Sequence[str]) -> int:
    """Return how often a tip does not hold the one before."""
    return sum(before not in upstream.line(after) for before, after in pairwise(tips))


# --- pins --------------------------------------------------------------------------------------------------------


def _of_pin(upstream: Upstream, refs: Refs, pin: Pin) -> set[Wrong]:
    """Return what is wrong with where a pin points."""
    if pin.is_floating:
        return {Wrong("pin-floating", pin.id)}
    commit = commit_of(refs, pin)
    if commit is None:
        return {Wrong("pin-absent", pin.id)}
    holders = _holders(upstream, refs, commit)
    if not holders:
        return {Wrong("pin-unreachable", pin.id)}
    if any(name.startswith("refs/heads/") for name in holders):
        return set()
    main = set(upstream.line(refs[MAIN]))
    is_release = any(upstream.parents[refs[name]] in main for name in holders)
    return set() if is_release else {Wrong("pin-on-tag-only", pin.id)}


def commit_of(refs: Refs, pin: Pin) -> str | None:
    """Return the commit that a pin names, None where its ref is not there."""
    return refs.get(pin.ref) if pin.ref.startswith("refs/") else pin.ref


def _is_lost(upstream: Upstream, refs: Refs, pin: Pin) -> bool:
    commit = commit_of(refs, pin)
    return commit is None or not _holders(upstream, refs, commit)


def _holders(upstream: Upstream, refs: Refs, commit: str) -> list[str]:
    return [name for name, tip in refs.items() if commit in upstream.line(tip)]


# --- fixes -------------------------------------------------------------------------------------------------------


def _lines(upstream: Upstream, refs: Refs, pins: Iterable[Pin]) -> tuple[set[str], set[str]]:
    """Return the commits of the lines that upstream surely publishes, and of those that may count as one.

    Beside the main branch that is the ref that holds a pin; where several do, the program chooses one.
    """
    sure = set(upstream.line(refs[MAIN]))
    unsure = set(sure)
    for pin in pins:
        commit = commit_of(refs, pin)
        holders = _holders(upstream, refs, commit) if commit else []
        if MAIN in holders:
            continue
        held = [set(upstream.line(refs[name])) for name in holders]
        sure |= set[str]().union(*held[:1]).intersection(*held)
        unsure |= set[str]().union(*held)
    return sure, unsure


def _lacking(upstream: Upstream, refs: Refs, pin: Pin, published: Iterable[str]) -> set[str]:
    """Return the parts that are broken where a pin points, and repaired in what is published."""
    commit = commit_of(refs, pin)
    if commit is None or pin.is_floating or _is_lost(upstream, refs, pin):
        return set()
    return repaired(upstream, published) - repaired(upstream, upstream.line(commit))


def _broken_in_lost(upstream: Upstream, refs: Refs, pin: Pin) -> set[str]:
    """Return the parts that are broken in a commit which no ref holds any more.

    It is to be looked into, not to be bumped: nothing new is said of its fixes, and what was said may stand.
    """
    commit = commit_of(refs, pin)
    if pin.is_floating or not _is_lost(upstream, refs, pin):
        return set()
    return {*PARTS} - repaired(upstream, upstream.line(commit) if commit else ())


def repaired(upstream: Upstream, commits: Iterable[str]) -> set[str]:
    """Return the parts that these commits repair."""
    return {upstream.repairs[commit] for commit in commits if commit in upstream.repairs}


def _drift(
    upstream: Upstream, refs: Refs, pins: Sequence[Pin], published: Iterable[str]
) -> tuple[set[Wrong], set[Wrong]]:
    """Return whether the two variants of a dependency drifted, surely or perhaps."""
    drift = {Wrong("variant-drift", upstream.name.rpartition("/")[2])}
    if len(pins) != 2:
        return set(), set()
    one, other = pins
    if one.is_floating != other.is_floating:
        return drift, set()
    commits = commit_of(refs, one), commit_of(refs, other)
    if commits[0] is None or commits[1] is None:
        return set(), set()
    parts = [repaired(upstream, upstream.line(commit)) for commit in commits if commit]
    differing = parts[0] ^ parts[1]
    is_sure = not any(_is_lost(upstream, refs, pin) for pin in pins)
    if is_sure and differing & repaired(upstream, published):
        return drift, set()
    return set(), drift if differing or not is_sure else set()
