"""Draw a picture that stands alone: a file with its own style, or PNG where SVG is not taken, as in mails."""

from collections.abc import Iterable
from importlib.resources import files
from xml.etree import ElementTree as ET

import resvg_py

from watcher.drawing import Drawing
from watcher.picture.sheet import Sheet, laid_out
from watcher.picture.style import plain, sheets
from watcher.picture.svg import WIDE, draw, name_of
from watcher.report.text import safe
from watcher.standing import Watched
from watcher.web import Pages

MEDIA_TYPE = "image/svg+xml"
_EDGE = 12
"""Units that are free around the drawing."""
_LOW = 40
"""Units of height where there is nothing to draw."""
_ZOOM = 2
"""Pixels a unit: screens are finer than they say."""
_NOWHERE = Pages(repository=None, forge=None)
_FONTS = ("OpenSans-Regular.ttf", "OpenSans-SemiBold.ttf")


def alone(drawings: Iterable[tuple[Drawing, Pages]], watched: Watched, width: int = WIDE) -> str:
    """Return the drawings of a dependency below each other as one SVG, which says where there is nothing to draw."""
    made = [laid_out(drawing, watched, pages) for drawing, pages in drawings if drawing.strands]
    return _alone(made, watched, width, "".join(sheets()))


def png(drawings: Iterable[Drawing], watched: Watched, width: int = WIDE) -> bytes:
    """Return the same as PNG, two pixels a unit, in light colours and without links; empty where nothing is drawn."""
    made = [laid_out(drawing, watched, _NOWHERE) for drawing in drawings if drawing.strands]
    if not made:
        return b""
    text = _alone(made, watched, width, plain())
    fonts = files("ttf_opensans") / "ttf"
    return resvg_py.svg_to_bytes(
        svg_string=text,
        zoom=_ZOOM,
        font_files=[str(fonts / name) for name in _FONTS],
        font_family="Open Sans",
        sans_serif_family="Open Sans",
    )


def _alone(sheets: list[Sheet], watched: Watched, width: int, style: str) -> str:
    height = sum(sheet.height for sheet in sheets) + _EDGE if sheets else _LOW
    size = {"width": f"{width}", "height": f"{height:.0f}"}
    root = ET.Element("svg", {"class": "picture", "xmlns": "http://www.w3.org/2000/svg", **size, "role": "img"})
    ET.SubElement(root, "title").text = name_of(watched)
    ET.SubElement(root, "style").text = style
    ET.SubElement(root, "rect", {"class": "paper", **size})
    y = float(_EDGE)
    for sheet in sheets:
        place = ET.SubElement(root, "g", {"transform": f"translate({_EDGE} {y:.0f})"})
        draw(place, sheet, width - 2 * _EDGE)
        y += sheet.height
    if not sheets:
        said = {"class": "folded", "x": f"{_EDGE}", "y": f"{_LOW / 2 + 4:.0f}"}
        ET.SubElement(root, "text", said).text = f"{safe(watched.name, 60)}: nothing to draw yet"
    return ET.tostring(root, encoding="unicode")
