"""Which bump do we propose for a pin, and what does it cost?"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from watcher.judge.bump import Ladder
from watcher.judge.contract import contract_files, package_version
from watcher.judge.equivalents import Equivalents, held_as
from watcher.judge.shipped import BY_NAME, Scope, is_shipped, variant_of
from watcher.judge.survey import Judged, Survey
from watcher.model import Answer, Fix, Grade, Oid, Pin, Repair, Rung, Suggestion, Verdict
from watcher.observation import Observation
from watcher.plural import counted

_EVEN = 0.5
_NAMED = 5
"""How many lost commits a caution lists by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A bump before its cost is known: where to, and by which steps."""

    pin: Pin
    commit: Oid
    target: Rung
    ladder: tuple[Rung, ...]
    verdicts: tuple[Verdict, ...]
    fast_forward: bool
    cautions: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What lies between a pin and its target, beside commits."""

    paths: tuple[str, ...]
    """Every path that differs."""
    before: Mapping[str, str]
    """Version file → its text at the pin."""
    after: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Regression:
    """A bug that a bump brings and that upstream repaired later."""

    culprit: Oid
    """The commit that brings it."""
    repaired_by: str
    """The fix that a target must have to be without it."""
    said: str


def wanted(pin: Pin, judgement: Judged) -> dict[str, Verdict]:
    """Return the fixes that a pin lacks and is, or may be, affected by: fix id → verdict."""
    return {
        name: said
        for name, said in judgement.verdicts.get(pin.id, {}).items()
        if said.contained_as is None and said.answer is not Answer.NO
    }


def is_strong(verdict: Verdict, judgement: Judged) -> bool:
    """Answer whether a fix is worth a bump by itself: at least likely, and the pin is affected."""
    return verdict.answer is Answer.YES and judgement.fixes[verdict.fix].grade is not Grade.POSSIBLE


def _is_goal(verdict: Verdict, judgement: Judged) -> bool:
    """Answer whether a bump must bring a fix: one that is worth it, or as likely as not and with lines in the pin."""
    is_even = verdict.chance >= _EVEN and bool(verdict.where)
    return is_strong(verdict, judgement) or (is_even and judgement.fixes[verdict.fix].grade is not Grade.POSSIBLE)


def ladder_for(commit: Oid, seen: Observation, surveyed: Survey) -> Ladder:
    """Return the ladder of a pinned commit, its own line first."""
    own = surveyed.own.get(commit)
    lines = (own, *(line for line in surveyed.lines if line != own)) if own else surveyed.lines
    start = None if own in surveyed.lines else _position(commit, seen, surveyed)
    return Ladder(commit, lines, seen.graph, seen.commits, start)


def propose(
    pin: Pin,
    seen: Observation,
    surveyed: Survey,
    judgement: Judged,
    repairs: Mapping[Oid, Repair],
    ladders: Callable[[Oid], Ladder],
) -> Proposal | None:
    """Return the smallest bump for a pin's fixes, or None when there is nothing to gain or no way to gain it.

    The target has every fix worth a bump; where none is, every fix that may be. A floating pin follows by itself.
    Where a fast-forward gives some of the fixes, none is proposed that loses commits. `ladders` gives that of a commit.
    """
    commit = seen.commit_of(pin)
    lacking = wanted(pin, judgement)
    if commit is None or not lacking or pin.ref_kind.is_floating:
        return None
    ladder = ladders(commit)
    same = {name: judgement.same[name] for name in lacking}
    every = ladder.rungs(same)
    rungs = tuple(rung for rung in every if seen.graph.is_ancestor(commit, rung.to)) or every
    target = _target(rungs, {name for name in same if _is_goal(lacking[name], judgement)}, ladder, same)
    if target is None:
        return None
    fast_forward = seen.graph.is_ancestor(commit, target.to)
    return Proposal(
        pin=pin,
        commit=commit,
        target=target,
        ladder=tuple(sorted({rung.to: rung for rung in (*rungs, target)}.values(), key=lambda rung: rung.commits)),
        verdicts=tuple(lacking[name] for rung in rungs for name in rung.fixes),
        fast_forward=fast_forward,
        cautions=(
            *(() if fast_forward else losses(commit, surveyed.lines[0].tip, seen, surveyed)),
            *cheaper(target, ladder, same),
            *(it.said for it in regressions(target, commit, seen, judgement, repairs, ladder)),
        ),
    )


def _target(rungs: tuple[Rung, ...], strong: set[str], ladder: Ladder, same: Mapping[str, Equivalents]) -> Rung | None:
    """Return the smallest commit with every fix worth a bump, or with as many as one commit can have."""
    offered = {name for rung in rungs for name in rung.fixes}
    goal = strong & offered or offered
    most = max(rungs, key=lambda rung: (len(goal.intersection(rung.fixes)), -rung.commits), default=None)
    if most is None or not goal <= set(most.fixes):
        return most
    return ladder.target(goal, same)


def suggestion(proposal: Proposal, cost: Cost, scope: Scope = BY_NAME) -> Suggestion:
    """Return the proposal with its cost: versions, build contract, files by variant."""
    shipped = [path for path in cost.paths if is_shipped(path, scope)]
    return Suggestion(
        pin=proposal.pin.id,
        from_=proposal.commit,
        target=proposal.target,
        ladder=proposal.ladder,
        fast_forward=proposal.fast_forward,
        verdicts=tuple(dict.fromkeys(proposal.verdicts)),
        version_from=package_version(cost.before),
        version_to=package_version(cost.after),
        cautions=proposal.cautions,
        contract=contract_files(cost.paths),
        files=dict(Counter(variant_of(path, scope) or "any" for path in shipped)),
    )


def _position(commit: Oid, seen: Observation, surveyed: Survey) -> Oid | None:
    """Return what stands in for a pin that no published line has: where its work landed, else where it branched off."""
    if not surveyed.lines:
        return None
    graph, tip = seen.graph, surveyed.lines[0].tip
    landed = _landed(commit, seen, surveyed, tip)
    return landed or max(graph.merge_bases(tip, commit), key=graph.generations.__getitem__, default=None)


def _landed(commit: Oid, seen: Observation, surveyed: Survey, tip: Oid) -> Oid | None:
    """Return the first commit of a line that is a pinned commit under another id, or None."""
    on_line = seen.graph.holders(surveyed.twins.of(commit), [tip], first_parent=True)
    return next(iter(seen.graph.oldest_first(twin for twin, held in on_line.items() if held)), None)


def losses(commit: Oid, tip: Oid, seen: Observation, surveyed: Survey) -> tuple[str, ...]:
    """Say what becomes of a pin's own commits by a move to a line's commit that is no fast-forward."""
    graph = seen.graph
    if landed := _landed(commit, seen, surveyed, tip):
        return (f"not a fast-forward: the pin's own work landed as {landed[:12]}",)
    lost = graph.oldest_first(graph.between(tip, commit))
    names = ", ".join(
        f"{oid[:12]} ({seen.commits[oid].subject})" if oid in seen.commits else oid[:12] for oid in lost[-_NAMED:]
    )
    more = f" and {len(lost) - _NAMED} more" if len(lost) > _NAMED else ""
    return (f"not a fast-forward: moving loses {names}{more}",)


def cheaper(target: Rung, ladder: Ladder, same: Mapping[str, Equivalents]) -> tuple[str, ...]:
    """Mention another line that gives the same fixes for fewer commits."""
    beside = ladder.elsewhere([same[name] for name in target.fixes])
    if beside is None or beside.to == target.to or beside.commits >= target.commits:
        return ()
    line = beside.line.removeprefix("refs/heads/").removeprefix("refs/tags/")
    return (f"{line} offers the same at {beside.to[:12]} for {counted(beside.commits, 'commit')}",)


def regressions(
    target: Rung,
    commit: Oid,
    seen: Observation,
    judgement: Judged,
    repairs: Mapping[Oid, Repair],
    ladder: Ladder,
) -> tuple[Regression, ...]:
    """Return which bugs a target brings that a later fix repairs, and the smallest target without them.

    Where the later one repairs a fix that the target is for, the two belong together.
    """
    brought = seen.graph.between(commit, target.to)
    has = seen.graph.ancestors(target.to)
    mine = {oid: judgement.fixes[name] for name in target.fixes for oid in _parts(judgement.fixes[name])}
    found = []
    for name, fix in judgement.fixes.items():
        if name in target.fixes or held_as(judgement.same[name], has.__contains__):
            continue
        culprits = [oid for oid in (*fix.introduced, *_origins(repairs.get(fix.change.landing))) if oid in brought]
        paired = next((mine[oid] for oid in (*fix.completes, *culprits) if oid in mine), None)
        if not paired and (not culprits or fix.grade is Grade.POSSIBLE):
            continue
        clean = ladder.minimal([judgement.same[other] for other in (*target.fixes, name)])
        if paired:
            way_out = f"; {clean.to[:12]} is the smallest with both" if clean else ""
            said = f"{paired.change.title!r} is completed by {fix.change.title!r}, which came later{way_out}"
            found.append(Regression(culprit=paired.change.landing, repaired_by=name, said=said))
        else:
            way_out = f"; {clean.to[:12]} is the smallest without it" if clean else ""
            said = f"brings {culprits[0][:12]}, which {fix.change.title!r} repairs later{way_out}"
            found.append(Regression(culprit=culprits[0], repaired_by=name, said=said))
    return tuple(found)


def _parts(fix: Fix) -> tuple[Oid, ...]:
    """Return the landing of a fix, and the commits that landed with it."""
    return (fix.change.landing, *fix.change.commits)


def _origins(repair: Repair | None) -> Iterable[Oid]:
    """Return the commit that made the lines which a change removes, where all of them are of one commit."""
    removed = [anchor for anchor in (repair.anchors if repair else ()) if anchor.is_removed]
    origins = {anchor.origins[0] for anchor in removed}
    return origins if len(origins) == 1 and not any(anchor.is_older for anchor in removed) else ()
