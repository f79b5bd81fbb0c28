"""A badge for each dependency, to be put beside others: what is open in a few words."""

from math import ceil
from xml.etree import ElementTree as ET

from watcher.plural import counted
from watcher.report.text import safe
from watcher.standing import Watched

MEDIA_TYPE = "image/svg+xml"
_TYPE, _MARGIN, _HEIGHT = 11, 8, 20
_NARROW, _USUAL, _BROAD, _FULL = 0.4, 0.7, 1.0, 1.1
"""Widths of letters, of the height of the type, on the large side of what Verdana and DejaVu Sans have."""
_THIN, _WIDE, _BEYOND_LATIN = frozenset("fijlrtI.,:;'|!()[] -"), frozenset("mwMWOQGD@%&—…"), "\u0530"
_COLOURS = {"critical": "#8f1018", "high": "#b3151d", "medium": "#8a4b00", "low": "#4b545e", "": "#17692f"}


def badge(it: Watched) -> str:
    """Return the badge as SVG; it never says that all is well, but that nothing was found."""
    name, said = safe(it.name, 40), _said(it)
    is_calm = not it.findings and not it.silences and it.seen is not None
    colour = _COLOURS["low" if it.silences else str(it.severity or ("" if is_calm else "low"))]
    left, right = (2 * _MARGIN + _width(text) for text in (name, said))
    root = ET.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "width": str(left + right),
            "height": str(_HEIGHT),
            "role": "img",
            "aria-label": f"{name}: {said}",
        },
    )
    ET.SubElement(root, "title").text = f"{name}: {said}"
    for x, width, fill in ((0, left, "#343a40"), (left, right, colour)):
        ET.SubElement(root, "rect", {"x": str(x), "width": str(width), "height": str(_HEIGHT), "fill": fill})
    for middle, text in ((left / 2, name), (left + right / 2, said)):
        place = {"x": f"{middle:g}", "y": "14", "fill": "#ffffff", "text-anchor": "middle"}
        font = {"font-family": "Verdana, DejaVu Sans, sans-serif", "font-size": "11"}
        ET.SubElement(root, "text", {**place, **font}).text = text
    return ET.tostring(root, encoding="unicode")


def _said(it: Watched) -> str:
    if it.silences:
        return "not observed"
    if it.severity is None and it.findings:  # acknowledged or put off: it is still so
        return counted(len(it.findings), "known finding")
    if it.severity is None:
        return "nothing found" if it.seen else "not looked at yet"
    return f"{it.severity}: {counted(sum(found.is_live for found in it.findings), 'finding')}"


def _width(text: str) -> int:
    return ceil(_TYPE * sum(map(_share, text)))


def _share(letter: str) -> float:
    if letter >= _BEYOND_LATIN:
        return _FULL
    return _NARROW if letter in _THIN else _BROAD if letter in _WIDE else _USUAL
