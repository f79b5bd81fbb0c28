"""Upstream's history changes though nothing of ours is lost; and names that mean more than one commit."""

import hashlib
from datetime import UTC, datetime, timedelta

from tests.stories import kit
from tests.stories.world import (
    finding,
    findings_of,
    git_of,
    kinds,
    manifest,
    pin_of,
    reach,
    the,
    told,
)
from watcher.demo.server import Status
from watcher.findings import acknowledge

# --- branches that are rewound -----------------------------------------------------------------------------------


def test_forced_branch_under_a_fine_pin(world):
    """`branch-rewound`, low, from where to where; the pin itself is as fine as before."""
    oids = world.engine.draw("A---B---C   (main)")
    world.pin(cuda=oids["B"])
    world.look()
    oids |= world.engine.draw("A---B---D   (main)")
    found = world.look()
    assert [("opened", "branch-rewound")] == told(found)
    concern = the(found, "branch-rewound")
    assert "low" == concern.severity
    assert f"from {oids['C'][:12]} to {oids['D'][:12]}" in concern.headline
    assert world.now == concern.since
    assert "default" == reach(found).cls
    assert [] == told(world.look()), "once"


def test_forced_twice_is_told_twice(world):
    """Each rewind is an event of its own, even to where the branch was before."""
    oids = world.engine.draw("A---B---C   (main)")
    world.pin(cuda=oids["B"])
    world.look()
    for picture in ("A---B---D   (main)", "A---B---C   (main)"):
        world.engine.draw(picture)
        assert [("opened", "branch-rewound")] == told(world.look())
    assert 2 == len(findings_of(world.look(), "branch-rewound"))


def test_fast_forward_is_no_news(world):
    """A branch that grows is what branches do: behind is not a finding."""
    oids = world.engine.draw("A---B   (main)")
    world.pin(cuda=oids["A"])
    world.look()
    world.engine.draw("A---B---C---D---E   (main)")
    found = world.look()
    assert [] == told(found)
    assert [] == kinds(found)


def test_forced_branch_that_is_none_of_ours(world):
    """People rebase their topic branches all day: told only of tracked branches and of those that held a pin."""
    oids = world.engine.draw("A---B     (main)\n \\\n  X       (topic)\n   \\\n    Y     (kept)")
    world.pin(cuda=oids["Y"])
    world.look()
    world.engine.draw("A---B     (main)\n \\\n  X---Y   (kept)\n   \\\n    Z     (topic)")
    assert [] == told(world.look())
    world.engine.draw("A---B     (main, topic)\n \\\n  X---Y   (kept)")
    assert [] == told(world.look())


def test_default_branch_that_is_renamed_is_no_rewind(world):
    """The branch master became main: the pin is `default` under the new name, and nothing is lost."""
    oids = world.engine.draw("A---B   (master)")
    world.pin(cuda=oids["A"])
    assert ("refs/heads/master",) == reach(world.look()).refs
    world.engine.draw("A---B---C   (main)")
    found = world.look()
    assert [] == told(found)
    assert ("refs/heads/main",) == reach(found).refs


# --- tags that move ----------------------------------------------------------------------------------------------


def test_tag_that_moves_under_a_pin(world):
    """High where a pin uses it, with both commits; it stays told until somebody takes note."""
    oids = world.engine.draw("A---B---C   (main)", refs={"refs/tags/v1.0": "B"})
    world.pin(cuda="v1.0", rocm=oids["B"])
    world.look()
    world.engine.draw("A---B---C   (main, tag: v1.0)")
    found = world.look()
    assert [("opened", "tag-moved")] == told(found)
    concern = the(found, "tag-moved")
    assert "high" == concern.severity
    assert f"{manifest('cuda')}:2" == concern.place
    assert f"from {oids['B'][:12]} to {oids['C'][:12]}" in concern.headline
    assert oids["C"] == found.commits[pin_of(found, "cuda").id]
    found = world.look()
    assert [] == told(found)
    assert ["tag-moved"] == [kind for kind in kinds(found) if kind != "variant-drift"]
    world.act(finding(found, "tag-moved"), acknowledge, world.now)
    assert [("resolved", "tag-moved")] == told(world.look())


def test_tag_that_moves_elsewhere(world):
    """Low where no pin uses it."""
    oids = world.engine.draw("A---B---C   (main)", refs={"refs/tags/v1.0": "B"})
    world.pin(cuda=oids["A"])
    world.look()
    world.engine.draw("A---B---C   (main, tag: v1.0)")
    found = world.look()
    assert "low" == the(found, "tag-moved").severity
    assert the(found, "tag-moved").pin is None


def test_tag_that_is_annotated_anew_has_not_moved(world):
    """The same commit under another tag object, or one more: nothing is told."""
    world.engine.draw("A---B   (main, tag: v1.0)")
    world.pin(cuda="v1.0")
    world.look()
    for stars in ("*", "**", ""):
        world.engine.draw(f"A---B   (main, tag: v1.0{stars})")
        assert [] == told(world.look())


def test_tag_that_moves_while_the_upstream_is_silent_is_told_afterwards(world):
    """What happened between two good looks is told at the second, however many failed in between."""
    world.engine.draw("A---B---C   (main)", refs={"refs/tags/v1.0": "B"})
    world.pin(cuda="v1.0")
    world.look()
    world.engine.draw("A---B---C   (main, tag: v1.0)")
    world.engine.fault(Status(code=503))
    assert [] == told(world.look())
    world.engine.fault(None)
    assert [("opened", "tag-moved")] == told(world.look())


def test_tag_that_moves_in_two_steps(world):
    """Deleted at one look and made anew elsewhere at the next: it moved, and the build ships other code."""
    picture = "A---B---C   (main)"
    oids = world.engine.draw(picture, refs={"refs/tags/v1.0": "B"})
    world.pin(cuda="v1.0")
    world.look()
    world.engine.draw(picture)
    assert [("opened", "pin-absent")] == told(world.look())
    world.engine.draw(picture, refs={"refs/tags/v1.0": "C"})
    found = world.look()
    assert [("opened", "tag-moved"), ("resolved", "pin-absent")] == told(found)
    assert f"from {oids['B'][:12]} to {oids['C'][:12]}" in the(found, "tag-moved").headline


def test_tag_that_is_deleted_and_restored_has_not_moved(world):
    """Back where it was: absent for a while, and nothing else."""
    picture = "A---B---C   (main)"
    world.engine.draw(picture, refs={"refs/tags/v1.0": "B"})
    world.pin(cuda="v1.0")
    world.look()
    world.engine.draw(picture)
    world.look()
    world.engine.draw(picture, refs={"refs/tags/v1.0*": "B"})
    assert [("resolved", "pin-absent")] == told(world.look())


def test_following_the_advice_on_a_moved_tag_ends_it(world):
    """Whoever pins the commit that they mean no longer uses the tag: the finding resolves by itself."""
    oids = world.engine.draw("A---B---C   (main)", refs={"refs/tags/v1.0": "B"})
    world.pin(cuda="v1.0")
    world.look()
    world.engine.draw("A---B---C   (main, tag: v1.0)")
    found = world.look()
    assert "then pin the commit that you mean" in the(found, "tag-moved").advice
    world.pin(cuda=oids["B"])
    assert ("resolved", "tag-moved") in told(world.look())


# --- short ids ---------------------------------------------------------------------------------------------------


def test_short_id_is_expanded_in_the_graph(world):
    """Seven digits are enough where one commit has them."""
    oids = world.engine.draw("A---B---F   (main)", **kit.STORY)
    world.pin(cuda=oids["B"][:7])
    found = world.look()
    assert "short-sha" == pin_of(found).ref_kind
    assert oids["B"] == found.commits[pin_of(found).id]
    assert "default" == reach(found).cls
    assert ["fix-available"] == kinds(found)


def test_short_id_that_becomes_ambiguous(world):
    """Two commits begin alike: `pin-ambiguous`, medium, with both; with one gone again it resolves."""
    alone, both, words, prefix = _alike(world)
    world.engine.draw(alone, **words)
    world.pin(cuda=prefix)
    found = world.look()
    assert "default" == reach(found).cls
    assert [] == kinds(found)

    oids = world.engine.draw(both, **words)
    assert oids["B"] != oids["C"]
    assert prefix == oids["B"][:7] == oids["C"][:7]
    found = world.look()
    concern = the(found, "pin-ambiguous")
    assert "medium" == concern.severity
    assert f"{manifest('cuda')}:2" == concern.place
    assert oids["B"][:12] in concern.detail[0]
    assert oids["C"][:12] in concern.detail[0]
    assert "unknown" == reach(found).cls
    assert ["pin-ambiguous"] == kinds(found)

    world.pin(cuda=oids["B"])
    assert [("resolved", "pin-ambiguous")] == told(world.look())


def _alike(world):
    """Return two drawings and messages by which B and C, both on top of A, begin with the same seven digits."""
    alone = "A---B   (main)"
    both = "A---B   (main)\n \\\n  C     (topic)"
    files = {"B": {}, "C": {}}
    base = world.engine.draw(alone, files=files)["A"]
    tree = git_of(world.engine).run("rev-parse", f"{base}^{{tree}}").decode().strip()
    stamp = int((datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=2)).timestamp())
    author, committer = "A U Thor <author@example.org>", "C O Mitter <committer@example.org>"
    people = f"author {author} {stamp} +0000\ncommitter {committer} {stamp} +0000"
    seen: dict[str, str] = {}
    for number in range(1_000_000):
        content = f"tree {tree}\nparent {base}\n{people}\n\nwork {number}".encode()
        digest = hashlib.sha1(b"commit %d\0%b" % (len(content), content)).hexdigest()[:7]  # noqa: S324 - git's own
        if digest in seen:
            messages = {"B": seen[digest], "C": f"work {number}"}
            return alone, both, {"files": files, "messages": messages}, digest
        seen[digest] = f"work {number}"
    raise AssertionError("no two messages are alike")
