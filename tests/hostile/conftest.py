"""A world for one test, and a repository that is written byte by byte."""

import os

import pytest

from tests.hostile.raw import Raw
from tests.stories.world import World

HEAVY = bool(os.environ.get("WATCHER_HEAVY"))
"""Whether there is time for the sizes of the issue; else they are a quarter or less, which breaks the same things."""


@pytest.fixture
def world(server, tmp_path):
    """Offer an empty world."""
    return World(folder=tmp_path, server=server)


@pytest.fixture
def raw(world):
    """Offer the world's engine as a repository without any check."""
    world.engine.path.parent.mkdir(parents=True, exist_ok=True)
    return Raw(world.engine.path)
