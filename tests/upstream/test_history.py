"""The graph comes from git's own file where that is there and fits, else from git: the answers are the same."""

import sys
from collections.abc import Sequence

import pytest

from tests.test_graph import imported
from watcher.commitgraph import Mapped
from watcher.errors import GitError
from watcher.graph import Graph
from watcher.model import Oid
from watcher.numbered import Listed
from watcher.upstream.git import Git
from watcher.upstream.history import open_graph
from watcher.upstream.mirror import Mirror

SHAPE = [[], [0], [1], [1], [2, 3], [4], [1], [6]]
TIPS = {"refs/heads/main": 5, "refs/tags/v1": 4, "refs/watcher/kept/x": 7}


class Place:
    """A mirror on disk, with what tests do to it."""

    def __init__(self, directory) -> None:
        self.history = imported(SHAPE, directory)
        self.oids = self.history.oids
        self.git = self.history.git
        self.mirror = Mirror(directory=directory, url="https://example.org/owner/project", partial=False)
        self.info = directory / "objects" / "info"
        self.git.run("update-ref", "-d", "refs/heads/x")

    def point(self, **tips: int) -> None:
        """Make refs point at commits, by number."""
        for name, at in tips.items():
            self.git.run("update-ref", name, self.oids[at])

    def write(self, *options: str) -> None:
        """Let git write its file."""
        self.git.run("commit-graph", "write", "--reachable", "--no-progress", *options)

    def same(self, table: type) -> Graph:
        """Return the graph after seeing that it comes from where it should, and says what git says."""
        graph = open_graph(self.mirror, worth=0)
        assert table is type(graph._table)
        held = {Oid(line.split()[0]): tuple(line.split()[1:]) for line in self.rows()}
        assert held == {commit: graph.parents(commit) for commit in graph}
        return graph

    def rows(self) -> Sequence[str]:
        """Return what git says of all refs."""
        return self.git.run("rev-list", "--all", "--parents").decode().splitlines()


@pytest.fixture
def place(tmp_path):
    """Return a mirror whose refs hold all of the shape."""
    found = Place(tmp_path / "mirror.git")
    found.point(**TIPS)
    return found


@pytest.mark.parametrize("options", [(), ("--split",)])
def test_with_the_file(place, options):
    """A single file, or a chain."""
    place.write(*options)
    assert len(SHAPE) == len(place.same(Mapped))


def test_without_the_file(place):
    """Git's output serves."""
    assert len(SHAPE) == len(place.same(Listed))


def test_a_small_file_does_not_pay(place):
    """Git's output is read sooner than numpy is imported."""
    place.write()
    assert Listed is type(open_graph(place.mirror)._table)


def test_without_numpy(place, monkeypatch):
    """The extra is not installed: nothing is lost but speed."""
    place.write()
    monkeypatch.delitem(sys.modules, "watcher.commitgraph")
    monkeypatch.setitem(sys.modules, "numpy", None)
    assert len(SHAPE) == len(place.same(Listed))


def test_commits_that_are_newer_than_the_file(place):
    """They come from git, and stand on top of what the file has."""
    for name in TIPS:
        place.git.run("update-ref", "-d", name)
    place.point(**{"refs/heads/main": 3})
    place.write("--split")
    place.point(**TIPS)
    graph = place.same(Mapped)
    assert graph.is_ancestor(place.oids[0], place.oids[7])
    assert {place.oids[1]} == graph.merge_bases(place.oids[5], place.oids[7])


def test_commits_that_no_ref_holds_any_more(place):
    """The file still has them; they are not held."""
    place.write()
    place.git.run("update-ref", "-d", "refs/watcher/kept/x")
    graph = place.same(Mapped)
    assert place.oids[7] not in graph
    assert not graph.is_ancestor(place.oids[1], place.oids[7])


def test_a_tag_object_and_a_tag_of_what_is_no_commit(place):
    """Tags are peeled, and what is no commit holds none."""
    place.write()
    git = Git(directory=place.mirror.directory, config=(("user.name", "A"), ("user.email", "a@b")))
    git.run("tag", "-a", "-m", "x", "v2", place.oids[5])
    git.run("tag", "-a", "-m", "x", "v3", "v2")
    blob = place.git.run("hash-object", "-w", "--stdin", stdin=b"text").decode().strip()
    place.git.run("update-ref", "refs/tags/text", blob)
    assert len(SHAPE) == len(place.same(Mapped))


def test_a_mirror_without_commits(tmp_path):
    """It has no file, and no history."""
    place = Place(tmp_path / "empty.git")
    assert [] == list(place.same(Listed))
    place.point(**TIPS)
    place.write()
    for name in TIPS:
        place.git.run("update-ref", "-d", name)
    assert [] == list(place.same(Mapped))


@pytest.mark.parametrize("spoil", ["cut", "empty", "altered", "chain", "gone"])
def test_a_broken_file_is_passed_over(place, spoil):
    """Whatever happened to it."""
    place.write("--split")
    chain = place.info / "commit-graphs" / "commit-graph-chain"
    (file,) = chain.parent.glob("graph-*.graph")
    content = file.read_bytes()
    file.chmod(0o600)
    chain.chmod(0o600)
    match spoil:
        case "cut":
            file.write_bytes(content[:-9])
        case "empty":
            file.write_bytes(b"")
        case "altered":
            file.write_bytes(content[:-60] + b"?" + content[-59:])
        case "chain":
            chain.write_bytes(b"../../config\n\xff\n")
        case "gone":
            file.unlink()
    assert len(SHAPE) == len(place.same(Listed))


def test_grafts_pretend_other_parents(place):
    """Git does not use its file then, nor do we."""
    place.write()
    (place.mirror.directory / "info").mkdir(exist_ok=True)
    (place.mirror.directory / "info" / "grafts").write_text(f"{place.oids[5]}\n")
    assert () == place.same(Listed).parents(place.oids[5])


def test_a_shallow_mirror_is_refused(place):
    """File or not, it cannot tell what is reachable."""
    place.write()
    (place.mirror.directory / "shallow").write_text(f"{place.oids[5]}\n")
    with pytest.raises(GitError, match="shallow"):
        open_graph(place.mirror, worth=0)
