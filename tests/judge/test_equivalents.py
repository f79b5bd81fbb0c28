"""Under which other ids does a history have a change?"""

from dataclasses import replace
from itertools import pairwise

import pytest

from tests.judge.picture import drawn, named, pictured, row
from watcher.judge.equivalents import (
    Index,
    equivalents,
    held_as,
    normalised,
    noted_origins,
    pull_requests,
    reverted_oids,
    twins,
    was_held,
)
from watcher.model import Change, Oid

TWO_LINES = r"""
      F---G---H      (main)
     /
A---B---P---Q        (release/1.x)
"""


def has(it, tip, landing="F", **more):
    """Return under which name the history of a commit has what landed elsewhere."""
    return it.name(held_as(it.same(landing, **more), it.has(tip)))


@pytest.mark.parametrize(
    "note",
    [
        "Free once\n\n(cherry picked from commit {F})",
        "Free once\n\n(cherry-picked from commit {F:.7})",
        "Free once\n\n(cherry picked from commit {F:.12})\nSigned-off-by: me",
        "Free once\n\n[ Upstream commit {F} ]",
        "Free once\n\n[Upstream commit {F}]",
        "Free once\n\ncommit {F} upstream.",
        "Free once\n\n  Commit {F:.10} upstream\n",
        "Free once\n\nBackport of {F}.",
        "Free once\n\nThis is a cherry-pick of commit {F:.8}",
        "[PR #12/{F:.8} backport][1.x] Free once",
    ],
)
def test_pick_notes(note):
    """A note of the origin, by full or short id, makes a pick."""
    it = drawn(TWO_LINES, messages={"F": "Guard", "P": note})
    assert "P" == has(it, "Q")
    assert None is has(it, "B")


def test_upper_case_notes():
    """People paste ids in upper case too."""
    it = drawn(TWO_LINES, messages={"P": f"Free\n\n(cherry picked from commit {named('F').upper()})"})
    assert "P" == has(it, "Q")


@pytest.mark.parametrize(
    "note",
    [
        "Free once\n\nSee commit {F}",
        "Free once\n\nRelated: {F}",
        "Free once\n\n(cherry picked from commit {F:.6})",
        "Free once\n\nbackport of defaced feature",
        "Free once\n\n(cherry picked from commit {G})",
    ],
)
def test_what_is_no_note(note):
    """A mere mention, an id that is too short, and a note of another commit make no pick."""
    it = drawn(TWO_LINES, messages={"P": note})
    assert None is has(it, "Q")


def index_of(messages):
    """Return an index of a row of commits with given full ids, oldest first."""
    it = pictured(row(*messages), refs={}, messages=messages)
    return Index(it.commits)


def test_ambiguous_note():
    """A short id that fits several commits names none of them; a longer one still does."""
    one, other = "abcdef1" + "0" * 33, "abcdef1" + "1" * 33
    short, longer = "2" * 40, "3" * 40
    index = index_of(
        {
            one: "One",
            other: "Other",
            short: "Pick\n\n(cherry picked from commit abcdef1)",
            longer: "Pick too\n\n(cherry picked from commit abcdef10)",
        }
    )
    assert {one, longer} == index.same(Oid(one))
    assert {other} == index.same(Oid(other))
    assert {short} == index.same(Oid(short))


def test_origin_that_is_not_held():
    """A full id is believed though nobody holds that commit, so that picks of a lost origin are siblings."""
    lost = "9" * 40
    index = index_of(
        {
            "1" * 40: f"One\n\n(cherry picked from commit {lost})",
            "2" * 40: f"Two\n\n(cherry picked from commit {lost})",
            "3" * 40: f"Three\n\n(cherry picked from commit {lost[:8]})",
        }
    )
    assert {"1" * 40, "2" * 40, lost} == index.same(Oid("1" * 40))
    assert {"3" * 40} == index.same(Oid("3" * 40))


def test_siblings():
    """A pick of the same origin on a third line is the same change, and so is the origin for a pick."""
    it = drawn(
        r"""
      F---G          (main)
     /
A---B---P---Q        (release/1.x)
     \
      R---S          (release/2.x)
""",
        messages={"P": "p\n\n(cherry picked from commit {F})", "R": "r\n\n(cherry picked from commit {F})"},
    )
    assert "R" == has(it, "S", "P")
    assert "F" == has(it, "G", "R")


def test_a_pick_of_a_pick():
    """A pick of a pick is found in two steps."""
    it = drawn(
        TWO_LINES,
        messages={"G": "g\n\n(cherry picked from commit {F})", "P": "p\n\n(cherry picked from commit {G})"},
    )
    assert "P" == has(it, "Q", "F")


def test_pick_of_several():
    """One commit that was picked from several is each of them, but does not make them the same."""
    it = drawn(TWO_LINES, messages={"P": "both\n\n(cherry picked from commit {F})\n(cherry picked from commit {G})"})
    assert "P" == has(it, "Q", "F")
    assert "P" == has(it, "Q", "G")
    assert None is has(it, "F", "G")
    assert None is has(it, "F", "P")


def test_pick_of_everything():
    """A commit that claims to be a pick of everything is believed for nothing."""
    names = [f"c{at}" for at in range(60)]
    notes = "\n".join(f"(cherry picked from commit {named(name)})" for name in names)
    refs = {"refs/heads/main": names[-1], "refs/heads/release/1": "E"}
    it = pictured({**row(*names), "E": ()}, refs=refs, messages={"E": f"All of it\n\n{notes}"})
    assert None is has(it, "E", "c3")
    assert None is has(it, "c3", "E")


def test_identity():
    """The same author, author date and subject make a rebased commit; [tags] and numbers do not matter."""
    messages = {"F": "Free once (#12)", "P": "[1.x] free once"}
    assert "P" == has(drawn(TWO_LINES, messages=messages, authored={"F": 3, "P": 3}), "Q")
    assert None is has(drawn(TWO_LINES, messages=messages, authored={"F": 3, "P": 4}), "Q")
    other = drawn(TWO_LINES, messages=messages, authored={"F": 3, "P": 3}, authors={"P": "Somebody Else"})
    assert None is has(other, "Q")
    words = drawn(TWO_LINES, messages={"F": "Free once", "P": "Free twice"}, authored={"F": 3, "P": 3})
    assert None is has(words, "Q")


def test_identity_of_many():
    """An identity that a crowd of commits shares identifies none of them."""
    names = [f"c{at}" for at in range(60)]
    refs = {"refs/heads/main": names[-1]}
    it = pictured(row(*names), refs=refs, messages=dict.fromkeys(names, "sync"), authored=dict.fromkeys(names, 1))
    assert None is has(it, "c10", "c11")


def test_merges_have_no_identity():
    """Two merges of one minute and one subject are not the same."""
    it = drawn(
        r"""
  X   U
 / \ / \
A---M---N  (main)
""",
        messages={"M": "Merge", "N": "Merge"},
        authored={"M": 1, "N": 1},
    )
    assert None is has(it, "M", "N")


def test_title_and_number():
    """The same pull request under the same title is the same change: a merge here, a squash there."""
    it = drawn(
        r"""
      X---Y
     /     \
A---B-------M---H    (main)
     \
      P---Q          (release/1.x)
""",
        messages={
            "M": "Merge pull request #12 from someone/work\n\nFree once",
            "P": "[1.x] Free once (#12) (#15)",
        },
    )
    assert "P" == has(it, "Q", "M")
    for unlike in ("Something else (#12)", "Free once (#13)"):
        it = drawn(TWO_LINES, messages={"F": "Free once (#12)", "P": unlike}, authored={"P": 9})
        assert None is has(it, "Q")


def test_patch_ids():
    """The same patch is the same change, whatever the message says."""
    it = drawn(TWO_LINES)
    assert "P" == has(it, "Q", patch_ids={"F": "one", "P": "one", "Q": "two"})
    assert None is has(it, "Q", patch_ids={"F": "one", "P": "two"})


MERGED = r"""
      X---Y
     /     \
A---B-------M---N      (main)
     \
      P---Q---R        (release/1.x)
       \
        S              (release/0.x)
"""


def test_every_commit_of_a_change():
    """Who has every commit of a merged branch, or a pick of each, has the change; who has some has not."""
    it = drawn(
        MERGED, messages={"P": "p\n\n(cherry picked from commit {X})", "Q": "q\n\n(cherry picked from commit {Y})"}
    )
    assert ["M", "Y", "Q"] == [has(it, tip, "M") for tip in ("N", "Y", "R")]
    assert [None, None] == [has(it, tip, "M") for tip in ("X", "P")]


def test_picks_on_several_lines():
    """Picks of a change's commits to several lines are found on each of them, whatever their ids are."""
    it = drawn(
        r"""
      X---Y
     /     \
A---B-------M      (main)
     \
      P1---P2      (release/1.x)

C---Q1---Q2        (release/2.x)

D---R1---R2        (release/3.x)
""",
        messages={
            f"{line}{number}": f"{line}{number}\n\n(cherry picked from commit {{{part}}})"
            for line in "PQR"
            for number, part in ((1, "X"), (2, "Y"))
        },
    )
    assert ["P2", "Q2", "R2"] == [has(it, tip, "M") for tip in ("P2", "Q2", "R2")]
    assert [None, None, None] == [has(it, tip, "M") for tip in ("P1", "Q1", "R1")]


def test_a_part_is_not_the_change():
    """A commit of the branch that bears the pull request's number and title is still but a part; so is its pick."""
    messages = {
        "M": "Merge pull request #12 from someone/work\n\nFree once",
        "X": "Free once (#12)",
        "P": "Free once (#12)\n\n(cherry picked from commit {X})",
    }
    it = drawn(MERGED, messages=messages)
    assert None is has(it, "X", "M")
    assert None is has(it, "R", "M")


REVERTED = "A---F---B---R---C---L---D---Q---E  (main)"


def test_reverted():
    """A history that took a change back does not have it; one from before the revert does."""
    it = drawn(REVERTED, messages={"R": 'Revert "F"\n\nThis reverts commit {F:.9}.'})
    assert "F" == has(it, "B")
    assert None is has(it, "R")
    assert None is has(it, "E")
    assert was_held(it.same("F"), it.has("E"))


def test_revert_of_a_revert():
    """Taking the revert back gives the change again, and so on."""
    it = drawn(
        REVERTED,
        messages={
            "R": 'Revert "F"\n\nThis reverts commit {F}.',
            "L": 'Revert "Revert "F""\n\nThis reverts commit {R}.',
            "Q": 'Revert "Revert "Revert "F"""\n\nThis reverts commit {L}.',
        },
    )
    assert [None, None, "F", "F", None] == [has(it, tip) for tip in ("R", "C", "L", "D", "E")]


def test_reverted_again():
    """A change that was given back and then taken back again by itself is not there."""
    it = drawn(
        REVERTED,
        messages={
            "R": 'Revert "F"\n\nThis reverts commit {F}.',
            "L": 'Reapply "F"\n\nThis reverts commit {R}.',
            "Q": 'Revert "F" again\n\nThis reverts commit {F}.',
        },
    )
    assert [None, "F", None] == [has(it, tip) for tip in ("C", "D", "E")]


def test_a_reapply_that_quotes():
    """A commit that takes a revert back and quotes what that said does not revert the change itself."""
    it = drawn(
        REVERTED,
        messages={
            "R": 'Revert "F"\n\nThis reverts commit {F}.',
            "L": 'Reapply "F"\n\nThis reverts commit {R}.\n\n> This reverts commit {F}.',
        },
    )
    assert [None, "F"] == [has(it, tip) for tip in ("C", "D")]


@pytest.mark.parametrize(
    "landing_again",
    ["Reland\n\n(cherry picked from commit {F})", "Free once (#12)"],
)
def test_relanded(landing_again):
    """A change that was taken back and landed anew, as itself, is there by the new id."""
    it = drawn(
        REVERTED,
        messages={"F": "Free once (#12)", "R": 'Revert "F"\n\nThis reverts commit {F}.', "L": landing_again},
    )
    assert ["F", None, "L"] == [has(it, tip) for tip in ("B", "C", "E")]


def test_relanded_and_reverted():
    """A re-landing that is reverted by its own id is gone too."""
    it = drawn(
        REVERTED,
        messages={
            "R": 'Revert "F"\n\nThis reverts commit {F}.',
            "L": "Reland\n\n(cherry picked from commit {F})",
            "Q": 'Revert "Reland"\n\nThis reverts commit {L}.',
        },
    )
    assert ["L", None] == [has(it, tip) for tip in ("D", "E")]


PICKED = r"""
      F---R---L---H      (main)
     /
A---B---P---S---T---Q    (release/1.x)
"""


def test_revert_of_the_pick():
    """Reverting the pick takes the change from its line and leaves it on the other."""
    it = drawn(
        PICKED,
        messages={"P": "p\n\n(cherry picked from commit {F})", "S": 'Revert "p"\n\nThis reverts commit {P}.'},
    )
    assert ["P", None] == [has(it, tip) for tip in ("P", "Q")]
    assert "F" == has(it, "H")


def test_revert_on_the_other_line():
    """Reverting the original on main takes nothing from the line that has a pick of it."""
    it = drawn(
        PICKED,
        messages={"P": "p\n\n(cherry picked from commit {F})", "R": 'Revert "F"\n\nThis reverts commit {F}.'},
    )
    assert None is has(it, "H")
    assert "P" == has(it, "Q")


def test_picked_reverts():
    """A revert that is picked names the original and means the pick; so does the pick of its revert."""
    it = drawn(
        PICKED,
        messages={
            "P": "p\n\n(cherry picked from commit {F})",
            "R": 'Revert "F"\n\nThis reverts commit {F}.',
            "L": 'Reapply "F"\n\nThis reverts commit {R}.',
            "S": 'Revert "F"\n\nThis reverts commit {F}.\n\n(cherry picked from commit {R})',
            "T": 'Reapply "F"\n\nThis reverts commit {R}.\n\n(cherry picked from commit {L})',
        },
    )
    assert ["P", None, "P"] == [has(it, tip) for tip in ("P", "S", "Q")]
    assert ["F", None, "F"] == [has(it, tip) for tip in ("F", "R", "H")]


def test_a_revert_that_quotes_the_note():
    """A revert which quotes the message of a pick, note and all, is no pick itself."""
    it = drawn(
        PICKED,
        messages={
            "P": "p\n\n(cherry picked from commit {F})",
            "S": 'Revert "p"\n\nThis reverts commit {P}.\n\n> (cherry picked from commit {F})',
        },
    )
    assert None is has(it, "Q")


def test_reverted_merge():
    """A revert of a merge takes all of it; a revert of one of its commits leaves the change."""
    whole = drawn(MERGED, messages={"N": 'Revert "M"\n\nThis reverts commit {M}, reversing\nchanges made to {B}.'})
    assert None is has(whole, "N", "M")
    part = drawn(MERGED, messages={"N": 'Revert "X"\n\nThis reverts commit {X}.'})
    assert "M" == has(part, "N", "M")


@pytest.mark.parametrize(
    ("revert", "answer"),
    [
        ('Revert "Free once (#12)" (#13)\n\nReverts owner/project#12', None),
        ('Revert "Free once" (#13)\n\nReverts #12', None),
        ('Revert "Something else (#11)" (#13)\n\nReverts other/project#12', "F"),
        ('Revert "Free once (#12)" (#13)', "F"),
    ],
)
def test_reverted_pull_request(revert, answer):
    """A revert made on the forge names the pull request and quotes its title; both must fit."""
    it = drawn(REVERTED, messages={"F": "Free once (#12)", "R": revert})
    assert answer == has(it, "C")


def test_reverted_pull_request_twice():
    """The revert of a revert on the forge gives the change again."""
    it = drawn(
        REVERTED,
        messages={
            "F": "Free once (#12)",
            "R": 'Revert "Free once" (#13)\n\nReverts owner/project#12',
            "L": 'Revert "Revert "Free once"" (#14)\n\nReverts owner/project#13',
        },
    )
    assert [None, "F"] == [has(it, tip) for tip in ("C", "D")]


def test_reverts_before_the_change():
    """A commit can only take back what it has: one that names a later commit reverts nothing."""
    it = drawn(REVERTED, messages={"A": "Oddly\n\nThis reverts commit {F}."})
    assert "F" == has(it, "E")
    assert () == it.same("F").reverts


def test_a_circle_of_reverts():
    """Messages that name each other in a circle (short ids can be forged) do not hang the judgement."""
    it = drawn(
        REVERTED,
        messages={"R": "r\n\nThis reverts commit {F}.\nThis reverts commit {L}.", "L": "l\n\nThis reverts commit {R}."},
    )
    assert has(it, "E") in {None, "F"}


def test_many_reverts():
    """A long quarrel of reverts is settled without recursion."""
    names = ["F", *(f"r{at}" for at in range(1500))]
    messages = {by: f"{by}\n\nThis reverts commit {named(of)}." for of, by in pairwise(names)}
    it = pictured(row(*names), refs={"refs/heads/main": names[-1]}, messages=messages)
    same = it.same("F")
    assert None is held_as(same, it.has("r1498"))
    assert named("F") == held_as(same, it.has("r1499"))


def test_twins_of_a_lost_commit():
    """The advertised copies of a lost commit are told, those on the default branch first; a lost copy is none."""
    it = drawn(
        r"""
      F        (main)
     /
A---B---C---P  (release/1.x)

X---Y
""",
        messages=dict.fromkeys("FPXY", "Free once"),
        authored=dict.fromkeys("FPXY", 1),
    )
    assert ["F", "P"] == [it.name(one) for one in twins(named("X"), it.seen)]
    assert () == twins(named("nowhere"), it.seen)


@pytest.mark.parametrize(
    ("subject", "plain"),
    [
        ("[PATCH] [1.x] Free Once (#12)", "free once"),
        ("Free once (#12) (#13)", "free once"),
        ("  [a]  b", "b"),
        ("Free [once]", "free [once]"),
        ("[never closed", "[never closed"),
    ],
)
def test_normalised(subject, plain):
    """Leading [tags] and pull-request numbers say nothing of what is done."""
    assert plain == normalised(subject)


def test_hostile_messages_are_read_in_linear_time():
    """Blank lines, spaces, brackets and digits in a crowd keep no expression busy (the timeout would tell)."""
    for text in ("\n", " ", "[", "[a]", "(#", "1", "commit ", 'Revert "', "See merge request "):
        known = drawn("A  (main)").commits[named("A")]
        commit = replace(known, subject=f"{text * 100_000}x", body=f"{text * 100_000}x")
        assert () == pull_requests(commit) == noted_origins(commit) == reverted_oids(commit)
        assert normalised(commit.subject).endswith("x")


class Counting(dict):
    """Counts whole passes over the metadata."""

    passes = 0

    def __iter__(self):
        type(self).passes += 1
        return super().__iter__()


def test_no_pass_over_the_history_for_each_question():
    """An index answers any number of questions without looking at every commit again."""
    names = [f"c{at}" for at in range(300)]
    it = pictured(
        row(*names),
        refs={"refs/heads/main": names[-1]},
        messages={name: f"m {name}\n\n(cherry picked from commit {named('gone' + name)})" for name in names},
    )
    commits = Counting(it.commits)
    index = Index(commits)
    before = Counting.passes
    for name in names:
        change = Change(landing=named(name), before=None, commits=(named(name),), title=name)
        equivalents(change, index, it.graph)
        index.same(named(name))
        index.reverts([named(name)])
    assert before == Counting.passes
