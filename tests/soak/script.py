"""What a script is made of: upstreams with their histories, the pins on them, and everything that will happen.

Commits are names here; `sketch` makes of them what is served. So whoever plays a script and whoever judges it need
nothing of each other.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

MAIN = "refs/heads/main"
KEEP = "refs/heads/keep"
TOPIC = "refs/heads/topic"
TAG = "refs/tags/v1.0"
PARTS = ("engine", "pool", "cache")
"""The files of every upstream that have a bug from the start; each may be repaired."""

Refs = Mapping[str, str]
"""Full ref name → the name of a commit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """One line of a Dockerfile."""

    upstream: str
    downstream: str
    variant: str
    ref: str
    """The name of a commit, or a full ref name."""

    @property
    def file(self) -> str:
        """Return the manifest that it stands in."""
        return f"docker/Dockerfile.{self.variant}"

    @property
    def id(self) -> str:
        """Return the name that the program gives to the place."""
        return f"{self.downstream}:{self.file}:{self.upstream.rpartition('/')[2]}"

    @property
    def is_floating(self) -> bool:
        """Answer whether it follows a branch."""
        return self.ref.startswith("refs/heads/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """One made-up repository: all that it will ever hold, and what is there at the beginning."""

    name: str
    parents: Mapping[str, str | None]
    """Every commit that there will ever be → its parent."""
    repairs: Mapping[str, str]
    """Commit → the part that it repairs."""
    refs: Refs
    pins: tuple[Pin, ...]

    def line(self, commit: str) -> Iterator[str]:
        """Yield a commit and its ancestors, newest first."""
        found: str | None = commit
        while found is not None:
            yield found
            found = self.parents[found]


# --- what happens ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Redrawn:
    """An upstream's refs are other ones from now on."""

    upstream: str
    what: str
    refs: Refs


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """An upstream answers badly from now on: `gone`, `busy`, `limited`, `cut` or `silent`; None: well again."""

    upstream: str
    fault: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bumped:
    """A pin is moved in the downstream."""

    upstream: str
    pin: Pin
    """As it is from now on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaned:
    """An upstream's server throws away what no ref reaches."""

    upstream: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Hidden:
    """A downstream's folder is not there from now on, or is there again."""

    downstream: str
    is_back: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Killed:
    """The service is killed, alone or with the git programs that it runs, and started again."""

    group: bool
    when: str
    """`now`, or while it is next `sending` a message or `fetching` a history: before it is answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackTrouble:
    """Slack takes none of the next messages, and says `limited`, `busy`, something `garbled`, or nothing (`silent`)."""

    fault: str
    times: int


Happening = Redrawn | Broken | Bumped | Cleaned | Hidden | Killed | SlackTrouble


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of the script."""

    at: float
    """Scripted seconds since the beginning."""
    happening: Happening
    waits: bool = False
    """What happens to this upstream next, happens only after somebody saw this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """Everything that will happen, in order."""

    seed: int
    upstreams: Mapping[str, Upstream]
    entries: tuple[Entry, ...]

    @property
    def pins(self) -> tuple[Pin, ...]:
        """Return the pins at the beginning."""
        return tuple(pin for upstream in self.upstreams.values() for pin in upstream.pins)
