"""What landed, as which changes, and what are they called?"""

import pytest

from tests.judge.picture import drawn, named
from watcher.judge.changes import landings

HISTORY = r"""
          X---Y       U
         /     \     / \
A---B---C---D---M---E---N---F  (main)
"""


def landed(it, floor=None, tip="F"):
    """Return (landing, commits) of what landed after a floor, by name."""
    line = it.graph.first_parent_line(named(tip))
    found = landings(line, named(floor) if floor else None, it.graph, it.commits)
    return [(it.name(change.landing), [it.name(one) for one in change.commits]) for change in found]


def test_merge_and_direct():
    """A merge brings its side commits, oldest first; a direct commit or a squash is its own work."""
    it = drawn(HISTORY)
    assert [("D", ["D"]), ("M", ["X", "Y"]), ("E", ["E"]), ("N", ["U"]), ("F", ["F"])] == landed(it, "C")


def test_from_the_root():
    """Without a floor the whole line is told; the root has no state before it."""
    it = drawn(HISTORY)
    assert [("A", ["A"]), ("B", ["B"]), ("C", ["C"])] == landed(it)[:3]
    assert None is it.change("A").before
    assert named("C") == it.change("D").before


@pytest.mark.parametrize("floor", [None, "A", "C", "X", "Y", "D"])
def test_content_does_not_depend_on_the_floor(floor):
    """What a merge brought is told against the line before it, though the pin may already have a part of it."""
    it = drawn(HISTORY)
    assert ("M", ["X", "Y"]) in landed(it, floor)


def test_pin_on_the_side():
    """A pin inside a merged branch lacks the merge, not what lies below it."""
    it = drawn(HISTORY)
    assert ["D", "M", "E", "N", "F"] == [landing for landing, _ in landed(it, "X")]


def test_nothing_new():
    """Nothing landed after the tip, and nothing on an empty line."""
    it = drawn(HISTORY)
    assert [] == landed(it, "F")
    assert () == landings([], None, it.graph, it.commits)


def test_octopus():
    """An octopus merge brings the commits of all its sides."""
    it = drawn(r"""
    X
   / \
A---B-M---C  (main)
 \   /
  Y-Z
""")
    (landing, commits), _ = landed(it, "B", "C")
    assert ("M", ["X", "Y", "Z"]) == (landing, sorted(commits))


def test_nested_merges():
    """A branch that was merged into a branch is part of what landed; merges carry no work of their own."""
    it = drawn(r"""
      V---W
     /     \
    X---Y---Z---L
   /             \
A---B---C---------M  (main)
""")
    landing, commits = landed(it, "A", "M")[-1]
    assert ("M", ["L", "V", "W", "X", "Y"]) == (landing, sorted(commits))
    assert ("X", "L") == (commits[0], commits[-1])


def test_main_merged_into_the_topic():
    """What a topic took from the line is not what it brings."""
    it = drawn(r"""
    X---Y---Z
   /   /     \
A---B---C-----M  (main)
""")
    assert [("C", ["C"]), ("M", ["X", "Z"])] == landed(it, "B", "M")


@pytest.mark.parametrize(
    ("message", "title", "number", "branch"),
    [
        # GitHub
        (
            "Merge pull request #95 from someone/free-once\n\nGuard the pool against a second release",
            "Guard the pool against a second release",
            95,
            "free-once",
        ),
        ("Merge pull request #95 from someone/fix/a/b", "x work", 95, "fix/a/b"),
        ("Merge pull request #95 from someone/wide\n\nTell (#7) apart", "Tell (#7) apart", 95, "wide"),
        # GitLab
        (
            "Merge branch 'fix-pool' into 'main'\n\nGuard the pool\n\nCloses #3\n\nSee merge request group/pool!12",
            "Guard the pool",
            12,
            "fix-pool",
        ),
        ("Merge branch 'fix-pool' into 'main'\n\nSee merge request group/pool!12", "x work", 12, "fix-pool"),
        # Gitea, Bitbucket
        (
            "Merge pull request 'Guard the pool' (#12) from someone/fix-pool into main\n\nReviewed-on: there",
            "Guard the pool",
            12,
            "someone/fix-pool",
        ),
        ("Merged in fix-pool (pull request #12)\n\nGuard the pool\n\nApproved-by: X", "Guard the pool", 12, "fix-pool"),
        # git itself
        ("Merge branch 'fix-pool'", "x work", None, "fix-pool"),
        (
            "Merge remote-tracking branch 'origin/fix-pool'\n\n# Conflicts:\n#\tpool.c",
            "x work",
            None,
            "origin/fix-pool",
        ),
        ("Merge branch 'fix-pool'\n\n* fix-pool:\n  x work", "x work", None, "fix-pool"),
        ("Merge commit from fork\n\nGuard the pool", "Guard the pool", None, None),
        # A person's own words
        ("Bring the pool (#12)", "Bring the pool", 12, None),
    ],
)
def test_merge_messages(message, title, number, branch):
    """A merge is called what was merged: title, number and branch as its forge writes them."""
    it = drawn("  X\n / \\\nA-B-M  (main)", messages={"M": message, "X": "x work"})
    change = it.change("M")
    assert (title, number, branch) == (change.title, change.pull_request, change.branch)


@pytest.mark.parametrize(
    ("message", "title", "number"),
    [
        ("Guard the pool (#12)", "Guard the pool", 12),
        ("Guard the pool (#12)\n\n* start (#3)\n* follow up of (#7)", "Guard the pool", 12),
        ("[1.x] Guard the pool (#12) (#15)", "[1.x] Guard the pool (#12)", 15),
        ("Guard (#5) the pool", "Guard (#5) the pool", 5),
        ('Revert "Guard the pool (#12)" (#13)', 'Revert "Guard the pool (#12)"', 13),
        ('Revert "Guard the pool (#12)"', 'Revert "Guard the pool (#12)"', None),
        ("Guard the pool, see #12", "Guard the pool, see #12", None),
        ("Guard the pool\n\nFixes #12", "Guard the pool", None),
        (f"Guard the pool (#{'9' * 5000})", "Guard the pool", None),
        ("", "", None),
    ],
)
def test_squash_messages(message, title, number):
    """A squash bears its own number; numbers that it quotes, lists or closes are not its own."""
    it = drawn("A---S  (main)", messages={"S": message})
    change = it.change("S")
    assert (title, number, None) == (change.title, change.pull_request, change.branch)


def test_unknown_message():
    """A landing whose message is not held is called by its id."""
    it = drawn("A---B  (main)")
    (change,) = landings([named("B")], named("A"), it.graph, {})
    assert named("B")[:12] == change.title
