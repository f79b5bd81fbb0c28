"""Find what a person named on the command line, and gather the argument about it."""

from datetime import datetime

from watcher.config import Settings
from watcher.downstreams import discover
from watcher.errors import UnobservedError
from watcher.meant import meant
from watcher.model import Pin
from watcher.progress import Progress, quiet
from watcher.report.explain import Argument
from watcher.store import Store
from watcher.upstreams import Examined, examined, mirror_folder


def arguments(
    settings: Settings, store: Store, what: str, *, now: datetime, progress: Progress = quiet
) -> tuple[Argument, ...]:
    """Return the argument about each pin that a name means; nothing is recorded.

    Raises UsageError for a name that means nothing, UnobservedError where the upstream cannot be observed now.
    """
    pins = discover(settings, now=now, progress=progress).pins
    wanted = meant(store, what, pins)
    upstreams = {pin.upstream for pin in wanted}
    looked = examined(settings, store, [pin for pin in pins if pin.upstream in upstreams], now=now, progress=progress)
    return tuple(_argument(settings, pin, looked) for pin in wanted)


def _argument(settings: Settings, pin: Pin, looked: Examined) -> Argument:
    assessment = looked.assessments.get(pin.upstream or "")
    reach = assessment.reachability.get(pin.id) if assessment else None
    if assessment is None or reach is None:
        silent = looked.unobserved.get(pin.upstream or "")
        reason = silent.reason if silent else "the files do not say which repository, or which ref, it is"
        raise UnobservedError(f"{pin.place}: {pin.name} cannot be explained now: {reason}")
    judgement = assessment.judgement
    return Argument(
        pin=pin,
        commit=assessment.seen.commit_of(pin),
        reachability=reach,
        bound=assessment.seen.bound,
        verdicts=judgement.verdicts.get(pin.id, {}),
        fixes=judgement.fixes,
        repairs=assessment.repairs,
        single=assessment.single.get(pin.id, {}),
        suggestion=next((made for made in assessment.suggestions if made.pin == pin.id), None),
        pages=settings.pages(pin.upstream),
        mirror=str(mirror_folder(settings, pin.upstream or "")),
    )
