"""Answer questions of ancestry over commits that are already held.

The graph is a mapping from each commit to its parents, as `git rev-list --parents` tells it. Everything here is a
plain walk; a few hundred thousand commits take well under a second.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from watcher.model import Oid


class Graph:
    """A commit graph: every commit's parents, all of them held."""

    def __init__(self, parents: Mapping[Oid, tuple[Oid, ...]]) -> None:
        self._parents = parents

    def __contains__(self, commit: object) -> bool:
        return commit in self._parents

    def __len__(self) -> int:
        return len(self._parents)

    def __iter__(self) -> Iterator[Oid]:
        return iter(self._parents)

    def parents(self, commit: Oid) -> tuple[Oid, ...]:
        """Return the parents in order; raise KeyError for a commit that is not held."""
        return self._parents[commit]

    @cached_property
    def children(self) -> Mapping[Oid, tuple[Oid, ...]]:
        """Return the commits that name each commit as a parent."""
        children: dict[Oid, list[Oid]] = {}
        for commit, parents in self._parents.items():
            for parent in dict.fromkeys(parents):
                children.setdefault(parent, []).append(commit)
        return {commit: tuple(found) for commit, found in children.items()}

    @cached_property
    def generations(self) -> Mapping[Oid, int]:
        """Return each commit's generation number: 1 for a root, else one more than its highest parent's."""
        waiting = {commit: len(set(parents)) for commit, parents in self._parents.items()}
        ready = deque(commit for commit, count in waiting.items() if count == 0)
        generation: dict[Oid, int] = {}
        while ready:
            commit = ready.popleft()
            generation[commit] = 1 + max((generation[parent] for parent in self._parents[commit]), default=0)
            for child in self.children.get(commit, ()):
                waiting[child] -= 1
                if waiting[child] == 0:
                    ready.append(child)
        return generation

    def ancestors(self, *tips: Oid, without: frozenset[Oid] | set[Oid] = frozenset()) -> set[Oid]:
        """Return the tips and everything reachable from them, stopping at (and leaving out) `without`."""
        seen: set[Oid] = set()
        todo = [tip for tip in tips if tip in self._parents and tip not in without]
        while todo:
            commit = todo.pop()
            if commit not in seen:
                seen.add(commit)
                todo.extend(parent for parent in self._parents[commit] if parent not in seen and parent not in without)
        return seen

    def descendants(self, commit: Oid) -> set[Oid]:
        """Return the commit and everything that reaches it; empty for a commit that is not held."""
        seen: set[Oid] = set()
        todo = [commit] if commit in self._parents else []
        while todo:
            found = todo.pop()
            if found not in seen:
                seen.add(found)
                todo.extend(self.children.get(found, ()))
        return seen

    def is_ancestor(self, older: Oid, newer: Oid) -> bool:
        """Answer whether `older` is reachable from (or is) `newer`; commits that are not held reach nothing."""
        if older not in self._parents or newer not in self._parents:
            return False
        floor = self.generations[older]
        seen: set[Oid] = set()
        todo = [newer]
        while todo:
            commit = todo.pop()
            if commit == older:
                return True
            if commit not in seen and self.generations[commit] > floor:
                seen.add(commit)
                todo.extend(self._parents[commit])
        return False

    def between(self, older: Oid, newer: Oid) -> set[Oid]:
        """Return the commits reachable from `newer` and not from `older` (git's `older..newer`)."""
        return self.ancestors(newer) - self.ancestors(older)

    def merge_bases(self, one: Oid, other: Oid) -> set[Oid]:
        """Return the best common ancestors: those that no other common ancestor reaches."""
        return self._heads(self.ancestors(one) & self.ancestors(other))

    def common_ancestor(self, tips: Iterable[Oid]) -> Oid | None:
        """Return one commit that every tip reaches, as new as can be, or None where the histories are unrelated."""
        shared: set[Oid] | None = None
        for tip in tips:
            reached = self.ancestors(tip)
            shared = reached if shared is None else shared & reached
        heads = self._heads(shared or set())
        return max(heads, key=lambda commit: (self.generations[commit], commit), default=None)

    def first_parent_line(self, tip: Oid) -> list[Oid]:
        """Return the states that a tip went through, oldest first."""
        line = []
        commit: Oid | None = tip if tip in self._parents else None
        while commit is not None:
            line.append(commit)
            commit = next(iter(self._parents[commit]), None)
        line.reverse()
        return line

    def oldest_first(self, commits: Iterable[Oid]) -> list[Oid]:
        """Return the commits so that parents come before children; ties by id."""
        return sorted(commits, key=lambda commit: (self.generations[commit], commit))

    def _heads(self, commits: set[Oid]) -> set[Oid]:
        """Return those of an ancestor-closed set which are no parent of another in it."""
        return commits - {parent for commit in commits for parent in self._parents[commit]}
