"""What the service goes by survives a restart exactly, and forgets what is watched no longer."""

from datetime import UTC, datetime, timedelta

import pytest

from watcher.model import Moved, Pin, Reading, RefKind, oid
from watcher.store import Look, Message, Store

NOW = datetime(2026, 8, 20, 9, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
PIN = Pin(
    id="images:Dockerfile:engine",
    name="engine",
    upstream="https://example.org/acme/engine",
    ref="a1" * 20,
    ref_kind=RefKind.SHA,
    file="Dockerfile",
    line=3,
    also=(7, 9),
    downstream="images",
)
FLOATING = Pin(name="wheel", upstream=None, ref=None, ref_kind=RefKind.DEFAULT_BRANCH, file="déjà\udcff", line=1)
READING = Reading(
    name="images",
    pins=(PIN, FLOATING),
    warnings=("images: a warning",),
    commit=oid("b2" * 20),
    address="https://example.org/acme/images",
    prefix="sub/",
)


@pytest.fixture
def store(tmp_path):
    """Open an empty memory."""
    with Store.open(tmp_path) as opened:
        yield opened


def test_a_reading_comes_back(store):
    """With every field of every pin; the next one takes its place."""
    store.record_readings([READING], NOW)
    assert {"images": READING} == store.readings()
    empty = Reading(name="images", pins=())
    store.record_readings([empty], NOW + MINUTE)
    assert {"images": empty} == store.readings()


def test_a_downstream_that_is_no_longer_named_is_forgotten(store):
    """The others stay."""
    store.record_readings([READING, Reading(name="other", pins=())], NOW)
    store.forget_readings({"images"})
    assert {"images": READING} == store.readings()


@pytest.mark.parametrize("after", [None, FLOATING])
def test_a_moved_pin_comes_back(store, after):
    """Moved or removed, with the commit that did it; older ones can be left out."""
    moved = Moved(pin=PIN, after=after, at=NOW, landing=oid("c3" * 20), subject="Bump", url="https://example.org/c")
    store.record_moved_pins([moved])
    assert (moved,) == store.moved_pins() == store.moved_pins(NOW)
    assert () == store.moved_pins(NOW + MINUTE)


def test_looks(store):
    """The newest of each subject; forgotten ones are due at once."""
    store.record_looks({"upstream x": Look(at=NOW), "downstream y": Look(at=NOW, not_before=NOW + MINUTE)})
    store.record_looks({"upstream x": Look(at=NOW + MINUTE)})
    assert {
        "upstream x": Look(at=NOW + MINUTE),
        "downstream y": Look(at=NOW, not_before=NOW + MINUTE),
    } == store.looks()
    store.forget_looks(["upstream x"])
    assert ["downstream y"] == list(store.looks())


def test_standings(store):
    """By sort and name; what is watched no longer is forgotten, other sorts are left alone."""
    store.record_standings({"upstream x": {"pins": []}, "upstream y": {"pins": [1]}, "duty z": {"troubles": []}}, NOW)
    assert {"x": {"pins": []}, "y": {"pins": [1]}} == store.standings("upstream")
    store.forget_standings("upstream", {"y"})
    assert {"y": {"pins": [1]}} == store.standings("upstream")
    assert {"z": {"troubles": []}} == store.standings("duty")


def test_a_standing_that_did_not_change_costs_no_write(store):
    """Thousands of quiet upstreams leave the disk alone."""
    store.record_standings({"upstream x": {"pins": []}}, NOW)
    before = store._db.total_changes
    store.record_standings({"upstream x": {"pins": []}}, NOW + MINUTE)
    assert before == store._db.total_changes


# --- held and dropped messages -----------------------------------------------------------------------------------


def message(about, finding=None, not_before=None):
    """Return a message about a finding."""
    return Message(about=about, channel="slack", payload={"finding": finding or about}, not_before=not_before)


def due(store, at):
    """Return what is due by then."""
    return [owed.key.removesuffix(" slack") for owed in store.due(at)]


def test_what_is_held_lets_others_pass(store):
    """It is due when its time has come; only what is about the same finding waits behind it."""
    store.owe([message("one", "f", NOW + MINUTE), message("two", "f"), message("three", "g")], NOW)
    assert ["three"] == due(store, NOW)
    assert ["one", "two", "three"] == due(store, NOW + MINUTE)


def test_what_is_dropped_is_neither_due_nor_waiting_nor_stuck(store):
    """It stays in the log of messages, with the time; what was sent cannot be dropped."""
    store.owe([message("one"), message("two")], NOW)
    one, two = store.waiting()
    store.delivered(two.id, NOW)
    store.drop([one.id, two.id], NOW + MINUTE)
    assert () == store.due(NOW) == store.waiting()
    assert () == store.stuck(NOW)
    assert [(NOW + MINUTE, None), (None, NOW)] == [(it.dropped_at, it.delivered_at) for it in store.outbox()]
    assert [one.id] == [it.id for it in store.about("one")]
