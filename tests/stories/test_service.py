"""The long-running service: started, told things, killed and stopped as a person or an init system would."""

import json
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from tests.mailpeer import MailPeer
from tests.slackpeer import APP_TOKEN, HOOKS, TOKEN, Reply, SlackPeer, shown
from tests.stories import kit
from watcher.demo.server import Status
from watcher.store import Store
from watcher.upstream.mirror import Mirror

PROGRAM = Path(sys.executable).with_name("watcher")
PICTURE = "A---B---F---C   (main)"
LONG = 60
"""Seconds to wait for what should come at once."""


@dataclass
class Running:
    """A service that runs."""

    process: subprocess.Popen

    def until(self, word: str) -> list[dict]:
        """Return the log up to the next line of an event."""
        seen = []
        for line in self.process.stderr:
            seen.append(json.loads(line))
            if word == seen[-1]["event"]:
                return seen
        raise AssertionError(f"{word} was never said: {seen}")

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and return how it exits, within the ten seconds that it has."""
        self.process.send_signal(number)
        self.process.communicate(timeout=10)
        return self.process.returncode


@pytest.fixture
def slack(monkeypatch):
    """Run a Slack whose webhook the configuration names."""
    with SlackPeer() as peer:
        monkeypatch.setenv("HOOK", f"{peer.address}/hook")
        yield peer


@pytest.fixture
def buggy(world, slack):
    """Offer a world whose pin lacks a fix, looked at each second, and told to Slack."""
    oids = world.engine.draw(PICTURE, **kit.STORY)
    world.pin(cuda=oids["B"])
    world.config = {"slack": {"webhook": "env:HOOK"}, "schedule": {"poll": "1s"}, "http": {"listen": "127.0.0.1:0"}}
    return world


@pytest.fixture
def clickable(buggy, slack, monkeypatch):
    """Offer the same world, told by a bot whose messages have buttons."""
    monkeypatch.setenv("TOKEN", TOKEN)
    monkeypatch.setenv("APP_TOKEN", APP_TOKEN)
    buggy.config |= {
        "slack": {"channel": "C1", "token": "env:TOKEN", "app_token": "env:APP_TOKEN"},
        "rewrites": {
            **buggy.document()["rewrites"],
            "https://slack.com/": f"{slack.address}/",
            HOOKS: f"{slack.address}/",
        },
    }
    return buggy


def until(is_so) -> None:
    """Wait until something is so."""
    end = time.monotonic() + LONG
    while not is_so():
        assert time.monotonic() < end, "it never was"
        threading.Event().wait(0.1)


def held(world) -> Mirror:
    """Return the mirror that the service holds."""
    return Mirror(directory=world.mirror().directory, url=world.engine.url, partial=True)


@contextmanager
def service(world) -> Iterator[Running]:
    """Run the service over a world; it is killed at the latest when the story ends."""
    world.prepare()
    with subprocess.Popen([PROGRAM, "run"], cwd=world.folder, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield Running(process)
        finally:
            process.kill()


def test_it_tells_a_first_look_and_then_what_is_new(buggy, slack):
    """The baseline in one message, later news one by one; an unchanged pass says nothing."""
    with service(buggy) as running:
        assert "First look: 1 finding" == slack.messages.get(timeout=LONG)["text"]
        buggy.engine.draw("A---X---Y   (main)", **kit.STORY)
        over, news = (shown(slack.messages.get(timeout=LONG)) for _ in range(2))
        assert "HIGH resolved: engine: " in over
        assert "HIGH new: engine: " in news
        assert "docker/Dockerfile.cuda:2" in news
        assert 0 == running.stop()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_restart_tells_nothing_twice(buggy, slack, number):
    """The next message is the next thing that happened; killed between sending and noting it, it may come again."""
    with service(buggy) as running:
        slack.messages.get(timeout=LONG)
        running.stop(number)
    buggy.engine.draw("A---X---Y   (main)", **kit.STORY)
    with service(buggy) as running:
        told = slack.messages.get(timeout=LONG)["text"]
        if number == signal.SIGKILL and told.startswith("First look"):
            told = slack.messages.get(timeout=LONG)["text"]
        assert "HIGH resolved: engine: " in told
        assert "HIGH new: engine: " in slack.messages.get(timeout=LONG)["text"]
        assert 0 == running.stop()


def test_a_message_that_cannot_be_sent_is_told_and_kept(buggy, slack, monkeypatch):
    """What is owed is on the disk, with the reason."""
    monkeypatch.setenv("HOOK", "")
    with service(buggy) as running:
        said = running.until("not delivered")
        assert "expected a secret in env:HOOK, found nothing there" in said[-1]["reason"]
        assert 0 == running.stop()
    with Store.open(buggy.state) as store:
        [message] = store.outbox()
    assert message.delivered_at is None
    done = subprocess.run([PROGRAM, "check"], cwd=buggy.folder, capture_output=True, text=True, timeout=60, check=False)
    assert "1 message to slack not delivered: expected a secret in env:HOOK, found nothing there" in done.stderr


def test_one_service_for_one_state(buggy, slack):
    """A second one is refused, and told which process has the state."""
    with service(buggy) as running:
        running.until("started")
        done = subprocess.run(
            [PROGRAM, "run"], cwd=buggy.folder, capture_output=True, text=True, timeout=30, check=False
        )
        assert 2 == done.returncode
        assert f"another watcher (process {running.process.pid}) runs on this state" in done.stderr
        assert 0 == running.stop(signal.SIGINT)


def test_a_changed_configuration_is_taken_up_and_a_wrong_one_refused(buggy, slack):
    """SIGHUP reads it; the old one goes on where the new one is wrong."""
    with service(buggy) as running:
        running.until("started")
        path = buggy.folder / "config.yaml"
        right = path.read_text()
        path.write_text("downstreem: []\n")
        running.process.send_signal(signal.SIGHUP)
        said = running.until("configuration refused, the old one goes on")
        assert "config.yaml:1" in said[-1]["reason"]
        path.write_text(right.replace('"1s"', '"2s"'))
        running.process.send_signal(signal.SIGHUP)
        assert "0:00:02" == running.until("configuration read")[-1]["poll"]
        assert 0 == running.stop()


def test_systemd_is_told(buggy, slack, monkeypatch):
    """That it is ready, that it lives, that it ends."""
    monkeypatch.setenv("NOTIFY_SOCKET", str(buggy.folder / "notify"))
    monkeypatch.setenv("WATCHDOG_USEC", "2000000")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(str(buggy.folder / "notify"))
        heard.settimeout(LONG)
        with service(buggy) as running:
            said = {heard.recv(99) for _ in range(2)}
            assert {b"READY=1", b"WATCHDOG=1"} == said
            assert 0 == running.stop()
        said = b""
        while said != b"STOPPING=1":
            said = heard.recv(99)


def test_an_upstream_that_is_away_ends_nothing(buggy, slack):
    """A pass that could not look is followed by the next one, and what was known is not told as repaired."""
    with service(buggy) as running:
        slack.messages.get(timeout=LONG)
        buggy.engine.fault(Status(code=503))
        running.process.send_signal(signal.SIGHUP)
        running.until("configuration read")
        buggy.engine.draw("A---X---Y   (main)", **kit.STORY)
        buggy.engine.fault(None)
        assert "HIGH resolved: engine: " in slack.messages.get(timeout=LONG)["text"]
        assert 0 == running.stop()


def test_a_click_is_recorded_with_the_name(clickable, slack):
    """Who acknowledged is shown in the message, told in its thread, and kept."""
    with service(clickable) as running:
        slack.messages.get(timeout=LONG)
        clickable.engine.draw("A---X---Y   (main)", **kit.STORY)
        while "HIGH new: " not in slack.messages.get(timeout=LONG)["text"]:
            pass
        [news] = [message for message in slack.posted.values() if "HIGH new: " in message["text"]]
        slack.click(news, "acknowledge")
        state, thread = (slack.messages.get(timeout=LONG) for _ in range(2))
        assert ("chat.update", "chat.postMessage") == (state["method"], thread["method"])
        assert "Acknowledged by dana" in shown(state)
        assert "Acknowledged by dana" in shown(thread)
        assert "acknowledged" == running.until("acknowledged")[-1]["event"]
        assert 0 == running.stop()
    with Store.open(clickable.state) as store:
        [finding] = [it for it in store.findings() if it.state == "acknowledged"]
    assert "dana (U1)" == finding.by


def test_not_a_fix(clickable, slack):
    """One click, and the change is no fix for any pin; the next passes leave it so."""
    oids = clickable.engine.oids
    clickable.pin(cuda=oids["F"])
    clickable.now = datetime.now(UTC)
    clickable.look(hours=0)
    clickable.pin(cuda=oids["B"], rocm=oids["B"])
    with service(clickable) as running:
        for _ in range(2):
            assert "HIGH new: " in slack.messages.get(timeout=LONG)["text"]
        slack.click(next(iter(slack.posted.values())), "not-a-fix")
        for _ in range(4):
            assert "ot a fix" in shown(slack.messages.get(timeout=LONG))
        assert 0 == running.stop()
    with Store.open(clickable.state) as store:
        assert ["resolved", "resolved"] == [it.state.value for it in store.findings()]


def test_a_digest_that_was_missed_comes_late(buggy, slack):
    """The service was down at its hour: it is sent at the next start, once, and says that it is late."""
    with MailPeer() as mail:
        buggy.config["email"] = {"smtp": mail.address, "from": "w@example.org", "to": "a@example.org"}
        buggy.look()
        for _ in range(2):
            with service(buggy) as running:
                if mail.arrived.empty():
                    _, letter, _ = mail.arrived.get(timeout=LONG)
                    assert "late: it was due" in letter.get_body(("plain",)).get_content()
                    mail.arrived.put(None)
                running.until("started")
                assert 0 == running.stop()
        assert mail.arrived.get() is None
        assert mail.arrived.empty()


def test_a_restart_asks_nobody_anew(buggy, slack):
    """What is due is remembered: not even a killed service looks again before its time."""
    buggy.config["schedule"] = {"poll": "6h"}
    with service(buggy) as running:
        slack.messages.get(timeout=LONG)
        held(buggy).complete(buggy.engine.oids["B"])
        held(buggy).bring_past(buggy.engine.oids["B"])
        running.stop(signal.SIGKILL)
    buggy.server.requests.clear()
    with service(buggy) as running:
        address = running.until("started")[-1]["http"]
        assert httpx.get(f"http://{address}/readyz").status_code == 200
        assert 0 == running.stop()
    assert [] == buggy.server.requests


def test_what_does_not_arrive_is_on_the_page(buggy, slack, monkeypatch):
    """`/healthz` names the channel and the reason, for whoever looks there and not into the log."""
    slack.replies.put(Reply(status=403, body="invalid_token"))
    with service(buggy) as running:
        address = running.until("started")[-1]["http"]
        running.until("not delivered")
        said = httpx.get(f"http://{address}/healthz").json()
        assert "trouble" == said["status"]
        [message] = said["undelivered"]
        assert ("slack", 1) == (message["channel"], message["count"])
        assert "watcher_outbox_messages{" in httpx.get(f"http://{address}/metrics").text
        assert 0 == running.stop()


def test_a_taken_address_is_told(buggy, slack):
    """A second service with a state of its own and the same address says how to name another."""
    with service(buggy) as running:
        address = running.until("started")[-1]["http"]
        other = buggy.folder / "other.yaml"
        other.write_text(json.dumps(buggy.document() | {"state": str(buggy.folder / "s"), "http": {"listen": address}}))
        done = subprocess.run([PROGRAM, "run", "-c", other], capture_output=True, text=True, timeout=30, check=False)
        assert 2 == done.returncode
        assert f"cannot listen on {address}" in done.stderr
        assert 0 == running.stop()


def test_what_is_pinned_is_whole_soon(buggy, slack):
    """The drill brings the contents of pinned commits, so that they can be rescued when the upstream is gone."""
    with service(buggy) as running:
        slack.messages.get(timeout=LONG)
        until(lambda: held(buggy).is_whole(buggy.engine.oids["B"]))
        assert 0 == running.stop()


def test_mirrors_are_looked_after(buggy, slack):
    """Soon after the start and then once a day: from then on /metrics knows how large they are."""
    with service(buggy) as running:
        address = running.until("started")[-1]["http"]
        until(lambda: "watcher_mirrors_bytes" in httpx.get(f"http://{address}/metrics").text)
        assert 0 == running.stop()
