"""The picture of a dependency goes where a person reads: into the digest, and into what is proposed."""

from datetime import timedelta

import pytest

from tests.mailpeer import MailPeer
from tests.stories import kit
from watcher.bumping import bump_plans
from watcher.config import Settings
from watcher.deliver import channels, deliver
from watcher.digesting import digest_now, owed_now
from watcher.picture.told import of_week, shown_to_all
from watcher.report.proposal import body
from watcher.store import Store

PICTURE = r"""
          X---Y          (topic)
         /
A---B---C---D---F---E    (main, tag: v1.0)
"""
OPEN = {"http": {"public": True, "address": "https://watcher.example.org/images"}}


@pytest.fixture
def looked(world):
    """Look at a dependency whose CUDA pin lacks a fix, and at one of which there is nothing to say."""
    oids = world.engine.draw(PICTURE, **kit.STORY)
    world.pin(cuda=oids["B"], rocm=oids["F"])
    world.pin("acme/calm", cuda=world.upstream("acme/calm").draw("A---B   (main)", **kit.STORY)["B"])
    world.look()
    return world


def told(world, **more):
    """Return the settings."""
    return Settings.model_validate(world.document() | more)


def test_the_digest_shows_what_needs_a_person(looked):
    """And nothing else; the picture says in words what it shows."""
    settings = told(looked)
    with Store.open(settings.state) as store:
        [picture] = of_week(settings, store, digest_now(settings, store, looked.now))
    assert "engine" == picture.name
    assert "cuda is here" in picture.words
    assert "target for cuda" in picture.words


def test_at_most_three(world):
    """Those that need a person most, however many there are."""
    for name in ("acme/a", "acme/b", "acme/c", "acme/d", "acme/e"):
        oids = world.upstream(name).draw(PICTURE, **kit.STORY)
        world.pin(name, cuda=oids["B"], rocm=oids["F"])
    world.look()
    settings = told(world)
    with Store.open(settings.state) as store:
        assert ["a", "b", "c"] == [it.name for it in of_week(settings, store, digest_now(settings, store, world.now))]


def test_the_mail_has_it(looked):
    """As a related part, which the page names, over real SMTP."""
    with MailPeer() as peer:
        settings = told(looked, email={"smtp": peer.address, "from": "w@example.org", "to": "a@example.org"})
        with Store.open(settings.state) as store:
            now = looked.now + timedelta(hours=1)
            store.owe(owed_now(settings, store, now), now)
            assert () == deliver(store, channels(settings), now)
        _, message, _ = peer.arrived.get_nowait()
    page = message.get_body(("html",)).get_content()
    [image] = [it for it in message.walk() if it.get_content_type() == "image/png"]
    assert f'src="cid:{image["Content-ID"][1:-1]}"' in page
    assert "inline" == image.get_content_disposition()
    assert image.get_content().startswith(b"\x89PNG")
    assert "cuda is here" in page
    assert "multipart/related" in {it.get_content_type() for it in message.walk()}
    assert message.get_body(("plain",)).get_content()


def test_what_cannot_be_drawn_holds_nothing_up(looked, monkeypatch):
    """The digest goes without it."""
    monkeypatch.setattr("watcher.picture.told.png", lambda *_: int("no"))
    settings = told(looked)
    with Store.open(settings.state) as store:
        assert () == of_week(settings, store, digest_now(settings, store, looked.now))


@pytest.mark.parametrize(("more", "is_shown"), [(OPEN, True), ({}, False), ({"http": {"public": True}}, False)])
def test_a_proposal_has_it_where_anybody_may_see_it(looked, more, is_shown):
    """Forges fetch it by themselves, without any token: only then, and only where there is an address."""
    settings = told(looked, **more)
    with Store.open(settings.state) as store:
        [plan] = bump_plans(settings, store, "engine", together=True, now=looked.now)
    site = "https://watcher.example.org/images"
    line = f"[![history of engine]({site}/picture/engine.svg)]({site}/dependency/engine.html)"
    assert is_shown == (line in body(plan).splitlines())
    assert is_shown == ("Where the variants stand" in body(plan))


def test_nothing_is_shown_of_another(looked):
    """Pins that are not there any more have no picture."""
    settings = told(looked, **OPEN)
    with Store.open(settings.state) as store:
        assert shown_to_all(settings, store, {"images:docker/Dockerfile.cuda:gone"}) is None
