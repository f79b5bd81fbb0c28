"""Read how everything stands, at little cost where little changed."""

from collections.abc import Sequence
from datetime import datetime

from watcher.config import Settings
from watcher.model import Kind, Pin
from watcher.report.json import pin_document
from watcher.standing.ground import Ground, grounded
from watcher.standing.held import Held
from watcher.standing.values import UNSEEN, Document, Standing, Watched
from watcher.store import Store


class Reader:
    """Reads how everything stands, again and again: what is as it was the last time is not made anew."""

    def __init__(self) -> None:
        self._forget()

    def read(self, store: Store, settings: Settings) -> Standing:
        """Return how everything stands now."""
        try:
            return self._read(store, settings)
        except BaseException:
            self._forget()  # what is held may be half of what was written
            raise

    def _forget(self) -> None:
        self._held = Held()
        self._ground: Ground | None = None
        self._made: dict[str, Watched] = {}
        self._order: tuple[Watched, ...] = ()
        self._slugs: dict[str, str] = {}
        """What findings are about → the dependency that it belongs to."""

    def _read(self, store: Store, settings: Settings) -> Standing:
        mark, names = store.touched(self._held.mark)
        if names is None:
            self._forget()  # nothing was read yet, or another database took the place of that one
        held = self._held
        stale = held.update(store, names)
        held.mark = mark
        ground = grounded(settings, held.readings, self._ground)
        if ground is not self._ground:
            self._ground, self._made, self._slugs = ground, {}, {}
            slugs = set(ground.dependencies)
        else:
            slugs = {self._slugs[subject] for subject in stale if subject in self._slugs}
        for slug in slugs:
            self._make(slug, ground)
        if slugs:
            self._order = tuple(sorted(self._made.values(), key=_urgency))
        loose = (it for subject, some in held.open.items() if subject not in self._slugs for it in some.values())
        return Standing(
            at=store.looked_at(),
            dependencies=self._order,
            warnings=tuple(warning for reading in ground.readings for warning in reading.warnings),
            drifts=tuple(held.drifts[name] for name in sorted(held.drifts)),
            loose=tuple(sorted(loose, key=lambda it: it.key)),
            handles=dict(held.handles),
            order=ground.order,
        )

    def _make(self, slug: str, ground: Ground) -> None:
        """Make a dependency anew of what is held."""
        pins, held = ground.dependencies[slug], self._held
        upstreams = tuple(dict.fromkeys(pin.upstream for pin in pins if pin.upstream))
        drift = next((held.drift_of[pin.id] for pin in pins if pin.id in held.drift_of), None)
        subjects = [
            *(pin.id for pin in pins),
            *upstreams,
            *([f"{Kind.VARIANT_DRIFT}:{drift['name']}"] if drift else []),
        ]
        findings = [it for subject in subjects for it in held.open.get(subject, {}).values()]
        self._slugs |= dict.fromkeys(subjects, slug)
        rows = [held.upstreams[name] for name in upstreams if name in held.upstreams]
        last = {row["id"]: row for it in rows for row in _rows(it, "pins")}
        made = {row["pin"]: row for it in rows for row in _rows(it, "suggestions")}
        judged = {pin.id: last[pin.id] for pin in pins if _is_as_judged(pin, last.get(pin.id))}
        self._made[slug] = Watched(
            name=pins[0].name,
            slug=slug,
            upstreams=upstreams,
            pins=tuple({**pin_document(pin), **_seen(judged.get(pin.id, {}))} for pin in pins),
            written=pins,
            moved=frozenset(pin.id for pin in pins if pin.id in last and pin.id not in judged),
            places={pin.id: ground.places[pin.id] for pin in pins},
            fixes={fix["id"]: fix for it in rows for fix in _rows(it, "fixes")},
            suggestions={name: made[name] for name in judged if name in made},
            drift=drift,
            findings=tuple(sorted(findings, key=lambda it: (-it.concern.severity.rank, it.key))),
            seen=_earliest([held.seen.get(name) for name in upstreams]),
            silences={name: held.failures[name] for name in upstreams if name in held.failures},
        )


def read(store: Store, settings: Settings) -> Standing:
    """Return how everything stands."""
    return Reader().read(store, settings)


def _seen(judged: Document) -> Document:
    """Return what was observed of a pin; where it stands in our files is no matter of its upstream."""
    return {key: judged.get(key, unseen) for key, unseen in UNSEEN.items()}


def _is_as_judged(pin: Pin, row: Document | None) -> bool:
    return row is not None and (row.get("upstream"), row.get("ref")) == (pin.upstream, pin.ref)


def _earliest(moments: Sequence[datetime | None]) -> datetime | None:
    known = [it for it in moments if it is not None]
    return min(known) if known and len(known) == len(moments) else None


def _urgency(it: Watched) -> tuple[int, bool, str, str]:
    return (-it.severity.rank if it.severity else 1, not it.silences, it.name.casefold(), it.slug)


def _rows(standing: Document, key: str) -> list[Document]:
    return [row for row in standing.get(key) or () if isinstance(row, dict)]
