"""How one dependency stands, and how all of them do."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from watcher.model import Finding, Patience, Pin, Place, Severity

Document = Mapping[str, Any]
UNSEEN: Document = {
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
"""What a report says of a pin whose upstream it did not see."""


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
        return next((it.concern.severity for it in self.findings if it.is_live), None)

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
