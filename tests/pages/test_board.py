"""The board has one line for each dependency, and says what needs a person before anything is read twice."""

from dataclasses import replace
from datetime import timedelta

import pytest

from tests.hostile.texts import TEXTS
from tests.pages.shown import FRAME, Shown
from tests.report import passes
from watcher.model import Patience, Place, State
from watcher.pages.board import Filters, Lines, board, filters_of
from watcher.report.json import pin_document
from watcher.standing import Standing, Watched
from watcher.web import pages

FINDING = passes.fix_available(passes.CUDA)
SILENT = Patience(
    tries=3,
    since=passes.NOW - timedelta(hours=5),
    missing_tries=0,
    missing_since=None,
    last_reason="the server answered 503",
    is_missing=False,
)


def told(pin, cls="default", **more):
    """Return a pin as it was judged."""
    reach = {"class": cls, "refs": [], "detail": "", "since": None, "twin": None}
    commit = pin.ref if pin.ref == passes.OLD else None
    return {**pin_document(pin), "commit": commit, "committed_at": None, "reachability": reach, **more}


def watched(name="saver", pins=(passes.CUDA,), cls="default", **more) -> Watched:
    """Return one dependency, with nothing to say of it but what is given."""
    given = {
        "slug": "it",
        "upstreams": (f"https://github.com/acme/{name}",),
        "fixes": {},
        "suggestions": {},
        "drift": None,
        "findings": (),
        "seen": passes.NOW,
        "silences": {},
    }
    return Watched(
        name=name,
        pins=tuple(told(pin, cls) for pin in pins),
        written=tuple(pins),
        moved=frozenset(),
        places={pin.id: Place(text=pin.place, variant=pin.variant) for pin in pins},
        **(given | more),
    )


def shown(*dependencies, chosen=Filters(), at=passes.NOW, warnings=()) -> Shown:  # noqa: B008 - it is a value
    """Return what the board shows."""
    standing = Standing(at=at, dependencies=dependencies, warnings=warnings)
    return Shown(board(standing, chosen, pages, replace(FRAME, root="", at=at)))


def test_a_calm_line():
    """Its variant, its commit, its place; and no word of a class that needs none."""
    seen = shown(watched())
    for words in ("1 dependency", "Nothing is open", "nothing open", "cuda", passes.OLD[:12], passes.CUDA.place):
        assert words in seen.text
    assert "default" not in seen.text
    assert "dependency/it.html" in seen.links


def test_what_is_lost_is_named():
    """A class that somebody should know of stands beside the variant."""
    assert "orphaned" in shown(watched(cls="orphaned")).text


def test_what_is_acknowledged_is_not_open():
    """The summary counts what waits for a person, each finding once."""
    known = replace(FINDING, state=State.ACKNOWLEDGED)
    assert "medium 1 open" in shown(watched(findings=(FINDING,)), watched("twin", findings=(FINDING,))).text
    assert "Nothing is open" in shown(watched(findings=(known,))).text


def test_the_smallest_bump_stands_beside_what_it_brings():
    """How many fixes the pin lacks, and how far the smallest commit is that has the first of them."""
    ladder = [{"fixes": ["a"]}, {"fixes": ["a", "b"]}]
    made = {"to": passes.NEW, "commits": 3, "fixes": ["a"], "ladder": ladder}
    seen = shown(watched(suggestions={passes.CUDA.id: made})).text
    assert f"lacks 2 fixes → {passes.NEW[:12]} 3 commits on" in seen


def test_a_silence_says_since_when_and_why():
    """And the summary counts it."""
    seen = shown(watched(silences={"https://github.com/acme/saver": SILENT}))
    assert "not observed for 5 hours the server answered 503" in seen.text
    assert "1 not observed" in seen.text


@pytest.mark.parametrize(
    ("relation", "words"), [("same", "all on one commit"), ("diverged", "diverged"), ("of-tomorrow", "")]
)
def test_drift_in_words(relation, words):
    """A relation that another version wrote is left out, and nothing is said wrongly."""
    seen = shown(watched(pins=(passes.CUDA, passes.ROCM), drift={"relation": relation}))
    assert words in seen.text
    assert "of-tomorrow" not in seen.text


def test_the_order_is_kept():
    """What needs a person first is first: it comes so."""
    links = shown(watched(slug="zebra"), watched(slug="ant")).links
    assert links.index("dependency/zebra.html") < links.index("dependency/ant.html")


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ({}, 2),
        ({"severity": "medium"}, 1),
        ({"severity": "low"}, 1),
        ({"severity": "high"}, 0),
        ({"variant": "rocm"}, 1),
        ({"upstream": "https://github.com/acme/calm", "variant": "rocm"}, 1),
        ({"upstream": "https://github.com/acme/calm", "severity": "low"}, 0),
        ({"colour": "red"}, 2),
    ],
)
def test_filters(query, count):
    """Each narrows what is shown, and how many of how many is said."""
    both = (watched(findings=(FINDING,)), watched("calm", pins=(passes.ROCM,)))
    seen = shown(*both, chosen=filters_of(query))
    wanted = f"{count} of 2 shown" if count else "No dependency is like that."
    assert wanted in seen.text


def test_one_filter_is_taken_away_by_a_link():
    """Which keeps the other, whatever a stranger called it."""
    odd, chosen = replace(passes.CUDA, variant="a&b=c d"), Filters(variant="a&b=c d", severity="low")
    assert ("?severity=low", "?variant=a%26b%3Dc+d") == (chosen.without("variant"), chosen.without("severity"))
    seen = shown(watched(pins=(odd,), findings=(FINDING,)), chosen=chosen)
    assert {"index.html?severity=low", "index.html?variant=a%26b%3Dc+d"} <= set(seen.links)


@pytest.mark.parametrize(("at", "said"), [(passes.NOW, "Nothing is pinned"), (None, "Nothing was looked at yet")])
def test_nothing_is_there(at, said):
    """Nothing pinned, and nothing looked at, are said; a file that was not read too."""
    seen = shown(at=at, warnings=("Dockerfile: it is too large",))
    assert said in seen.text
    assert "Dockerfile it is too large" in seen.text


def written_by(stranger: str) -> Shown:
    """Return the board where a stranger's words stand in every place."""
    pin = replace(passes.CUDA, variant=stranger, ref=stranger)
    it = watched(stranger, pins=(pin,), cls="orphaned", silences={"u": replace(SILENT, last_reason=stranger)})
    it = replace(it, places={pin.id: Place(text=stranger)}, upstreams=(stranger,))
    return shown(it, warnings=(stranger,), chosen=Filters(variant=stranger))


@pytest.mark.parametrize("name", TEXTS)
def test_what_strangers_wrote_stays_text(name):
    """It opens no tag, and hides nothing."""
    seen, plain = written_by(TEXTS[name][:500].decode(errors="replace")), written_by("plain")
    assert plain.tags == seen.tags
    assert seen.text.isprintable()


def test_a_line_is_written_again_when_an_age_on_it_is_another():
    """And when something is otherwise; until then it is the same text."""
    lines, it = Lines(), watched(seen=passes.NOW)
    first = lines.written(it, pages, FRAME)
    later = replace(FRAME, now=passes.NOW + timedelta(minutes=59))
    assert first is lines.written(it, pages, later)
    assert "less than an hour ago" in first
    assert "1 hour ago" in lines.written(it, pages, replace(FRAME, now=passes.NOW + timedelta(hours=1)))
    assert "nothing open" in first
    assert f">{FINDING.concern.severity}<" in lines.written(replace(it, findings=(FINDING,)), pages, FRAME)
    assert "less than an hour ago" in lines.written(it, pages, FRAME)  # the clock was set back
