"""Find what a person named on the command line, and gather the argument about it."""

from collections.abc import Iterable
from datetime import datetime

from watcher.config import Settings
from watcher.downstreams import discover
from watcher.errors import UnobservedError, UsageError
from watcher.model import Pin
from watcher.progress import Progress, quiet
from watcher.report.explain import Argument
from watcher.store import Store
from watcher.upstreams import Looked, look, mirror_folder

_SUGGESTED = 8
"""How many names a message offers."""


def arguments(
    settings: Settings, store: Store, what: str, *, now: datetime, progress: Progress = quiet
) -> tuple[Argument, ...]:
    """Return the argument about each pin that a name means; nothing is recorded.

    Raises UsageError for a name that means nothing, UnobservedError where the upstream cannot be observed now.
    """
    pins = discover(settings, now=now, progress=progress).pins
    wanted = _wanted(store, what, pins)
    upstreams = {pin.upstream for pin in wanted}
    looked = look(settings, store, [pin for pin in pins if pin.upstream in upstreams], now=now, progress=progress)
    return tuple(_argument(settings, pin, looked) for pin in wanted)


def _wanted(store: Store, what: str, pins: Iterable[Pin]) -> tuple[Pin, ...]:
    mine = tuple(pins)
    if named := tuple(pin for pin in mine if what in {pin.id, pin.name, pin.place, pin.upstream}):
        return named
    known = [finding for finding in store.findings() if what in {finding.handle, finding.key}]
    concerned = {finding.concern.pin for finding in known}
    upstreams = {finding.concern.upstream for finding in known if finding.concern.pin is None}
    found = tuple(pin for pin in mine if pin.id in concerned or pin.upstream in upstreams)
    if not found:
        names = ", ".join(sorted({pin.name for pin in mine})[:_SUGGESTED])
        raise UsageError(f"no pin or finding {what!r}; there are pins of {names}")
    return found


def _argument(settings: Settings, pin: Pin, looked: Looked) -> Argument:
    assessment = looked.assessments.get(pin.upstream or "")
    if assessment is None:
        silent = looked.unobserved.get(pin.upstream or "")
        reason = silent.reason if silent else "the files do not say which repository, or which ref, it is"
        raise UnobservedError(f"{pin.place}: {pin.name} cannot be explained now: {reason}")
    judgement = assessment.judgement
    return Argument(
        pin=pin,
        commit=assessment.seen.commit_of(pin),
        reachability=assessment.reachability[pin.id],
        bound=assessment.seen.bound,
        verdicts=judgement.verdicts.get(pin.id, {}),
        fixes=judgement.fixes,
        repairs=assessment.repairs,
        single=assessment.single.get(pin.id, {}),
        suggestion=next((made for made in assessment.suggestions if made.pin == pin.id), None),
        mirror=str(mirror_folder(settings, pin.upstream or "")),
    )
