"""Workers on many machines: the same answers as from threads, whatever dies in between."""

import os
import signal
from functools import partial

import pytest
from pydantic import TypeAdapter

from tests.daskpeer import client_of, dask_peer
from tests.stories import kit
from tests.stories.world import Strike, clean_up, is_fetch, reach
from watcher.conclusion import Report
from watcher.config import Settings
from watcher.downstreams import discover
from watcher.model import Unobserved
from watcher.report import json as as_json
from watcher.store import Store
from watcher.upstream import salvage
from watcher.upstream.mirror import Mirror
from watcher.upstream.refs import Manner
from watcher.upstreams import _Plan
from watcher.workers import ABOUT, workers

PICTURE = "A---B---F---C   (main)"
pytestmark = [pytest.mark.xdist_group("dask"), pytest.mark.timeout(300)]  # real processes, which start slowly


# --- the same answers ------------------------------------------------------------------------------------------------


def lacks_a_fix(world):
    """Pin before a fix, for two variants that drift apart."""
    oids = world.engine.draw(PICTURE, **kit.STORY)
    world.pin(cuda=oids["B"], rocm=oids["C"])


def is_lost(world):
    """Lose a pinned commit that only a deleted branch had, at a server that still hands it out."""
    oids = world.engine.draw("A---B   (main)\n     \\\n      X   (topic)", **kit.STORY)
    world.pin(cuda=oids["X"], rocm=oids["X"][:9])
    world.look()
    world.engine.draw("A---B---C   (main)", **kit.STORY)


def is_gone(world):
    """Lose it at a server that has thrown it away, too."""
    is_lost(world)
    clean_up(world.engine)


def is_silent(world):
    """Pin into a repository that is not there, and into one that is."""
    world.pin("acme/nowhere", cuda="main")
    lacks_a_fix(world)


def is_tagged(world):
    """Pin a tag, a branch, and nothing."""
    world.engine.draw("A---B---F---C   (main, tag: v1.0)", **kit.STORY)
    world.pin(cuda="v1.0", rocm="main", cpu=None)


STORIES = [lacks_a_fix, is_lost, is_gone, is_silent, is_tagged]


def reported(world) -> dict[str, bytes]:
    """Return the report on each upstream, as JSON, by whoever looks; nothing is recorded."""
    for downstream in world.downstreams.values():
        downstream.publish()
    settings = Settings.model_validate(world.document())
    with Store.open(settings.state) as store, workers(settings, None) as crew:
        pins = discover(settings, store.readings(), now=world.now).pins
        plan = _Plan(settings, store, pins, (), None, world.now)
        addresses = {name: settings.address(name) for name in plan.pins}
        said = crew.news(addresses, plan.handshakes, Manner(), lambda _: None)
        told = {name: it for name, it in said.items() if not isinstance(it, Unobserved) or it.missing}
        made = {name: crew.submit(plan.task(name), it) for name, it in told.items()}
        found = {name: TypeAdapter(Report).dump_json(it.result()) for name, it in made.items()}
        assert () == crew.troubles
    return found


@pytest.mark.parametrize("story", STORIES)
def test_workers_report_what_threads_do(world, team, story):
    """To the last byte of JSON; in the service's own mirrors, which they see."""
    story(world)
    expected = reported(world)
    world.scheduler = team.address
    assert expected == reported(world)


@pytest.mark.parametrize("story", STORIES)
def test_workers_apart_report_what_threads_do(world, apart, story):
    """The same where they have no mirror yet, though upstream does not hand out any more what ours holds."""
    story(world)
    expected = reported(world)
    world.scheduler = apart.address
    assert expected == reported(world)


@pytest.mark.parametrize("story", STORIES)
def test_a_pass_with_workers_says_what_one_with_threads_does(world, team, tmp_path, story):
    """To the last byte of what `watcher check --format json` prints."""
    world.scheduler = None
    story(world)
    if world.state.exists():
        world.state.rename(tmp_path / "before")
    now, printed = world.now, {}
    for scheduler in (None, team.address):
        world.now, world.scheduler = now, scheduler
        printed[scheduler] = as_json.render(world.look())
        world.state.rename(tmp_path / f"after-{len(printed)}")
    assert printed[None] == printed[team.address]


# --- what is kept outlives workers -----------------------------------------------------------------------------------


def test_what_is_pinned_is_kept_here_too(world, apart):
    """A worker's mirror may be gone tomorrow: the service's own holds every pinned commit."""
    oids = world.engine.draw("A---B---C   (main, tag: v1.0)", **kit.STORY)
    world.pin(cuda=oids["B"], rocm=oids["A"][:9], cpu="v1.0")
    world.scheduler = apart.address
    world.look()
    kept = set(salvage.kept(world.mirror().directory))
    assert {oids["A"], oids["B"], oids["C"]} == kept


def test_what_could_not_be_kept_is_tried_again(world, apart, monkeypatch):
    """The conclusion is not taken for settled until the commit is here."""
    oids = world.engine.draw("A---B---C   (main)", **kit.STORY)
    world.pin(cuda=oids["B"])
    world.scheduler = apart.address
    with monkeypatch.context() as patched:
        patched.setattr(Mirror, "keep_all", lambda *_: {})
        patched.setattr(Mirror, "fetch", lambda *_: False)
        world.look()
    assert [] == list(salvage.kept(world.mirror().directory))
    world.look()
    assert [oids["B"]] == list(salvage.kept(world.mirror().directory))


def test_a_lost_commit_is_known_when_the_worker_forgot_it(world, apart, tmp_path):
    """Upstream does not hand it out any more and the worker's mirror is gone: the service knows it alone."""
    world.scheduler = apart.address
    is_gone(world)
    before = world.look()
    os.rename(tmp_path / "elsewhere", tmp_path / "lost")  # noqa: PTH104 - the disk of a worker that is no more
    after = world.look()
    assert [] == reasons_of(after)
    assert reach(before) == reach(after)


# --- what dies in between --------------------------------------------------------------------------------------------


def killed_in_mid_task(team) -> None:
    """Kill the worker that is at work."""
    with client_of(team) as client:
        pids = client.run(os.getpid)
        busy = [at for at, keys in client.processing().items() if keys]
        os.kill(pids[busy[0]], signal.SIGKILL)


def test_a_killed_worker_loses_nothing(world, team):
    """Another one does its task: no warning, the same answer."""
    lacks_a_fix(world)
    world.scheduler = team.address
    strike = Strike(world.server, "acme/engine", partial(killed_in_mid_task, team), when=is_fetch)
    world.server.faults = strike
    found = world.look()
    assert strike._fault is None
    assert [] == reasons_of(found)
    assert "default" == reach(found).cls


def test_what_ends_every_worker_is_not_observed(world, tmp_path, monkeypatch):
    """It would end the service, too: the upstream is told as one that could not be looked at."""
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "0")
    with dask_peer(tmp_path / "dask", workers=1) as peer:
        lacks_a_fix(world)
        world.scheduler = peer.address
        world.server.faults = Strike(world.server, "acme/engine", partial(killed_in_mid_task, peer), when=is_fetch)
        found = world.look()
    assert ["several workers died while they looked at it: do they have too little memory?"] == reasons_of(found)
    assert "unknown" == reach(found).cls


def reasons_of(found) -> list[str]:
    """Return everything that did not go as it should."""
    return [*found.warnings, *(it.reason for it in found.unobserved)]


def test_a_scheduler_that_goes_is_told_once_and_comes_back(world, tmp_path):
    """In mid-pass the threads do what is left; the next pass tries again, and finds it again when it is back."""
    with dask_peer(tmp_path / "dask", workers=1) as peer:
        lacks_a_fix(world)
        world.scheduler, world.is_alone = peer.address, True
        world.server.faults = Strike(world.server, "acme/engine", peer.started[0].kill, when=is_fetch)
        expected = f"{ABOUT}the scheduler {world.scheduler} does not answer: going on here, at our own pace"
        found = world.look()
        assert [expected] == reasons_of(found)
        assert "default" == reach(found).cls
        peer.started[0].wait()
        world.engine.draw("A---B---F---C---D   (main)", **kit.STORY)
        assert [expected] == reasons_of(world.look())
        peer.schedule()
        peer.employ(1)
        with client_of(peer) as client:
            client.wait_for_workers(1, timeout=60)
        world.engine.draw("A---B---F---C---D---E   (main)", **kit.STORY)
        assert [] == reasons_of(world.look())


def test_a_worker_of_another_version_is_named(world, tmp_path):
    """What travels would not be understood: the threads do everything."""
    other = tmp_path / "other" / "watcher-9.9.dist-info"
    other.mkdir(parents=True)
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: watcher\nVersion: 9.9\n")
    with dask_peer(tmp_path / "dask", workers=0) as peer:
        peer.employ(1, path=other.parent)
        with client_of(peer) as client:
            client.wait_for_workers(1, timeout=60)
        lacks_a_fix(world)
        world.scheduler, world.is_alone = peer.address, True
        found = world.look()
    said = f"the worker w of {peer.address} has watcher 9.9, and we have 0.1.0"
    assert [f"{ABOUT}{said}: going on here, at our own pace"] == reasons_of(found)
    assert "default" == reach(found).cls


def test_a_scheduler_without_workers_is_told(world, tmp_path):
    """Nothing waits for workers that may never come."""
    with dask_peer(tmp_path / "dask", workers=0) as peer:
        lacks_a_fix(world)
        world.scheduler, world.is_alone = peer.address, True
        found = world.look()
    assert [f"{ABOUT}the scheduler {peer.address} has no workers: going on here, at our own pace"] == reasons_of(found)
