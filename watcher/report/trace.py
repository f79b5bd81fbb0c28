"""Tell which landings have to do with an error, and why: the road from a red nightly to the bump."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from watcher.model import Answer, Oid, Pin, ReachabilityClass, Rung, Unobserved
from watcher.plural import counted
from watcher.report.text import safe
from watcher.suspicion import Complaint, Part, Ranked
from watcher.web import Pages

_LOST = {ReachabilityClass.ORPHANED, ReachabilityClass.SERVED_ONLY, ReachabilityClass.GONE, ReachabilityClass.UNKNOWN}
_INDENT = " " * 5
_PLACES = 3
"""So many files, functions or lines are named in a reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One landing that has to do with an error."""

    ranked: Ranked
    target: Rung | None
    """The smallest commit with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """What an error has to do with what landed after one pinned commit."""

    pins: tuple[Pin, ...]
    """The pins that stand there."""
    commit: Oid | None
    pages: Pages
    """Where a browser shows the upstream."""
    reachability: ReachabilityClass
    looked_at: int
    """How many landings there are."""
    related: int = 0
    """How many of them have to do with the error."""
    steps: tuple[Step, ...]
    """The first of these."""


def render(said: Complaint, traces: Iterable[Trace], *, width: int = 100) -> str:
    """Return what the text was understood to name, then each pin with its landings, then the pins without."""
    every = tuple(traces)
    lines = [_understood(said), ""]
    for trace in every:
        if trace.steps:
            lines += [*_trace(trace, width), ""]
    without = [trace for trace in every if not trace.steps]
    return "\n".join([*lines, *map(_nothing, without)]).rstrip("\n") + "\n"


def document(said: Complaint, traces: Iterable[Trace], unobserved: Iterable[Unobserved] = ()) -> dict[str, Any]:
    """Return the same as plain JSON values (version 1: fields are added, never renamed)."""
    return {
        "version": 1,
        "named": {
            "files": {path: sorted(lines) for path, lines in said.files.items()},
            "functions": sorted(said.functions),
        },
        "traces": [_document(trace) for trace in traces],
        "unobserved": [{"upstream": it.upstream, "reason": it.reason} for it in unobserved],
    }


def render_json(said: Complaint, traces: Iterable[Trace], unobserved: Iterable[Unobserved] = ()) -> str:
    """Return the document as text."""
    return json.dumps(document(said, traces, unobserved), indent=1) + "\n"


def reason(ranked: Ranked) -> str:
    """Return why a landing is shown, in one sentence."""
    told = [words for part in ranked.parts if (words := _words(part))]
    return "; ".join([*told, *_known(ranked)])


def _understood(said: Complaint) -> str:
    """Say what was read from the text, so that a person sees where it was misread."""
    files = [f"{path}:{min(lines)}" if lines else path for path, lines in said.files.items()]
    named = [*_some(files), *_some([f"{name}()" for name in sorted(said.functions)])]
    return f"The error names {', '.join(named)}" if named else "The error names no file and no function, only words"


def _trace(trace: Trace, width: int) -> list[str]:
    pin = trace.pins[0]
    lines = [
        f"{safe(pin.name)} at {str(trace.commit)[:12]}{_places(trace)}",
        f"  {counted(trace.looked_at, 'landing')} after it, {trace.related} of them related",
    ]
    for number, step in enumerate(trace.steps, 1):
        lines += ["", *_step(number, step, trace, width)]
    return lines


def _step(number: int, step: Step, trace: Trace, width: int) -> list[str]:
    change = step.ranked.landing.change
    name = f"#{change.pull_request} " if change.pull_request else ""
    lines = [f"  {number}. {name}{safe(step.ranked.landing.title)}", *_wrapped(safe(reason(step.ranked), 600), width)]
    lines.append(f"     landed as {change.landing}")
    if url := trace.pages.change(change):
        lines.append(f"     {safe(url)}")
    if step.target is None:
        return [*lines, "     no published commit has both the pin and it"]
    cost = f"{counted(step.target.commits, 'commit')}, {counted(step.target.landings, 'landing')}"
    lines.append(f"     smallest commit with it {step.target.to} ({cost})")
    compare = trace.pages.compare(trace.commit, step.target.to) if trace.commit else None
    return [*lines, f"     {safe(compare)}"] if compare else lines


def _wrapped(text: str, width: int) -> list[str]:
    return wrap(text, width, initial_indent=_INDENT, subsequent_indent=_INDENT, break_on_hyphens=False)


def _nothing(trace: Trace) -> str:
    name = f"{safe(trace.pins[0].name)}{_places(trace)}"
    if trace.commit is None or trace.reachability in _LOST:
        return f"{name}: its commit is {trace.reachability}, so nothing landed after it; see watcher explain"
    if not trace.looked_at:
        return f"{name}: nothing landed after {trace.commit[:12]}"
    return f"{name}: none of {counted(trace.looked_at, 'landing')} after {trace.commit[:12]} has to do with it"


def _places(trace: Trace) -> str:
    """Return where the pins stand; nothing for one that was only asked about."""
    told = [f"{safe(pin.place)}{f' ({safe(pin.variant)})' if pin.variant != 'any' else ''}" for pin in trace.pins]
    return f", {', '.join(told)}" if trace.pins[0].file else ""


def _words(part: Part) -> str:
    names = [safe(name, 100) for name in part.named[:_PLACES]]
    more = f" and {len(part.named) - _PLACES} more" if len(part.named) > _PLACES else ""
    listed = ", ".join(names) + more
    match part.what:
        case "file":
            return f"{listed} {'is' if len(part.named) == 1 else 'are'} named and changed"
        case "line":
            return f"changes what stands near {listed}"
        case "function":
            return f"changes {', '.join(f'`{name}`' for name in names)}{more}, which the error names"
        case "message":
            return f"its message shares {listed}"
        case "code":
            return f"its lines share {listed}"
    return ""


def _known(ranked: Ranked) -> list[str]:
    """Return what is known of a landing as a fix of the pin."""
    landing = ranked.landing
    if landing.fix is None:
        return ["not known as a fix"]
    words = f"{landing.fix.grade} fix"
    if landing.verdict is None:
        return [words]
    where = f" ({', '.join(landing.verdict.where[:_PLACES])})" if landing.verdict.where else ""
    match landing.verdict.answer:
        case Answer.YES:
            return [f"{words}, the pin is affected{where}"]
        case Answer.NO:
            return [f"{words}, but the pin is not affected: {landing.verdict.reason}"]
        case Answer.UNSURE:
            return [f"{words}, the pin may be affected{where}"]


def _some(names: list[str]) -> list[str]:
    """Return the first few names, and how many more there are."""
    shown = [safe(name, 100) for name in names[:_PLACES]]
    return [*shown, f"{len(names) - _PLACES} more"] if len(names) > _PLACES else shown


def _document(trace: Trace) -> dict[str, Any]:
    return {
        "name": trace.pins[0].name,
        "upstream": trace.pins[0].upstream,
        "commit": trace.commit,
        "pins": [
            {"id": pin.id, "file": pin.file, "line": pin.line, "variant": pin.variant} for pin in trace.pins if pin.file
        ],
        "reachability": trace.reachability.value,
        "landings": trace.looked_at,
        "related": trace.related,
        "first": [_step_document(step, trace) for step in trace.steps],
    }


def _step_document(step: Step, trace: Trace) -> Mapping[str, Any]:
    landing, target = step.ranked.landing, step.target
    change, where = landing.change, landing.verdict.where if landing.verdict else ()
    return {
        "landing": change.landing,
        "commits": list(change.commits),
        "pull_request": change.pull_request,
        "title": landing.title,
        "score": round(step.ranked.score, 3),
        "parts": {part.what: {"value": round(part.value, 3), "named": list(part.named)} for part in step.ranked.parts},
        "reason": reason(step.ranked),
        "fix": landing.fix.id if landing.fix else None,
        "grade": landing.fix.grade.value if landing.fix else None,
        "affected": landing.verdict.answer.value if landing.verdict else None,
        "where": list(where),
        "places": [{"place": it, "url": trace.pages.blame(trace.commit, it) if trace.commit else None} for it in where],
        "target": {"to": target.to, "commits": target.commits, "landings": target.landings} if target else None,
        "compare": trace.pages.compare(trace.commit, target.to) if target and trace.commit else None,
        "url": trace.pages.change(change),
    }
