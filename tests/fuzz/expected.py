"""Hold what a pass says of an upstream against what the model says of it."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tests.fuzz.history import MAIN, History
from watcher.model import Event, EventKind, Pass, Pin, Severity, State, Suggestion
from watcher.store import Owed

_SILENCE = {"upstream-gone", "upstream-unobserved"}
_LOST = {"pin-unreachable", "pin-absent"}
_FROM_FILES = {"pin-floating", "variant-drift"}
"""What our own files tell, whether or not anybody can look."""


@dataclass
class Expected:
    """What the model knows beside the history: our own pins, and what was seen of them."""

    history: History
    pins: dict[str, str] = field(default_factory=dict)
    """Variant → commit, or full ref name."""
    kept: set[str] = field(default_factory=set)
    """The commits that were seen pinned while a ref held them."""
    events: int = 0
    """How many events there were at the last look."""
    last: tuple[object, ...] = ()
    """What was there to be seen at the last look, if anybody saw it."""
    last_pins: dict[str, str] = field(default_factory=dict)

    def commit(self, variant: str) -> str | None:
        """Return the commit that a pin stands for, None where its ref is not there."""
        ref = self.pins[variant]
        return self.history.refs.get(ref) if ref.startswith("refs/") else ref


def troubles(
    expected: Expected,
    found: Pass,
    events: Sequence[Event],
    outbox: Iterable[Owed],
    has: Collection[str],
    names: Mapping[str, str],
    *,
    is_seen: bool,
) -> list[str]:
    """Return what is not as it should be after a look, and take the look into account.

    `has` are the kept commits that the mirror has; `names` is id → commit of the model.
    """
    new = events[expected.events :]
    said = [*_of_lives(events), *_of_messages(events, outbox)]
    said += [f"{it} was kept, and is not there" for it in expected.kept - set(has)]
    if bool(found.observed) != is_seen:
        said.append(f"observed {sorted(found.observed)}, reasons {[it.reason for it in found.unobserved]}")
    elif is_seen:
        said += _of_what_is_seen(expected, found, names)
        now = (dict(expected.history.refs), dict(expected.pins), frozenset(expected.history.lost))
        said += [f"nothing happened, yet {_event(it)}" for it in new if now == expected.last]
        expected.last = now
    else:
        said += _of_silence(expected, new)
        expected.last = ()
    expected.events, expected.last_pins = len(events), dict(expected.pins)
    if is_seen:
        held = expected.history.reached()
        expected.kept |= {ref for ref in expected.pins.values() if ref in held}
    return said


# --- what holds at any time ------------------------------------------------------------------------------------------


def _of_lives(events: Iterable[Event]) -> Iterator[str]:
    """Yield where a finding ends that is over, begins that is there, or takes a step twice."""
    is_open: dict[str, bool] = {}
    for event in events:
        key, was = event.finding.key, is_open.get(event.finding.key)
        fits = {
            EventKind.OPENED: was is None,
            EventKind.REOPENED: was is False,
            EventKind.RESOLVED: was is True,
            EventKind.CHANGED: was is True,
        }
        if not fits.get(event.kind, True):
            yield f"out of order: {_event(event)}"
        is_open[key] = event.kind is not EventKind.RESOLVED
    counted = Counter(event.id for event in events)
    yield from (f"{count} times {event}" for event, count in counted.items() if count > 1)


def _of_messages(events: Iterable[Event], outbox: Iterable[Owed]) -> Iterator[str]:
    """Yield the events that owe a message and have none, and those that have several."""
    messages = tuple(outbox)
    counted = Counter(message.key.rpartition(" ")[0] for message in messages)
    yield from (f"{count} messages for {about}" for about, count in counted.items() if count > 1)
    # Of a finding that comes and goes the news is held, and what is past meanwhile nobody hears.
    calm = {it.payload.get("finding") for it in messages if it.not_before or it.dropped_at}
    for event in events:
        concern = event.finding.concern
        is_loud = (
            concern.severity is not Severity.LOW if not event.is_baseline else concern.severity is Severity.CRITICAL
        )
        is_news = event.kind in {EventKind.OPENED, EventKind.REOPENED}
        if is_loud and is_news and event.id not in counted and event.finding.key not in calm:
            yield f"told nobody: {_event(event)}"


def _event(event: Event) -> str:
    return f"{event.kind} {event.finding.key}"


# --- while nobody can look -------------------------------------------------------------------------------------------


def _of_silence(expected: Expected, new: Iterable[Event]) -> Iterator[str]:
    """Yield what opened or ended though nobody could look, and is not about what our own files say."""
    mine, before = expected.pins, expected.last_pins
    moved = {it for it in (*mine, *before) if mine.get(it) != before.get(it)}
    for event in new:
        kind = event.finding.concern.kind
        is_moved = moved.intersection(event.finding.concern.variants)
        if kind not in _SILENCE and not is_moved and not (moved and kind in _FROM_FILES):
            yield f"unobserved, yet {_event(event)}"


# --- what is seen ----------------------------------------------------------------------------------------------------


def _of_what_is_seen(expected: Expected, found: Pass, names: Mapping[str, str]) -> Iterator[str]:
    live: dict[str | None, set[str]] = {}
    for finding in found.findings:
        if finding.state is not State.RESOLVED:
            live.setdefault(finding.concern.pin, set()).add(finding.concern.kind)
            if finding.concern.kind in _SILENCE:
                yield f"observed, yet {finding.key}"
    if expected.pins.keys() != {pin.variant for pin in found.pins}:
        yield f"pinned {sorted(expected.pins)}, found {sorted(pin.variant for pin in found.pins)}"
        return
    if len(set(expected.pins.values())) == 1 and "variant-drift" in live.get(None, ()):
        yield "all variants are the same, yet they drifted"
    for pin in found.pins:
        yield from (f"{pin.variant}: {it}" for it in _of_pin(expected, found, pin, live.get(pin.id, set()), names))


def _of_pin(
    expected: Expected, found: Pass, pin: Pin, live: Collection[str], names: Mapping[str, str]
) -> Iterator[str]:
    history, commit, ref = expected.history, expected.commit(pin.variant), expected.pins[pin.variant]
    holders = history.holders(commit) if commit else []
    lost = _LOST.intersection(live)
    if bool(lost) == bool(holders):
        yield f"held by {holders}, yet {sorted(lost) or 'nothing'} is told; {found.reachability[pin.id]}"
    if commit is None and lost != {"pin-absent"}:
        yield f"no {ref}, yet {sorted(lost)}"
    if not holders and commit in expected.kept and lost != {"pin-unreachable"}:
        yield f"{commit} was kept, yet {sorted(lost)}"
    if commit is not None and (known := found.commits.get(pin.id)) and names.get(known) != commit:
        yield f"stands for {commit}, found {names.get(known)}"
    is_default = found.reachability[pin.id].cls == "default"
    if is_default != (MAIN in holders):
        yield f"held by {holders}, yet {found.reachability[pin.id]}"
    if commit is not None and holders:
        yield from _of_fixes(history, found, pin, commit, names)


def _of_fixes(history: History, found: Pass, pin: Pin, commit: str, names: Mapping[str, str]) -> Iterator[str]:
    """Yield offers of what a pin has, fixes that it lacks and nobody offers, and targets that are none."""
    offered = {
        names[finding.key.rpartition(":")[2]]
        for finding in found.findings
        if finding.state is not State.RESOLVED
        and finding.concern.kind == "fix-available"
        and finding.concern.pin == pin.id
    }
    for fix in offered & history.standing(commit):
        yield f"{commit} has {fix}, yet it is offered"
    if pin.ref and pin.ref in names:
        for fix in _surely_lacking(history, commit) - offered:
            yield f"{commit} lacks {fix}, yet it is not offered"
    landings = {fix.id: names[fix.change.landing] for fix in found.fixes}
    for made in found.suggestions:
        if made.pin == pin.id:
            yield from _of_suggestion(history, made, commit, landings, names)


def _surely_lacking(history: History, commit: str) -> set[str]:
    """Return the fixes on main's own line, ahead of a pin on it, of parts that were repaired once and for all."""
    line = list(history.line(history.refs[MAIN]))
    if commit not in line:
        return set()
    return {it for it in line[: line.index(commit)] if it in history.fixes and history.is_plain(it)}


def _of_suggestion(
    history: History, made: Suggestion, commit: str, landings: Mapping[str, str], names: Mapping[str, str]
) -> Iterator[str]:
    target = names[made.target.to]
    goal = [landings[fix] for fix in made.target.fixes]
    for verdict in made.verdicts:
        if verdict.contained_as and names[verdict.contained_as] not in history.ancestors(commit):
            yield f"{commit} is said to have a fix as {names[verdict.contained_as]}"
    if not history.is_published(target, commit):
        yield f"{target} is offered, which was never published"
    if made.fast_forward and commit not in history.ancestors(target):
        yield f"{target} is offered as newer than {commit}"
    if missing := [it for it in goal if it in history.fixes and history.fixes[it] not in history.repaired[target]]:
        yield f"{target} is offered, which lacks {missing}"
    if made.fast_forward and (better := _smaller(history, commit, target, made.target.line, goal)):
        yield f"{target} is offered for {goal}, though {better} will do"


def _smaller(history: History, commit: str, target: str, ref: str, goal: Collection[str]) -> str | None:
    """Return an earlier commit of the target's line that has the pin and every fix, and took nothing back."""
    line = list(history.line(history.refs[ref]))
    for earlier in line[line.index(target) + 1 :]:
        has = history.ancestors(earlier)
        if commit in has and all(
            it in has and (it in history.standing(earlier) or it not in history.fixes) for it in goal
        ):
            return earlier
    return None
