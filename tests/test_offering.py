"""What the service could propose: where a forge is configured with a token, and a bump brings what is missing."""

from dataclasses import replace

import pytest

from tests.report import passes
from watcher.config import Settings
from watcher.model import Kind, Reading, Severity
from watcher.offering import offered
from watcher.report.json import drift_document, upstream_documents
from watcher.store import Store

GITHUB = "https://github.com/acme/images"
OTHER = {"github.com": {}}
TOKEN = {"github.com": {"token": "env:NOBODY_ASKS"}}
FIX = passes.finding(Kind.FIX_AVAILABLE, Severity.HIGH, passes.CUDA, "saver: a fix", target=passes.NEW).concern
FIX = replace(FIX, key=f"{FIX.key}:{passes.NEW}", dependency="saver")
DRIFT = replace(FIX, key=f"{Kind.VARIANT_DRIFT}:saver", kind=Kind.VARIANT_DRIFT, pin=None)


@pytest.fixture
def store(tmp_path):
    """Open a memory of one pass over two pins that lack a fix."""
    with Store.open(tmp_path / "state") as opened:
        remember(opened)
        yield opened


def remember(store, pins=(passes.CUDA, passes.ROCM), **more):
    """Remember a pass as the service does."""
    found = replace(passes.everything(), pins=pins, **more)
    store.record_readings([Reading(name="images", pins=pins)], passes.NOW)
    document = upstream_documents(found, [passes.SAVER])[passes.SAVER]
    store.record_standings({f"upstream {passes.SAVER}": document}, passes.NOW)


def settings(*, forges=TOKEN, repository=GITHUB, **more):
    """Return a configuration with one downstream."""
    downstream = {"name": "images", "repository": repository}
    return Settings.model_validate({"downstreams": [downstream], "forges": forges, **more})


def suggested(*pins, **more):
    """Return suggestions for pins, to another commit or with other fixes."""
    return tuple(replace(it, target=replace(it.target, **more)) for it in map(passes.suggestion, pins))


def test_a_bump_that_can_be_proposed(store):
    """Where, to which commit, and that the other variant moves too."""
    remember(store, suggestions=suggested(passes.CUDA, passes.ROCM))
    offer = offered(settings(), store, FIX)
    assert ("saver", ("github.com/acme/images",), (passes.NEW,)) == (offer.name, offer.repositories, offer.targets)
    assert "--all-variants --pull-request" == offer.options


def test_the_only_pin(store):
    """There are no other variants to move."""
    remember(store, suggestions=suggested(passes.CUDA))
    assert "--pull-request" == offered(settings(), store, FIX).options


@pytest.mark.parametrize(
    ("bumps", "is_issue"), [("issue", True), ({"high": "issue"}, True), ({"low": "issue"}, False), ("off", False)]
)
def test_an_issue_where_the_policy_says_so(store, bumps, is_issue):
    """By the severity of the finding; where the service does nothing of itself, a click means a pull request."""
    assert is_issue == offered(settings(bumps=bumps), store, FIX).is_issue


@pytest.mark.parametrize(
    "more",
    [
        {"forges": OTHER},
        {"forges": {}},
        {"forges": {"gitlab.com": {"token": "env:NOBODY_ASKS"}}},
        {"repository": "https://git.example.org/acme/images"},
    ],
)
def test_nowhere_to_propose_it(store, more):
    """No token, the token of another forge, a plain git server."""
    assert offered(settings(**more), store, FIX) is None


def test_a_folder_is_nowhere(store, tmp_path):
    """It has no forge, whatever tokens there are."""
    found = Settings.model_validate({"downstreams": [{"name": "images", "path": str(tmp_path)}], "forges": TOKEN})
    assert offered(found, store, FIX) is None


def test_nothing_to_bump_to(store):
    """No target, another kind of finding, or a pin that is not there any more."""
    assert offered(settings(), store, replace(FIX, target=None)) is None
    assert offered(settings(), store, replace(FIX, kind=Kind.PIN_UNREACHABLE)) is None
    assert offered(settings(), store, replace(FIX, pin="images:elsewhere")) is None


def test_a_bump_that_brings_other_fixes(store):
    """A fix that is not worth a bump may be beyond the smallest one: to propose that one would not repair it."""
    remember(store, suggestions=suggested(passes.CUDA, fixes=("acme/saver@other",)))
    assert offered(settings(), store, FIX) is None


def drifted(lacks):
    """Return how the two pins stand to each other."""
    [known] = passes.everything().drift
    return replace(known, lacks=lacks)


@pytest.mark.parametrize(
    ("lacks", "is_offered"),
    [
        ({"rocm": (passes.FIX.id,)}, True),
        ({"rocm": (passes.FIX.id,), "cuda": ()}, True),
        ({"rocm": (passes.FIX.id, "acme/saver@other")}, False),
        ({"xpu": (passes.FIX.id,)}, False),
        ({}, False),
    ],
)
def test_a_drift(store, lacks, is_offered):
    """Where the bump of the variant that lacks something brings all of it."""
    remember(store, suggestions=suggested(passes.ROCM))
    store.record_standings({"drift saver": drift_document(drifted(lacks))}, passes.NOW)
    assert is_offered == (offered(settings(), store, DRIFT) is not None)


def test_before_the_first_pass(tmp_path):
    """Nothing is known of the pin."""
    with Store.open(tmp_path / "new") as empty:
        assert offered(settings(), empty, FIX) is None
