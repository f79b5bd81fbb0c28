"""Answer questions over one upstream's whole history: does a commit have a fix, is it affected, what is the bump?

The same judges as in a pass, over everything that a repository holds, for questions that come one after the other.
"""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from watcher import materials
from watcher.errors import UsageError
from watcher.judge.affected import CHANCES, Numbered, Pinned, numbered, verdict
from watcher.judge.bump import Ladder
from watcher.judge.changes import change_of
from watcher.judge.culprits import introduced
from watcher.judge.equivalents import Equivalents, Index, equivalents, held_as, was_held
from watcher.judge.fixes import fix_id, judge_fix
from watcher.judge.lines import Line, published_lines
from watcher.model import Advertisement, Answer, Change, ChangedPath, Commit, Fix, Grade, Oid, Repair, Verdict
from watcher.upstream.history import open_graph
from watcher.upstream.mirror import Mirror

_EVEN = 0.5
_PINS = 64
"""For so many pins the ancestors and the tree are kept at hand."""
_FILES = 64
"""So many files' lines are kept at hand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """One question's answer."""

    answer: str
    """`contains`, `affected`, `not-affected` or `reverted`; empty for a question about several fixes."""
    minimal: Oid | None
    """The smallest bump over all published lines."""
    minimal_default: Oid | None
    """The smallest bump on the default branch's line."""
    confidence: float
    reason: str
    where: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known of one fix, whatever the pin."""

    fix: Fix
    same: Equivalents


class History:
    """Everything that one repository holds, arranged for questions; facts about a fix are worked out once."""

    def __init__(self, mirror: Mirror, advertisement: Advertisement, *, is_blind: bool = False) -> None:
        self.mirror = mirror
        self.advertisement = advertisement
        self._is_blind = is_blind
        self.graph = open_graph(mirror)
        refs = (*advertisement.refs, *advertisement.pulls)
        tips = dict.fromkeys(ref.commit for ref in refs if ref.commit in self.graph)
        self.commits: Mapping[Oid, Commit] = {commit.oid: commit for commit in mirror.commits(tips)}
        self._known: dict[Oid, Known] = {}
        self._repairs: dict[str, Repair] = {}
        self._has = lru_cache(_PINS)(self.graph.ancestors)
        self._tree = lru_cache(_PINS)(mirror.tree)
        self._numbered: dict[Oid, Numbered] = {}

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """Return the published lines, the default branch's first."""
        return published_lines(self.advertisement, self.graph)

    @cached_property
    def _index(self) -> Index:
        return Index(self.commits, pulls=self.advertisement.pulls)

    def commit(self, name: str) -> Oid:
        """Return the commit that a full or short id, a branch or a tag means; raise UsageError for none or several."""
        if name in self.graph:
            return Oid(name)
        tip = next(
            (tip for full in (name, f"refs/tags/{name}", f"refs/heads/{name}") if (tip := self._tip(full))), None
        )
        if tip is not None:
            return tip
        found = self.mirror.expand(name.lower()) if len(name) >= 4 else ()  # noqa: PLR2004 - git's own least
        known = [commit for commit in found if commit in self.graph]
        if len(known) != 1:
            raise UsageError(f"{name}: expected a commit, branch or tag of this repository, found {len(known)}")
        return known[0]

    def answer(self, pin: Oid, fixes: Iterable[Oid]) -> Answered:
        """Return the answer about one fix, and the smallest bumps to one or several."""
        known = [self.known(fix) for fix in fixes]
        same = [it.same for it in known]
        minimal, minimal_default = self._minimal(pin, same)
        if len(known) != 1:
            return Answered(
                answer="", minimal=minimal, minimal_default=minimal_default, confidence=1.0, reason="set of fixes"
            )
        answer, said = self.judged(pin, known[0])
        return Answered(
            answer=answer,
            minimal=minimal,
            minimal_default=minimal_default,
            confidence=round(said.chance if answer == "affected" else 1 - said.chance, 2),
            reason=said.reason,
            where=said.where,
        )

    def known(self, oid: Oid) -> Known:
        """Return what is known of a fix: as the change that it landed with, or stands for on a proposal's branch."""
        if oid not in self._known:
            change = self.change(oid)
            paths = self._paths(change)
            fix = Fix(
                id=fix_id("", oid),
                upstream="",
                change=change,
                grade=Grade.POSSIBLE,
                evidence=(),
                paths=tuple(path.path for path in paths),
                created=frozenset(path.path for path in paths if path.status == "A"),
                introduced=() if self._is_blind else introduced(self._messages(change), self.commits),
            )
            self._known[oid] = Known(
                fix=fix,
                same=equivalents(change, self._index, self.graph),
            )
        return self._known[oid]

    def repair(self, fix: Fix) -> Repair:
        """Return the lines that a fix repairs and who made them, back to the roots."""
        if fix.id not in self._repairs:
            self._repairs[fix.id] = materials.repair(self.mirror, fix.change, None)
        return self._repairs[fix.id]

    def change(self, oid: Oid) -> Change:
        """Return the change that a commit brought: over its first parent, or from where its proposal branched off."""
        parents = self.graph.parents(oid)
        if len(parents) > 1:
            return change_of(oid, self.graph.between(parents[0], oid), self.graph, self.commits)
        if not self._is_proposed(oid):
            return change_of(oid, {oid}, self.graph, self.commits)
        bases = self.graph.merge_bases(self.lines[0].tip, oid)
        base = max(bases, key=self.graph.generations.__getitem__, default=None)
        new = self.graph.between(base, oid) if base else self.graph.ancestors(oid)
        work = tuple(it for it in self.graph.oldest_first(new) if len(self.graph.parents(it)) <= 1)
        return replace(change_of(oid, {oid}, self.graph, self.commits), before=base, commits=work)

    def classified(self, oid: Oid, *, without: tuple[str, ...] = ()) -> Fix | None:
        """Return a commit as a fix, graded, or None for what is none; paths that begin with `without` are not seen."""
        change = self.change(oid)
        paths = [path for path in self._paths(change) if not path.path.startswith(without)]
        return judge_fix("", change, paths, self.commits, repair=materials.shape(self.mirror, change), silent=True)

    def _tip(self, full: str) -> Oid | None:
        return self.advertisement.tip(full)

    def _messages(self, change: Change) -> tuple[Commit, ...]:
        return tuple(self.commits[oid] for oid in dict.fromkeys((change.landing, *change.commits)))

    def _paths(self, change: Change) -> tuple[ChangedPath, ...]:
        pair = (change.before, change.landing)
        return self.mirror.changed_paths([pair])[pair]

    def _is_proposed(self, oid: Oid) -> bool:
        """Answer whether a commit is on no branch and no tag, only in a proposal."""
        if not self.advertisement.pulls or not self.lines:
            return False
        return oid not in self._alive

    @cached_property
    def _alive(self) -> Set[Oid]:
        return self.graph.reached(ref.commit for ref in self.advertisement.refs)

    def judged(self, pin: Oid, known: Known) -> tuple[str, Verdict]:
        """Return the answer about one fix in a word, the likelier one where it is unsure, and the verdict itself."""
        has = self._has(pin)
        if held_as(known.same, has.__contains__) is None and self.lines and self._is_withdrawn(known.same):
            basis = "reverted"
            return "reverted", Verdict(
                fix=known.fix.id,
                answer=Answer.NO,
                where=(),
                reason="it was reverted",
                basis=basis,
                chance=CHANCES[basis],
            )
        said = verdict(known.fix, known.same, self.repair(known.fix), self._pinned(pin, known), self._index)
        if said is not None and said.contained_as is not None:
            return "contains", said
        if said is None:
            reason = "it alters nothing traceable"
            return "affected", Verdict(fix=known.fix.id, answer=Answer.UNSURE, where=(), reason=reason)
        return "affected" if said.chance >= _EVEN else "not-affected", said

    def _is_withdrawn(self, same: Equivalents) -> bool:
        has = self._has(self.lines[0].tip).__contains__
        return bool(same.reverts) and was_held(same, has) and held_as(same, has) is None

    def _pinned(self, pin: Oid, known: Known) -> Pinned:
        """Return what a pin ships, with the text of the files that a fix repairs, where it lacks the fix."""
        has, (files, gitlinks) = self._has(pin), self._tree(pin)
        repaired = () if held_as(known.same, has.__contains__) else self.repair(known.fix).anchors
        touched = {path: files[path] for anchor in repaired for path in anchor.paths if path in files}
        lines = self._lines_of(touched.values())
        return Pinned(
            ancestors=has,
            variant="any",
            paths=files.keys() | gitlinks.keys() if gitlinks else files.keys(),
            texts={path: lines[blob] for path, blob in touched.items() if blob in lines},
        )

    def _lines_of(self, blobs: Iterable[Oid]) -> dict[Oid, Numbered]:
        """Return the lines of files; those that were asked for last are kept, since pins share most of their files."""
        wanted = set(blobs)
        found = {blob: self._numbered[blob] for blob in wanted & self._numbered.keys()}
        if missing := wanted - found.keys():
            read = self.mirror.read(missing)
            found |= {blob: numbered(materials.lines(content)) for blob, content in read.items()}
        if len(self._numbered) > _FILES:
            self._numbered.clear()
        self._numbered |= found
        return found

    def _minimal(self, pin: Oid, same: list[Equivalents]) -> tuple[Oid | None, Oid | None]:
        if not self.lines:
            return None, None
        every = Ladder(pin, (self.lines[0], *self.lines), self.graph, self.commits).elsewhere(same)
        default = Ladder(pin, self.lines[:1], self.graph, self.commits).minimal(same)
        return every.to if every else None, default.to if default else None
