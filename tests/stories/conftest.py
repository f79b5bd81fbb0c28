"""The world that every story starts from."""

import pytest

from tests.forges.conftest import asking, http  # noqa: F401 - fixtures that stories of proposals share
from tests.stories.world import World


@pytest.fixture
def world(server, tmp_path):
    """Offer an empty world: a server on loopback, a state folder, a clock at Monday morning."""
    return World(folder=tmp_path, server=server)
