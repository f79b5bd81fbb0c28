"""A manifest names a server inside our network: it is asked only where the configuration names it too."""

import pytest

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
