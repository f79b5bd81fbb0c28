"""Tell how everything stands as a report does."""

from collections.abc import Mapping
from typing import Any

from watcher.model import Patience
from watcher.report.json import VERSION, finding_document, time_text
from watcher.standing.values import UNSEEN, Document, Standing


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
    return {**pin, **UNSEEN} if _is_silent(pin, silent) else pin


def _is_silent(pin: Document, silent: Mapping[str, Patience]) -> bool:
    return pin["upstream"] in silent
