"""How the facts about a change are written in the database: their own versioned shape, apart from the inner types."""

from collections.abc import Mapping
from typing import Any

from watcher.model import Anchor, Discussion, Repair, oid

VERSION = 4
"""Raised whenever the facts of a change would come out otherwise: older ones are then computed anew."""
DISCUSSED = 1
"""The same for what forges tell of a change."""


def to_fact(repair: Repair) -> dict[str, Any]:
    """Return the lines that a change repairs as plain JSON values."""
    return {
        "bound": repair.bound,
        "added": repair.added,
        "removed": repair.removed,
        "nearby": dict(repair.nearby),
        "anchors": [
            {
                "path": anchor.path,
                "line": anchor.line,
                "removed": anchor.is_removed,
                "wrapped": anchor.is_wrapped,
                "older": anchor.is_older,
                "origins": list(anchor.origins),
                "paths": list(anchor.paths),
                "wordings": list(anchor.wordings),
            }
            for anchor in repair.anchors
        ],
    }


def from_fact(landing: str, fact: Mapping[str, Any]) -> Repair:
    """Return what `to_fact` wrote."""
    return Repair(
        landing=oid(landing),
        bound=oid(fact["bound"]) if fact["bound"] else None,
        added=fact["added"],
        removed=fact["removed"],
        nearby={path: oid(newest) for path, newest in fact["nearby"].items()},
        anchors=tuple(_anchor(anchor) for anchor in fact["anchors"]),
    )


def to_discussed(told: Discussion) -> dict[str, Any]:
    """Return what a forge tells of a change as plain JSON values."""
    return {"number": told.number, "labels": list(told.labels), "issue_labels": list(told.issue_labels)}


def from_discussed(fact: Mapping[str, Any]) -> Discussion:
    """Return what `to_discussed` wrote."""
    return Discussion(number=fact["number"], labels=tuple(fact["labels"]), issue_labels=tuple(fact["issue_labels"]))


def _anchor(fact: Mapping[str, Any]) -> Anchor:
    return Anchor(
        path=fact["path"],
        line=fact["line"],
        text=fact["wordings"][0],
        is_removed=fact["removed"],
        is_wrapped=fact["wrapped"],
        is_older=fact["older"],
        origins=tuple(oid(origin) for origin in fact["origins"]),
        paths=tuple(fact["paths"]),
        wordings=tuple(fact["wordings"]),
    )
