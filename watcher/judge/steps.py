"""What lies between a pin and a target: fixes, landings, files, version, build contract, and what to mind?"""

from collections import Counter

from watcher.judge.changes import landings
from watcher.judge.contract import Difference, package_version, terms
from watcher.judge.destinations import Destination, Ground
from watcher.judge.equivalents import Equivalents, equivalents, held_as
from watcher.judge.offers import fix_words, of_fixes
from watcher.judge.shipped import BY_NAME, Scope, is_shipped, variant_of
from watcher.judge.stays import listed, short_name
from watcher.judge.suggest import Regression, cheaper, is_strong, ladder_for, losses, regressions, wanted
from watcher.model import Change, Fix, Oid, Pin, Rung
from watcher.planned import Gain, Passed, Step, Way
from watcher.plural import counted

_TAKEN_BACK = "taken back later"


def step(pin: Pin, it: Destination, ground: Ground, difference: Difference, scope: Scope = BY_NAME) -> Step:
    """Return the way of a pin to a destination; `difference` is between the two."""
    commit = ground.commit(pin)
    graph = ground.seen.graph
    gains, lacks = _concerning(pin, it.to, ground)
    way = _way(commit, it.to, ground)
    tip, floor = (commit, it.to) if way is Way.BACK else (it.to, commit)
    passed = landings(graph.first_parent_line(tip), floor, graph, ground.seen.commits)
    rung = Rung(
        to=it.to,
        fixes=tuple(gain.fix.id for gain in gains),
        commits=len(graph.between(commit, it.to)),
        landings=0 if way is Way.BACK else len(passed),
        line=it.line or "",
        committed_at=it.committed_at or ground.seen.at,
    )
    worse = _regressions(rung, commit, ground)
    told = tuple(_passed(change, rung, worse, ground) for change in passed)
    loses = _loses(pin, it.to, ground)
    shipped = [path for path in difference.paths if is_shipped(path, scope)]
    suggested = ground.suggestions.get(pin.id)
    return Step(
        pin=pin,
        from_=commit,
        way=way,
        rung=rung,
        gains=gains,
        lacks=lacks,
        loses=loses,
        passed=told,
        back=len(graph.between(it.to, commit)),
        files=dict(Counter(variant_of(path, scope) or "any" for path in shipped)),
        other_files=len(difference.paths) - len(shipped),
        version_from=package_version(difference.before),
        version_to=package_version(difference.after),
        terms=terms(difference),
        cautions=(
            *_backwards(commit, it.to, loses, ground),
            *_beside(rung, commit, ground),
            *(found.said for found in worse),
            *(f"{_change_words(one.change)}: {_TAKEN_BACK}" for one in told if _TAKEN_BACK in one.later),
        ),
        ladder=suggested.ladder if suggested else (),
    )


def _way(commit: Oid, to: Oid, ground: Ground) -> Way:
    graph = ground.seen.graph
    if graph.is_ancestor(commit, to):
        return Way.FORWARD
    return Way.BACK if graph.is_ancestor(to, commit) else Way.SIDEWAYS


def _concerning(pin: Pin, to: Oid, ground: Ground) -> tuple[tuple[Gain, ...], tuple[Gain, ...]]:
    """Return the fixes that concern a pin: those that the target has, those worth a bump first, and the rest."""
    lacking = wanted(pin, ground.judgement)
    said = zip(lacking.values(), of_fixes(pin, ground.judgement, {}, ground.seen), strict=True)
    every = [
        Gain(
            fix=ground.judgement.fixes[verdict.fix],
            verdict=verdict,
            is_worth=is_strong(verdict, ground.judgement),
            headline=concern.headline.removeprefix(f"{pin.name}: "),
            why=concern.detail,
        )
        for verdict, concern in said
    ]
    has = ground.has(to, lacking)
    ordered = sorted(every, key=lambda gain: not gain.is_worth)
    return tuple(it for it in ordered if it.fix.id in has), tuple(it for it in ordered if it.fix.id not in has)


def _loses(pin: Pin, to: Oid, ground: Ground) -> tuple[Fix, ...]:
    verdicts = ground.judgement.verdicts.get(pin.id, {})
    had = [name for name, said in verdicts.items() if said.contained_as]
    return tuple(ground.judgement.fixes[name] for name in had if name not in ground.has(to, had))


def _regressions(rung: Rung, commit: Oid, ground: Ground) -> tuple[Regression, ...]:
    ladder = ladder_for(commit, ground.seen, ground.surveyed)
    return regressions(rung, commit, ground.seen, ground.judgement, ground.repairs, ladder)


def _passed(change: Change, rung: Rung, worse: tuple[Regression, ...], ground: Ground) -> Passed:
    fixes = ground.judgement.fixes
    own = {change.landing, *change.commits}
    gained = {oid for name in rung.fixes for oid in (fixes[name].change.landing, *fixes[name].change.commits)}
    repaired = (short_name(fixes[it.repaired_by]) for it in worse if it.culprit in own)
    return Passed(
        change=change,
        is_fix=any(fix.change.landing == change.landing for fix in fixes.values()),
        is_gained=change.landing in gained,
        later=(
            *(f"repaired later by {name}" for name in dict.fromkeys(repaired)),
            *((_TAKEN_BACK,) if _is_taken_back(change, rung.to, ground) else ()),
        ),
    )


def _is_taken_back(change: Change, to: Oid, ground: Ground) -> bool:
    """Answer whether the line that we follow no longer has a change that the target has."""
    if not ground.surveyed.lines:
        return False
    same: Equivalents = equivalents(change, ground.index, ground.seen.graph)
    tip = ground.history(ground.surveyed.lines[0].tip)
    is_on_line = change.landing in tip
    return is_on_line and bool(held_as(same, ground.history(to).__contains__)) and not held_as(same, tip.__contains__)


def _backwards(commit: Oid, to: Oid, loses: tuple[Fix, ...], ground: Ground) -> tuple[str, ...]:
    """Say aloud what a move back, or aside, takes away."""
    gone = (f"takes away {listed(map(fix_words, loses))}, which the pin has",) if loses else ()
    match _way(commit, to, ground):
        case Way.FORWARD:
            return gone
        case Way.BACK:
            count = counted(len(ground.seen.graph.between(to, commit)), "commit")
            return (f"a downgrade: the target is older than what is pinned and takes back {count}", *gone)
        case Way.SIDEWAYS:
            return (*losses(commit, to, ground.seen, ground.surveyed), *gone)


def _beside(rung: Rung, commit: Oid, ground: Ground) -> tuple[str, ...]:
    if not rung.fixes:
        return ()
    ladder = ladder_for(commit, ground.seen, ground.surveyed)
    return cheaper(rung, ladder, ground.judgement.same)


def _change_words(change: Change) -> str:
    number = f"#{change.pull_request} " if change.pull_request else f"{change.landing[:12]} "
    return f"{number}“{change.title}”"
