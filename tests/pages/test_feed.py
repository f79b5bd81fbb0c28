"""The feed tells what happened, once each, as RFC 4287 has it."""

from dataclasses import replace
from datetime import timedelta
from xml.etree import ElementTree as ET

import feedparser
import pytest

from tests.hostile.texts import TEXTS
from tests.report import passes
from watcher.findings import acknowledge
from watcher.model import Event, EventKind, Severity
from watcher.pages.feed import feed

ATOM = "{http://www.w3.org/2005/Atom}"
FINDINGS = passes.everything().findings


def read(events, site=""):
    """Return the feed as a reader has it, who has nothing to complain of."""
    text = feed(events, passes.NOW, site).encode()
    assert not feedparser.parse(text).bozo
    return ET.fromstring(text)  # noqa: S314 - we made it


def test_entries():
    """The newest first, each with an id that stays, a title, a time and a link."""
    events = [
        Event(kind=EventKind.OPENED, finding=it, at=passes.NOW + timedelta(hours=number))
        for number, it in enumerate(FINDINGS)
    ]
    root = read(events)
    entries = root.findall(f"{ATOM}entry")
    assert len(FINDINGS) == len(entries) == len({it.findtext(f"{ATOM}id") for it in entries})
    assert [f"finding/{it.handle}.html" for it in FINDINGS[::-1]] == [
        it.find(f"{ATOM}link").get("href") for it in entries
    ]
    assert root.findtext(f"{ATOM}updated") == entries[0].findtext(f"{ATOM}updated")
    for part in (root, *entries):
        assert all(part.findtext(f"{ATOM}{name}") for name in ("id", "title", "updated"))


def test_what_changed_is_told():
    """Against what it was before, and by whom."""
    before = FINDINGS[0]
    worse = replace(before, concern=replace(before.concern, severity=Severity.CRITICAL))
    events = [
        Event(kind=EventKind.OPENED, finding=before, at=passes.NOW),
        Event(kind=EventKind.CHANGED, finding=worse, at=passes.NOW),
        acknowledge(worse, passes.NOW, note="known", by="dana")[1],
    ]
    said = [it.findtext(f"{ATOM}summary") for it in read(events).findall(f"{ATOM}entry")]
    assert said[0].startswith("Acknowledged by dana: known\n")
    assert said[1].startswith("Severity medium → critical\n")


def test_links_lead_to_where_the_pages_are():
    """Where that is said; else a reader has to know where it got the feed from."""
    events = [Event(kind=EventKind.OPENED, finding=FINDINGS[0], at=passes.NOW)]
    root = read(events, "https://watcher.example.org/gpu/")
    assert "https://watcher.example.org/gpu/feed.atom" == root.findtext(f"{ATOM}id")
    for link in root.iter(f"{ATOM}link"):
        assert link.get("href").startswith("https://watcher.example.org/gpu/f")


def test_only_the_last_hundred():
    """A reader has the others already."""
    many = [
        Event(kind=EventKind.CHANGED, finding=FINDINGS[0], at=passes.NOW + timedelta(hours=it)) for it in range(150)
    ]
    assert 100 == len(read(many).findall(f"{ATOM}entry"))


def test_nothing_happened():
    """Is a feed too."""
    assert [] == read([]).findall(f"{ATOM}entry")


@pytest.mark.parametrize("name", TEXTS)
def test_what_strangers_wrote_stays_text(name):
    """In headlines and details."""
    text = TEXTS[name][:500].decode(errors="replace")
    concern = replace(FINDINGS[0].concern, headline=text, detail=(text,), advice=text)
    event = Event(kind=EventKind.OPENED, finding=replace(FINDINGS[0], concern=concern), at=passes.NOW)
    assert 1 == len(read([event]).findall(f"{ATOM}entry"))
