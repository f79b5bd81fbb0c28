"""What is the plan of a bump: which pins go where, why there, who stays, and what to mind?"""

import re
from collections.abc import Callable, Iterable

from watcher.judge.contract import Difference
from watcher.judge.destinations import Aim, Destination, Ground, destinations
from watcher.judge.shipped import BY_NAME, Scope
from watcher.judge.stays import listed, short_name, stay
from watcher.judge.steps import step
from watcher.model import Fix, Oid, Pin
from watcher.planned import Plan, Step, Way
from watcher.plural import counted

Differences = Callable[[Oid, Oid], Difference]
"""Tells what differs between a pinned commit and a target."""

_NAMED = 4
"""So many fixes are named one by one."""
_WORTH = {Aim.MINIMAL: "worth a bump", Aim.ALL_FIXES: "that one commit can have"}
_VERSION_TAG = re.compile(r"refs/tags/\D{0,40}\d+[._]\d")
"""Tags that name a version; those of nightly builds and of robots say nothing."""


def plans(
    name: str,
    meant: tuple[Pin, ...],
    others: tuple[Pin, ...],
    aim: Aim | Oid,
    ground: Ground,
    differences: Differences,
    *,
    together: bool,
    scope: Scope = BY_NAME,
) -> tuple[Plan, ...]:
    """Return a plan for each commit that pins of one upstream go to; where none goes anywhere, one that says why.

    `meant` are the pins that somebody wants to move, `others` those of the same dependency; `together` moves both.
    """
    pins = (*meant, *others)
    going = destinations(pins if together else meant, aim, ground, together=together)
    if not going:
        there = None if isinstance(aim, Aim) else aim
        told = tuple(stay(pin, (), (), there, ground) for pin in pins)
        return (Plan(name=name, upstream=ground.seen.upstream, to=None, stays=told),)
    return tuple(_plan(name, pins, it, going, aim, ground, differences, scope) for it in going)


def _plan(
    name: str,
    pins: Iterable[Pin],
    it: Destination,
    going: tuple[Destination, ...],
    aim: Aim | Oid,
    ground: Ground,
    differences: Differences,
    scope: Scope,
) -> Plan:
    steps = tuple(step(pin, it, ground, differences(ground.commit(pin), it.to), scope) for pin in it.pins)
    gained = tuple(dict.fromkeys(gain.fix.id for one in steps for gain in one.gains))
    refs = ground.seen.advertisement.refs
    return Plan(
        name=name,
        upstream=ground.seen.upstream,
        to=it.to,
        line=it.line,
        committed_at=it.committed_at,
        tags=tuple(_short(ref.name) for ref in refs if ref.commit == it.to and ref.name.startswith("refs/tags/")),
        why=_why(it, steps, aim, ground),
        steps=steps,
        stays=tuple(stay(pin, gained, going, it.to, ground) for pin in pins if pin not in it.pins),
        cautions=_about_target(it, ground),
    )


# --- why this commit -----------------------------------------------------------------------------------------------


def _why(it: Destination, steps: tuple[Step, ...], aim: Aim | Oid, ground: Ground) -> tuple[str, ...]:
    if not isinstance(aim, Aim):
        return (f"you asked for it{_where(it)}", *_smallest(it, steps, ground))
    needed = _needed(steps, aim, ground)
    pinned = ["what is pinned"] if all(one.way is Way.FORWARD for one in steps) else []
    is_few = len(needed) <= _NAMED
    fixes = [*map(short_name, needed)] if is_few else [f"all {len(needed)} fixes {_WORTH[aim]}"]
    has = listed([*pinned, *fixes])
    first = f"the first state of {_short(it.line or '')} that has {has}"
    return (first, *_one_earlier(it, steps, ground), *_unpublished(it, steps, ground))


def _needed(steps: tuple[Step, ...], aim: Aim, ground: Ground) -> tuple[Fix, ...]:
    """Return the fixes that the target was chosen for, oldest landing first."""
    gains = {gain.fix.id: gain for one in steps for gain in one.gains}
    worth = {name: gain for name, gain in gains.items() if gain.is_worth and aim is Aim.MINIMAL}
    chosen = {gain.fix.change.landing: gain.fix for gain in (worth or gains).values()}
    order = ground.seen.graph.oldest_first(landing for landing in chosen if landing in ground.seen.graph)
    return tuple(chosen[landing] for landing in order)


def _one_earlier(it: Destination, steps: tuple[Step, ...], ground: Ground) -> tuple[str, ...]:
    """Say what the state before the target lacks: so that nobody need believe that it is the smallest."""
    before = next(iter(ground.seen.graph.parents(it.to)), None)
    if before is None or any(one.from_ == before for one in steps):
        return ()
    fixes = {gain.fix.id: gain.fix for one in steps for gain in one.gains}
    had = ground.has(before, fixes)
    missed = [short_name(fix) for name, fix in fixes.items() if name not in had]
    is_behind = any(not ground.seen.graph.is_ancestor(one.from_, before) for one in steps)
    lacks = [*(["what is pinned"] if is_behind and not missed else []), *missed]
    return (f"one landing earlier, {before[:12]} lacks {listed(lacks)}",) if lacks else ()


def _unpublished(it: Destination, steps: tuple[Step, ...], ground: Ground) -> tuple[str, ...]:
    """Mention the merged branch, where it would do by itself: it was never offered to anybody."""
    graph = ground.seen.graph
    names = {gain.fix.id for one in steps for gain in one.gains}
    published = {line.tip for line in ground.surveyed.lines}
    for branch in graph.parents(it.to)[1:]:
        is_enough = branch not in published and all(graph.is_ancestor(one.from_, branch) for one in steps)
        if is_enough and ground.has(branch, names) == names:
            fewer = counted(len(graph.between(branch, it.to)), "commit")
            return (f"{branch[:12]} alone is {fewer} fewer, but no tip that upstream published ever was it",)
    return ()


def _where(it: Destination) -> str:
    return f"; it is on {_short(it.line)}" if it.line else ""


def _smallest(it: Destination, steps: tuple[Step, ...], ground: Ground) -> tuple[str, ...]:
    """Name the smallest bump beside the commit that was asked for."""
    made = {ground.suggestions[one.pin.id].target for one in steps if one.pin.id in ground.suggestions}
    return tuple(
        f"the smallest with the fixes worth a bump is {rung.to[:12]} ({counted(rung.commits, 'commit')})"
        for rung in sorted(made, key=lambda rung: rung.commits)
        if rung.to != it.to
    )


# --- what to mind about it -----------------------------------------------------------------------------------------


def _about_target(it: Destination, ground: Ground) -> tuple[str, ...]:
    return (*_unfollowed(it, ground), *_newer_tag(it, ground))


def _unfollowed(it: Destination, ground: Ground) -> tuple[str, ...]:
    if it.line is None:
        return ("upstream never published this state: it is a commit inside a branch",)
    if it.is_followed or not ground.surveyed.lines:
        return ()
    return (f"it is on {_short(it.line)}, not on {_short(ground.surveyed.lines[0].name)}, which we follow",)


def _newer_tag(it: Destination, ground: Ground) -> tuple[str, ...]:
    """Name the nearest version that upstream tagged after the target."""
    graph = ground.seen.graph
    above = graph.descendants(it.to)
    tagged = [ref for ref in ground.seen.advertisement.refs if _VERSION_TAG.match(ref.name)]
    if any(ref.commit == it.to for ref in tagged):
        return ()
    newer = sorted((ref for ref in tagged if ref.commit in above), key=lambda ref: graph.generations[ref.commit])
    if not newer:
        return ()
    count = counted(len(graph.between(it.to, newer[0].commit)), "commit")
    return (f"upstream released it since, in {_short(newer[0].name)}: {count} more",)


def _short(ref: str) -> str:
    return ref.removeprefix("refs/heads/").removeprefix("refs/tags/")
