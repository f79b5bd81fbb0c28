"""Show a pass to a tired person: what is wrong, where, since when, what to do; readable in ten seconds."""

from collections.abc import Iterable
from io import StringIO

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from watcher.model import EventKind, Kind, Pass, Pin, RefKind, Severity, Suggestion, Unobserved
from watcher.report.groups import Group, Told, groups
from watcher.report.text import safe

_STYLE = {
    Severity.CRITICAL: "bold white on red",
    Severity.HIGH: "bold red",
    Severity.MEDIUM: "bold yellow",
    Severity.LOW: "dim",
}
_INDENT = 10


def render(found: Pass, *, width: int = 100, color: bool = False) -> str:
    """Return the findings, worst first, then what resolved itself and what could not be looked at."""
    console, out = _console(width, color=color)
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
        console.print(Text.assemble(("unread    ", "yellow"), safe(warning)))
    return out.getvalue()


def render_pins(pins: Iterable[Pin], warnings: Iterable[str] = (), *, width: int = 100, color: bool = False) -> str:
    """Return what is pinned where: a line for each pin."""
    console, out = _console(width, color=color)
    rows = [(safe(pin.place), safe(pin.upstream or f"? {pin.name}"), _ref(pin), _variant(pin)) for pin in pins]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(2)]
    for place, upstream, ref, variant in rows:
        line = Text.assemble((place.ljust(widths[0]), "bold"), "  ", upstream.ljust(widths[1]), "  ", (ref, "cyan"))
        console.print(line.append(f"  {variant}", style="magenta"), soft_wrap=True)
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


def _console(width: int, *, color: bool) -> tuple[Console, StringIO]:
    out = StringIO()
    console = Console(
        file=out,
        width=width,
        force_terminal=color,
        color_system="standard" if color else None,
        highlight=False,
        markup=False,
        emoji=False,
    )
    return console, out


def _group(console: Console, group: Group) -> None:
    severity = Text(group.severity.upper().ljust(_INDENT), style=_STYLE[group.severity])
    console.print(Text.assemble(severity, (safe(group.name), "bold")))
    for told in group.told:
        _told(console, told, has_bump=bool(group.bumps))
    for suggestion, pins in group.bumps:
        _bump(console, suggestion, pins)
    console.print()


def _told(console: Console, told: Told, *, has_bump: bool) -> None:
    concern = told.concern
    headline = safe(concern.headline).split(": ", 1)[-1]
    is_fix = concern.kind is Kind.FIX_AVAILABLE
    mark = f"[{concern.severity}] " if concern.severity is Severity.LOW else ""
    since = f", since {concern.since:%Y-%m-%d}" if concern.since else ""
    handles = " ".join(finding.handle for finding in told.findings)
    _line(console, Text.assemble("• ", (mark, "dim"), headline, (f"  {concern.kind}{since}  {handles}", "dim")))
    if told.places:
        _line(console, Text(safe(", ".join(told.places)), style="cyan"), 2)
    for detail in concern.detail if concern.kind is Kind.VARIANT_DRIFT else concern.detail[:1]:
        _line(console, Text(safe(detail), style="dim"), 2)
    if concern.advice and not (is_fix and has_bump):
        _line(console, Text.assemble(("→ ", "green"), safe(concern.advice)), 2)


def _bump(console: Console, made: Suggestion, pins: tuple[Pin, ...]) -> None:
    """Say what to do about all fixes at once: the smallest commit, and what it costs."""
    target = made.target
    cost = [f"{_count(target.commits, 'commit')}, {_count(target.landings, 'landing')}"]
    if made.version_from or made.version_to:
        same = made.version_from == made.version_to
        cost.append(f"version {made.version_from} as before" if same else f"{made.version_from} → {made.version_to}")
    if made.contract:
        cost.append(f"changes {', '.join(made.contract[:3])}")
    variants = ", ".join(sorted({pin.variant for pin in pins if pin.variant != "any"}))
    line = Text.assemble(("→ ", "green"), "bump ", (made.from_[:12], "cyan"), " to ", (target.to, "bold green"))
    _line(console, line.append(f" ({variants})" if variants else ""))
    _line(console, Text(safe("; ".join(cost)), style="dim"), 2)
    for rung in made.ladder[:-1] if len(made.ladder) > 1 else ():
        if rung.to != target.to:
            step = f"{rung.to[:12]} has {len(rung.fixes)} of them for {_count(rung.commits, 'commit')}"
            _line(console, Text(step, style="dim"), 2)
    for caution in made.cautions:
        _line(console, Text.assemble(("! ", "yellow"), safe(caution)), 2)


def _low(console: Console, told: Told) -> None:
    concern = told.concern
    where = f"  {', '.join(told.places)}" if told.places else ""
    line = Text.assemble(("low".ljust(_INDENT), "dim"), safe(concern.headline), (safe(where, 200), "cyan"))
    console.print(line)


def _resolved(console: Console, found: Pass) -> None:
    for event in found.events:
        if event.kind is EventKind.RESOLVED:
            line = Text.assemble(("resolved  ", "green"), (safe(event.finding.concern.headline), "strike"))
            console.print(line)


def _unobserved(console: Console, failures: tuple[Unobserved, ...]) -> None:
    """Name what could not be looked at, equal reasons together: it is neither an alarm nor an all-clear."""
    by_reason: dict[str, list[str]] = {}
    for failure in failures:
        by_reason.setdefault(safe(failure.reason), []).append(safe(failure.upstream))
    for reason, upstreams in by_reason.items():
        console.print(Text.assemble(("not seen  ", "yellow"), f"{_count(len(upstreams), 'upstream')}: {reason}"))
        for upstream in upstreams:
            _line(console, Text(upstream, style="dim"))


def _line(console: Console, text: Text, deeper: int = 0) -> None:
    console.print(Padding(text, (0, 0, 0, _INDENT + deeper)))


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


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
