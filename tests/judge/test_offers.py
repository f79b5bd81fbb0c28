"""What should a person know of fixes that a pin lacks, and of variants that drifted apart?"""

from dataclasses import replace

import pytest

from tests.judge.picture import UPSTREAM, day, drawn, fix_of, named, pin
from watcher.judge.offers import counted, fix_words, of_drift, of_fixes
from watcher.judge.survey import Judged
from watcher.model import Answer, Drift, Evidence, Grade, Kind, RefKind, Relation, Rung, Severity, Verdict

HIGH, MEDIUM, LOW = Severity.HIGH, Severity.MEDIUM, Severity.LOW
HISTORY = "A---P---F---B  (main)"


def offered(grade=Grade.LIKELY, answer=Answer.YES, *, mine=None, rung=True, where=("src/pool.py:3",), **more):
    """Return the concerns of a pin about one fix."""
    it = drawn(HISTORY, messages={"F": "Free once (#12)"})
    fix = replace(
        fix_of(it.change("F"), grade=grade, **more),
        evidence=(
            Evidence(signal="subject", detail="title says so", weight=1),
            Evidence(signal="shape", detail="but is large", weight=-1),
        ),
    )
    mine = mine or pin("P")
    said = Verdict(fix=fix.id, answer=answer, where=where, reason="its line is in the pin")
    judged = Judged(fixes={fix.id: fix}, same={}, verdicts={mine.id: {fix.id: said}})
    target = Rung(to=named("F"), fixes=(fix.id,), commits=1, landings=1, line="refs/heads/main", committed_at=day(3))
    return of_fixes(mine, judged, {fix.id: target} if rung else {}, it.pinned(mine))


@pytest.mark.parametrize(
    ("grade", "answer", "more", "severity"),
    [
        (Grade.CERTAIN, Answer.YES, {}, HIGH),
        (Grade.LIKELY, Answer.YES, {}, MEDIUM),
        (Grade.LIKELY, Answer.YES, {"is_security": True}, HIGH),
        (Grade.POSSIBLE, Answer.YES, {}, LOW),
        (Grade.CERTAIN, Answer.UNSURE, {}, LOW),
        (Grade.LIKELY, Answer.UNSURE, {}, LOW),
        (Grade.CERTAIN, Answer.YES, {"rung": False}, HIGH),
    ],
)
def test_severities(grade, answer, more, severity):
    """A sure fix of affected code is loud, though nothing offers it; an unsure or merely possible one is quiet."""
    (found,) = offered(grade, answer, **more)
    assert (Kind.FIX_AVAILABLE, severity) == (found.kind, found.severity)


def test_unaffected_and_floating():
    """A pin that is not affected, and one that follows a branch, raise nothing."""
    assert [] == offered(answer=Answer.NO)
    assert [] == offered(mine=pin("main", kind=RefKind.BRANCH))


def test_what_is_said():
    """What, which pin and where, since when, why, what to do."""
    (found,) = offered()
    assert "project: #12 “Free once” repairs what this pin ships" == found.headline
    assert (
        "its line is in the pin (src/pool.py:3)",
        "likely fix: title says so",
    ) == found.detail
    assert f"Bump to {named('F')} (1 commit, 1 landing)." == found.advice
    assert (day(3), "docker/Dockerfile:7", named("F")) == (found.since, found.place, found.target)
    assert "may concern" in offered(answer=Answer.UNSURE)[0].headline
    assert "No published commit has both" in offered(rung=False)[0].advice
    assert "not a fast-forward" in offered(mine=pin("B"))[0].advice


def test_many_places():
    """Of many places the first few are named."""
    (found,) = offered(where=("a:1", "a:2", "a:3", "a:4"))
    assert "its line is in the pin (a:1, a:2, a:3 …)" == found.detail[0]


def test_key():
    """The key is the pin and the landing: the line, the grade, the target and the words may change."""
    (found,) = offered()
    assert f"fix-available:ours:docker/Dockerfile:project:cuda:{named('F')}" == found.key
    for other in (offered(mine=pin("P", line=99)), offered(Grade.CERTAIN), offered(rung=False)):
        assert found.key == other[0].key
    assert found.key != offered(mine=pin("P", variant="rocm"))[0].key


def test_words():
    """A fix is called by its pull request, or by its landing where it has none."""
    it = drawn("A---F  (main)", messages={"F": "Free once"})
    fix = fix_of(it.change("F"))
    assert f"{named('F')[:12]} “Free once”" == fix_words(fix)
    assert ["0 commits", "1 commit", "2 commits"] == [counted(number, "commit") for number in range(3)]


CUDA, ROCM = pin("P"), pin("B", variant="rocm", file="docker/Dockerfile.rocm", line=9)


def drifted(relation, *, is_breach=True, lacks=None, align=None, rocm=ROCM):
    """Return the concerns about a drift."""
    it = drawn(HISTORY, messages={"F": "Free once (#12)"})
    fix = fix_of(it.change("F"))
    found = Drift(
        name="project",
        relation=relation,
        variants={"cuda": named("P"), "rocm": named("B")},
        pins=(CUDA.id, rocm.id),
        lacks={"cuda": (fix.id,), "rocm": ()} if lacks else {},
        align=align or {},
        is_breach=is_breach,
    )
    return of_drift(found, {CUDA.id: CUDA, rocm.id: rocm}, {fix.id: fix})


def test_no_breach():
    """What the policy bears is told nobody."""
    assert [] == drifted(Relation.ALIGNED, is_breach=False)


def test_a_variant_lacks_a_fix():
    """Where one variant lacks a fix it is affected by, both sides and the way to level them are told, loudly."""
    (found,) = drifted(Relation.BEHIND, lacks=True, align={"cuda": named("F")})
    assert (HIGH, "variant-drift:project", named("F"), UPSTREAM) == (
        found.severity,
        found.key,
        found.target,
        found.upstream,
    )
    assert "project: cuda lacks fixes that the other variant has" == found.headline
    assert (
        f"cuda: {named('P')[:12]} (docker/Dockerfile:7)",
        f"rocm: {named('B')[:12]} (docker/Dockerfile.rocm:9)",
        "cuda lacks #12 “Free once”",
    ) == found.detail
    assert f"Bump cuda to {named('F')}." == found.advice


def test_one_side_floats():
    """Where one side floats, that is what is said, less loudly."""
    floating = pin("main", kind=RefKind.BRANCH, variant="rocm", file="docker/Dockerfile.rocm", line=9)
    (found,) = drifted(Relation.FLOATING_VS_PINNED, rocm=floating)
    assert (MEDIUM, "project: one variant is pinned, the other follows a branch") == (found.severity, found.headline)
    assert f"rocm: follows main, now {named('B')[:12]} (docker/Dockerfile.rocm:9)" == found.detail[1]
    assert "Pin the same commit on both sides." == found.advice


@pytest.mark.parametrize(
    ("relation", "words"),
    [
        (Relation.OTHER_REPOSITORY, "the variants come from different repositories"),
        (Relation.DIVERGED, "the variants differ (diverged)"),
        (Relation.BEHIND, "the variants differ (behind)"),
        (Relation.ALIGNED, "the variants differ (aligned)"),
    ],
)
def test_equality_wanted(relation, words):
    """A team that wants equality is told how the variants differ."""
    (found,) = drifted(relation)
    assert (MEDIUM, f"project: {words}", "Bring the variants to one commit.") == (
        found.severity,
        found.headline,
        found.advice,
    )


def test_drift_key():
    """A drift is one finding for its dependency, whatever the commits, the lines and the fixes are."""
    keys = {
        drifted(Relation.BEHIND, lacks=True)[0].key,
        drifted(Relation.DIVERGED)[0].key,
        drifted(Relation.FLOATING_VS_PINNED, rocm=pin("B", variant="rocm", line=1))[0].key,
    }
    assert {"variant-drift:project"} == keys
