"""Show a pass to a tired person: what is wrong, where, since when, what to do; readable in ten seconds."""

from collections.abc import Iterable

from watcher.model import EventKind, Kind, Pass, Pin, RefKind, Severity, Suggestion, Unobserved
from watcher.plural import counted
from watcher.report.groups import Group, Told, groups
from watcher.report.terminal import Paper, Piece, put
from watcher.report.text import safe

_STYLE = {
    Severity.CRITICAL: "bold white on red",
    Severity.HIGH: "bold red",
    Severity.MEDIUM: "bold yellow",
    Severity.LOW: "dim",
}


def render(found: Pass, *, width: int = 100, color: bool = False) -> str:
    """Return the findings, worst first, then what resolved itself and what could not be looked at."""
    paper = Paper(width, color=color)
    arranged = groups(found)
    for group in arranged:
        if group.severity is not Severity.LOW:
            _group(paper, group)
    low = [group for group in arranged if group.severity is Severity.LOW]
    for group in low:
        for told in group.told:
            _low(paper, told)
    _resolved(paper, found)
    _unobserved(paper, found.unobserved)
    for warning in found.warnings:
        put(paper, (safe(warning), ""), label=("unread", "yellow"))
    return paper.text


def render_pins(pins: Iterable[Pin], warnings: Iterable[str] = (), *, width: int = 100, color: bool = False) -> str:
    """Return what is pinned where: a line for each pin."""
    paper = Paper(width, color=color)
    rows = [(safe(pin.place), _variant(pin), safe(pin.upstream or f"? {pin.name}"), _ref(pin)) for pin in pins]
    place, variant, upstream = (max((len(row[column]) for row in rows), default=0) for column in range(3))
    for row in rows:
        where: tuple[Piece, ...] = ((row[0].ljust(place), "bold"), ("  ", ""), (row[1].ljust(variant), "magenta"))
        paper.line(*where, (f"  {row[2].ljust(upstream)}  ", ""), (row[3], "cyan"))
    for warning in warnings:
        paper.line(("unread  ", "yellow"), (safe(warning), ""))
    return paper.text


def summary(found: Pass) -> str:
    """Return one line of counts: pins, findings by severity, what was not observed."""
    open_ = [told.concern.severity for group in groups(found) for told in group.told for _ in told.findings]
    counts = [f"{open_.count(severity)} {severity}" for severity in reversed(Severity) if severity in open_]
    said = ", ".join(counts) if counts else "no findings"
    upstreams = {pin.upstream for pin in found.pins if pin.upstream}
    silent = {failure.upstream for failure in found.unobserved} & upstreams
    seen = f"{len(upstreams) - len(silent)} of {len(upstreams)} upstreams observed"
    return f"{len(found.pins)} pins, {seen}: {said}"


def _group(paper: Paper, group: Group) -> None:
    put(paper, (safe(group.name), "bold"), label=(group.severity.upper(), _STYLE[group.severity]))
    for told in group.told:
        _told(paper, told, has_bump=bool(group.bumps))
    for suggestion, pins in group.bumps:
        _bump(paper, suggestion, pins)
    paper.line()


def _told(paper: Paper, told: Told, *, has_bump: bool) -> None:
    concern = told.concern
    is_drift = concern.kind is Kind.VARIANT_DRIFT
    rank = f"{concern.severity}, " if concern.severity is Severity.LOW else ""
    since = f", since {concern.since:%Y-%m-%d}" if concern.since else ""
    handles = " ".join(finding.handle for finding in told.findings)
    tail = f"  ({rank}{concern.kind}{since}) {handles}"
    put(paper, (safe(concern.headline).split(": ", 1)[-1], ""), (tail, "dim"), mark="• ")
    if told.places and not is_drift:
        put(paper, (safe(", ".join(told.places)), "cyan"), deeper=2)
    for detail in concern.detail if is_drift else concern.detail[:1]:
        put(paper, (safe(detail), "dim"), deeper=2)
    if concern.advice and not (has_bump and concern.kind is Kind.FIX_AVAILABLE):
        put(paper, (safe(concern.advice), ""), mark="→ ", deeper=2)


def _bump(paper: Paper, made: Suggestion, pins: tuple[Pin, ...]) -> None:
    """Say what to do about all fixes at once: the smallest commit, and what it costs."""
    target = made.target
    variants = ", ".join(sorted({pin.variant for pin in pins if pin.variant != "any"}))
    move = ("bump ", ""), (made.from_[:12], "cyan"), (" to ", ""), (target.to, "bold green")
    put(paper, *move, (f" ({safe(variants)})" if variants else "", ""), mark="→ ")
    put(paper, (safe("; ".join(_cost(made))), "dim"), deeper=2)
    for rung in made.ladder:
        if rung.to != target.to:
            step = f"{rung.to[:12]} has {len(rung.fixes)} of {len(made.ladder[-1].fixes)} for "
            put(paper, (step + counted(rung.commits, "commit"), "dim"), deeper=2)
    for caution in made.cautions:
        put(paper, (safe(caution), "yellow"), mark="! ", deeper=2)


def _cost(made: Suggestion) -> list[str]:
    """Return what a bump brings along: commits, landings, another version, another build contract."""
    cost = [f"{counted(made.target.commits, 'commit')}, {counted(made.target.landings, 'landing')}"]
    if made.version_from is not None and made.version_from == made.version_to:
        cost.append(f"package version {made.version_to} as before: nothing else tells the two apart")
    elif made.version_from or made.version_to:
        cost.append(f"package version {made.version_from or 'unknown'} → {made.version_to or 'unknown'}")
    if made.contract:
        cost.append(f"build contract changes: {', '.join(made.contract)}")
    if not made.fast_forward:
        cost.append("not a fast-forward")
    return cost


def _low(paper: Paper, told: Told) -> None:
    where = f"  {safe(', '.join(told.places))}" if told.places else ""
    handles = " ".join(finding.handle for finding in told.findings)
    put(paper, (safe(told.concern.headline), ""), (where, "cyan"), (f"  {handles}", "dim"), label=("low", "dim"))


def _resolved(paper: Paper, found: Pass) -> None:
    for event in found.events:
        if event.kind is EventKind.RESOLVED:
            put(paper, (safe(event.finding.concern.headline), "strike"), label=("resolved", "green"))


def _unobserved(paper: Paper, failures: tuple[Unobserved, ...]) -> None:
    """Name what could not be looked at, equal reasons together: it is neither an alarm nor an all-clear."""
    by_reason: dict[str, list[str]] = {}
    for failure in failures:
        by_reason.setdefault(safe(failure.reason), []).append(safe(failure.upstream))
    for reason, upstreams in by_reason.items():
        what = f"{counted(len(upstreams), 'upstream')}: {reason}"
        put(paper, (what, ""), label=("not seen", "yellow"))
        for upstream in upstreams:
            put(paper, (upstream, "dim"), deeper=2)


def _ref(pin: Pin) -> str:
    match pin.ref_kind:
        case RefKind.DEFAULT_BRANCH:
            return "default branch"
        case RefKind.UNRESOLVED:
            return "unresolved"
        case RefKind.SHA:
            return safe(str(pin.ref))
        case _:
            return f"{safe(pin.wanted or '')} ({pin.ref_kind})"


def _variant(pin: Pin) -> str:
    return "" if pin.variant == "any" else safe(pin.variant)
