"""Is a pinned commit still reachable, and what keeps it alive?

Only refs that are advertised now count, peeled; that a server still hands a commit out says nothing (DESIGN.md §3.1).
"""

from collections.abc import Iterable, Iterator, Set
from functools import cached_property
from itertools import compress, takewhile

from watcher.graph import Graph
from watcher.judge.equivalents import Twins
from watcher.model import Holding, Move, Oid, Pin, Reachability, ReachabilityClass, Ref, RefKind
from watcher.observation import Observation


def reachabilities(pins: Iterable[Pin], seen: Observation, tracked: Iterable[str] = ()) -> dict[str, Reachability]:
    """Return the strongest class that holds, by pin id, with the refs that hold the pin, or what happened if none does.

    One pass over the history answers for all pins.
    """
    mine = tuple(pins)
    keepers = _Keepers({commit for pin in mine if (commit := seen.commit_of(pin))}, seen, tracked)
    return {pin.id: _reachability(pin, seen, keepers) for pin in mine}


def reachability(pin: Pin, seen: Observation, tracked: Iterable[str] = ()) -> Reachability:
    """Return the class of one pin."""
    return reachabilities([pin], seen, tracked)[pin.id]


class Holders:
    """Which refs hold which commits: one pass over the history answers for all of them."""

    def __init__(self, commits: Iterable[Oid], refs: Iterable[Ref], graph: Graph) -> None:
        self._refs = tuple(refs)
        self._held = graph.holders(commits, [ref.commit for ref in self._refs]) if self._refs else {}

    def of(self, commit: Oid) -> Iterator[Ref]:
        """Return the refs whose peeled tips reach a commit, in the order in which they were given."""
        bits = f"{self._held.get(commit, 0):b}"
        return compress(self._refs, map(int, reversed(bits)))


def holders(commit: Oid, refs: Iterable[Ref], graph: Graph) -> tuple[Ref, ...]:
    """Return the refs whose peeled tips reach one commit."""
    return tuple(Holders([commit], refs, graph).of(commit))


class _Keepers:
    """What keeps some commits alive."""

    def __init__(self, commits: Set[Oid], seen: Observation, tracked: Iterable[str]) -> None:
        advertisement = seen.advertisement
        named = {name if name.startswith("refs/") else f"refs/heads/{name}" for name in tracked}
        self.seen = seen
        self.leading = named | {advertisement.head or ""}
        # Those that lead come first: with most pins they are all that is asked for.
        refs = sorted(advertisement.refs, key=lambda ref: ref.name not in self.leading)
        self.holding = Holders(commits, refs, seen.graph)
        self.twins = Twins(seen)
        self._commits = commits
        self._heads = {ref.name: ref.commit for ref in refs if ref.name.startswith("refs/heads/")}
        self._is_release: dict[Oid, bool] = {}

    @cached_property
    def proposing(self) -> Holders:
        """Return which proposals hold which of the commits."""
        return Holders(self._commits, self.seen.advertisement.pulls, self.seen.graph)

    def is_release(self, tagged: Oid) -> bool:
        """Answer whether a tagged commit is on a branch cut from the default branch, or one commit on top of it."""
        if tagged not in self._is_release:
            graph = self.seen.graph
            beside = graph.ancestors(tagged, without=self._default) if tagged in self._branches else {tagged}
            self._is_release[tagged] = any(parent in self._default for oid in beside for parent in graph.parents(oid))
        return self._is_release[tagged]

    @cached_property
    def _default(self) -> Set[Oid]:
        tip = self._heads.get(self.seen.advertisement.head or "")
        return self.seen.graph.ancestors(*([tip] if tip else []))

    @cached_property
    def _branches(self) -> Set[Oid]:
        return self.seen.graph.reached(self._heads.values())


def _reachability(pin: Pin, seen: Observation, keepers: _Keepers) -> Reachability:
    position = seen.positions.get(pin.id)
    if position is None:
        return Reachability(cls=ReachabilityClass.UNKNOWN, detail="nobody looked it up")
    if pin.ref_kind is RefKind.UNRESOLVED:
        return Reachability(cls=ReachabilityClass.UNKNOWN, detail="the files do not say which ref is used")
    if len(position.candidates) > 1:
        names = ", ".join(candidate[:12] for candidate in position.candidates)
        return Reachability(cls=ReachabilityClass.UNKNOWN, detail=f"the short id may mean {names}")
    if position.commit is None:
        return _without_commit(pin, seen)
    held = _held(position.commit, keepers)
    if held is None and position.unasked:
        detail = f"no branch and no tag holds it, and proposals could not be asked for: {position.unasked}"
        return Reachability(cls=ReachabilityClass.UNKNOWN, detail=detail)
    return held or _lost(position.commit, keepers, is_served=position.is_served)


def _without_commit(pin: Pin, seen: Observation) -> Reachability:
    """Judge a pin whose ref or commit cannot be had at all."""
    if pin.ref_kind is RefKind.SHA:
        detail = "no ref holds it and the server refuses to hand it out"
        return Reachability(cls=ReachabilityClass.GONE, detail=detail)
    if pin.ref_kind is RefKind.SHORT_SHA:
        detail = f"no commit that a ref holds begins with {pin.wanted}, and no ref is named so"
        return Reachability(cls=ReachabilityClass.GONE, detail=detail)
    if not seen.advertisement.refs:
        return Reachability(cls=ReachabilityClass.GONE, detail="the repository has no branches and no tags")
    name = pin.wanted or "HEAD"
    lost = _last_move(seen.known_moves, {f"refs/heads/{name}", f"refs/tags/{name}"})
    detail = f"upstream has no branch and no tag {name}"
    if lost is not None and lost.after is None and lost.before:
        detail += f"; it was deleted at {lost.before[:12]}, noticed {lost.at:%Y-%m-%d %H:%M} UTC"
    return Reachability(cls=ReachabilityClass.GONE, detail=detail)


def _held(commit: Oid, keepers: _Keepers) -> Reachability | None:
    """Return the class by which an advertised ref holds the commit, or None."""
    leading = takewhile(lambda ref: ref.name in keepers.leading, keepers.holding.of(commit))
    if following := tuple(ref.name for ref in leading):
        return Reachability(cls=ReachabilityClass.DEFAULT, refs=following, detail=f"on {_short(following[0])}")
    holding = tuple(keepers.holding.of(commit))
    names = tuple(ref.name for ref in holding)
    branches = tuple(ref for ref in holding if ref.name.startswith("refs/heads/"))
    tags = tuple(ref for ref in holding if ref.name.startswith("refs/tags/"))
    if releases := tuple(tag.name for tag in tags if keepers.is_release(tag.commit)):
        return Reachability(
            cls=ReachabilityClass.RELEASE_TAG, refs=releases, detail=f"in release {_short(releases[0])}"
        )
    if branches:
        kept = tuple(ref.name for ref in branches)
        fragile = f"only {_short(kept[0])} keeps it" if len(kept) == 1 else f"{len(kept)} branches keep it"
        return Reachability(cls=ReachabilityClass.BRANCH, refs=kept, detail=fragile)
    if tags:
        detail = f"only tag {_short(tags[0].name)} keeps it, and that is on no branch"
        return Reachability(cls=ReachabilityClass.TAG_OFF_LINEAGE, refs=names, detail=detail)
    if pulls := tuple(keepers.proposing.of(commit)):
        detail = f"only the proposal {pulls[0].name} keeps it"
        return Reachability(
            cls=ReachabilityClass.PULL_ONLY,
            refs=tuple(ref.name for ref in pulls),
            detail=detail,
            twin=next(iter(keepers.twins.of(commit)), None),
        )
    return None


def _lost(commit: Oid, keepers: _Keepers, *, is_served: bool | None) -> Reachability:
    """Judge a commit that no advertised ref holds: was it ever held, and what happened?"""
    seen = keepers.seen
    held = seen.holdings.get(commit, ())
    still = "" if is_served is None else _SERVED[is_served]
    if not held:
        detail = f"no ref holds it and none was ever seen to{still}"
        cls = ReachabilityClass.GONE if is_served is False else ReachabilityClass.SERVED_ONLY
        return Reachability(cls=cls, detail=detail)
    last = max(held, key=lambda holding: (holding.last_seen, holding.ref.startswith("refs/heads/"), holding.ref))
    twin = next(iter(keepers.twins.of(commit)), None)
    rewritten = f"; the same change is now {twin}" if twin else ""
    until = f"{last.last_seen:%Y-%m-%d %H:%M} UTC"
    return Reachability(
        cls=ReachabilityClass.ORPHANED,
        refs=(last.ref,),
        detail=f"{_short(last.ref)} held it until {until}{_fate(last, seen)}{still}{rewritten}",
        since=last.last_seen,
        twin=twin,
    )


_SERVED = {
    True: "; the server still hands it out, which a clean-up may end any day",
    False: "; the server no longer hands it out: a cold build fails",
}


def _fate(last: Holding, seen: Observation) -> str:
    """Say what happened to the ref that held a commit last."""
    move = _last_move(seen.known_moves, {last.ref})
    if move is None or move.before is None:
        return ""
    if move.after is None:
        return f", then was deleted at {move.before[:12]}"
    verb = "forced" if move.forced else "moved"
    return f", then was {verb} from {move.before[:12]} to {move.after[:12]}"


def _last_move(moves: Iterable[Move], refs: set[str]) -> Move | None:
    return max((move for move in moves if move.ref in refs), key=lambda move: move.at, default=None)


def _short(ref: str) -> str:
    return ref.removeprefix("refs/heads/").removeprefix("refs/tags/")
