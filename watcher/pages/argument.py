"""Lay out the whole argument about one pin as values for a page: what `explain` prints, in the same order and words."""

from dataclasses import dataclass

from watcher.model import Fix, Verdict
from watcher.report import explain
from watcher.report.explain import Argument
from watcher.report.text import safe


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """One fix that the pin lacks."""

    title: str
    url: str | None
    landed: str
    grade: str
    receipts: tuple[str, ...]
    answer: str
    basis: str
    places: tuple[tuple[str, str | None], ...]
    """`path:line` of what is pinned, and where a browser shows who wrote it."""
    anchors: tuple[str, ...]
    smallest: str
    commands: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rise:
    """One step of the ladder."""

    name: str
    commit: str
    commits: int
    brings: str
    is_target: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Advised:
    """The smallest bump."""

    title: str
    facts: tuple[str, ...]
    cautions: tuple[str, ...]
    ladder: tuple[Rise, ...]
    compare: str | None
    commands: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Argued:
    """The whole argument, each text harmless to show."""

    title: str
    facts: tuple[tuple[str, str], ...]
    reachability: str
    detail: str
    commands: tuple[str, ...]
    lead: str
    """What the list of fixes is, or that there is none."""
    fixes: tuple[Weighed, ...]
    aside: str
    """What the list of the others is."""
    others: tuple[tuple[str, str], ...]
    """Fixes that do not concern the pin, and why."""
    bump: Advised | None


def argued(argument: Argument) -> Argued:
    """Return the argument for `argument.html.j2`."""
    concerning, others = explain.parted(argument)
    return Argued(
        title=explain.pin_title(argument.pin),
        facts=tuple(explain.pin_facts(argument).items()),
        reachability=argument.reachability.cls,
        detail=safe(argument.reachability.detail),
        commands=tuple(explain.reachability_commands(argument)),
        lead=explain.LACKS if concerning else explain.LACKS_NONE,
        fixes=tuple(_weighed(said, argument.fixes[said.fix], argument) for said in concerning),
        aside=explain.UNCONCERNED,
        others=tuple((explain.name(argument.fixes[said.fix]), safe(said.reason)) for said in others),
        bump=_advised(argument),
    )


def _weighed(said: Verdict, fix: Fix, argument: Argument) -> Weighed:
    blames = explain.blames(said, argument)
    return Weighed(
        title=explain.name(fix),
        url=argument.pages.change(fix.change),
        landed=explain.landed(fix),
        grade=fix.grade,
        receipts=tuple(explain.receipts(fix)),
        answer=explain.answer(said),
        basis=explain.basis(said),
        places=tuple((safe(place), blames.get(place)) for place in said.where),
        anchors=tuple(explain.anchors(argument.repairs.get(fix.change.landing))),
        smallest=explain.smallest(argument.single.get(said.fix)),
        commands=tuple(explain.fix_commands(fix, argument)),
    )


def _advised(argument: Argument) -> Advised | None:
    made = argument.suggestion
    if made is None:
        return None
    return Advised(
        title=explain.bump_title(made),
        facts=tuple(explain.bump_facts(made)),
        cautions=tuple(explain.cautions(made)),
        ladder=tuple(
            Rise(name=name, commit=rung.to, commits=rung.commits, brings=brings, is_target=rung.to == made.target.to)
            for name, rung, brings in explain.rungs(made)
        ),
        compare=argument.pages.compare(made.from_, made.target.to),
        commands=tuple(explain.bump_commands(made, argument)),
    )
