r"""Turn a history drawn as in git's manual pages into a real bare repository.

          X---Y            (topic)
         /     \
A---B---C---D---M---E      (main, tag: v1.0, tag: v2.0*)

A name is a commit that writes a file of that name. Time runs to the right; `-`, `/` and `\` join a commit to its
parents, the first parent stands on the commit's own row. Labels at the end of a row belong to its last commit, as in
`git log --decorate`: a branch, `tag: name`, `HEAD -> branch` or a full ref name. Each star behind a tag wraps it in
one annotated tag object. Drawing again is the forced update: what is not drawn any more is deleted.

A commit's date is its generation number, so its oid depends on what it holds and on its ancestors alone.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from watcher.errors import UsageError
from watcher.graph import Graph
from watcher.model import Oid, oid
from watcher.upstream.git import Git

_FIRST_DAY = datetime(2026, 1, 1, tzinfo=UTC)
_AUTHOR = "A U Thor <author@example.org>"
_COMMITTER = "C O Mitter <committer@example.org>"

_NAME = re.compile(r"[A-Za-z0-9_.'+]+")
_LABELS = re.compile(r"\(([^()]*)\)\s*$")
_OLDER = {"-": (0, -1), "/": (1, -1), "\\": (-1, -1), "|": (1, 0)}
_NEWER = {"-": (0, 1), "/": (-1, 1), "\\": (1, 1), "|": (-1, 0)}


@dataclass(frozen=True, slots=True)
class Gitlink:
    """The commit of a submodule, as the content of a path."""

    oid: Oid


Content = str | bytes | Gitlink | None
"""What a path holds: text, bytes, a submodule's commit; None deletes the path."""
Tree = dict[str, str | bytes | Gitlink]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """A drawing that was read: commits with their parents, and refs."""

    parents: Mapping[str, tuple[str, ...]]
    """Parents before children."""
    refs: Mapping[str, str]
    """Full ref name, with one star for each tag object around the commit → commit."""
    head: str | None = None
    """The branch that the drawing itself names as HEAD."""


def draw(
    repository: Path,
    text: str,
    *,
    messages: Mapping[str, str] | None = None,
    authors: Mapping[str, str] | None = None,
    dates: Mapping[str, datetime] | None = None,
    files: Mapping[str, Mapping[str, Content]] | None = None,
    refs: Mapping[str, str] | None = None,
    head: str | None = None,
    object_format: str = "sha1",
) -> dict[str, Oid]:
    """Make the bare repository's refs exactly what is drawn and return the oid of every name.

    `files` replaces the file that a commit would write by itself; trees are inherited from the first parent, a merge
    adds what its other sides changed. `refs` labels commits in the middle of a row, written as in `Drawing.refs`.
    What is said of names that are not drawn is passed over, so that one set of words serves several drawings.
    `head` is a branch name; without it HEAD is the branch that the drawing names, main, master or the first one.
    """
    drawing = read(text)
    named = {**drawing.refs, **(refs or {})}
    if unknown := set(named.values()) - set(drawing.parents):
        raise UsageError(f"no commit of that name is drawn: {', '.join(sorted(unknown))}")
    git = Git(directory=repository)
    if not (repository / "HEAD").exists():
        Git().run("init", "-q", "--bare", f"--object-format={object_format}", "--", str(repository))
        git.run("config", "uploadpack.allowFilter", "true")
    picture = _Picture(
        parents=drawing.parents,
        messages=messages or {},
        authors=authors or {},
        dates=dates or {},
        files=files or {},
    )
    printed = git.run("fast-import", "--quiet", "--force", stdin=picture.stream()).decode().split()
    oids = {name: oid(line) for name, line in zip(drawing.parents, printed, strict=True)}
    _label(git, {name: oids[commit] for name, commit in named.items()}, head or drawing.head)
    return oids


def read(text: str) -> Drawing:
    """Read the picture; raise UsageError that says which row cannot be read."""
    rows = text.expandtabs().splitlines()
    cells: dict[tuple[int, int], str] = {}
    places: dict[str, int] = {}
    refs: dict[str, str] = {}
    head = None
    for number, row in enumerate(rows):
        labels = _LABELS.search(row)
        picture = row[: labels.start()] if labels else row
        names = list(_NAME.finditer(picture))
        for name in names:
            if name[0] in places:
                raise UsageError(f"row {number + 1}: {name[0]} is drawn twice: {row.strip()}")
            places[name[0]] = number
            cells |= {(number, column): name[0] for column in range(*name.span())}
        for column, character in enumerate(picture):
            if character in _OLDER:
                cells[number, column] = character
            elif not character.isspace() and (number, column) not in cells:
                raise UsageError(f"row {number + 1}: {character!r} is neither a name nor a line: {row.strip()}")
        if labels and not names:
            raise UsageError(f"row {number + 1}: labels without a commit: {row.strip()}")
        for label in _split(labels[1]) if labels else ():
            target = label.removeprefix("HEAD -> ")
            head = target if target != label else head
            refs[_full_name(target)] = names[-1][0]
    return Drawing(parents=_oldest_first(_parents(cells, places)), refs=refs, head=head)


def _split(labels: str) -> list[str]:
    """Return the labels between the parentheses."""
    return [label.strip() for label in labels.split(",") if label.strip()]


def _full_name(label: str) -> str:
    """Return the full ref name of a label."""
    if label.startswith("tag:"):
        return f"refs/tags/{label.removeprefix('tag:').strip()}"
    return label if label.startswith("refs/") else f"refs/heads/{label}"


def _parents(cells: Mapping[tuple[int, int], str], places: Mapping[str, int]) -> dict[str, tuple[str, ...]]:
    """Follow every line to both of its ends."""
    edges: dict[str, set[str]] = {name: set() for name in places}
    for place, character in cells.items():
        if character in _OLDER:
            edges[_end(cells, place, _NEWER)].add(_end(cells, place, _OLDER))
    parents = {}
    for name, found in edges.items():
        row = places[name]
        parents[name] = tuple(sorted(found, key=lambda parent: (places[parent] != row, places[parent], parent)))
        if len(found) > 1 and sum(places[parent] == row for parent in found) != 1:
            raise UsageError(f"row {row + 1}: the merge {name} needs its first parent on its own row")
    return parents


def _end(cells: Mapping[tuple[int, int], str], place: tuple[int, int], steps: Mapping[str, tuple[int, int]]) -> str:
    """Return the name at one end of the line that runs through the place."""
    start, character = place, cells[place]
    while character in steps:
        # A level line may run into a sloping one on the next row.
        turns = (character, "/", "\\") if character == "-" else (character,)
        places = [(turn, (place[0] + steps[turn][0], place[1] + steps[turn][1])) for turn in turns]
        place = next((p for turn, p in places if p in cells and turn in {character, cells[p]}), places[0][1])
        character = cells.get(place, "")
    if not character:
        raise UsageError(f"row {start[0] + 1}, column {start[1] + 1}: the line {cells[start]!r} leads to no commit")
    return character


def _oldest_first(parents: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Return the same mapping with parents before children."""
    ordered: dict[str, tuple[str, ...]] = {}
    while len(ordered) < len(parents):
        ready = [name for name in parents if name not in ordered and all(p in ordered for p in parents[name])]
        if not ready:
            raise UsageError("the drawing runs in a circle")
        ordered |= {name: parents[name] for name in ready}
    return ordered


@dataclass(frozen=True, slots=True, kw_only=True)
class _Picture:
    """The drawn commits with all that goes into them, ready for `git fast-import`."""

    parents: Mapping[str, tuple[str, ...]]
    messages: Mapping[str, str]
    authors: Mapping[str, str]
    dates: Mapping[str, datetime]
    files: Mapping[str, Mapping[str, Content]]
    trees: dict[str, Tree] = field(default_factory=dict)

    @property
    def graph(self) -> Graph:
        """Return the drawn graph; names stand for oids."""
        return Graph({Oid(name): tuple(map(Oid, parents)) for name, parents in self.parents.items()})

    def stream(self) -> bytes:
        """Return the fast-import stream; it prints the oid of each commit in the order of `parents`."""
        graph = self.graph
        marks = {name: mark for mark, name in enumerate(self.parents, 1)}
        parts: list[bytes] = []
        for name in self.parents:
            self.trees[name] = self._tree(name, graph)
            parts += self._commit(name, graph.generations[Oid(name)], marks)
        return b"".join(parts)

    def _commit(self, name: str, generation: int, marks: Mapping[str, int]) -> Iterable[bytes]:
        """Return the commands that make one commit."""
        when = self.dates.get(name, _FIRST_DAY + timedelta(hours=generation))
        stamp = f"{int(when.timestamp())} +0000"
        links = [f"{word} :{marks[parent]}\n" for word, parent in zip(_words(), self.parents[name], strict=False)]
        yield f"reset refs/drawing\n\ncommit refs/drawing\nmark :{marks[name]}\n".encode()
        yield f"author {self.authors.get(name, _AUTHOR)} {stamp}\ncommitter {_COMMITTER} {stamp}\n".encode()
        yield _data(self.messages.get(name, name).encode())
        yield "".join(links).encode() + b"deleteall\n"
        for path, content in sorted(self.trees[name].items()):
            yield _entry(path, content)
        yield f"\nget-mark :{marks[name]}\n".encode()

    def _tree(self, name: str, graph: Graph) -> Tree:
        """Return what a commit holds: its first parent's tree, what other parents changed, and its own files."""
        first, *others = self.parents[name] or (None,)
        tree: dict[str, Content] = {**self.trees[first]} if first else {}
        for other in others:
            tree |= _difference(self._base(first, other, graph), self.trees[str(other)])
        own: Mapping[str, Content] = {} if others else {name: f"{name}\n"}
        tree |= self.files.get(name, own)
        return {path: content for path, content in tree.items() if content is not None}

    def _base(self, first: str | None, other: str | None, graph: Graph) -> Tree:
        """Return the tree of one merge base, empty for unrelated histories."""
        bases = graph.merge_bases(Oid(str(first)), Oid(str(other)))
        return self.trees[min(bases)] if bases else {}


def _words() -> Iterable[str]:
    """Yield fast-import's word for the first parent, then the one for all others."""
    yield "from"
    while True:
        yield "merge"


def _difference(before: Tree, after: Tree) -> dict[str, Content]:
    """Return the paths that differ, with what they hold afterwards."""
    return {path: after.get(path) for path in {*before, *after} if before.get(path) != after.get(path)}


def _entry(path: str, content: str | bytes | Gitlink) -> bytes:
    """Return the command that puts one path into a commit."""
    quoted = '"' + path.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n") + '"'
    match content:
        case Gitlink():
            return f"M 160000 {content.oid} {quoted}\n".encode()
        case str():
            return f"M 100644 inline {quoted}\n".encode() + _data(content.encode())
        case bytes():
            return f"M 100644 inline {quoted}\n".encode() + _data(content)


def _data(content: bytes) -> bytes:
    """Return fast-import's form of a counted string."""
    return b"data %d\n%b\n" % (len(content), content)


def _label(git: Git, drawn: Mapping[str, Oid], head: str | None) -> None:
    """Make the refs exactly those drawn, and point HEAD."""
    wanted = {}
    for name, commit in drawn.items():
        plain = name.rstrip("*")
        wanted[plain] = _wrap(git, plain.removeprefix("refs/tags/"), commit, len(name) - len(plain))
    held = git.run("for-each-ref", "--format=%(refname)").decode().split("\n")[:-1]
    # Deleted first, in a transaction of its own: `topic` may have become `topic/one`. The ref that carried the commits
    # while they were made goes with them.
    git.run("update-ref", "--stdin", stdin="".join(f"delete {name}\n" for name in held if name not in wanted).encode())
    git.run("update-ref", "--stdin", stdin="".join(f"update {n} {o}\n" for n, o in wanted.items()).encode())
    branches = [name.removeprefix("refs/heads/") for name in wanted if name.startswith("refs/heads/")]
    first = next((name for name in ("main", "master", *branches) if name in branches), "main")
    git.run("symbolic-ref", "HEAD", f"refs/heads/{head or first}")


def _wrap(git: Git, name: str, target: Oid, depth: int) -> Oid:
    """Return the target inside `depth` annotated tag objects."""
    kind = "commit"
    for _ in range(depth):
        stamp = int(_FIRST_DAY.timestamp())
        text = f"object {target}\ntype {kind}\ntag {name}\ntagger {_COMMITTER} {stamp} +0000\n\n{name}\n"
        target = oid(git.run("hash-object", "-w", "-t", "tag", "--stdin", stdin=text.encode()).decode().strip())
        kind = "tag"
    return target
