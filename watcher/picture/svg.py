"""Draw a sheet as SVG."""

from xml.etree import ElementTree as ET

from watcher.drawing import Drawing
from watcher.picture.sheet import LEFT, LINE, Row, Sheet, laid_out
from watcher.report.text import safe
from watcher.standing import Watched
from watcher.web import Pages

WIDE, NARROW = 760, 350
"""Units of width, each about a pixel where the drawing has its full size."""
_LETTER = 7.6
"""Units that a letter takes, in any usual font."""
_SIZES = {"small": 0.86, "pinned": 1.12, "target": 1.12}
"""Class of a text → how large its letters are."""


def svg(drawing: Drawing, watched: Watched, pages: Pages, width: int = WIDE) -> str:
    """Return the drawing as SVG without any style of its own; empty where there is nothing to draw."""
    if not drawing.strands:
        return ""
    sheet = laid_out(drawing, watched, pages)
    kind = "picture-narrow" if width == NARROW else "picture-wide"
    root = ET.Element(
        "svg",
        {
            "class": f"picture {kind}",
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": f"0 0 {width} {sheet.height:.0f}",
            "role": "group",
            "aria-label": name_of(watched),
        },
    )
    draw(root, sheet, width)
    return ET.tostring(root, encoding="unicode")


def name_of(watched: Watched) -> str:
    """Return what the picture of a dependency is called."""
    return f"history of {safe(watched.name)}"


def draw(root: ET.Element, sheet: Sheet, width: int) -> None:
    """Draw a sheet into an element, from its upper left corner on."""
    for number in range(sheet.lanes):
        _draw_strand(root, number, sheet)
    for row in sheet.rows:
        _draw_row(root, row, sheet, width)
    for number, said in enumerate(sheet.asides):
        y = sheet.height - LINE * (len(sheet.asides) - number) + 8
        place = {"class": "folded", "x": f"{LEFT - 6}", "y": f"{y}"}
        ET.SubElement(root, "text", place).text = _cut(said, width - LEFT, 0.9)


def _draw_strand(root: ET.Element, number: int, sheet: Sheet) -> None:
    mine = [row for row in sheet.rows if row.at.strand == number]
    strand, x = mine[0].strand, sheet.x(number)
    kind = f"strand {strand.kind}"
    if len(mine) > 1:
        ET.SubElement(root, "path", {"class": kind, "d": f"M{x} {mine[0].y}V{mine[-1].y}"})
    for other, row in ((strand.base, mine[-1]), (strand.joins, mine[0])):
        if other in sheet.by_stop:
            there = sheet.by_stop[other]
            to = sheet.x(there.at.strand)
            middle = there.y + (LINE if there.y < row.y else -LINE)
            way = f"M{x} {row.y}V{middle}Q{x} {there.y} {to} {there.y}"
            ET.SubElement(root, "path", {"class": kind, "d": way})


def _draw_row(root: ET.Element, row: Row, sheet: Sheet, width: int) -> None:
    said, left = row.said, sheet.x(sheet.lanes) + 2
    group = ET.SubElement(root, "g", {"class": "stop"})
    ET.SubElement(group, "title").text = "; ".join(text for _, text in said.lines)
    spot = {"class": f"dot {said.kind}", "cx": f"{sheet.x(row.at.strand)}", "cy": f"{row.y}"}
    ET.SubElement(group, "circle", {**spot, "r": "7" if said.kind == "target" else "5"})
    y = row.y + 5
    for kind, text in said.lines:
        shown = _cut(text, width - left, _SIZES.get(kind.partition(" ")[0], 1.0))
        is_linked = said.page is not None and text is said.lines[-1][1]
        parent = ET.SubElement(group, "a", {"href": said.page or ""}) if is_linked else group
        ET.SubElement(parent, "text", {"class": kind, "x": f"{left}", "y": f"{y}"}).text = shown
        y += LINE
    if row.folded:
        ET.SubElement(
            group, "text", {"class": "folded", "x": f"{left}", "y": f"{y + 3}"}
        ).text = f"… {_cut(row.folded, width - left, 0.9)}"


def _cut(text: str, room: float, size: float) -> str:
    most = int(room / (_LETTER * size))
    return text if len(text) <= most else f"{text[: most - 1]}…"
