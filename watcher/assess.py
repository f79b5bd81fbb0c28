"""Judge one upstream's pins: ask the judges, bring them the contents that they ask for, ask again."""

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial

from watcher import materials
from watcher.judge.bump import Ladder
from watcher.judge.contract import VERSION_FILES
from watcher.judge.reachability import reachabilities
from watcher.judge.shipped import BY_NAME, Scope, is_shipped
from watcher.judge.suggest import Cost, Proposal, ladder_for, propose, suggestion, wanted
from watcher.judge.survey import Judged, Survey, candidates, judged, survey
from watcher.model import (
    Change,
    ChangedPath,
    Discussion,
    Oid,
    Pin,
    Reachability,
    ReachabilityClass,
    Repair,
    Rung,
    Suggestion,
)
from watcher.observation import Materials, Observation
from watcher.upstream.contents import Pair
from watcher.upstream.mirror import Mirror

LOST = {
    ReachabilityClass.ORPHANED,
    ReachabilityClass.SERVED_ONLY,
    ReachabilityClass.GONE,
    ReachabilityClass.UNKNOWN,
}
"""Classes of pins that get evidence and advice, never a bump."""
Discussed = Callable[[Sequence[Change]], Mapping[Oid, Discussion]]
_MOST_PATCHES = 300
"""How many commits beside the default branch have their patch compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """Everything that was judged of one upstream."""

    seen: Observation
    surveyed: Survey
    reachability: Mapping[str, Reachability]
    judgement: Judged
    suggestions: tuple[Suggestion, ...] = ()
    single: Mapping[str, Mapping[str, Rung]] = field(default_factory=dict)
    """Pin id → fix id → the smallest target with that fix alone."""
    repairs: Mapping[Oid, Repair] = field(default_factory=dict)


def assess(
    seen: Observation,
    pins: Iterable[Pin],
    mirror: Mirror,
    facts: materials.Facts,
    *,
    tracked: tuple[str, ...] = (),
    scope: Scope = BY_NAME,
    dismissed: Container[Oid] = (),
    discussed: Discussed = lambda _: {},
) -> Assessment:
    """Return all judgements of one upstream; `tracked` branches and `scope` as configured, `dismissed` by people.

    `discussed` returns what a forge tells of changes, as far as it is known or can be asked.
    """
    mine = tuple(pins)
    reach = reachabilities(mine, seen, tracked)
    alive = tuple(pin for pin in mine if reach[pin.id].cls not in LOST)
    surveyed = survey(seen, alive, tracked)
    mirror.bring_trees(_looked_at(seen, surveyed))
    altered = _altered(mirror, surveyed)
    shipped = [it for it in surveyed.changes if any(is_shipped(path.path, scope) for path in altered[it.landing])]
    had = Materials(paths=altered, discussions=discussed(shipped))
    found = candidates(seen, surveyed, had, scope)
    repairs = materials.repairs(mirror, found, seen.bound, facts, seen.graph, seen.commits)
    had = _pinned_contents(mirror, seen, alive, had, found, repairs)
    had = replace(had, patch_ids=_patch_ids(mirror, seen, surveyed, found, had, repairs))
    judgement = judged(seen, surveyed, had, repairs, alive, scope, dismissed)
    ladders = cache(partial(ladder_for, seen=seen, surveyed=surveyed))
    proposals = [made for pin in alive if (made := propose(pin, seen, surveyed, judgement, repairs, ladders))]
    return Assessment(
        seen=seen,
        surveyed=surveyed,
        reachability=reach,
        judgement=judgement,
        suggestions=tuple(map(partial(suggestion, scope=scope), proposals, _costs(mirror, proposals))),
        single={pin.id: _single(pin, seen, judgement, ladders) for pin in alive},
        repairs=repairs,
    )


def _looked_at(seen: Observation, surveyed: Survey) -> set[Oid]:
    """Return the commits of which more than the message is asked: pins, and what came after the bound on lines."""
    graph = seen.graph
    tips = [change.landing for change in surveyed.changes]
    older = graph.ancestors(seen.bound) if seen.bound else set()
    newer = graph.ancestors(*tips, without=older)
    beside = {parent for commit in newer for parent in graph.parents(commit)}
    bound = {seen.bound} if seen.bound else set()
    return {*newer, *beside, *bound, *surveyed.pinned}


def _altered(mirror: Mirror, surveyed: Survey) -> dict[Oid, tuple[ChangedPath, ...]]:
    pairs = [(change.before, change.landing) for change in surveyed.changes]
    return {landing: paths for (_, landing), paths in mirror.changed_paths(pairs).items()}


def _pinned_contents(
    mirror: Mirror,
    seen: Observation,
    pins: Iterable[Pin],
    had: Materials,
    found: Iterable[Change],
    repairs: Mapping[Oid, Repair],
) -> Materials:
    """Add what pinned commits have of the paths that fixes alter, and the lines that they repair, under any name."""
    if not repairs:
        return had
    touched = {path for repair in repairs.values() for anchor in repair.anchors for path in anchor.paths}
    altered = {it.path for change in found for it in had.paths[change.landing]}
    commits = sorted({commit for pin in pins if (commit := seen.commit_of(pin))})
    held = mirror.entries_of(commits, {*touched, *altered, *VERSION_FILES})
    texts = materials.texts(mirror, _places(held, touched))
    return replace(had, trees={commit: frozenset(paths) for commit, paths in held.items()}, texts=texts)


def _places(held: Mapping[Oid, Mapping[str, Oid | None]], paths: Container[str]) -> dict[tuple[Oid, str], Oid]:
    """Return (commit, path) → content, for those of the paths that are files."""
    return {
        (commit, path): blob
        for commit, entries in held.items()
        for path, blob in entries.items()
        if blob is not None and path in paths
    }


def _patch_ids(
    mirror: Mirror,
    seen: Observation,
    surveyed: Survey,
    fixes: Iterable[Change],
    had: Materials,
    repairs: Mapping[Oid, Repair],
) -> dict[Oid, str]:
    """Return the patches of those fixes, and of those commits beside the tracked line, that may have the same one.

    The same patch alters the same paths, and as many lines: whatever is alone in that need not be looked at.
    """
    shapes = {fix: _shape(had.paths[fix.landing]) for fix in fixes}
    known = set(shapes.values())
    told = mirror.changed_paths(_beside(seen, surveyed) if known else ())
    beside = {pair: shape for pair, paths in told.items() if (shape := _shape(paths)) in known}
    near = set(beside.values())
    alike: dict[object, list[Pair]] = defaultdict(list)
    for fix, shape in shapes.items():
        repair = repairs[fix.landing]
        alike[shape if shape in near else (shape, repair.added, repair.removed)].append((fix.before, fix.landing))
    for pair, shape in beside.items():
        alike[shape].append(pair)
    pairs = [pair for those in alike.values() if len(those) > 1 for pair in those]
    return {landing: patch for (_, landing), patch in mirror.patch_ids(pairs).items()}


def _beside(seen: Observation, surveyed: Survey) -> list[Pair]:
    """Return the single commits that some pin has beside the tracked line, with their parents; none if too many."""
    if not surveyed.lines:
        return []
    line = seen.graph.ancestors(surveyed.lines[0].tip)
    beside = {oid for commit in surveyed.pinned for oid in seen.graph.ancestors(commit, without=line)}
    single: list[Pair] = [(parents[0], oid) for oid in sorted(beside) if len(parents := seen.graph.parents(oid)) == 1]
    return single if len(single) <= _MOST_PATCHES else []


def _shape(changed: Iterable[ChangedPath]) -> frozenset[tuple[str, str]]:
    return frozenset((it.status, it.path) for it in changed)


def _single(pin: Pin, seen: Observation, judgement: Judged, ladders: Callable[[Oid], Ladder]) -> dict[str, Rung]:
    """Return the smallest target for each fix that a pin lacks."""
    commit = seen.commit_of(pin)
    lacking = wanted(pin, judgement)
    if commit is None or not lacking:
        return {}
    ladder = ladders(commit)
    rungs = {name: ladder.minimal([judgement.same[name]]) for name in lacking}
    return {name: rung for name, rung in rungs.items() if rung}


def _costs(mirror: Mirror, proposals: Sequence[Proposal]) -> Iterator[Cost]:
    """Read what differs between each pin and its target, and what both say about their version."""
    pairs = [(made.commit, made.target.to) for made in proposals]
    told = mirror.changed_paths(pairs)
    ends = dict.fromkeys(commit for pair in pairs for commit in pair)
    texts = materials.texts(mirror, _places(mirror.entries_of(ends, VERSION_FILES), VERSION_FILES))
    versions: dict[Oid, dict[str, str]] = {commit: {} for commit in ends}
    for (commit, path), lines in texts.items():
        versions[commit][path] = "\n".join(lines)
    for before, after in pairs:
        paths = tuple(path.path for path in told[before, after])
        yield Cost(paths=paths, before=versions[before], after=versions[after])
