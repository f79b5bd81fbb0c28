"""Lay out the whole argument about one pin, with the git commands that repeat it."""

from collections.abc import Mapping
from dataclasses import dataclass

from watcher.model import Fix, Oid, Pin, Reachability, Repair, Rung, Suggestion, Verdict
from watcher.plural import counted
from watcher.report.text import command, safe
from watcher.web import Pages

_FILES = 3
"""So many files have the page of their blame named; the first place in each."""
_URL = 1000
"""Characters of an address, which is of no use in part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """Everything that was judged about one pin."""

    pin: Pin
    commit: Oid | None
    reachability: Reachability
    bound: Oid | None
    verdicts: Mapping[str, Verdict]
    fixes: Mapping[str, Fix]
    repairs: Mapping[Oid, Repair]
    single: Mapping[str, Rung]
    """Fix id → the smallest target with it alone."""
    suggestion: Suggestion | None
    pages: Pages
    """Where a browser shows the upstream."""
    mirror: str
    """Path of the mirror in which the commands can be run."""


def render(argument: Argument) -> str:
    """Return the argument as plain text."""
    lines = [*_pin(argument), "", *_reachability(argument), ""]
    concerning = [it for it in argument.verdicts.values() if it.contained_as is None and it.answer.value != "no"]
    others = [it for it in argument.verdicts.values() if it not in concerning]
    lines.append("Fixes that it lacks and is, or may be, affected by" if concerning else "No fix found that it lacks")
    for said in concerning:
        lines += ["", *_fix(said, argument)]
    if others:
        lines += ["", "Fixes that do not concern it"]
        lines += [f"  {_name(argument.fixes[said.fix])}: {safe(said.reason)}" for said in others]
    if argument.suggestion is not None:
        lines += ["", *_suggestion(argument.suggestion, argument)]
    return "\n".join(lines) + "\n"


def _pin(argument: Argument) -> list[str]:
    pin = argument.pin
    return [
        safe(pin.name)
        + (f" at {safe(pin.place)}" if pin.file else "")
        + (f" for {safe(pin.variant)}" if pin.variant != "any" else ""),
        f"  upstream  {safe(pin.upstream or 'unknown')}",
        f"  ref       {safe(pin.ref or 'none')} ({pin.ref_kind})",
        f"  commit    {argument.commit or 'unknown'}",
        f"  id        {safe(pin.id)}",
    ]


def _reachability(argument: Argument) -> list[str]:
    reach = argument.reachability
    lines = [f"Reachability: {reach.cls}", f"  {safe(reach.detail)}"]
    if argument.commit:
        lines += _commands(
            argument,
            ["for-each-ref", "--contains", argument.commit, "refs/heads", "refs/tags"],
            *(["merge-base", "--is-ancestor", argument.commit, ref] for ref in reach.refs[:1]),
        )
    return lines


def _fix(said: Verdict, argument: Argument) -> list[str]:
    fix = argument.fixes[said.fix]
    change = fix.change
    lines = [
        f"  {_name(fix)}",
        f"    landed as {change.landing}, carried by {', '.join(o[:12] for o in change.commits)}",
        *_page(argument.pages.change(change), "    "),
    ]
    lines.append(f"    is it a fix?    {fix.grade}")
    lines += [f"      {item.weight:+.2f}  {item.signal}: {safe(item.detail)}" for item in fix.evidence]
    lines.append(f"    is it affected? {said.answer}: {safe(said.reason)}")
    if said.basis:
        lines.append(f"      {said.basis}: of such pins {said.chance:.0%} had the bug, where that is known")
    lines += [f"      {safe(place)}" for place in said.where]
    lines += _blame(said, argument)
    repair = argument.repairs.get(change.landing)
    lines += _anchors(repair) if repair else []
    rung = argument.single.get(said.fix)
    if rung is not None:
        cost = f"{counted(rung.commits, 'commit')}, {counted(rung.landings, 'landing')}"
        lines.append(f"    smallest commit {rung.to} on {safe(rung.line)}: {cost}")
    else:
        lines.append("    smallest commit none: no published commit has both")
    return lines + _fix_commands(fix, repair, rung, argument)


def _blame(said: Verdict, argument: Argument) -> list[str]:
    """Return where a browser shows who wrote the first line of each of the first files."""
    if argument.commit is None:
        return []
    first: dict[str, str] = {}
    for place in said.where:
        first.setdefault(place.rpartition(":")[0], place)
    urls = [argument.pages.blame(argument.commit, place) for place in first.values()]
    return [line for url in urls[:_FILES] for line in _page(url, "      ")]


def _page(url: str | None, indent: str) -> list[str]:
    return [f"{indent}{safe(url, _URL)}"] if url else []


def _anchors(repair: Repair) -> list[str]:
    lines = []
    for anchor in repair.anchors:
        made = "at the bound or before" if anchor.is_older else anchor.origins[-1][:12]
        verb = "removes" if anchor.is_removed else "guards"
        lines.append(f"      {verb} {safe(anchor.path)}:{anchor.line} from {made}: {safe(anchor.text.strip(), 70)}")
    return lines


def _fix_commands(fix: Fix, repair: Repair | None, rung: Rung | None, argument: Argument) -> list[str]:
    change = fix.change
    commands = [["diff", "-U0", "-w", f"{change.before}", f"{change.landing}"]] if change.before else []
    if change.before and repair:
        paths = dict.fromkeys(anchor.path for anchor in repair.anchors)
        commands += [_origin_of(path, change.before, argument.bound) for path in paths]
    if rung and argument.commit:
        commands += [
            ["merge-base", "--is-ancestor", change.landing, rung.to],
            ["rev-list", "--count", f"{argument.commit}..{rung.to}"],
            ["rev-list", "--first-parent", "--reverse", f"{argument.commit}..{rung.line}"],
        ]
    return _commands(argument, *commands)


def _origin_of(path: str, before: Oid, bound: Oid | None) -> list[str]:
    """Return the command that tells where lines came from; where the bound is all there is, the file itself does."""
    if before == bound:
        return ["show", f"{before}:{path}"]
    return ["blame", "-w", "-s", f"{bound}..{before}" if bound else before, "--", path]


def _suggestion(made: Suggestion, argument: Argument) -> list[str]:
    target = made.target
    version = f"{made.version_from or 'unknown'} → {made.version_to or 'unknown'}"
    cost = f"{counted(target.commits, 'commit')}, {counted(target.landings, 'landing')}"
    lines = [
        f"Smallest bump: {made.from_[:12]} → {target.to}",
        f"  {cost}; package version {version}",
        f"  {'fast-forward' if made.fast_forward else 'not a fast-forward'}; fixes {', '.join(target.fixes)}",
    ]
    if made.files:
        lines.append(
            "  shipped files: " + ", ".join(f"{count} {variant}" for variant, count in sorted(made.files.items()))
        )
    if made.contract:
        lines.append(f"  build contract changes: {', '.join(safe(path) for path in made.contract)}")
    lines += [f"  caution: {safe(caution)}" for caution in made.cautions]
    most = len(made.ladder[-1].fixes)
    lines += [
        f"  rung {number}: {rung.to[:12]}, {counted(rung.commits, 'commit')}, {len(rung.fixes)} of {most} fixes"
        for number, rung in enumerate(made.ladder, 1)
    ]
    lines += _page(argument.pages.compare(made.from_, target.to), "  ")
    return lines + _commands(argument, ["log", "--oneline", "--first-parent", f"{made.from_}..{target.to}"])


def _commands(argument: Argument, *commands: list[str]) -> list[str]:
    return [f"    $ {command(['git', '-C', argument.mirror, *words])}" for words in commands]


def _name(fix: Fix) -> str:
    number = f"#{fix.change.pull_request} " if fix.change.pull_request else ""
    return f"{number}“{safe(fix.change.title)}”"
