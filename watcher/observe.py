"""Look at one upstream: bring its mirror up to date and return what was seen as a value."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from watcher.graph import Graph
from watcher.judge.lines import published_lines
from watcher.judge.moves import ref_moves
from watcher.model import Advertisement, Commit, Holding, Move, Oid, Pin, Ref, RefKind, Unobserved, is_oid, oid
from watcher.observation import Observation, Position, named_refs
from watcher.upstream.history import open_graph
from watcher.upstream.mirror import Mirror

Pulls = Callable[[], tuple[Ref, ...] | Unobserved]
"""Asks the server for the refs of its proposals; called only when nothing else holds a pin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What earlier passes saw of an upstream."""

    before: Advertisement | None = None
    moves: tuple[Move, ...] = ()
    holdings: Mapping[Oid, tuple[Holding, ...]] = field(default_factory=dict)
    """Pinned commit → the refs that were ever seen holding it."""
    roots: frozenset[Oid] = frozenset()


def observe(
    upstream: str,
    pins: Iterable[Pin],
    mirror: Mirror,
    advertisement: Advertisement,
    memory: Memory,
    *,
    pulls: Pulls,
    tracked: tuple[str, ...],
    at: datetime,
) -> Observation:
    """Fetch what is new, keep the pinned commits, and return the observation; raise GitError where git fails."""
    mine = tuple(pins)
    mirror.fetch(advertisement)
    positions = _positions(mine, advertisement, mirror)
    graph = open_graph(mirror)
    if lost := _without_ref(positions, advertisement.refs, graph):
        proposals = _proposals(lost, mirror, pulls)
        advertisement = replace(advertisement, pulls=proposals if isinstance(proposals, tuple) else ())
        graph = open_graph(mirror)
        positions = _of_the_lost(lost, positions, proposals, mirror, graph)
    pinned = sorted({found.commit for found in positions.values() if found.commit and found.commit in graph})
    bound = graph.common_ancestor(pinned)
    moves = _moves(memory.before, advertisement, graph, at)
    return Observation(
        upstream=upstream,
        at=at,
        advertisement=advertisement,
        graph=graph,
        bound=bound,
        commits=_metadata(mirror, graph, advertisement, tracked, pinned, bound),
        positions=positions,
        before=memory.before,
        moves=moves,
        known_moves=(*memory.moves, *moves),
        holdings=memory.holdings,
        roots=_roots(graph, advertisement),
        known_roots=memory.roots,
    )


def _positions(pins: Sequence[Pin], advertisement: Advertisement, mirror: Mirror) -> dict[str, Position]:
    """Find the commits that refs stand for, keeping in the mirror those that are named by id."""
    wanted = {pin.id: oid(_written(pin)) for pin in pins if pin.ref_kind is RefKind.SHA and is_oid(_written(pin))}
    kept = mirror.keep_all(wanted.values()) if wanted else {}
    return {
        pin.id: _of_id(wanted[pin.id], kept) if pin.id in wanted else _position(pin, advertisement, mirror)
        for pin in pins
    }


def _written(pin: Pin) -> str:
    return str(pin.wanted).lower()


def _of_id(wanted: Oid, kept: Mapping[Oid, Oid]) -> Position:
    commit = kept.get(wanted)
    return Position(commit=None, is_served=False) if commit is None else Position(commit=commit)


def _position(pin: Pin, advertisement: Advertisement, mirror: Mirror) -> Position:
    """Find the commit that a ref stands for which is no whole id."""
    match pin.ref_kind:
        case RefKind.UNRESOLVED:
            return Position(commit=None)
        case RefKind.SHORT_SHA:
            return _by_short_id(pin, advertisement, mirror)
        case _:
            return _by_name(pin, advertisement)


def _by_short_id(pin: Pin, advertisement: Advertisement, mirror: Mirror) -> Position:
    """Expand a short id; a name that merely looks like one may still be a branch or tag."""
    candidates = mirror.expand(_written(pin))
    if not candidates and named_refs(advertisement, pin):
        return _by_name(pin, advertisement)
    if len(candidates) != 1:
        return Position(commit=None, candidates=candidates)
    mirror.keep(candidates[0])
    return Position(commit=candidates[0])


def _by_name(pin: Pin, advertisement: Advertisement) -> Position:
    names = named_refs(advertisement, pin)
    return Position(commit=advertisement.tip(names[0]) if names else None, holders=names)


def _without_ref(positions: Mapping[str, Position], refs: Iterable[Ref], graph: Graph) -> set[Oid]:
    """Return the pinned commits that none of the refs holds."""
    alive = graph.reached(ref.commit for ref in refs)
    return {found.commit for found in positions.values() if found.commit and found.commit not in alive}


def _proposals(lost: set[Oid], mirror: Mirror, pulls: Pulls) -> tuple[Ref, ...] | Unobserved:
    """Fetch the proposals that may hold a lost commit: those whose tip it is, else all of them."""
    asked = pulls()
    if isinstance(asked, Unobserved):
        return asked
    exact = tuple(ref for ref in asked if ref.commit in lost)
    wanted = exact if {ref.commit for ref in exact} == lost else asked
    mirror.fetch_pulls(wanted)
    return wanted


def _of_the_lost(
    lost: set[Oid],
    positions: Mapping[str, Position],
    proposals: tuple[Ref, ...] | Unobserved,
    mirror: Mirror,
    graph: Graph,
) -> dict[str, Position]:
    """Say of each lost commit whether the server still hands it out, or that nobody knows what holds it."""
    if isinstance(proposals, Unobserved):
        known = {commit: Position(commit=commit, unasked=proposals.reason) for commit in lost}
    else:
        gone = _without_ref(positions, proposals, graph) & lost
        known = {commit: Position(commit=commit, is_served=mirror.serves(commit)) for commit in sorted(gone)}
    return {
        name: replace(found, is_served=known[found.commit].is_served, unasked=known[found.commit].unasked)
        if found.commit in known
        else found
        for name, found in positions.items()
    }


def _moves(before: Advertisement | None, after: Advertisement, graph: Graph, at: datetime) -> tuple[Move, ...]:
    """Return the moves since the last look; a tip that the graph no longer has was left behind, so it was forced."""
    if before is None:
        return ()
    return ref_moves(before, after, lambda old, new: not graph.is_ancestor(old, new) if new in graph else None, at)


def _metadata(
    mirror: Mirror,
    graph: Graph,
    advertisement: Advertisement,
    tracked: tuple[str, ...],
    pinned: list[Oid],
    bound: Oid | None,
) -> dict[Oid, Commit]:
    """Read the messages of what is newer than the bound, and of the bound itself, on lines, branches and pins."""
    lines = {line.tip for line in published_lines(advertisement, graph, tracked)}
    heads = {ref.commit for ref in (*advertisement.refs, *advertisement.pulls) if ref.name.startswith("refs/heads/")}
    pulls = {ref.commit for ref in advertisement.pulls}
    floor = graph.parents(bound) if bound else ()
    wanted = (tip for tip in {*lines, *heads, *pulls, *pinned} if tip in graph)
    return {commit.oid: commit for commit in mirror.commits(wanted, floor)}


def _roots(graph: Graph, advertisement: Advertisement) -> frozenset[Oid]:
    """Return the root commits of all branches and tags."""
    reached = graph.reached(ref.commit for ref in advertisement.refs)
    return frozenset(root for root in graph.roots if root in reached)
