"""What was judged is kept, so that it can be argued later without asking anybody."""

import pytest

from tests.stories import kit
from tests.stories.world import name_of
from watcher import explaining, remembered
from watcher.config import Settings
from watcher.drawing import Drawing, StrandKind
from watcher.report.explain import render
from watcher.store import Store

BESIDE = r"""
          X---Y          (topic)
         /
A---B---C---D---F---E    (main, tag: v1.0)
     \     /
      S---T
"""


def looked(world, **refs):
    """Make one pass over some pins, and return everything that is remembered of the upstream."""
    oids = world.engine.draw(BESIDE, **kit.STORY)
    world.pin(**{variant: oids[name] for variant, name in refs.items()})
    world.look()
    with Store.open(world.state) as store:
        pins = store.readings()["images"].pins
        return oids, *remembered.arguments(Settings.model_validate(world.document()), store, name_of(), pins)


@pytest.mark.parametrize("refs", [{"cuda": "B", "rocm": "E"}, {"cuda": "C", "rocm": "Y"}, {"cuda": "S", "cpu": "D"}])
def test_the_argument_is_the_same_as_asking_anew(world, refs):
    """Word for word, for each pin: with lines, receipts, steps and the commands of git."""
    _, found, _ = looked(world, **refs)
    settings = Settings.model_validate(world.document())
    with Store.open(world.state) as store:
        for name, argument in found.items():
            [anew] = explaining.arguments(settings, store, name, now=world.now)
            assert render(anew) == render(argument)
    assert len(refs) == len(found)


def test_nothing_is_remembered_before_the_first_look(world):
    """Then there is no argument, and nothing to draw."""
    world.pin(cuda="main")
    with Store.open(world.state) as store:
        assert ({}, Drawing()) == remembered.arguments(Settings.model_validate(world.document()), store, name_of(), ())


@pytest.mark.parametrize("version", ["an earlier", "a later"])
def test_what_another_version_kept_is_worked_out_anew(world, version):
    """One that kept nothing for whoever asks why, or something else: the next look brings it, though nothing moved."""
    looked(world, cuda="B")
    settings = Settings.model_validate(world.document())
    with Store.open(world.state) as store, store.atomic():
        change = "DELETE FROM accounts" if version == "an earlier" else "UPDATE accounts SET body = '[]'"
        store._write(change)
        pins = store.readings()["images"].pins
        assert ({}, Drawing()) == remembered.arguments(settings, store, name_of(), pins)
    if version == "an earlier":
        world.look()
        with Store.open(world.state) as store:
            assert remembered.arguments(settings, store, name_of(), pins)[0]


def test_what_is_drawn(world):
    """The followed line with the fix, the branch of one pin, and a merged commit with its landing."""
    oids, _, drawing = looked(world, cuda="B", rocm="Y", cpu="S")
    kinds = [(strand.kind, strand.name) for strand in drawing.strands]
    assert [
        (StrandKind.FOLLOWED, "refs/heads/main"),
        (StrandKind.BRANCH, "refs/heads/topic"),
        (StrandKind.SIDE, ""),
    ] == kinds
    main, topic, side = drawing.strands
    at = {stop.commit: (number, stop) for number, stop in enumerate(main.stops)}
    assert ["images:docker/Dockerfile.cuda:engine"] == list(at[oids["B"]][1].pins)
    assert 1 == len(at[oids["F"]][1].fixes)
    assert (0, at[oids["C"]][0]) == topic.base
    assert [(1, 2, oids["Y"])] == [(stop.landings, stop.commits, stop.commit) for stop in topic.stops]
    assert ((0, at[oids["B"]][0]), (0, at[oids["D"]][0])) == (side.base, side.joins)
