"""Write a pass as JSON, version 1: fields are added, never renamed (DESIGN.md §6)."""

import json
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from pydantic_core import PydanticSerializationError, to_json

from watcher.model import Drift, Finding, Fix, Pass, Pin, Rung, Suggestion, Unobserved, Verdict

VERSION = 1
_BEYOND_ASCII = re.compile(r"[^\x00-\x7e]+")


def render(found: Pass) -> str:
    """Return the pass as one JSON document, in ASCII, so that nothing in it can steer a terminal."""
    return written(document(found)) + "\n"


def written(value: Mapping[str, Any]) -> str:
    """Return what `json.dumps(value, indent=1)` returns, which takes four times as long: it indents in Python."""
    try:
        text = to_json(value, indent=1).decode()
    except PydanticSerializationError:  # bytes of a path that are no UTF-8
        return json.dumps(value, indent=1)
    return _BEYOND_ASCII.sub(lambda found: json.dumps(found[0])[1:-1], text)


def document(found: Pass) -> dict[str, Any]:
    """Return the pass as plain JSON values."""
    return {
        "version": VERSION,
        "at": time_text(found.at),
        "pins": [{**pin_document(pin), **_seen(pin, found)} for pin in found.pins],
        "fixes": [_fix(fix) for fix in found.fixes],
        "suggestions": [_suggestion(made) for made in found.suggestions],
        "drift": [drift_document(drift) for drift in found.drift],
        "findings": [finding_document(finding) for finding in found.findings],
        "unobserved": [_unobserved(failure) for failure in found.unobserved],
        "warnings": list(found.warnings),
    }


def upstream_documents(found: Pass, upstreams: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return what a pass found of some upstreams: their pins, fixes and suggestions as in the whole document."""
    made: dict[str, dict[str, Any]] = {name: {"pins": [], "fixes": [], "suggestions": []} for name in upstreams}
    owners = {pin.id: pin.upstream for pin in found.pins}
    for pin in found.pins:
        if pin.upstream in made:
            made[pin.upstream]["pins"].append({**pin_document(pin), **_seen(pin, found)})
    for fix in found.fixes:
        if fix.upstream in made:
            made[fix.upstream]["fixes"].append(_fix(fix))
    for suggested in found.suggestions:
        if (owner := owners.get(suggested.pin)) in made:
            made[owner]["suggestions"].append(_suggestion(suggested))
    return made


def pins_document(pins: tuple[Pin, ...], warnings: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return what `watcher pins` prints."""
    return {"version": VERSION, "pins": [pin_document(pin) for pin in pins], "warnings": list(warnings)}


def pin_document(pin: Pin) -> dict[str, Any]:
    """Return one pin, as far as the files tell."""
    optional = {
        "resolved_ref": pin.resolved_ref,
        "also": list(pin.also),
        "branch": pin.branch,
        "requested": pin.requested,
        "overrides": pin.overrides,
        "where": pin.where,
        "downstream": pin.downstream,
    }
    return {
        "id": pin.id,
        "name": pin.name,
        "upstream": pin.upstream,
        "ref": pin.ref,
        "ref_kind": pin.ref_kind.value,
        "sha": pin.ref if pin.ref_kind == "sha" else None,
        "variant": pin.variant,
        "file": pin.file,
        "line": pin.line,
        **{key: value for key, value in optional.items() if value},
    }


def _seen(pin: Pin, found: Pass) -> dict[str, Any]:
    reach, at = found.reachability[pin.id], found.dates.get(pin.id)
    return {
        "commit": found.commits.get(pin.id),
        "committed_at": time_text(at) if at else None,
        "reachability": {
            "class": reach.cls.value,
            "refs": list(reach.refs),
            "detail": reach.detail,
            "since": time_text(reach.since) if reach.since else None,
            "twin": reach.twin,
        },
    }


def _fix(fix: Fix) -> dict[str, Any]:
    return {
        "id": fix.id,
        "upstream": fix.upstream,
        "landing": fix.change.landing,
        "commits": list(fix.change.commits),
        "pull_request": fix.change.pull_request,
        "title": fix.change.title,
        "grade": fix.grade.value,
        "security": fix.is_security,
        "evidence": [{"signal": item.signal, "detail": item.detail} for item in fix.evidence if item.weight > 0],
        "paths": list(fix.paths),
    }


def _suggestion(made: Suggestion) -> dict[str, Any]:
    target = made.target
    return {
        "pin": made.pin,
        "from": made.from_,
        "to": target.to,
        "fixes": list(target.fixes),
        "commits": target.commits,
        "landings": target.landings,
        "line": target.line,
        "fast_forward": made.fast_forward,
        "package_version": {"from": made.version_from, "to": made.version_to},
        "contract": list(made.contract),
        "files": dict(made.files),
        "cautions": list(made.cautions),
        "affected": [_verdict(said) for said in made.verdicts if said.fix in target.fixes],
        "ladder": [_rung(rung) for rung in made.ladder],
    }


def _rung(rung: Rung) -> dict[str, Any]:
    return {"to": rung.to, "fixes": list(rung.fixes), "commits": rung.commits, "landings": rung.landings}


def _verdict(said: Verdict) -> dict[str, Any]:
    return {"fix": said.fix, "answer": said.answer.value, "where": list(said.where), "reason": said.reason}


def drift_document(drift: Drift) -> dict[str, Any]:
    """Return how one dependency stands across its variants."""
    return {
        "name": drift.name,
        "relation": drift.relation.value,
        "variants": dict(drift.variants),
        "pins": list(drift.pins),
        "lacks": {variant: list(names) for variant, names in drift.lacks.items()},
        "has": {variant: list(names) for variant, names in drift.has.items()},
        "align": dict(drift.align),
    }


def finding_document(finding: Finding) -> dict[str, Any]:
    """Return one finding as it stands."""
    concern = finding.concern
    return {
        "key": finding.key,
        "handle": finding.handle,
        "kind": concern.kind.value,
        "severity": concern.severity.value,
        "state": finding.state.value,
        "pin": concern.pin,
        "upstream": concern.upstream,
        "place": concern.place,
        "dependency": concern.dependency,
        "places": [{"place": it.text, "variant": it.variant, "url": it.url} for it in concern.places],
        "compare": concern.compare,
        "lines": [{"place": it.text, "url": it.url} for it in concern.lines],
        "headline": concern.headline,
        "detail": list(concern.detail),
        "advice": concern.advice,
        "target": concern.target,
        "since": time_text(concern.since) if concern.since else None,
        "opened_at": time_text(finding.opened_at),
        "snoozed_until": time_text(finding.snoozed_until) if finding.snoozed_until else None,
        "note": finding.note,
        "by": finding.by,
    }


def _unobserved(failure: Unobserved) -> dict[str, Any]:
    return {"upstream": failure.upstream, "reason": failure.reason, "missing": failure.missing}


def time_text(moment: datetime) -> str:
    """Return a moment as reports write it."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
