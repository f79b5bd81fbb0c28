"""A pass is killed with signal 9: the next one says everything that was owed, and nothing twice."""

import multiprocessing
import signal
from datetime import timedelta

import pytest

from tests.stories import killed, kit
from tests.stories.world import kinds, reach, told
from watcher.store import Store

POINTS = {
    "mirror not made yet": ("watcher.upstream.salvage:_create", "before"),
    "mirror made, not in its place": ("watcher.upstream.salvage:_create", "after"),
    "before the fetch": ("watcher.upstream.mirror:Mirror._bring", "before"),
    "fetched, refs not written": ("watcher.upstream.mirror:Mirror._bring", "after"),
    "between the two writes of refs": ("watcher.upstream.git:Git.run", "after", "update-ref"),
    "refs written": ("watcher.upstream.mirror:Mirror.fetch", "after"),
    "pinned commit kept": ("watcher.upstream.mirror:Mirror.keep_all", "after"),
    "judged, nothing recorded": ("watcher.cycle:drifts", "before"),
    "refs recorded, findings not": ("watcher.cycle:remember", "after"),
    "conclusion recorded, findings not": ("watcher.store:Store.record_conclusion", "after"),
    "findings reconciled": ("watcher.findings:reconcile", "after"),
    "everything written, not committed": ("watcher.store:Store.commit_pass", "after"),
    "downstream noted, not committed": ("watcher.store:Store.record_run", "after"),
    "committed, not reported": ("watcher.cycle:outcome", "before"),
}
FIRST = [
    "mirror not made yet",
    "mirror made, not in its place",
    "fetched, refs not written",
    "everything written, not committed",
    "committed, not reported",
]
LATER = [
    "fetched, refs not written",
    "between the two writes of refs",
    "judged, nothing recorded",
    "refs recorded, findings not",
    "conclusion recorded, findings not",
    "everything written, not committed",
    "downstream noted, not committed",
    "committed, not reported",
]
BEFORE = r"""
      X        (topic)
     /
A---B          (main, tag: v1.0)
"""
AFTER = "A---B---F     (main, tag: v1.0)"
OPENED = [("opened", kind) for kind in ("fix-available", "pin-unreachable", "tag-moved", "variant-drift")]


@pytest.fixture(scope="module")
def processes():
    """Return how to start processes: forked from one that has imported everything, so that each is cheap."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([killed.__name__, "watcher.upstream.mirror", "watcher.upstream.salvage"])
    return context


@pytest.fixture
def kill(world, processes):
    """Return how to make one pass an hour later in a process that dies at a point."""

    def kill(point):
        world.now += timedelta(hours=1)
        process = processes.Process(target=killed.make, args=(world.prepare(), world.now, *POINTS[point]))
        process.start()
        process.join(60)
        assert -signal.SIGKILL == process.exitcode

    return kill


def happened(world):
    """Return what ever happened as sorted (what, kind of finding), and the messages that are owed for it."""
    with Store.open(world.state) as store:
        return (
            sorted((event.kind.value, event.finding.concern.kind.value) for event in store.events()),
            [owed.key for owed in store.outbox()],
        )


@pytest.fixture
def eventful(world):
    """Offer a world in which four things go wrong after a clean baseline."""
    world.config = {"slack": {"channel": "#images", "token": "env:SLACK_BOT_TOKEN"}}
    oids = world.engine.draw(BEFORE, **kit.STORY)
    world.pin(cuda=oids["B"], rocm=oids["X"], cpu="v1.0")
    assert [] == kinds(world.look())
    world.engine.draw(AFTER, **kit.STORY)
    return world


@pytest.mark.parametrize("point", LATER)
def test_killed_pass(eventful, kill, point):
    """Wherever it dies, the next pass brings the same events and messages as if nothing had been."""
    kill(point)
    eventful.look()
    events, messages = happened(eventful)
    assert OPENED == events
    assert 4 == len(messages) == len(set(messages))
    assert [] == told(eventful.look())


@pytest.mark.parametrize("point", FIRST)
def test_killed_first_pass(world, kill, point):
    """The first pass dies: the next one is the baseline (or finds it made), with one summary."""
    world.config = {"slack": {"channel": "#images", "token": "env:SLACK_BOT_TOKEN"}}
    oids = world.engine.draw(AFTER, **kit.STORY)
    world.pin(cuda=oids["B"])
    kill(point)
    found = world.look()
    assert "default" == reach(found).cls
    events, messages = happened(world)
    assert [("opened", "fix-available")] == events
    assert 1 == len(messages)
    assert messages[0].startswith("baseline ")
    assert [] == told(world.look())


def test_killed_again_and_again(eventful, kill):
    """Four passes die one after the other, each further on; the fifth tells all."""
    for point in ("before the fetch", "refs written", "pinned commit kept", "findings reconciled"):
        kill(point)
        assert ([], []) == happened(eventful)
    eventful.look()
    events, messages = happened(eventful)
    assert OPENED == events
    assert 4 == len(messages) == len(set(messages))
