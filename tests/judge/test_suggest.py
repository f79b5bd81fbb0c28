"""Which bump do we propose, what does it cost, and what is to be said about it?"""

import pytest

from tests.judge.judging import Judging
from tests.judge.picture import drawn, named, pin
from watcher.judge.suggest import Cost

POOL = "src/pool.py"
TEXTS = {POOL: ("free(it)", "count -= 1", "log(it)", "trim(it)")}


def judge(text, *pins, messages, repaired, tracked=(), altered=None, **drawing):
    """Return the judgement of pins; every landing with lines alters the same file."""
    lines = {name: [(POOL, line, origin) for line, origin in found] for name, found in repaired.items()}
    paths = {name: [POOL] for name in repaired} | (altered or {})
    it = drawn(text, messages=messages, **drawing)
    return Judging(it, *pins, altered=paths, repaired=lines, texts=TEXTS, tracked=tracked)


def test_smallest_for_what_is_worth_it():
    """The target has every fix worth a bump; a possible one above it waits, one below it comes along."""
    mine = pin("P")
    it = judge(
        "A---P---F---B---G---C---H  (main)",
        mine,
        messages={"F": "Fix the pool", "G": "fix: free once", "H": "Fix the pool again"},
        repaired={"F": [(1, "A")], "G": [(2, "A")], "H": [(3, "A")]},
    )
    assert {"F": "possible", "G": "likely", "H": "possible"} == it.fixes()
    assert ("G", "FG", 3, 3) == it.target(mine)
    assert ["F", "G", "H"] == [it.it.name(rung.to) for rung in it.propose(mine).ladder]


def test_possible_ones_alone():
    """Where no fix is worth a bump by itself, the target has all that may be."""
    mine = pin("P")
    it = judge(
        "A---P---F---B---G---C  (main)",
        mine,
        messages={"F": "Fix the pool", "G": "Fix the pool again"},
        repaired={"F": [(1, "A")], "G": [(2, "A")]},
    )
    assert ("G", "FG", 3, 3) == it.target(mine)


def test_what_does_not_concern_the_pin():
    """A fix of lines that came after the pin is no reason to bump."""
    mine = pin("P")
    it = judge("A---P---B---F---C  (main)", mine, messages={"F": "fix: free once"}, repaired={"F": [(1, "B")]})
    assert {"F": ("no", ())} == it.said(mine)
    assert None is it.propose(mine)


TWO = r"""
      C---D---F---E      (main)
     /
A---P---Q---R            (release/1.x)
"""


def test_cheaper_line():
    """A line that gives the same for fewer commits is mentioned; the target stays on the pin's own line."""
    mine = pin("P")
    it = judge(
        TWO,
        mine,
        messages={"F": "fix: free once", "Q": "fix: free once\n\n(cherry picked from commit {F})"},
        repaired={"F": [(1, "A")]},
    )
    assert ("F", "F", 3, 3) == it.target(mine)
    assert (f"release/1.x offers the same at {named('Q')[:12]} for 1 commit",) == it.propose(mine).cautions


def test_no_cheaper_line():
    """A line that is as long, or has only some of the fixes, is not mentioned."""
    mine = pin("P")
    it = judge(
        TWO,
        mine,
        messages={
            "D": "fix: free once",
            "F": "fix: count once",
            "Q": "fix: free once\n\n(cherry picked from commit {D})",
        },
        repaired={"D": [(1, "A")], "F": [(2, "A")]},
    )
    assert ("F", "DF", 3, 3) == it.target(mine)
    assert () == it.propose(mine).cautions


def test_dearer_line():
    """A line that has every fix too, but for as many commits or more, is not mentioned."""
    mine = pin("P")
    messages = {"C": "fix: free once", "R": "fix: free once\n\n(cherry picked from commit {C})"}
    it = judge(TWO, mine, messages=messages, repaired={"C": [(1, "A")]})
    assert ("C", "C", 1, 1) == it.target(mine)
    assert () == it.propose(mine).cautions


def test_fixes_on_two_lines():
    """Where no line has every fix, the target has as many as one commit can, and the ladder shows the others."""
    mine = pin("P")
    it = judge(
        TWO,
        mine,
        pin("R", variant="rocm"),
        messages={"Q": "fix: trim once", "D": "fix: free once", "F": "fix: count once"},
        repaired={"D": [(1, "A")], "F": [(2, "A")], "Q": [(4, "A")]},
    )
    assert ("F", "DF", 3, 3) == it.target(mine)
    assert ["Q", "D", "F"] == [it.it.name(rung.to) for rung in it.propose(mine).ladder]


def test_a_cheap_possible_fix_elsewhere_does_not_move_the_target():
    """The fix worth a bump decides: one that is merely possible and lies on another line changes nothing."""
    mine = pin("P")
    it = judge(
        r"""
      C---D---F---E              (main)
     /
A---P---Q---R                    (release/1.x)
     \
      S---T---U---V---W---X      (tag: v9)
""",
        mine,
        pin("R", variant="rocm"),
        messages={
            "Q": "Fix the trim",
            "F": "fix: free once",
            "W": "w\n\n(cherry picked from commit {Q})\n(cherry picked from commit {F})",
        },
        repaired={"F": [(1, "A")], "Q": [(4, "A")]},
    )
    assert ("F", "F", 3, 3) == it.target(mine)


def test_regression_repaired_later():
    """A target that brings a bug which a later fix repairs says so, with the smallest target without it."""
    mine = pin("P")
    it = judge(
        "A---P---B---F---C---G---D  (main)",
        mine,
        messages={"F": "fix: free once", "G": "fix: count again\n\nFixes: {B}"},
        repaired={"F": [(1, "A")], "G": [(2, "B")]},
    )
    assert ("F", "F", 2, 2) == it.target(mine)
    (caution,) = it.propose(mine).cautions
    assert [
        f"brings {named('B')[:12]}, which 'fix: count again' repairs later",
        f"{named('G')[:12]} is the smallest without it",
    ] == caution.split("; ")


def test_a_fix_and_its_follow_up():
    """What completes a fix belongs to it: the smallest commit with both is named."""
    mine = pin("P")
    it = judge(
        "A---P---F---C---G---D  (main)",
        mine,
        messages={"F": "fix: free once", "G": "fix: free the list too\n\nFollow-up to {F}"},
        repaired={"F": [(1, "A")], "G": [(2, "B")]},
    )
    assert ("F", "F", 1, 1) == it.target(mine)
    (caution,) = it.propose(mine).cautions
    assert [
        "'fix: free once' is completed by 'fix: free the list too', which came later",
        f"{named('G')[:12]} is the smallest with both",
    ] == caution.split("; ")


@pytest.mark.parametrize(
    ("lines", "told"),
    [([(2, "B")], True), ([(2, "B"), (3, "B")], True), ([(2, "B"), (3, "C")], False), ([(2, "A")], False)],
)
def test_regression_by_blame(lines, told):
    """Lines that all came with one commit of the bump tell a regression; a mixture does not."""
    mine = pin("P")
    it = judge(
        "A---P---B---C---F---G---D  (main)",
        mine,
        messages={"F": "fix: free once", "G": "fix: count again"},
        repaired={"F": [(1, "A")], "G": lines},
    )
    cautions = it.propose(mine).cautions
    assert told is any("repairs later" in caution for caution in cautions)


def test_regression_that_was_repaired_before_the_target():
    """A regression whose repair the target has is not mentioned."""
    mine = pin("P")
    it = judge(
        "A---P---B---G---F---D  (main)",
        mine,
        messages={"F": "fix: free once", "G": "fix: count again\n\nFixes: {B}"},
        repaired={"F": [(1, "A")], "G": [(2, "B")]},
    )
    assert ("F", "F", 3, 3) == it.target(mine)
    assert () == it.propose(mine).cautions


def test_reverted_repair_of_a_regression():
    """A repair that the target has and took back again repairs nothing there."""
    mine = pin("P")
    it = judge(
        "A---P---B---G---R---F---L---D  (main)",
        mine,
        messages={
            "F": "fix: free once",
            "G": "fix: count again\n\nFixes: {B}",
            "R": 'Revert "fix: count again"\n\nThis reverts commit {G}.',
            "L": 'Reapply "fix: count again"\n\nThis reverts commit {R}.',
        },
        repaired={"F": [(1, "A")], "G": [(2, "B")]},
    )
    assert "F" == it.target(mine)[0]
    assert [f"{named('L')[:12]} is the smallest without it"] == [
        caution.split("; ")[1] for caution in it.propose(mine).cautions
    ]


UNMERGED = "    X---Y---P  (topic)\n   /\nA---B---C---F---D  (main)"
FIXED = {"messages": {"F": "fix: free once", "X": "Tune", "Y": "Tune more"}, "repaired": {"F": [(1, "A")]}}


def test_not_a_fast_forward():
    """A pin on a branch that was never merged loses its own commits by the bump: they are listed, newest last."""
    mine = pin("P")
    it = judge(UNMERGED, mine, **FIXED)
    made = it.propose(mine)
    assert ("F", False) == (it.it.name(made.target.to), made.fast_forward)
    x, y, p = (named(name)[:12] for name in "XYP")
    assert (f"not a fast-forward: moving loses {x} (Tune), {y} (Tune more), {p} (P)",) == made.cautions


def test_many_lost_commits():
    """Of many lost commits the last few are named, the others counted."""
    mine = pin("P")
    names = "---".join(f"x{at}" for at in range(9))
    it = judge(f"    {names}---P  (topic)\n   /\nA---B---F---D  (main)", mine, **FIXED)
    (caution,) = it.propose(mine).cautions
    assert caution.endswith(f"{named('P')[:12]} (P) and 5 more")


def test_own_work_landed():
    """Where the pin's own work landed under another id, that is its position, and nothing is lost."""
    mine = pin("P")
    it = judge(
        "    P  (topic)\n   /\nA---B---S---F---D  (main)",
        mine,
        messages={"F": "fix: free once", "P": "Tune", "S": "Tune (#12)"},
        authored={"P": 4, "S": 4},
        repaired={"F": [(1, "A")]},
    )
    made = it.propose(mine)
    assert ("F", False) == (it.it.name(made.target.to), made.fast_forward)
    assert (f"not a fast-forward: the pin's own work landed as {named('S')[:12]}",) == made.cautions


def test_pull_only():
    """A pin that only a proposal holds is judged like one on an unmerged branch."""
    mine = pin("P")
    it = judge(UNMERGED.replace("  (topic)", ""), mine, pulls={"refs/pull/7/head": "P"}, **FIXED)
    assert (False, "F") == (it.propose(mine).fast_forward, it.it.name(it.propose(mine).target.to))


def test_a_branch_of_its_own():
    """A pin on a long-lived branch is offered that branch's own fixes as a fast-forward."""
    mine = pin("X")
    it = judge(
        "    X---Y---G---P  (nightly)\n   /\nA---B---C  (main)",
        mine,
        messages={"G": "fix: free once"},
        repaired={"G": [(1, "A")]},
    )
    assert ("G", "G", 2, 2) == it.target(mine)
    assert it.propose(mine).fast_forward


def test_a_fast_forward_is_proposed_first():
    """A pin on a branch of its own is offered what that branch has, not what moving to another one would give."""
    mine = pin("X")
    it = judge(
        "    X---Y---G---P  (nightly)\n   /\nA---B---F---H---C  (main)",
        mine,
        messages={"G": "fix: free once", "F": "fix: count once", "H": "fix: trim once"},
        repaired={"G": [(1, "A")], "F": [(2, "A")], "H": [(4, "A")]},
    )
    assert ("G", "G", 2, 2) == it.target(mine)
    assert () == it.propose(mine).cautions
    assert {"G", "F", "H"} == {it.landing(name) for name in it.single(mine)}


def test_unrelated_history():
    """A pin that shares nothing with any line gets no bump, though it is affected."""
    mine = pin("P")
    it = judge("P\n\nA---B---F---D  (main)", mine, messages=FIXED["messages"], repaired={"F": [(1, "P")]})
    assert "yes" == it.said(mine)["F"][0]
    assert None is it.propose(mine)


def test_cost():
    """The cost is told: versions on both sides, build contract, shipped files by variant."""
    mine = pin("P")
    it = judge("A---P---F---D  (main)", mine, messages={"F": "fix: once"}, repaired={"F": [(1, "A")]})
    cost = Cost(
        paths=("setup.py", "src/pool.py", "src/hip/pool.cpp", "csrc/cuda/pool.cpp", "csrc/CMakeLists.txt", "docs/a.md"),
        before={"setup.py": "setup(version='1')"},
        after={"setup.py": "setup(version='2')"},
    )
    made = it.propose(mine, cost)
    assert ("1", "2") == (made.version_from, made.version_to)
    assert ("setup.py", "csrc/CMakeLists.txt") == made.contract
    assert {"any": 3, "rocm": 1, "cuda": 1} == made.files
