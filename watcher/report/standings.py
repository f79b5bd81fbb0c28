"""Read how upstreams and drifts stand, in the public JSON shape (report/json.py), into what a digest tells.

Another version may have written them: what is missing is left out, and nothing is said wrongly.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from watcher.model import Finding, Kind, Place, State
from watcher.report.week import Bump, Drifted, Stand

Standings = Mapping[str, Mapping[str, Any]]
"""Name → how it stood when it was last judged."""


def fix_words(upstreams: Standings) -> dict[str, str]:
    """Return fix id → the fix in words."""
    return {str(fix.get("id")): _words(fix) for standing in upstreams.values() for fix in _rows(standing, "fixes")}


def drifts(standings: Standings, words: Mapping[str, str]) -> tuple[Drifted, ...]:
    """Return how dependencies stand across variants, those that drifted first; `words` are those of fixes by id."""
    found = [_drifted(name, standing, words) for name, standing in standings.items()]
    return tuple(sorted(found, key=lambda it: (it.is_level, it.name)))


def bumps(upstreams: Standings, findings: Iterable[Finding], words: Mapping[str, str]) -> tuple[Bump, ...]:
    """Return the bumps of the pins that an open finding says lack a fix, equal ones as one, the most urgent first."""
    asked = [it for it in findings if it.concern.kind is Kind.FIX_AVAILABLE and it.state is State.OPEN]
    ranks = {
        it.concern.pin: -max(o.concern.severity.rank for o in asked if o.concern.pin == it.concern.pin) for it in asked
    }
    together: dict[tuple[str, str, str], list[tuple[dict[str, Any], dict[str, Any]]]] = {}
    for pin, made in _suggested(upstreams, ranks):
        together.setdefault((str(pin.get("name", "")), str(made["from"]), str(made["to"])), []).append((pin, made))
    ordered = sorted(together.values(), key=lambda same: min(ranks[made["pin"]] for _, made in same))
    return tuple(_bump(same, asked, words) for same in ordered)


def _suggested(upstreams: Standings, pins: Collection[str | None]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield each suggestion for one of these pins, with the pin."""
    for standing in upstreams.values():
        by_id = {it.get("id"): it for it in _rows(standing, "pins")}
        for made in _rows(standing, "suggestions"):
            if made.get("pin") in pins and made.get("from") and made.get("to"):
                yield by_id.get(made["pin"], {}), made


def _bump(same: list[tuple[dict[str, Any], dict[str, Any]]], findings: list[Finding], words: Mapping[str, str]) -> Bump:
    _, made = same[0]
    mine = [it.concern for it in findings if it.concern.pin in {made["pin"] for _, made in same}]
    return Bump(
        name=str(same[0][0].get("name") or mine[0].dependency),
        places=tuple(dict.fromkeys(it for pin, made in same for it in _places(pin, made["pin"], findings))),
        before=str(made["from"]),
        after=str(made["to"]),
        commits=_number(made.get("commits")),
        landings=_number(made.get("landings")),
        fixes=tuple(words.get(str(fix), str(fix)) for fix in made.get("fixes") or ()),
        version=_version(made.get("package_version")),
        cautions=tuple(str(it) for it in made.get("cautions") or ()),
        compare=next((it.compare for it in mine if it.compare and it.target == made["to"]), None),
    )


def _places(pin: Mapping[str, Any], name: str, findings: Iterable[Finding]) -> tuple[Place, ...]:
    """Return where a pin stands: as its findings say, with their links, else as the pin itself does."""
    told = [place for it in findings if it.concern.pin == name for place in it.concern.places]
    if told or "file" not in pin:
        return tuple(dict.fromkeys(told))
    return (Place(text=f"{pin['file']}:{pin.get('line', 1)}", variant=str(pin.get("variant", "any"))),)


def _version(told: Any) -> str:
    if not isinstance(told, Mapping) or not told.get("from") or not told.get("to"):
        return ""
    same = told["from"] == told["to"]
    return f"same package version {told['to']}" if same else f"package version {told['from']} → {told['to']}"


def _drifted(name: str, standing: Mapping[str, Any], words: Mapping[str, str]) -> Drifted:
    lacks, align = standing.get("lacks") or {}, standing.get("align") or {}
    return Drifted(
        name=str(standing.get("name") or name),
        relation=str(standing.get("relation") or "unknown"),
        stands=tuple(
            Stand(
                variant=variant,
                ref=str(ref),
                lacks=tuple(words.get(str(fix), str(fix)) for fix in lacks.get(variant) or ()),
                target=align.get(variant),
            )
            for variant, ref in sorted((standing.get("variants") or {}).items())
        ),
    )


def _words(fix: Mapping[str, Any]) -> str:
    number, title = fix.get("pull_request"), str(fix.get("title") or fix.get("id"))
    return title if number is None or f"#{number}" in title else f"#{number} {title}"


def _rows(standing: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    return [row for row in standing.get(key) or () if isinstance(row, dict)]


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) else None
