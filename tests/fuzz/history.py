"""A model of an upstream: commits with their parents, refs, and what each state of the code repairs.

Plain dicts and walks along them; nothing of the program is used, so that both cannot be wrong in the same way.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

MAIN, TOPIC, RELEASE = "refs/heads/main", "refs/heads/topic", "refs/heads/release/1.0"
BRANCHES = (MAIN, TOPIC, RELEASE)
TAGS = ("refs/tags/v1", "refs/tags/v2")
PARTS = ("engine", "pool", "cache")
"""The pieces of code that have a bug at first."""


@dataclass
class History:
    """An upstream, from its first commit on."""

    parents: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Every commit that ever was, oldest first."""
    repaired: dict[str, frozenset[str]] = field(default_factory=dict)
    """Commit → the parts without a bug in its files."""
    fixes: dict[str, str] = field(default_factory=dict)
    """Commit → the part that it repairs, picks included."""
    picks: dict[str, str] = field(default_factory=dict)
    """Commit → the fix that it brings to another branch."""
    reverts: dict[str, str] = field(default_factory=dict)
    """Commit → the fix that it takes back."""
    refs: dict[str, str] = field(default_factory=dict)
    """What the server advertises."""
    past: dict[str, list[str]] = field(default_factory=dict)
    """Branch → every tip that it ever had."""
    lost: set[str] = field(default_factory=set)
    """What the server threw away."""

    # --- walks -------------------------------------------------------------------------------------------------------

    def ancestors(self, commit: str) -> set[str]:
        """Return a commit and all that it grew from."""
        found, waiting = set[str](), [commit]
        while waiting:
            here = waiting.pop()
            if here not in found:
                found.add(here)
                waiting += self.parents[here]
        return found

    def line(self, tip: str) -> Iterator[str]:
        """Yield the first-parent chain from a tip down."""
        yield tip
        while self.parents[tip]:
            tip = self.parents[tip][0]
            yield tip

    def holders(self, commit: str) -> list[str]:
        """Return the refs that hold a commit."""
        return [name for name, tip in self.refs.items() if commit in self.ancestors(tip)]

    def reached(self) -> set[str]:
        """Return everything that a ref holds."""
        return set[str]().union(*map(self.ancestors, self.refs.values()))

    def is_published(self, commit: str, pinned: str) -> bool:
        """Answer whether a ref that may be a line for a pin had a commit as its tip."""
        lines = {MAIN, RELEASE, *TAGS, *self.holders(pinned)} & self.refs.keys()
        return any(commit in self.line(self.refs[name]) for name in lines)

    def standing(self, commit: str) -> set[str]:
        """Return the fixes that a commit has, of parts that nobody in its history broke again."""
        has = self.ancestors(commit)
        broken = {self.fixes[self.reverts[it]] for it in has if it in self.reverts}
        return {it for it in has if it in self.fixes and self.fixes[it] not in broken}

    def is_plain(self, fix: str) -> bool:
        """Answer whether a fix is the only one of its part, was never taken back and never picked."""
        return [fix] == [it for it, part in self.fixes.items() if part == self.fixes[fix]] and (
            fix not in self.reverts.values()
        )

    # --- what happens ------------------------------------------------------------------------------------------------

    def commit(self, *parents: str, repaired: frozenset[str]) -> str:
        """Add a commit that no ref holds yet, and return its name."""
        name = f"c{len(self.parents)}"
        self.parents[name], self.repaired[name] = parents, repaired
        return name

    def move(self, ref: str, commit: str) -> None:
        """Make a ref name a commit."""
        self.refs[ref] = commit
        self.past.setdefault(ref, []).append(commit)

    def merged(self, one: str, other: str) -> frozenset[str]:
        """Return the parts that are repaired where two commits are merged: what one side changed is changed."""
        shared = self.ancestors(one) & self.ancestors(other)
        base = self.repaired[max(shared, key=list(self.parents).index)]
        mine, theirs = self.repaired[one], self.repaired[other]
        return (mine & theirs) | ((mine ^ theirs) - base)

    def clean_up(self) -> None:
        """Throw away what no ref holds."""
        self.lost |= self.parents.keys() - self.reached()
