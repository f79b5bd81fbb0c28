"""Lay out what matters of an upstream's history: where each variant stands, what it lacks, how far it is from there.

The newest is at the top, as in `git log --graph`. What lies between the commits that are drawn is folded, and counted.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from watcher.drawing import At, Drawing, Stop, Strand, StrandKind
from watcher.model import ReachabilityClass
from watcher.plural import counted
from watcher.report.text import safe
from watcher.standing import Document, Watched
from watcher.web import Pages

LINE, LEFT = 20, 14
"""Units from one line of text to the next, and left of the first lane."""
_LANE, _GAP, _FOLD = 22, 14, 24
_LOST = {str(it) for it in ReachabilityClass if it.is_lost}
_PINS, _REFS = 6, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What is said beside one stop: a few lines, each of one class."""

    stop: Stop
    lines: tuple[tuple[str, str], ...]
    """(class, words)."""
    kind: str
    """Class of the dot."""
    page: str | None


@dataclass(slots=True)
class Row:
    """One stop in its place."""

    at: At
    said: Said
    strand: Strand
    y: float = 0.0
    folded: str = ""
    """What lies below it."""


@dataclass(slots=True)
class Sheet:
    """The rows of a drawing from the top down, and where each is."""

    rows: list[Row]
    lanes: int
    asides: list[str]
    height: float = 0.0
    by_stop: dict[At, Row] = field(default_factory=dict)

    def x(self, strand: int) -> float:
        """Return the middle of a strand's lane."""
        return LEFT + _LANE * strand


def laid_out(drawing: Drawing, watched: Watched, pages: Pages) -> Sheet:
    """Return the rows of a drawing with what is said beside each, and how high they stand; links lead to `pages`."""
    order = _order(drawing.strands)
    targets, rungs = _steps(watched.suggestions, watched)
    rows = []
    for at in reversed(order):
        strand = drawing.strands[at.strand]
        said = _said(strand.stops[at.stop], watched, pages, targets, rungs)
        rows.append(Row(at=at, said=said, strand=strand, folded=_folded(strand, at)))
    sheet = Sheet(rows=rows, lanes=len(drawing.strands), asides=_asides(drawing, watched))
    y = 16.0
    for row in rows:
        row.y = y
        y += LINE * len(row.said.lines) + (_FOLD if row.folded else 0) + _GAP
        sheet.by_stop[row.at] = row
    sheet.height = y + LINE * len(sheet.asides)
    return sheet


def words(drawing: Drawing, watched: Watched) -> str:
    """Return the same in words, the newest first."""
    lines, made = [], laid_out(drawing, watched, Pages(repository=None, forge=None))
    for row in made.rows:
        where = "" if row.at.strand == 0 else f"[{_strand_name(row.strand)}] "
        lines.append(f"{row.said.stop.commit[:12]} {where}{'; '.join(text for _, text in row.said.lines)}")
        lines += [f"  {row.folded}"] if row.folded else []
    return "\n".join((*lines, *made.asides))


# --- what is said ----------------------------------------------------------------------------------------------------


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
) -> Said:
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
    return Said(stop=stop, lines=tuple(lines), kind=kind, page=pages.commit(stop.commit))


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
