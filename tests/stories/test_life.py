"""How findings live from pass to pass."""

from tests.stories.world import kinds, offered, told

def test_smoke(world):
    """x."""
    import time
    o = world.engine.draw("A---B  (main)")
    world.config = {"pins": [{"upstream": "https://git.example.org/acme/engine", "ref": o["A"]}]}
    world.images.pin("acme/engine", cuda=o["A"])
    t=time.time(); f = world.look(); print(time.time()-t)
    print(f)
    t=time.time(); f = world.look(); print(time.time()-t)
    print(world.server.count())
    assert 0
