"""Draw what matters of an upstream's history: where each variant stands, what it lacks, and how far it is from there.

The newest is at the top, as in `git log --graph`. What lies between the commits that are drawn is folded, and counted.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from xml.etree import ElementTree as ET

from watcher.drawing import At, Drawing, Stop, Strand, StrandKind
from watcher.model import ReachabilityClass
from watcher.plural import counted
from watcher.report.text import safe
from watcher.standing import Document, Watched
from watcher.web import Pages

WIDE, NARROW = 760, 350
"""Units of width, each about a pixel where the drawing has its full size."""
_LANE, _LEFT, _LINE, _GAP, _FOLD = 22, 14, 20, 14, 24
_LETTER = 7.6
"""Units that a letter takes, in any usual font."""
_SIZES = {"small": 0.86, "pinned": 1.12, "target": 1.12}
"""Class of a text → how large its letters are."""
_LOST = {str(it) for it in ReachabilityClass if it.is_lost}
_PINS, _REFS = 6, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """What is said beside one stop: a few lines, each of one class."""

    stop: Stop
    lines: tuple[tuple[str, str], ...]
    """(class, words)."""
    kind: str
    """Class of the dot."""
    page: str | None


@dataclass(slots=True)
class _Row:
    """One stop in its place."""

    at: At
    said: _Said
    strand: Strand
    y: float = 0.0
    folded: str = ""
    """What lies below it."""


@dataclass(slots=True)
class _Sheet:
    """The rows of a drawing from the top down, and where each is."""

    rows: list[_Row]
    lanes: int
    asides: list[str]
    height: float = 0.0
    by_stop: dict[At, _Row] = field(default_factory=dict)

    def x(self, strand: int) -> float:
        """Return the middle of a strand's lane."""
        return _LEFT + _LANE * strand


def svg(drawing: Drawing, watched: Watched, pages: Pages, width: int = WIDE) -> str:
    """Return the drawing as SVG without any style of its own; empty where there is nothing to draw."""
    if not drawing.strands:
        return ""
    sheet = _sheet(drawing, watched, pages)
    name = f"history of {safe(watched.name)}"
    kind = "picture-narrow" if width == NARROW else "picture-wide"
    root = ET.Element(
        "svg",
        {
            "class": f"picture {kind}",
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": f"0 0 {width} {sheet.height:.0f}",
            "role": "group",
            "aria-label": name,
        },
    )
    for number, strand in enumerate(drawing.strands):
        _draw_strand(root, number, strand, sheet)
    for row in sheet.rows:
        _draw_row(root, row, sheet, width)
    for number, said in enumerate(sheet.asides):
        place = {
            "class": "folded",
            "x": f"{_LEFT - 6}",
            "y": f"{sheet.height - _LINE * (len(sheet.asides) - number) + 8}",
        }
        ET.SubElement(root, "text", place).text = _cut(said, width - _LEFT, 0.9)
    return ET.tostring(root, encoding="unicode")


def words(drawing: Drawing, watched: Watched) -> str:
    """Return the same in words, the newest first."""
    lines, sheet = [], _sheet(drawing, watched, Pages(repository=None, forge=None))
    for row in sheet.rows:
        where = "" if row.at.strand == 0 else f"[{_strand_name(row.strand)}] "
        lines.append(f"{row.said.stop.commit[:12]} {where}{'; '.join(text for _, text in row.said.lines)}")
        lines += [f"  {row.folded}"] if row.folded else []
    return "\n".join((*lines, *sheet.asides))


# --- what is said ----------------------------------------------------------------------------------------------------


def _sheet(drawing: Drawing, watched: Watched, pages: Pages) -> _Sheet:
    order = _order(drawing.strands)
    targets, rungs = _steps(watched.suggestions, watched)
    rows = []
    for at in reversed(order):
        strand = drawing.strands[at.strand]
        said = _said(strand.stops[at.stop], watched, pages, targets, rungs)
        rows.append(_Row(at=at, said=said, strand=strand, folded=_folded(strand, at)))
    sheet = _Sheet(rows=rows, lanes=len(drawing.strands), asides=_asides(drawing, watched))
    y = 16.0
    for row in rows:
        row.y = y
        y += _LINE * len(row.said.lines) + (_FOLD if row.folded else 0) + _GAP
        sheet.by_stop[row.at] = row
    sheet.height = y + _LINE * len(sheet.asides)
    return sheet


def _order(strands: Sequence[Strand]) -> list[At]:
    """Return all stops, oldest first; a branch stands right after what it comes from."""
    order = [At(0, stop) for strand in strands[:1] for stop in range(len(strand.stops))]
    for number, strand in enumerate(strands[1:], 1):
        place = order.index(strand.base) + 1 if strand.base in order else 0
        order[place:place] = [At(number, stop) for stop in range(len(strand.stops))]
    return order


def _steps(made: Mapping[str, Document], watched: Watched) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return commit → the variants of which it is the target, and those of which it is another step."""
    targets: dict[str, list[str]] = {}
    rungs: dict[str, list[str]] = {}
    for pin, it in made.items():
        variant = watched.places[pin].variant
        targets.setdefault(it["to"], []).append(variant)
        for rung in it.get("ladder", ()):
            if rung["to"] != it["to"]:
                rungs.setdefault(rung["to"], []).append(variant)
    return targets, rungs


def _said(
    stop: Stop, watched: Watched, pages: Pages, targets: Mapping[str, list[str]], rungs: Mapping[str, list[str]]
) -> _Said:
    pins = [line for name in stop.pins[:_PINS] for line in _placed(name, watched)]
    more = [("pinned", f"and {len(stop.pins) - _PINS} more")] if len(stop.pins) > _PINS else []
    fixes = [watched.fixes[name] for name in stop.fixes if name in watched.fixes]
    lines = [
        *pins,
        *more,
        *_step("target", "target for", targets.get(stop.commit)),
        *_step("rung", "a step for", rungs.get(stop.commit)),
        *((f"fix {fix['grade']}", f"{fix['grade']} fix{_number(fix)}: {safe(str(fix['title']))}") for fix in fixes),
    ]
    if not fixes and stop.subject:
        lines.append(("subject", safe(stop.subject)))
    lines.append(("small", " · ".join(_facts(stop))))
    kind = "target" if stop.commit in targets else "fix" if fixes else "pinned" if stop.pins else "plain"
    return _Said(stop=stop, lines=tuple(lines), kind=kind, page=pages.commit(stop.commit))


def _step(kind: str, said: str, variants: list[str] | None) -> list[tuple[str, str]]:
    return [(kind, f"{said} {_all(variants)}")] if variants else []


def _facts(stop: Stop) -> Iterator[str]:
    yield stop.commit[:12]
    if stop.at:
        yield f"{stop.at:%Y-%m-%d}"
    yield from map(_short, stop.refs[:_REFS])


def _placed(name: str, watched: Watched) -> list[tuple[str, str]]:
    """Return that a pin stands somewhere, and its place in our files."""
    place, pin = watched.places.get(name), next((it for it in watched.pins if it["id"] == name), {})
    said = (pin.get("reachability") or {}).get("class")
    if place is None:
        return [("pinned", safe(name))]
    if name in watched.moved:
        return [("small", f"{safe(place.variant)} was here when it was last looked at")]
    kind, lost = ("pinned lost", f", {said}") if said in _LOST else ("pinned", "")
    return [(kind, f"{safe(place.variant)} is here{lost}"), ("small", safe(place.text))]


def _folded(strand: Strand, at: At) -> str:
    stop = strand.stops[at.stop]
    if stop.landings:
        return f"{counted(stop.landings, 'landing')} between, {counted(stop.commits, 'commit')} in all"
    return counted(stop.commits, "commit") if stop.commits > 1 else ""


def _number(fix: Document) -> str:
    return f" #{fix['pull_request']}" if fix.get("pull_request") else ""


def _asides(drawing: Drawing, watched: Watched) -> list[str]:
    """Return what is not drawn: commits that are not held, and what was too much."""
    hidden = sum(strand.hidden for strand in drawing.strands)
    return [
        *(_missing(name, watched) for name in drawing.absent),
        *([f"{counted(hidden, 'fix', 'fixes')} more, too many to draw"] if hidden else []),
        *([f"{counted(drawing.more, 'pin')} more, too many to draw"] if drawing.more else []),
    ]


def _missing(name: str, watched: Watched) -> str:
    place = watched.places.get(name)
    return f"{safe(place.variant)} is on a commit that is not there; {safe(place.text)}" if place else safe(name)


def _all(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(map(safe, names)))


def _short(ref: str) -> str:
    return safe(ref.removeprefix("refs/heads/").removeprefix("refs/tags/"), 40)


def _strand_name(strand: Strand) -> str:
    match strand.kind:
        case StrandKind.SIDE:
            return "merged"
        case StrandKind.LOST:
            return f"lost, once {_short(strand.name)}" if strand.name else "lost"
        case _:
            return _short(strand.name)


# --- how it is drawn -------------------------------------------------------------------------------------------------


def _draw_strand(root: ET.Element, number: int, strand: Strand, sheet: _Sheet) -> None:
    mine = [row for row in sheet.rows if row.at.strand == number]
    x, kind = sheet.x(number), f"strand {strand.kind}"
    if len(mine) > 1:
        ET.SubElement(root, "path", {"class": kind, "d": f"M{x} {mine[0].y}V{mine[-1].y}"})
    for other, row in ((strand.base, mine[-1]), (strand.joins, mine[0])):
        if other in sheet.by_stop:
            there = sheet.by_stop[other]
            to = sheet.x(there.at.strand)
            middle = there.y + (_LINE if there.y < row.y else -_LINE)
            way = f"M{x} {row.y}V{middle}Q{x} {there.y} {to} {there.y}"
            ET.SubElement(root, "path", {"class": kind, "d": way})


def _draw_row(root: ET.Element, row: _Row, sheet: _Sheet, width: int) -> None:
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
        y += _LINE
    if row.folded:
        ET.SubElement(
            group, "text", {"class": "folded", "x": f"{left}", "y": f"{y + 3}"}
        ).text = f"⋮ {_cut(row.folded, width - left, 0.9)}"


def _cut(text: str, room: float, size: float) -> str:
    most = int(room / (_LETTER * size))
    return text if len(text) <= most else f"{text[: most - 1]}…"
