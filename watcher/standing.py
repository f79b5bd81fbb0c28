"""Read how everything stands, as the last looks left it: what pages, feeds and the API tell without asking anybody.

Everything is in the public JSON shape of a report (DESIGN.md §6). Another version may have written it: what is missing
is left out, and nothing is said wrongly.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any

from watcher.config import OWN, Settings
from watcher.judge.drift import families
from watcher.model import Finding, Kind, Patience, Pin, Place, Severity, State
from watcher.report.json import VERSION, finding_document, pin_document, time_text
from watcher.report.places import place_of
from watcher.store import Store

Document = Mapping[str, Any]
_UNSEEN: Document = {
    "commit": None,
    "committed_at": None,
    "reachability": {
        "class": "unknown",
        "refs": [],
        "detail": "the upstream was not observed",
        "since": None,
        "twin": None,
    },
}
_ODD = re.compile(r"[^A-Za-z0-9._-]+")
_SLUG = 60
"""Characters of a name in an address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """One dependency: all pins of one upstream, or of declared relatives."""

    name: str
    slug: str
    """What it is called in addresses of pages; no other dependency has the same."""
    upstreams: tuple[str, ...]
    """Normalised addresses; none where the files do not say which repository it is."""
    pins: tuple[Document, ...]
    """As a report has them, each as it was last judged; those of an upstream never seen have the class `unknown`."""
    written: tuple[Pin, ...]
    """The same pins as files have them."""
    moved: frozenset[str]
    """Ids of the pins that files have changed since they were judged: nothing is known of them as they are now."""
    places: Mapping[str, Place]
    """Pin id → where it stands, and the page that shows it."""
    fixes: Mapping[str, Document]
    """Fix id → fix, of those that a pin lacks or that one variant has over another."""
    suggestions: Mapping[str, Document]
    """Pin id → the smallest bump."""
    drift: Document | None
    """How its variants stand to each other; None where there is but one."""
    findings: tuple[Finding, ...]
    """Those that are not over, the most severe first."""
    seen: datetime | None
    """When all its upstreams had been observed last; None where one never was."""
    silences: Mapping[str, Patience]
    """Upstream → since when, and why, it could not be observed; what is said of its pins is older than that."""

    @property
    def severity(self) -> Severity | None:
        """Return how severe the worst open finding is; None where nothing is open."""
        return max((it.concern.severity for it in self.findings if it.is_live), key=lambda it: it.rank, default=None)

    @property
    def variants(self) -> tuple[str, ...]:
        """Return the variants that it is pinned for, in alphabetical order, `any` last."""
        return tuple(sorted({str(pin["variant"]) for pin in self.pins}, key=lambda it: (it == "any", it)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How everything stands."""

    at: datetime | None
    """When something was last looked at; None before the first look."""
    dependencies: tuple[Watched, ...]
    """What needs a person first: by the worst open finding, then what could not be observed, then by name."""
    warnings: tuple[str, ...] = ()
    """Files that could not be read, one line each."""
    drifts: tuple[Document, ...] = ()
    loose: tuple[Finding, ...] = ()
    """Findings about nothing that is pinned any more."""
    handles: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Handle → key, of every finding that was ever made."""
    order: tuple[str, ...] = field(default=(), repr=False)
    """Pin ids in the order of a report."""

    def dependency(self, slug: str) -> Watched | None:
        """Return the dependency that is called so in addresses."""
        return next((it for it in self.dependencies if it.slug == slug), None)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Return every finding that is not over, by key."""
        found = {it.key: it for dependency in self.dependencies for it in dependency.findings}
        return tuple(sorted((*found.values(), *self.loose), key=lambda it: it.key))


def read(store: Store, settings: Settings) -> Standing:
    """Return how everything stands."""
    held = store.readings()
    readings = [held[name] for name in (OWN, *(it.name for it in settings.downstreams)) if name in held]
    pins = [pin for reading in readings for pin in reading.pins]
    places = {
        pin.id: place_of(settings.pages, pin, reading, is_owned=len(readings) > 1)
        for reading in readings
        for pin in reading.pins
    }
    drifts, findings = store.standings("drift"), store.findings()
    known = _known(store, drifts.values(), findings, places)
    made = families(pins, settings.relatives)
    slugs = _slugs(made)
    dependencies = tuple(sorted((_watched(it, slugs[it[0].id], known) for it in made), key=_urgency))
    told = {it.key for dependency in dependencies for it in dependency.findings}
    return Standing(
        at=max((look.at for look in store.looks().values()), default=None),
        dependencies=dependencies,
        warnings=tuple(warning for reading in readings for warning in reading.warnings),
        drifts=tuple(drifts[name] for name in sorted(drifts)),
        loose=tuple(it for some in known.findings.values() for it in some if it.key not in told),
        handles={it.handle: it.key for it in findings},
        order=tuple(pin.id for pin in pins),
    )


def document(standing: Standing) -> dict[str, Any]:
    """Return what `watcher check --format json` says where it finds everything as it stands."""
    silent = {name: it for dependency in standing.dependencies for name, it in dependency.silences.items()}
    pins = {pin["id"]: _told(pin, silent) for it in standing.dependencies for pin in it.pins}
    made = {pin: it for one in standing.dependencies for pin, it in one.suggestions.items()}
    fixes = {name: fix for it in standing.dependencies for name, fix in it.fixes.items()}
    return {
        "version": VERSION,
        "at": time_text(standing.at) if standing.at else None,
        "pins": [pins[name] for name in standing.order],
        "fixes": [fix for _, fix in sorted(fixes.items()) if fix["upstream"] not in silent],
        "suggestions": [made[name] for name in standing.order if name in made and not _is_silent(pins[name], silent)],
        "drift": list(standing.drifts),
        "findings": [finding_document(it) for it in standing.findings],
        "unobserved": [
            {"upstream": name, "reason": it.last_reason, "missing": it.is_missing}
            for name, it in sorted(silent.items())
        ],
        "warnings": list(standing.warnings),
    }


def _told(pin: Document, silent: Mapping[str, Patience]) -> Document:
    return {**pin, **_UNSEEN} if _is_silent(pin, silent) else pin


def _is_silent(pin: Document, silent: Mapping[str, Patience]) -> bool:
    return pin["upstream"] in silent


# --- by dependency ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """Everything that is kept, by what it is about."""

    judged: Mapping[str, Document]
    """Pin id → the pin as it was last judged."""
    made: Mapping[str, Document]
    """Pin id → its smallest bump."""
    fixes: Mapping[str, list[Document]]
    """Upstream → fixes."""
    drifts: Mapping[str, Document]
    """Pin id → how the variants of its dependency stand."""
    findings: Mapping[str, list[Finding]]
    """What `_about` says of a finding → those that are about it."""
    seen: Mapping[str, datetime]
    failures: Mapping[str, Patience]
    places: Mapping[str, Place]


def _known(store: Store, drifts: Iterable[Document], every: Iterable[Finding], places: Mapping[str, Place]) -> _Known:
    upstreams = store.standings("upstream")
    findings: dict[str, list[Finding]] = {}
    for it in every:
        if it.state is not State.RESOLVED:
            findings.setdefault(_about(it), []).append(it)
    return _Known(
        judged={row["id"]: row for it in upstreams.values() for row in _rows(it, "pins")},
        made={row["pin"]: row for it in upstreams.values() for row in _rows(it, "suggestions")},
        fixes={name: _rows(it, "fixes") for name, it in upstreams.items()},
        drifts={pin: it for it in drifts for pin in it.get("pins", ())},
        findings=findings,
        seen={name: seen for name, (_, seen) in store.activity().items()},
        failures=store.failures(),
        places=places,
    )


def _about(finding: Finding) -> str:
    """Return the pin that a finding is about, else the drift's name, else the upstream."""
    concern = finding.concern
    if concern.kind is Kind.VARIANT_DRIFT:
        return concern.key
    return concern.pin or concern.upstream or ""


def _watched(pins: Sequence[Pin], slug: str, known: _Known) -> Watched:
    ids = [pin.id for pin in pins]
    judged = {pin.id: known.judged[pin.id] for pin in pins if _is_as_judged(pin, known.judged.get(pin.id))}
    upstreams = tuple(dict.fromkeys(pin.upstream for pin in pins if pin.upstream))
    drift = next((known.drifts[name] for name in ids if name in known.drifts), None)
    subjects = (*ids, *upstreams, *([f"{Kind.VARIANT_DRIFT}:{drift['name']}"] if drift else []))
    findings = {it.key: it for subject in subjects for it in known.findings.get(subject, ())}
    return Watched(
        name=pins[0].name,
        slug=slug,
        upstreams=upstreams,
        pins=tuple({**pin_document(pin), **_seen(judged.get(pin.id, {}))} for pin in pins),
        written=tuple(pins),
        moved=frozenset(name for name in ids if name in known.judged and name not in judged),
        places={name: known.places[name] for name in ids},
        fixes={fix["id"]: fix for upstream in upstreams for fix in known.fixes.get(upstream, ())},
        suggestions={name: known.made[name] for name in judged if name in known.made},
        drift=drift,
        findings=tuple(sorted(findings.values(), key=lambda it: (-it.concern.severity.rank, it.key))),
        seen=_earliest([known.seen.get(upstream) for upstream in upstreams]),
        silences={upstream: known.failures[upstream] for upstream in upstreams if upstream in known.failures},
    )


def _seen(judged: Document) -> Document:
    """Return what was observed of a pin; where it stands in our files is no matter of its upstream."""
    return {key: judged.get(key, unseen) for key, unseen in _UNSEEN.items()}


def _is_as_judged(pin: Pin, row: Document | None) -> bool:
    return row is not None and (row.get("upstream"), row.get("ref")) == (pin.upstream, pin.ref)


def _earliest(moments: Sequence[datetime | None]) -> datetime | None:
    known = [it for it in moments if it is not None]
    return min(known) if known and len(known) == len(moments) else None


def _urgency(it: Watched) -> tuple[int, bool, str, str]:
    return (-it.severity.rank if it.severity else 1, not it.silences, it.name.casefold(), it.slug)


def _slugs(dependencies: Iterable[Sequence[Pin]]) -> dict[str, str]:
    """Return the id of each dependency's first pin → a name for addresses, which only one of them has."""
    names = {pins[0].id: _ODD.sub("-", pins[0].name).strip(".-")[:_SLUG] or "dependency" for pins in dependencies}
    count = Counter(name.casefold() for name in names.values())
    return {
        pin: name if count[name.casefold()] == 1 else f"{name}-{sha256(pin.encode()).hexdigest()[:8]}"
        for pin, name in names.items()
    }


def _rows(standing: Document, key: str) -> list[Document]:
    return [row for row in standing.get(key) or () if isinstance(row, dict)]
