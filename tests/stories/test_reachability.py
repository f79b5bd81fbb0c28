"""What keeps a pinned commit alive: the traps of DESIGN.md §3.1, one story each."""

from datetime import timedelta

import pytest

from tests.stories import kit
from tests.stories.world import (
    START,
    bump,
    clean_up,
    findings_of,
    git_of,
    kinds,
    manifest,
    name_of,
    offered,
    pin_of,
    reach,
    the,
    told,
)
from watcher.errors import GitError

TOPIC = r"""
      X---Y        (topic)
     /
A---B---C          (main)
"""
WITHOUT_TOPIC = "A---B---C          (main)"


def test_pin_on_the_default_branch_is_fine(world):
    """Whatever the default branch reaches is `default`, however old; behind is not a finding."""
    oids = world.engine.draw(TOPIC)
    world.pin(cuda=oids["A"], rocm=oids["C"])
    found = world.look()
    assert "default" == reach(found, "cuda").cls == reach(found, "rocm").cls
    assert ("refs/heads/main",) == reach(found, "cuda").refs
    assert [] == kinds(found)


def test_pin_on_another_branch_is_weaker_and_said_so(world):
    """A topic branch keeps it: no finding, but a note that it is the only one."""
    oids = world.engine.draw(TOPIC)
    world.pin(cuda=oids["X"])
    found = world.look()
    assert "branch" == reach(found).cls
    assert ("refs/heads/topic",) == reach(found).refs
    assert "only topic keeps it" in reach(found).detail
    assert [] == kinds(found)


def test_a_configured_branch_is_tracked_like_the_default_one(world):
    """`track` makes a pin on that branch `default`."""
    oids = world.engine.draw(TOPIC)
    world.pin(cuda=oids["X"])
    world.config = {"upstreams": {name_of(): {"track": ["topic"]}}}
    assert "default" == reach(world.look()).cls


def test_served_is_not_reachable(world):
    """The server hands out a commit that no ref reaches: that is `served-only` and high, not fine."""
    oids = world.engine.draw(TOPIC)
    world.engine.draw(WITHOUT_TOPIC)
    world.pin(cuda=oids["X"])
    found = world.look()
    assert "served-only" == reach(found).cls
    concern = the(found, "pin-unreachable")
    assert "high" == concern.severity
    assert f"{manifest('cuda')}:2" == concern.place
    assert "the server still hands it out" in concern.detail[0]


def test_commit_that_nobody_has_is_absent(world):
    """No ref holds it and the server refuses it: `gone`, critical."""
    oids = world.engine.draw(TOPIC)
    world.engine.draw(WITHOUT_TOPIC)
    clean_up(world.engine)
    world.pin(cuda=oids["X"])
    found = world.look()
    assert "gone" == reach(found).cls
    assert "critical" == the(found, "pin-absent").severity
    assert ["pin-absent"] == kinds(found)
    assert bump(found) is None


def test_questions_never_fetch(world):
    """What the mirror lacks, a question does not get: it fails instead of asking the server one object at a time."""
    oids = world.engine.draw(TOPIC)
    lost = world.engine.draw("A---B---C---L     (main)")["L"]
    world.engine.draw(TOPIC)
    world.pin(cuda=oids["A"])
    world.look()
    world.server.requests.clear()
    mirror = world.mirror()
    for question in (["cat-file", "-p", f"{oids['C']}:C"], ["merge-base", "--is-ancestor", lost, oids["C"]]):
        with pytest.raises(GitError):
            mirror.run(*question)
    assert not world.server.count()


def test_a_pass_fetches_in_batches(world):
    """Five fixes in five files cost no more fetches than one: contents are not brought one by one."""
    names = ["F", "G", "H", "I", "J"]
    broken = {f"src/{name}.c": kit.BROKEN for name in names}
    files = {"A": broken} | {name: {f"src/{name}.c": kit.REPAIRED} for name in names}
    messages = {name: f"fix: {name} gives pages back twice\n\nFixes #3\n" for name in names}
    fetches = []
    for number, picture in enumerate(("A---F   (main)", "A---F---G---H---I---J   (main)")):
        upstream = world.upstream(f"acme/engine{number}")
        oids = upstream.draw(picture, files=files, messages=messages)
        world.images.pins.clear()
        world.pin(upstream.name, cuda=oids["A"])
        assert len(oids) - 1 == len(findings_of(world.look(), "fix-available"))
        fetches.append(world.server.count(upstream.name)["fetch"])
    assert fetches[1] <= fetches[0] + 1


def test_deleted_branch_is_forgotten_by_the_mirror(world):
    """Only what is advertised now counts: the mirror drops a deleted branch, and the pin is lost with it."""
    oids = world.engine.draw(TOPIC)
    world.pin(cuda=oids["X"])
    assert [] == kinds(world.look())
    lost_since = world.now
    world.engine.draw(WITHOUT_TOPIC)
    found = world.look()
    assert "refs/heads/topic" not in world.mirror().run("for-each-ref", "--format=%(refname)").decode().split()
    assert "orphaned" == reach(found).cls
    assert lost_since == reach(found).since
    concern = the(found, "pin-unreachable")
    assert "high" == concern.severity
    assert lost_since == concern.since
    assert (
        f"topic held it until {lost_since:%Y-%m-%d %H:%M} UTC, then was deleted at {oids['Y'][:12]}"
        in concern.detail[0]
    )
    assert bump(found) is None


def test_shallow_upstream_is_refused(world, tmp_path):
    """A served shallow copy cannot tell what is reachable: unobserved, no alarm."""
    oids = world.engine.draw("A---B---C   (main)")
    world.pin(cuda=oids["A"])
    (world.engine.path / "shallow").write_text(f"{oids['B']}\n")
    found = world.look()
    assert "unknown" == reach(found).cls
    assert [] == kinds(found)
    assert ["shallow" in failure.reason for failure in found.unobserved] == [True]


def test_upstream_that_turns_shallow_later_loses_no_pin(world):
    """The history that we hold already is not doubted because the server cut its own."""
    oids = world.engine.draw("A---B---C   (main)")
    world.pin(cuda=oids["A"])
    world.look()
    world.engine.draw("A---B---C---D---E   (main)")
    (world.engine.path / "shallow").write_text(f"{oids['C']}\n")
    found = world.look()
    assert reach(found).cls in {"default", "unknown"}
    assert [] == kinds(found)


def test_shallow_mirror_is_never_believed(world):
    """A mirror that somebody made shallow is built anew, and the pin is where it was."""
    oids = world.engine.draw("A---B---C   (main)")
    world.pin(cuda=oids["A"])
    world.look()
    (world.mirror().directory / "shallow").write_text(f"{oids['B']}\n")
    world.engine.draw("A---B---C---D   (main)")
    found = world.look()
    assert "default" == reach(found).cls
    assert [] == kinds(found)
    assert not (world.mirror().directory / "shallow").exists()


@pytest.mark.parametrize("stars", ["", "*", "**", "***"])
def test_tags_are_peeled(world, stars):
    """A plain tag, an annotated one, a tag of a tag (of a tag): the pin by name is the commit behind all of them."""
    oids = world.engine.draw(f"A---B---C   (main)\n        \\\n         R   (tag: v1.0{stars})")
    world.pin(cuda="v1.0")
    found = world.look()
    assert oids["R"] == found.commits[pin_of(found).id]
    assert "release-tag" == reach(found).cls
    assert [] == kinds(found)


@pytest.mark.parametrize("stars", ["*", "**"])
def test_a_pin_may_be_the_id_of_a_tag_object(world, stars):
    """It is peeled, and judged as the commit that it names."""
    oids = world.engine.draw(f"A---B---C   (main, tag: v1.0{stars})")
    tag = _tag_object(world, "v1.0")
    assert tag != oids["C"]
    world.pin(cuda=tag)
    found = world.look()
    assert oids["C"] == found.commits[pin_of(found).id]
    assert "default" == reach(found).cls
    assert [] == kinds(found)


def _tag_object(world, name):
    """Return the id of the tag object itself."""
    return git_of(world.engine).run("rev-parse", f"refs/tags/{name}").decode().strip()


def test_a_branch_and_a_tag_of_one_name(world):
    """`git clone --branch` takes the branch, a name like a version means the tag; both are kept apart."""
    oids = world.engine.draw("A---B   (tag: nightly, tag: v2.0)\n     \\\n      C---D   (main, nightly, v2.0)")
    world.pin(cuda="nightly", rocm="v2.0")
    found = world.look()
    assert oids["D"] == found.commits[pin_of(found, "cuda").id]
    assert oids["B"] == found.commits[pin_of(found, "rocm").id]


def test_orphaned_pin_tells_its_whole_story(world):
    """Which ref, until when, forced from where to where, the twin under a new id; our copy outlives upstream's."""
    messages = {"X": "Speed up the hot loop", "Z": "Speed up the hot loop"}
    dates = {name: START - timedelta(days=9) for name in "XZ"}
    oids = world.engine.draw(TOPIC, messages=messages, dates=dates)
    world.pin(cuda=oids["X"])
    world.look()
    last = world.now
    world.engine.draw(
        """
              Z---W        (topic)
             /
    A---B---C              (main)
    """,
        messages=messages,
        dates=dates,
    )
    clean_up(world.engine)
    found = world.look()
    oids = world.engine.oids
    said = reach(found)
    assert "orphaned" == said.cls
    assert ("refs/heads/topic",) == said.refs
    assert last == said.since
    assert oids["Z"] == said.twin
    for words in (
        f"topic held it until {last:%Y-%m-%d %H:%M} UTC",
        f"forced from {oids['Y'][:12]} to {oids['W'][:12]}",
        "the server no longer hands it out",
        f"the same change is now {oids['Z']}",
    ):
        assert words in said.detail
    assert oids["X"] == world.mirror().run("rev-parse", "--verify", f"refs/watcher/kept/{oids['X']}").decode().strip()
    assert b"Speed up the hot loop" in world.mirror().run("log", "-1", "--format=%s", oids["X"])


def test_orphaned_pin_stays_told_as_it_was(world):
    """Passes later it is the same finding: since the same hour, no second event."""
    oids = world.engine.draw(TOPIC)
    world.pin(cuda=oids["X"])
    world.look()
    last = world.now
    world.engine.draw(WITHOUT_TOPIC)
    assert [("opened", "pin-unreachable")] == told(world.look())
    for _ in range(2):
        found = world.look(hours=24)
        assert [] == told(found)
        assert last == the(found, "pin-unreachable").since


def test_orphaned_pin_that_comes_back_resolves(world):
    """Upstream restores the branch: nobody has to close anything."""
    oids = world.engine.draw(TOPIC)
    world.pin(cuda=oids["X"])
    world.look()
    world.engine.draw(WITHOUT_TOPIC)
    world.look()
    world.engine.draw(TOPIC)
    found = world.look()
    assert [("resolved", "pin-unreachable")] == told(found)
    assert "branch" == reach(found).cls


@pytest.mark.parametrize("shape", ["short id", "tag object", "capital letters"])
def test_orphaned_pin_is_known_however_it_is_written(world, shape):
    """A short id, a tag object's id and an id in capitals have the same memory of who held them as a full id."""
    oids = world.engine.draw(TOPIC.replace("(topic)", "(topic, tag: t*)"))
    tag = _tag_object(world, "t")
    ref = {"short id": oids["Y"][:10], "tag object": tag, "capital letters": oids["Y"].upper()}[shape]
    world.pin(cuda=ref)
    assert "release-tag" == reach(world.look()).cls
    world.engine.draw(WITHOUT_TOPIC)
    found = world.look()
    assert "orphaned" == reach(found).cls
    assert "high" == the(found, "pin-unreachable").severity


def test_an_unreachable_pin_gets_no_bump(world):
    """While a proposal holds it, a fix is offered; when nothing does, it gets evidence and advice, never a bump."""
    picture = """
          X        {label}
         /
    A---B---F      (main)
    """
    oids = world.engine.draw(picture.format(label="(refs/pull/7/head)"), **kit.STORY)
    world.pin(cuda=oids["X"])
    assert oids["F"] == offered(world.look())
    world.engine.draw("    A---B---F      (main)", **kit.STORY)
    found = world.look()
    assert bump(found) is None
    assert ["pin-unreachable"] == kinds(found)
    concern = the(found, "pin-unreachable")
    assert concern.target is None
    assert "Bump" not in concern.advice


def test_a_proposal_that_held_a_pin_is_remembered(world):
    """A pull ref is a ref: when it is gone, the pin is orphaned, and the story names it."""
    oids = world.engine.draw("A---B   (main)\n \\\n  X     (refs/pull/7/head)")
    world.pin(cuda=oids["X"])
    assert "pull-only" == reach(world.look()).cls
    last = world.now
    world.engine.draw("A---B   (main)")
    found = world.look()
    assert "orphaned" == reach(found).cls
    assert ("refs/pull/7/head",) == reach(found).refs
    assert last == reach(found).since


def test_a_pin_that_only_a_proposal_holds(world):
    """`pull-only`, medium; the landing that replaced it is named once the proposal was squashed."""
    picture = """
          X---Y        (refs/pull/7/head)
         /
    A---B---C{landed}  (main)
    """
    words = {"Y": "Teach the engine to pause", "S": "Teach the engine to pause (#7)"}
    oids = world.engine.draw(picture.format(landed=""), messages=words)
    world.pin(cuda=oids["Y"])
    found = world.look()
    assert "pull-only" == reach(found).cls
    assert ("refs/pull/7/head",) == reach(found).refs
    assert "medium" == the(found, "pin-on-pull-only").severity
    assert reach(found).twin is None

    landed = world.engine.draw(picture.format(landed="---S"), messages=words)["S"]
    found = world.look()
    assert landed == reach(found).twin
    assert landed in the(found, "pin-on-pull-only").advice
    assert ["pin-on-pull-only"] == kinds(found)


def test_pull_refs_are_asked_for_only_when_a_pin_needs_them(world):
    """Forges have tens of thousands of them: an upstream whose pins are on branches is not asked."""
    oids = world.engine.draw("A---B   (main, refs/pull/7/head)")
    world.pin(cuda=oids["A"])
    world.look()
    asked = world.server.count("acme/engine")["ls-refs"]
    assert 1 == asked
    assert "pull" not in world.mirror().run("for-each-ref", "--format=%(refname)").decode()


def test_a_pin_that_only_a_tag_holds(world):
    """The tag's commit is on no branch: low, since a stolen token hides a foreign commit like this."""
    oids = world.engine.draw("A---B---C   (main)\n     \\\n      X---Y   (tag: v9.9)")
    world.pin(cuda=oids["X"])
    found = world.look()
    assert "tag-off-lineage" == reach(found).cls
    assert ("refs/tags/v9.9",) == reach(found).refs
    assert "low" == the(found, "pin-on-tag-only").severity


def test_a_release_commit_on_top_of_a_published_one_is_fine(world):
    """A tag one commit beside the default branch, as release tools make them, is `release-tag`."""
    oids = world.engine.draw("A---B---C   (main)\n     \\\n      R   (tag: v1.0)")
    world.pin(cuda=oids["R"])
    found = world.look()
    assert "release-tag" == reach(found).cls
    assert [] == kinds(found)


def test_a_pinned_tag_that_is_deleted(world):
    """The next cold build fails: absent, with where the tag was."""
    oids = world.engine.draw("A---B   (main, tag: v1.0)")
    world.pin(cuda="v1.0")
    world.look()
    world.engine.draw("A---B   (main)")
    found = world.look()
    assert "critical" == the(found, "pin-absent").severity
    assert oids["B"][:12] in the(found, "pin-absent").detail[0]


def test_floating_pin_is_low_and_has_no_bump(world):
    """It follows by itself: told for the digest, and never offered a bump."""
    world.engine.draw("A---B---F   (main)", **kit.STORY)
    world.pin(cuda="main", rocm=None)
    found = world.look()
    assert ["low", "low"] == [it.severity for it in findings_of(found, "pin-floating")]
    assert bump(found, "cuda") is None
    assert bump(found, "rocm") is None


def test_sha256_repository(world):
    """64 digits are an id too: reachable, lost, and with a fix."""
    oids = world.engine.draw("A---B---F   (main)", object_format="sha256", **kit.STORY)
    assert 64 == len(oids["A"])
    world.pin(cuda=oids["B"], rocm=oids["B"][:12])
    found = world.look()
    assert "default" == reach(found, "cuda").cls == reach(found, "rocm").cls
    assert oids["F"] == offered(found, "cuda") == offered(found, "rocm")
    world.engine.draw("A---F   (main)", **kit.STORY)
    assert "orphaned" == reach(world.look(), "cuda").cls
