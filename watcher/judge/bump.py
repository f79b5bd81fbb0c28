"""Which is the smallest published commit that gives a pin its fixes?

On each line the earliest commit that has pin and fixes is the smallest that upstream offered with all of them. The
pin's own line comes first; between other lines the fewest new commits win.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace

from watcher.graph import Graph
from watcher.judge.equivalents import Equivalents, held_as, was_held
from watcher.judge.lines import Line
from watcher.model import Commit, Oid, Rung


class Ladder:
    """Finds targets for one pin; ancestry that several questions need is worked out once.

    `start` is for a pin that no published line has: where no target contains the pin, one that contains that will do.
    """

    def __init__(
        self,
        pin: Oid,
        lines: Sequence[Line],
        graph: Graph,
        commits: Mapping[Oid, Commit],
        start: Oid | None = None,
    ) -> None:
        self._pin = pin
        self._start = start
        self._lines = lines
        self._graph = graph
        self._commits = commits
        self._own: Sequence[Oid] = graph.first_parent_line(lines[0].tip) if lines else ()
        self._above: dict[Oid, Set[Oid]] = {}
        self._rungs: dict[Oid, Rung] = {}
        self._minima: dict[tuple[Equivalents, ...], Rung | None] = {}
        self._below = graph.ancestors(pin)

    def minimal(self, wanted: Iterable[Equivalents]) -> Rung | None:
        """Return the smallest target with every wanted change on the pin's own line, else on any line, or None."""
        changes = tuple(wanted)
        if changes not in self._minima:
            found = self._minimal(changes, self._pin)
            self._minima[changes] = self._minimal(changes, self._start) if found is None and self._start else found
        return self._minima[changes]

    def elsewhere(self, wanted: Iterable[Equivalents]) -> Rung | None:
        """Return the smallest target with the pin and every wanted change on the lines beside its own, or None.

        Fewest new commits win, then the earlier committer date, then the smaller id.
        """
        return self._elsewhere(tuple(wanted), self._pin)

    def _minimal(self, changes: tuple[Equivalents, ...], base: Oid) -> Rung | None:
        generations = self._graph.generations
        # What has the base is of a higher generation. Once a state has it and had every change, so have all later ones.
        start = bisect_left(self._own, generations.get(base, 0), key=generations.__getitem__)
        first = bisect_left(self._own, True, start, key=lambda commit: self._could_be(commit, changes, base))
        states = (self._own[at] for at in range(first, len(self._own)))
        own = next((commit for commit in states if self._has_all(commit, changes)), None)
        return self._rung(own, self._lines[0]) if own else self._elsewhere(changes, base)

    def _elsewhere(self, changes: tuple[Equivalents, ...], base: Oid) -> Rung | None:
        walked: dict[Oid, Oid | None] = {}
        found: dict[Oid, Line] = {}
        for line in self._lines[1:]:
            target = self._earliest(line.tip, changes, base, walked)
            if target is not None:
                found.setdefault(target, line)
        rungs = [self._rung(target, line) for target, line in found.items()]
        return min(rungs, key=lambda rung: (rung.commits, rung.committed_at, rung.to), default=None)

    def rungs(self, wanted: Mapping[str, Equivalents]) -> tuple[Rung, ...]:
        """Return the ladder, cheapest first: each fix by itself, then with all cheaper ones that can be had with it.

        `wanted`: fix id → equivalents; each rung names all of them that its target has. Fixes that no line offers are
        left out; so are sets of them that no line offers together.
        """
        single = {fix: self.minimal([same]) for fix, same in wanted.items()}
        reachable = {fix: rung for fix, rung in single.items() if rung is not None}
        order = sorted(reachable, key=lambda fix: (reachable[fix].commits, fix))
        together: list[Equivalents] = []
        ladder: dict[Oid, Rung] = {}
        for fix in order:
            alone = reachable[fix]
            has_cheaper = self._has_all(alone.to, together)
            joint = alone if has_cheaper else self.minimal([*together, wanted[fix]])
            ladder |= {rung.to: rung for rung in (alone, joint) if rung}
            if joint:
                together.append(wanted[fix])
        found = (self._naming(rung, wanted) for rung in ladder.values())
        return tuple(sorted(found, key=lambda rung: (rung.commits, rung.committed_at, rung.to)))

    def target(self, goal: Iterable[str], wanted: Mapping[str, Equivalents]) -> Rung | None:
        """Return the smallest target with every fix of a goal, naming all wanted ones that it has, or None."""
        rung = self.minimal([wanted[fix] for fix in goal])
        return self._naming(rung, wanted) if rung else None

    def _naming(self, rung: Rung, wanted: Mapping[str, Equivalents]) -> Rung:
        return replace(rung, fixes=tuple(fix for fix, same in wanted.items() if self._has(rung.to, same)))

    def _earliest(
        self, tip: Oid, wanted: tuple[Equivalents, ...], base: Oid, walked: dict[Oid, Oid | None]
    ) -> Oid | None:
        """Return the earliest commit down from a tip that has the base and every wanted change.

        `walked` remembers the answer for every commit passed, since tags of one branch share most of their line.
        """
        passed: list[Oid] = []
        commit: Oid | None = tip
        while commit is not None and commit not in walked and self._could_be(commit, wanted, base):
            passed.append(commit)
            commit = next(iter(self._graph.parents(commit)), None)
        best = walked.get(commit) if commit is not None else None
        for commit in reversed(passed):
            if best is None and self._has_all(commit, wanted):
                best = commit
            walked[commit] = best
        return best

    def _could_be(self, commit: Oid, wanted: tuple[Equivalents, ...], base: Oid) -> bool:
        """Answer whether a commit has the base and had every change once, and is not older than the pin."""
        # Whether it has the base is told by generations where it is an old tag; what is below the pin has to be walked.
        is_newer = self._is_in(base, commit) and (commit == self._pin or commit not in self._below)
        return is_newer and all(self._could_have(commit, same) for same in wanted)

    def _rung(self, target: Oid, line: Line) -> Rung:
        if target not in self._rungs:
            self._rungs[target] = self._measured(target)
        return replace(self._rungs[target], line=line.name)

    def _measured(self, target: Oid) -> Rung:
        """Return a target with what lies between it and the pin, on no line yet."""
        new = self._graph.ancestors(target, without=self._below)
        commit: Oid | None = target
        passed = 0
        while commit is not None and commit in new:
            passed, commit = passed + 1, next(iter(self._graph.parents(commit)), None)
        date = self._commits[target].committed_at
        return Rung(to=target, fixes=(), commits=len(new), landings=passed, line="", committed_at=date)

    def _could_have(self, commit: Oid, same: Equivalents) -> bool:
        return was_held(same, lambda part: self._is_in(part, commit))

    def _has_all(self, commit: Oid, wanted: Iterable[Equivalents]) -> bool:
        return all(self._has(commit, same) for same in wanted)

    def _has(self, commit: Oid, same: Equivalents) -> bool:
        return held_as(same, lambda part: self._is_in(part, commit)) is not None

    def _is_in(self, older: Oid, newer: Oid) -> bool:
        """Answer whether a commit is in the history of another."""
        if older not in self._above:
            self._above[older] = self._graph.descendants(older)
        return newer in self._above[older]
