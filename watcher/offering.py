"""Could the service propose the bump that a finding asks for, where, and which one?

Only what a bump of the service's own would answer is offered: its target is the smallest commit with every fix worth
a bump, and a fix that is less may not be in it.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from watcher.config import BumpWay, Settings
from watcher.model import Concern, Kind, Pin
from watcher.report.alert import Offer, asks_for_bump
from watcher.store import Store


def offered(settings: Settings, store: Store, concern: Concern) -> Offer | None:
    """Return the bump that the service can propose, or None: nothing to bump to, no forge, or no token for it."""
    if not asks_for_bump(concern) or not any(_has_token(settings, it.name) for it in settings.downstreams):
        return None
    stood = store.standings("upstream").get(concern.upstream or "", {})
    suggested = {str(made.get("pin")): made for made in _rows(stood, "suggestions") if made.get("to")}
    pins = [pin for reading in store.readings().values() for pin in reading.pins if pin.id in suggested]
    mine = _answered(concern, pins, suggested, stood, store)
    if not any(_has_token(settings, pin.downstream) for pin in mine):
        return None
    ordered = [*mine, *(pin for pin in pins if pin not in mine)]
    repositories = {pin.downstream: None for pin in ordered if _has_token(settings, pin.downstream)}
    return Offer(
        name=concern.dependency or mine[0].name,
        repositories=tuple(_repository(settings, name) for name in repositories),
        targets=tuple(dict.fromkeys(str(suggested[pin.id]["to"]) for pin in ordered)),
        is_issue=settings.bumps.way(concern.severity) is BumpWay.ISSUE,
        is_together=len(pins) > 1,
    )


def _answered(
    concern: Concern,
    pins: Iterable[Pin],
    suggested: Mapping[str, Mapping[str, Any]],
    stood: Mapping[str, Any],
    store: Store,
) -> list[Pin]:
    """Return the pins whose suggested bumps bring what a finding misses; none where one of them does not."""
    if concern.kind is Kind.FIX_AVAILABLE:
        names = {str(fix.get("id")) for fix in _rows(stood, "fixes") if concern.key.endswith(f":{fix.get('landing')}")}
        return [pin for pin in pins if pin.id == concern.pin and names & _fixes(suggested[pin.id])]
    drifted = store.standings("drift").get(concern.key.removeprefix(f"{concern.kind}:"), {})
    lacks = {variant: {*names} for variant, names in (drifted.get("lacks") or {}).items() if names}
    mine = [pin for pin in pins if pin.variant in lacks and pin.id in (drifted.get("pins") or ())]
    is_whole = {pin.variant for pin in mine} == lacks.keys()
    return mine if is_whole and all(lacks[pin.variant] <= _fixes(suggested[pin.id]) for pin in mine) else []


def _has_token(settings: Settings, downstream: str) -> bool:
    address = next((it.repository for it in settings.downstreams if it.name == downstream), None)
    place = settings.forge(address) if address else None
    return place is not None and place.token is not None


def _repository(settings: Settings, downstream: str) -> str:
    """Return a downstream's address as people say it."""
    found = next(it.repository or "" for it in settings.downstreams if it.name == downstream)
    return found.partition("://")[2] or found


def _fixes(made: Mapping[str, Any]) -> set[str]:
    return {str(it) for it in made.get("fixes") or ()}


def _rows(standing: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    return [row for row in standing.get(key) or () if isinstance(row, dict)]
