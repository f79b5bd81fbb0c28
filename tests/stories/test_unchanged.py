"""An upstream that says what it said before costs one request; what was concluded then still holds."""

import shutil
from datetime import timedelta

import pytest

from tests.stories import kit
from watcher.model import Severity
from watcher.report.json import document
from watcher.store import Store
from watcher.upstream import git

PICTURE = "A---B---F---C   (main, tag: v1)"


@pytest.fixture
def calm(world):
    """Offer a world whose pin lacks a fix, looked at once."""
    oids = world.engine.draw(PICTURE, **kit.STORY)
    world.pin(cuda=oids["B"], rocm=oids["F"])
    world.look()
    return world


@pytest.fixture
def started(monkeypatch):
    """Count the programs that are started."""
    found = []
    execute = git._execute
    monkeypatch.setattr(git, "_execute", lambda command, *more: (found.append(command), execute(command, *more))[1])
    return found


def of_upstream(started):
    """Return the commands of git in an upstream's mirror."""
    return [command for command in started if any("engine" in word for word in command)]


def told(found):
    """Return all that a report says but for its time."""
    return {key: value for key, value in document(found).items() if key != "at"}


def test_one_request_and_no_program(calm, started):
    """And the report is the same to the last byte."""
    first = calm.look()
    calm.server.requests.clear()
    started.clear()
    again = calm.look()
    assert ["ls-refs"] == [request.kind for request in calm.server.requests]
    assert [] == of_upstream(started)
    assert told(first) == told(again)
    assert () == again.events


def test_it_was_seen_until_then(calm):
    """When the branch is forced, the message says until when it held the pin: to the last look, judged or not."""
    for _ in range(3):
        calm.look()
    last = calm.now
    calm.engine.draw("A---X   (main)", **kit.STORY)
    found = calm.look()
    said = next(it for it in found.reachability.values() if it.since)
    assert timedelta(0) <= said.since - last < timedelta(hours=2)
    assert f"{said.since:%Y-%m-%d %H:%M} UTC" in said.detail


@pytest.mark.parametrize(
    "change",
    [
        lambda world: world.pin(cuda=world.engine.oids["A"]),
        lambda world: world.config.update(upstreams={"https://git.example.org/acme/engine": {"track": ["main"]}}),
        lambda world: world.config.update(drift="same-commit"),
    ],
    ids=["pin", "tracked", "policy"],
)
def test_what_it_follows_from_changed(calm, started, change):
    """Another pin, or other settings: it is judged anew."""
    calm.look()
    change(calm)
    started.clear()
    calm.look()
    assert of_upstream(started)


def test_severities_are_those_of_today(calm):
    """They are laid over what was concluded."""
    calm.config["severities"] = {"fix-available": "critical"}
    found = calm.look()
    assert {Severity.CRITICAL} == {
        it.concern.severity for it in found.findings if it.concern.kind == "fix-available" and it.is_live
    }


def test_a_lost_pin_is_looked_at_each_time(calm, started):
    """What a server still hands out may change without its refs."""
    calm.engine.draw("A---X   (main)", **kit.STORY)
    calm.look()
    started.clear()
    calm.look()
    assert of_upstream(started)


def test_a_mirror_that_is_gone_is_made_again(calm):
    """Else the pinned commits would not be kept."""
    shutil.rmtree(calm.state / "mirrors")
    calm.look()
    assert calm.mirror().run("cat-file", "-t", calm.engine.oids["B"])


def test_a_tag_that_moved_is_told_once(calm):
    """It happened in one look; the ones after that do not tell it again."""
    oids = calm.engine.draw("A---B---F---C   (main)", refs={"refs/tags/v1": "F"}, **kit.STORY)
    assert oids
    assert "tag-moved" in {event.finding.concern.kind for event in calm.look().events}
    assert () == calm.look().events
    assert () == calm.look().events


def test_a_downstream_whose_branch_stands_still_is_not_read_again(calm, started):
    """Nothing is started for it; its pins are as they were, and once it moves they are as they are."""
    product = calm.downstream("product", served=True)
    product.pin("acme/engine", xpu=calm.engine.oids["B"])
    calm.look()
    started.clear()
    again = calm.look()
    assert [] == [command for command in started if any("mirrors/" in word and "product" in word for word in command)]
    assert {"cuda", "rocm", "xpu"} == {pin.variant for pin in again.pins}
    product.pin("acme/engine", xpu=calm.engine.oids["F"])
    moved = calm.look()
    assert calm.engine.oids["F"] == next(pin.ref for pin in moved.pins if pin.variant == "xpu")


def test_what_another_version_kept_is_judged_anew(calm):
    """A conclusion that cannot be read is none."""
    first = calm.look()
    with Store.open(calm.state) as store:
        store._db.execute("UPDATE conclusions SET body = '{}'")
        store._db.commit()
    assert told(first) == told(calm.look())
