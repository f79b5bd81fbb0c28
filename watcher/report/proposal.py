"""Write a bump as an issue or a pull request: title, Markdown body, commit message, and the mark to find it again."""

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256

from watcher.model import Oid, oid
from watcher.planned import Gain, Passed, Plan, Stance, Stay, Step
from watcher.report.bump import (
    cautions,
    cost,
    gains,
    grouped,
    no_gain,
    pages_of,
    passed_words,
    places,
    sure,
    version,
    where,
)
from watcher.report.markdown import code, plain
from watcher.report.text import safe
from watcher.web import Pages

ROOM = 60_000
"""Characters of a body that every forge takes."""
_SUBJECT = 72
"""Characters of a commit's subject."""
_LANDINGS = (1000, 200, 50, 10, 0)
"""How many landings are listed: the first with which the body fits."""
_LINES = 20
"""How many lines of one kind are listed in a body that would not fit."""
_PLACES = 3
"""How many places of one fix are named in such a body: each has a long address."""
_MARK = re.compile(r"^<!-- watcher: bump ([0-9a-f]{16}) ([0-9a-f]{40}(?:[0-9a-f]{24})?) -->\s*$", re.MULTILINE)
_ADDRESS = re.compile(r"https://[A-Za-z0-9._~/:%+@,=&#-]+")
_BARE_LINK = re.compile(r"(?<=[a-z])(:)(?=//)|\b(GH|www)(?=[-.])", re.IGNORECASE)
"""What forges make a link of although nobody wrote one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What makes an issue or pull request that of a bump."""

    pins: str
    """Digest of the ids of the pins that move."""
    target: Oid


def mark(plan: Plan) -> Mark:
    """Return the mark of a plan that moves something: the same pins have the same digest, whatever the target."""
    if plan.to is None:
        raise ValueError(f"{plan.name}: expected a plan that moves a pin")
    return Mark(pins=pins_digest(step.pin.id for step in plan.steps), target=plan.to)


def pins_digest(ids: Iterable[str]) -> str:
    """Return sixteen hex digits that stand for a set of pins."""
    return sha256("\n".join(sorted(ids)).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def marker(it: Mark) -> str:
    """Return the hidden line by which a later run finds its own issue or pull request."""
    return f"<!-- watcher: bump {it.pins} {it.target} -->"


def read_marker(text: str) -> Mark | None:
    """Return the mark in a body, or None; text from strangers cannot forge one, since no line of it begins so."""
    found = _MARK.findall(text.replace("\r\n", "\n"))
    return Mark(pins=found[-1][0], target=oid(found[-1][1])) if found else None


def title(plan: Plan) -> str:
    """Return the title of the issue, the pull request and the commit, in at most 72 characters."""
    to = f" to {str(plan.to)[:12]}"
    return f"{safe(f'Bump {plan.name}', _SUBJECT - len(to))}{to}"


def commit_message(plan: Plan) -> str:
    """Return the message of the commit that does it: subject, the fixes, and where to see what comes along."""
    fixes = [f"- {_reference(gain, pages_of(plan))}{safe(gain.fix.change.title, 120)}" for gain in gains(plan.steps)]
    lines = [title(plan), ""]
    lines += ["It gains:", *fixes, ""] if fixes else []
    lines += [f"{it}." for it in dict.fromkeys(cost(step) for step in plan.steps)]
    lines += [f"{it}." for it in dict.fromkeys(version(step) for step in plan.steps)]
    links = (pages_of(plan).compare(step.from_, step.rung.to) for step in plan.steps)
    seen = [link for link in dict.fromkeys(links) if link]
    return "\n".join([*lines, *([""] if seen else []), *seen]) + "\n"


def body(plan: Plan) -> str:
    """Return the Markdown body: what and why, the fixes, what comes along, what to verify, and the mark."""
    made = (_body(plan, landings, 1000) for landings in _LANDINGS)
    whole = next((text for text in made if len(text) <= ROOM), None)
    return whole or _body(plan, 0, _LINES)


def _body(plan: Plan, landings: int, lines: int) -> str:
    """Return the body with at most so many landings, and lines of any other kind."""
    groups = grouped(plan)
    parts = [marker(mark(plan)), "", *_opening(plan, groups), "", *_fixes(plan, lines), *_picture(plan)]
    for steps in groups:
        parts += ["", *_brings(plan, steps, landings, lines, is_only=len(groups) == 1)]
    parts += _listed("### Mind", [_words(said) for said in _all_cautions(plan)], lines)
    parts += _listed("### Pins that stay", [_stay(it) for it in plan.stays], lines)
    parts += ["", "### To verify", "", *_some(_checklist(plan), lines)]
    parts += ["", "### To repeat", "", "```sh", *_commands(plan), "```", ""]
    return "\n".join(parts)


def _opening(plan: Plan, groups: list[list[Step]]) -> list[str]:
    moves = [
        f"- {code(where(step.pin))}: {code(step.from_[:12])} → {code(str(plan.to))}"
        for steps in groups
        for step in steps
    ]
    tags = [f"The target is {', '.join(code(tag) for tag in plan.tags[:_LINES])}."] if plan.tags else []
    why = f"Why this commit: {'; '.join(_words(said) for said in plan.why)}." if plan.why else ""
    return [f"**{_words(title(plan))}**", "", *moves, "", *tags, why]


def _fixes(plan: Plan, lines: int) -> list[str]:
    every = gains(plan.steps)
    if not every:
        return [f"What it gains: {no_gain(plan.steps)}. It is moved for other reasons."]
    rows = [_row(gain, plan, _PLACES if lines <= _LINES else _LINES) for gain in every]
    head = ["| fix | what it repairs here | how sure |", "| --- | --- | --- |"]
    return ["### What it gains", "", *head, *_some(rows, lines, "| {} | | |")]


def _picture(plan: Plan) -> list[str]:
    if plan.shown is None:
        return []
    image = f"![{_words(plan.shown.name)}]({plan.shown.picture})"
    return ["", "### Where the variants stand", "", f"[{image}]({plan.shown.page})"]


def _row(gain: Gain, plan: Plan, most: int) -> str:
    """Return a fix as a row; what it repairs leads to who wrote that, as of what is pinned."""
    shown = pages_of(plan)
    found = [
        f"{_words(variants)}{': ' if variants else ''}"
        f"{', '.join(_link(_cell(place), shown.blame(commit, place)) for place in lines[:most])}"
        f"{' …' if len(lines) > most else ''}"
        for variants, commit, lines in places(plan.steps, gain.fix.id)
        if lines
    ]
    at = f" {'; '.join(found)}" if found else ""
    return f"| {_linked(gain, shown)} | {_words(gain.verdict.reason)}.{at} | {_words(sure(gain))} |"


def _linked(gain: Gain, shown: Pages) -> str:
    """Return the fix in the alert's words, linked to where it was discussed."""
    change = gain.fix.change
    name = f"#<!-- -->{change.pull_request}" if change.pull_request else change.landing[:12]
    return f"{_link(name, shown.change(change))} “{_words(change.title)}”"


def _brings(plan: Plan, steps: list[Step], landings: int, lines: int, *, is_only: bool) -> list[str]:
    step = steps[0]
    of = "" if is_only else f" from {code(step.from_[:12])}"
    url = pages_of(plan).compare(step.from_, step.rung.to)
    terms = [f"- {code(term.place)}: {_words(term.said)}" for term in step.terms]
    return [
        f"### What comes along{of}",
        "",
        f"- {_link(_words(cost(step)), url)}",
        f"- {_words(version(step))}",
        *(_some(terms, lines) or ["- the build contract is as before, and no new environment variable is read"]),
        *_folded(plan, step.passed, landings),
    ]


def _folded(plan: Plan, passed: tuple[Passed, ...], most: int) -> list[str]:
    if not passed:
        return []
    rows = [_landing(it, pages_of(plan)) for it in passed[:most]]
    more = [f"- and {len(passed) - most} more"] if len(passed) > most else []
    return ["", "<details>", "<summary>Everything that landed on the way</summary>", "", *rows, *more, "", "</details>"]


def _landing(it: Passed, shown: Pages) -> str:
    change, url = it.change, shown.commit(it.change.landing)
    name = _link(code(change.landing[:12]), url)
    number = f" #<!-- -->{change.pull_request}" if change.pull_request else ""
    said = passed_words(it)
    return f"- {name}{number} {_words(change.title)}{f' (**{_words(said)}**)' if said else ''}"


def _all_cautions(plan: Plan) -> tuple[str, ...]:
    return cautions(plan, plan.steps)


def _stay(it: Stay) -> str:
    advice = f" ({'; '.join(_words(said) for said in it.advice)})" if it.advice else ""
    return f"{code(where(it.pin))} {_words(it.said)}{advice}"


def _checklist(plan: Plan) -> list[str]:
    """Return what a person should verify, and which failures are known and separate."""
    builds = [f"it builds for {_words(step.pin.variant)} ({code(step.pin.file)})" for step in plan.steps]
    terms = [f"{code(term.place)}: {_words(term.said)}" for step in plan.steps for term in step.terms]
    same = [step for step in plan.steps if step.version_from and step.version_from == step.version_to]
    cached = [f"no cache gives the old build: the package version is {_words(it.version_to)} as before" for it in same]
    minded = [f"minded: {_words(said)}" for said in _all_cautions(plan)]
    behind = [f"meant to stay: {_stay(it)}" for it in plan.stays if it.stance is Stance.LEFT_BEHIND]
    known = [
        f"a failure that {_linked(gain, pages_of(plan))} repairs is known and separate: the target lacks it too"
        for gain in {gain.fix.id: gain for step in plan.steps for gain in step.lacks}.values()
    ]
    return [f"- [ ] {said}" for said in dict.fromkeys((*builds, *terms, *cached, *minded, *behind, *known))]


def _commands(plan: Plan) -> list[str]:
    """Return the commands that repeat the argument."""
    upstream = safe(plan.upstream)
    here = shlex.quote(f"{upstream.rpartition('/')[2]}.git")
    told = [f"git clone --bare --filter=blob:none {shlex.quote(upstream)} {here}"]
    for steps in grouped(plan):
        way = f"{steps[0].from_}..{plan.to}"
        told += [f"git -C {here} log --oneline --first-parent {way}", f"git -C {here} rev-list --count {way}"]
    told += [f"git -C {here} merge-base --is-ancestor {fix.change.landing} {plan.to}" for fix in plan.gained[:_LINES]]
    is_one = len(plan.steps) == 1
    what = f"{shlex.quote(safe(plan.steps[0].pin.id if is_one else plan.name))}{'' if is_one else ' --all-variants'}"
    return [*told, f"watcher bump {what} --to {plan.to}"]


def _listed(heading: str, lines: list[str], most: int) -> list[str]:
    return ["", heading, "", *_some([f"- {line}" for line in lines], most)] if lines else []


def _some(lines: list[str], most: int, form: str = "- {}") -> list[str]:
    return lines if len(lines) <= most else [*lines[:most], form.format(f"and {len(lines) - most} more")]


def _reference(gain: Gain, shown: Pages) -> str:
    """Return the address of a fix, for text that forges read: a bare number would mean the reader's own issue."""
    return f"{shown.change(gain.fix.change) or gain.fix.change.landing[:12]} "


def _words(text: str | None) -> str:
    """Return text that stays text in an issue: no mention, no reference, no link of its own, no HTML."""
    return _BARE_LINK.sub(r"\g<0><!-- -->", plain(text))


def _cell(path: str) -> str:
    """Return a path as code in a table, where a bar would end the cell."""
    return code(path).replace("|", "\\|")


def _link(name: str, url: str | None) -> str:
    """Return a name that leads to an address; one that would end the link early leads nowhere."""
    is_plain = url is not None and _ADDRESS.fullmatch(url) is not None
    return f"[{name}]({url})" if is_plain else name
