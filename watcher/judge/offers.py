"""What should a person know of fixes that a pin lacks, and of variants that drifted apart?"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from watcher.judge.concerns import about_pin
from watcher.model import (
    Answer,
    Concern,
    Drift,
    Fix,
    Grade,
    Kind,
    Pin,
    Place,
    Relation,
    Rung,
    Severity,
    Side,
    Verdict,
    is_oid,
    oid,
)
from watcher.plural import counted
from watcher.web import Pages, PagesOf, pages

if TYPE_CHECKING:
    from watcher.judge.survey import Judged
    from watcher.observation import Observation

_PLACES = 3
"""How many places a headline's detail names."""


def of_fixes(pin: Pin, judgement: "Judged", rungs: Mapping[str, Rung], seen: "Observation") -> list[Concern]:
    """Return a concern for each fix that a pin lacks and is or may be affected by; floating pins follow by themselves.

    `rungs`: fix id → the smallest target with it alone.
    """
    from watcher.judge.suggest import is_strong, wanted  # noqa: PLC0415 - large; of drifts alone it is not needed

    if pin.ref_kind.is_floating:
        return []
    return [
        _lacking(pin, judgement.fixes[name], said, rungs.get(name), seen, is_worth=is_strong(said, judgement))
        for name, said in wanted(pin, judgement).items()
    ]


def of_drift(drift: Drift, pins: Mapping[str, Pin], fixes: Mapping[str, Fix], shown: PagesOf = pages) -> list[Concern]:
    """Return the breach of the drift policy, if there is one; `pins` and `fixes` by id, `shown` for its links."""
    if not drift.is_breach:
        return []
    members = [pins[name] for name in drift.pins]
    lacks = [
        f"{variant} lacks {fix_words(fixes[name])}"
        for variant, names in drift.lacks.items()
        for name in names
        if name in fixes
    ]
    return [
        Concern(
            key=f"{Kind.VARIANT_DRIFT}:{drift.name}",
            kind=Kind.VARIANT_DRIFT,
            severity=Severity.HIGH if lacks else Severity.MEDIUM,
            headline=f"{drift.name}: {_sentence(drift)}",
            detail=(*(f"{pin.variant}: {_stand(pin, drift)} ({pin.place})" for pin in members), *lacks),
            advice=_level(drift),
            upstream=members[0].upstream,
            place=members[0].place,
            target=next(iter(drift.align.values()), None),
            sides=tuple(_side(pin, drift, fixes, shown(pin.upstream)) for pin in members),
        )
    ]


def _side(pin: Pin, drift: Drift, fixes: Mapping[str, Fix], shown: Pages) -> Side:
    stands, target = drift.variants[pin.variant], drift.align.get(pin.variant)
    return Side(
        variant=pin.variant,
        stands=_stand(pin, drift),
        has=tuple(fix_words(fixes[name]) for name in drift.has.get(pin.variant, ()) if name in fixes),
        lacks=tuple(fix_words(fixes[name]) for name in drift.lacks.get(pin.variant, ()) if name in fixes),
        target=target,
        compare=shown.compare(oid(stands), target) if target and is_oid(stands) else None,
    )


def fix_words(fix: Fix) -> str:
    """Return how a fix is called in a sentence: pull request or commit, and title."""
    number = f"#{fix.change.pull_request}" if fix.change.pull_request else fix.change.landing[:12]
    return f"{number} “{fix.change.title}”"


def _lacking(pin: Pin, fix: Fix, said: Verdict, rung: Rung | None, seen: "Observation", *, is_worth: bool) -> Concern:
    landed = seen.commits.get(fix.change.landing)
    concern = about_pin(
        Kind.FIX_AVAILABLE,
        pin,
        fix.change.landing,
        f"{pin.name}: {fix_words(fix)} {'repairs' if said.answer is Answer.YES else 'may concern'} what this pin ships",
        detail=(
            f"{said.reason}{_at(said.where)}",
            f"{fix.grade} fix: {'; '.join(item.detail for item in fix.evidence if item.weight > 0)}",
        ),
        advice=_bump(rung, is_forward=rung is not None and _is_forward(pin, rung, seen)),
    )
    return replace(
        concern,
        severity=_severity(fix, is_worth=is_worth),
        target=rung.to if rung else None,
        since=landed.committed_at if landed else None,
        lines=tuple(Place(text=line) for line in said.where[:_PLACES]),
    )


def _severity(fix: Fix, *, is_worth: bool) -> Severity:
    if not is_worth:
        return Severity.LOW
    return Severity.HIGH if fix.grade is Grade.CERTAIN or fix.is_security else Severity.MEDIUM


def _at(where: tuple[str, ...]) -> str:
    if not where:
        return ""
    return f" ({', '.join(where[:_PLACES])}{' …' if len(where) > _PLACES else ''})"


def _bump(rung: Rung | None, *, is_forward: bool) -> str:
    if rung is None:
        return "No published commit has both what is pinned and this fix."
    loss = "" if is_forward else " It is not a fast-forward: what is pinned was never merged."
    return f"Bump to {rung.to} ({counted(rung.commits, 'commit')}, {counted(rung.landings, 'landing')}).{loss}"


def _is_forward(pin: Pin, rung: Rung, seen: "Observation") -> bool:
    commit = seen.commit_of(pin)
    return commit is not None and seen.graph.is_ancestor(commit, rung.to)


def _sentence(drift: Drift) -> str:
    lacking = [variant for variant, names in drift.lacks.items() if names]
    if lacking:
        return f"{' and '.join(lacking)} {'lacks' if len(lacking) == 1 else 'lack'} fixes that the other variant has"
    return {
        Relation.FLOATING_VS_PINNED: "one variant is pinned, the other follows a branch",
        Relation.OTHER_REPOSITORY: "the variants come from different repositories",
    }.get(drift.relation, f"the variants differ ({drift.relation})")


def _stand(pin: Pin, drift: Drift) -> str:
    stands = drift.variants[pin.variant]
    if not pin.ref_kind.is_floating:
        return stands[:12]
    now = f", now {stands[:12]}" if is_oid(stands) else ""
    return f"follows {pin.wanted or 'the default branch'}{now}"


def _level(drift: Drift) -> str:
    if drift.align:
        return "; ".join(f"Bump {variant} to {target}" for variant, target in drift.align.items()) + "."
    if drift.relation is Relation.FLOATING_VS_PINNED:
        return "Pin the same commit on both sides."
    return "Bring the variants to one commit."
