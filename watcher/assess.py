"""Judge one upstream's pins: ask the judges, bring them the contents that they ask for, ask again."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from watcher import materials
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
    repairs = materials.repairs(mirror, found, seen.bound, facts, seen.graph)
    had = _pinned_contents(mirror, seen, alive, had, repairs)
    had = replace(had, patch_ids=_patch_ids(mirror, seen, surveyed, repairs))
    judgement = judged(seen, surveyed, had, repairs, alive, scope, dismissed)
    proposals = [made for pin in alive if (made := propose(pin, seen, surveyed, judgement, repairs))]
    return Assessment(
        seen=seen,
        surveyed=surveyed,
        reachability=reach,
        judgement=judgement,
        suggestions=tuple(suggestion(made, _cost(mirror, made), scope) for made in proposals),
        single={pin.id: _single(pin, seen, surveyed, judgement) for pin in alive},
        repairs=repairs,
    )


def _looked_at(seen: Observation, surveyed: Survey) -> set[Oid]:
    """Return the commits of which more than the message is asked: pins, and what came after the bound on lines."""
    graph = seen.graph
    tips = [change.landing for change in surveyed.changes]
    older = graph.ancestors(seen.bound) if seen.bound else set()
    beside = {parent for change in surveyed.changes for parent in graph.parents(change.landing)}
    bound = {seen.bound} if seen.bound else set()
    return {*graph.ancestors(*tips, without=older), *beside, *bound, *surveyed.pinned}


def _altered(mirror: Mirror, surveyed: Survey) -> dict[Oid, tuple[ChangedPath, ...]]:
    pairs = [(change.before, change.landing) for change in surveyed.changes]
    return {landing: paths for (_, landing), paths in mirror.changed_paths(pairs).items()}


def _pinned_contents(
    mirror: Mirror, seen: Observation, pins: Iterable[Pin], had: Materials, repairs: Mapping[Oid, Repair]
) -> Materials:
    """Add the pinned trees, and in them the files that repairs touch, under every name that these had."""
    if not repairs:
        return had
    commits = {commit for pin in pins if (commit := seen.commit_of(pin))}
    trees = {commit: frozenset(path for part in mirror.tree(commit) for path in part) for commit in commits}
    touched = {path for repair in repairs.values() for anchor in repair.anchors for path in anchor.paths}
    places = [(commit, path) for commit in sorted(commits) for path in sorted(touched & trees[commit])]
    return replace(had, trees=trees, texts=materials.texts(mirror, places))


def _patch_ids(mirror: Mirror, seen: Observation, surveyed: Survey, repairs: Mapping[Oid, Repair]) -> dict[Oid, str]:
    """Return the patches of the fixes, and of the commits that some pin has beside the tracked line."""
    found = {landing: repair.patch_id for landing, repair in repairs.items() if repair.patch_id}
    if not found or not surveyed.lines:
        return found
    line = seen.graph.ancestors(surveyed.lines[0].tip)
    beside = {oid for commit in surveyed.pinned for oid in seen.graph.ancestors(commit, without=line)}
    single = [oid for oid in sorted(beside) if len(seen.graph.parents(oid)) == 1]
    if len(single) <= _MOST_PATCHES:
        patches = mirror.patch_ids((seen.graph.parents(oid)[0], oid) for oid in single)
        found |= {oid: patch for (_, oid), patch in patches.items()}
    return found


def _single(pin: Pin, seen: Observation, surveyed: Survey, judgement: Judged) -> dict[str, Rung]:
    """Return the smallest target for each fix that a pin lacks."""
    commit = seen.commit_of(pin)
    lacking = wanted(pin, judgement)
    if commit is None or not lacking:
        return {}
    ladder = ladder_for(commit, seen, surveyed)
    rungs = {name: ladder.minimal([judgement.same[name]]) for name in lacking}
    return {name: rung for name, rung in rungs.items() if rung}


def _cost(mirror: Mirror, made: Proposal) -> Cost:
    """Read what differs between a pin and its target, and what both say about their version."""
    pair = (made.commit, made.target.to)
    texts = materials.texts(mirror, [(commit, path) for commit in pair for path in VERSION_FILES])
    files = {place: "\n".join(lines) for place, lines in texts.items()}
    return Cost(
        paths=tuple(path.path for path in mirror.changed_paths([pair])[pair]),
        before={path: text for (commit, path), text in files.items() if commit == made.commit},
        after={path: text for (commit, path), text in files.items() if commit == made.target.to},
    )
