"""A manifest names a server inside our network: it is asked only where the configuration names it too."""

import pytest

from tests.conftest import Upstream
from tests.stories.world import HOST
from watcher.demo.server import GitServer, Redirect

PICTURE = "A---B---C (main)"


@pytest.fixture
def inside(world):
    """Offer a world whose image pins an upstream at a host that only the manifest names."""
    oids = world.engine.draw(PICTURE)
    world.pin("acme/brakes", cuda=world.upstream("acme/brakes").draw(PICTURE)["A"])
    address = f"{world.server.address.replace('127.0.0.1', 'localhost')}/acme/engine.git"
    world.images.preface["cuda"] = f"RUN pip install git+{address}@{oids['B']}\n"
    return world


def test_it_is_not_asked(inside):
    """The pin stays unobserved, the reason says what to do, and its server hears nothing."""
    found = inside.look()
    [silent] = found.unobserved
    assert silent.upstream.endswith("/acme/engine")
    assert "inside a private network" in silent.reason
    assert "acme/engine" not in {request.repository for request in inside.server.requests}


def test_it_is_asked_once_it_is_named(inside):
    """Under `upstreams`, as the reason says."""
    [silent] = inside.look().unobserved
    inside.config["upstreams"] = {silent.upstream: {}}
    found = inside.look()
    assert () == found.unobserved
    assert 2 == len(found.pins)


@pytest.fixture
def moved(world, tmp_path):
    """Offer a world whose upstream redirects to a server inside, and that server's repository."""
    with GitServer(tmp_path / "inside") as server:
        world.pin("acme/engine", cuda=world.engine.draw(PICTURE)["A"])
        there = Upstream(server, "acme/engine")
        assert there.draw(PICTURE)["A"] == world.engine.oids["A"]
        world.engine.fault(Redirect(to=there.url.replace("127.0.0.1", "localhost")))
        yield world, there


def address_of(there):
    """Return where a repository is, by a host that the configuration names nowhere else."""
    return there.url.replace("127.0.0.1", "localhost")


@pytest.mark.parametrize("named", [{}, {"upstreams": 0}], ids=["nothing", "upstreams"])
def test_a_redirect_into_it_is_not_followed(moved, named):
    """Even to an address that `upstreams` names: where one host may lead another is nobody's word but the owner's."""
    world, there = moved
    world.config = {"upstreams": {address_of(there): {}}} if named else {}
    [silent] = world.look().unobserved
    assert "localhost is at " in silent.reason
    assert "where it redirects to under `rewrites`" in silent.reason
    assert [] == there.server.requests


def test_a_redirect_into_it_is_followed_ahead_by_rewrites(moved):
    """As the reason says: the pin keeps its address, and the server inside is asked for it."""
    world, there = moved
    assert world.look().unobserved
    world.config = {"rewrites": {HOST: f"{world.server.address}/", f"{HOST}acme/engine": address_of(there)}}
    found = world.look()
    assert () == found.unobserved
    assert [f"{HOST}acme/engine"] == [pin.upstream for pin in found.pins]
    assert there.server.requests
