"""Show the plan of a bump to somebody who has ten seconds: where to, why, what it gains, what comes along."""

import json
from collections.abc import Iterable
from typing import Any

from watcher.model import Fix, Oid, Pin, Rung
from watcher.planned import Gain, Passed, Plan, Stance, Stay, Step, Way
from watcher.plural import counted
from watcher.report.json import pin_document
from watcher.report.terminal import Paper, put
from watcher.report.text import safe
from watcher.web import Pages, pages

VERSION = 1
"""Of the JSON: fields are added, never renamed."""
_LANDINGS = 6
"""How many landings are listed."""
_IN_FULL = 4
"""So many fixes are shown with their receipts; of more, a line each."""
_IN_SHORT = 10
_LACKS = 3
_RUNGS = 2
"""How many of the first steps of a ladder are shown."""
_PLACES = 4
_REASONS = 2
_TERMS = 8
_TITLE = 70
_SHORT_TITLE = 52
_READS = {
    "subject": "its title reads like a fix",
    "body": "its message reads like a fix",
    "test": "a test comes with it",
    "shape": "its shape is that of a fix",
}
"""What stands for evidence that is a list of words and weights."""
_WAYS = {Way.BACK: "DOWNGRADE: older than what is pinned", Way.SIDEWAYS: "NOT A FAST-FORWARD: what is pinned is lost"}
_LOUD = {Stance.LEFT_BEHIND, Stance.LOST, Stance.FLOATING, Stance.NO_WAY}


def render(plans: Iterable[Plan], *, width: int = 100, color: bool = False) -> str:
    """Return the plans as text for a terminal."""
    paper = Paper(width, color=color)
    for number, plan in enumerate(plans):
        if number:
            paper.line()
        _plan(paper, plan)
    return paper.text


def grouped(plan: Plan) -> list[list[Step]]:
    """Return the steps, those that start at one commit together: they bring the same along."""
    together: dict[str, list[Step]] = {}
    for step in plan.steps:
        together.setdefault(step.from_, []).append(step)
    return list(together.values())


def pages_of(plan: Plan) -> Pages:
    """Return where a browser shows the upstream of a plan."""
    return pages(plan.upstream, plan.forge)


def where(pin: Pin) -> str:
    """Return `file:line (variant)`."""
    return pin.place if pin.variant == "any" else f"{pin.place} ({pin.variant})"


def cost(step: Step) -> str:
    """Return what comes along, in numbers."""
    shipped = sum(step.files.values())
    by_variant = ", ".join(f"{count} {_for(variant)}" for variant, count in sorted(step.files.items()))
    files = f"{counted(shipped, 'shipped file')}{f' ({by_variant})' if set(step.files) - {'any'} else ''}"
    others = f", {step.other_files} of tests, docs and tooling" if step.other_files else ""
    if step.way is Way.BACK:
        return f"takes back {counted(step.back, 'commit')} in {counted(len(step.passed), 'landing')}; {files}{others}"
    return f"{counted(step.rung.commits, 'commit')} in {counted(step.rung.landings, 'landing')}; {files}{others}"


def version(step: Step) -> str:
    """Return what becomes of the package version; that it stays is said aloud."""
    if step.version_from is None and step.version_to is None:
        return "the files state no package version"
    if step.version_from == step.version_to:
        return f"package version {step.version_to} as before: same package version, different behaviour"
    return f"package version {step.version_from or 'unknown'} → {step.version_to or 'unknown'}"


def passed_words(it: Passed) -> str:
    """Return what is to be said of a landing, beside its title."""
    said = ["fix, gained"] if it.is_gained else ["fix"] if it.is_fix else []
    return "; ".join([*said, *it.later])


def places(steps: Iterable[Step], fix: str) -> list[tuple[str, Oid, tuple[str, ...]]]:
    """Return where a fix repairs what the pins ship: variants in words (empty where all agree), commit, lines."""
    together: dict[tuple[str, ...], dict[str, Oid]] = {}
    for step in steps:
        for gain in step.gains + step.lacks:
            if gain.fix.id == fix:
                together.setdefault(gain.verdict.where, {})[step.pin.variant] = step.from_
    is_one = len(together) == 1
    return [
        ("" if is_one else ", ".join(pinned), next(iter(pinned.values())), lines) for lines, pinned in together.items()
    ]


def gains(steps: Iterable[Step]) -> tuple[Gain, ...]:
    """Return what any of the pins gains, each fix once."""
    return tuple({gain.fix.id: gain for step in reversed(list(steps)) for gain in step.gains}.values())


def no_gain(steps: Iterable[Step]) -> str:
    """Say that a target brings no fix for the pins; never that they need none."""
    missed = {gain.fix.id for step in steps for gain in step.lacks}
    if missed:
        return f"nothing: it lacks {'the fix' if len(missed) == 1 else f'all {len(missed)} fixes'} that may concern it"
    return "no fix found that concerns it"


def sure(gain: Gain) -> str:
    """Return how sure it is that a change is a fix, and that it concerns the pin, in a few words."""
    reasons = sorted((it for it in gain.fix.evidence if it.weight > 0), key=lambda it: -it.weight)[:_REASONS]
    said = "; ".join(_READS.get(it.signal, it.detail) for it in reasons)
    affected = "" if gain.is_worth else f"; is the pin affected? {gain.verdict.answer}: {gain.verdict.reason}"
    return f"{gain.fix.grade} fix{f': {said}' if said else ''}{affected}"


def short(fix: Fix) -> str:
    """Return the number of a fix's pull request, else its commit."""
    return f"#{fix.change.pull_request}" if fix.change.pull_request else fix.change.landing[:12]


def cautions(plan: Plan, steps: Iterable[Step]) -> tuple[str, ...]:
    """Return what to mind, each once."""
    return tuple(dict.fromkeys((*(said for step in steps for said in step.cautions), *plan.cautions)))


def _plan(paper: Paper, plan: Plan) -> None:
    if plan.to is None:
        put(paper, (f"{safe(plan.name)}: nothing moves", "bold"), label=("bump", ""))
    for number, steps in enumerate(grouped(plan)):
        if number:
            paper.line()
        _way(paper, plan, steps)
    for it in plan.stays:
        _stay(paper, it, "others" if plan.steps and it is plan.stays[0] else "")
    for number, steps in enumerate(grouped(plan)):
        url = pages_of(plan).compare(steps[0].from_, steps[0].rung.to)
        if url:
            paper.line((f"{'' if number else 'see':10}{safe(url)}", ""))


def _way(paper: Paper, plan: Plan, steps: list[Step]) -> None:
    step = steps[0]
    name = (safe(plan.name), "bold"), ("  ", "")
    put(paper, *name, (step.from_[:12], "cyan"), (" → ", ""), (step.rung.to, "bold green"), label=("bump", ""))
    put(paper, (safe(", ".join(where(it.pin) for it in steps)), "cyan"))
    if step.way is not Way.FORWARD:
        put(paper, (_WAYS[step.way], "bold red"))
    if plan.tags:
        put(paper, (safe(f"upstream's {', '.join(plan.tags[:_PLACES])}"), ""))
    _gains(paper, steps)
    for number, said in enumerate(plan.why):
        put(paper, (safe(said), "dim" if number else ""), label=("" if number else "why this", ""))
    _brings(paper, step)
    _ladder(paper, step)
    _lacks(paper, step)
    for number, said in enumerate(cautions(plan, steps)):
        put(paper, (safe(said), "yellow"), label=("", "") if number else ("caution", "yellow"))


def _gains(paper: Paper, steps: list[Step]) -> None:
    """Show a few fixes with their receipts; of many, those worth a bump in a line each, and the rest by number."""
    every = gains(steps)
    if not every:
        put(paper, (no_gain(steps), ""), label=("gains", ""))
        return
    is_few = len(every) <= _IN_FULL
    shown = every if is_few else tuple(it for it in every if it.is_worth)[:_IN_SHORT] or every[:_IN_SHORT]
    for number, gain in enumerate(shown):
        mark, label = "• ", ("" if number else "gains", "")
        title = safe(gain.fix.change.title, _TITLE if is_few else _SHORT_TITLE)
        name = (f"{short(gain.fix)} “{title}”", "bold" if is_few else "")
        if is_few:
            put(paper, name, label=label, mark=mark)
            _receipts(paper, gain, steps)
        else:
            place = f"  {safe(gain.verdict.where[0])}" if gain.verdict.where else ""
            put(paper, name, (place, "cyan"), label=label, mark=mark)
    rest = [it for it in every if it not in shown]
    if rest:
        names = f"{', '.join(short(it.fix) for it in rest[:_IN_SHORT])}{' …' if len(rest) > _IN_SHORT else ''}"
        less = "" if any(it.is_worth for it in rest) else ", less sure"
        put(paper, (safe(f"and {len(rest)} more{less}: {names}"), "dim"))


def _receipts(paper: Paper, gain: Gain, steps: list[Step]) -> None:
    put(paper, (safe(sure(gain)), "dim"), deeper=2)
    for variants, _, lines in places(steps, gain.fix.id):
        if lines:
            of = f"{variants}: " if variants else ""
            more = " …" if len(lines) > _PLACES else ""
            put(paper, (safe(f"{of}{', '.join(lines[:_PLACES])}{more}"), "cyan"), deeper=2)


def _brings(paper: Paper, step: Step) -> None:
    put(paper, (cost(step), ""), label=("brings", ""))
    put(paper, (safe(version(step)), ""))
    for term in step.terms[:_TERMS]:
        put(paper, (safe(term.place), "cyan"), (f": {safe(term.said)}", ""))
    if len(step.terms) > _TERMS:
        put(paper, (f"and {len(step.terms) - _TERMS} more changes of the build contract", "dim"))
    if not step.terms:
        put(paper, ("build contract as before, no new environment variable", ""))
    _landings(paper, step)


def _landings(paper: Paper, step: Step) -> None:
    """Show what lands beside the fixes; where there is no room for all, what came to grief first."""
    others = [it for it in step.passed if it.later or not it.is_gained]
    if step.passed and not others:
        put(paper, ("nothing lands but the fixes above", ""))
    ranked = sorted(enumerate(others), key=lambda it: (not it[1].later, not it[1].is_fix, it[0]))[:_LANDINGS]
    for _, it in sorted(ranked, key=lambda it: it[0]):
        said = passed_words(it)
        tail = (f"  {safe(said)}" if said else "", "yellow" if it.later else "")
        number = f"#{it.change.pull_request}" if it.change.pull_request else it.change.landing[:12]
        put(paper, (f"{number} {safe(it.change.title, _TITLE)}", ""), tail, mark="+ ")
    if len(others) > _LANDINGS:
        more = f"and {counted(len(others) - _LANDINGS, 'more landing')}; --format markdown lists all"
        put(paper, (more, "dim"))


def _ladder(paper: Paper, step: Step) -> None:
    """Show the first steps, this plan and the last one."""
    others = [rung for rung in step.ladder if rung.to != step.rung.to]
    if not others:
        return
    most = len({name for rung in step.ladder for name in rung.fixes})
    shown = {rung.to for rung in (*others[:_RUNGS], *others[-1:])}
    is_first = True
    for rung in step.ladder:
        is_this = rung.to == step.rung.to
        if is_this or rung.to in shown:
            said = f"{rung.to[:12]}  {counted(rung.commits, 'commit')}, {len(rung.fixes)} of {most} fixes"
            line = (f"{said}{'  ← this plan' if is_this else ''}", "" if is_this else "dim")
            put(paper, line, label=("ladder" if is_first else "", ""))
            is_first = False
    if len(others) > len(shown):
        put(paper, (f"and {counted(len(others) - len(shown), 'step')} between", "dim"))


def _lacks(paper: Paper, step: Step) -> None:
    for number, gain in enumerate(step.lacks[:_LACKS]):
        title = safe(gain.fix.change.title, _SHORT_TITLE)
        line = (f"{short(gain.fix)} “{title}” ({gain.fix.grade}; affected: {gain.verdict.answer})", "dim")
        put(paper, line, label=("" if number else "lacks", ""))
    if len(step.lacks) > _LACKS:
        put(paper, (f"and {len(step.lacks) - _LACKS} more", "dim"))


def _stay(paper: Paper, it: Stay, label: str) -> None:
    style = "yellow" if it.stance in _LOUD else ""
    put(paper, (safe(where(it.pin)), "cyan"), (" ", ""), (safe(it.said), style), label=(label, ""))
    for said in it.advice:
        put(paper, (safe(said), "dim"), deeper=2)


def _for(variant: str) -> str:
    return "for all" if variant == "any" else safe(variant)


# --- JSON ----------------------------------------------------------------------------------------------------------


def render_json(plans: Iterable[Plan]) -> str:
    """Return the plans as one JSON document, in ASCII, so that nothing in it can steer a terminal."""
    return json.dumps(document(plans), indent=1, ensure_ascii=True) + "\n"


def document(plans: Iterable[Plan]) -> dict[str, Any]:
    """Return the plans as plain JSON values."""
    return {"version": VERSION, "plans": [_plan_document(plan) for plan in plans]}


def _plan_document(plan: Plan) -> dict[str, Any]:
    return {
        "name": plan.name,
        "upstream": plan.upstream,
        "to": plan.to,
        "line": plan.line,
        "committed_at": plan.committed_at.strftime("%Y-%m-%dT%H:%M:%SZ") if plan.committed_at else None,
        "tags": list(plan.tags),
        "why": list(plan.why),
        "moves": [_step_document(step, pages_of(plan)) for step in plan.steps],
        "stays": [
            {"pin": pin_document(it.pin), "stance": it.stance.value, "reason": it.said, "advice": list(it.advice)}
            for it in plan.stays
        ],
        "cautions": list(plan.cautions),
    }


def _step_document(step: Step, shown: Pages) -> dict[str, Any]:
    return {
        "pin": pin_document(step.pin),
        "from": step.from_,
        "to": step.rung.to,
        "way": step.way.value,
        "fixes": [_gain_document(gain, step.from_, shown) for gain in step.gains],
        "lacks": [_gain_document(gain, step.from_, shown) for gain in step.lacks],
        "loses": [fix.id for fix in step.loses],
        "commits": step.rung.commits,
        "commits_taken_back": step.back,
        "landings": [_passed_document(it, shown) for it in step.passed],
        "files": dict(step.files),
        "other_files": step.other_files,
        "package_version": {"from": step.version_from, "to": step.version_to},
        "contract": [{"place": term.place, "change": term.said} for term in step.terms],
        "cautions": list(step.cautions),
        "ladder": [_rung_document(rung) for rung in step.ladder],
        "compare": shown.compare(step.from_, step.rung.to),
    }


def _gain_document(gain: Gain, pinned: Oid, shown: Pages) -> dict[str, Any]:
    change = gain.fix.change
    return {
        "id": gain.fix.id,
        "landing": change.landing,
        "pull_request": change.pull_request,
        "title": change.title,
        "grade": gain.fix.grade.value,
        "worth_a_bump": gain.is_worth,
        "evidence": [{"signal": it.signal, "detail": it.detail} for it in gain.fix.evidence if it.weight > 0],
        "answer": gain.verdict.answer.value,
        "where": list(gain.verdict.where),
        "places": [{"place": place, "url": shown.blame(pinned, place)} for place in gain.verdict.where],
        "reason": gain.verdict.reason,
        "url": shown.change(change),
    }


def _passed_document(it: Passed, shown: Pages) -> dict[str, Any]:
    return {
        "landing": it.change.landing,
        "pull_request": it.change.pull_request,
        "title": it.change.title,
        "fix": it.is_fix,
        "gained": it.is_gained,
        "later": list(it.later),
        "url": shown.commit(it.change.landing),
    }


def _rung_document(rung: Rung) -> dict[str, Any]:
    return {"to": rung.to, "fixes": list(rung.fixes), "commits": rung.commits, "landings": rung.landings}
