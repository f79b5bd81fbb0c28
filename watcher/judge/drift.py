"""Do the variants of one dependency still carry the same fixes?"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field

from watcher.graph import Graph
from watcher.model import Answer, Drift, Oid, Pin, Relation, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Stand:
    """Where one variant of a dependency stands."""

    pin: Pin
    commit: Oid | None
    """None where the pin's upstream was not observed or its ref names nothing."""
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    """Fix id → what it means for this pin."""


def groups(pins: Iterable[Pin], relatives: Sequence[Sequence[str]] = ()) -> dict[str, dict[str, Pin]]:
    """Return dependency name → variant → pin, for every dependency that is pinned for two variants or more.

    Pins of one upstream belong together, and so do declared relatives. Pins for any variant (those of a manifest that
    says nothing, say) are a variant of their own; of several pins for one variant the first (by file and line) speaks.
    """
    family = _families(relatives)
    found: dict[str, dict[str, Pin]] = {}
    for pin in sorted(pins, key=lambda pin: (pin.downstream, pin.file, pin.line)):
        if pin.upstream is not None:
            found.setdefault(family.get(pin.upstream, pin.upstream), {}).setdefault(pin.variant, pin)
    shared = [variants for variants in found.values() if len(variants) > 1]
    return _named(shared)


def families(pins: Iterable[Pin], relatives: Sequence[Sequence[str]] = ()) -> tuple[tuple[Pin, ...], ...]:
    """Return the pins of each dependency together, in the order given; without an upstream, those of one name."""
    family = _families(relatives)
    found: dict[tuple[bool, str], list[Pin]] = {}
    for pin in pins:
        known = pin.upstream is not None
        found.setdefault((known, family.get(pin.upstream, pin.upstream) if pin.upstream else pin.name), []).append(pin)
    return tuple(map(tuple, found.values()))


def _families(relatives: Sequence[Sequence[str]]) -> dict[str, str]:
    """Return address → what stands for all its relatives; groups that share an address are one family."""
    family: dict[str, str] = {}
    for group in relatives:
        known = {family[address] for address in group if address in family}
        head = min((*known, *group))
        family |= {address: head for address, old in family.items() if old in known} | dict.fromkeys(group, head)
    return family


def _named(shared: list[dict[str, Pin]]) -> dict[str, dict[str, Pin]]:
    """Name each group by its dependency; two of one name get their owners too."""
    names = [next(iter(variants.values())).name for variants in shared]
    count = Counter(names)
    return {
        name if count[name] == 1 else "/".join(_upstream(variants).split("/")[-2:]): variants
        for name, variants in zip(names, shared, strict=True)
    }


def drift(
    name: str,
    stands: Mapping[str, Stand],
    graph: Graph | None,
    align: Mapping[str, Oid],
    policy: str,
) -> Drift:
    """Return how the variants of one dependency stand to each other.

    `graph` is the upstream's, None where the variants are of different repositories or it was not observed; `align`
    maps a variant to the smallest commit that gives it what `lacking` says.
    """
    relation = _relation(stands, graph)
    lacks = lacking(stands)
    return Drift(
        name=name,
        relation=relation,
        variants={variant: stand.commit or _written(stand.pin) for variant, stand in stands.items()},
        pins=tuple(stand.pin.id for stand in stands.values()),
        lacks=lacks,
        has=_having(stands, {fix for names in lacks.values() for fix in names}),
        align={variant: target for variant, target in align.items() if lacks.get(variant)},
        is_breach=_is_breach(relation, stands, lacks, policy),
    )


def lacking(stands: Mapping[str, Stand]) -> dict[str, tuple[str, ...]]:
    """Return variant → the fixes that another variant has while this one lacks them and is affected."""
    have = {variant: _contained(stand) for variant, stand in stands.items()}
    return {
        variant: tuple(
            sorted(
                fix
                for fix, verdict in stand.verdicts.items()
                if verdict.answer is Answer.YES and any(fix in have[other] for other in have if other != variant)
            )
        )
        for variant, stand in stands.items()
    }


def _having(stands: Mapping[str, Stand], fixes: Set[str]) -> dict[str, tuple[str, ...]]:
    return {variant: tuple(sorted(_contained(stand) & fixes)) for variant, stand in stands.items()}


def _contained(stand: Stand) -> set[str]:
    return {fix for fix, verdict in stand.verdicts.items() if verdict.contained_as is not None}


def _relation(stands: Mapping[str, Stand], graph: Graph | None) -> Relation:
    pins = [stand.pin for stand in stands.values()]
    if len({pin.upstream for pin in pins}) > 1:
        return Relation.OTHER_REPOSITORY
    if len({pin.ref_kind.is_floating for pin in pins}) > 1:
        return Relation.FLOATING_VS_PINNED
    if len({(pin.ref_kind.is_floating, pin.wanted) for pin in pins}) == 1 and pins[0].wanted is not None:
        return Relation.SAME
    commits = {stand.commit for stand in stands.values()}
    if None in commits or graph is None:
        return Relation.SAME if len({pin.wanted for pin in pins}) == 1 else Relation.UNKNOWN
    if len(commits) == 1:
        return Relation.SAME
    if not any(lacking(stands).values()) and not any(pin.ref_kind.is_floating for pin in pins):
        return Relation.ALIGNED
    known = [commit for commit in commits if commit is not None]
    is_row = all(graph.is_ancestor(one, other) or graph.is_ancestor(other, one) for one in known for other in known)
    return Relation.BEHIND if is_row else Relation.DIVERGED


def _is_breach(
    relation: Relation, stands: Mapping[str, Stand], lacks: Mapping[str, tuple[str, ...]], policy: str
) -> bool:
    if relation in {Relation.UNKNOWN, Relation.SAME}:
        return False
    # One side floats: so it may from one repository to another, too.
    if len({stand.pin.ref_kind.is_floating for stand in stands.values()}) > 1 or any(lacks.values()):
        return True
    return policy == "same-commit"


def _upstream(variants: Mapping[str, Pin]) -> str:
    return next(iter(variants.values())).upstream or ""


def _written(pin: Pin) -> str:
    return pin.ref or pin.ref_kind.value
