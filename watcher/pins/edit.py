"""A bump as an edit of a manifest: the characters of the ref, what is said of it beside it, and nothing else.

Files are read byte by byte, so that line ends, marks and what is no UTF-8 stay as they are. A submodule's commit stands
in no file: `.gitmodules` stays as it is, and the edit says which entry of the tree moves.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from watcher.errors import EditError
from watcher.model import Oid, Pin, RefKind
from watcher.pins.checkout import decoded
from watcher.pins.checksums import checksums, dependents, placeholder
from watcher.pins.fitting import prefix_of, why_no_commit
from watcher.pins.gitmodules import folder_of
from watcher.pins.remarks import Remark, remark
from watcher.pins.spots import Lines, Spot, bytes_as_text, spots
from watcher.pins.target import Target, Unambiguous, never, new_ref, require_editable

_NAMED = 7
"""Shorter text is too common to be looked for elsewhere in a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaced:
    """One place that an edit changes."""

    line: int
    column: int
    """1-based, in bytes of the old line."""
    old: str
    new: str
    what: str
    """`ref`, `comment` or `checksum`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A manifest after a bump."""

    content: bytes
    replaced: tuple[Replaced, ...]
    warnings: tuple[str, ...]
    """What a person must look at, each with `file:line`."""
    refs: Mapping[str, str]
    """Pin id → what its ref reads now."""
    gitlinks: Mapping[str, Oid]
    """Folder of each submodule that moves → its commit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cut:
    spot: Spot
    new: str
    what: str
    pin: Pin


@dataclass(frozen=True, slots=True, kw_only=True)
class _Manifest:
    """A file that is edited, and what is known around it."""

    lines: Lines
    pins: Sequence[Pin]
    is_unambiguous: Unambiguous
    elsewhere: tuple[str, ...]


def edited(
    content: bytes,
    pins: Sequence[Pin],
    to: Mapping[str, Target],
    *,
    is_unambiguous: Unambiguous = never,
    elsewhere: Iterable[str] = (),
) -> Edit:
    """Move those pins of one file that have a target; raise EditError, and say why, where one cannot be moved.

    `pins` are all of the file: one that has no target and stands in the same place must not be moved unseen. Short ids
    get the fewest digits that `is_unambiguous` accepts, and never fewer than before. `elsewhere` are texts of other
    files that may use what is written in this one.
    """
    manifest = _Manifest(
        lines=Lines(content.decode("latin-1")),
        pins=pins,
        is_unambiguous=is_unambiguous,
        elsewhere=tuple(elsewhere),
    )
    warnings: list[str] = []
    cuts: list[_Cut] = []
    refs: dict[str, str] = {}
    gitlinks: dict[str, Oid] = {}
    for pin in (pin for pin in pins if pin.id in to):
        if pin.where == "gitlink":
            refs[pin.id] = gitlinks[_folder(content, pin)] = to[pin.id].commit
            continue
        refs[pin.id], found = _cuts(manifest, pin, to[pin.id], warnings)
        cuts += found
    _spare_others(manifest, cuts, to)
    unique = _without_conflict(cuts)
    warnings += _left(manifest.lines, unique, [pin for pin in pins if pin.id in to])
    return Edit(
        content=_applied(manifest.lines.text, unique).encode("latin-1"),
        replaced=tuple(_told(manifest.lines, cut) for cut in unique if _old(manifest.lines, cut) != cut.new),
        warnings=tuple(dict.fromkeys(warnings)),
        refs=refs,
        gitlinks=gitlinks,
    )


def _folder(content: bytes, pin: Pin) -> str:
    folder = folder_of(decoded(content), pin.line)
    if folder is None:
        raise EditError(f"{pin.place}: the section of {pin.name} has no `path`, so its commit cannot be found")
    return folder


def _cuts(manifest: _Manifest, pin: Pin, target: Target, warnings: list[str]) -> tuple[str, list[_Cut]]:
    """Return what the ref becomes, and every piece that is to be replaced for one pin."""
    require_editable(pin, target, manifest.lines)
    lines = manifest.lines
    new = new_ref(pin, target, manifest.is_unambiguous)
    if pin.ref_kind is RefKind.SHORT_SHA:
        warnings.append(_of_length(pin, new, target))
    cuts: list[_Cut] = []
    for spot in _spots(manifest, pin):
        whole = _fitting(manifest, pin, spot, new, target)
        cuts.append(_Cut(spot=whole, new=bytes_as_text(new), what="ref", pin=pin))
        cuts += _comment(lines, pin, spot, target, warnings)
        cuts += _sums(lines, pin, spot, warnings)
    return new, cuts


def _of_length(pin: Pin, new: str, target: Target) -> str:
    if new == target.commit:
        return f"{pin.place}: the short id became a full one, since no shorter one is known to be unambiguous"
    return f"{pin.place}: the id is still short, {len(new)} digits; only a full one stays unambiguous for ever"


def _spots(manifest: _Manifest, pin: Pin) -> Iterator[Spot]:
    """Yield where the pin's ref stands, on all of its lines."""
    for number in (pin.line, *pin.also):
        others = [it for it in manifest.pins if it.id != pin.id and number in {it.line, *it.also} and it.ref == pin.ref]
        is_shared = any(it.upstream != pin.upstream for it in others)
        yield from spots(manifest.lines, pin, number, is_shared=is_shared)


def _fitting(manifest: _Manifest, pin: Pin, spot: Spot, new: str, target: Target) -> Spot:
    """Return the piece that the new ref replaces; raise EditError where it does not fit there."""
    if pin.ref_kind in {RefKind.SHA, RefKind.SHORT_SHA} or new != target.commit:
        return spot
    reason = why_no_commit(manifest.lines, spot, manifest.elsewhere)
    if reason is not None:
        kind = "tag" if pin.ref_kind is RefKind.TAG else "branch"
        raise EditError(f"{pin.place}: {pin.name} is at the {kind} {pin.ref!r}, and no commit fits there: {reason}")
    return prefix_of(manifest.lines, spot)


def _comment(lines: Lines, pin: Pin, spot: Spot, target: Target, warnings: list[str]) -> Iterator[_Cut]:
    number = lines.number(spot.start)
    known = frozenset(name for name in (pin.requested, pin.branch, pin.ref) if name)
    found = remark(lines.text[spot.end : lines.end(number)], target.safe_name, known)
    if isinstance(found, Remark):
        piece = Spot(spot.end + found.start, spot.end + found.end)
        yield _Cut(spot=piece, new=bytes_as_text(found.new), what="comment", pin=pin)
    elif found is not None:
        warnings.append(
            f"{pin.file}:{number}: the comment behind the ref is left as it is; see whether it is still true"
        )


def _sums(lines: Lines, pin: Pin, spot: Spot, warnings: list[str]) -> Iterator[_Cut]:
    for found in checksums(lines, pin.file, spot):
        number = lines.number(found.start)
        new = placeholder(lines.text[found.start : found.end])
        warnings.append(
            f"{pin.file}:{number}: the checksum is that of the old source and was replaced by zeros; "
            "the next build stops there and says the right one"
        )
        yield _Cut(spot=found, new=new, what="checksum", pin=pin)
    for number, key in dependents(lines, pin.file, spot):
        warnings.append(f"{pin.file}:{number}: `{key}` follows the ref too and is left as it is: see to it")


def _spare_others(manifest: _Manifest, cuts: Sequence[_Cut], to: Mapping[str, Target]) -> None:
    """Raise EditError where a pin without a target would be moved as well."""
    for other in manifest.pins:
        numbers = {other.line, *other.also}
        if other.id in to or other.ref is None or other.where is not None:
            continue
        here = [cut for cut in cuts if cut.what == "ref" and manifest.lines.number(cut.spot.start) in numbers]
        taken = {
            spot.end
            for number in {manifest.lines.number(cut.spot.start) for cut in here}
            for spot in spots(manifest.lines, other, number, is_shared=other.upstream != here[0].pin.upstream)
        }
        for cut in here:
            if cut.spot.end in taken:
                raise EditError(
                    f"{cut.pin.place}: {other.name} ({other.id}) is pinned by the same text as {cut.pin.name} "
                    f"({cut.pin.id}): move both to one target, or part them first"
                )


def _without_conflict(cuts: Iterable[_Cut]) -> list[_Cut]:
    """Return each piece once, in order; raise EditError where two pins want two things of one piece."""
    ordered = sorted(cuts, key=lambda cut: (cut.spot, cut.new))
    unique = list({(cut.spot, cut.new): cut for cut in ordered}.values())
    for one, two in pairwise(unique):
        if two.spot.start < one.spot.end or one.spot == two.spot:
            raise EditError(
                f"{one.pin.place}: {one.pin.name} ({one.pin.id}) and {two.pin.name} ({two.pin.id}) are pinned by the "
                f"same text and have different targets ({one.new[:40]}, {two.new[:40]}): part them first"
            )
    return unique


def _left(lines: Lines, cuts: Sequence[_Cut], moved: Iterable[Pin]) -> Iterator[str]:
    """Say where else the file holds an old commit's id: prose, or a place that nobody reads as a pin."""
    edges = {cut.spot for cut in cuts}
    for pin in moved:
        old = bytes_as_text(pin.ref or "")
        if pin.ref_kind not in {RefKind.SHA, RefKind.SHORT_SHA} or len(old) < _NAMED:
            continue
        at = lines.text.find(old)
        while at >= 0:
            if not any(edge.start <= at < edge.end for edge in edges):
                yield f"{pin.file}:{lines.number(at)}: the old id stands there too and is left as it is"
            at = lines.text.find(old, at + 1)


def _applied(text: str, cuts: Sequence[_Cut]) -> str:
    pieces, at = [], 0
    for cut in cuts:
        pieces += [text[at : cut.spot.start], cut.new]
        at = cut.spot.end
    return "".join((*pieces, text[at:]))


def _old(lines: Lines, cut: _Cut) -> str:
    return lines.text[cut.spot.start : cut.spot.end]


def _told(lines: Lines, cut: _Cut) -> Replaced:
    line = lines.number(cut.spot.start)
    column = cut.spot.start - lines.start(line) + 1
    return Replaced(line=line, column=column, old=_utf8(_old(lines, cut)), new=_utf8(cut.new), what=cut.what)


def _utf8(text: str) -> str:
    return text.encode("latin-1").decode(errors="replace")


__all__ = ["Edit", "Replaced", "Target", "Unambiguous", "edited", "never"]
