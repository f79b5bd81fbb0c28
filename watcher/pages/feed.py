"""What happened to findings, as an Atom feed: RFC 4287."""

from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256
from xml.etree import ElementTree as ET

from watcher.model import Event
from watcher.report import alert

MEDIA_TYPE = "application/atom+xml; charset=utf-8"
_SPACE = "http://www.w3.org/2005/Atom"
_MOST = 100


def feed(events: Sequence[Event], at: datetime | None) -> str:
    """Return the last events, the newest first; `at` is when something was last looked at."""
    root = ET.Element("feed", {"xmlns": _SPACE})
    newest = events[::-1][:_MOST]
    last = newest[0].at if newest else at or datetime(1970, 1, 1, tzinfo=UTC)
    _add(root, "id", "urn:watcher:findings")
    _add(root, "title", "watcher: what happened to findings")
    _add(root, "updated", _time(last))
    ET.SubElement(root, "link", {"rel": "self", "href": "feed.atom"})
    _add(ET.SubElement(root, "author"), "name", "watcher")
    for event in newest:
        _entry(root, event)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _entry(root: ET.Element, event: Event) -> None:
    [told] = alert.alerts([event], {})
    entry = ET.SubElement(root, "entry")
    _add(entry, "id", f"urn:sha256:{sha256(event.id.encode('utf-8', 'surrogateescape')).hexdigest()}")
    _add(entry, "title", f"{event.kind} ({told.severity}): {told.headline}")
    _add(entry, "updated", _time(event.at))
    ET.SubElement(entry, "link", {"href": f"finding/{event.finding.handle}.html"})
    ET.SubElement(entry, "category", {"term": str(event.finding.concern.kind)})
    _add(entry, "summary", " ".join((*told.why, *filter(None, [told.what_to_do]))) or told.headline)


def _add(parent: ET.Element, name: str, text: str) -> None:
    ET.SubElement(parent, name).text = text


def _time(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds")
