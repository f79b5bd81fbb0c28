"""Which states did upstream publish, and which line does a pin belong to?"""

import pytest

from tests.judge.picture import Counting, drawn, named, pictured, row
from watcher.graph import Graph
from watcher.judge.lines import followed_lines, is_release_branch, own_line, published_lines

HISTORY = r"""
          X---Y                  (topic)
         /
A---B---C---D---E                (main, tag: v1.0*)
     \
      R---S                      (release/1.x, tag: v0.9)
"""


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("release/1.2", True),
        ("release-1.2", True),
        ("releases", False),
        ("1.x", True),
        ("v2.x", True),
        ("v1.26", True),
        ("1_2", True),
        ("2.0-stable", True),
        ("stable", True),
        ("stable/2024", True),
        ("unstable", False),
        ("maint", True),
        ("maintenance", False),
        ("branch-3.1", True),
        ("tokio-1.36.x", True),
        ("refs/heads/release/1.2", True),
        ("main", False),
        ("feature/v1.2", False),
        ("fix-release", False),
        ("user/release/1.2", False),
        ("", False),
    ],
)
def test_release_branches(name, answer):
    """A branch looks like a release branch by its whole name alone."""
    assert answer is is_release_branch(name)


def test_order():
    """Tracked branches come first, then the default one, release branches, tags; a topic branch is no line."""
    it = drawn(HISTORY)
    names = [line.name for line in published_lines(it.refs, it.graph, ["topic"])]
    assert [
        "refs/heads/topic",
        "refs/heads/main",
        "refs/heads/release/1.x",
        "refs/tags/v0.9",
        "refs/tags/v1.0",
    ] == names
    assert "refs/heads/topic" not in [line.name for line in published_lines(it.refs, it.graph)]


def test_each_line_once():
    """A branch that is tracked by its short name, by its full name and as HEAD is one line."""
    it = drawn(HISTORY)
    lines = published_lines(it.refs, it.graph, ["main", "refs/heads/main", "release/1.x"])
    assert ["refs/heads/main", "refs/heads/release/1.x"] == [line.name for line in lines[:2]]
    assert len({line.name for line in lines}) == len(lines)


def test_tags_are_peeled():
    """A line of an annotated tag ends at the commit, not at the tag object."""
    it = drawn(HISTORY)
    (tag,) = [line for line in published_lines(it.refs, it.graph) if line.name == "refs/tags/v1.0"]
    assert named("E") == tag.tip


def test_refs_that_are_no_commits():
    """A tag of a tree, a tracked branch that does not exist and a HEAD that dangles are no lines."""
    it = drawn("A---B  (main, tag: v1)", head="gone")
    lines = published_lines(it.refs, it.graph, ["missing"])
    assert ["refs/tags/v1"] == [line.name for line in lines]


def test_empty_repository():
    """A repository without refs publishes nothing and has no line for any commit."""
    it = drawn("A", head=None)
    assert () == published_lines(it.refs, it.graph)
    assert None is own_line(named("A"), it.refs, it.graph)


def test_followed():
    """The configured branches are followed; the default one where there are none, or none that exists."""
    it = drawn(HISTORY)

    def names(*tracked):
        return [line.name for line in followed_lines(it.refs, it.graph, tracked)]

    assert ["refs/heads/topic", "refs/heads/release/1.x"] == names("topic", "refs/heads/release/1.x")
    assert ["refs/heads/main"] == names()
    assert ["refs/heads/main"] == names("missing")


@pytest.mark.parametrize(
    ("commit", "tracked", "line"),
    [
        ("B", (), "refs/heads/main"),
        ("B", ("release/1.x",), "refs/heads/release/1.x"),
        ("S", (), "refs/heads/release/1.x"),
        ("X", (), "refs/heads/topic"),
        ("X", ("main",), "refs/heads/topic"),
        ("R", ("missing",), "refs/heads/release/1.x"),
        ("D", ("release/1.x",), "refs/heads/main"),
    ],
)
def test_own_line(commit, tracked, line):
    """A pin's own line is the tracked one that holds it, else a release branch, else any branch."""
    it = drawn(HISTORY)
    assert line == own_line(named(commit), it.refs, it.graph, tracked).name


def test_own_line_is_no_tag_where_a_branch_holds_it():
    """A tag on top is not taken for a tracked line because the default branch is named twice."""
    it = drawn("""
          X---Y---Z  (topic)
         /
A---B---C---D  (main)
""", refs={"refs/tags/v1": "Y"})  # fmt: skip
    assert "refs/heads/topic" == own_line(named("X"), it.refs, it.graph, ["main", "gone"]).name


def test_own_line_of_a_tag_alone():
    """Where only tags hold a commit, the nearest one is its line."""
    it = drawn("A---B  (main)\n\nP---Q---R", refs={"refs/tags/v2": "R", "refs/tags/v1": "Q"})
    assert "refs/tags/v1" == own_line(named("P"), it.refs, it.graph).name


def test_own_line_prefers_the_chain():
    """Of two branches, the one whose first-parent chain passes through the commit is its line, though it is longer."""
    it = drawn(r"""
    X---Y---Z---W  (long)
   /     \
A---B-----M        (short)
 \
  C                (main)
""")
    assert "refs/heads/long" == own_line(named("X"), it.refs, it.graph).name


def test_own_line_unadvertised():
    """A commit that no ref holds belongs to no line."""
    it = drawn("A---B  (main)\n\nX---Y")
    assert None is own_line(named("X"), it.refs, it.graph)


def test_many_tags():
    """A history with hundreds of tags is walked a few times, not once for each tag."""
    names = [f"c{at}" for at in range(2000)]
    tags = {f"refs/tags/v{at}": f"c{at}" for at in range(0, 2000, 5)}
    it = pictured({**row(*names), "main": ()}, refs={**tags, "refs/heads/main": "main"})
    parents = Counting({one: it.graph.parents(one) for one in it.graph})
    graph = Graph(parents)
    assert "refs/tags/v5" == own_line(named("c3"), it.refs, graph).name
    assert len(tags) + 1 == len(published_lines(it.refs, graph))
    assert parents.asked < 10 * len(names)
