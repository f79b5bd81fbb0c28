"""What becomes of the pins that a bump does not move, and why?"""

from collections.abc import Iterable

from watcher.judge import concerns
from watcher.judge.destinations import LOST, Destination, Ground
from watcher.judge.suggest import wanted
from watcher.model import Fix, Kind, Oid, Pin, Reachability, RefKind
from watcher.planned import Stance, Stay

_LOSSES = {Kind.PIN_UNREACHABLE, Kind.PIN_ABSENT, Kind.PIN_AMBIGUOUS}


def short_name(fix: Fix) -> str:
    """Return how a fix is called where its title was told before."""
    return f"#{fix.change.pull_request}" if fix.change.pull_request else fix.change.landing[:12]


def listed(names: Iterable[str]) -> str:
    """Return names in a sentence: a, b and c."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def stay(pin: Pin, gained: Iterable[str], others: Iterable[Destination], to: Oid | None, ground: Ground) -> Stay:
    """Return what becomes of a pin that does not go `to` a commit with the fixes `gained`; `others` are elsewhere."""
    if fixed := _fixed(pin, ground):
        return fixed
    commit = ground.seen.commit_of(pin)
    if commit == to:
        return Stay(pin=pin, stance=Stance.THERE, said="stands there already: no change")
    if other := next((it for it in others if pin in it.pins), None):
        return Stay(pin=pin, stance=Stance.APART, said=f"moves to {other.to[:12]}, not to the same commit")
    lacking = wanted(pin, ground.judgement)
    names = tuple(gained)
    if missed := [ground.judgement.fixes[name] for name in names if name in lacking]:
        lacks = f"it lacks {listed(map(short_name, missed))} too"
        said = f"is left behind at {str(commit)[:12]}: {lacks}; --all-variants moves it as well"
        return Stay(pin=pin, stance=Stance.LEFT_BEHIND, said=said)
    if names:
        return _unconcerned(pin, names, ground)
    if to is not None:
        return Stay(pin=pin, stance=Stance.STAYS, said=f"stays at {str(commit)[:12]}")
    if not lacking:
        said = "nothing to gain: no fix found that concerns it"
        return Stay(pin=pin, stance=Stance.NOTHING_TO_GAIN, said=said)
    missing = listed(short_name(ground.judgement.fixes[name]) for name in lacking)
    if pin.id in ground.suggestions:
        return Stay(pin=pin, stance=Stance.LEFT_BEHIND, said=f"stays at {str(commit)[:12]}: it lacks {missing}")
    said = f"it lacks {missing}, and no published commit has both what is pinned and that"
    return Stay(pin=pin, stance=Stance.NO_WAY, said=said)


def foreign(pin: Pin, upstream: str) -> Stay:
    """Return what becomes of a pin of the same dependency that is of another repository."""
    said = f"is another repository than {concerns.short_name(upstream)}: not moved"
    return Stay(pin=pin, stance=Stance.OTHER_REPOSITORY, said=said)


def unseen(pin: Pin, reason: str) -> Stay:
    """Return what becomes of a pin whose upstream could not be looked at: nothing is said of it."""
    return Stay(pin=pin, stance=Stance.UNOBSERVED, said=f"could not be looked at: {reason}")


def _fixed(pin: Pin, ground: Ground) -> Stay | None:
    """Return why a pin can never be moved by us, or None."""
    reach = ground.reachability.get(pin.id)
    commit = ground.seen.commit_of(pin)
    if reach is None or pin.ref_kind is RefKind.UNRESOLVED:
        return Stay(pin=pin, stance=Stance.UNRESOLVED, said="the files do not say which ref is used: not moved")
    if reach.cls in LOST:
        return _lost(pin, reach, ground)
    if pin.ref_kind.is_floating:
        branch = pin.wanted or (ground.seen.advertisement.head or "the default branch").removeprefix("refs/heads/")
        advice = (f"pin {commit} at {pin.place} to stay where it is now",) if commit else ()
        return Stay(pin=pin, stance=Stance.FLOATING, said=f"follows {branch}: pin it", advice=advice)
    return None


def _lost(pin: Pin, reach: Reachability, ground: Ground) -> Stay:
    """Return the evidence and the advice about a pin that cannot be reached: it may be an attack."""
    raised = [it for it in concerns.of_pin(pin, reach, ground.seen) if it.kind in _LOSSES]
    if not raised:
        return Stay(pin=pin, stance=Stance.LOST, said=f"is not bumped: {reach.detail}")
    concern = raised[0]
    said = concern.headline.removeprefix(f"{pin.name}: ")
    return Stay(pin=pin, stance=Stance.LOST, said=f"is not bumped: {said}", advice=(*concern.detail, concern.advice))


def _unconcerned(pin: Pin, names: tuple[str, ...], ground: Ground) -> Stay:
    """Say which of the fixes a pin has, as which commit, and why it needs none of the others."""
    verdicts = ground.judgement.verdicts.get(pin.id, {})
    has, free = [], []
    for name in names:
        fix, said = ground.judgement.fixes[name], verdicts.get(name)
        if said and said.contained_as:
            has.append(f"{short_name(fix)} (as {said.contained_as[:12]})")
        else:
            reason = said.reason if said else "it touches nothing that is shipped for it"
            free.append(f"{short_name(fix)} does not concern it ({reason})")
    told = [f"already has {listed(has)}"] if has else []
    stance = Stance.HAS_IT if has else Stance.NOT_CONCERNED
    return Stay(pin=pin, stance=stance, said=f"{'; '.join([*told, *free])}: no change")
