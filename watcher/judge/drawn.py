"""Which few commits of an upstream's history matter to its pins, and how do they hang together?

Lines are walked from their tips down to the commit that every pin has: a drawing costs no more than what lies above it.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from watcher.drawing import At, Drawing, Stop, Strand, StrandKind
from watcher.judge.lines import Line
from watcher.judge.survey import Survey
from watcher.model import Fix, Grade, Oid, Pin, Reachability, Suggestion
from watcher.observation import Observation

_STOPS, _STRANDS, _TAGS, _NAMES = 48, 12, 8, 6
"""So many stops a strand, strands, tags that stand where nothing else does, and refs named at one stop."""
_FURTHEST = 50_000
"""States of a line that are walked at most."""
_GRADES = tuple(Grade)


def drawing(
    pins: Iterable[Pin],
    seen: Observation,
    surveyed: Survey,
    reach: Mapping[str, Reachability],
    fixes: Iterable[Fix],
    suggestions: Iterable[Suggestion],
) -> Drawing:
    """Return what to draw: pins, the `fixes` that concern them, every step of the `suggestions`, tips and tags."""
    mine = [pin for pin in pins if pin.id in reach]
    standing: dict[Oid, list[str]] = {}
    for pin in mine:
        commit = seen.commit_of(pin)
        if commit is not None and commit in seen.graph:
            standing.setdefault(commit, []).append(pin.id)
    lost = {commit for pin in mine if reach[pin.id].cls.is_lost and (commit := seen.commit_of(pin)) in standing}
    wanted: dict[Oid, tuple[str, StrandKind]] = {}
    for name, tip, kind in _wanted(standing, lost, seen, surveyed, suggestions):
        wanted.setdefault(tip, (name, kind))
    tips = [*wanted][:_STRANDS]
    drawn = _Lines(seen, _floor(tips, seen))
    for tip in tips:
        drawn.add(*wanted[tip], tip)
    for commit in seen.graph.oldest_first(standing):
        drawn.spur(commit, StrandKind.LOST if commit in lost else StrandKind.SIDE)
    steps = {rung.to for made in suggestions for rung in (*made.ladder, made.target)}
    landed: dict[Oid, list[Fix]] = {}
    for fix in fixes:
        landed.setdefault(fix.change.landing, []).append(fix)
    strands = _strands(drawn, standing, steps, landed)
    held = {name for names in standing.values() for name in names}
    return Drawing(
        strands=strands,
        absent=tuple(pin.id for pin in mine if pin.id not in held),
        more=len(held) - sum(len(stop.pins) for strand in strands for stop in strand.stops),
    )


def _wanted(
    standing: Iterable[Oid],
    lost: Collection[Oid],
    seen: Observation,
    surveyed: Survey,
    suggestions: Iterable[Suggestion],
) -> Iterator[tuple[str, Oid, StrandKind]]:
    """Yield the lines to draw: the followed one, those of targets and pins, and where lost commits were."""
    tips = {line.name: line.tip for line in surveyed.lines}
    for line in surveyed.lines[:1]:
        yield line.name, line.tip, StrandKind.FOLLOWED
    for made in suggestions:
        for rung in (made.target, *made.ladder):
            if rung.line in tips:
                yield rung.line, tips[rung.line], _kind(rung.line)
    for commit in seen.graph.oldest_first(standing):
        own: Line | None = surveyed.own.get(commit)
        if own is not None:
            yield own.name, own.tip, _kind(own.name)
        elif commit in lost:
            held = max(seen.holdings.get(commit, ()), key=lambda it: it.last_seen, default=None)
            is_known = held is not None and held.tip in seen.graph
            yield held.ref if held else "", held.tip if held and is_known else commit, StrandKind.LOST


def _floor(tips: Sequence[Oid], seen: Observation) -> int:
    """Return down to which generation lines are walked: to what every pin has, and to where they branch off."""
    graph = seen.graph
    forks = {base for tip in tips[1:] for base in graph.merge_bases(tips[0], tip)}
    return min((graph.generations[it] for it in (*forks, seen.bound) if it), default=0)


def _kind(name: str) -> StrandKind:
    return StrandKind.TAG if name.startswith("refs/tags/") else StrandKind.BRANCH


@dataclass(slots=True, kw_only=True)
class _Chain:
    """The states of one line that no earlier one has, oldest first."""

    kind: StrandKind
    name: str
    states: Sequence[Oid]
    base: Oid | None
    joins: Oid | None = None


@dataclass
class _Lines:
    """The lines that are drawn, and on which of them each commit is."""

    seen: Observation
    floor: int
    """Generation below which no line is walked."""
    chains: list[_Chain] = field(default_factory=list)
    place: dict[Oid, tuple[int, int]] = field(default_factory=dict)
    """Commit → chain, and which of its states it is."""

    def add(self, name: str, kind: StrandKind, tip: Oid) -> None:
        """Add a line down to where an earlier one has it, or every pin does."""
        if tip in self.place:
            return
        graph = self.seen.graph
        states: list[Oid] = []
        base = None
        for commit in islice(reversed(graph.first_parent_line(tip)), _FURTHEST):
            if commit in self.place:
                base = commit
                break
            if states and graph.generations[commit] < self.floor:
                break
            states.append(commit)
        self._append(_Chain(kind=kind, name=name, states=states[::-1], base=base))

    def spur(self, commit: Oid, kind: StrandKind) -> None:
        """Add a pinned commit that is on none of the lines: with where it came from, and where it was merged."""
        if commit in self.place or len(self.chains) >= _STRANDS:
            return
        graph = self.seen.graph
        joins = base = None
        for chain in self.chains:
            # What a state has, all later ones have: both questions are answered by halving.
            at = bisect_left(chain.states, True, key=lambda state: graph.is_ancestor(commit, state))
            below = bisect_left(chain.states, True, key=lambda state: not graph.is_ancestor(state, commit))
            base = base or (chain.states[below - 1] if below else None)
            joins = chain.states[at] if at < len(chain.states) else None
            if joins:
                base = chain.states[below - 1] if below else base
                break
        self._append(_Chain(kind=kind, name="", states=[commit], base=base, joins=joins))

    def _append(self, chain: _Chain) -> None:
        self.place |= {state: (len(self.chains), at) for at, state in enumerate(chain.states)}
        self.chains.append(chain)


def _strands(
    drawn: _Lines, standing: Mapping[Oid, list[str]], steps: Collection[Oid], landed: Mapping[Oid, list[Fix]]
) -> tuple[Strand, ...]:
    ends = {it for chain in drawn.chains for it in (chain.base, chain.joins, chain.states[-1]) if it}
    chosen = [_chosen(chain, ends, standing, steps, landed, drawn.seen) for chain in drawn.chains]
    at = {oid: At(strand, stop) for strand, stops in enumerate(chosen) for stop, oid in enumerate(stops)}
    refs = _refs(drawn.seen)
    return tuple(
        Strand(
            kind=chain.kind,
            name=chain.name,
            base=at.get(chain.base) if chain.base else None,
            joins=at.get(chain.joins) if chain.joins else None,
            stops=tuple(_stops(chain, stops, drawn, standing, landed, refs)),
            hidden=sum(len(landed.get(oid, ())) for oid in chain.states if oid not in at),
        )
        for chain, stops in zip(drawn.chains, chosen, strict=True)
    )


def _chosen(
    chain: _Chain,
    ends: Collection[Oid],
    standing: Collection[Oid],
    steps: Collection[Oid],
    landed: Mapping[Oid, list[Fix]],
    seen: Observation,
) -> list[Oid]:
    """Return the states of a line that are drawn, oldest first; of too many fixes the surest, of tags the newest."""
    order = {oid: number for number, oid in enumerate(chain.states)}
    tags = [ref.commit for ref in seen.advertisement.refs if ref.name.startswith("refs/tags/") and ref.commit in order]
    fixes = sorted(
        (oid for oid in landed if oid in order),
        key=lambda oid: (min(_GRADES.index(fix.grade) for fix in landed[oid]), -order[oid]),
    )
    wished = [
        *(oid for oid in dict.fromkeys((*ends, *standing)) if oid in order),
        *sorted((oid for oid in steps if oid in order), key=order.__getitem__),
        *fixes,
        *sorted(set(tags), key=order.__getitem__, reverse=True)[:_TAGS],
    ]
    return sorted([*dict.fromkeys(wished)][:_STOPS], key=order.__getitem__)


def _stops(
    chain: _Chain,
    stops: Sequence[Oid],
    drawn: _Lines,
    standing: Mapping[Oid, list[str]],
    landed: Mapping[Oid, list[Fix]],
    refs: Mapping[Oid, list[str]],
) -> Iterator[Stop]:
    seen, before, below = drawn.seen, chain.base, -1
    for oid in stops:
        metadata = seen.commits.get(oid)
        _, number = drawn.place[oid]
        yield Stop(
            commit=oid,
            subject=metadata.subject if metadata else "",
            at=metadata.committed_at if metadata else None,
            landings=number - below - 1 if before else 0,
            commits=len(seen.graph.between(before, oid)) if before else 0,
            refs=tuple(refs.get(oid, ())[:_NAMES]),
            pins=tuple(standing.get(oid, ())),
            fixes=tuple(fix.id for fix in landed.get(oid, ())),
        )
        before, below = oid, number


def _refs(seen: Observation) -> dict[Oid, list[str]]:
    found: dict[Oid, list[str]] = {}
    for ref in seen.advertisement.refs:
        found.setdefault(ref.commit, []).append(ref.name)
    return found
