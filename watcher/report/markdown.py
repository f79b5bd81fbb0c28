"""Write a pass as Markdown, for a job summary or an issue."""

import re
from collections.abc import Mapping

from watcher.model import Kind, Pass, Suggestion
from watcher.plural import counted
from watcher.report.groups import Group, Told, groups
from watcher.report.text import linked, safe

_SPECIAL = re.compile(r"([\\`*_\[\]<>!|~])")
_REFERENCE = re.compile(r"([#@])(?=\w)")
"""What forges turn into a link or a mention: #95 would mean the reader's own issue."""


def render(found: Pass) -> str:
    """Return a heading with the date, a section for each dependency, and what could not be looked at."""
    lines = [f"# watcher, {found.at:%Y-%m-%d %H:%M} UTC", ""]
    arranged = groups(found)
    if not arranged:
        lines += [f"No findings for {len(found.pins)} pins.", ""]
    for group in arranged:
        lines += _group(group)
    if found.unobserved:
        lines += ["## Not observed", ""]
        lines += [f"- {code(failure.upstream)}: {plain(failure.reason)}" for failure in found.unobserved]
        lines += ["", "Nothing is said about their pins: neither an alarm nor an all-clear.", ""]
    return "\n".join(lines)


def _group(group: Group) -> list[str]:
    lines = [f"## {group.severity.capitalize()}: {plain(group.name)}", ""]
    for told in group.told:
        lines += _told(told, has_bump=bool(group.bumps))
    for suggestion, _ in group.bumps:
        lines.append(_bump(suggestion))
        lines += [f"  - caution: {plain(caution)}" for caution in suggestion.cautions]
    return [*lines, ""]


def _told(told: Told, *, has_bump: bool) -> list[str]:
    concern = told.concern
    since = f", since {concern.since:%Y-%m-%d}" if concern.since else ""
    head = f"- **{plain(concern.headline)}** ({code(concern.kind)}, {concern.severity}{since})"
    places = [f"  - at {', '.join(code(place) for place in told.places)}"] if told.places else []
    is_told_below = has_bump and concern.kind is Kind.FIX_AVAILABLE
    advice = [f"  - {plain(concern.advice)}"] if concern.advice and not is_told_below else []
    urls = {safe(it.text): it.url for it in concern.lines if it.url}
    return [head, *places, *(f"  - {_detail(detail, urls)}" for detail in concern.detail), *advice]


def _detail(said: str, urls: Mapping[str, str]) -> str:
    """Return a sentence in which the lines of what is pinned lead to who wrote them."""
    return "".join(f"[{plain(part)}](<{url}>)" if url else _spaced(part) for part, url in linked(safe(said), urls))


def _spaced(part: str) -> str:
    """Return a part of a sentence with the spaces that it begins and ends with."""
    lead, tail = part[: len(part) - len(part.lstrip())], part[len(part.rstrip()) :]
    return f"{lead}{plain(part)}{tail}" if part.strip() else part


def _bump(made: Suggestion) -> str:
    target = made.target
    version = f", version {plain(made.version_to)}" if made.version_to else ""
    return (
        f"- Smallest bump: {code(made.from_[:12])} → {code(target.to)}"
        f" ({counted(target.commits, 'commit')}, {counted(target.landings, 'landing')}{version})"
    )


def plain(text: str | None) -> str:
    """Return text that Markdown shows as it stands: no mentions, no links, no HTML."""
    return _REFERENCE.sub(r"\1<!-- -->", _SPECIAL.sub(r"\\\1", safe(text or "")))


def code(text: str) -> str:
    """Return text as code."""
    return f"`{safe(text).replace('`', chr(39))}`"
