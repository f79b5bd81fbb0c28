"""Which is the smallest published commit that gives a pin its fixes?

Walk each line down from its tip as long as pin and fixes are in: the last commit for which that holds is the earliest
that upstream offered with all of them. The pin's own line comes first; between lines the fewest new commits win.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from watcher.graph import Graph
from watcher.judge.equivalents import Equivalents
from watcher.judge.lines import Line
from watcher.model import Commit, Oid, Rung


class Ladder:
    """Finds targets for one pin; ancestry that several questions need is worked out once."""

    def __init__(self, pin: Oid, lines: Sequence[Line], graph: Graph, commits: Mapping[Oid, Commit]) -> None:
        self._pin = pin
        self._lines = lines
        self._graph = graph
        self._commits = commits
        self._above: dict[Oid, set[Oid]] = {}
        self._below = graph.ancestors(pin)

    def minimal(self, wanted: Iterable[Equivalents], start: Oid | None = None) -> Rung | None:
        """Return the smallest target with every wanted change on the pin's own line, else on any line, or None.

        `start` replaces the pin as the commit that a target must contain, for a pin that is on no line.
        """
        changes = tuple(wanted)
        if not self._lines:
            return None
        own = self._earliest(self._lines[0].tip, changes, start or self._pin, {})
        return self._rung(own, self._lines[0]) if own else self.elsewhere(changes, start)

    def elsewhere(self, wanted: Iterable[Equivalents], start: Oid | None = None) -> Rung | None:
        """Return the smallest target on the lines beside the pin's own, or None.

        Fewest new commits win, then the earlier committer date, then the smaller id.
        """
        changes = tuple(wanted)
        walked: dict[Oid, Oid | None] = {}
        found: dict[Oid, Line] = {}
        for line in self._lines[1:]:
            target = self._earliest(line.tip, changes, start or self._pin, walked)
            if target is not None:
                found.setdefault(target, line)
        rungs = [self._rung(target, line) for target, line in found.items()]
        return min(rungs, key=lambda rung: (rung.commits, rung.committed_at, rung.to), default=None)

    def rungs(self, wanted: Mapping[str, Equivalents], start: Oid | None = None) -> tuple[Rung, ...]:
        """Return the ladder: each rung's target has more fixes than the one before, the last one has all.

        `wanted`: fix id → equivalents. Fixes that no line offers are left out.
        """
        single = {fix: self.minimal([same], start) for fix, same in wanted.items()}
        reachable = {fix: rung for fix, rung in single.items() if rung is not None}
        order = sorted(reachable, key=lambda fix: (reachable[fix].commits, fix))
        ladder: dict[Oid, Rung] = {}
        for count in range(1, len(order) + 1):
            rung = self.minimal([wanted[fix] for fix in order[:count]], start)
            if rung is not None:
                has = tuple(fix for fix in order if self._has(rung.to, wanted[fix]))
                ladder[rung.to] = replace(rung, fixes=has)
        return tuple(ladder.values())

    def _earliest(
        self, tip: Oid, wanted: tuple[Equivalents, ...], base: Oid, walked: dict[Oid, Oid | None]
    ) -> Oid | None:
        """Return the earliest commit down from a tip that has the base and every wanted change.

        `walked` remembers the answer for every commit passed, since tags of one branch share most of their line.
        """
        passed: list[Oid] = []
        commit: Oid | None = tip
        best: Oid | None = None
        while commit is not None and self._could_be(commit, wanted, base):
            if commit in walked:
                best = walked[commit] or best
                break
            passed.append(commit)
            if all(self._has(commit, same) for same in wanted):
                best = commit
            commit = next(iter(self._graph.parents(commit)), None)
        walked.update(dict.fromkeys(passed, best))
        return best

    def _could_be(self, commit: Oid, wanted: tuple[Equivalents, ...], base: Oid) -> bool:
        """Answer whether a commit has the base and had every change once; true for all later ones of a line too."""
        return commit in self._descendants(base) and all(self._could_have(commit, same) for same in wanted)

    def _rung(self, target: Oid, line: Line) -> Rung:
        new = self._graph.ancestors(target, without=self._below)
        commit: Oid | None = target
        passed = 0
        while commit is not None and commit in new:
            passed, commit = passed + 1, next(iter(self._graph.parents(commit)), None)
        date = self._commits[target].committed_at
        return Rung(to=target, fixes=(), commits=len(new), landings=passed, line=line.name, committed_at=date)

    def _could_have(self, commit: Oid, same: Equivalents) -> bool:
        """Answer whether a commit has a change, whatever became of it: true for every later commit of a line too."""
        return any(all(commit in self._descendants(part) for part in way) for way in same.ways)

    def _has(self, commit: Oid, same: Equivalents) -> bool:
        """Answer whether a commit has a change that no standing revert takes back."""
        taken = sum(commit in self._descendants(revert) for revert in same.reverts)
        given = sum(commit in self._descendants(relanding) for relanding in same.relandings)
        return taken <= given and self._could_have(commit, same)

    def _descendants(self, commit: Oid) -> set[Oid]:
        if commit not in self._above:
            self._above[commit] = self._graph.descendants(commit)
        return self._above[commit]
