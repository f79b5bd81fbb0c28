"""A badge says in a few words what is open."""

import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from tests.hostile.texts import TEXTS
from tests.picture.test_svg import AT, UPSTREAM, watched
from tests.report import passes
from watcher.model import Patience, State
from watcher.pages.badge import badge

COLOUR = re.compile('fill="(#[0-9a-f]{6})"')
CALM = watched({"cuda": "default"})
SILENT = Patience(
    tries=3, since=AT, missing_tries=0, missing_since=None, last_reason="the server answered 503", is_missing=False
)


def label(it):
    """Return what a badge says to whoever cannot see it, after reading it as a browser does."""
    return ET.fromstring(badge(it)).get("aria-label")  # noqa: S314 - we made it


def test_what_it_says():
    """The worst of what is open, what could not be observed, or that nothing was found."""
    live = (it for it in passes.everything().findings if it.is_live)
    findings = tuple(sorted(live, key=lambda it: -it.concern.severity.rank))
    worst = findings[0].concern.severity
    assert "engine: nothing found" == label(CALM)
    assert "engine: not looked at yet" == label(replace(CALM, seen=None))
    assert "engine: not observed" == label(replace(CALM, findings=findings, silences={UPSTREAM: SILENT}))
    assert f"engine: {worst}: {len(findings)} findings" == label(replace(CALM, findings=findings))


def test_what_somebody_knows_of_is_still_so():
    """An acknowledged finding, or one that was put off, makes nothing green."""
    for state in (State.ACKNOWLEDGED, State.SNOOZED):
        known = replace(CALM, findings=(replace(passes.FINDINGS[0], state=state),))
        assert "engine: 1 known finding" == label(known)
        assert COLOUR.findall(badge(CALM))[1:] != COLOUR.findall(badge(known))[1:]


@pytest.mark.parametrize("name", ["i", "llama.cpp", "torch_memory_saver", "MMMMMMMM", "東京都東京都"])
def test_a_name_has_room(name):
    """Each letter has the width that the widest of the usual types give it."""
    widths = {"M": 9.3, "東": 11, "京": 11, "都": 11, "m": 10.7, "_": 7, "i": 3.1, "l": 3.1, ".": 4}
    left = int(re.search('<rect x="0" width="([0-9]+)"', badge(replace(CALM, name=name)))[1])
    assert left >= 2 * 5 + sum(widths.get(letter, 6.8) for letter in name)


@pytest.mark.parametrize("name", TEXTS)
def test_what_strangers_wrote_stays_text(name):
    """Whatever a repository is called."""
    label(replace(CALM, name=TEXTS[name][:300].decode(errors="replace")))
