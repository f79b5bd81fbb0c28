"""Where does a bump go, why there, what comes along, and who stays?"""

import pytest

from tests.judge.judging import Judging
from tests.judge.picture import drawn, named, pin
from watcher.judge.contract import Difference
from watcher.judge.destinations import Aim, Ground
from watcher.judge.plan import plans
from watcher.judge.reachability import reachability
from watcher.judge.stays import foreign, unseen
from watcher.model import RefKind
from watcher.observation import Position
from watcher.planned import Stance, Way

POOL = "src/pool.py"
TEXTS = {POOL: ("free(it)", "count -= 1", "log(it)", "trim(it)")}
NOTHING = Difference(paths=(), before={}, after={})
ROCM = {"variant": "rocm", "file": "docker/Dockerfile.rocm"}


class Planning:
    """Plans over a drawing; `repaired`: landing → (line, origin) of the pool."""

    def __init__(self, text, *pins, messages, repaired, tracked=(), difference=NOTHING, positions=None, **drawing):
        lines = {name: [(POOL, line, origin) for line, origin in found] for name, found in repaired.items()}
        self.it = drawn(text, messages=messages, **drawing)
        paths = {name: [POOL] for name in repaired}
        known = {"positions": positions} if positions else {}
        made = Judging(self.it, *pins, altered=paths, repaired=lines, texts=TEXTS, tracked=tracked, **known)
        self.difference = difference
        self.ground = Ground(
            seen=made.seen,
            surveyed=made.survey,
            judgement=made.judged,
            repairs=made.repairs,
            reachability={mine.id: reachability(mine, made.seen, tracked) for mine in pins},
            suggestions={mine.id: said for mine in pins if (said := made.propose(mine))},
            tracked=tracked,
        )

    def plans(self, *meant, others=(), aim=Aim.MINIMAL, together=False):
        """Return the plans; an aim that is a drawn name means that commit."""
        there = aim if isinstance(aim, Aim) else named(aim)
        return plans("pool", meant, tuple(others), there, self.ground, lambda *_: self.difference, together=together)

    def plan(self, *meant, **more):
        """Return the one plan."""
        [only] = self.plans(*meant, **more)
        return only

    def name(self, oid):
        """Return the drawn name of a commit."""
        return self.it.name(oid)

    def landed(self, gains):
        """Return the drawn names of the landings of fixes."""
        return "".join(self.name(gain.fix.change.landing) for gain in gains)


ROW = "A---P---F---B---G---C---H  (main)"
FIXES = {"F": "fix: free once", "G": "fix: count right", "H": "Fix the log"}
LINES = {"F": [(1, "A")], "G": [(2, "A")], "H": [(3, "A")]}


def test_the_smallest():
    """The plan names target, way, gains, landings, and what the target lacks that may concern the pin."""
    mine = pin("P")
    it = Planning(ROW, mine, messages=FIXES, repaired=LINES)
    plan = it.plan(mine)
    [step] = plan.steps
    assert ("G", "refs/heads/main") == (it.name(plan.to), plan.line)
    assert ("P", Way.FORWARD, 3, 3) == (it.name(step.from_), step.way, step.rung.commits, step.rung.landings)
    assert ("FG", "H") == (it.landed(step.gains), it.landed(step.lacks))
    assert [("F", True), ("B", False), ("G", True)] == [
        (it.name(one.change.landing), one.is_gained) for one in step.passed
    ]
    assert ((), ()) == (step.cautions, plan.cautions)
    assert ["F", "G", "H"] == [it.name(rung.to) for rung in step.ladder]


def test_why_it_is_the_smallest():
    """The published line, what the state before lacks, and that the branch alone was never published."""
    mine = pin("P")
    it = Planning(
        r"""
                  X
                 / \
        A---P---F---G---C  (main)
        """,
        mine,
        messages={"F": "fix: free once", "G": "Merge pull request #7 from dana/x\n\nfix: count right"},
        repaired=LINES,
    )
    assert (
        f"the first state of main that has what is pinned, {named('F')[:12]} and #7",
        f"one landing earlier, {named('F')[:12]} lacks #7",
        f"{named('X')[:12]} alone is 1 commit fewer, but no tip that upstream published ever was it",
    ) == it.plan(mine).why


def test_all_fixes():
    """The last step of the ladder has every fix, the possible ones too."""
    mine = pin("P")
    it = Planning(ROW, mine, messages=FIXES, repaired=LINES)
    plan = it.plan(mine, aim=Aim.ALL_FIXES)
    assert ("H", "FGH") == (it.name(plan.to), it.landed(plan.steps[0].gains))


def test_a_commit_that_was_asked_for():
    """It says which fixes that commit has and lacks, and where the smallest is."""
    mine = pin("P")
    it = Planning(ROW, mine, messages=FIXES, repaired=LINES)
    plan = it.plan(mine, aim="B")
    assert ("B", "F", "GH") == (it.name(plan.to), it.landed(plan.steps[0].gains), it.landed(plan.steps[0].lacks))
    smallest = f"the smallest with the fixes worth a bump is {named('G')[:12]} (3 commits)"
    assert ("you asked for it; it is on main", smallest) == plan.why


def test_a_downgrade_says_so():
    """An older target is shown, with what it takes back and which fixes that takes away."""
    mine, other = pin("G"), pin("P", **ROCM)
    it = Planning(ROW, mine, other, messages=FIXES, repaired=LINES)
    plan = it.plan(mine, others=[other], aim="F")
    [step] = plan.steps
    assert (Way.BACK, 2, 0) == (step.way, step.back, step.rung.commits)
    assert ["B", "G"] == [it.name(one.change.landing) for one in step.passed]
    assert [
        "a downgrade: the target is older than what is pinned and takes back 2 commits",
        f"takes away {named('G')[:12]} “fix: count right”, which the pin has",
    ] == list(step.cautions)


def test_sideways():
    """A target on another branch says what is lost, and that upstream never published it."""
    mine = pin("P")
    it = Planning(
        r"""
          X---Y            (topic)
         /
        A---P---F---C      (main)
        """,
        mine,
        messages={"F": "fix: free once"},
        repaired={"F": [(1, "A")]},
    )
    plan = it.plan(mine, aim="Y")
    assert Way.SIDEWAYS is plan.steps[0].way
    assert (f"not a fast-forward: moving loses {named('P')[:12]} (P)",) == plan.steps[0].cautions
    assert ("upstream never published this state: it is a commit inside a branch",) == plan.cautions
    assert None is plan.line


def test_released_since():
    """The nearest version after the target is named; a tag at the target is the target's own name."""
    mine = pin("P")
    refs = {"refs/tags/v1.1": "C", "refs/tags/v1.2": "H", "refs/tags/nightly": "B"}
    it = Planning(ROW, mine, messages=FIXES, repaired=LINES, refs=refs)
    assert ("upstream released it since, in v1.1: 1 commit more",) == it.plan(mine).cautions
    there = Planning(ROW, mine, messages=FIXES, repaired=LINES, refs={"refs/tags/v1.0": "G", "refs/tags/v1.1": "H"})
    assert (("v1.0",), ()) == (there.plan(mine).tags, there.plan(mine).cautions)


def test_beside_the_line_that_we_follow():
    """A target that only a release branch has is said to be beside the line."""
    mine = pin("P")
    it = Planning(
        r"""
        A---P---C---D          (main)
             \
              Q---R            (release/1.x)
        """,
        mine,
        messages={},
        repaired={},
    )
    assert ("it is on release/1.x, not on main, which we follow",) == it.plan(mine, aim="Q").cautions


def test_what_upstream_took_back():
    """A landing on the way that the line no longer has is marked, and warned of."""
    mine = pin("P")
    it = Planning(
        "A---P---B---F---R---C  (main)",
        mine,
        messages={"F": "fix: free once", "R": 'Revert "B"\n\nThis reverts commit {B}.'},
        repaired={"F": [(1, "A")]},
    )
    [step] = it.plan(mine).steps
    assert [("taken back later",), ()] == [one.later for one in step.passed]
    assert (f"{named('B')[:12]} “B”: taken back later",) == step.cautions


def test_what_is_repaired_later():
    """A landing whose bug a later fix repairs is marked with that fix."""
    mine = pin("P")
    it = Planning(
        "A---P---B---F---G---C  (main)",
        mine,
        messages={"F": "fix: free once", "G": "fix: count right\n\nFixes: {B:.12}"},
        repaired={"F": [(1, "A")], "G": [(2, "B")]},
    )
    [step] = it.plan(mine).steps
    assert "F" == it.name(step.rung.to)
    assert [(f"repaired later by {named('G')[:12]}",), ()] == [one.later for one in step.passed]
    assert 1 == len(step.cautions)


# --- several pins ----------------------------------------------------------------------------------------------------


def test_together():
    """Pins at different commits go to the earliest that has all of them and all their fixes."""
    cuda, rocm = pin("P"), pin("B", **ROCM)
    it = Planning(
        "A---P---F---B---G---C  (main)", cuda, rocm, messages=FIXES, repaired={"F": [(1, "A")], "G": [(2, "A")]}
    )
    plan = it.plan(cuda, others=[rocm], together=True)
    assert "G" == it.name(plan.to)
    assert [("P", 3, "FG"), ("B", 1, "G")] == [
        (it.name(step.from_), step.rung.commits, it.landed(step.gains)) for step in plan.steps
    ]
    assert () == plan.stays


def test_one_alone_leaves_the_other_behind():
    """Without --all-variants the other variant is said to be left behind."""
    cuda, rocm = pin("P"), pin("P", **ROCM)
    it = Planning("A---P---F---C  (main)", cuda, rocm, messages=FIXES, repaired={"F": [(1, "A")]})
    plan = it.plan(cuda, others=[rocm])
    assert [cuda] == [step.pin for step in plan.steps]
    [stay] = plan.stays
    assert (rocm, Stance.LEFT_BEHIND) == (stay.pin, stay.stance)
    lacks = f"it lacks {named('F')[:12]} too; --all-variants moves it as well"
    assert f"is left behind at {named('P')[:12]}: {lacks}" == stay.said


def test_no_commit_for_both():
    """Pins on lines that nothing joins go to a commit each."""
    cuda, rocm = pin("Q"), pin("D", **ROCM)
    it = Planning(
        r"""
        A---P---D---F---C      (main)
             \
              Q---G---E        (release/1.x)
        """,
        cuda,
        rocm,
        messages={"F": "fix: free once", "G": "fix: free once\n\n(cherry picked from commit {F})"},
        repaired={"F": [(1, "A")], "G": [(1, "A")]},
    )
    assert {"F": "apart", "G": "apart"} == {
        it.name(plan.to): plan.stays[0].stance.value for plan in it.plans(cuda, others=[rocm], together=True)
    }


def test_one_that_has_it_needs_no_change():
    """The variant that has the fix is named with the commit by which it has it."""
    cuda, rocm = pin("P"), pin("C", **ROCM)
    it = Planning("A---P---F---C  (main)", cuda, rocm, messages=FIXES, repaired={"F": [(1, "A")]})
    [stay] = it.plan(cuda, others=[rocm], together=True).stays
    short = named("F")[:12]
    assert (Stance.HAS_IT, f"already has {short} (as {short}): no change") == (stay.stance, stay.said)


def test_one_that_is_not_concerned():
    """A variant whose code came before the bug is told the reason."""
    cuda, rocm = pin("B"), pin("P", **ROCM)
    it = Planning("A---P---B---F---C  (main)", cuda, rocm, messages=FIXES, repaired={"F": [(1, "B")]})
    [stay] = it.plan(cuda, others=[rocm], together=True).stays
    assert Stance.NOT_CONCERNED is stay.stance
    assert "does not concern it" in stay.said


def test_one_that_follows_a_branch():
    """A floating pin is not moved: it is told to be pinned."""
    cuda, rocm = pin("P"), pin("main", kind=RefKind.BRANCH, **ROCM)
    at = {cuda.id: Position(commit=named("P")), rocm.id: Position(commit=named("C"))}
    it = Planning("A---P---F---C  (main)", cuda, rocm, messages=FIXES, repaired={"F": [(1, "A")]}, positions=at)
    [stay] = it.plan(cuda, others=[rocm], together=True).stays
    assert (Stance.FLOATING, "follows main: pin it") == (stay.stance, stay.said)


def test_one_that_stands_there():
    """A pin at the target needs no change."""
    cuda, rocm = pin("P"), pin("F", **ROCM)
    it = Planning("A---P---F---C  (main)", cuda, rocm, messages=FIXES, repaired={"F": [(1, "A")]})
    assert Stance.THERE is it.plan(cuda, others=[rocm], together=True).stays[0].stance


def test_other_repositories():
    """A relative is another repository, and one that was not observed is neither."""
    fork = pin("P", upstream="https://example.org/fork/project")
    assert (
        "is another repository than owner/project: not moved" == foreign(fork, "https://example.org/owner/project").said
    )
    assert (Stance.UNOBSERVED, "could not be looked at: 403") == (unseen(fork, "403").stance, unseen(fork, "403").said)


# --- nothing moves ---------------------------------------------------------------------------------------------------


def test_nothing_to_gain():
    """Without a fix nothing moves, and nobody says that all is well."""
    mine = pin("P")
    it = Planning("A---P---C  (main)", mine, messages={}, repaired={})
    plan = it.plan(mine)
    assert (None, ()) == (plan.to, plan.steps)
    assert "nothing to gain: no fix found that concerns it" == plan.stays[0].said


def test_no_way():
    """A fix without a published commit that has it and the pin is said to be out of reach."""
    mine = pin("X")
    it = Planning(
        r"""
        A---P---F---C      (main)
         \
          X                (release/1.x)
        """,
        mine,
        messages=FIXES,
        repaired={"F": [(1, "A")]},
    )
    plan = it.plan(mine)
    assert (None, Stance.NO_WAY) == (plan.to, plan.stays[0].stance)
    lacks = f"it lacks {named('F')[:12]}, and no published commit has both what is pinned and that"
    assert lacks == plan.stays[0].said


@pytest.mark.parametrize("aim", [Aim.MINIMAL, Aim.ALL_FIXES, "C"])
def test_a_lost_pin_gets_evidence(aim):
    """An unreachable pin is never moved, whatever the aim: there is evidence, and what to do."""
    mine = pin("X")
    it = Planning(
        r"""
        A---P---F---C      (main)
         \
          X
        """,
        mine,
        messages=FIXES,
        repaired={"F": [(1, "A")]},
    )
    plan = it.plan(mine, aim=aim)
    assert None is plan.to
    assert Stance.LOST is plan.stays[0].stance
    assert "is not bumped: " in plan.stays[0].said
    assert any("attack" in line for line in plan.stays[0].advice)


def test_the_commit_that_is_pinned():
    """A pin that stands where it is asked to go does not move."""
    mine = pin("P")
    it = Planning("A---P---F---C  (main)", mine, messages=FIXES, repaired={"F": [(1, "A")]})
    plan = it.plan(mine, aim="P")
    assert (None, Stance.THERE) == (plan.to, plan.stays[0].stance)


def test_files_version_and_contract():
    """Files are counted by variant, the version is read on both sides, and terms are told."""
    mine = pin("P")
    difference = Difference(
        paths=("src/pool.py", "src/rocm/pool.py", "tests/test_pool.py", "pyproject.toml"),
        before={"pyproject.toml": '[project]\nversion = "1"\ndependencies = []\n'},
        after={"pyproject.toml": '[project]\nversion = "1"\ndependencies = ["ninja>=1"]\n'},
    )
    it = Planning("A---P---F---C  (main)", mine, messages=FIXES, repaired={"F": [(1, "A")]}, difference=difference)
    [step] = it.plan(mine).steps
    assert ({"any": 2, "rocm": 1}, 1) == (step.files, step.other_files)
    assert ("1", "1") == (step.version_from, step.version_to)
    assert [("pyproject.toml", "new dependency ninja >=1")] == [(it.place, it.said) for it in step.terms]
