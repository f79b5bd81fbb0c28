"""The world that every story starts from, and who looks at its upstreams.

`WATCHER_TEST_EXECUTOR=dask` has them looked at by workers that see the mirrors of each story, `dask-apart` by workers
that have mirrors of their own.
"""

import os

import pytest

from tests.daskpeer import client_of, dask_peer
from tests.forges.conftest import asking, http  # noqa: F401 - fixtures that stories of proposals share
from tests.stories.world import World

_OWN_MIRROR = {
    "test_shallow_mirror_is_never_believed",
    "test_the_drill_brings_a_branch_again",
}
"""Stories that damage the mirror which looks are made in: workers apart have another one."""
_IN_PROCESS = {
    "tests.stories.test_crash",
    "tests.stories.test_starting",
    "tests.stories.test_unchanged",
    "tests.stories.test_upkeep",
}
"""Stories that strike or count what happens in this process: always told with threads."""


@pytest.fixture(scope="session")
def team(tmp_path_factory):
    """Run two workers for all stories."""
    with dask_peer(tmp_path_factory.mktemp("dask")) as peer:
        yield peer


@pytest.fixture
def apart(team, tmp_path, monkeypatch):
    """Let workers see no mirror of the story's, and none of another story's either."""
    from watcher.workers import cluster, errands  # noqa: PLC0415 - it takes a second, which few need to wait

    monkeypatch.setattr(cluster, "marker", lambda _: "")
    place = {errands.FOLDER: str(tmp_path / "elsewhere")}
    with client_of(team) as client:
        client.run(lambda: os.environ.update(place))
    return team


@pytest.fixture
def world(server, tmp_path, request):
    """Offer an empty world: a server on loopback, a state folder, a clock at Monday morning."""
    executor = os.environ.get("WATCHER_TEST_EXECUTOR", "threads")
    if executor == "threads" or request.module.__name__ in _IN_PROCESS:
        return World(folder=tmp_path, server=server)
    apart = executor == "dask-apart" and request.node.originalname not in _OWN_MIRROR
    address = request.getfixturevalue("apart" if apart else "team").address
    return World(folder=tmp_path, server=server, scheduler=address)
