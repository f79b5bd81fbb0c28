"""The pages of the service, asked for over HTTP on loopback."""

import socket
import time
from threading import Event

import httpx
import pytest
from prometheus_client import openmetrics
from prometheus_client.openmetrics import parser as openmetrics_parser  # noqa: F401 - makes the attribute
from prometheus_client.parser import text_string_to_metric_families
from structlog.testing import capture_logs

from tests.report import passes
from tests.test_metrics import HOUR, MINUTE, owe
from watcher import serving
from watcher.config.fields import Endpoint
from watcher.errors import UsageError
from watcher.serving import Served
from watcher.store import Store

NOW = passes.NOW
ANY = Endpoint(host="127.0.0.1", port=0)


@pytest.fixture
def store(tmp_path):
    """Open an empty memory."""
    with Store.open(tmp_path) as opened:
        yield opened


@pytest.fixture
def served(store, pulse):
    """Serve the pages of the memory."""
    with Served(ANY, store.path.parent, pulse, now=lambda: NOW) as running:
        yield running


@pytest.fixture
def client(served):
    """Ask for pages."""
    with httpx.Client(base_url=f"http://{served.address}", trust_env=False) as asking:
        yield asking


def damage(store):
    """Let the database be something else."""
    store.close()
    for rest in store.path.parent.glob(f"{store.path.name}-*"):
        rest.unlink()
    store.path.unlink()
    store.path.mkdir()


def connected(served):
    """Return a connection that nothing was sent on."""
    return socket.create_connection((served.address.host, served.address.port), timeout=10)


# --- /healthz --------------------------------------------------------------------------------------------------------


def test_a_healthy_service_says_so(client):
    """With 200, its version, and nothing that wants a person."""
    answer = client.get("/healthz")
    said = answer.json()
    assert (200, "application/json") == (answer.status_code, answer.headers["content-type"])
    assert said.pop("version")
    assert {"status": "ok", "undelivered": [], "self_check": [], "database": "ok"} == said


def test_trouble_is_shown_to_whoever_asks(client, store):
    """Still with 200: it is alive. Messages that do not arrive are counted by reason; hostile text is harmless."""
    for about in ("one", "two"):
        store.given_up(owe(store, about), "Slack refuses: invalid_auth\u202e\x1b[2J", NOW)
    store.record_standings({"duty self-check": {"troubles": ["the disk is full", "a\u202eb"]}}, NOW)
    answer = client.get("/healthz")
    said = answer.json()
    assert (200, "trouble") == (answer.status_code, said["status"])
    assert [{"channel": "slack", "reason": "Slack refuses: invalid_auth[2J", "count": 2}] == said["undelivered"]
    assert ["the disk is full", "ab"] == said["self_check"]


def test_a_self_check_without_troubles_is_none(client, store):
    """What it found before is over."""
    store.record_standings({"duty self-check": {"troubles": []}}, NOW)
    assert "ok" == client.get("/healthz").json()["status"]


def test_it_is_alive_without_a_database(client, store):
    """And says what is wrong with it."""
    damage(store)
    answer = client.get("/healthz")
    assert (200, "trouble") == (answer.status_code, answer.json()["status"])
    assert "unable to open database file" in answer.json()["database"]


# --- /readyz ---------------------------------------------------------------------------------------------------------


def unmet(answer):
    """Return the names of the conditions that are not met, after a look at the status."""
    found = {name for name, check in answer.json()["checks"].items() if not check["ok"]}
    assert (503 if found else 200) == answer.status_code
    assert answer.json()["ready"] is not bool(found)
    return found


def test_a_young_service_is_ready(client):
    """It had no time to do anything yet."""
    answer = client.get("/readyz")
    assert set() == unmet(answer)
    assert {"cycle", "scheduler", "outbox", "database"} == set(answer.json()["checks"])


@pytest.mark.parametrize(("poll", "minutes"), [(15 * MINUTE, 45), (MINUTE, 10)])
def test_passes_that_stay_away(client, pulse, clock, poll, minutes):
    """Three intervals are fine, and ten minutes; a failed pass is none, and its reason is told."""
    pulse.expect(every=poll, channels=[])
    pulse.began()
    pulse.failed("it\u202e went wrong")
    clock.seconds += minutes * 60
    pulse.ticked()
    assert set() == unmet(client.get("/readyz"))
    clock.seconds += 1
    answer = client.get("/readyz")
    assert {"cycle"} == unmet(answer)
    assert "the last one failed: it went wrong" in answer.json()["checks"]["cycle"]["detail"]
    pulse.began()
    assert "one is under way for 0 s" in client.get("/readyz").json()["checks"]["cycle"]["detail"]
    pulse.ended(observed=1, unobserved=0)
    assert set() == unmet(client.get("/readyz"))


def test_a_scheduler_that_stands_still(client, pulse, clock):
    """It gives a sign of life each minute."""
    clock.seconds += 60
    assert set() == unmet(client.get("/readyz"))
    clock.seconds += 1
    assert {"scheduler"} == unmet(client.get("/readyz"))
    pulse.ticked()
    assert set() == unmet(client.get("/readyz"))


@pytest.mark.parametrize(
    ("ago", "more", "found"),
    [
        (HOUR, {}, set()),
        (HOUR + MINUTE, {}, {"outbox"}),
        (9 * HOUR, {"not_before": NOW + MINUTE}, set()),
        (9 * HOUR, {"not_before": NOW - MINUTE}, set()),
        (9 * HOUR, {"not_before": NOW - 2 * HOUR}, {"outbox"}),
        (9 * HOUR, {"channel": "taken-away"}, set()),
    ],
)
def test_messages_that_wait_for_long(client, store, ago, more, found):
    """An hour is fine, counted from when one could be sent; for a channel that is gone, nothing can be."""
    owe(store, "event", ago=ago, **more)
    assert found == unmet(client.get("/readyz"))


def test_no_database_is_not_ready(client, store):
    """It says what is wrong with it."""
    damage(store)
    answer = client.get("/readyz")
    assert {"database"} == unmet(answer)
    assert "unable to open database file" in answer.json()["checks"]["database"]["detail"]


# --- /metrics --------------------------------------------------------------------------------------------------------


def test_metrics_are_text_by_default(client, pulse):
    """In the format that every scraper reads."""
    pulse.ended(observed=3, unobserved=0)
    answer = client.get("/metrics")
    assert "text/plain; version=0.0.4; charset=utf-8" == answer.headers["content-type"]
    found = {it.name: it for it in text_string_to_metric_families(answer.text)}
    assert [3, 0] == [sample.value for sample in found["watcher_polls"].samples if sample.name.endswith("_total")]
    assert all(it.documentation for name, it in found.items() if name.startswith("watcher_"))


def test_metrics_are_openmetrics_for_who_wants_it(client):
    """As Prometheus itself asks for."""
    answer = client.get("/metrics", headers={"Accept": "application/openmetrics-text;version=1.0.0;q=0.9,*/*;q=0.1"})
    assert answer.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
    found = {it.name for it in openmetrics.parser.text_string_to_metric_families(answer.text)}
    assert {"watcher_polls", "watcher_upstreams", "watcher_build"} <= found


@pytest.mark.parametrize("accept", ["", ";;=,", "application/openmetrics-text; version=x", "text/plain; version=1.x.y"])
def test_nonsense_gets_an_answer(client, accept):
    """Whatever is asked for."""
    assert 200 == client.get("/metrics", headers={"Accept": accept}).status_code


# --- over HTTP -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics", "/elsewhere"])
def test_every_answer_is_guarded(client, path):
    """Nothing is kept, guessed or run, and nothing is said of the server."""
    headers = client.get(path).headers
    assert {
        "cache-control": "no-store",
        "connection": "close",
        "content-security-policy": "default-src 'none'",
        "x-content-type-options": "nosniff",
    }.items() <= headers.items()
    assert "server" not in headers


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("HEAD", "/healthz", 200),
        ("POST", "/healthz", 405),
        ("DELETE", "/metrics", 405),
        ("OPTIONS", "/readyz", 405),
        ("GET", "/", 404),
        ("GET", "/healthz/", 404),
        ("GET", "/..%2f..%2fetc/passwd", 404),
    ],
)
def test_there_is_nothing_else(client, method, path, status):
    """Three pages to read; no redirect, which would lead to wherever the request says that it came from."""
    answer = client.request(method, path, headers={"Host": "evil.example"})
    assert status == answer.status_code
    assert "evil" not in f"{answer.headers}{answer.text}"
    assert method != "HEAD" or not answer.text


def test_a_page_that_fails_is_told(store, pulse):
    """To whoever asked without a word about why, and to the log."""

    def broken():
        raise ValueError("told in the log")

    with Served(ANY, store.path.parent, pulse, now=broken) as running, capture_logs() as logs:
        answer = httpx.get(f"http://{running.address}/readyz", trust_env=False)
    assert (500, "internal error") == (answer.status_code, answer.text)
    [line] = logs
    assert ("page failed", "/readyz", "told in the log") == (line["event"], line["page"], str(line["exc_info"]))


def test_strangers_do_not_write_the_log(served, caplog):
    """What is no request gets an answer, and is no news."""
    with connected(served) as way:
        way.sendall(b"\x16\x03\x01 hello\r\n\r\n")
        assert way.recv(99).startswith(b"HTTP/1.1 400 ")
    served.stop()
    assert [] == caplog.records


def test_a_request_that_does_not_end_is_cut(store, pulse, monkeypatch):
    """And so is a connection on which nothing comes: nobody holds the few places."""
    monkeypatch.setattr(serving, "_LONGEST", 0.05)
    with Served(ANY, store.path.parent, pulse) as running:
        for begun in (b"", b"GET /healthz HTTP/1.1\r\nHost: a\r\n"):
            with connected(running) as way:
                way.sendall(begun)
                assert b"" == way.recv(1)


def test_too_many_at_once_are_refused(store, pulse, monkeypatch):
    """And those that are left are answered."""
    monkeypatch.setattr(serving, "_AT_ONCE", 2)
    with Served(ANY, store.path.parent, pulse) as running:
        first, second = connected(running), connected(running)
        with first, second:
            second.sendall(b"GET")
            with connected(running) as third:
                assert b"" == third.recv(1)
            first.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
            assert first.recv(99).startswith(b"HTTP/1.1 200 ")


def test_a_large_request_is_refused(served):
    """Before it fills the memory."""
    with connected(served) as way:
        way.sendall(b"GET /healthz HTTP/1.1\r\nCookie: " + b"a" * 20_000)
        assert way.recv(99).startswith(b"HTTP/1.1 400 ")


# --- beginning and ending --------------------------------------------------------------------------------------------


def test_an_address_in_use_is_said_at_once(served, store, pulse):
    """Before anything starts, with the key to change."""
    with pytest.raises(UsageError, match=rf"cannot listen on {served.address}: Address already in use; .*`http: "):
        Served(served.address, store.path.parent, pulse).start()


@pytest.mark.parametrize("host", ["192.0.2.1", "no-such-host.invalid"])
def test_an_address_of_somebody_else_is_said_at_once(store, pulse, host):
    """Likewise."""
    with pytest.raises(UsageError, match=rf"cannot listen on {host}:0: \w"):
        Served(Endpoint(host=host, port=0), store.path.parent, pulse).start()


@pytest.mark.parametrize("host", ["localhost", "::1"])
def test_other_addresses_work(store, pulse, host):
    """A name, and IPv6."""
    with Served(Endpoint(host=host, port=0), store.path.parent, pulse) as running:
        assert 200 == httpx.get(f"http://{running.address}/healthz", trust_env=False).status_code


def test_it_stops_at_once_though_somebody_is_connected(store, pulse):
    """With nothing sent, with half a request, and with an answer that nobody reads."""
    running = Served(ANY, store.path.parent, pulse)
    running.start()
    ways = [connected(running) for _ in range(3)]
    ways[1].sendall(b"GET /healthz HTTP/1.1\r\n")
    ways[2].sendall(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n")
    begin = time.monotonic()
    running.stop(2)
    assert time.monotonic() - begin < 2
    for way in ways:
        way.close()
    with pytest.raises(ConnectionRefusedError):
        connected(running)
    with Served(running.address, store.path.parent, pulse) as again:
        assert running.address == again.address


def test_it_stops_though_a_page_hangs(store, pulse):
    """The page is left behind."""
    is_asked, is_over = Event(), Event()

    def hanging():
        is_asked.set()
        is_over.wait(30)
        return NOW

    running = Served(ANY, store.path.parent, pulse, now=hanging)
    running.start()
    with connected(running) as way:
        way.sendall(b"GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n")
        assert is_asked.wait(10)
        begin = time.monotonic()
        running.stop(20)
        assert time.monotonic() - begin < 10
    is_over.set()


def test_it_stops_that_never_started(store, pulse):
    """Whatever went wrong before."""
    Served(ANY, store.path.parent, pulse).stop()
