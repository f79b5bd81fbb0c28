"""A picture that stands alone has everything in it: its style, its paper, and as PNG its letters."""

import struct
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from tests.hostile.texts import TEXTS
from tests.picture.test_svg import ENGINE, STORY, UPSTREAM, main, stop, watched
from watcher.drawing import Drawing
from watcher.picture.alone import alone, png
from watcher.picture.style import plain, sheets
from watcher.web import pages

ON = pages(UPSTREAM)
SMALL = Drawing(strands=(main(stop(1, pins=("cuda",))),))


def read(text) -> ET.Element:
    """Return a drawing as a browser reads it."""
    return ET.fromstring(text)  # noqa: S314 - we made it


def size(image) -> tuple[int, int]:
    """Return width and height of a PNG (ISO/IEC 15948 §11.2.2)."""
    assert image.startswith(b"\x89PNG\r\n\x1a\n")
    return struct.unpack(">II", image[16:24])


def test_it_has_its_style_and_its_paper():
    """Nothing else is loaded; in the dark it has the colours of the dark."""
    root = read(alone([(STORY, ON)], ENGINE))
    [style] = [it.text for it in root.iter() if it.tag.endswith("}style")]
    assert "".join(sheets()) == style
    assert "prefers-color-scheme: dark" in style
    assert "url(" not in style
    assert "@import" not in style
    [paper] = [it for it in root.iter() if it.get("class") == "paper"]
    assert (root.get("width"), root.get("height")) == (paper.get("width"), paper.get("height"))
    assert "history of engine" == root[0].text


def test_drawings_stand_below_each_other():
    """Of a dependency with several upstreams; the sheet is as high as both."""
    one, both = (read(alone([(STORY, ON)] * count, ENGINE)) for count in (1, 2))
    assert 2 * sum(1 for it in one.iter() if it.tag.endswith("circle")) == sum(
        1 for it in both.iter() if it.tag.endswith("circle")
    )
    first, second = (it.get("transform") for it in both if it.tag.endswith("}g"))
    assert first != second
    assert float(both.get("height")) > 1.9 * float(one.get("height"))


def test_nothing_to_draw():
    """Is said by what is shown somewhere, and is no picture for a mail."""
    assert ["engine: nothing to draw yet"] == [
        it.text for it in read(alone([(Drawing(), ON)], ENGINE)).iter() if it.tag.endswith("}text")
    ]
    assert b"" == png([Drawing()], ENGINE)


@pytest.mark.parametrize("width", [544, 760])
def test_png(width):
    """Two pixels a unit, as high as the SVG."""
    height = int(read(alone([(STORY, ON)], ENGINE, width)).get("height"))
    assert (2 * width, 2 * height) == size(png([STORY], ENGINE, width))


def test_png_has_letters():
    """Another name is another picture, on a machine without any font of its own."""
    other = replace(SMALL, strands=(main(stop(1, pins=("cuda",), subject="another word")),))
    assert png([SMALL], watched({"cuda": "default"})) != png([other], watched({"cuda": "default"}))


def test_png_has_no_variables():
    """Who draws it knows none; every colour is one."""
    assert "var(" not in plain()
    assert plain().count("#") >= sheets()[1].count("var(")


@pytest.mark.parametrize("name", TEXTS)
def test_what_strangers_wrote_is_drawn(name):
    """Whatever the letters, there is a picture."""
    text = TEXTS[name][:500].decode(errors="replace")
    strand = replace(main(stop(1, subject=text, refs=(f"refs/tags/{text}",), pins=("cuda",), fixes=(text,))), name=text)
    it = replace(watched({"cuda": "default"}, [text], where=text), name=text)
    assert 1088 == size(png([Drawing(strands=(strand,))], it, 544))[0]
    tags = {it.tag.rpartition("}")[2] for it in read(alone([(Drawing(strands=(strand,)), ON)], it)).iter()}
    assert tags <= {"svg", "g", "title", "style", "rect", "circle", "text", "path", "a"}
