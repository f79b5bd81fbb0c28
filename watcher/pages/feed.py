"""What happened to findings, as an Atom feed: RFC 4287."""

from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256
from xml.etree import ElementTree as ET

from watcher.model import Event, Finding
from watcher.report import alert
from watcher.report.alert import Alert

MEDIA_TYPE = "application/atom+xml; charset=utf-8"
_SPACE = "http://www.w3.org/2005/Atom"
_MOST = 100


def feed(events: Sequence[Event], at: datetime | None, site: str = "") -> str:
    """Return the last events, the newest first; `at` is when something was last looked at.

    `site` is where the pages are, up to the last slash; where nobody knows it, links are relative to the feed.
    """
    root = ET.Element("feed", {"xmlns": _SPACE})
    newest = in_words(events)[::-1][:_MOST]
    last = newest[0][0].at if newest else at or datetime(1970, 1, 1, tzinfo=UTC)
    _add(root, "id", f"{site}feed.atom" if site else "urn:watcher:findings")
    _add(root, "title", "watcher: what happened to findings")
    _add(root, "updated", _time(last))
    ET.SubElement(root, "link", {"rel": "self", "href": f"{site}feed.atom"})
    _add(ET.SubElement(root, "author"), "name", "watcher")
    for event, told in newest:
        _entry(root, event, told, site)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def in_words(events: Sequence[Event]) -> list[tuple[Event, Alert]]:
    """Return events in words; what changed is told against how the finding stood before."""
    before: dict[str, Finding] = {}
    told = []
    for event in events:
        told += [(event, it) for it in alert.alerts([event], {}, before)]
        before[event.finding.key] = event.finding
    return told


def _entry(root: ET.Element, event: Event, told: Alert, site: str) -> None:
    entry = ET.SubElement(root, "entry")
    _add(entry, "id", f"urn:sha256:{sha256(event.id.encode('utf-8', 'surrogateescape')).hexdigest()}")
    _add(entry, "title", f"{event.kind} ({told.severity}): {told.headline}")
    _add(entry, "updated", _time(event.at))
    ET.SubElement(entry, "link", {"href": f"{site}finding/{event.finding.handle}.html"})
    ET.SubElement(entry, "category", {"term": str(event.finding.concern.kind)})
    lines = (told.change, *map(alert.placed, told.places), *told.why, told.what_to_do)
    _add(entry, "summary", "\n".join(filter(None, lines)) or told.headline)


def _add(parent: ET.Element, name: str, text: str) -> None:
    ET.SubElement(parent, name).text = text


def _time(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds")
