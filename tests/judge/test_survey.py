"""A made-up twin of a real history: an allocator for slabs, pinned once for CUDA and once for ROCm.

Two repairs land by pull requests, the second one's branch cut after the first had landed; the package version stays.
A keyword search finds only two other changes, which touch tooling alone.
"""

from dataclasses import replace

import pytest

from tests.judge.judging import Judging
from tests.judge.picture import Counting, drawn, named, pictured, pin, row
from watcher.graph import Graph
from watcher.judge.drift import Stand, drift, lacking
from watcher.judge.offers import of_drift, of_fixes
from watcher.judge.reachability import reachabilities
from watcher.judge.suggest import Cost
from watcher.judge.survey import survey
from watcher.model import Kind, ReachabilityClass, RefKind, Relation, Severity

SLAB = r"""
      q1--q2       r1--r2   s1       t1       u1
     /      \     /      \ /  \     /  \     /  \
O---K--------Q---P--------R----S---E----T---D----U  (main, tag: v0.3)
"""
MESSAGES = {
    "O": "Allocate in slabs",
    "K": "Park slabs",
    "q2": "Rename a field of the parked slab",
    "Q": "Merge pull request #82 from ann/rename\n\nRename the state of a slab",
    "P": "Bump version to 0.3.post1",
    "r1": "Keep evicted slabs mapped",
    "r2": "Test eviction\n\nReaders of an evicted slab hit a segfault.",
    "R": "Merge pull request #94 from ann/fix-evict\n\nKeep evicted slabs mapped until their readers leave",
    "s1": "Guard the handle\n\nA parked slab that was freed gave its handle back twice.\n\nFixes #93",
    "S": "Merge pull request #95 from bob/parked\n\nGive each handle of a parked slab back once",
    "E": "Enable slabs of 2 MB",
    "t1": "Fix the release script",
    "T": "Merge pull request #104 from bob/fix-release\n\nFix the release script",
    "u1": "Fix crash of the skill",
    "U": "Merge pull request #105 from bob/fix-skill\n\nFix crash of the skill",
}
SHARED, HIP = "csrc/slab.cpp", "csrc/hip_slab.cpp"
TEXTS = {
    SHARED: ("void park(Slab& slab) {", "  unmap(slab);", "  release(slab.handle);", "}"),
    HIP: ("void park(Slab& slab) {", "  hipUnmap(slab);", "  hipRelease(slab.handle);", "}"),
}
ALTERED = {
    "Q": [SHARED, HIP],
    "P": ["pyproject.toml"],
    "R": [SHARED, "tests/test_evict.py"],
    "S": [SHARED, HIP, "tests/test_parked.py"],
    "E": [SHARED],
    "T": ["scripts/release.sh", "Makefile"],
    "D": ["README.md"],
    "U": [".claude/skills/release/SKILL.md"],
}
REPAIRED = {"R": [(SHARED, 2, "O")], "S": [(SHARED, 3, "K"), (HIP, 3, "K")]}
VERSION = {"pyproject.toml": '[project]\nversion = "0.3.post1"\n'}


def judge(cuda="P", rocm="P", kind=RefKind.SHA, **more):
    """Return the judgement of both pins, and the pins."""
    pins = pin(cuda), pin(rocm, kind=kind, variant="rocm", file="docker/Dockerfile.rocm")
    known = {"altered": ALTERED, "repaired": REPAIRED, "texts": TEXTS} | more
    return Judging(drawn(SLAB, messages=MESSAGES), *pins, **known), *pins


def test_fixes():
    """Both repairs are likely fixes, though neither title says so; the two titles that do touch only tooling."""
    it, _, _ = judge()
    assert {"R": "likely", "S": "likely"} == it.fixes()


@pytest.mark.parametrize("ref", ["K", "q1", "Q", "P"])
def test_every_past_pin_is_affected(ref):
    """Each state that was ever pinned is affected by both, and the smallest commit with both is the second merge."""
    it, cuda, rocm = judge(ref, ref)
    assert {"R": ("yes", (f"{SHARED}:2",)), "S": ("yes", (f"{SHARED}:3",))} == it.said(cuda)
    assert {"R": ("yes", (f"{SHARED}:2",)), "S": ("yes", (f"{HIP}:3", f"{SHARED}:3"))} == it.said(rocm)
    assert ("S", "RS") == it.target(cuda)[:2] == it.target(rocm)[:2]


def test_suggestion():
    """The bump is the merge, five commits and two landings on; version and build contract stay the same."""
    it, cuda, rocm = judge()
    assert ("S", "RS", 5, 2) == it.target(cuda) == it.target(rocm)
    cost = Cost(paths=(SHARED, HIP, "tests/test_parked.py"), before=VERSION, after=VERSION)
    made = it.propose(cuda, cost)
    assert (True, "0.3.post1", "0.3.post1") == (made.fast_forward, made.version_from, made.version_to)
    assert ((), {"any": 1, "rocm": 1}) == (made.contract, made.files)
    assert [("R", 3), ("S", 5)] == [(it.it.name(rung.to), rung.commits) for rung in made.ladder]
    assert () == made.cautions
    assert [it.fix("R"), it.fix("S")] == [said.fix for said in made.verdicts]


def test_findings():
    """Each fix is a finding for each pin, with the target for it alone."""
    it, cuda, _ = judge()
    found = of_fixes(cuda, it.judged, it.single(cuda), it.seen)
    assert [(Kind.FIX_AVAILABLE, Severity.MEDIUM, named(landing)) for landing in "RS"] == [
        (concern.kind, concern.severity, concern.target) for concern in found
    ]
    assert "project: #95 “Give each handle of a parked slab back once” repairs what this pin ships" == found[1].headline
    assert f"Bump to {named('S')} (5 commits, 2 landings)." == found[1].advice
    assert f"the line that it repairs is in the pin ({SHARED}:3)" == found[1].detail[0]
    assert it.seen.commits[named("S")].committed_at == found[1].since


def test_bumped_pins_are_clean():
    """A pin at the target, or past it, has nothing to gain."""
    for ref in ("S", "E", "U"):
        it, cuda, _ = judge(ref, ref)
        assert None is it.propose(cuda)
        assert [] == of_fixes(cuda, it.judged, it.single(cuda), it.seen)


def test_drift():
    """Where ROCm was bumped and CUDA was not, CUDA lacks the fix: that is a breach, with the commit that levels it."""
    it, cuda, rocm = judge("P", "R")
    stands = {
        mine.variant: Stand(pin=mine, commit=it.seen.commit_of(mine), verdicts=it.judged.verdicts[mine.id])
        for mine in (cuda, rocm)
    }
    assert {"cuda": (it.fix("R"),), "rocm": ()} == lacking(stands)
    found = drift("project", stands, it.seen.graph, {"cuda": named("R")}, "same-fixes")
    assert Relation.BEHIND is found.relation
    (concern,) = of_drift(found, {mine.id: mine for mine in (cuda, rocm)}, it.judged.fixes)
    assert (Severity.HIGH, named("R"), "variant-drift:project") == (concern.severity, concern.target, concern.key)
    assert f"Bump cuda to {named('R')}." == concern.advice


def test_floating_pins_get_no_bump():
    """A pin that follows a branch gets verdicts for the drift, but neither a bump nor a finding of a fix."""
    mine = pin("main", kind=RefKind.BRANCH)
    positions = judge()[0].seen.positions
    at = {mine.id: positions[pin("P").id]}
    it = Judging(
        drawn(SLAB, messages=MESSAGES),
        mine,
        altered=ALTERED,
        repaired=REPAIRED,
        texts=TEXTS,
        positions=at,
        bound=named("P"),
    )
    assert {"R", "S"} == set(it.said(mine))
    assert None is it.propose(mine)
    assert [] == of_fixes(mine, it.judged, {}, it.seen)


def test_nothing_pinned():
    """Without a pinned commit nothing is looked at."""
    it = Judging(drawn(SLAB), altered={}, repaired={}, texts={})
    assert ((), ()) == (it.survey.changes, it.survey.pinned)
    assert {} == it.judged.fixes


def test_what_is_looked_at():
    """What landed on the tracked line and on the pins' own lines is looked at; other branches are not."""
    it = drawn(r"""
      X---Y        (topic)
     /
A---P---B---C      (main)
     \
      Q---R        (release/1.x)
       \
        Z          (other)
""")
    mine, released = pin("P"), pin("Q", variant="rocm")

    def landed(*pins, tracked=()):
        made = Judging(it, *pins, altered={}, repaired={}, texts={}, tracked=tracked)
        return {it.name(change.landing) for change in made.survey.changes}

    assert {"B", "C"} == landed(mine)
    assert {"B", "C", "Q", "R"} == landed(mine, released)
    assert {"X", "Y"} == landed(mine, tracked=("topic",))
    assert {"B", "C"} == landed(mine, tracked=("missing",))


def test_unstanding_fixes_are_left_out():
    """A fix that was taken back on every line that is looked at is none."""
    it = drawn(
        "A---P---F---R---B  (main)",
        messages={"F": "fix: free once", "R": 'Revert "fix: free once"\n\nThis reverts commit {F}.'},
    )
    mine = pin("P")
    made = Judging(it, mine, altered={"F": [SHARED]}, repaired={"F": [(SHARED, 3, "A")]}, texts=TEXTS)
    assert ["F"] == made.candidates
    assert {} == made.judged.fixes
    assert None is made.propose(mine)


@pytest.mark.parametrize("count", [5, 40])
def test_many_pins_on_many_lines_are_surveyed_together(count):
    """What the lines share is walked once, and so is what the pins share."""
    names = [f"c{at}" for at in range(1000)]
    releases = {f"r{at}": (f"c{999 - at}",) for at in range(count)}
    refs = {f"refs/heads/release/{at}": f"r{at}" for at in range(count)}
    it = pictured(row(*names) | releases | {"side": ("c0",)}, refs={**refs, "refs/heads/main": "side"})
    pins = [pin(name, name=name) for name in ("c5", *releases)]
    seen = it.pinned(*pins)
    table = Counting({one: it.graph.parents(one) for one in it.graph})
    surveyed = survey(replace(seen, graph=Graph(table)), pins)
    assert {f"refs/heads/release/{at}" for at in range(count)} == {line.name for line in surveyed.own.values()}
    assert 994 + count + 1 == len(surveyed.changes)
    asked, table.asked = table.asked, 0
    classes = reachabilities(pins, replace(seen, graph=Graph(table)))
    assert {ReachabilityClass.BRANCH} == {it.cls for it in classes.values()}
    assert asked < 12 * len(it.graph)
    assert table.asked < 3 * len(it.graph)
