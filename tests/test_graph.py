"""Both graphs answer as git does, on random histories."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise, product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from watcher.commitgraph import Mapped, layer
from watcher.graph import Graph
from watcher.model import Oid, oid
from watcher.upstream.git import Git


@dataclass(frozen=True)
class Kind:
    """How git keeps a history."""

    hashes: str = "sha1"
    generation: int = 2
    layers: int = 1
    """In so many files, one on top of the other."""
    newest: int = 0
    """So many commits are in none of them."""


KINDS = {
    "one file": Kind(),
    "old generations": Kind(generation=1),
    "chain": Kind(layers=3),
    "chain of old generations": Kind(layers=2, generation=1),
    "newer commits": Kind(newest=4),
    "newer commits on a chain": Kind(layers=2, newest=2),
    "sha256": Kind(hashes="sha256", layers=2, newest=1),
}


@dataclass(frozen=True)
class History:
    """The same random commits, for git and for the graphs."""

    git: Git
    shape: list[list[int]]
    oids: tuple[Oid, ...]

    def told(self, *args, check=(0,)) -> list[str]:
        """Return the words that git prints."""
        return self.git.run(*args, check=check).decode().split()

    @property
    def parents(self) -> dict[Oid, tuple[Oid, ...]]:
        """Return each commit's parents, as they were drawn."""
        return {
            commit: tuple(self.oids[parent] for parent in self.shape[number]) for number, commit in enumerate(self.oids)
        }

    @property
    def plain(self) -> Graph:
        """Return the graph of the parents."""
        return Graph(self.parents)

    def mapped(self, kind: Kind, tips: Sequence[Oid] = ()) -> Graph:
        """Return the graph in git's own files, of what some tips reach; of all commits where none are named."""
        info = self.git.directory / "objects" / "info"
        chain = info / "commit-graphs" / "commit-graph-chain"
        chain.unlink(missing_ok=True)
        (info / "commit-graph").unlink(missing_ok=True)
        filed = self.oids[: max(1, len(self.oids) - kind.newest)]
        config = (("commitGraph.generationVersion", str(kind.generation)),)
        for at in range(kind.layers):
            asked = "".join(f"{commit}\n" for commit in filed[: (at + 1) * len(filed) // kind.layers])
            split = ("--split=no-merge",) if kind.layers > 1 else ()
            write = Git(directory=self.git.directory, config=config)
            write.run("commit-graph", "write", "--stdin-commits", "--no-progress", *split, stdin=asked.encode())
        single = info / "commit-graph"
        names = () if single.exists() else chain.read_text().split()
        paths = [single] if single.exists() else [chain.with_name(f"graph-{name}.graph") for name in names]
        layers = [layer(memoryview(path.read_bytes())) for path in paths]
        newer = {commit: above for commit, above in self.parents.items() if commit not in filed}
        return Graph(Mapped(layers, tips or self.oids, newer))


@st.composite
def shapes(draw, most=30):
    """Draw parents for each of a few commits: roots, chains, merges, octopuses, criss-crosses."""
    count = draw(st.integers(2, most))
    return [
        draw(st.lists(st.integers(max(0, number - 6), number - 1), max_size=4, unique=True)) if number else []
        for number in range(count)
    ]


def imported(shape, folder, hashes="sha1") -> History:
    """Return the history of a shape; a ref holds what was imported last."""
    git = Git(directory=folder)
    if not folder.exists():
        Git().run("init", "-q", "--bare", f"--object-format={hashes}", "--", str(folder))
    parts = []
    for number, parents in enumerate(shape):
        words = ("from", *["merge"] * len(parents))
        links = "".join(f"{word} :{parent + 1}\n" for word, parent in zip(words, parents, strict=False))
        parts.append(
            f"reset refs/heads/x\n\ncommit refs/heads/x\nmark :{number + 1}\n"
            f"committer A <a@b> {1000 + number} +0000\ndata 3\n{number:03}\n{links}\nget-mark :{number + 1}\n"
        )
    oids = tuple(map(oid, git.run("fast-import", "--quiet", "--force", stdin="".join(parts).encode()).decode().split()))
    return History(git=git, shape=shape, oids=oids)


@pytest.fixture
def folder(tmp_path):
    """Return one repository for all examples: objects may pile up in it."""
    return tmp_path / "random.git"


@pytest.fixture(params=["plain", *KINDS])
def made(request, folder):
    """Return what makes a history and its graph, each kind of graph in turn."""
    kind = KINDS.get(request.param, Kind())

    def make(shape):
        history = imported(shape, folder, kind.hashes)
        return history, history.plain if request.param == "plain" else history.mapped(kind)

    return make


few = partial(
    settings, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@few(max_examples=5)
@given(shape=shapes(), data=st.data())
def test_questions_about_two_commits(made, shape, data):
    """Ancestry, what lies between, and the merge bases are git's."""
    history, graph = made(shape)
    one, other = data.draw(st.sampled_from(history.oids)), data.draw(st.sampled_from(history.oids))
    assert history.git.answers("merge-base", "--is-ancestor", one, other) == graph.is_ancestor(one, other)
    assert set(history.told("rev-list", f"{one}..{other}")) == graph.between(one, other)
    assert set(history.told("merge-base", "--all", one, other, check=(0, 1))) == graph.merge_bases(one, other)


@few(max_examples=5)
@given(shape=shapes(), data=st.data())
def test_questions_about_one_commit(made, shape, data):
    """Its ancestors, its first-parent line, its parents."""
    history, graph = made(shape)
    tip = data.draw(st.sampled_from(history.oids))
    assert set(history.told("rev-list", tip)) == graph.ancestors(tip)
    assert history.told("rev-list", "--first-parent", "--reverse", tip) == list(graph.first_parent_line(tip))
    assert tuple(history.told("log", "-1", "--format=%P", tip)) == graph.parents(tip)


@few(max_examples=5)
@given(shape=shapes(), data=st.data())
def test_questions_about_many_commits(made, shape, data):
    """Who holds what, what refs reach, and what each state of a line brought."""
    history, graph = made(shape)
    tips = data.draw(st.lists(st.sampled_from(history.oids), min_size=1, max_size=5, unique=True))
    commit = data.draw(st.sampled_from(history.oids))
    named = {f"refs/tips/{at}": tip for at, tip in enumerate(tips)}
    updates = "".join(f"update {name} {tip}\n" for name, tip in named.items())
    history.git.run("update-ref", "--stdin", stdin=updates.encode())
    holding = history.told("for-each-ref", "--contains", commit, "--format=%(refname)", *named)
    held = graph.holders(history.oids, tips)
    assert holding == [name for at, name in enumerate(named) if held[commit] >> at & 1]
    lines = [history.told("rev-list", "--first-parent", tip) for tip in tips]
    chained = graph.holders(history.oids, tips, first_parent=True)
    assert [commit in line for line in lines] == [bool(chained[commit] >> at & 1) for at in range(len(tips))]
    assert set(history.told("rev-list", *tips)) == graph.reached(tips)
    line = graph.first_parent_line(tips[0])
    brought = [set(history.told("rev-list", after, f"^{before}")) for before, after in pairwise(line)]
    assert brought == list(graph.increments(line))[1:]


@few(max_examples=5)
@given(shape=shapes(), data=st.data())
def test_the_common_ancestor_of_several(made, shape, data):
    """It is the newest that git would name, or none where git names none."""
    history, graph = made(shape)
    tips = data.draw(st.lists(st.sampled_from(history.oids), min_size=1, max_size=4))
    shared = set.intersection(*(set(history.told("rev-list", tip)) for tip in tips))
    newest = max(shared, key=lambda commit: (history.plain.generations[commit], commit), default=None)
    assert newest == graph.common_ancestor(tips)


@few(max_examples=25)
@given(shape=shapes(most=60), kind=st.sampled_from([kind for kind in KINDS.values() if kind.hashes == "sha1"]))
def test_both_graphs_say_the_same(folder, shape, kind):
    """Whatever is asked."""
    history = imported(shape, folder)
    plain, mapped = history.plain, history.mapped(kind)
    assert set(plain) == set(mapped)
    assert len(plain) == len(mapped)
    assert plain.roots == mapped.roots
    assert dict(plain.generations) == dict(mapped.generations)
    assert plain.oldest_first(plain) == mapped.oldest_first(mapped)
    for one, other in product(history.oids[::3], repeat=2):
        assert plain.is_ancestor(one, other) == mapped.is_ancestor(one, other)
        assert plain.between(one, other) == set(mapped.between(one, other))
        assert plain.merge_bases(one, other) == set(mapped.merge_bases(one, other))
        assert plain.ancestors(one, without={other}) == set(mapped.ancestors(one, without={other}))
        assert plain.common_ancestor([one, other]) == mapped.common_ancestor([one, other])
    for commit in history.oids:
        assert plain.parents(commit) == mapped.parents(commit)
        assert plain.descendants(commit) == set(mapped.descendants(commit))
        assert list(plain.first_parent_line(commit)) == list(mapped.first_parent_line(commit))
    tips = history.oids[::5]
    assert plain.holders(history.oids, tips) == mapped.holders(history.oids, tips)
    assert plain.reached(tips) == set(mapped.reached(tips))


@few(max_examples=25)
@given(shape=shapes(most=40), kind=st.sampled_from([KINDS["one file"], KINDS["chain"]]), data=st.data())
def test_what_no_tip_reaches_is_not_held(folder, shape, kind, data):
    """The file may know more than the refs: that does not count."""
    history = imported(shape, folder)
    tips = data.draw(st.lists(st.sampled_from(history.oids), min_size=1, max_size=3, unique=True))
    held = set(history.plain.ancestors(*tips))
    plain = Graph({commit: parents for commit, parents in history.parents.items() if commit in held})
    mapped = history.mapped(kind, tips)
    assert held == set(mapped)
    assert len(held) == len(mapped)
    assert plain.roots == mapped.roots
    for commit in history.oids:
        assert (commit in plain) == (commit in mapped)
        assert plain.ancestors(commit) == set(mapped.ancestors(commit))
        assert plain.descendants(commit) == set(mapped.descendants(commit))
        assert plain.reached([commit]) == set(mapped.reached([commit]))
        assert len(plain.reached([commit])) == len(mapped.reached([commit]))
    assert plain.holders(history.oids, tips[:1]) == mapped.holders(history.oids, tips[:1])


@few(max_examples=20)
@given(shape=shapes())
def test_order_and_generations(folder, shape):
    """A generation number is the longest way to a root; parents come before children."""
    history = imported(shape, folder)
    graph, generations = history.plain, history.plain.generations
    for commit in history.oids:
        assert 1 + max((generations[parent] for parent in graph.parents(commit)), default=0) == generations[commit]
        assert len(graph.ancestors(commit)) >= generations[commit]
    ordered = graph.oldest_first(history.oids)
    assert set(ordered) == set(history.oids)
    for commit in history.oids:
        assert all(ordered.index(parent) < ordered.index(commit) for parent in graph.parents(commit))


def test_commits_that_are_not_held_reach_nothing():
    """And nothing reaches them."""
    known, unknown = Oid("a" * 40), Oid("b" * 40)
    graph = Graph({known: ()})
    assert not graph.is_ancestor(unknown, known)
    assert not graph.is_ancestor(known, unknown)
    assert set() == graph.ancestors(unknown)
    assert set() == graph.descendants(unknown)
    assert set() == graph.between(known, unknown)
    assert set() == graph.merge_bases(known, unknown)
    assert [] == list(graph.first_parent_line(unknown))
    assert {known: 2} == graph.holders([known, unknown], [unknown, known])
    assert graph.common_ancestor([known, unknown]) is None
    assert unknown not in graph
    for asked in (graph.parents, graph.generations.__getitem__):
        with pytest.raises(KeyError):
            asked(unknown)


def test_a_long_line_is_walked():
    """Depth is no limit: no recursion."""
    oids = [Oid(f"{number:040x}") for number in range(50_000)]
    graph = Graph({commit: (oids[number - 1],) if number else () for number, commit in enumerate(oids)})
    assert graph.is_ancestor(oids[0], oids[-1])
    assert oids[-1] in graph.descendants(oids[0])
    assert 50_000 == len(graph.first_parent_line(oids[-1]))
    assert 50_000 == graph.generations[oids[-1]]
