"""Links into a forge of one's own: its name does not tell what it runs, the configuration does."""

import pytest

from tests.stories import test_two_fixes
from tests.stories.world import HOST, manifest, name_of, the
from watcher.bumping import bump_plans
from watcher.config import Settings
from watcher.explaining import arguments
from watcher.judge.destinations import Aim
from watcher.report import bump, explain, proposal, trace
from watcher.store import Store
from watcher.tracing import traced

SHELF = test_two_fixes.NAME


@pytest.fixture
def shelf(world):
    """Offer the world of the two fixes, read from a served downstream, on a host that runs GitLab."""
    oids = world.upstream(SHELF).draw(test_two_fixes.PICTURE, **test_two_fixes.STORY)
    world.downstream("images", served=True)
    world.pin(SHELF, cuda=oids["P"], rocm=oids["N"])
    world.config["forges"] = {"git.example.org": {"kind": "gitlab"}}
    return world


def opened(world):
    """Return the configuration and the memory."""
    world.prepare()
    settings = Settings.model_validate(world.document())
    return settings, Store.open(settings.state)


def test_findings(shelf):
    """A finding links the pin's line, what lies between it and the target, and who moved it."""
    oids = shelf.upstream(SHELF).oids
    found = shelf.look()
    compare = f"{name_of(SHELF)}/-/compare/{oids['P']}...{oids['N']}"
    drift = the(found, "variant-drift")
    assert [compare, None] == [side.compare for side in drift.sides]
    [place, _] = drift.places
    assert place.url is not None
    assert place.url.startswith(f"{HOST}acme/images/-/blob/")
    assert place.url.endswith(f"/{manifest('cuda')}#L2")
    told = {it.concern.target: it.concern.compare for it in found.findings if it.concern.kind == "fix-available"}
    assert {oids[it]: f"{name_of(SHELF)}/-/compare/{oids['P']}...{oids[it]}" for it in "MN"} == told
    shelf.pin(SHELF, cuda=oids["N"])
    over = [event.finding.link for event in shelf.look().events]
    assert over
    assert all(link and link.startswith(f"{HOST}acme/images/-/commit/") for link in over)


def test_plans(shelf):
    """A plan links the fix, its lines in what is pinned, and what comes along, in all that is written of it."""
    oids = shelf.upstream(SHELF).oids
    settings, store = opened(shelf)
    with store:
        plans = bump_plans(settings, store, f"{manifest('cuda')}:2", Aim.MINIMAL, now=shelf.now)
    compare = f"{name_of(SHELF)}/-/compare/{oids['P']}...{oids['N']}"
    request = f"{name_of(SHELF)}/-/merge_requests/42"
    blame = f"{name_of(SHELF)}/-/blame/{oids['P']}/csrc/shelf.cpp#L"
    assert compare in bump.render(plans)
    for text in (proposal.body(plans[0]), bump.render_json(plans)):
        assert all(url in text for url in (compare, request, blame))
    assert request in proposal.commit_message(plans[0])


def test_traces_and_arguments(shelf):
    """A trace and an argument link the same."""
    oids = shelf.upstream(SHELF).oids
    settings, store = opened(shelf)
    with store:
        found = traced(settings, store, "file=csrc/shelf.cpp func=shelf_free line=12", now=shelf.now)
        [argument] = arguments(settings, store, f"{manifest('cuda')}:2", now=shelf.now)
    compare = f"{name_of(SHELF)}/-/compare/{oids['P']}...{oids['N']}"
    request = f"{name_of(SHELF)}/-/merge_requests/42"
    blame = f"{name_of(SHELF)}/-/blame/{oids['P']}/csrc/shelf.cpp#L"
    assert all(url in explain.render(argument) for url in (compare, request, blame))
    assert all(url in trace.render_json(found.said, found.traces) for url in (compare, request, blame))
    assert request in trace.render(found.said, found.traces)
