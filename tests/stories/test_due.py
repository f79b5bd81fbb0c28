"""A pass over what is due: the rest is neither asked nor told of, and nothing of it is lost."""

import pytest

from tests.stories import kit
from tests.stories.world import HOST, findings_of, kinds, name_of, told
from watcher import cycle
from watcher.demo.server import Status
from watcher.findings import dismiss, reopen
from watcher.store import Store


@pytest.fixture
def two(world):
    """Offer a world that pins two upstreams, both with a fix to be had, and looked at both."""
    for name in ("acme/engine", "acme/wheel"):
        oids = world.upstream(name).draw("A---B---F   (main)", **kit.STORY)
        world.pin(name, cuda=oids["B"])
    world.look()
    return world


def asked(world):
    """Return which repositories were asked since the last call."""
    found = {request.repository for request in world.server.requests}
    world.server.requests.clear()
    return found


def test_nothing_is_due_at_once(two):
    """A restart right after a pass asks nobody, and resolves nothing."""
    asked(two)
    found = two.tick(minutes=1)
    assert set() == asked(two)
    assert [] == told(found)
    assert ["fix-available", "fix-available"] == kinds(found)


def test_everything_is_due_after_its_interval(two):
    """Give or take the jitter, and once."""
    asked(two)
    two.tick(minutes=17)
    assert {"acme/engine", "acme/wheel"} == asked(two)
    two.tick(minutes=1)
    assert set() == asked(two)


def test_pins_of_the_configuration_are_due_too(world):
    """Where it names no downstream at all, its own pins are looked at, at once and again."""
    oids = world.engine.draw("A---B---F   (main)", **kit.STORY)
    world.config = {"pins": [{"upstream": name_of(), "ref": oids["B"]}]}
    assert [("opened", "fix-available")] == told(world.tick(minutes=0))
    asked(world)
    world.tick(minutes=17)
    assert {"acme/engine"} == asked(world)
    world.config = {"pins": [{"upstream": name_of(), "ref": oids["F"]}]}
    assert [("resolved", "fix-available")] == told(world.tick(minutes=17))


def test_what_fails_is_asked_less_and_less(two):
    """It backs off while the other goes on, and comes back to the usual interval once it answers."""
    two.server.faults["acme/wheel"] = Status(code=503)
    asked(two)
    seen = []
    for _ in range(8):
        two.tick(minutes=17)
        seen.append(asked(two))
    assert all("acme/engine" in repositories for repositories in seen)
    assert [True, True, False, True, False, False, False, True] == ["acme/wheel" in it for it in seen]
    del two.server.faults["acme/wheel"]
    for _ in range(4):
        two.tick(minutes=17)
    asked(two)
    two.tick(minutes=17)
    assert {"acme/engine", "acme/wheel"} == asked(two)


def test_a_host_that_asks_for_patience_is_left_alone(two):
    """With all that it serves, until the time that it named."""
    two.server.faults["acme/wheel"] = Status(code=429, headers={"Retry-After": "7200"})
    two.tick(minutes=17)
    asked(two)
    for _ in range(6):
        two.tick(minutes=17)
    assert set() == asked(two)
    del two.server.faults["acme/wheel"]
    two.tick(minutes=20)
    assert {"acme/engine", "acme/wheel"} == asked(two)


def test_a_pin_that_changes_is_judged_at_once(two):
    """The downstream is read again when it is due, and the upstream of a changed pin is not waited for."""
    oids = two.engine.oids
    two.images.pin("acme/engine", cuda=oids["F"])
    asked(two)
    assert [] == told(two.tick(minutes=1)), "nothing is due yet"
    with Store.open(two.state) as store:
        store.forget_looks(["downstream images"])
    found = two.tick(minutes=1)
    assert {"acme/engine"} == asked(two)
    assert [("resolved", "fix-available")] == told(found)
    assert [f"fix-available:images:docker/Dockerfile.cuda:wheel:{two.upstream('acme/wheel').oids['F']}"] == [
        concern.key for concern in findings_of(found, "fix-available")
    ]


def test_relatives_are_looked_at_together(world):
    """A drift between an upstream and its fork is judged of one moment, though one alone was due."""
    world.config = {"relatives": [[f"{HOST}acme/engine", f"{HOST}rocm/engine"]]}
    oids = world.engine.draw("A---B   (main)")
    world.upstream("rocm/engine").draw("A---B   (main)")
    world.pin(cuda=oids["B"])
    world.pin("rocm/engine", rocm="main")
    found = world.look()
    assert ["pin-floating", "variant-drift"] == kinds(found)
    with Store.open(world.state) as store:
        store.forget_looks([f"upstream {name_of()}"])
    asked(world)
    found = world.tick(minutes=1)
    assert {"acme/engine", "rocm/engine"} == asked(world)
    assert [] == told(found)


# --- what resolves a finding -------------------------------------------------------------------------------------


def resolved(found):
    """Return the note of the one finding that was resolved."""
    [event] = [event for event in found.events if event.kind == "resolved"]
    return event.finding.note


def test_a_bump_names_the_commit_that_merged_it(world):
    """The downstream's commit and subject are what resolved the finding; the bump is kept for the digest."""
    images = world.downstream("images", served=True)
    oids = world.engine.draw("A---B---F---C   (main)", **kit.STORY)
    images.pin("acme/engine", cuda=oids["B"])
    world.look()
    images.preface["cuda"] = "RUN true\n"
    images.publish()
    images.pin("acme/engine", cuda=oids["F"])
    images.publish()
    images.preface["cuda"] = "RUN false\n"
    found = world.look()
    with Store.open(world.state) as store:
        [moved] = store.moved_pins()
    assert f"docker/Dockerfile.cuda:3 moved to {oids['F'][:12]} by {moved.landing[:12]} “C”" == resolved(found)
    assert (oids["B"], oids["F"]) == (moved.pin.ref, moved.after.ref)


def test_a_pin_that_is_removed_names_the_commit_that_did_it(world):
    """Gone is gone, and who did it is known."""
    images = world.downstream("images", served=True)
    oids = world.engine.draw("A---B---F   (main)", **kit.STORY)
    world.upstream("acme/wheel").draw("A   (main)")
    images.pin("acme/wheel", cuda=world.upstream("acme/wheel").oids["A"])
    images.pin("acme/engine", cuda=oids["B"])
    world.look()
    del images.pins["cuda", "acme/engine"]
    found = world.look()
    with Store.open(world.state) as store:
        [moved] = store.moved_pins()
    assert f"docker/Dockerfile.cuda:3 is gone by {moved.landing[:12]} “B”" == resolved(found)


def test_two_passes_that_see_one_bump_record_it_once(world, monkeypatch):
    """The service and a person's `watcher check` at the same moment."""
    oids = world.engine.draw("A---B---F   (main)", **kit.STORY)
    world.pin(cuda=oids["B"])
    world.look()
    world.pin(cuda=oids["F"])
    discover = cycle.discover

    def interrupted(*args, **more):
        found = discover(*args, **more)
        monkeypatch.undo()
        world.look()
        return found

    monkeypatch.setattr(cycle, "discover", interrupted)
    world.look()
    with Store.open(world.state) as store:
        assert 1 == len(store.moved_pins())


def test_a_folder_without_history_names_the_place(world):
    """What nobody committed has no commit to name."""
    oids = world.engine.draw("A---B---F   (main)", **kit.STORY)
    world.pin(cuda=oids["B"])
    world.look()
    world.pin(cuda=oids["F"])
    assert f"docker/Dockerfile.cuda:2 moved to {oids['F'][:12]}" == resolved(world.look())


def test_what_is_no_fix_is_not_told_again(world):
    """Neither for another pin of it, nor as a bump, nor after it was judged anew; until it is reopened."""
    oids = world.engine.draw("A---B---F   (main)", **kit.STORY)
    world.pin(cuda=oids["B"], rocm=oids["B"])
    first, _ = world.look().findings
    world.act(first, dismiss, world.now, "it is a feature", "dana (U1)")
    found = world.look()
    assert [] == kinds(found)
    assert () == found.suggestions
    assert "not a fix" == resolved(found)
    with Store.open(world.state) as store:
        kept = store.finding(first.key)
    assert ("not a fix: it is a feature", "dana (U1)") == (kept.note, kept.by)
    world.pin(xpu=oids["A"])
    assert [] == told(world.look())
    world.act(kept, reopen, world.now)
    assert ["fix-available"] * 3 == kinds(world.look())
