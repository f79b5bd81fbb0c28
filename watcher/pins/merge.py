"""One pin for each upstream at each ref in each file, from all that the formats saw."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from watcher.model import Pin, RefKind
from watcher.pins.sites import Sighting
from watcher.pins.variant import ANY
from watcher.refkind import bare_ref

_Key = tuple[str, str | None, str | None, RefKind, str | None]


def merged(sightings: Iterable[Sighting], variant: Callable[[str], str | None] = lambda _: None) -> tuple[Pin, ...]:
    """Put together what is one pin, leave out what another sighting explains, sort by file and line.

    `variant` returns the variant that a file is known to be for, or None.
    """
    groups: dict[_Key, list[Pin]] = {}
    for sighting in _telling(list(sightings)):
        known = variant(sighting.pin.file)
        pin = replace(sighting.pin, variant=known) if known else sighting.pin
        groups.setdefault(_key(pin), []).append(pin)
    pins = [pin for group in groups.values() for pin in _by_variant(group)]
    return tuple(sorted(pins, key=lambda pin: (pin.file, pin.line, pin.upstream or "", pin.ref or "")))


def _telling(sightings: Sequence[Sighting]) -> Iterable[Sighting]:
    """Leave out unresolved ones that another way through the files resolves, and unlikely ones beside likely ones."""
    resolved = {(s.command, s.pin.upstream) for s in sightings if s.pin.ref_kind is not RefKind.UNRESOLVED}
    likely = {(s.pin.file, s.pin.upstream) for s in sightings if not s.is_unlikely}
    for sighting in sightings:
        is_vague = sighting.pin.ref_kind in {RefKind.UNRESOLVED, RefKind.DEFAULT_BRANCH}
        if sighting.pin.ref_kind is RefKind.UNRESOLVED and (sighting.command, sighting.pin.upstream) in resolved:
            continue
        if sighting.is_unlikely and is_vague and (sighting.pin.file, sighting.pin.upstream) in likely:
            continue
        yield sighting


def _key(pin: Pin) -> _Key:
    ref = bare_ref(pin.ref) if pin.ref else None
    line = str(pin.line) if pin.ref_kind is RefKind.UNRESOLVED or pin.where else None
    return pin.file, pin.upstream or pin.name, ref, pin.ref_kind, line


def _by_variant(group: Sequence[Pin]) -> Iterable[Pin]:
    """Keep one pin a variant where the variants have lines of their own; a line that several use is for any."""
    by_line: dict[int, set[str]] = {}
    for pin in group:
        by_line.setdefault(pin.line, set()).add(pin.variant)
    variant_at = {line: variants.pop() if len(variants) == 1 else ANY for line, variants in by_line.items()}
    for variant in dict.fromkeys(variant_at.values()):
        lines = sorted(line for line, other in variant_at.items() if other == variant)
        pins = [pin for pin in group if pin.line in lines]
        first = next(pin for pin in pins if pin.line == lines[0])
        branch = next((pin.branch for pin in pins if pin.branch), None)
        yield replace(first, variant=variant, also=tuple(lines[1:]), branch=branch)
