"""The picture says where each variant stands, what it lacks, and how far it is from there."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.hostile.texts import TEXTS
from watcher.drawing import At, Drawing, Stop, Strand, StrandKind
from watcher.model import Oid, Place
from watcher.picture.sheet import words
from watcher.picture.svg import NARROW, WIDE, svg
from watcher.standing import Watched
from watcher.web import pages

UPSTREAM = "https://github.com/acme/engine"
AT = datetime(2026, 8, 20, tzinfo=UTC)


def oid(number) -> Oid:
    """Return an id."""
    return Oid(f"{number:040x}")


def stop(number, **more) -> Stop:
    """Return a stop."""
    return Stop(**{"commit": oid(number), "subject": f"commit {number}", "at": AT, "landings": 0, "commits": 1, **more})


def main(*stops) -> Strand:
    """Return the followed line."""
    return Strand(kind=StrandKind.FOLLOWED, name="refs/heads/main", base=None, stops=stops)


def watched(classes: Mapping[str, str], fixes=(), made=None, where="docker/Dockerfile", moved=()) -> Watched:
    """Return a dependency with a pin for each variant, of a class of reachability."""
    return Watched(
        name="engine",
        slug="engine",
        upstreams=(UPSTREAM,),
        pins=tuple({"id": it, "variant": it, "reachability": {"class": cls}} for it, cls in classes.items()),
        written=(),
        moved=frozenset(moved),
        places={it: Place(text=f"{where}.{it}:7", variant=it) for it in classes},
        fixes={it: {"id": it, "title": it, "grade": "likely", "pull_request": 95} for it in fixes},
        suggestions=made or {},
        drift=None,
        findings=(),
        seen=AT,
        silences={},
    )


def read(text) -> ET.Element:
    """Return a drawing as a browser reads it."""
    return ET.fromstring(text)  # noqa: S314 - we made it


STORY = Drawing(
    strands=(
        main(
            stop(1, pins=("cuda",), commits=0),
            stop(2),
            stop(5, landings=2, commits=7, fixes=("Fix it",), pins=("rocm",)),
            stop(9, landings=3, commits=3, refs=("refs/heads/main", "refs/tags/v2")),
        ),
        Strand(kind=StrandKind.LOST, name="refs/heads/work", base=At(0, 1), stops=(stop(7, pins=("xpu",)),)),
        Strand(kind=StrandKind.SIDE, name="", base=At(0, 0), joins=At(0, 1), stops=(stop(3, pins=("cpu",)),)),
    )
)
ENGINE = watched(
    {"cuda": "default", "rocm": "default", "xpu": "orphaned", "cpu": "default"},
    fixes=["Fix it"],
    made={"cuda": {"to": oid(5), "ladder": [{"to": oid(2)}, {"to": oid(5)}]}},
)


def test_in_words():
    """The newest first; a branch stands above what it comes from, and what is folded is counted."""
    told = words(STORY, ENGINE).replace("0" * 12, "ID").replace("; ID · 2026-08-20", "")
    assert [
        "ID commit 9 · main · v2",
        "  3 landings between, 3 commits in all",
        "ID rocm is here; docker/Dockerfile.rocm:7; target for cuda; likely fix #95: Fix it",
        "  2 landings between, 7 commits in all",
        "ID [lost, once work] xpu is here, orphaned; docker/Dockerfile.xpu:7; commit 7",
        "ID a step for cuda; commit 2",
        "ID [merged] cpu is here; docker/Dockerfile.cpu:7; commit 3",
        "ID cuda is here; docker/Dockerfile.cuda:7; commit 1",
    ] == told.splitlines()


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_every_stop_is_drawn_once_from_the_top_down(width):
    """With its title, its dot in its lane, a link to the commit, and no text beyond the edge."""
    root = read(svg(STORY, ENGINE, pages(UPSTREAM), width))
    dots = [it for it in root.iter() if it.tag.endswith("circle")]
    heights = [float(it.get("cy")) for it in dots]
    assert heights == sorted(set(heights))
    assert 6 == len(dots) == len([it for it in root.iter() if it.tag.endswith("title")])
    assert {f"{UPSTREAM}/commit/{oid(it)}" for it in (1, 2, 3, 5, 7, 9)} == {
        it.get("href") for it in root.iter() if it.tag.endswith("}a")
    }
    assert max(heights) < float(root.get("viewBox").split()[3])
    assert {"dot pinned", "dot target", "dot plain"} == {it.get("class") for it in dots}
    assert not any("style" in it.attrib for it in root.iter())


def test_nothing_to_draw():
    """Is no picture; what is not there is said."""
    assert "" == svg(Drawing(), ENGINE, pages(UPSTREAM))
    told = words(Drawing(absent=("cuda",), more=3), ENGINE)
    assert [
        "cuda is on a commit that is not there; docker/Dockerfile.cuda:7",
        "3 pins more, too many to draw",
    ] == told.splitlines()


def test_what_is_too_much_is_said():
    """Below the drawing too, and not only in words."""
    told = replace(STORY, strands=(replace(STORY.strands[0], hidden=2),), absent=("cpu",), more=3)
    lines = ["cpu is on a commit that is not there; docker/Dockerfile.cpu:7", "2 fixes more, too many to draw"]
    assert [*lines, "3 pins more, too many to draw"] == words(told, ENGINE).splitlines()[-3:]
    root = read(svg(told, ENGINE, pages(UPSTREAM)))
    texts = [it for it in root.iter() if it.tag.endswith("}text")][-3:]
    assert [*lines, "3 pins more, too many to draw"] == [it.text for it in texts]
    assert float(texts[-1].get("y")) < float(root.get("viewBox").split()[3])


def test_many_pins_at_one_place_are_folded():
    """The first few by name, the others by number."""
    names = [f"v{number}" for number in range(40)]
    text = words(Drawing(strands=(main(stop(1, pins=tuple(names))),)), watched(dict.fromkeys(names, "default")))
    assert "v5 is here" in text
    assert "v6 is here" not in text
    assert "and 34 more" in text


@pytest.mark.parametrize("name", TEXTS)
def test_what_strangers_wrote_stays_text(name):
    """In subjects, refs, titles and places."""
    text = TEXTS[name][:500].decode(errors="replace")
    strand = replace(main(stop(1, subject=text, refs=(f"refs/tags/{text}",), pins=("cuda",), fixes=(text,))), name=text)
    made = svg(Drawing(strands=(strand,)), watched({"cuda": "default"}, [text], where=text), pages(UPSTREAM))
    tags = {it.tag.rpartition("}")[2] for it in read(made).iter()}
    assert tags <= {"svg", "g", "title", "circle", "text", "path", "a"}


@given(st.lists(st.integers(0, 3), max_size=30), st.integers(0, 11))
def test_any_drawing_is_one(pins, branches):
    """However many stops and branches: well-formed, each stop once."""
    stops = tuple(stop(number, landings=few, pins=("cuda",) * few) for number, few in enumerate([0, *pins]))
    beside = tuple(
        Strand(
            kind=StrandKind.BRANCH,
            name=f"refs/heads/{it}",
            base=At(0, it % len(stops)) if it % 3 else None,
            stops=(stop(100 + it),),
        )
        for it in range(branches)
    )
    root = read(svg(Drawing(strands=(main(*stops), *beside)), ENGINE, pages(UPSTREAM)))
    assert len(stops) + branches == sum(it.tag.endswith("circle") for it in root.iter())
