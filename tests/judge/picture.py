"""Histories for pure tests: a drawing becomes graph, refs and metadata; no git, oids are made of the names."""

import re
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha1

from watcher.demo.drawing import read
from watcher.graph import Graph
from watcher.judge.changes import landings
from watcher.judge.equivalents import Index, equivalents
from watcher.model import Advertisement, Change, Commit, Fix, Grade, Oid, Pin, Ref, RefKind, oid
from watcher.numbered import Listed
from watcher.observation import Observation, Position

FIRST_DAY = datetime(2026, 1, 1, tzinfo=UTC)
NOW = datetime(2026, 8, 20, 9, tzinfo=UTC)
UPSTREAM = "https://example.org/owner/project"


def named(name: str) -> Oid:
    """Return the oid that stands for a name, the same one everywhere; a full oid stands for itself."""
    return oid(name) if re.fullmatch(r"[0-9a-f]{40}", name) else oid(sha1(name.encode()).hexdigest())  # noqa: S324


def day(number: int) -> datetime:
    """Return the time at which a commit of that generation was made."""
    return FIRST_DAY + timedelta(days=number)


@dataclass(frozen=True)
class Picture:
    """What was drawn."""

    seen: Observation
    names: Mapping[Oid, str]

    @property
    def graph(self) -> Graph:
        """Return the graph."""
        return self.seen.graph

    @property
    def commits(self) -> Mapping[Oid, Commit]:
        """Return the metadata of every commit."""
        return self.seen.commits

    @property
    def refs(self) -> Advertisement:
        """Return the advertisement."""
        return self.seen.advertisement

    def name(self, found: Oid | None) -> str | None:
        """Return the drawn name of an oid."""
        return None if found is None else self.names[found]

    def spelled(self, found) -> set[str]:
        """Return the drawn names of several oids."""
        return {self.names[one] for one in found}

    def change(self, landing: str) -> Change:
        """Return what landed with a commit."""
        line = self.graph.first_parent_line(named(landing))
        return landings(line, None, self.graph, self.commits)[-1]

    def same(self, landing: str, patch_ids: Mapping[str, str] | None = None):
        """Return the equivalents of what landed with a commit."""
        ids = {named(name): patch for name, patch in (patch_ids or {}).items()}
        return equivalents(self.change(landing), Index(self.commits, ids), self.graph)

    def has(self, tip: str):
        """Return whether a commit is in the history of another."""
        return self.graph.ancestors(named(tip)).__contains__

    def pinned(self, *pins: Pin, **changes) -> Observation:
        """Return the observation in which each pin stands for the commit that its ref names."""
        positions = {pin.id: Position(commit=Oid(pin.ref)) for pin in pins if pin.ref_kind is RefKind.SHA}
        bound = self.graph.common_ancestor([at.commit for at in positions.values()]) if positions else None
        changes = {"positions": positions, "bound": bound} | changes
        return replace(self.seen, **changes)


def drawn(text: str, *, refs: Mapping[str, str] | None = None, head: str | None = "main", **words: Mapping) -> Picture:
    """Return a drawing as values; `refs` labels commits in the middle of a row, `words` are those of `pictured`."""
    drawing = read(text)
    named_head = drawing.head or head
    return pictured(
        drawing.parents,
        refs={**drawing.refs, **(refs or {})},
        head=f"refs/heads/{named_head}" if named_head else None,
        **words,
    )


def pictured(
    parents: Mapping[str, Sequence[str]],
    *,
    refs: Mapping[str, str],
    head: str | None = "refs/heads/main",
    messages: Mapping[str, str] | None = None,
    authors: Mapping[str, str] | None = None,
    authored: Mapping[str, int] | None = None,
    committed: Mapping[str, int] | None = None,
    pulls: Mapping[str, str] | None = None,
) -> Picture:
    """Return a history as values; `parents` and `refs` by name.

    `messages`: subject, blank line, body; `{A}` in them is the oid of A, `{A:.7}` its beginning. A commit's dates are
    its generation's day. Each star behind a ref's full name stands for a tag object around the commit.
    """
    oids = {name: named(name) for name in parents}
    graph = Graph({oids[name]: tuple(map(named, found)) for name, found in parents.items()})

    def commit(name: str) -> Commit:
        subject, _, body = (messages or {}).get(name, name).format_map(oids).partition("\n\n")
        born = graph.generations[oids[name]]
        return Commit(
            oid=oids[name],
            parents=graph.parents(oids[name]),
            author=(authors or {}).get(name, "A U Thor"),
            email="author@example.org",
            authored_at=day((authored or {}).get(name, born)),
            committed_at=day((committed or {}).get(name, born)),
            subject=subject,
            body=body,
        )

    advertisement = Advertisement(
        refs=tuple(sorted((_ref(*label) for label in refs.items()), key=lambda ref: ref.name)),
        head=head,
        digest=repr(sorted(refs.items())),
        pulls=tuple(Ref(name=name, oid=named(tip)) for name, tip in (pulls or {}).items()),
    )
    seen = Observation(
        upstream=UPSTREAM,
        at=NOW,
        advertisement=advertisement,
        graph=graph,
        commits={named(name): commit(name) for name in parents},
    )
    return Picture(seen=seen, names={oid: name for name, oid in oids.items()})


def row(*names: str) -> dict[str, tuple[str, ...]]:
    """Return the parents of commits in a row, oldest first: long rows are not for drawing."""
    return {name: names[at - 1 : at] if at else () for at, name in enumerate(names)}


class Counting(Listed):
    """A table that counts how often a commit's parents are looked at: what a walk costs, without a clock."""

    def __init__(self, parents) -> None:
        super().__init__(parents)
        self.first = Counted("i", self.first)

    @property
    def asked(self) -> int:
        """Return how often that was."""
        return self.first.asked

    @asked.setter
    def asked(self, count: int) -> None:
        self.first.asked = count


class Counted(array):
    """A column that counts how often it is looked at."""

    asked = 0

    def __getitem__(self, key):
        self.asked += 1
        return super().__getitem__(key)


def _ref(label: str, name: str) -> Ref:
    plain = label.rstrip("*")
    if plain == label:
        return Ref(name=plain, oid=named(name))
    return Ref(name=plain, oid=named(f"tag object {label}"), peeled=named(name))


def pin(
    ref: str | None = None,
    *,
    kind: RefKind = RefKind.SHA,
    variant: str = "cuda",
    name: str = "project",
    file: str = "docker/Dockerfile",
    line: int = 7,
    upstream: str | None = UPSTREAM,
) -> Pin:
    """Return a pin; for kind `sha`, `ref` is a drawn name."""
    written = named(ref) if kind is RefKind.SHA and ref else ref
    return Pin(
        name=name,
        upstream=upstream,
        ref=written,
        ref_kind=kind,
        file=file,
        line=line,
        variant=variant,
        downstream="ours",
        id=f"ours:{file}:{name}:{variant}",
    )


def fix_of(change: Change, *, grade: Grade = Grade.LIKELY, paths=("src/pool.py",), introduced=(), **more) -> Fix:
    """Return a change as a fix."""
    return Fix(
        id=f"owner/project@{change.landing[:12]}",
        upstream=UPSTREAM,
        change=change,
        grade=grade,
        evidence=(),
        paths=paths,
        introduced=tuple(map(named, introduced)),
        **more,
    )
