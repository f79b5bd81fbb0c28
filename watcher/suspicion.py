"""What an error text names, what landed after a pin, and what the one has to do with the other: values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from watcher.model import Change, Fix, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """What an error text names."""

    files: Mapping[str, frozenset[int]]
    """Path as printed, with `/` → line numbers in it; what is nearest to the error first."""
    functions: tuple[str, ...]
    """Bare names, without class, package or namespace; nearest to the error first."""
    terms: Mapping[str, float]
    """Term (see `terms`) → how often; more than a few times is the same as a few times."""
    spelled: Mapping[str, str] = field(default_factory=dict)
    """Term → how it stands in the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Altered:
    """One place of a file that a change alters."""

    path: str
    """Path before; after, for a new file."""
    first: int
    """First altered line in the file before; of a pure addition, the line after which it stands."""
    last: int
    text: tuple[str, ...]
    """The removed lines, then the added ones."""
    inside: tuple[str, ...] = ()
    """The definitions around it, the innermost first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Landing:
    """One change that landed after a pin, with what it says and alters."""

    change: Change
    title: str
    message: str
    """Everything that its commits say, titles included."""
    paths: tuple[str, ...]
    altered: tuple[Altered, ...] = ()
    before: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Path → lines before the change, of the files that the error text names."""
    fix: Fix | None = None
    verdict: Verdict | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """One path of the pinned tree that an error text names, more or less surely."""

    path: str
    weight: float
    lines: frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspects:
    """What landed after a pin, and what of the pinned tree an error text names."""

    landings: tuple[Landing, ...]
    named: Mapping[str, Named]
    pinned: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Path → lines at the pin, of the named files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One reason for a score."""

    what: str
    """`file`, `line`, `function`, `message`, `code`."""
    value: float
    named: tuple[str, ...]
    """What the error text and the landing share, the weightiest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """One landing with its score."""

    landing: Landing
    score: float
    parts: tuple[Part, ...]
