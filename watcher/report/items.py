"""Arrange findings for a digest: the worst first, equal words for several pins once."""

from collections.abc import Collection, Iterable
from datetime import tzinfo

from watcher.model import Concern, Finding, Place, Severity, State
from watcher.report.week import Bump, Item, Over


def counts(findings: Iterable[Finding]) -> tuple[tuple[Severity, int], ...]:
    """Return how many findings there are of each severity that has any, the most severe first."""
    severities = [it.concern.severity for it in findings]
    return tuple((it, severities.count(it)) for it in reversed(Severity) if it in severities)


def items(findings: Iterable[Finding], bumps: Collection[Bump], zone: tzinfo | None) -> tuple[Item, ...]:
    """Return findings as a digest lists them, times in a zone; what `bumps` say to do is not said again."""
    told = {(place.text, bump.after) for bump in bumps for place in bump.places}
    together: dict[tuple[str, ...], list[Finding]] = {}
    for it in sorted(findings, key=lambda it: (-it.concern.severity.rank, it.opened_at, it.key)):
        concern = it.concern
        together.setdefault((concern.kind, concern.severity, concern.headline, concern.advice), []).append(it)
    return tuple(_item(same, told, zone) for same in together.values())


def over(findings: Iterable[Finding]) -> tuple[Over, ...]:
    """Return resolved findings as a digest lists them, each text once."""
    ordered = sorted(findings, key=lambda it: (-it.concern.severity.rank, it.changed_at, it.key))
    texts = (
        Over(headline=it.concern.headline, note=it.note, link=it.link, by=it.by)
        for it in ordered
        if it.state is State.RESOLVED and not it.is_dismissed
    )
    return tuple(dict.fromkeys(texts))


def places(concern: Concern) -> tuple[Place, ...]:
    """Return where the pins of a concern stand; of one that was written down by an older version, what it has."""
    return concern.places or ((Place(text=concern.place),) if concern.place else ())


def _item(same: list[Finding], told: Collection[tuple[str, str]], zone: tzinfo | None) -> Item:
    first = same[0].concern
    where = tuple(dict.fromkeys(place for it in same for place in places(it.concern)))
    is_told = first.target is not None and all((place.text, first.target) in told for place in where)
    return Item(
        severity=first.severity,
        headline=first.headline,
        places=where,
        since=min(it.concern.since or it.opened_at for it in same).astimezone(zone),
        advice="" if is_told else first.advice,
        handle=same[0].handle,
        url=None if is_told else first.compare,
    )
