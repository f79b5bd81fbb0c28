"""What of an upstream's history must be looked at for its pins, and what does each pin make of each fix?"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from functools import cache, lru_cache

from watcher.judge.affected import Numbered, Pinned, numbered, verdict
from watcher.judge.changes import landings
from watcher.judge.equivalents import Equivalents, Index, Twins, equivalents, held_as
from watcher.judge.fixes import judge_fix
from watcher.judge.lines import Line, followed_lines, own_lines, published_lines
from watcher.judge.shipped import BY_NAME, Scope
from watcher.model import Change, Fix, Oid, Pin, Repair, Verdict
from watcher.observation import Materials, Observation

_SHARED = 64
"""For so many pinned commits what they ship is kept at hand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """The part of an upstream's history that its pins do not all share."""

    pinned: tuple[Oid, ...]
    """The pinned commits."""
    lines: tuple[Line, ...]
    """The published lines, tracked ones first."""
    own: Mapping[Oid, Line]
    """Pinned commit → the line it belongs to, for those that are on one."""
    changes: tuple[Change, ...]
    """What landed after the bound on the tracked lines and on the pins' own, oldest first on each."""
    twins: Twins = field(compare=False, repr=False)
    """Finds pinned commits under other ids."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What is known about an upstream's fixes, and what each means for each pin."""

    fixes: Mapping[str, Fix]
    same: Mapping[str, Equivalents]
    verdicts: Mapping[str, Mapping[str, Verdict]]
    """Pin id → fix id → verdict; fixes that touch nothing a pin ships are left out."""


def survey(seen: Observation, pins: Iterable[Pin], tracked: tuple[str, ...] = ()) -> Survey:
    """Return what to look at; `tracked` are the branches of the configuration, the remote HEAD where there are none."""
    graph, advertisement = seen.graph, seen.advertisement
    pinned = sorted({commit for pin in pins if (commit := seen.commit_of(pin)) and commit in graph})
    lines = published_lines(advertisement, graph, tracked)
    own = own_lines(pinned, advertisement, graph, tracked)
    leading = followed_lines(advertisement, graph, tracked) if pinned else ()
    followed = {line.name: line for line in (*leading, *own.values())}
    changes: dict[Oid, Change] = {}
    for line in followed.values():
        # Lines share what is older than their branching off.
        landed = landings(graph.first_parent_line(line.tip), seen.bound, graph, seen.commits, changes)
        changes |= {change.landing: change for change in landed}
    return Survey(pinned=tuple(pinned), lines=lines, own=own, changes=tuple(changes.values()), twins=Twins(seen))


def candidates(seen: Observation, surveyed: Survey, materials: Materials, scope: Scope = BY_NAME) -> tuple[Change, ...]:
    """Return the changes that may turn out to be fixes once their lines are looked at."""
    return tuple(
        change
        for change in surveyed.changes
        if judge_fix(
            seen.upstream,
            change,
            materials.paths.get(change.landing, ()),
            seen.commits,
            scope=scope,
            discussion=materials.discussions.get(change.landing),
        )
    )


def judged(
    seen: Observation,
    surveyed: Survey,
    materials: Materials,
    repairs: Mapping[Oid, Repair],
    pins: Iterable[Pin],
    scope: Scope = BY_NAME,
    dismissed: Container[Oid] = (),
) -> Judged:
    """Return the fixes among the changes, and each pin's verdict on each of them.

    `dismissed`: landings that somebody said are no fix; neither are they under another id.
    """
    index = Index(seen.commits, materials.patch_ids, seen.advertisement.pulls)
    fixes = {}
    for change in surveyed.changes:
        repair = repairs.get(change.landing)
        paths = materials.paths.get(change.landing, ())
        found = repair and judge_fix(
            seen.upstream,
            change,
            paths,
            seen.commits,
            repair=repair,
            scope=scope,
            discussion=materials.discussions.get(change.landing),
        )
        if found:
            fixes[found.id] = found
    same = {fix.id: equivalents(fix.change, index, seen.graph) for fix in fixes.values()}
    tips = [seen.graph.ancestors(line.tip) for line in {*surveyed.lines[:1], *surveyed.own.values()}]
    standing = {
        name: fix
        for name, fix in fixes.items()
        if any(held_as(same[name], tip.__contains__) for tip in tips)
        and fix.change.landing not in dismissed
        and not held_as(same[name], dismissed.__contains__)
    }
    verdicts = {}
    shipped = _Shipped(seen, materials)
    for pin in pins:
        pinned = shipped.by(pin, scope)
        if pinned is None:
            continue
        said = {
            name: verdict(fix, same[name], repairs.get(fix.change.landing), pinned, index)
            for name, fix in standing.items()
        }
        verdicts[pin.id] = {name: answer for name, answer in said.items() if answer is not None}
    return Judged(fixes=standing, same=same, verdicts=verdicts)


class _Shipped:
    """What pinned commits ship; several pins of one commit share it."""

    def __init__(self, seen: Observation, materials: Materials) -> None:
        self._seen = seen
        self._trees = materials.trees
        self._texts: dict[Oid, dict[str, tuple[str, ...]]] = {}
        for (commit, path), lines in materials.texts.items():
            self._texts.setdefault(commit, {})[path] = lines
        self._of = lru_cache(_SHARED)(self._read)
        self._numbered = cache(numbered)

    def by(self, pin: Pin, scope: Scope) -> Pinned | None:
        """Return what a pin ships, or None where its commit is not held."""
        commit = self._seen.commit_of(pin)
        if commit is None or commit not in self._seen.graph:
            return None
        ancestors, texts = self._of(commit)
        return Pinned(
            ancestors=ancestors,
            variant=pin.variant,
            scope=scope,
            paths=self._trees.get(commit, frozenset()),
            texts=texts,
        )

    def _read(self, commit: Oid) -> tuple[Set[Oid], Mapping[str, Numbered]]:
        return self._seen.graph.ancestors(commit), _Texts(self._texts.get(commit, {}), self._numbered)


class _Texts(Mapping[str, Numbered]):
    """The files of one commit; those that nobody asks about are not arranged."""

    def __init__(self, lines: Mapping[str, tuple[str, ...]], numbered: Callable[[tuple[str, ...]], Numbered]) -> None:
        self._lines = lines
        self._numbered = numbered

    def __getitem__(self, path: str) -> Numbered:
        return self._numbered(self._lines[path])

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)
