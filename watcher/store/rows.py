"""How values are written into rows and read back, exactly.

A finding is kept as JSON of its own shape, apart from the inner types: a field that is added later has a default here,
so that old rows stay readable.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, fields
from datetime import UTC, datetime
from typing import Any

from watcher.errors import StoreError
from watcher.model import Concern, Finding, Kind, Moved, Pin, Place, Reading, RefKind, Severity, Side, State, oid

_JSON = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)
_PIN = tuple(it.name for it in fields(Pin))
_READING = tuple(it.name for it in fields(Reading))
_ESCAPED = re.compile(r"\\u(d[89a-f][0-9a-f]{2})")


def stamp(at: datetime) -> str:
    """Return an aware time as text that sorts as time does; raise ValueError for a naive one."""
    if at.tzinfo is None or at.utcoffset() is None:
        raise ValueError(f"expected an aware time, found {at.isoformat()} without a zone")
    return at.astimezone(UTC).isoformat(timespec="microseconds")


def time(text: str) -> datetime:
    """Return the time that a stamp names."""
    return datetime.fromisoformat(text)


def stamp_or_none(at: datetime | None) -> str | None:
    """Return the stamp of a time that may be absent."""
    return None if at is None else stamp(at)


def time_or_none(text: str | None) -> datetime | None:
    """Return the time of a stamp that may be absent."""
    return None if text is None else time(text)


def storable(text: str) -> str:
    r"""Return text that SQLite can hold: bytes which are no UTF-8 come out of git as lone surrogates and are escaped.

    `restored` undoes it for whatever has no backslash of its own, as no ref name has.
    """
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def restored(text: str) -> str:
    """Return the ref name that `storable` wrote."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "\\" in text else text


def json_text(value: Mapping[str, Any]) -> str:
    """Return JSON with sorted keys, so that equal values are equal texts."""
    return _JSON.encode(value)


def finding_text(finding: Finding) -> str:
    """Return a finding as JSON."""
    concern = finding.concern
    return json_text(
        {
            "version": 1,
            "state": finding.state,
            "opened_at": stamp(finding.opened_at),
            "changed_at": stamp(finding.changed_at),
            "snoozed_until": stamp_or_none(finding.snoozed_until),
            "note": finding.note,
            "link": finding.link,
            "by": finding.by,
            "is_dismissed": finding.is_dismissed,
            "key": concern.key,
            "kind": concern.kind,
            "severity": concern.severity,
            "headline": concern.headline,
            "detail": concern.detail,
            "advice": concern.advice,
            "pin": concern.pin,
            "upstream": concern.upstream,
            "place": concern.place,
            "target": concern.target,
            "since": stamp_or_none(concern.since),
            "is_event": concern.is_event,
            "dependency": concern.dependency,
            "places": [_place_row(it) for it in concern.places],
            "compare": concern.compare,
            "sides": [asdict(it) for it in concern.sides],
            "lines": [_place_row(it) for it in concern.lines],
        }
    )


def finding(text: str) -> Finding:
    """Return the finding that `finding_text` wrote; raise StoreError for words that this version does not know."""
    try:
        row: dict[str, Any] = json.loads(text)
        return Finding(
            concern=_concern(row),
            state=State(row["state"]),
            opened_at=time(row["opened_at"]),
            changed_at=time(row["changed_at"]),
            snoozed_until=time_or_none(row["snoozed_until"]),
            note=row["note"],
            link=row.get("link"),
            by=row.get("by", ""),
            is_dismissed=row.get("is_dismissed", False),
        )
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise StoreError(
            f"a finding in the state database cannot be read ({error!r}): another version of watcher wrote it; "
            "use that one, or name another folder under `state`"
        ) from error


def _concern(row: Mapping[str, Any]) -> Concern:
    """Return the concern in a finding's JSON."""
    return Concern(
        key=row["key"],
        kind=Kind(row["kind"]),
        severity=Severity(row["severity"]),
        headline=row["headline"],
        detail=tuple(row["detail"]),
        advice=row["advice"],
        pin=row["pin"],
        upstream=row["upstream"],
        place=row["place"],
        target=oid(row["target"]) if row["target"] is not None else None,
        since=time_or_none(row["since"]),
        is_event=row["is_event"],
        dependency=row.get("dependency", ""),
        places=tuple(Place(**it) for it in row.get("places", ())),
        compare=row.get("compare"),
        sides=tuple(_side(it) for it in row.get("sides", ())),
        lines=tuple(Place(**it) for it in row.get("lines", ())),
    )


def _place_row(it: Place) -> dict[str, str | None]:
    # By hand: findings have many of them, and `asdict` takes ten times as long.
    return {"text": it.text, "variant": it.variant, "url": it.url}


def _side(row: Mapping[str, Any]) -> Side:
    return Side(**{**row, "has": tuple(row["has"]), "lacks": tuple(row["lacks"])})


def reading_text(it: Reading) -> str:
    """Return what a downstream held as JSON; its name is the row's key."""
    pins = [{field: getattr(pin, field) for field in _PIN} for pin in it.pins]
    return json_text({**{field: getattr(it, field) for field in _READING}, "pins": pins, "version": 1})


def reading(name: str, text: str) -> Reading:
    """Return the reading that `reading_text` wrote."""
    row = json.loads(text)
    return Reading(
        name=name,
        pins=tuple(_pin(it) for it in row["pins"]),
        warnings=tuple(row["warnings"]),
        commit=row["commit"],
        address=row["address"],
        prefix=row["prefix"],
        inputs=row.get("inputs", ""),
    )


def moved_text(it: Moved) -> str:
    """Return a move of a pin as JSON."""
    return json_text({**asdict(it), "at": stamp(it.at), "version": 1})


def moved(text: str) -> Moved:
    """Return the move that `moved_text` wrote."""
    row = json.loads(text)
    return Moved(
        pin=_pin(row["pin"]),
        after=None if row["after"] is None else _pin(row["after"]),
        at=time(row["at"]),
        landing=row["landing"],
        subject=row["subject"],
        url=row["url"],
    )


def _pin(row: Mapping[str, Any]) -> Pin:
    return Pin(**{**row, "ref_kind": RefKind(row["ref_kind"]), "also": tuple(row["also"])})
