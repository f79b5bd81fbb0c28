"""Whoever reads again and again how everything stands is told what a first reader is told."""

import sqlite3
from contextlib import closing
from datetime import timedelta

import pytest

from tests.stories import kit
from watcher import standing
from watcher.config import Settings
from watcher.demo.server import Status
from watcher.errors import StoreError
from watcher.findings import acknowledge
from watcher.store import Store

PICTURE = "A---B---C---D---F---E   (main)"
NAMES = ("acme/engine", "acme/tools", "acme/calm")


@pytest.fixture
def looked(world):
    """Look at three dependencies of two variants."""
    for name in NAMES:
        oids = world.upstream(name).draw(PICTURE, **kit.STORY)
        world.pin(name, cuda=oids["B"], rocm=oids["F"])
    world.look()
    return world


def read(world, reader):
    """Return what a reader says, after holding it against what one says that reads for the first time."""
    settings = Settings.model_validate(world.document())
    with Store.open(settings.state) as store:
        now = reader.read(store, settings)
        assert standing.read(store, settings) == now
    return {it.name: it for it in now.dependencies}


def test_what_did_not_change_is_the_same_value(looked):
    """Of three dependencies, that one is made anew of which something was written."""
    before = read(looked, looked.reader)
    with Store.open(looked.state) as store:
        finding = next(it for it in store.findings() if "engine" in it.key)
        looked.act(finding, acknowledge, looked.now + timedelta(hours=1), "we know", "Ada")
    after = read(looked, looked.reader)
    assert before["engine"] != after["engine"]
    assert all(before[name] is after[name] for name in ("tools", "calm"))


@pytest.mark.parametrize(
    "happens",
    [
        lambda world: world.engine.draw("A---B---G   (main)", **kit.STORY),
        lambda world: world.pin(cuda=world.engine.oids["F"]),
        lambda world: world.images.pins.pop(("cuda", "acme/tools")),
        lambda world: [world.images.pins.pop((variant, "acme/tools")) for variant in ("cuda", "rocm")],
        lambda world: world.upstream("acme/tools").fault(Status(code=503)),
        lambda world: world.config.update(relatives=[["https://git.example.org/acme/engine", HOST_TOOLS]]),
        lambda world: None,
    ],
    ids=["forced", "bumped", "one variant less", "gone", "silent", "relatives", "nothing"],
)
def test_whatever_happens(looked, happens):
    """A look later, and one more, all is told as by who reads for the first time."""
    read(looked, looked.reader)
    happens(looked)
    for _ in range(2):
        looked.look()
        read(looked, looked.reader)


HOST_TOOLS = "https://git.example.org/acme/tools"


def test_another_database(looked):
    """One that takes the place of a damaged one is read as a whole, and nothing is left of the other."""
    read(looked, looked.reader)
    for path in looked.state.glob("watcher.db*"):
        path.unlink()
    looked.engine.draw("A---B---G   (main)", **kit.STORY)
    del looked.images.pins["cuda", "acme/tools"]
    looked.look()
    assert {"engine", "tools", "calm"} == set(read(looked, looked.reader))


def test_after_trouble_nothing_half_is_held(looked):
    """A finding that cannot be read is said; once it is mended, everything is told again."""
    read(looked, looked.reader)
    with closing(sqlite3.connect(looked.state / "watcher.db")) as db, db:
        key, body = db.execute("SELECT key, body FROM findings LIMIT 1").fetchone()
        db.execute("UPDATE findings SET body = '{}' WHERE key = ?", (key,))
    with pytest.raises(StoreError):
        read(looked, looked.reader)
    with closing(sqlite3.connect(looked.state / "watcher.db")) as db, db:
        db.execute("UPDATE findings SET body = ? WHERE key = ?", (body, key))
    assert 3 == len(read(looked, looked.reader))


def test_what_is_written_is_told_once(looked):
    """By table and key, what is gone too; a mark of another database tells of everything."""
    with Store.open(looked.state) as store:
        mark, names = store.touched(None)
        assert names is None
        assert (mark, {}) == store.touched(mark)
        store.record_standings({"upstream x": {"pins": []}, "drift y": {}}, looked.now)
        store.forget_standings("drift", {"engine", "tools", "calm"})
        later, names = store.touched(mark)
        assert {"standings": {"upstream x", "drift y"}} == names
        store.record_standings({"upstream x": {"pins": []}}, looked.now)  # as before: that is no news
        assert (later, {}) == store.touched(later)
