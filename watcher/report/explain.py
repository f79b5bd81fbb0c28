"""Lay out the whole argument about one pin, with the git commands that repeat it."""

from collections.abc import Mapping
from dataclasses import dataclass

from watcher.model import Anchor, Fix, Oid, Pin, Reachability, Repair, Rung, Suggestion, Verdict
from watcher.plural import counted
from watcher.report.text import command, safe
from watcher.web import Pages

_FILES = 3
"""So many files have the page of their blame named; the first place in each."""
_URL = 1000
"""Characters of an address, which is of no use in part."""
LACKS = "Fixes that it lacks and is, or may be, affected by"
LACKS_NONE = "No fix found that it lacks"
UNCONCERNED = "Fixes that do not concern it"


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
    concerning, others = parted(argument)
    lines.append(LACKS if concerning else LACKS_NONE)
    for said in concerning:
        lines += ["", *_fix(said, argument)]
    if others:
        lines += ["", UNCONCERNED]
        lines += [f"  {name(argument.fixes[said.fix])}: {safe(said.reason)}" for said in others]
    if argument.suggestion is not None:
        lines += ["", *_suggestion(argument.suggestion, argument)]
    return "\n".join(lines) + "\n"


# --- words and commands that every form of the argument has -----------------------------------------------------------


def parted(argument: Argument) -> tuple[list[Verdict], list[Verdict]]:
    """Return the verdicts on fixes that the pin lacks and is, or may be, affected by, and those on all others."""
    concerning = [it for it in argument.verdicts.values() if it.contained_as is None and it.answer.value != "no"]
    return concerning, [it for it in argument.verdicts.values() if it not in concerning]


def name(fix: Fix) -> str:
    """Return `#41 “title”`."""
    number = f"#{fix.change.pull_request} " if fix.change.pull_request else ""
    return f"{number}“{safe(fix.change.title)}”"


def pin_title(pin: Pin) -> str:
    """Return what is pinned, where, and for what."""
    at = f" at {safe(pin.place)}" if pin.file else ""
    return safe(pin.name) + at + (f" for {safe(pin.variant)}" if pin.variant != "any" else "")


def pin_facts(argument: Argument) -> dict[str, str]:
    """Return what the files say of the pin, by what it is called."""
    pin = argument.pin
    return {
        "upstream": safe(pin.upstream or "unknown"),
        "ref": f"{safe(pin.ref or 'none')} ({pin.ref_kind})",
        "commit": argument.commit or "unknown",
        "id": safe(pin.id),
    }


def landed(fix: Fix) -> str:
    """Return the commits with which a fix arrived."""
    return f"landed as {fix.change.landing}, carried by {', '.join(o[:12] for o in fix.change.commits)}"


def receipts(fix: Fix) -> list[str]:
    """Return what speaks for a fix, or against, with its weight."""
    return [f"{item.weight:+.2f}  {item.signal}: {safe(item.detail)}" for item in fix.evidence]


def answer(said: Verdict) -> str:
    """Return whether the pin is affected, and why."""
    return f"{said.answer}: {safe(said.reason)}"


def basis(said: Verdict) -> str:
    """Return how often such an answer was right; empty where it rests on nothing that was counted."""
    return f"{said.basis}: of such pins {said.chance:.0%} had the bug, where that is known" if said.basis else ""


def blames(said: Verdict, argument: Argument) -> dict[str, str]:
    """Return the first place in each of the first files → where a browser shows who wrote it."""
    if argument.commit is None:
        return {}
    first: dict[str, str] = {}
    for place in said.where:
        first.setdefault(place.rpartition(":")[0], place)
    urls = {place: argument.pages.blame(argument.commit, place) for place in list(first.values())[:_FILES]}
    return {place: safe(url, _URL) for place, url in urls.items() if url}


def anchors(repair: Repair | None) -> list[str]:
    """Return the lines that a fix repairs, and which commit made each."""
    return [_anchor(it) for it in repair.anchors] if repair else []


def cost(rung: Rung) -> str:
    """Return what lies between the pin and a target."""
    return f"{counted(rung.commits, 'commit')}, {counted(rung.landings, 'landing')}"


def smallest(rung: Rung | None) -> str:
    """Return the smallest commit with one fix alone, and what it costs."""
    return f"{rung.to} on {safe(rung.line)}: {cost(rung)}" if rung else "none: no published commit has both"


def reachability_commands(argument: Argument) -> list[str]:
    """Return the commands that repeat what is said of the pin's reachability."""
    if not argument.commit:
        return []
    return _commands(
        argument,
        ["for-each-ref", "--contains", argument.commit, "refs/heads", "refs/tags"],
        *(["merge-base", "--is-ancestor", argument.commit, ref] for ref in argument.reachability.refs[:1]),
    )


def fix_commands(fix: Fix, argument: Argument) -> list[str]:
    """Return the commands that show a fix, the history of the lines that it repairs, and the way to it."""
    change, rung = fix.change, argument.single.get(fix.id)
    repair = argument.repairs.get(change.landing)
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


def bump_title(made: Suggestion) -> str:
    """Return from where to where the smallest bump leads."""
    return f"Smallest bump: {made.from_[:12]} → {made.target.to}"


def bump_facts(made: Suggestion) -> list[str]:
    """Return what the smallest bump costs, brings and alters."""
    version = f"{made.version_from or 'unknown'} → {made.version_to or 'unknown'}"
    lines = [
        f"{cost(made.target)}; package version {version}",
        f"{'fast-forward' if made.fast_forward else 'not a fast-forward'}; fixes {', '.join(made.target.fixes)}",
    ]
    if made.files:
        lines.append(
            "shipped files: " + ", ".join(f"{count} {variant}" for variant, count in sorted(made.files.items()))
        )
    if made.contract:
        lines.append(f"build contract changes: {', '.join(safe(path) for path in made.contract)}")
    return lines


def cautions(made: Suggestion) -> list[str]:
    """Return what to mind about the bump."""
    return [f"caution: {safe(caution)}" for caution in made.cautions]


def rungs(made: Suggestion) -> list[tuple[str, Rung, str]]:
    """Return each step of the ladder: its name, itself, and how many of the fixes it has."""
    most = len(made.ladder[-1].fixes)
    return [
        (f"rung {number}", rung, f"{len(rung.fixes)} of {most} fixes") for number, rung in enumerate(made.ladder, 1)
    ]


def bump_commands(made: Suggestion, argument: Argument) -> list[str]:
    """Return the command that lists what the bump brings."""
    return _commands(argument, ["log", "--oneline", "--first-parent", f"{made.from_}..{made.target.to}"])


# --- plain text -------------------------------------------------------------------------------------------------------


def _pin(argument: Argument) -> list[str]:
    facts = pin_facts(argument).items()
    return [pin_title(argument.pin), *(f"  {called:<9} {said}" for called, said in facts)]


def _reachability(argument: Argument) -> list[str]:
    reach = argument.reachability
    return [f"Reachability: {reach.cls}", f"  {safe(reach.detail)}", *_typed(reachability_commands(argument))]


def _fix(said: Verdict, argument: Argument) -> list[str]:
    fix = argument.fixes[said.fix]
    return [
        f"  {name(fix)}",
        f"    {landed(fix)}",
        *_page(argument.pages.change(fix.change), "    "),
        f"    is it a fix?    {fix.grade}",
        *(f"      {line}" for line in receipts(fix)),
        f"    is it affected? {answer(said)}",
        *([f"      {basis(said)}"] if said.basis else []),
        *(f"      {safe(place)}" for place in said.where),
        *(f"      {url}" for url in blames(said, argument).values()),
        *(f"      {line}" for line in anchors(argument.repairs.get(fix.change.landing))),
        f"    smallest commit {smallest(argument.single.get(said.fix))}",
        *_typed(fix_commands(fix, argument)),
    ]


def _page(url: str | None, indent: str) -> list[str]:
    return [f"{indent}{safe(url, _URL)}"] if url else []


def _anchor(anchor: Anchor) -> str:
    made = "at the bound or before" if anchor.is_older else anchor.origins[-1][:12]
    verb = "removes" if anchor.is_removed else "guards"
    return f"{verb} {safe(anchor.path)}:{anchor.line} from {made}: {safe(anchor.text.strip(), 70)}"


def _origin_of(path: str, before: Oid, bound: Oid | None) -> list[str]:
    """Return the command that tells where lines came from; where the bound is all there is, the file itself does."""
    if before == bound:
        return ["show", f"{before}:{path}"]
    return ["blame", "-w", "-s", f"{bound}..{before}" if bound else before, "--", path]


def _suggestion(made: Suggestion, argument: Argument) -> list[str]:
    return [
        bump_title(made),
        *(f"  {line}" for line in (*bump_facts(made), *cautions(made))),
        *(
            f"  {called}: {rung.to[:12]}, {counted(rung.commits, 'commit')}, {brings}"
            for called, rung, brings in rungs(made)
        ),
        *_page(argument.pages.compare(made.from_, made.target.to), "  "),
        *_typed(bump_commands(made, argument)),
    ]


def _typed(commands: list[str]) -> list[str]:
    return [f"    $ {it}" for it in commands]


def _commands(argument: Argument, *commands: list[str]) -> list[str]:
    return [command(["git", "-C", argument.mirror, *words]) for words in commands]
