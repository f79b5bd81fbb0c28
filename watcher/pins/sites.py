"""Where upstream code enters a build, and the pins that come of it.

A clone, `git init` with a remote, or a submodule is a `Site`; what is checked out there later is a `Pick`. Only when
the whole file is read is it known which picks are in force: a checkout that always follows makes the branch of the
clone a remark, one that follows only sometimes leaves both.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from watcher.model import Pin, RefKind
from watcher.pins.address import repository_name
from watcher.pins.text import Place, Span, Text
from watcher.pins.values import ALWAYS, Guard, is_compatible, is_covered
from watcher.pins.variant import variant_of
from watcher.refkind import bare_ref, is_commit, ref_kind


class Sighting(NamedTuple):
    """A pin as one reading of one file sees it."""

    pin: Pin
    command: Place
    """The line of the command that uses the ref."""
    is_unlikely: bool = False
    """The defaults in the file do not lead to the command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """One use of one upstream at a ref, or at its default branch."""

    upstream: str
    url: Text
    ref: Text | None
    """None for the default branch."""
    command: Place
    guard: Guard = ALWAYS
    labels: tuple[str, ...] = ()
    hint: RefKind | None = None
    branch: str | None = None

    @property
    def kind(self) -> RefKind:
        """Return what the ref is, as far as the files say."""
        if self.ref is None:
            return RefKind.DEFAULT_BRANCH
        return ref_kind(self.ref.chars, self.hint) if self.ref.is_known else RefKind.UNRESOLVED

    @property
    def is_unlikely(self) -> bool:
        """Answer whether the defaults in the file do not lead here."""
        return any(choice.is_unlikely for choice in self.guard)

    def sighting(self, branch: str | None = None) -> Sighting:
        """Return the pin, at the line where its ref is written."""
        kind = self.kind
        where = _written(self.ref) if self.ref is not None and kind is not RefKind.UNRESOLVED else None
        if where and is_commit(where.chars):
            kind = ref_kind(where.chars)  # also where only its first digits are used
        place = where.place if where else self.command if kind is RefKind.UNRESOLVED else _url_place(self.url)
        full = bare_ref(self.ref.chars) if self.ref is not None else ""
        labels = [choice.label for choice in sorted(self.guard, reverse=True) if choice.label]
        hints = (*labels, *([where.name] if where and where.name else ()), *self.labels)
        pin = Pin(
            name=repository_name(self.upstream),
            upstream=self.upstream,
            ref=where.chars if where else None,
            ref_kind=kind,
            file=place.file,
            line=place.line,
            variant=variant_of(hints, place.file),
            resolved_ref=full if where and full != where.chars else None,
            branch=None if branch in {None, full} else branch,
        )
        return Sighting(pin, self.command, self.is_unlikely)


def _written(ref: Text) -> Span | None:
    """Return the part of a ref that a person would edit: of `v${VERSION}` the value of the variable."""
    spans = [span for span in ref.spans if any(char.isalnum() for char in span.chars)]
    if not spans:
        return None
    if not any(span.name or span.whole for span in spans) and len({span.place for span in spans}) == 1:
        return _stripped(Span(ref.chars, spans[0].place))
    return _stripped(max(spans, key=lambda span: (bool(span.name), any(map(str.isdigit, span.chars)), len(span.chars))))


def _stripped(span: Span) -> Span:
    chars = span.whole if is_upstream_ref(span.whole.strip()) else span.chars
    return Span(bare_ref(chars.strip()), span.place, span.name)


def _url_place(url: Text) -> Place:
    """Return the line that names the repository: the variable's if it holds the whole address, else the command's."""
    inline = [span for span in url.spans if not span.name and not span.is_unknown]
    return inline[0].place if inline and len(url.spans) > 1 else url.place()


_REF = re.compile(r"[^\s~^:?*\[\\-][^\s~^:?*\[\\]*")
_LOCAL = re.compile(r"(?:HEAD|FETCH_HEAD|ORIG_HEAD|MERGE_HEAD|@)(?![\w/-])")


def is_upstream_ref(ref: str) -> bool:
    """Answer whether a text can name something of the upstream: no option, no range, nothing local."""
    return _REF.fullmatch(ref) is not None and ".." not in ref and not _LOCAL.match(ref)


@dataclass(slots=True, kw_only=True, eq=False)
class Site:
    """One local repository: where it comes from and what is checked out in it."""

    origin: Pick | None
    """What the clone itself checks out; None after `git init`."""
    guard: Guard = ALWAYS
    remotes: dict[str, tuple[str, Text]] = field(default_factory=dict)
    """Name of the remote → upstream and the address as written."""
    picks: list[Pick] = field(default_factory=list)
    fetched: list[Pick] = field(default_factory=list)
    used: set[int] = field(default_factory=set)
    """The fetches whose result was merged, picked from or checked out."""
    is_partial: bool = False
    """What follows the clone was not read to its end: that nothing is checked out is then not known."""
    is_run: bool = False
    """Made in a script while another file runs it; what the script alone tells counts for more."""
    names: dict[str, Pick] = field(default_factory=dict)
    """Local branch → what it was made from."""

    def sightings(self) -> Iterator[Sighting]:
        """Yield the pins that are in force once everything is read."""
        picks = [*self.picks, *self._bare_fetches()]
        origin = self.origin
        is_replaced = origin is not None and is_covered([_by_default(pick.guard) for pick in picks], self.guard)
        standing = [pick for at, pick in enumerate(picks) if not _is_overridden(pick, picks[at + 1 :])]
        is_known = origin is not None and not (self.is_partial and origin.ref is None)
        found = [*([origin] if origin and is_known and not is_replaced else []), *standing]
        branch = self._branch(picks)
        known = [pick for pick in found if pick.kind is not RefKind.UNRESOLVED]
        for pick in known or found[:1]:
            seen = pick.sighting(branch if pick.kind in {RefKind.SHA, RefKind.SHORT_SHA, RefKind.TAG} else None)
            yield seen._replace(is_unlikely=seen.is_unlikely or (self.is_run and seen.pin.ref is None))
        refs = {pick.ref.chars for pick in known if pick.ref}
        repeated = [*self.fetched, *([origin] if origin and is_replaced else []), *picks]
        yield from (
            pick.sighting(branch) for pick in repeated if pick not in known and pick.ref and pick.ref.chars in refs
        )

    def _bare_fetches(self) -> list[Pick]:
        """Return the fetches of a ref that nothing local takes up by name: somebody fetches it to use it."""
        last = self.fetched[-1:] if not self.picks else []
        return [
            pick
            for pick in last
            if pick.ref is not None
            and id(pick) not in self.used
            and (self.origin is None or pick.kind is not RefKind.BRANCH)
        ]

    def _branch(self, picks: Sequence[Pick]) -> str | None:
        """Return the branch that the commit is said to be on."""
        before = [*([self.origin] if self.origin else []), *picks]
        return next(
            (bare_ref(pick.ref.chars) for pick in before if pick.ref is not None and pick.kind is RefKind.BRANCH), None
        )


def _by_default(guard: Guard) -> Guard:
    """Return the arms that it takes somebody to lead to; the others are taken unless somebody empties a variable."""
    return frozenset(choice for choice in guard if not choice.is_default)


def _is_overridden(pick: Pick, later: Sequence[Pick]) -> bool:
    if pick.kind not in {RefKind.BRANCH, RefKind.DEFAULT_BRANCH, RefKind.UNRESOLVED}:
        return False
    return is_covered([other.guard for other in later if is_compatible(other.guard, pick.guard)], pick.guard)
