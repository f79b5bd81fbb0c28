"""The API: over a story's state, held to its own description."""

import json
from datetime import timedelta

import jsonschema
import pytest
import schemathesis
from schemathesis import engine
from schemathesis.engine.events import FatalError, NonFatalError, ScenarioFinished

from tests.pages.shown import told
from tests.report import passes
from tests.stories.conftest import world  # noqa: F401 - the world that stories start from
from watcher import standing
from watcher.config import Settings
from watcher.config.fields import Endpoint
from watcher.findings import acknowledge
from watcher.model import Event, EventKind, State
from watcher.pages import api
from watcher.serving import Served
from watcher.showing import Door, shown
from watcher.site import Site
from watcher.standing import Standing
from watcher.store import Store

TOKEN = "open sesame"


@pytest.fixture
def site(world):  # noqa: F811
    """Return the pages of a story: a bump was missed for one variant, and one of its findings is acknowledged."""
    _, _, events, _ = told(world)
    world.act(events[0].finding, acknowledge, world.now)
    config = Settings.model_validate(world.document())
    return Site(config.state, lambda: config, lambda: world.now)


@pytest.fixture
def ask(site):
    """Ask the API, and return what it says."""

    def asked(address, **query):
        page = site.page(f"api/v1/{address}", query)
        assert "application/json" == page.media_type
        return page.status, json.loads(page.body)

    return asked


@pytest.fixture
def service(site, world, pulse):  # noqa: F811
    """Serve it to whoever has the token."""
    door = Door(host="127.0.0.1", token=lambda: TOKEN)
    with Served(Endpoint(host="127.0.0.1", port=0), world.state, pulse, shown(site, door)) as running:
        yield f"http://{running.address}/api/v1"


@pytest.fixture
def described(service):
    """Return the description that the service gives, for those that have the token."""
    login = {"Authorization": f"Bearer {TOKEN}"}
    schema = schemathesis.openapi.from_url(f"{service}/openapi.json", headers=login)
    schema.config.update(base_url=service, headers=login)
    return schema


def test_it_does_as_it_says(described):
    """Whatever is asked: no error of the server, no other status, type or document than it says, no way round."""
    described.config.generation.max_examples = 20
    described.config.generation.deterministic = True
    failed, tried = set(), 0
    for event in engine.from_schema(described).execute():
        assert not isinstance(event, FatalError | NonFatalError), event.info
        if isinstance(event, ScenarioFinished):
            checks = [it for some in event.recorder.checks.values() for it in some]
            failed |= {f"{event.label}: {it.failure_info.failure}" for it in checks if it.failure_info}
            tried += len(event.recorder.interactions)
    assert set() == failed
    assert tried > 100


# --- what is said ----------------------------------------------------------------------------------------------------


def test_the_report_is_the_one_of_a_pass(world, site):  # noqa: F811
    """The very document that `watcher check --format json` prints where everything is as it stands."""
    with Store.open(world.state) as store:
        wanted = standing.document(standing.read(store, Settings.model_validate(world.document())))
    for address in ("api/v1/check.json", "api/v1/check"):
        assert json.loads(json.dumps(wanted)) == json.loads(site.page(address, {}).body)


def held(ask, address, document):
    """Hold a document to what is said of its address; give it back."""
    _, description = ask("openapi")
    [described] = [it["get"] for path, it in description["paths"].items() if path == f"/{address}.json"]
    schema = described["responses"]["200"]["content"]["application/json"]["schema"]
    jsonschema.validate(document, {**schema, "components": description["components"]})
    return document


def test_each_part_is_as_described(ask):
    """Dependencies, findings and events lead to one another, and name the same things."""
    for tops, top, part, name in (
        ("dependencies", "dependencies", "dependencies/{slug}", "slug"),
        ("findings", "findings", "findings/{handle}", "handle"),
    ):
        _, rows = ask(tops)
        assert held(ask, tops, rows)[top]
        for row in rows[top]:
            status, one = ask(part.replace(f"{{{name}}}", row[name]))
            assert 200 == status
            held(ask, part, one)
            assert row[name] in {one.get(name), one.get("finding", {}).get(name)}
    _, happened = ask("events")
    assert "acknowledged" == held(ask, "events", happened)["events"][-1]["kind"]


def test_a_dependency_has_what_the_report_says_of_it(ask):
    """Nothing more, nothing less."""
    _, report = ask("check")
    [summary] = ask("dependencies")[1]["dependencies"]
    _, whole = ask(f"dependencies/{summary['slug']}")
    assert summary == {key: whole[key] for key in summary}
    for part in ("pins", "fixes", "suggestions"):
        assert report[part] == whole[part]
    assert {it["key"] for it in report["findings"]} == {it["key"] for it in whole["findings"]}


class Kept:
    """A memory with one of everything, none of it about what is pinned."""

    def finding(self, _key):
        """Return one."""

    def findings(self):
        """Return the findings."""
        return (*passes.FINDINGS, passes.RESOLVED)

    def events(self, key=None):
        """Return that each was opened, an hour after the other."""
        return tuple(
            Event(kind=EventKind.OPENED, finding=it, at=passes.NOW + timedelta(hours=number))
            for number, it in enumerate(self.findings())
            if key in {None, it.key}
        )


def said(address, **query):
    """Return what the API says of that."""
    page = api.answer(address, query, Standing(at=None, dependencies=()), Kept())
    return page.status, json.loads(page.body)


@pytest.mark.parametrize(
    ("query", "is_meant"),
    [
        ({}, lambda it: it.state is not State.RESOLVED),
        ({"state": "acknowledged"}, lambda it: it.state is State.ACKNOWLEDGED),
        ({"state": "resolved"}, lambda it: it is passes.RESOLVED),
        ({"severity": "medium"}, lambda it: it.state is not State.RESOLVED and it.concern.severity.rank > 0),
        ({"severity": "low", "state": "open"}, lambda it: it.state is State.OPEN),
        ({"severity": "critical"}, lambda _: False),
        ({"variant": "vulkan"}, lambda _: False),
    ],
)
def test_findings_by_what_is_asked(query, is_meant):
    """All that are meant, and no other; one that is over only where it is asked for."""
    wanted = [it.key for it in Kept().findings() if is_meant(it)]
    assert wanted == [it["key"] for it in said("findings", **query)[1]["findings"]]


def test_findings_of_a_variant(ask):
    """Those about a pin for it, and those about several."""
    keys = {it["key"] for it in ask("findings", variant="cuda")[1]["findings"]}
    assert any(".cuda:" in key for key in keys)
    assert not any(".rocm:" in key for key in keys)


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ({}, range(7)),
        ({"limit": "2"}, [5, 6]),
        ({"limit": "1000"}, range(7)),
        ({"since": "2026-08-20T13:00:00Z"}, [4, 5, 6]),
        ({"since": "2026-08-20t15:00:00.25+02:00", "limit": "1"}, [6]),
        ({"since": "2026-08-20T16:00:00Z"}, []),
        ({"since": "0001-01-01T00:00:00+23:59"}, range(7)),
        ({"since": "9999-12-31T23:59:59-23:59"}, []),
    ],
)
def test_events_by_what_is_asked(query, numbers):
    """The last ones, from a moment on, oldest first."""
    every = said("events")[1]["events"]
    assert [every[number] for number in numbers] == said("events", **query)[1]["events"]


@pytest.mark.parametrize(
    ("address", "query", "words"),
    [
        ("findings", {"severity": "loud"}, "severity: Input should be 'low', 'medium', 'high' or 'critical'"),
        ("findings", {"sevrity": "high"}, "sevrity: Extra inputs are not permitted"),
        ("findings", {"variant": ""}, "variant: String should have at least 1 character"),
        ("events", {"limit": "0"}, "limit: Input should be greater than or equal to 1"),
        ("events", {"limit": "1001"}, "limit: Input should be less than or equal to 1000"),
        ("events", {"limit": "1_0"}, "limit: expected a number from 1 to 1000"),
        ("events", {"since": "1700000000"}, "since: expected a time such as 2026-08-20T09:00:00Z"),
        ("events", {"since": "2026-08-20T09:00:00"}, "since: expected a time such as 2026-08-20T09:00:00Z"),
        ("events", {"<script>": "x"}, "<script>: Extra inputs are not permitted"),
        ("events", {"a\u202eb\x1b": "x"}, "ab: Extra inputs are not permitted"),
    ],
)
def test_what_is_not_understood_is_refused(address, query, words):
    """With what was expected; a filter that was misspelt would let all through."""
    assert (400, {"error": words}) == said(address, **query)


@pytest.mark.parametrize(
    "address",
    [
        *("", ".", ".json", "nothing", "check/more", "check.json.json", "dependencies/", "dependencies/none"),
        *("dependencies/../check", "findings/0000000", "findings/\0", "events/a\nb", "x" * 9000),
    ],
)
def test_nothing_is_there(address):
    """It says so in JSON, without a word of what was asked for."""
    assert (404, {"error": "there is no such thing"}) == said(address)


@pytest.mark.parametrize("address", ["check", "dependencies", "findings", "events"])
def test_before_the_first_look(address):
    """There is little to tell, and the description is true of it."""
    status, document = said(address)
    assert 200 == status
    held(said, address, document)


def test_every_address_of_a_copy_answers(site):
    """A copy as files holds them all."""
    found = [it for it in site.addresses() if it.startswith(api.API)]
    assert {f"{api.API}{name}.json" for name in ("openapi", "check", "dependencies", "findings", "events")} < set(found)
    for address in found:
        assert 200 == site.page(address, {}).status, address


def test_what_is_asked_once_is_not_kept(site):
    """Whoever asks for ever other things makes nobody else wait."""
    before = site.page("api/v1/check.json", {})
    for limit in range(1, 80):
        site.page("api/v1/events", {"limit": str(limit)})
    assert before is site.page("api/v1/check.json", {})
