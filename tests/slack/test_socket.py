"""Clicks on buttons reach us through Socket Mode: once, from our own people, and what cannot be done is told."""

import json
import threading
import time
from queue import Empty, Queue
from types import SimpleNamespace

import pytest

from tests.report import passes
from tests.slackpeer import APP_TOKEN, SOON, TOKEN, Reply, SlackPeer, refused
from watcher.channels import socket
from watcher.channels.slack import Bot
from watcher.channels.socket import Buttons
from watcher.errors import ConfigError, UsageError
from watcher.model import Event, EventKind
from watcher.report.alert import Offer, alerts
from watcher.report.blocks import Action, post

FINDING = passes.fix_available(passes.CUDA)
HANDLE = FINDING.handle


class Listening:
    """Buttons of ours, and what came of them."""

    def __init__(self, peer, **more):
        self.clicks, self.troubles = Queue(), Queue()
        self.refusal, self.words = None, ""
        self.buttons = Buttons(
            **{
                "token": lambda: TOKEN,
                "app_token": lambda: APP_TOKEN,
                "on_click": self.clicked,
                "trouble": self.troubles.put,
                "api": f"{peer.address}/api/",
                "hooks": f"{peer.address}/",
                **more,
            }
        )

    def __enter__(self):
        self.buttons.start()
        return self

    def __exit__(self, *_):
        self.buttons.stop()

    def clicked(self, *click):
        """Note a click, and refuse it or say something where that is asked for."""
        self.clicks.put(click)
        if self.refusal:
            raise self.refusal
        return self.words


@pytest.fixture
def slack():
    """Run a Slack."""
    with SlackPeer() as peer:
        yield peer


@pytest.fixture
def message(slack):
    """Post a finding with buttons, and return it as it stands in the channel."""
    return posted(slack)


def posted(slack, **more):
    """Post a finding whose bump can be proposed, and return the newest message of the channel."""
    offer = Offer(name="saver", repositories=("github.com/acme/images",), targets=(passes.NEW,), **more)
    event = Event(kind=EventKind.OPENED, finding=FINDING, at=passes.NOW)
    [alert] = alerts([event], {}, {}, {FINDING.key: offer})
    Bot(channel="C1", token=lambda: TOKEN, api=f"{slack.address}/api/").send("key", post(alert, has_buttons=True))
    return list(slack.posted.values())[-1]


@pytest.fixture
def listening(slack):
    """Listen to it."""
    with Listening(slack) as it:
        yield it


def nothing_but(slack, message, listening):
    """Hold that nothing was clicked before a good click now."""
    slack.click(message, Action.SNOOZE)
    assert ("snooze", HANDLE, "dana (U1)") == listening.clicks.get(timeout=SOON)
    assert listening.clicks.empty()


@pytest.mark.parametrize("action", Action)
def test_a_click(slack, listening, action):
    """What, which finding, and who; the envelope is acknowledged, and nobody is told anything."""
    envelope = slack.click(posted(slack, is_issue=action is Action.ISSUE), action)
    assert (str(action), HANDLE, "dana (U1)") == listening.clicks.get(timeout=SOON)
    assert envelope == slack.acknowledged.get(timeout=SOON)
    assert listening.troubles.empty()
    assert slack.told.empty()


def test_a_click_is_acknowledged_before_its_work(slack, message):
    """Slack waits three seconds: the work takes as long as it takes."""
    goes_on = threading.Event()
    with Listening(slack, on_click=lambda *_: str(goes_on.wait(SOON))):
        envelope = slack.click(message, Action.ACKNOWLEDGE)
        assert envelope == slack.acknowledged.get(timeout=SOON)
        assert not goes_on.is_set()
        goes_on.set()


def test_what_is_taken_up_is_told_to_who_clicked(slack, message, listening):
    """What takes longer has an answer of its own before it is done."""
    listening.words = "Taken up."
    slack.click(message, Action.PULL_REQUEST)
    path, told = slack.told.get(timeout=SOON)
    assert path.startswith("/actions/T1/")
    assert ("Taken up.", "ephemeral", False) == (told["text"], told["response_type"], told["replace_original"])
    assert listening.troubles.empty()


def test_what_cannot_be_done_is_told_to_who_clicked(slack, message, listening):
    """To nobody else, as text that is no markup, and the next click is another one."""
    listening.refusal = UsageError("it is over <!channel>")
    slack.click(message, Action.ACKNOWLEDGE)
    path, told = slack.told.get(timeout=SOON)
    assert path.startswith("/actions/T1/")
    assert "it is over &lt;!channel&gt;" == told["text"]
    assert "ephemeral" == told["response_type"]
    assert not told["replace_original"]
    listening.clicks.get()
    listening.refusal = None
    nothing_but(slack, message, listening)


@pytest.mark.parametrize(
    "address",
    ["https://evil.example/actions", "https://hooks.slack.com@evil.example/", "http://hooks.slack.com/x", None, 7],
)
def test_an_answer_goes_to_slack_alone(slack, message, listening, address):
    """Whatever address a payload names."""
    listening.refusal = UsageError("it is over")
    slack.click(message, Action.ACKNOWLEDGE, response_url=address)
    listening.clicks.get(timeout=SOON)
    listening.refusal = None
    nothing_but(slack, message, listening)
    assert slack.told.empty()


def test_an_answer_that_does_not_arrive_is_told(slack, message, listening):
    """To whoever reads the log."""
    listening.refusal = UsageError("it is over")
    slack.other_replies["secret"].put(Reply(status=200, headers={"Transfer-Encoding": "chunked"}, body="x"))
    slack.click(message, Action.ACKNOWLEDGE)
    assert "dana (U1) could not be told" in listening.troubles.get(timeout=SOON)


def test_a_click_that_fails_is_told(slack, message, listening):
    """To us with its reason, to who clicked without; the next click is another one."""
    listening.refusal = RuntimeError("the disk is full\x1b[2J")
    slack.click(message, Action.ACKNOWLEDGE)
    assert "a click in Slack by dana (U1) failed: the disk is full[2J" == listening.troubles.get(timeout=SOON)
    _, told = slack.told.get(timeout=SOON)
    assert told["text"].startswith("Nothing changed")
    listening.clicks.get()
    listening.refusal = None
    nothing_but(slack, message, listening)


def test_only_the_people_who_are_named_may_click(slack, message):
    """Who may not is told so, and so are we."""
    with Listening(slack, people={"U7"}) as listening:
        slack.click(message, Action.ACKNOWLEDGE)
        told = "a click in Slack by dana (U1) was refused: slack.people does not name them"
        assert told == listening.troubles.get(timeout=SOON)
        _, answer = slack.told.get(timeout=SOON)
        assert answer["text"].startswith("Nothing changed")
        slack.click(message, Action.SNOOZE, user={"id": "U7", "name": "sam", "team_id": "T1"})
        assert ("snooze", HANDLE, "sam (U7)") == listening.clicks.get(timeout=SOON)
        assert listening.clicks.empty()


@pytest.mark.parametrize(
    "more",
    [
        {"team": {"id": "T2", "domain": "others"}},
        {"user": {"id": "U1", "name": "dana", "team_id": "T2"}},
    ],
)
def test_a_click_from_another_workspace_is_refused(slack, message, listening, more):
    """A channel may be shared with people of another company."""
    slack.click(message, Action.ACKNOWLEDGE, **more)
    told = "a click in Slack by dana (U1) was refused: it came from another workspace"
    assert told == listening.troubles.get(timeout=SOON)
    nothing_but(slack, message, listening)


@pytest.mark.parametrize(
    "more",
    [
        {"actions": [{"action_id": "drop-tables", "value": HANDLE}]},
        {"actions": [{"action_id": "acknowledge", "value": "; rm -rf /"}]},
        {"actions": [{"action_id": "acknowledge", "value": 7}]},
        {"actions": [{"action_id": "acknowledge"}]},
        {"actions": [{"action_id": "acknowledge", "value": HANDLE}] * 2},
        {"actions": []},
        {"actions": None},
        {"user": None},
        {"user": {"name": "dana"}},
        {"team": None},
        {"team": {}},
    ],
)
def test_a_malformed_click_changes_nothing(slack, message, listening, more):
    """It is told, and the next one is heard."""
    envelope = slack.click(message, Action.ACKNOWLEDGE, **more)
    assert "a click in Slack was not understood, and changed nothing" == listening.troubles.get(timeout=SOON)
    assert envelope == slack.acknowledged.get(timeout=SOON)
    nothing_but(slack, message, listening)


def test_other_envelopes_change_nothing(slack, message, listening):
    """Events, commands, dialogs, and what is no JSON."""
    slack.send({"type": "event_callback"}, kind="events_api")
    slack.send({"type": "view_submission"})
    slack.send(None)
    slack.send([])
    slack.send_raw("UNAUTHENTICATED: cache_error")
    slack.send_raw("{")
    slack.send_raw("{}")
    nothing_but(slack, message, listening)


def test_an_envelope_that_comes_again_counts_once(slack, message, listening):
    """Slack sends it again where the acknowledgement was late."""
    envelope = slack.click(message, Action.ACKNOWLEDGE)
    payload = {"type": "block_actions", "actions": []}
    slack.send(payload, envelope=envelope)
    assert ("acknowledge", HANDLE, "dana (U1)") == listening.clicks.get(timeout=SOON)
    assert [envelope] * 2 == [slack.acknowledged.get(timeout=SOON) for _ in range(2)]
    nothing_but(slack, message, listening)
    assert listening.troubles.empty()


def test_a_name_is_made_harmless(slack, message, listening):
    """People choose their own."""
    slack.click(message, Action.ACKNOWLEDGE, user={"id": "U1", "name": "\u202eda\x1bna\n" + "x" * 500})
    _, _, by = listening.clicks.get(timeout=SOON)
    assert by.startswith("dana xxx")
    assert by.endswith("… (U1)")
    assert len(by) < 80


@pytest.mark.parametrize("end", [SlackPeer.hang_up, SlackPeer.cut])
def test_a_lost_connection_comes_back(slack, message, listening, end):
    """By itself and at once, with another address, also where the other side was killed."""
    nothing_but(slack, message, listening)
    end(slack)
    nothing_but(slack, message, listening)
    assert listening.troubles.empty()


def test_a_connection_that_slack_ends(slack, message, listening):
    """Slack asks every few hours to connect again."""
    slack.ask_to_reconnect()
    nothing_but(slack, message, listening)
    assert listening.troubles.empty()


def test_a_click_reaches_us_once_the_token_is_right(slack, message, monkeypatch):
    """A trouble is told once, however often it comes back, and tokens are read anew for each try."""
    monkeypatch.setattr(socket, "_FIRST", 0.01)
    tokens = Queue()
    for token in ("wrong", "wrong", "wrong", APP_TOKEN):
        tokens.put(token)
    with Listening(slack, app_token=tokens.get) as listening:
        nothing_but(slack, message, listening)
        assert "the buttons in Slack do not work: Slack refuses: invalid_auth" == listening.troubles.get(timeout=SOON)
        assert listening.troubles.empty()


def missing():
    """Reveal a secret that is not there."""
    raise ConfigError("expected a secret in env:APP, found nothing there")


@pytest.mark.parametrize(
    ("replies", "more", "words"),
    [
        ({"auth.test": refused("token_revoked")}, {}, "Slack refuses: token_revoked"),
        ({"apps.connections.open": refused("not_allowed_token_type")}, {}, "Slack refuses: not_allowed_token_type"),
        (
            {"apps.connections.open": Reply(status=429, body="{}", headers={"Retry-After": "9"})},
            {},
            "asks for patience",
        ),
        ({"auth.test": Reply(status=503, body="<html>")}, {}, "Slack has trouble: 503"),
        ({"apps.connections.open": Reply(body='{"ok": true}')}, {}, "WebSocket could not be reached"),
        ({"apps.connections.open": Reply(body='{"ok": true, "url": "ws://127.0.0.1:9/"}')}, {}, "WebSocket could not"),
        ({}, {"app_token": missing}, "expected a secret in env:APP, found nothing there"),
        ({}, {"api": "http://127.0.0.1:9/api/"}, "Slack could not be reached"),
    ],
)
def test_trouble_is_told(slack, replies, more, words):
    """What is wrong with the way to the buttons, without a secret."""
    for method, reply in replies.items():
        slack.other_replies[method].put(reply)
    with Listening(slack, **more) as listening:
        said = listening.troubles.get(timeout=SOON)
    assert said.startswith("the buttons in Slack do not work: ")
    assert words in said
    assert "xapp" not in said
    assert "xoxb" not in said


@pytest.mark.parametrize("url", ["ws://wss.slack.com/x", "wss://wss.slack.com:80/x", "wss://a@evil.example/", ""])
def test_a_ticket_never_travels_in_the_clear(url):
    """Where Slack is asked over TLS, its WebSocket has TLS too."""
    buttons = Buttons(token=str, app_token=str, on_click=lambda *_: "", trouble=print)
    buttons._asking = lambda: SimpleNamespace(apps_connections_open=lambda **_: {"url": url})
    with pytest.raises(ValueError, match="TLS"):
        buttons._address()


def test_it_stops_in_time(slack, message):
    """A work that does not end is left behind."""
    goes_on = threading.Event()
    listening = Listening(slack, on_click=lambda *_: str(goes_on.wait(SOON)))
    listening.buttons.start()
    slack.click(message, Action.ACKNOWLEDGE)
    slack.acknowledged.get(timeout=SOON)
    began = time.monotonic()
    listening.buttons.stop(timeout=1.5)
    assert time.monotonic() - began < 5
    goes_on.set()
    with pytest.raises(Empty):
        listening.troubles.get_nowait()


def test_what_was_acknowledged_is_done_before_it_stops(slack, message):
    """A click that Slack does not send again is not lost."""
    done = Queue()
    listening = Listening(slack, on_click=lambda *click: done.put(click) or "")
    listening.buttons.start()
    for _ in range(20):
        slack.click(message, Action.ACKNOWLEDGE)
        slack.acknowledged.get(timeout=SOON)
    listening.buttons.stop()
    assert 20 == done.qsize()


def test_stopping_what_never_started():
    """Is nothing."""
    Buttons(token=str, app_token=str, on_click=lambda *_: "", trouble=print).stop()


def test_the_peer_shows_faults(slack):
    """A message that Slack would refuse is refused, and not forgotten."""
    bot = Bot(channel="C1", token=lambda: TOKEN, api=f"{slack.address}/api/")
    [alert] = alerts([Event(kind=EventKind.OPENED, finding=FINDING, at=passes.NOW)], {})
    good = post(alert)
    bad = type(good)(text="x", blocks=({"type": "header", "text": {"type": "plain_text", "text": "x" * 151}},))
    with pytest.raises(Exception, match="Slack does not take this message: invalid_blocks"):
        bot.send("key", bad)
    [fault] = slack.faults
    assert "too long" in fault or "is not valid" in fault
    slack.faults.clear()
    assert json.dumps(good.blocks)
