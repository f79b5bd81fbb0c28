"""A badge says in a few words what is open."""

from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from tests.hostile.texts import TEXTS
from tests.pages.test_picture import AT, UPSTREAM, watched
from tests.report import passes
from watcher.model import Patience
from watcher.pages.badge import badge

CALM = watched({"cuda": "default"})
SILENT = Patience(
    tries=3, since=AT, missing_tries=0, missing_since=None, last_reason="the server answered 503", is_missing=False
)


def label(it):
    """Return what a badge says to whoever cannot see it, after reading it as a browser does."""
    return ET.fromstring(badge(it)).get("aria-label")  # noqa: S314 - we made it


def test_what_it_says():
    """The worst of what is open, what could not be observed, or that nothing was found."""
    findings = tuple(it for it in passes.everything().findings if it.is_live)
    worst = max(findings, key=lambda it: it.concern.severity.rank).concern.severity
    assert "engine: nothing found" == label(CALM)
    assert "engine: not looked at yet" == label(replace(CALM, seen=None))
    assert "engine: not observed" == label(replace(CALM, findings=findings, silences={UPSTREAM: SILENT}))
    assert f"engine: {worst}: {len(findings)} findings" == label(replace(CALM, findings=findings))


@pytest.mark.parametrize("name", TEXTS)
def test_what_strangers_wrote_stays_text(name):
    """Whatever a repository is called."""
    label(replace(CALM, name=TEXTS[name][:300].decode(errors="replace")))
