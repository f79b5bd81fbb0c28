"""The nouns: pins, refs, commits, changes, fixes, findings.

Plain values, shared by everything else. Git's glossary names git things; DESIGN.md §2 names ours.
All times are aware UTC; all oids went through `oid()`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import NewType

Oid = NewType("Oid", str)
"""An object id: 40 (SHA-1) or 64 (SHA-256) lower-case hex digits."""

_OID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def is_oid(text: str) -> bool:
    """Answer whether the text is a full object id, SHA-1 or SHA-256, in lower case."""
    return _OID.fullmatch(text) is not None


def oid(text: str) -> Oid:
    """Check and return an object id; raise ValueError for anything that is not a full lower-case one."""
    if not is_oid(text):
        raise ValueError(f"expected 40 or 64 lower-case hex digits, found {text[:80]!r}")
    return Oid(text)


class RefKind(StrEnum):
    """What the ref of a pin is, as far as the files say."""

    SHA = "sha"
    SHORT_SHA = "short-sha"
    TAG = "tag"
    BRANCH = "branch"
    DEFAULT_BRANCH = "default-branch"
    UNRESOLVED = "unresolved"

    @property
    def is_floating(self) -> bool:
        """Answer whether the pin follows a branch instead of naming one commit."""
        return self in {RefKind.BRANCH, RefKind.DEFAULT_BRANCH}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """One place in a manifest that fixes an upstream to a ref."""

    name: str
    """Last path component of the upstream; what people call the dependency."""
    upstream: str | None
    """Normalised address (`pins.address.normalise`), or None where the files do not say which repository."""
    ref: str | None
    """The text of the ref exactly as it stands on `line`; None for the default branch and for unresolved."""
    ref_kind: RefKind
    file: str
    """Path in the downstream, with `/`."""
    line: int
    """1-based line on which the ref value is literally written."""
    variant: str = "any"
    resolved_ref: str | None = None
    """What git is really given where text around a variable adds to it (`v${VERSION}`)."""
    also: tuple[int, ...] = ()
    """Further lines of the same file that hold the same ref and must be edited together with `line`."""
    branch: str | None = None
    """The branch that the files say the commit is on; no pin of its own."""
    requested: str | None = None
    """The ref that a lock file or a comment says the commit came from."""
    overrides: str | None = None
    """`file:line` of the default which this place overrides."""
    where: str | None = None
    """`gitlink` where the commit is in the tree entry of a submodule."""
    downstream: str = ""
    """Name of the downstream in the configuration; empty for a plain scan."""
    id: str = ""
    """Stable name of the place: neither the line number nor the ref is part of it."""

    @property
    def wanted(self) -> str | None:
        """Return the ref that git is really given."""
        return self.resolved_ref or self.ref

    @property
    def place(self) -> str:
        """Return `file:line`."""
        return f"{self.file}:{self.line}"


# --- what an upstream says -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Ref:
    """One advertised ref."""

    name: str
    """Full name: `refs/heads/main`."""
    oid: Oid
    peeled: Oid | None = None
    """For an annotated tag: the object that the tag (of a tag …) finally names."""

    @property
    def commit(self) -> Oid:
        """Return the object behind all tags."""
        return self.peeled or self.oid


@dataclass(frozen=True, slots=True, kw_only=True)
class Handshake:
    """What is remembered of an upstream's last answer, so that the next one costs little."""

    object_format: str
    filters: bool
    reply: str
    """Equal ones mean that the server said the same, byte by byte, to the same question; empty where it is unknown."""
    moved_to: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Same:
    """An upstream answered exactly what it answered before: the last advertisement still holds."""

    handshake: Handshake


@dataclass(frozen=True, slots=True, kw_only=True)
class Advertisement:
    """The refs that a server advertised at one moment."""

    refs: tuple[Ref, ...]
    """`refs/heads/*` and `refs/tags/*`, sorted by name; never HEAD, never pull refs."""
    head: str | None
    """The branch that HEAD points to (full name), None when HEAD is detached, unborn or not told."""
    digest: str
    """Equal digests mean equal advertisements."""
    object_format: str = "sha1"
    filters: bool = True
    """Whether the server offers partial clone (`filter`)."""
    moved_to: str | None = None
    """Where a permanent redirect led, in normalised form, when it was not the address asked."""
    pulls: tuple[Ref, ...] = ()
    """Refs of proposals (`refs/pull/*`, `refs/merge-requests/*`); asked for only when a pin needs them."""
    reply: str = field(default="", compare=False)
    """As of its handshake; the same refs may be told in other bytes."""

    @property
    def handshake(self) -> Handshake:
        """Return what to remember of it."""
        return Handshake(
            object_format=self.object_format, filters=self.filters, reply=self.reply, moved_to=self.moved_to
        )

    def tip(self, name: str) -> Oid | None:
        """Return the commit of a full ref name, or None."""
        return next((ref.commit for ref in self.refs if ref.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unobserved:
    """We could not look: neither an alarm nor an all-clear."""

    upstream: str
    reason: str
    """One line for people, without secrets."""
    missing: bool = False
    """The server said that there is no such repository (404, "repository not found"): private or gone."""
    retry_after: float | None = None
    """Seconds that the server asked us to wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """One commit's metadata."""

    oid: Oid
    parents: tuple[Oid, ...]
    author: str
    email: str
    authored_at: datetime
    committed_at: datetime
    subject: str
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedPath:
    """One path that a change alters, against the first parent."""

    status: str
    """git's letter: A, M, D, T."""
    path: str
    blob_before: Oid | None
    blob_after: Oid | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What landed together on a line: a merge with its side commits, a squash, or one direct commit."""

    landing: Oid
    """The published commit with which it arrived."""
    before: Oid | None
    """First parent of the landing: the line's state without the change."""
    commits: tuple[Oid, ...]
    """The commits that carry the work: the side commits of a merge (oldest first), else the landing itself."""
    title: str
    pull_request: int | None = None
    branch: str | None = None
    """Name of the merged branch, as the merge subject tells it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Discussion:
    """What a forge tells of the pull request with which a change landed."""

    number: int
    labels: tuple[str, ...] = ()
    issue_labels: tuple[str, ...] = ()
    """The labels of the issues that it closes."""


# --- what is known about the lines a change repairs ------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """One hunk of a diff without context."""

    old_start: int
    """First removed line; for a pure addition, the line after which text is added (0: before the first)."""
    old: tuple[str, ...]
    new_start: int
    new: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDiff:
    """How one file differs between two commits."""

    path: str
    """Path after; for a deleted file, the path before."""
    old_path: str | None
    """Path before; None for a new file."""
    hunks: tuple[Hunk, ...]
    binary: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LineRange:
    """Lines of a file at a commit, 1-based, both ends included."""

    first: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BlamedLine:
    """Where one line came from."""

    line: int
    """1-based line in the blamed file."""
    text: str
    origin: Oid
    """The commit that introduced the line; the boundary commit where blame was bounded."""
    origin_path: str
    origin_line: int
    origin_date: int = 0
    """When the origin was committed, in seconds since 1970, UTC."""
    is_boundary: bool = False
    """The line is at least as old as the bound (or came with a root commit)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """One line that a fix removes, alters or guards, and the commits that made it what it is."""

    path: str
    line: int
    """1-based, in the file before the fix."""
    text: str
    is_removed: bool
    """True where the fix removes or alters the line; False where it only stands beside added lines."""
    origins: tuple[Oid, ...]
    """The introducing commit first, then those of the lines it replaced, back in time."""
    is_older: bool = False
    """The last origin is a boundary: the line is older than every pin that we asked for."""
    is_wrapped: bool = False
    """The fix put code around the line, and indented it for that."""
    paths: tuple[str, ...] = ()
    """Every path which the line had on its way, newest first."""
    wordings: tuple[str, ...] = ()
    """Every text which the line had on its way, newest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """The lines that a change repairs: a fact about the change, the same for every pin."""

    landing: Oid
    bound: Oid | None
    """Blame went back to this commit; None: to the root."""
    anchors: tuple[Anchor, ...]
    added: int
    """Added lines of shipped source files."""
    removed: int
    nearby: Mapping[str, Oid] = field(default_factory=dict)
    """Path → the newest commit that made a line close to its anchors, where any of those is newer than the bound."""


class Grade(StrEnum):
    """How sure it is that a change is a fix."""

    CERTAIN = "certain"
    LIKELY = "likely"
    POSSIBLE = "possible"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One reason to call a change a fix."""

    signal: str
    """Public word: `branch-name`, `subject`, `body`, `trailer`, `revert`, `advisory`, `test`, `shape` …"""
    detail: str
    weight: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """A change that repairs something, with the evidence why we say so."""

    id: str
    upstream: str
    change: Change
    grade: Grade
    evidence: tuple[Evidence, ...]
    paths: tuple[str, ...]
    """The shipped paths that it alters."""
    created: frozenset[str] = frozenset()
    """Those of them that did not exist before it."""
    is_security: bool = False
    introduced: tuple[Oid, ...] = ()
    """The commits which the message names as the ones that brought the bug."""
    completes: tuple[Oid, ...] = ()
    """The commits which the message follows up."""


class Answer(StrEnum):
    """Whether a pin has the lines that a fix repairs."""

    YES = "yes"
    NO = "no"
    UNSURE = "unsure"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What one fix means for one pin."""

    fix: str
    answer: Answer
    where: tuple[str, ...]
    """`path:line` in the pinned tree."""
    reason: str
    contained_as: Oid | None = None
    """The pin already has the fix, as this commit."""
    basis: str = ""
    """What the answer rests on, a word of `judge.affected.CHANCES`."""
    chance: float = 0.5
    """How likely it is that the pin has the bug and lacks the fix, 0 to 1: how often it was so where that was known."""


# --- what we say ----------------------------------------------------------------------------------------------------


class ReachabilityClass(StrEnum):
    """What keeps a pinned commit alive, strongest first (DESIGN.md §3.1)."""

    DEFAULT = "default"
    RELEASE_TAG = "release-tag"
    BRANCH = "branch"
    TAG_OFF_LINEAGE = "tag-off-lineage"
    PULL_ONLY = "pull-only"
    ORPHANED = "orphaned"
    SERVED_ONLY = "served-only"
    GONE = "gone"
    UNKNOWN = "unknown"

    @property
    def is_lost(self) -> bool:
        """Answer whether no ref holds the commit."""
        return self in {ReachabilityClass.ORPHANED, ReachabilityClass.SERVED_ONLY, ReachabilityClass.GONE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reachability:
    """Whether and by what a pinned commit is still reachable."""

    cls: ReachabilityClass
    refs: tuple[str, ...] = ()
    detail: str = ""
    since: datetime | None = None
    """For an orphaned commit: when a ref was last seen holding it."""
    twin: Oid | None = None
    """The same change under another id on what replaced the lost ref."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One ref that is not where it was at the previous look."""

    ref: str
    before: Oid | None
    """None: the ref is new."""
    after: Oid | None
    """None: the ref was deleted."""
    forced: bool | None
    """Whether the move was no fast-forward; None where the graph cannot tell."""
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """One ref that was seen holding a pinned commit."""

    ref: str
    first_seen: datetime
    last_seen: datetime
    tip: Oid
    """Where the ref stood at `last_seen`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long an upstream could not be observed: every look since the last good one failed."""

    tries: int
    """Failed looks in a row."""
    since: datetime
    """When the first of them was."""
    missing_tries: int
    """How many of them were told that there is no such repository; other failures in between neither add nor reset."""
    missing_since: datetime | None
    """When the first of those was."""
    last_reason: str
    is_missing: bool
    """The last look was told that there is no such repository."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hosted:
    """What a forge says of an upstream's repository as a whole."""

    api: str
    """Where it was asked: an id means nothing elsewhere."""
    id: str
    """Stays when the repository is renamed or handed over; only ever compared."""
    address: str
    """Where the repository is today, normalised."""
    is_archived: bool = False
    is_private: bool = False

    def is_at(self, upstream: str) -> bool:
        """Answer whether it still bears the upstream's name: forges tell no names apart by case."""
        return self.address.casefold() == upstream.casefold()


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What is known of which repository stands behind an upstream's address."""

    roots: frozenset[Oid] = frozenset()
    """Root commits that were ever seen there."""
    aliases: frozenset[str] = frozenset()
    """Addresses that it was ever seen to move to."""
    id: str | None = None
    """By which id its forge knew it; of a repository that took its place there is nothing here."""
    hosted: Hosted | None = None
    """What its forge said last, be it of another repository."""

    def id_at(self, api: str) -> str | None:
        """Return the id, where it was told at this API: another one counts on its own."""
        return self.id if self.hosted and self.hosted.api == api else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """One step of the ladder: a target, and what it brings over the pin."""

    to: Oid
    fixes: tuple[str, ...]
    commits: int
    landings: int
    line: str
    """The published line (full ref name) that the target was found on."""
    committed_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A bump that we propose."""

    pin: str
    from_: Oid
    target: Rung
    """The smallest commit with every fix worth a bump."""
    ladder: tuple[Rung, ...]
    """Every step from the cheapest fix to all of them, the possible ones included."""
    fast_forward: bool
    verdicts: tuple[Verdict, ...]
    version_from: str | None = None
    version_to: str | None = None
    cautions: tuple[str, ...] = ()
    contract: tuple[str, ...] = ()
    """Build-contract files which the bump alters (pyproject, setup.py, CMake, submodules)."""
    files: Mapping[str, int] = field(default_factory=dict)
    """How many shipped files the bump alters, by the variant that their path names."""


class Relation(StrEnum):
    """How the pins of one dependency stand to each other across variants."""

    SAME = "same"
    ALIGNED = "aligned"
    BEHIND = "behind"
    DIVERGED = "diverged"
    FLOATING_VS_PINNED = "floating-vs-pinned"
    OTHER_REPOSITORY = "other-repository"
    UNKNOWN = "unknown"
    """An upstream of the group was not observed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """How one dependency stands across its variants."""

    name: str
    relation: Relation
    variants: Mapping[str, str]
    """Variant → commit, or the ref's text where no commit is known."""
    pins: tuple[str, ...]
    lacks: Mapping[str, tuple[str, ...]]
    """Variant → fixes that another variant has and this one is affected by and lacks."""
    has: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Variant → those of them that it has."""
    align: Mapping[str, Oid]
    """Variant → smallest commit that brings it level."""
    is_breach: bool
    """Whether the policy makes a finding of it."""


class Severity(StrEnum):
    """How loudly a finding is told."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """Return 0 for low … 3 for critical."""
        return _RANKS[self]


_RANKS = {severity: rank for rank, severity in enumerate(Severity)}


class Kind(StrEnum):
    """What kind of finding it is; docs and anchors use the same words."""

    PIN_ABSENT = "pin-absent"
    UPSTREAM_GONE = "upstream-gone"
    UPSTREAM_REPLACED = "upstream-replaced"
    PIN_UNREACHABLE = "pin-unreachable"
    FIX_AVAILABLE = "fix-available"
    VARIANT_DRIFT = "variant-drift"
    TAG_MOVED = "tag-moved"
    PIN_ON_PULL_ONLY = "pin-on-pull-only"
    PIN_AMBIGUOUS = "pin-ambiguous"
    UPSTREAM_MOVED = "upstream-moved"
    UPSTREAM_UNOBSERVED = "upstream-unobserved"
    PIN_FLOATING = "pin-floating"
    PIN_ON_TAG_ONLY = "pin-on-tag-only"
    BRANCH_REWOUND = "branch-rewound"
    UPSTREAM_ARCHIVED = "upstream-archived"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a pin stands, for people."""

    text: str
    """`file:line`."""
    variant: str = "any"
    url: str | None = None
    """Where a browser shows that line; None where nobody can tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One variant of a dependency that drifted."""

    variant: str
    stands: str
    """What it is pinned to, in a few words."""
    has: tuple[str, ...] = ()
    """Fixes in words that it has, of those that another variant lacks."""
    lacks: tuple[str, ...] = ()
    """Fixes in words that it is affected by and lacks, while another variant has them."""
    target: Oid | None = None
    """The smallest commit that brings it level."""
    compare: str | None = None
    """Where a browser shows what lies between the two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Concern:
    """Something that this pass found wrong: a finding without a life yet."""

    key: str
    """kind + pin or dependency + what makes it this one; never wording, never a line number."""
    kind: Kind
    severity: Severity
    headline: str
    detail: tuple[str, ...] = ()
    """Evidence and advice, one sentence each."""
    advice: str = ""
    """What to do, in one line."""
    pin: str | None = None
    upstream: str | None = None
    place: str | None = None
    """`file:line` of the pin now."""
    target: Oid | None = None
    since: datetime | None = None
    """When the thing happened, where that is known; else when it was first seen."""
    is_event: bool = False
    """It happened once (a tag moved): it stays open until acknowledged, though the next pass no longer sees it."""
    dependency: str = ""
    """What people call the thing that is pinned."""
    places: tuple[Place, ...] = ()
    """Where the pins stand that it is about."""
    compare: str | None = None
    """Where a browser shows what lies between the pin and the target."""
    sides: tuple[Side, ...] = ()
    """Of a drift: the variants, side by side."""
    lines: tuple[Place, ...] = ()
    """Some lines of what is pinned that a fix repairs, and where a browser shows who wrote them."""

    @property
    def variants(self) -> tuple[str, ...]:
        """Return the variants that it is about, each once."""
        return tuple(dict.fromkeys((*(it.variant for it in self.places), *(it.variant for it in self.sides))))


class State(StrEnum):
    """Where a finding is in its life."""

    OPEN = "open"
    ACKNOWLEDGED = "acknowledged"
    SNOOZED = "snoozed"
    RESOLVED = "resolved"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something a person should know, with a stable key and a life."""

    concern: Concern
    state: State
    opened_at: datetime
    changed_at: datetime
    snoozed_until: datetime | None = None
    note: str = ""
    """Why it was acknowledged, or what resolved it."""
    link: str | None = None
    """Where a browser shows what resolved it."""
    by: str = ""
    """Who acted last, where that was a person who is known by name."""
    is_dismissed: bool = False
    """A person said that it is not a fix: its landing is not told again, for any pin."""

    @property
    def key(self) -> str:
        """Return the stable key."""
        return self.concern.key

    @property
    def handle(self) -> str:
        """Return a short name to type: seven hex digits made of the key."""
        return sha256(self.key.encode("utf-8", "surrogateescape")).hexdigest()[:7]

    @property
    def is_live(self) -> bool:
        """Answer whether it counts for the exit code: neither resolved, acknowledged nor snoozed."""
        return self.state is State.OPEN


class EventKind(StrEnum):
    """What happened to a finding."""

    OPENED = "opened"
    CHANGED = "changed"
    ACKNOWLEDGED = "acknowledged"
    SNOOZED = "snoozed"
    WOKE = "woke"
    RESOLVED = "resolved"
    REOPENED = "reopened"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One step in a finding's life."""

    kind: EventKind
    finding: Finding
    at: datetime
    is_baseline: bool = False
    """It belongs to a first run: told in one summary, unless it is critical."""

    @property
    def id(self) -> str:
        """Return what makes it this event: the same step of the same finding has the same id, told however often."""
        return f"{self.finding.key} {self.kind} {self.at.isoformat()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A pin that a downstream moved, or removed, between two readings."""

    pin: Pin
    """As it was."""
    after: Pin | None
    """As it is; None where it is gone."""
    at: datetime
    """When we saw it."""
    landing: Oid | None = None
    """The commit of the downstream that did it, where that can be told."""
    subject: str = ""
    url: str | None = None
    """Where a browser shows that commit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a downstream held when it was read."""

    name: str
    pins: tuple[Pin, ...]
    warnings: tuple[str, ...] = ()
    """Files that could not be read, one line each."""
    commit: Oid | None = None
    """The commit that was read; None for files that are in no repository."""
    address: str | None = None
    """The downstream's own repository, normalised, where it is known."""
    prefix: str = ""
    """The folder of that repository which was read, with `/` at its end; empty for all of it."""
    inputs: str = ""
    """A digest of what the pins follow from, beside the commit; empty where they are to be read anew each time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """Everything that one pass found, for the reports."""

    at: datetime
    pins: tuple[Pin, ...]
    commits: Mapping[str, Oid]
    """Pin id → the commit it stands for; pins whose commit could not be had are left out."""
    reachability: Mapping[str, Reachability]
    """Pin id → class; pins of an unobserved upstream are `unknown`."""
    dates: Mapping[str, datetime] = field(default_factory=dict)
    """Pin id → when its commit was committed, where that is known."""
    fixes: tuple[Fix, ...]
    """The fixes that concern a pin, or that one variant has over another."""
    suggestions: tuple[Suggestion, ...]
    drift: tuple[Drift, ...]
    findings: tuple[Finding, ...]
    events: tuple[Event, ...] = ()
    unobserved: tuple[Unobserved, ...] = ()
    observed: frozenset[str] = frozenset()
    """The upstreams that were observed."""
    warnings: tuple[str, ...] = ()
    """Files that could not be read, one line each."""
    is_first: bool = False
    """It was the first pass of this configuration: a baseline."""
