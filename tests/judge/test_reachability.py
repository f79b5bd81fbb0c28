"""What keeps a pinned commit alive? One test for each class and trap of DESIGN.md §3.1 that is decided from values."""

from dataclasses import replace

import pytest

from tests.judge.picture import day, drawn, named, pin
from watcher.judge.concerns import of_pin
from watcher.judge.reachability import reachability
from watcher.model import Holding, Kind, Move, RefKind, Severity
from watcher.model import ReachabilityClass as Class
from watcher.observation import Position, named_refs

HISTORY = r"""
          X---Y                  (topic)
         /
A---B---C---D---E                (main, tag: v1.0**)
     \
      R---S                      (release/1.x)

Z                                (tag: stray)
"""


def judge(it, ref, tracked=(), **changes):
    """Return the reachability of a commit that is pinned by its full id."""
    mine = pin(ref)
    return reachability(mine, it.pinned(mine, **changes), tracked)


@pytest.mark.parametrize(
    ("ref", "cls", "refs"),
    [
        ("E", Class.DEFAULT, ("refs/heads/main",)),
        ("B", Class.DEFAULT, ("refs/heads/main",)),
        ("X", Class.BRANCH, ("refs/heads/topic",)),
        ("S", Class.BRANCH, ("refs/heads/release/1.x",)),
        ("Z", Class.TAG_OFF_LINEAGE, ("refs/tags/stray",)),
    ],
)
def test_classes(ref, cls, refs):
    """The strongest class that holds is told, with the refs that it rests on."""
    found = judge(drawn(HISTORY), ref)
    assert (cls, refs) == (found.cls, found.refs)


def test_tracked_branch_configured():
    """A commit on a tracked branch is as good as on the default one, whether it is named short or full."""
    it = drawn(HISTORY)
    for name in ("topic", "refs/heads/topic"):
        found = judge(it, "X", [name])
        assert (Class.DEFAULT, ("refs/heads/topic",)) == (found.cls, found.refs)
    assert Class.DEFAULT is judge(it, "E", ["topic"]).cls


def test_one_branch_is_fragile():
    """A commit that one branch alone keeps says which; one that several keep says how many."""
    it = drawn(HISTORY)
    assert "only topic keeps it" == judge(it, "X").detail
    two = drawn(HISTORY, refs={"refs/heads/copy": "Y"})
    assert "2 branches keep it" == judge(two, "X").detail


@pytest.mark.parametrize(
    ("text", "cls"),
    [
        # The tag lies on the line.
        ("A---B---C  (main)", Class.DEFAULT),
        # A release commit on top of a published one.
        ("    T  (tag: v1)\n   /\nA---B  (main)", Class.RELEASE_TAG),
        # A release branch that was cut from the default one.
        ("    Q---T  (release/1, tag: v1)\n   /\nA---B  (main)", Class.RELEASE_TAG),
        # Two commits on top, on no branch: this is also how foreign code is hidden.
        ("    Q---T  (tag: v1)\n   /\nA---B  (main)", Class.TAG_OFF_LINEAGE),
        # Nothing in common with the default branch, though a branch holds it.
        ("Q---T  (foreign, tag: v1)\n\nA---B  (main)", Class.BRANCH),
        # Nothing in common and no branch.
        ("T  (tag: v1)\n\nA---B  (main)", Class.TAG_OFF_LINEAGE),
    ],
)
def test_release_tag_or_off_lineage(text, cls):
    """A tag makes a release only where its commit comes from the default branch's line."""
    it = drawn(text)
    assert cls is judge(it, "T" if "T" in text else "B").cls


def test_release_tag_needs_a_default_branch():
    """Where HEAD names no branch, a tag is no release of anything."""
    it = drawn("    T  (tag: v1)\n   /\nA---B  (other)", head=None)
    assert Class.TAG_OFF_LINEAGE is judge(it, "T").cls


def test_annotated_tags_are_peeled():
    """A tag of a tag keeps its commit."""
    it = drawn("T  (tag: v1**)\n\nA---B  (main)")
    assert (Class.TAG_OFF_LINEAGE, ("refs/tags/v1",)) == (judge(it, "T").cls, judge(it, "T").refs)


def test_pull_only_names_the_landing():
    """A commit that only a proposal holds is weak; the squash that replaced it is named, not a pick of that."""
    it = drawn(
        """
          P---Q
         /
A---B---C---S---D  (main)
             \\
              T  (release/1.x)
""",
        messages={"S": "Guard the pool (#12)", "T": "[1.x] Guard the pool (#12) (#15)", "D": 'Revert "Old (#12)"'},
        pulls={"refs/pull/12/head": "Q", "refs/pull/13/head": "B"},
    )
    for ref in ("P", "Q"):
        found = judge(it, ref)
        assert (Class.PULL_ONLY, ("refs/pull/12/head",), "S") == (found.cls, found.refs, it.name(found.twin))


def test_pull_only_on_gitlab():
    """Merge requests are proposals too; the squash says so in its body."""
    it = drawn(
        "  P\n /\nA---S  (main)",
        messages={"S": "Guard the pool\n\nSee merge request group/sub/project!7"},
        pulls={"refs/merge-requests/7/head": "P"},
    )
    found = judge(it, "P")
    assert (Class.PULL_ONLY, "S") == (found.cls, it.name(found.twin))


@pytest.mark.parametrize("number", ["²", "x", "", "9" * 5000])
def test_hostile_pull_names(number):
    """A proposal whose name holds no usable number keeps its commit and names no landing."""
    it = drawn("  P\n /\nA---B  (main)", pulls={f"refs/pull/{number}/head": "P"})
    found = judge(it, "P")
    assert (Class.PULL_ONLY, None) == (found.cls, found.twin)


def test_served_is_not_reachable():
    """A commit that the server hands out though no ref ever held it is not called reachable."""
    it = drawn("A---B  (main)\n\nX")
    mine = pin("X")
    found = reachability(mine, it.pinned(mine, positions={mine.id: Position(commit=named("X"), is_served=True)}))
    assert (Class.SERVED_ONLY, ()) == (found.cls, found.refs)
    assert "none was ever seen to" in found.detail
    assert "still hands it out" in found.detail


def test_kept_by_us_alone():
    """A commit that we keep, that no ref ever held and that the server refuses is gone."""
    it = drawn("A---B  (main)\n\nX")
    mine = pin("X")
    gone = it.pinned(mine, positions={mine.id: Position(commit=named("X"), is_served=False)})
    assert Class.GONE is reachability(mine, gone).cls


def held(commit, ref, until, tip):
    """Return what was once seen holding a commit."""
    return {named(commit): (Holding(ref=ref, first_seen=day(1), last_seen=day(until), tip=named(tip)),)}


def test_orphaned_by_force():
    """A commit whose branch was forced away is orphaned: which ref, until when, from where to where, and its twin."""
    it = drawn(
        "    Y'  (topic)\n   /\nA---B  (main)\n\nX---Y",
        messages={"Y": "Free once", "Y'": "Free once"},
        authored={"Y": 3, "Y'": 3},
    )
    move = Move(ref="refs/heads/topic", before=named("Y"), after=named("Y'"), forced=True, at=day(9))
    mine = pin("Y")
    seen = it.pinned(
        mine,
        holdings=held("Y", "refs/heads/topic", 8, "Y"),
        known_moves=(move,),
        positions={mine.id: Position(commit=named("Y"), is_served=True)},
    )
    found = reachability(mine, seen)
    assert (Class.ORPHANED, ("refs/heads/topic",), day(8)) == (found.cls, found.refs, found.since)
    lost, twin = named("Y"), named("Y'")
    assert twin == found.twin
    assert [
        f"topic held it until 2026-01-09 00:00 UTC, then was forced from {lost[:12]} to {twin[:12]}",
        "the server still hands it out, which a clean-up may end any day",
        f"the same change is now {twin}",
    ] == found.detail.split("; ")
    (concern,) = of_pin(mine, found, seen)
    assert (Kind.PIN_UNREACHABLE, Severity.HIGH, day(8)) == (concern.kind, concern.severity, concern.since)


def test_orphaned_by_deletion():
    """A commit whose branch was deleted says so; without a rewritten copy there is no twin."""
    it = drawn("A---B  (main)\n\nX")
    move = Move(ref="refs/heads/topic", before=named("X"), after=None, forced=False, at=day(9))
    found = judge(it, "X", holdings=held("X", "refs/heads/topic", 8, "X"), known_moves=(move,))
    assert Class.ORPHANED is found.cls
    assert f"then was deleted at {named('X')[:12]}" in found.detail
    assert None is found.twin


def test_orphaned_names_the_last_holder():
    """Of several refs that held a commit, the one that did longest is named; a branch before a tag."""
    it = drawn("A---B  (main)\n\nX")
    holdings = {
        named("X"): (
            Holding(ref="refs/tags/z", first_seen=day(1), last_seen=day(8), tip=named("X")),
            Holding(ref="refs/heads/topic", first_seen=day(1), last_seen=day(8), tip=named("X")),
            Holding(ref="refs/heads/zz", first_seen=day(1), last_seen=day(2), tip=named("X")),
        )
    }
    assert ("refs/heads/topic",) == judge(it, "X", holdings=holdings).refs


def test_a_holder_of_the_past_does_not_count():
    """Only refs that are advertised now keep a commit alive, however often others were seen to."""
    it = drawn("A---B  (main)\n\nX")
    assert Class.ORPHANED is judge(it, "X", holdings=held("X", "refs/heads/main", 8, "X")).cls


def test_gone():
    """A full id that no ref holds and the server refuses is gone, critically."""
    it = drawn("A---B  (main)")
    mine = pin("nowhere")
    seen = it.pinned(mine, positions={mine.id: Position(commit=None, is_served=False)})
    found = reachability(mine, seen)
    assert (Class.GONE, "no ref holds it and the server refuses to hand it out") == (found.cls, found.detail)
    (concern,) = of_pin(mine, found, seen)
    assert (Kind.PIN_ABSENT, Severity.CRITICAL) == (concern.kind, concern.severity)


def test_short_id_that_names_nothing():
    """A short id cannot be asked for: it is gone when no held commit begins with it."""
    it = drawn("A---B  (main)")
    mine = pin("abcdef1", kind=RefKind.SHORT_SHA)
    found = reachability(mine, it.pinned(positions={mine.id: Position(commit=None)}))
    assert Class.GONE is found.cls
    assert "begins with abcdef1" in found.detail
    assert "refuses" not in found.detail


def test_ambiguous_short_id():
    """A short id that several commits begin with is unknown, and a finding of its own."""
    it = drawn("A---B  (main)")
    mine = pin("abcdef1", kind=RefKind.SHORT_SHA)
    seen = it.pinned(positions={mine.id: Position(commit=None, candidates=(named("A"), named("B")))})
    found = reachability(mine, seen)
    assert Class.UNKNOWN is found.cls
    (concern,) = of_pin(mine, found, seen)
    assert (Kind.PIN_AMBIGUOUS, Severity.MEDIUM) == (concern.kind, concern.severity)
    assert named("A")[:12] in concern.detail[0]


@pytest.mark.parametrize(
    "mine",
    [pin(None, kind=RefKind.UNRESOLVED), pin("A")],
)
def test_unknown(mine):
    """What the files do not say, and what nobody looked up, is unknown and no finding."""
    it = drawn("A---B  (main)")
    positions = {mine.id: Position(commit=None)} if mine.ref is None else {}
    seen = it.pinned(positions=positions)
    found = reachability(mine, seen)
    assert Class.UNKNOWN is found.cls
    assert [] == of_pin(mine, found, seen)


def test_deleted_branch():
    """A branch that a pin names and upstream deleted is gone, with where it stood."""
    it = drawn("A---B  (main)")
    mine = pin("topic", kind=RefKind.BRANCH)
    move = Move(ref="refs/heads/topic", before=named("B"), after=None, forced=False, at=day(9))
    found = reachability(mine, it.pinned(positions={mine.id: Position(commit=None)}, known_moves=(move,)))
    assert Class.GONE is found.cls
    assert (
        f"upstream has no branch and no tag topic; it was deleted at {named('B')[:12]}, noticed 2026-01-10 00:00 UTC"
        == found.detail
    )


def test_empty_repository():
    """A pin of a repository without a single ref is gone, and says why."""
    it = drawn("A", head=None)
    mine = pin(None, kind=RefKind.DEFAULT_BRANCH)
    found = reachability(mine, it.pinned(positions={mine.id: Position(commit=None)}))
    assert (Class.GONE, "the repository has no branches and no tags") == (found.cls, found.detail)


def test_branch_and_tag_of_one_name():
    """A branch and a tag may bear one name: the kind of the pin tells which is meant first."""
    it = drawn("A---B  (main, v1)\n\nT  (tag: v1)")
    refs = it.refs
    assert ("refs/heads/v1", "refs/tags/v1") == named_refs(refs, pin("v1", kind=RefKind.BRANCH))
    assert ("refs/tags/v1", "refs/heads/v1") == named_refs(refs, pin("v1", kind=RefKind.TAG))
    assert ("refs/tags/v1",) == named_refs(refs, pin("refs/tags/v1", kind=RefKind.BRANCH))
    assert ("refs/tags/v1",) == named_refs(refs, pin("tags/v1", kind=RefKind.TAG))


@pytest.mark.parametrize(
    ("ref", "kind", "names"),
    [
        ("main", RefKind.BRANCH, ("refs/heads/main",)),
        ("origin/main", RefKind.BRANCH, ("refs/heads/main",)),
        ("heads/main", RefKind.BRANCH, ("refs/heads/main",)),
        ("refs/heads/main", RefKind.BRANCH, ("refs/heads/main",)),
        ("refs/heads/v1", RefKind.TAG, ()),
        ("v1", RefKind.BRANCH, ("refs/tags/v1",)),
        ("mai", RefKind.BRANCH, ()),
        ("", RefKind.TAG, ()),
        (None, RefKind.DEFAULT_BRANCH, ("refs/heads/main",)),
    ],
)
def test_named_refs(ref, kind, names):
    """A name is found as git would find it, by its whole."""
    it = drawn("A---B  (main, tag: v1)")
    assert names == named_refs(it.refs, pin(ref, kind=kind))


def test_default_branch_without_head():
    """Where the server does not tell HEAD, the default branch names nothing."""
    it = drawn("A---B  (main)", head=None)
    assert () == named_refs(replace(it.refs, head=None), pin(None, kind=RefKind.DEFAULT_BRANCH))
