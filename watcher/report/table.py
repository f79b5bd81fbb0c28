"""Show a pass to a tired person: what is wrong, where, since when, what to do; readable in ten seconds."""

from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from watcher.model import EventKind, Kind, Pass, Pin, RefKind, Severity, Suggestion, Unobserved
from watcher.plural import counted
from watcher.report.groups import Group, Told, groups
from watcher.report.terminal import paper, put
from watcher.report.text import safe

_STYLE = {
    Severity.CRITICAL: "bold white on red",
    Severity.HIGH: "bold red",
    Severity.MEDIUM: "bold yellow",
    Severity.LOW: "dim",
}


def render(found: Pass, *, width: int = 100, color: bool = False) -> str:
    """Return the findings, worst first, then what resolved itself and what could not be looked at."""
    console, out = paper(width, color=color)
    arranged = groups(found)
    for group in arranged:
        if group.severity is not Severity.LOW:
            _group(console, group)
    low = [group for group in arranged if group.severity is Severity.LOW]
    for group in low:
        for told in group.told:
            _low(console, told)
    _resolved(console, found)
    _unobserved(console, found.unobserved)
    for warning in found.warnings:
        put(console, Text(safe(warning)), label=Text("unread", style="yellow"))
    return out.getvalue()


def render_pins(pins: Iterable[Pin], warnings: Iterable[str] = (), *, width: int = 100, color: bool = False) -> str:
    """Return what is pinned where: a line for each pin."""
    console, out = paper(width, color=color)
    rows = [(safe(pin.place), _variant(pin), safe(pin.upstream or f"? {pin.name}"), _ref(pin)) for pin in pins]
    place, variant, upstream = (max((len(row[column]) for row in rows), default=0) for column in range(3))
    for row in rows:
        line = Text.assemble((row[0].ljust(place), "bold"), "  ", (row[1].ljust(variant), "magenta"))
        console.print(line.append(f"  {row[2].ljust(upstream)}  ").append(row[3], style="cyan"), soft_wrap=True)
    for warning in warnings:
        console.print(Text.assemble(("unread  ", "yellow"), safe(warning)), soft_wrap=True)
    return out.getvalue()


def summary(found: Pass) -> str:
    """Return one line of counts: pins, findings by severity, what was not observed."""
    open_ = [told.concern.severity for group in groups(found) for told in group.told for _ in told.findings]
    counts = [f"{open_.count(severity)} {severity}" for severity in reversed(Severity) if severity in open_]
    said = ", ".join(counts) if counts else "no findings"
    upstreams = {pin.upstream for pin in found.pins if pin.upstream}
    silent = {failure.upstream for failure in found.unobserved} & upstreams
    seen = f"{len(upstreams) - len(silent)} of {len(upstreams)} upstreams observed"
    return f"{len(found.pins)} pins, {seen}: {said}"


def _group(console: Console, group: Group) -> None:
    label = Text(group.severity.upper(), style=_STYLE[group.severity])
    put(console, Text(safe(group.name), style="bold"), label=label)
    for told in group.told:
        _told(console, told, has_bump=bool(group.bumps))
    for suggestion, pins in group.bumps:
        _bump(console, suggestion, pins)
    console.print()


def _told(console: Console, told: Told, *, has_bump: bool) -> None:
    concern = told.concern
    is_drift = concern.kind is Kind.VARIANT_DRIFT
    rank = f"{concern.severity}, " if concern.severity is Severity.LOW else ""
    since = f", since {concern.since:%Y-%m-%d}" if concern.since else ""
    handles = " ".join(finding.handle for finding in told.findings)
    tail = f"  ({rank}{concern.kind}{since}) {handles}"
    put(console, Text.assemble(safe(concern.headline).split(": ", 1)[-1], (tail, "dim")), mark="• ")
    if told.places and not is_drift:
        put(console, Text(safe(", ".join(told.places)), style="cyan"), deeper=2)
    for detail in concern.detail if is_drift else concern.detail[:1]:
        put(console, Text(safe(detail), style="dim"), deeper=2)
    if concern.advice and not (has_bump and concern.kind is Kind.FIX_AVAILABLE):
        put(console, Text(safe(concern.advice)), mark="→ ", deeper=2)


def _bump(console: Console, made: Suggestion, pins: tuple[Pin, ...]) -> None:
    """Say what to do about all fixes at once: the smallest commit, and what it costs."""
    target = made.target
    variants = ", ".join(sorted({pin.variant for pin in pins if pin.variant != "any"}))
    line = Text.assemble("bump ", (made.from_[:12], "cyan"), " to ", (target.to, "bold green"))
    put(console, line.append(f" ({variants})" if variants else ""), mark="→ ")
    put(console, Text(safe("; ".join(_cost(made))), style="dim"), deeper=2)
    for rung in made.ladder:
        if rung.to != target.to:
            step = f"{rung.to[:12]} has {len(rung.fixes)} of {len(made.ladder[-1].fixes)} for "
            put(console, Text(step + counted(rung.commits, "commit"), style="dim"), deeper=2)
    for caution in made.cautions:
        put(console, Text(safe(caution), style="yellow"), mark="! ", deeper=2)


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


def _low(console: Console, told: Told) -> None:
    where = f"  {safe(', '.join(told.places))}" if told.places else ""
    handles = " ".join(finding.handle for finding in told.findings)
    line = Text.assemble(safe(told.concern.headline), (where, "cyan"), (f"  {handles}", "dim"))
    put(console, line, label=Text("low", style="dim"))


def _resolved(console: Console, found: Pass) -> None:
    for event in found.events:
        if event.kind is EventKind.RESOLVED:
            headline = Text(safe(event.finding.concern.headline), style="strike")
            put(console, headline, label=Text("resolved", style="green"))


def _unobserved(console: Console, failures: tuple[Unobserved, ...]) -> None:
    """Name what could not be looked at, equal reasons together: it is neither an alarm nor an all-clear."""
    by_reason: dict[str, list[str]] = {}
    for failure in failures:
        by_reason.setdefault(safe(failure.reason), []).append(safe(failure.upstream))
    for reason, upstreams in by_reason.items():
        what = f"{counted(len(upstreams), 'upstream')}: {reason}"
        put(console, Text(what), label=Text("not seen", style="yellow"))
        for upstream in upstreams:
            put(console, Text(upstream, style="dim"), deeper=2)


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
