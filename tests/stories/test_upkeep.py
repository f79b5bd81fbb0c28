"""The service keeps its mirrors in order and within a cap; what pins need stays, whatever the cap."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.stories.world import clean_up, name_of
from tests.upstream.test_guard import guarded_elsewhere
from watcher import relief, rescuing, upkeep
from watcher.config import Settings
from watcher.relief import relieve
from watcher.store import Store
from watcher.upkeep import state_of
from watcher.upstream import packing

PROGRAM = Path(sys.executable).with_name("watcher")
PICTURE = "A---B---P---C---D   (main)"
FILES = {name: {"engine.c": f"{name}\n" * 400} for name in "ABPCDX"}
"""Each commit has other contents than all before it."""


@pytest.fixture
def two(world):
    """Offer a world with two upstreams, pinned and looked at, of which all contents were asked for."""
    for name in ("acme/engine", "acme/brakes"):
        oids = world.upstream(name).draw(PICTURE, files=FILES)
        world.pin(name, cuda=oids["P"])
    world.look()
    for name in ("acme/engine", "acme/brakes"):
        fill(world, name)
    return world


def opened(world, name):
    """Return a mirror of the world as the service opens it."""
    settings = Settings.model_validate(world.document())
    with Store.open(settings.state) as store:
        return rescuing._mirror(settings, name_of(name), store.snapshot(name_of(name)))


def fill(world, name):
    """Let somebody have asked for all contents of an upstream, a commit at a time."""
    mirror = opened(world, name)
    for commit in mirror.parents():
        mirror.complete(commit)


def kept_up(world, at_most=None, **bounds):
    """Do what is done once a day, with the cap as a number of bytes."""
    settings = Settings.model_validate(world.document() | {"mirrors": {"at_most": at_most} if at_most else {}})
    with Store.open(settings.state) as store:
        return upkeep.upkeep(settings, store, now=world.now, **bounds)


def whole(world, name):
    """Return which of the commits that were drawn a mirror has whole."""
    if not list((world.state / "mirrors").glob(f"*{name.replace('/', '+')}-*.git")):
        return None
    mirror, oids = opened(world, name), world.upstream(name).oids
    held = mirror.parents()
    return "".join(sorted(it for it, commit in oids.items() if commit in held and mirror.is_whole(commit)))


def packs(world, name):
    """Return in how many packs a mirror is."""
    return packing.clutter(world.mirror(name).directory).packs


def unpin(world, name):
    """Take the pins of an upstream out of the downstream, and look."""
    for key in [key for key in world.images.pins if key[1] == name]:
        del world.images.pins[key]
    world.look()


# --- packs -----------------------------------------------------------------------------------------------------------


def test_many_packs_become_one(two, monkeypatch):
    """Few stay as they are."""
    assert () == kept_up(two)
    many = packs(two, "acme/engine")
    assert many > 3
    monkeypatch.setattr(upkeep, "_MOST_PACKS", 3)
    assert () == kept_up(two)
    assert [1, 1] == [packs(two, name) for name in ("acme/engine", "acme/brakes")]
    two.look(hours=24)
    assert ["ABCDP", "ABCDP"] == [whole(two, name) for name in ("acme/engine", "acme/brakes")]


def test_the_worst_comes_first_and_the_rest_another_day(two, monkeypatch):
    """When the time is up nothing new is begun."""
    two.engine.draw(f"{PICTURE[:-9]}---X   (main)", files=FILES)
    two.look()
    fill(two, "acme/engine")
    monkeypatch.setattr(upkeep, "_MOST_PACKS", 3)
    order = []
    monkeypatch.setattr(packing, "tidy", lambda directory, timeout: order.append(directory))
    assert () == kept_up(two, seconds=-1)
    assert [] == order
    kept_up(two)
    assert [two.mirror(name).directory for name in ("acme/engine", "acme/brakes")] == order


def test_a_mirror_in_use_is_left_alone(two, monkeypatch):
    """It is packed the next day."""
    monkeypatch.setattr(upkeep, "_MOST_PACKS", 3)
    monkeypatch.setattr(upkeep, "_GLANCE", 0.0)
    before = packs(two, "acme/engine")
    with guarded_elsewhere(two.mirror().directory):
        assert () == kept_up(two, at_most=1)
        assert before == packs(two, "acme/engine")
        assert 1 == packs(two, "acme/brakes")
    kept_up(two)
    assert 1 == packs(two, "acme/engine")


def test_a_mirror_that_cannot_be_packed_is_told(two, monkeypatch):
    """In one line that names it; the others are packed."""
    monkeypatch.setattr(upkeep, "_MOST_PACKS", 3)
    for pack in two.mirror().directory.glob("objects/pack/*.pack"):
        pack.chmod(0o644)
        pack.write_bytes(b"PACK")
    [trouble] = kept_up(two)
    assert trouble.startswith(f"{two.mirror().directory} cannot be packed (git ")
    assert 1 == packs(two, "acme/brakes")


def test_a_check_packs_one_mirror_where_looks_suffer(two, monkeypatch):
    """The worst one, and only far beyond what the service waits for; without mirrors there is nothing to do."""
    settings = Settings.model_validate(two.document())
    relieve(settings)
    before = [packs(two, name) for name in ("acme/engine", "acme/brakes")]
    assert min(before) > 3
    monkeypatch.setattr(relief, "_FAR_TOO_MANY", 3)
    relieve(settings)
    assert 1 == [packs(two, name) for name in ("acme/engine", "acme/brakes")].count(1)
    shutil.rmtree(two.state / "mirrors")
    relieve(settings)


# --- the cap ---------------------------------------------------------------------------------------------------------


def test_without_a_cap_nothing_is_dropped(two):
    """Nor below it."""
    kept_up(two)
    kept_up(two, at_most=10**9)
    assert ["ABCDP", "ABCDP"] == [whole(two, name) for name in ("acme/engine", "acme/brakes")]


def test_what_pins_need_stays_whatever_the_cap(two):
    """And it is said that this alone is more; the next look finds what it needs, and asks for the rest again."""
    [trouble] = kept_up(two, at_most=1)
    assert f"{two.state / 'mirrors'} takes " in trouble
    assert "more than mirrors.at_most of" in trouble
    assert ["P", "P"] == [whole(two, name) for name in ("acme/engine", "acme/brakes")]
    two.engine.draw("A---B---P---C---D---X   (main)", files=FILES)
    found = two.look(hours=24)
    assert () == found.unobserved


def test_the_largest_goes_first_and_no_more_than_has_to(two):
    """The smaller one keeps all that it has."""
    fat = {"X": {f"{number}.c": f"{number}\n" * 5000 for number in range(300)}}
    two.engine.draw("A---B---P---C---D---X   (main)", files=FILES | fat)
    two.look()
    fill(two, "acme/engine")
    total = packing.size(two.state / "mirrors")
    assert () == kept_up(two, at_most=total - 1)
    assert ["P", "ABCDP"] == [whole(two, name) for name in ("acme/engine", "acme/brakes")]


def test_what_nothing_is_pinned_to_any_more_goes_first(two):
    """Upstream has it all, on its branch; what is pinned is not touched where that is enough."""
    unpin(two, "acme/brakes")
    total = packing.size(two.state / "mirrors")
    assert () == kept_up(two, at_most=total - 1)
    assert ["ABCDP", None] == [whole(two, name) for name in ("acme/engine", "acme/brakes")]


@pytest.mark.parametrize("is_cleaned", [True, False])
def test_what_was_kept_of_a_former_pin_stays(two, is_cleaned):
    """Upstream left the commit behind: whether or not its server still hands it out, that may end any day."""
    brakes = two.upstream("acme/brakes")
    brakes.draw("A---B---X   (main)", files=FILES)
    two.look()
    unpin(two, "acme/brakes")
    if is_cleaned:
        clean_up(brakes)
    kept_up(two, at_most=1)
    assert "P" in whole(two, "acme/brakes")
    assert "C" not in whole(two, "acme/brakes")


def test_what_a_silent_upstream_has_stays(two):
    """It cannot be asked whether it still has what was kept."""
    unpin(two, "acme/brakes")
    shutil.rmtree(two.upstream("acme/brakes").path)
    kept_up(two, at_most=1)
    assert "P" in whole(two, "acme/brakes")


def test_a_branch_that_is_pinned_needs_its_tip(world):
    """No commit is kept for it by name, and yet the drill made it whole."""
    world.engine.draw(PICTURE, files=FILES)
    world.pin(cuda="main")
    world.look()
    fill(world, "acme/engine")
    kept_up(world, at_most=1)
    assert "D" == whole(world, "acme/engine")


def test_nothing_counts_as_unpinned_before_everything_was_read(two):
    """A downstream that is new in the configuration may pin what seems to be left over."""
    unpin(two, "acme/brakes")
    two.downstream("others").pin("acme/brakes", cuda=two.engine.oids["P"])
    kept_up(two, at_most=1)
    assert "P" == whole(two, "acme/brakes")


def test_a_downstream_that_is_watched_keeps_its_mirror(world):
    """It is read again at the next look."""
    oids = world.engine.draw(PICTURE, files=FILES)
    world.downstream("served", served=True).pin("acme/engine", cuda=oids["P"])
    world.look()
    kept_up(world, at_most=1)
    assert 1 == len(world.look(hours=24).pins)
    assert 2 == len(list((world.state / "mirrors").glob("*.git")))


# --- what there is ---------------------------------------------------------------------------------------------------


def test_the_state_is_told(two):
    """Largest first; of each, what is kept for pins, whether it is pinned, and when it was last seen."""
    unpin(two, "acme/brakes")
    settings = Settings.model_validate(two.document())
    with Store.open(settings.state) as store:
        found = state_of(settings, store)
    assert {(name_of(), True), (name_of("acme/brakes"), False)} == {(it.name, it.is_pinned) for it in found.mirrors}
    for it in found.mirrors:
        assert 0 < it.kept < it.size
        assert it.seen is not None
    assert found.database >= (two.state / "watcher.db").stat().st_size


def test_a_mirror_that_cannot_be_read_has_a_size_nevertheless(two):
    """What is kept in it cannot be told."""
    (two.mirror().directory / "HEAD").unlink()
    settings = Settings.model_validate(two.document())
    with Store.open(settings.state) as store:
        [broken, sound] = sorted(state_of(settings, store).mirrors, key=lambda it: it.kept is not None)
    assert (name_of(), None) == (broken.name, broken.kept)
    assert sound.kept
    assert broken.size


def test_the_command(two):
    """As a table, and as JSON with every size in bytes."""

    def run(*args):
        command = [PROGRAM, "state", *args, "--config", two.prepare()]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout

    assert name_of() in run()
    said = json.loads(run("--format", "json"))
    assert {"version", "folder", "database", "size", "at_most", "mirrors"} == set(said)
    assert [name_of("acme/brakes"), name_of()] == sorted(it["name"] for it in said["mirrors"])
    assert said["size"] == sum(it["size"] for it in said["mirrors"])


def test_the_service_remembers_the_size(two):
    """For /metrics: it is measured once a day."""
    kept_up(two)
    with Store.open(two.state) as store:
        measured = store.standings("state")["mirrors"]
    assert {"bytes": packing.size(two.state / "mirrors"), "count": 2} == measured
