"""Draw from the judgements of one upstream what is to be told of it."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from watcher.assess import Assessment
from watcher.conclusion import Account, Conclusion, Dependency, Sighting
from watcher.judge import concerns as wrong
from watcher.judge import drift as drifting
from watcher.judge import offers
from watcher.judge.drawn import drawing
from watcher.judge.reachability import Holders
from watcher.judge.suggest import ladder_for, wanted
from watcher.materials import Facts
from watcher.model import Answer, Concern, Discussion, Drift, Fix, Oid, Pin, ReachabilityClass, Ref, Verdict
from watcher.observation import Observation

_HELD = frozenset(
    {
        ReachabilityClass.DEFAULT,
        ReachabilityClass.RELEASE_TAG,
        ReachabilityClass.BRANCH,
        ReachabilityClass.TAG_OFF_LINEAGE,
    }
)
"""Where branches and tags alone tell the class: proposals, and what a server hands out, change without them."""
_MOST_OTHERS = 200
"""So many fixes are kept of a pin that do not concern it."""
_MOST_HOLDERS = 50
"""How many refs the ledger keeps for one commit at one look; the branches that upstream publishes come first."""


def conclude(
    assessment: Assessment, pins: Iterable[Pin], dependencies: Iterable[Dependency], *, is_open: bool
) -> Conclusion:
    """Return what is to be told of an upstream; `is_open`: its forge was not asked everything yet."""
    mine = [pin for pin in pins if pin.id in assessment.reachability]
    seen, reach = assessment.seen, assessment.reachability
    drifts = tuple(_drift(it, assessment) for it in dependencies)
    raised = [concern for pin in mine for concern in _of_pin(pin, assessment)]
    commits = {pin.id: commit for pin in mine if (commit := seen.commit_of(pin))}
    return Conclusion(
        upstream=seen.upstream,
        commits=commits,
        dates={name: seen.commits[oid].committed_at for name, oid in commits.items() if oid in seen.commits},
        reachability=reach,
        concerns=(*raised, *wrong.of_refs(mine, seen)),
        fixes=_concerning(mine, drifts, assessment),
        suggestions=assessment.suggestions,
        drifts=drifts,
        is_withheld=wrong.is_withheld(seen),
        is_settled=not is_open and all(said.cls in _HELD for said in reach.values()),
    )


def sighting(
    assessment: Assessment, concluded: Conclusion, pins: Iterable[Pin], known: Facts, told: Mapping[Oid, Discussion]
) -> Sighting:
    """Return what is to be remembered of a look, beyond what was `known`; `told`: what a forge said now of changes."""
    seen = assessment.seen
    return Sighting(
        account=_account(assessment, concluded, pins),
        advertisement=seen.advertisement,
        moves=seen.moves,
        holders=_holders(seen),
        roots=seen.roots,
        is_same=not wrong.has_other_id(seen) and not (seen.known_roots and seen.known_roots.isdisjoint(seen.roots)),
        repairs={landing: it for landing, it in assessment.repairs.items() if known.get(landing) != it},
        discussions=told,
    )


def _account(assessment: Assessment, concluded: Conclusion, pins: Iterable[Pin]) -> Account:
    """Return what stands behind a conclusion; of what does not concern a pin, only so much as people read."""
    judgement = assessment.judgement
    verdicts = {pin: tuple(_worth_telling(said.values())) for pin, said in judgement.verdicts.items()}
    named = {it.fix for said in verdicts.values() for it in said}
    return Account(
        bound=assessment.seen.bound,
        verdicts=verdicts,
        fixes={name: judgement.fixes[name] for name in sorted(named)},
        single=assessment.single,
        drawing=drawing(
            pins,
            assessment.seen,
            assessment.surveyed,
            concluded.reachability,
            concluded.fixes.values(),
            concluded.suggestions,
        ),
    )


def _worth_telling(said: Iterable[Verdict]) -> Iterator[Verdict]:
    """Yield the verdicts on fixes that a pin lacks, and the first of those that do not concern it."""
    others = _MOST_OTHERS
    for it in said:
        is_lacking = it.contained_as is None and it.answer is not Answer.NO
        others -= not is_lacking
        if is_lacking or others >= 0:
            yield it


def _of_pin(pin: Pin, assessment: Assessment) -> list[Concern]:
    seen, reach = assessment.seen, assessment.reachability[pin.id]
    lacking = offers.of_fixes(pin, assessment.judgement, assessment.single.get(pin.id, {}), seen)
    return [*wrong.of_pin(pin, reach, seen), *lacking]


def _drift(dependency: Dependency, assessment: Assessment) -> Drift:
    stands = {variant: _stand(pin, assessment) for variant, pin in dependency.variants.items()}
    align = _align(stands, assessment)
    return drifting.drift(dependency.name, stands, assessment.seen.graph, align, dependency.policy)


def _stand(pin: Pin, assessment: Assessment) -> drifting.Stand:
    verdicts = assessment.judgement.verdicts.get(pin.id, {})
    return drifting.Stand(pin=pin, commit=assessment.seen.commit_of(pin), verdicts=verdicts)


def _align(stands: Mapping[str, drifting.Stand], assessment: Assessment) -> dict[str, Oid]:
    """Return variant → the smallest commit with every fix that it lacks and another variant has."""
    found = {}
    for variant, names in drifting.lacking(stands).items():
        commit = stands[variant].commit
        if commit is None or not names or stands[variant].pin.ref_kind.is_floating:
            continue
        ladder = ladder_for(commit, assessment.seen, assessment.surveyed)
        rung = ladder.minimal([assessment.judgement.same[name] for name in names])
        if rung is not None:
            found[variant] = rung.to
    return found


def _concerning(pins: Iterable[Pin], drifts: Iterable[Drift], assessment: Assessment) -> dict[str, Fix]:
    """Return the fixes that a pin lacks, and those that one variant has over another."""
    names = {name for drift in drifts for lacks in drift.lacks.values() for name in lacks}
    for pin in pins:
        if not pin.ref_kind.is_floating:
            names |= set(wanted(pin, assessment.judgement))
    return {name: assessment.judgement.fixes[name] for name in sorted(names)}


def _holders(seen: Observation) -> dict[Oid, tuple[Ref, ...]]:
    """Return pinned commit → the refs that hold it; what a ref names by itself needs no ledger."""
    head = seen.advertisement.head
    refs = sorted((*seen.advertisement.refs, *seen.advertisement.pulls), key=lambda ref: _rank(ref, head))
    commits = sorted({found.commit for found in seen.positions.values() if found.commit and not found.holders})
    held = Holders(commits, refs, seen.graph)
    return {commit: tuple(islice(held.of(commit), _MOST_HOLDERS)) for commit in commits}


def _rank(ref: Ref, head: str | None) -> tuple[bool, bool, str]:
    return (ref.name != head, not ref.name.startswith("refs/heads/"), ref.name)
