"""The page of one dependency: where each variant stands, the picture, drift, ladders, findings and the ledger."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from markupsafe import Markup

from watcher.model import Holding, Oid, Place
from watcher.pages.argument import Rise
from watcher.pages.layout import Frame, render
from watcher.pages.matrix import matrix
from watcher.plural import counted
from watcher.report import alert, explain
from watcher.report.digest import lasting
from watcher.report.explain import Argument
from watcher.report.text import safe
from watcher.standing import Document, Watched

_RELATIONS = {
    "same": "All variants are on the same state.",
    "aligned": "The variants are on different commits, and none lacks a fix that another has.",
    "behind": "The variants stand on one line of history, one behind the other.",
    "diverged": "The variants stand on lines of history that parted.",
    "floating-vs-pinned": "One variant is pinned to a commit, another follows what moves.",
    "other-repository": "The variants come from different repositories.",
    "unknown": "It is not known how the variants stand to each other: an upstream was not observed.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Where one pin stands."""

    variant: str
    commit: str | None
    page: str | None
    """Where a browser shows the commit."""
    age: str
    reachability: str
    detail: str
    lacks: tuple[str, ...]
    target: str | None
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """How one variant stands to the others."""

    variant: str
    has: tuple[str, ...]
    lacks: tuple[str, ...]
    align: str | None


def dependency(
    watched: Watched,
    arguments: Mapping[str, Argument],
    picture: str,
    narrow: str,
    words: str,
    ledger: Mapping[Oid, tuple[Holding, ...]],
    frame: Frame,
) -> str:
    """Return the page of a dependency; `arguments` by pin id, `picture` and `narrow` are SVG, `words` their text.

    `ledger` has for each pinned commit the refs that were seen holding it.
    """
    drift = watched.drift or {}
    return render(
        "dependency.html.j2",
        frame,
        it=watched,
        rows=[_row(pin, watched, arguments.get(pin["id"]), frame.now) for pin in watched.pins],
        picture=Markup(picture),  # noqa: S704 - drawn by us, which escapes every text in it
        narrow=Markup(narrow),  # noqa: S704
        words=words,
        relation=_RELATIONS.get(str(drift.get("relation")), "") if drift else "",
        sides=_sides(drift, watched),
        ladders=[_ladder(pin, watched) for pin in watched.pins if _ladder_of(pin, watched)],
        matrix=matrix(watched, arguments),
        ledger=sorted(ledger.items(), key=lambda it: it[0]),
        lasting=lambda since: lasting(since, frame.now),
        safe=safe,
        counted=counted,
        placed=alert.placed,
        utc=UTC,
    )


def _row(pin: Document, watched: Watched, argument: Argument | None, now: datetime) -> Row:
    commit, reach = pin.get("commit"), pin.get("reachability") or {}
    made = watched.suggestions.get(pin["id"])
    return Row(
        variant=safe(str(pin["variant"])),
        commit=commit,
        page=argument.pages.commit(commit) if argument and commit else None,
        age=lasting(datetime.fromisoformat(pin["committed_at"]), now) if pin.get("committed_at") else "",
        reachability=safe(str(reach.get("class", "unknown"))),
        detail=safe(str(reach.get("detail", ""))),
        lacks=_lacks(made, watched, argument),
        target=made.get("to") if made else None,
        place=watched.places[pin["id"]],
    )


def _lacks(made: Document | None, watched: Watched, argument: Argument | None) -> tuple[str, ...]:
    """Return the fixes that a pin lacks; without an argument, those that its bump brings."""
    if argument is None:
        return _titles(made.get("fixes", ()) if made else (), watched)
    return tuple(explain.name(argument.fixes[said.fix]) for said in explain.parted(argument)[0])


def _titles(names: Sequence[str], watched: Watched) -> tuple[str, ...]:
    return tuple(safe(str(watched.fixes[name]["title"] if name in watched.fixes else name)) for name in names)


def _sides(drift: Document, watched: Watched) -> list[Side]:
    has, lacks, align = (drift.get(key) or {} for key in ("has", "lacks", "align"))
    sides = [
        Side(
            variant=safe(str(variant)),
            has=_titles(has.get(variant, ()), watched),
            lacks=_titles(lacks.get(variant, ()), watched),
            align=align.get(variant),
        )
        for variant in drift.get("variants") or ()
    ]
    return [side for side in sides if side.has or side.lacks or side.align]


def _ladder_of(pin: Document, watched: Watched) -> Sequence[Document]:
    return (watched.suggestions.get(pin["id"]) or {}).get("ladder") or ()


def _ladder(pin: Document, watched: Watched) -> tuple[str, list[Rise]]:
    """Return what the ladder of a pin is called, and its steps."""
    steps, target = _ladder_of(pin, watched), watched.suggestions[pin["id"]].get("to")
    most = len(steps[-1]["fixes"])
    rises = [
        Rise(
            name=f"rung {number}",
            commit=step["to"],
            commits=step["commits"],
            brings=f"{len(step['fixes'])} of {most} fixes",
            is_target=step["to"] == target,
        )
        for number, step in enumerate(steps, 1)
    ]
    return f"Ladder for {alert.placed(watched.places[pin['id']])}", rises
