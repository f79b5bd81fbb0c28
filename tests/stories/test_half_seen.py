"""What half a look shows changes nothing: neither how bad a thing is, nor whether it is over."""

import pytest

from tests.stories import kit
from tests.stories.world import finding, kinds, name_of, told
from watcher.demo.server import Status

TOPIC = "A---B---F   (main)\n     \\\n      T     (topic)"
AFTER = "A---B---F   (main)\n         \\\n          T     (topic)"
GONE = "A---B---F   (main)"


def test_an_outage_does_not_change_a_drift(world):
    """That one side floats is in the files; that the other lacks a fix was seen before, and still holds."""
    oids = world.engine.draw(GONE, **kit.STORY)
    world.pin(cuda=oids["B"], rocm="main")
    before = finding(world.look(), "variant-drift").concern.severity
    world.engine.fault(Status(code=503))
    found = world.look()
    assert [] == told(found)
    assert before == finding(found, "variant-drift").concern.severity
    world.engine.fault(None)
    assert [] == told(world.look())


def test_a_drift_that_is_in_the_files_is_told_in_an_outage(world):
    """Nothing was known of it: one side floats, and nobody has to answer for that."""
    world.engine.draw(GONE, **kit.STORY)
    world.engine.fault(Status(code=503))
    world.pin(cuda="a" * 40, rocm="main")
    assert ["pin-floating", "variant-drift"] == kinds(world.look())


@pytest.mark.parametrize("policy", ["same-fixes", "same-commit"])
@pytest.mark.parametrize("ref", ["F", "main"])
@pytest.mark.parametrize("which", ["acme/engine", "other/engine"])
def test_an_outage_of_a_relative(world, ref, which, policy):
    """Whichever of the two it is."""
    oids = world.engine.draw(GONE, **kit.STORY)
    world.upstream("other/engine").draw("A---B---F---X   (main)", **kit.STORY)
    world.pin(cuda=oids["B"])
    world.pin("other/engine", rocm=oids.get(ref, ref))
    world.config = {"relatives": [[name_of(), name_of("other/engine")]], "drift": policy}
    world.look()
    world.upstreams[which].fault(Status(code=503))
    assert [] == told(world.look())


@pytest.mark.parametrize(("picture", "cuda", "rocm"), [(TOPIC, "T", "F"), (AFTER, "B", "T")])
def test_a_pin_that_is_lost_is_not_said_to_be_mended(world, picture, cuda, rocm):
    """Nothing is proposed for it any more, and the reason is told; a bump ends it all."""
    oids = world.engine.draw(picture, **kit.STORY)
    world.pin(cuda=oids[cuda], rocm=oids[rocm])
    world.look()
    world.engine.draw(GONE, **kit.STORY)
    found = world.look()
    assert ("opened", "pin-unreachable") in told(found)
    notes = {event.finding.note for event in found.events if event.kind == "resolved"}
    assert {"a pin of it is reachable from nothing now, and is not judged until it is moved"} == notes
    world.pin(cuda=oids["F"], rocm=oids["F"])
    assert [] == kinds(world.look())
