"""The graph answers as git does, on random histories."""

from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from watcher.graph import Graph
from watcher.model import Oid, oid
from watcher.upstream.git import Git


@dataclass(frozen=True)
class History:
    """The same random commits, for git and for the graph."""

    git: Git
    graph: Graph
    oids: tuple[Oid, ...]

    def told(self, *args, check=(0,)) -> list[str]:
        """Return the words that git prints."""
        return self.git.run(*args, check=check).decode().split()


@st.composite
def shapes(draw):
    """Draw parents for each of a few commits: roots, chains, merges, octopuses, criss-crosses."""
    count = draw(st.integers(1, 14))
    return [
        draw(st.lists(st.integers(max(0, number - 5), number - 1), max_size=3, unique=True)) if number else []
        for number in range(count)
    ]


def imported(shape, folder) -> History:
    """Return the history of a shape; every commit has a tag, so all are held."""
    git = Git(directory=folder)
    if not folder.exists():
        Git().run("init", "-q", "--bare", "--", str(folder))
    parts = []
    for number, parents in enumerate(shape):
        words = ("from", *["merge"] * len(parents))
        links = "".join(f"{word} :{parent + 1}\n" for word, parent in zip(words, parents, strict=False))
        parts.append(
            f"reset refs/heads/x\n\ncommit refs/heads/x\nmark :{number + 1}\n"
            f"committer A <a@b> {1000 + number} +0000\ndata 3\n{number:03}\n{links}\nget-mark :{number + 1}\n"
        )
    oids = tuple(map(oid, git.run("fast-import", "--quiet", "--force", stdin="".join(parts).encode()).decode().split()))
    graph = Graph({commit: tuple(oids[parent] for parent in shape[number]) for number, commit in enumerate(oids)})
    return History(git=git, graph=graph, oids=oids)


@pytest.fixture
def folder(tmp_path):
    """Return one repository for all examples: objects may pile up in it."""
    return tmp_path / "random.git"


many = settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@many
@given(shape=shapes(), data=st.data())
def test_questions_about_two_commits(folder, shape, data):
    """Ancestry, what lies between, and the merge bases are git's."""
    history = imported(shape, folder)
    one, other = data.draw(st.sampled_from(history.oids)), data.draw(st.sampled_from(history.oids))
    graph = history.graph
    assert history.git.answers("merge-base", "--is-ancestor", one, other) == graph.is_ancestor(one, other)
    assert set(history.told("rev-list", f"{one}..{other}")) == graph.between(one, other)
    assert set(history.told("merge-base", "--all", one, other, check=(0, 1))) == graph.merge_bases(one, other)


@many
@given(shape=shapes(), data=st.data())
def test_questions_about_one_commit(folder, shape, data):
    """Its ancestors, its first-parent line, its parents."""
    history = imported(shape, folder)
    tip = data.draw(st.sampled_from(history.oids))
    assert set(history.told("rev-list", tip)) == history.graph.ancestors(tip)
    assert history.told("rev-list", "--first-parent", "--reverse", tip) == history.graph.first_parent_line(tip)
    assert tuple(history.told("log", "-1", "--format=%P", tip)) == history.graph.parents(tip)


@many
@given(shape=shapes(), data=st.data())
def test_the_common_ancestor_of_several(folder, shape, data):
    """It is one that git would name, or none where git names none."""
    history = imported(shape, folder)
    tips = data.draw(st.lists(st.sampled_from(history.oids), min_size=1, max_size=4))
    shared = set.intersection(*(set(history.told("rev-list", tip)) for tip in tips))
    found = history.graph.common_ancestor(tips)
    assert (found is None) == (not shared)
    if found:
        assert found in shared
        assert not any(found != other and history.graph.is_ancestor(found, other) for other in shared)


@many
@given(shape=shapes())
def test_order_and_generations(folder, shape):
    """A generation number is the longest way to a root; parents come before children."""
    history = imported(shape, folder)
    graph, generations = history.graph, history.graph.generations
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
    assert [] == graph.first_parent_line(unknown)
    assert unknown not in graph
    with pytest.raises(KeyError):
        graph.parents(unknown)


def test_a_long_line_is_walked():
    """Depth is no limit: no recursion."""
    oids = [Oid(f"{number:040x}") for number in range(50_000)]
    graph = Graph({commit: (oids[number - 1],) if number else () for number, commit in enumerate(oids)})
    assert graph.is_ancestor(oids[0], oids[-1])
    assert 50_000 == len(graph.first_parent_line(oids[-1]))
    assert 50_000 == graph.generations[oids[-1]]
