"""Which commit is offered, when history has more than one line: backports, reverts, side branches, regressions."""

from datetime import UTC, datetime

import pytest

from tests.stories import kit
from tests.stories.world import (
    bump,
    findings_of,
    kinds,
    offered,
    pin_of,
    reach,
    the,
    the_drift,
    told,
)

FIX = kit.MESSAGES["F"]
TITLE = FIX.partition("\n")[0]


def draw(world, picture, **messages):
    """Draw a history: names that begin with F hold the repaired file, names with R the broken one again."""
    names = {name: oid for name, oid in messages.items() if name[0] in "FR"}
    files = dict(kit.FILES) | {name: {"src/engine.c": kit.REPAIRED if name[0] == "F" else kit.BROKEN} for name in names}
    return world.engine.draw(picture, files=files, messages=kit.MESSAGES | messages)


def reverting(oid, title=TITLE):
    """Return the message of a revert."""
    return f'Revert "{title}"\n\nThis reverts commit {oid}.\n'


def test_a_pin_on_a_release_branch_gets_the_backport(world):
    """The pin's own line comes first: the pick on release/1.4, not the commit on main that loses its branch."""
    picture = r"""
              X---G---H     (release/1.4)
             /
    A---B---C---D---F---E   (main)
    """
    pick = {"G": f"{FIX}\n(cherry picked from commit %s)\n"}
    files = kit.FILES | {"G": kit.FILES["F"]}
    fix = world.engine.draw(picture, files=files, messages=kit.MESSAGES)["F"]
    oids = world.engine.draw(picture, files=files, messages=kit.MESSAGES | {"G": pick["G"] % fix})
    world.pin(cuda=oids["X"], rocm=oids["C"])
    found = world.look()
    made = bump(found, "cuda")
    assert oids["G"] == made.target.to
    assert "refs/heads/release/1.4" == made.target.line
    assert (1, 1) == (made.target.commits, made.target.landings)
    assert made.fast_forward
    assert oids["F"] == offered(found, "rocm")


def test_a_line_that_needs_fewer_commits_is_mentioned_beside(world):
    """A pin on main is offered main's commit; that the release branch offers the same for less is said."""
    picture = r"""
              G                  (release/1.4)
             /
    A---B---C---D---E---H---F    (main)
    """
    files = kit.FILES | {"G": kit.FILES["F"]}
    fix = world.engine.draw(picture, files=files, messages=kit.MESSAGES)["F"]
    words = kit.MESSAGES | {"G": f"{FIX}\n(cherry picked from commit {fix})\n"}
    oids = world.engine.draw(picture, files=files, messages=words)
    world.pin(cuda=oids["C"])
    made = bump(world.look())
    assert oids["F"] == made.target.to
    assert 4 == made.target.commits
    assert [f"release/1.4 offers the same at {oids['G'][:12]} for 1 commits".replace("1 commits", "1 commit")] == [
        caution.replace("1 commits", "1 commit") for caution in made.cautions
    ]


def test_a_commit_inside_a_pull_request_is_no_target(world):
    """Fewest commits of all would be the side commit, but no tip ever was it: the merge is offered."""
    picture = r"""
          F---
         /    \
    A---B---C---M---D   (main)
    """
    words = {"M": "Merge pull request #9 from dana/close\n\nClose borrowed buffers"}
    oids = draw(world, picture, **words)
    world.pin(cuda=oids["B"])
    made = bump(world.look())
    assert oids["M"] == made.target.to
    assert 3 == made.target.commits


def test_a_commit_inside_a_pull_request_as_a_pin(world):
    """A pin on the side of a merge that lacks what the mainline had is offered the earliest commit with both."""
    picture = r"""
          X---Y
         /     \
    A---B---F---M---D   (main)
    """
    oids = draw(world, picture, M="Merge pull request #9 from dana/xy\n\nAdd X and Y")
    world.pin(cuda=oids["X"])
    made = bump(world.look())
    assert oids["M"] == made.target.to
    assert made.fast_forward


def test_a_reverted_fix_is_not_suggested(world):
    """It was taken back and stands nowhere: nothing to gain."""
    fix = draw(world, "A---B---F   (main)")["F"]
    oids = draw(world, "A---B---F---R   (main)", R=reverting(fix))
    world.pin(cuda=oids["B"])
    found = world.look()
    assert () == found.suggestions
    assert [] == [it for it in findings_of(found, "fix-available") if it.target == oids["F"]]


def test_a_fix_that_is_reverted_later_is_withdrawn(world):
    """The suggestion of yesterday resolves when upstream takes the fix back."""
    oids = draw(world, "A---B---F   (main)")
    world.pin(cuda=oids["B"])
    assert oids["F"] == offered(world.look())
    draw(world, "A---B---F---R   (main)", R=reverting(oids["F"]))
    found = world.look()
    assert ("resolved", "fix-available") in told(found)
    assert offered(found) is None


def test_a_pin_on_a_reverted_fix_does_not_have_it(world):
    """After fix, revert and re-landing: a pin on the revert is offered the re-landing, a pin on the fix nothing."""
    fix = draw(world, "A---B---F   (main)")["F"]
    revert = draw(world, "A---B---F---R   (main)", R=reverting(fix))["R"]
    again = f'Reapply "{TITLE}"\n\nThis reverts commit {revert}.\n\nFixes #31\n'
    oids = draw(world, "A---B---F---R---F2---E   (main)", R=reverting(fix), F2=again)
    world.pin(cuda=oids["R"], rocm=oids["F2"])
    found = world.look()
    assert oids["F2"] == offered(found, "cuda")
    assert offered(found, "rocm") is None


def test_a_relanded_fix_is_suggested(world):
    """Taken back and landed again: a pin before all that is offered a state in which it stands, never the revert."""
    fix = draw(world, "A---B---F   (main)")["F"]
    revert = draw(world, "A---B---F---R   (main)", R=reverting(fix))["R"]
    again = f'Revert "Revert "{TITLE}""\n\nThis reverts commit {revert}.\n'
    oids = draw(world, "A---B---F---R---F2---E   (main)", R=reverting(fix), F2=again)
    world.pin(cuda=oids["B"], rocm=oids["R"])
    found = world.look()
    assert offered(found, "cuda") in {oids["F"], oids["F2"]}
    assert oids["R"] not in {rung.to for rung in bump(found, "cuda").ladder}
    assert offered(found, "rocm") in {None, oids["F2"]}


@pytest.mark.parametrize("trace", ["note", "author and date", "patch"])
def test_a_pin_that_has_the_pick_contains_the_fix(world, trace):
    """The pin sits on a branch of its own with the fix cherry-picked: whatever trace tells, nothing is offered."""
    picture = r"""
          X---G       (vendor)
         /
    A---B---C---F     (main)
    """
    files = kit.FILES | {"G": kit.FILES["F"]}
    fix = world.engine.draw(picture, files=files, messages=kit.MESSAGES)["F"]
    words = {
        "note": {"messages": {"G": f"Do not close twice\n\n(cherry picked from commit {fix})\n"}},
        "author and date": {"messages": {"G": TITLE}, "files": {"G": kit.FILES["F"] | {"src/vendor.c": "int v;\n"}}},
        "patch": {"messages": {"G": "Take over what upstream did"}},
    }[trace]
    dates = {}
    if trace == "author and date":
        dates = {name: datetime(2026, 1, 9, tzinfo=UTC) for name in "FG"}
    oids = world.engine.draw(
        picture, files=files | words.get("files", {}), messages=kit.MESSAGES | words["messages"], dates=dates
    )
    world.pin(cuda=oids["G"], rocm=oids["C"])
    found = world.look()
    assert "branch" == reach(found, "cuda").cls
    assert [] == findings_of(found, "fix-available", "cuda")
    assert bump(found, "cuda") is None
    assert oids["F"] == offered(found, "rocm")
    assert () == the_drift(found).lacks["cuda"]


def test_a_part_of_a_change_is_not_the_change(world):
    """One of two side commits was picked: the pin still lacks the fix."""
    picture = r"""
          F---U
         /     \
    A---B---C---M     (main)
         \
          G           (vendor)
    """
    files = kit.FILES | {
        "A": kit.FILES["A"] | {"src/pool.c": kit.BROKEN},
        "U": {"src/pool.c": kit.REPAIRED},
        "G": kit.FILES["F"],
    }
    words = {
        "M": "Merge pull request #9 from dana/fix-close\n\nFix closing twice",
        "U": "fix: the same in the pool\n\nFixes #31",
    }
    fix = world.engine.draw(picture, files=files, messages=kit.MESSAGES | words)["F"]
    words["G"] = f"{FIX}\n(cherry picked from commit {fix})"
    oids = world.engine.draw(picture, files=files, messages=kit.MESSAGES | words)
    world.pin(cuda=oids["G"])
    assert 1 == len(findings_of(world.look(), "fix-available"))


def test_a_pin_on_an_unmerged_branch_is_told_what_moving_loses(world):
    """No published commit has its work: the bump is marked not a fast-forward and lists what would be lost."""
    picture = r"""
          X---Y       (topic)
         /
    A---B---F         (main)
    """
    oids = draw(world, picture, X="Teach the engine to pause", Y="Teach it to resume")
    world.pin(cuda=oids["Y"])
    found = world.look()
    made = bump(found)
    assert oids["F"] == made.target.to
    assert not made.fast_forward
    [caution] = made.cautions
    for words in ("not a fast-forward", oids["X"][:12], oids["Y"][:12], "Teach it to resume"):
        assert words in caution


def test_an_unmerged_proposal_is_told_what_moving_loses(world):
    """The same for a commit that only a proposal holds; finding and suggestion name one target."""
    picture = r"""
          X---Y       (refs/pull/7/head)
         /
    A---B---F         (main)
    """
    oids = draw(world, picture, X="Teach the engine to pause", Y="Teach it to resume")
    world.pin(cuda=oids["Y"])
    found = world.look()
    made = bump(found)
    assert oids["F"] == made.target.to
    assert not made.fast_forward
    assert oids["X"][:12] in made.cautions[0]
    assert "pull-only" == reach(found).cls
    assert oids["F"] == the(found, "fix-available").target


def test_a_squashed_proposal_has_its_landing_as_position(world):
    """The pin's own work landed as S: the target has S and the fix, and the way there is no fast-forward."""
    picture = r"""
          X---Y               (refs/pull/7/head)
         /
    A---B---C---S---D---F     (main)
    """
    oids = draw(world, picture, Y="Teach the engine to pause", S="Teach the engine to pause (#7)")
    world.pin(cuda=oids["Y"])
    made = bump(world.look())
    assert oids["F"] == made.target.to
    assert not made.fast_forward
    assert oids["S"][:12] in made.cautions[0]
    assert "loses" not in made.cautions[0]


def test_a_fix_before_the_landing_of_the_proposal_needs_the_landing_too(world):
    """The target is never older than the pin's own work: not F, but S that came after it."""
    picture = r"""
          X---Y               (refs/pull/7/head)
         /
    A---B---F---S---D         (main)
    """
    oids = draw(world, picture, Y="Teach the engine to pause", S="Teach the engine to pause (#7)")
    world.pin(cuda=oids["Y"])
    assert oids["S"] == offered(world.look())


def test_a_target_with_a_regression_says_so(world):
    """On the way to the fix comes a bug that a later fix repairs: said aloud, with the smallest commit without it."""
    bad = kit.BROKEN.replace("flush_pages(buffer->first, buffer->count);", "flush_pages(buffer->first, 0);")
    both = kit.REPAIRED.replace("flush_pages(buffer->first, buffer->count);", "flush_pages(buffer->first, 0);")
    files = {"A": kit.FILES["A"], "X": {"src/engine.c": bad}, "F": {"src/engine.c": both}, "G": kit.FILES["F"]}
    picture = "A---B---X---F---C---G---D   (main)"
    words = {"X": "Flush less", "G": "placeholder"}
    brought = world.engine.draw(picture, files=files, messages=kit.MESSAGES | words)["X"]
    words["G"] = f"fix: no page is flushed any more\n\nFixes: {brought}\n"
    oids = world.engine.draw(picture, files=files, messages=kit.MESSAGES | words)
    world.pin(cuda=oids["B"])
    found = world.look()
    made = bump(found)
    assert oids["F"] == made.target.to
    [caution] = made.cautions
    assert oids["X"][:12] in caution
    assert "no page is flushed any more" in caution
    assert oids["G"][:12] in caution
    assert 1 == len(findings_of(found, "fix-available")), "the pin itself does not have that bug"


def test_a_fix_of_newer_code_concerns_no_older_pin(world):
    """The lines it repairs came after the pin: no finding at all."""
    new = {"src/new.c": kit.BROKEN}
    files = {"A": {"src/old.c": "int old;\n"}, "N": new, "G": {"src/new.c": kit.REPAIRED}}
    words = {"N": "Add a new engine", "G": FIX}
    oids = world.engine.draw("A---B---N---C---G   (main)", files=files, messages=words)
    world.pin(cuda=oids["B"], rocm=oids["N"])
    found = world.look()
    assert [] == findings_of(found, "fix-available", "cuda")
    assert oids["G"] == offered(found, "rocm")


def test_a_fix_that_was_never_backported(world):
    """A release branch lacks a certain fix that it needs: told as severe as it is, and that there is no bump."""
    picture = r"""
              X---Y     (release/1.4)
             /
    A---B---C---F       (main)
    """
    oids = draw(world, picture)
    world.pin(cuda=oids["X"])
    found = world.look()
    concern = the(found, "fix-available")
    assert concern.target is None
    assert "No published commit has both" in concern.advice
    assert "high" == concern.severity


def test_a_fix_in_a_file_that_was_renamed_since(world):
    """The place is told by the name that the file has in the pinned tree."""
    files = {
        "A": {"src/engine.c": kit.BROKEN},
        "N": {"src/engine.c": None, "src/core/engine.c": kit.BROKEN},
        "F": {"src/core/engine.c": kit.REPAIRED},
    }
    oids = world.engine.draw("A---B---N---F   (main)", files=files, messages=kit.MESSAGES | {"N": "Move the engine"})
    world.pin(cuda=oids["B"])
    made = bump(world.look())
    assert oids["F"] == made.target.to
    assert (kit.REPAIRED_LINE,) == made.verdicts[0].where


def test_tests_docs_and_tooling_concern_no_pin(world):
    """A fix that alters nothing shipped raises nothing, whatever it is called."""
    files = kit.FILES | {
        "T": {"tests/test_engine.py": "def test(): ...\n"},
        "U": {"docs/engine.md": "# Engine\n"},
        "V": {".github/workflows/ci.yml": "on: push\n"},
        "W": {"scripts/build.sh": "make\n"},
    }
    messages = dict.fromkeys("TUVW", "fix: crash\n\nFixes #3\n")
    oids = world.engine.draw("A---T---U---V---W   (main)", files=files, messages=messages)
    world.pin(cuda=oids["A"])
    assert [] == kinds(world.look())


def test_behind_is_not_a_finding(world):
    """Forty commits behind, none of them a fix: nothing is said."""
    chain = "---".join(f"C{number}" for number in range(40))
    oids = world.engine.draw(f"A---{chain}   (main)")
    world.pin(cuda=oids["A"])
    found = world.look()
    assert [] == kinds(found)
    assert () == found.suggestions


def test_a_tag_pin_is_judged_as_its_commit(world):
    """A pin by tag lacks what its commit lacks."""
    oids = draw(world, "A---B---F   (main)")
    world.engine.draw("A---B---F   (main)", refs={"refs/tags/v1.0*": "B"}, **kit.STORY)
    world.pin(cuda="v1.0")
    found = world.look()
    assert oids["F"] == offered(found)
    assert oids["B"] == found.commits[pin_of(found).id]


def test_two_pins_share_facts_but_not_verdicts(world):
    """An older and a newer pin of one upstream: the fix between them concerns the older one alone."""
    oids = draw(world, "A---B---F---C---D   (main)")
    world.pin(cuda=oids["A"], rocm=oids["C"])
    found = world.look()
    assert oids["F"] == offered(found, "cuda")
    assert offered(found, "rocm") is None
    world.pin(cuda=oids["C"], rocm=oids["A"])
    found = world.look()
    assert offered(found, "cuda") is None
    assert oids["F"] == offered(found, "rocm")


def test_a_pin_that_moves_behind_the_known_facts(world):
    """Facts were worked out for newer pins; an older pin comes, and its answer is as from a fresh start."""
    files = {
        "A": {"src/engine.c": "int start;\n"},
        "B": {"src/engine.c": kit.BROKEN},
        "F": kit.FILES["F"],
    }
    oids = world.engine.draw("A---B---C---F   (main)", files=files, messages={"F": FIX})
    world.pin(cuda=oids["C"])
    assert oids["F"] == offered(world.look())
    world.pin(cuda=oids["A"])
    found = world.look()
    assert offered(found) is None
    assert [] == kinds(found)
