"""Hold what was read of the database, and read again what was written since."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from watcher.model import Finding, Kind, Patience, Reading, State
from watcher.standing.values import Document
from watcher.store import Mark, Store


@dataclass(slots=True, kw_only=True)
class Held:
    """Everything that is kept, by what it is about."""

    mark: Mark | None = None
    """Up to where it was read; None: not at all."""
    readings: dict[str, Reading] = field(default_factory=dict)
    upstreams: dict[str, Document] = field(default_factory=dict)
    """Upstream → what was judged of its pins."""
    drifts: dict[str, Document] = field(default_factory=dict)
    drift_of: dict[str, Document] = field(default_factory=dict)
    """Pin id → how the variants of its dependency stand."""
    findings: dict[str, Finding] = field(default_factory=dict)
    """Key → finding, of every one that was ever made."""
    handles: dict[str, str] = field(default_factory=dict)
    """Handle → key."""
    open: dict[str, dict[str, Finding]] = field(default_factory=dict)
    """What `about` says of a finding → those that are about it and not over, by key."""
    seen: dict[str, datetime] = field(default_factory=dict)
    """Upstream → when it was observed last."""
    failures: dict[str, Patience] = field(default_factory=dict)

    def update(self, store: Store, names: Mapping[str, frozenset[str]] | None) -> set[str]:
        """Read what was written, by table and key; return the pins, upstreams and drifts of which that tells.

        Without `names` everything is read, and nothing may be held. Where it raises, what is held is half of it.
        """
        stale = {*self._observed(store)}
        if names is None or "readings" in names:
            self.readings = store.readings()
        stale |= {*self._judged(store, None if names is None else _of_a_sort(names, "upstream"))}
        stale |= {*self._drifted(store, None if names is None else _of_a_sort(names, "drift"))}
        stale |= {*self._found(store, None if names is None else names.get("findings", ()))}
        return stale

    def _observed(self, store: Store) -> Iterator[str]:
        """Read when upstreams were seen, and give those of which that is new."""
        seen, failures = {name: at for name, (_, at) in store.activity().items()}, store.failures()
        for after, before in ((seen, self.seen), (failures, self.failures)):
            yield from (name for name, _ in after.items() ^ before.items())
        self.seen, self.failures = seen, failures

    def _judged(self, store: Store, only: Iterable[str] | None) -> Iterator[str]:
        """Read how upstreams stand, and give those that stand otherwise."""
        fresh = store.standings("upstream", only) if only != () else {}
        for name in fresh if only is None else only:
            _put(self.upstreams, name, fresh.get(name))
            yield name

    def _drifted(self, store: Store, only: Iterable[str] | None) -> Iterator[str]:
        """Read how drifts stand, and give the pins of those that stand otherwise."""
        fresh = store.standings("drift", only) if only != () else {}
        for name in fresh if only is None else only:
            before, after = self.drifts.get(name, {}), fresh.get(name)
            _put(self.drifts, name, after)
            for pin in (*before.get("pins", ()), *(after or {}).get("pins", ())):
                _put(self.drift_of, pin, after if after and pin in after.get("pins", ()) else None)
                yield pin

    def _found(self, store: Store, only: Iterable[str] | None) -> Iterator[str]:
        """Read findings, and give what those are about that are new, otherwise or over."""
        fresh = {it.key: it for it in store.findings(only)} if only != () else {}
        for key in fresh if only is None else only:
            if before := self.findings.pop(key, None):
                self.open.get(about(before), {}).pop(key, None)
                yield about(before)
            if after := fresh.get(key):
                self.findings[key], self.handles[after.handle] = after, key
                yield about(after)
                if after.state is not State.RESOLVED:
                    self.open.setdefault(about(after), {})[key] = after


def about(finding: Finding) -> str:
    """Return the pin that a finding is about, else the drift's name, else the upstream."""
    concern = finding.concern
    if concern.kind is Kind.VARIANT_DRIFT:
        return concern.key
    return concern.pin or concern.upstream or ""


def _of_a_sort(names: Mapping[str, Iterable[str]], sort: str) -> tuple[str, ...]:
    """Return the names of the subjects of a sort."""
    begin = f"{sort} "
    return tuple(it.removeprefix(begin) for it in names.get("standings", ()) if it.startswith(begin))


def _put(held: dict[str, Document], name: str, it: Document | None) -> None:
    if it is None:
        held.pop(name, None)
    else:
        held[name] = it
