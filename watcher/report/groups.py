"""Arrange findings so that one trouble is told once: by dependency, equal words for several pins together."""

from collections.abc import Iterable
from dataclasses import dataclass

from watcher.model import Concern, Finding, Kind, Pass, Pin, Severity, State, Suggestion
from watcher.report.places import is_of_several, place


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One thing to say, about one or several places."""

    concern: Concern
    findings: tuple[Finding, ...]
    places: tuple[str, ...]
    """`file:line (variant)` of each pin that it is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """What is wrong with one dependency, the worst first."""

    name: str
    severity: Severity
    told: tuple[Told, ...]
    bumps: tuple[tuple[Suggestion, tuple[Pin, ...]], ...]
    """Each suggestion, with the pins that it would move the same way."""


def groups(found: Pass) -> tuple[Group, ...]:
    """Return what is open, by dependency, the most severe dependency first."""
    pins = {pin.id: pin for pin in found.pins}
    order = {name: number for number, name in enumerate(pins)}
    by_name: dict[str, list[Finding]] = {}
    for finding in sorted(found.findings, key=lambda it: (order.get(it.concern.pin or "", 0), it.key)):
        if finding.state is State.OPEN:
            by_name.setdefault(_name(finding.concern, pins), []).append(finding)
    suggested: dict[str, list[Suggestion]] = {}
    for suggestion in found.suggestions:
        if suggestion.pin in pins:
            suggested.setdefault(pins[suggestion.pin].name, []).append(suggestion)
    is_owned = is_of_several(pins)
    made = [
        _group(name, findings, suggested.get(name, []), pins, is_owned=is_owned) for name, findings in by_name.items()
    ]
    return tuple(sorted(made, key=lambda group: (-group.severity.rank, group.name)))


def _name(concern: Concern, pins: dict[str, Pin]) -> str:
    if concern.pin in pins:
        return pins[concern.pin].name
    return concern.headline.split(":", 1)[0] if concern.kind is Kind.VARIANT_DRIFT else _last(concern)


def _last(concern: Concern) -> str:
    return (concern.upstream or concern.key).rsplit("/", 1)[-1]


def _group(
    name: str, findings: list[Finding], suggested: list[Suggestion], pins: dict[str, Pin], *, is_owned: bool
) -> Group:
    told: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in sorted(findings, key=lambda it: -it.concern.severity.rank):
        concern = finding.concern
        told.setdefault((concern.kind, concern.headline, concern.advice), []).append(finding)
    ids = {finding.concern.pin for finding in findings if finding.concern.kind is Kind.FIX_AVAILABLE}
    return Group(
        name=name,
        severity=max((finding.concern.severity for finding in findings), key=lambda severity: severity.rank),
        told=tuple(_told(same, pins, is_owned=is_owned) for same in told.values()),
        bumps=_bumps((made for made in suggested if made.pin in ids), pins),
    )


def _told(same: list[Finding], pins: dict[str, Pin], *, is_owned: bool) -> Told:
    places = [where for finding in same if (where := place(finding.concern, pins, is_owned=is_owned))]
    return Told(concern=same[0].concern, findings=tuple(same), places=tuple(dict.fromkeys(places)))


def _bumps(made: Iterable[Suggestion], pins: dict[str, Pin]) -> tuple[tuple[Suggestion, tuple[Pin, ...]], ...]:
    together: dict[tuple[str, str], list[Suggestion]] = {}
    for suggestion in made:
        together.setdefault((suggestion.from_, suggestion.target.to), []).append(suggestion)
    return tuple((same[0], tuple(pins[it.pin] for it in same)) for same in together.values())
