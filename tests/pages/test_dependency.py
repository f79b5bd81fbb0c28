"""The page of a dependency: where each variant stands, the picture, the ladders, the findings and the ledger."""

from dataclasses import replace
from datetime import timedelta

import pytest

from tests.hostile.texts import TEXTS
from tests.pages.shown import FRAME, Shown, told
from tests.report.passes import NOW
from tests.stories.conftest import world  # noqa: F401 - the world that stories start from
from watcher.model import Holding, Patience
from watcher.pages.dependency import dependency

SVG = '<svg class="{}" xmlns="http://www.w3.org/2000/svg"><title>drawn</title></svg>'


def page_of(it, arguments, ledger, words="main: two fixes") -> str:
    """Return the page, with pictures that can be told apart."""
    return dependency(it, arguments, SVG.format("picture-wide"), SVG.format("picture-narrow"), words, ledger, FRAME)


@pytest.fixture
def story(world):  # noqa: F811
    """Offer the one dependency of the story of two fixes, its arguments and its ledger."""
    found, arguments, _, ledger = told(world)
    [it] = found.dependencies
    return it, arguments, ledger


def test_where_each_variant_stands(story):
    """Each variant has its row: the fixes that it lacks by name, and where its smallest bump leads."""
    it, arguments, ledger = story
    text = Shown(page_of(it, arguments, ledger)).text
    assert "cuda" in text
    assert "rocm" in text
    assert "#41 “Fix the count of pages when slots are empty”" in text
    assert "#42 “Handle pages that are on the shelf in shelf_free”" in text
    for made in it.suggestions.values():
        assert made["to"][:12] in text


def test_the_pictures_are_put_in_as_they_are(story):
    """Both of them, and the same in words."""
    page = page_of(*story)
    assert SVG.format("picture-wide") in page
    assert SVG.format("picture-narrow") in page
    assert "main two fixes" in Shown(page).text


def test_findings_are_linked(story):
    """Each that is not over has its page."""
    links = Shown(page_of(*story)).links
    assert len(story[0].findings) > 1
    assert [f"../finding/{it.handle}.html" for it in story[0].findings] == [at for at in links if "finding/" in at]


def test_the_ladder_and_drift(story):
    """Every step is told with what it brings; drift says which commit brings a variant level."""
    it, arguments, ledger = story
    text = Shown(page_of(it, arguments, ledger)).text
    assert "rung 1" in text
    assert "The variants stand on one line of history" in text
    assert all(f"Level at {commit[:12]}" in text for commit in it.drift["align"].values())


def test_the_ledger(story):
    """Which ref held each pinned commit, from when to when."""
    it, arguments, _ = story
    commit = it.pins[0]["commit"]
    held = Holding(ref="refs/heads/main", first_seen=NOW, last_seen=NOW + timedelta(days=2), tip=commit)
    text = Shown(page_of(it, arguments, {commit: (held,)})).text
    assert f"refs/heads/main {commit[:12]} 2026-08-20 09:00 UTC 2026-08-22 09:00 UTC {commit[:12]}" in text


def test_what_was_not_observed_is_said(story):
    """Since when, and why."""
    it, arguments, ledger = story
    silence = Patience(
        tries=3,
        since=NOW - timedelta(hours=3),
        missing_tries=0,
        missing_since=None,
        last_reason="the server answered 503",
        is_missing=False,
    )
    silent = replace(it, silences={it.upstreams[0]: silence})
    assert (
        "was not observed since 2026-08-20 06:00 UTC (3 hours) the server answered 503"
        in Shown(page_of(silent, arguments, ledger)).text
    )


def test_without_arguments_the_bump_tells_what_is_lacked(story):
    """What an older version judged is still told, as far as it wrote it down."""
    it, _, ledger = story
    text = Shown(page_of(it, {}, ledger)).text
    assert "Handle pages that are on the shelf in shelf_free" in text


def test_hostile_words_open_no_tag(story):
    """Names, reasons and titles bring no tag, no link and no mark that hides text."""
    it, _, ledger = story

    def page(text):
        pins = tuple({**pin, "reachability": {"class": "branch", "detail": f"x{text}"}} for pin in it.pins)
        fixes = {name: {**fix, "title": text} for name, fix in it.fixes.items()}
        return page_of(replace(it, name=text, pins=pins, fixes=fixes), {}, ledger)

    calm = Shown(page("calm"))
    attacked = {name: page(text.decode("utf-8", "surrogateescape")) for name, text in TEXTS.items()}
    assert [] == [name for name, it in attacked.items() if calm.tags != Shown(it).tags or calm.links != Shown(it).links]
    assert [] == [
        name for name, it in attacked.items() if {"\x1b", "\x07", "\u202e", "\u200b", "\x00", "\x9b"} & set(it)
    ]
