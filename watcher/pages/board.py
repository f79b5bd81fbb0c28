"""The board: one line for each dependency, its variants side by side, what needs a person first."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup

from watcher.model import Place, Severity
from watcher.pages.layout import Frame, render
from watcher.plural import counted
from watcher.report.digest import lasting, lasting_until
from watcher.report.text import safe
from watcher.standing import Document, Standing, Watched
from watcher.web import PagesOf

_LONG = timedelta(days=1)
"""How long a line without any age is kept."""
_QUIET = {"default", "release-tag", "branch"}
"""Classes of which nothing needs to be said."""
_STANDS = {
    "same": "all on one commit",
    "aligned": "same fixes",
    "behind": "one is behind",
    "diverged": "diverged",
    "floating-vs-pinned": "one floats, one is pinned",
    "other-repository": "several repositories",
    "unknown": "not known",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Which dependencies are shown; an empty one lets all through."""

    variant: str = ""
    severity: str = ""
    upstream: str = ""

    def admits(self, it: Watched) -> bool:
        """Answer whether a dependency is shown; `severity` means so severe or worse."""
        worst = it.severity
        return (
            (not self.variant or self.variant in it.variants)
            and (not self.severity or (worst is not None and worst.rank >= Severity(self.severity).rank))
            and (not self.upstream or self.upstream in it.upstreams)
        )

    def without(self, name: str) -> str:
        """Return the query without one filter."""
        kept = {it.name: value for it in fields(self) if it.name != name and (value := getattr(self, it.name))}
        return f"?{urlencode(kept)}" if kept else "?"


def filters_of(query: Mapping[str, str]) -> Filters:
    """Return the filters that a query names; what means nothing is none."""
    severity = query.get("severity", "")
    return Filters(
        variant=query.get("variant", ""),
        severity=severity if severity in set(Severity) else "",
        upstream=query.get("upstream", ""),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """Where one pin stands."""

    variant: str
    commit: str
    page: str | None
    age: str
    trouble: str
    """Its class, where that is not a quiet one."""
    lacks: str
    target: str
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One dependency."""

    watched: Watched
    cells: tuple[Cell, ...]
    drift: str
    is_breach: bool
    seen: str
    silence: str


class Lines:
    """The lines of the board as they were written, each until its dependency, or an age on it, is another one."""

    def __init__(self) -> None:
        self._held: dict[str, _Written] = {}

    def written(self, it: Watched, pages_of: PagesOf, frame: Frame) -> Markup:
        """Return the line of a dependency."""
        held = self._held.get(it.slug)
        if held is None or held.watched is not it or not held.at <= frame.now < held.until:
            text = render("line.html.j2", frame, line=_line(it, pages_of, frame.now), safe=safe)
            until = min((lasting_until(at, frame.now) for at in _moments(it)), default=frame.now + _LONG)
            held = self._held[it.slug] = _Written(
                watched=it,
                at=frame.now,
                until=until,
                text=Markup(text),  # noqa: S704 - the template escapes every text in it
            )
        return held.text


@dataclass(frozen=True, slots=True, kw_only=True)
class _Written:
    """One line of the board, in HTML."""

    watched: Watched
    at: datetime
    until: datetime
    text: Markup


def board(standing: Standing, chosen: Filters, pages_of: PagesOf, frame: Frame, lines: Lines | None = None) -> str:
    """Return the board, of those dependencies that are chosen; `lines` has those that were written before."""
    lines = lines or Lines()
    return render(
        "board.html.j2",
        frame,
        standing=standing,
        lines=[lines.written(it, pages_of, frame) for it in standing.dependencies if chosen.admits(it)],
        chosen=chosen,
        active=[(it.name, value) for it in fields(chosen) if (value := getattr(chosen, it.name))],
        counts=_counts(standing.dependencies),
        silent=sum(bool(it.silences) for it in standing.dependencies),
        variants=sorted({name for it in standing.dependencies for name in it.variants}),
        severities=[str(it) for it in Severity],
        upstreams=sorted({name for it in standing.dependencies for name in it.upstreams}),
        safe=safe,
        counted=counted,
    )


def _counts(dependencies: Iterable[Watched]) -> list[tuple[str, int]]:
    """Return how many findings are open, the most severe first."""
    keys = {found.key: found.concern.severity for it in dependencies for found in it.findings if found.is_live}
    count = Counter(keys.values())
    return [(str(it), count[it]) for it in reversed(Severity) if count[it]]


def _line(it: Watched, pages_of: PagesOf, now: datetime) -> Line:
    drift = it.drift or {}
    since = min(it.silences.values(), key=lambda failed: failed.since, default=None)
    return Line(
        watched=it,
        cells=tuple(_cell(pin, it, pages_of, now) for pin in it.pins),
        drift=_STANDS.get(str(drift.get("relation")), "") if drift else "",
        is_breach=any(found.is_live and found.concern.sides for found in it.findings),
        seen=f"{lasting(it.seen, now)} ago" if it.seen else "never",
        silence=f"not observed for {lasting(since.since, now)}: {safe(since.last_reason, 120)}" if since else "",
    )


def _moments(it: Watched) -> Iterator[datetime]:
    """Yield the moments of which a line tells how long ago they are."""
    yield from (failed.since for failed in it.silences.values())
    yield from (datetime.fromisoformat(at) for pin in it.pins if (at := pin.get("committed_at")))
    if it.seen:
        yield it.seen


def _cell(pin: Document, it: Watched, pages_of: PagesOf, now: datetime) -> Cell:
    commit, reach = pin.get("commit"), pin.get("reachability") or {}
    made = it.suggestions.get(pin["id"]) or {}
    at = pin.get("committed_at")
    lacks = len(_known(made))
    return Cell(
        variant=safe(str(pin["variant"]), 40),
        commit=str(commit)[:12] if commit else safe(str(pin.get("ref") or "default branch"), 40),
        page=pages_of(pin["upstream"]).commit(commit) if commit and pin.get("upstream") else None,
        age=f"{lasting(datetime.fromisoformat(at), now)} old" if at else "",
        trouble="" if reach.get("class") in _QUIET else safe(str(reach.get("class", "unknown")), 40),
        lacks=f"lacks {counted(lacks, 'fix', 'fixes')}" if lacks else "",
        target=f"{str(made['to'])[:12]}, {counted(int(made['commits']), 'commit')} on" if made.get("to") else "",
        place=it.places[pin["id"]],
    )


def _known(made: Mapping[str, Any]) -> set[str]:
    """Return the fixes that the last step of a bump's ladder brings: all that the pin lacks."""
    return {str(fix) for rung in (made.get("ladder") or ())[-1:] for fix in rung.get("fixes", ())}
