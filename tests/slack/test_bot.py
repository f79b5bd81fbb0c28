"""A bot's messages: the first one shows how things stand, its thread what changed; trouble says what to do."""

from datetime import timedelta

import pytest

from tests.report import passes
from tests.slackpeer import TOKEN, Reply, SlackPeer, refused, shown
from watcher.channels import slack as channel
from watcher.channels.slack import Bot, Webhook
from watcher.errors import DeliveryError
from watcher.model import Event, EventKind
from watcher.report.alert import alerts
from watcher.report.blocks import post, reply


@pytest.fixture
def slack():
    """Run a Slack."""
    with SlackPeer() as peer:
        yield peer


def bot(slack, token=TOKEN):
    """Return a bot of it."""
    return Bot(channel="#images", token=lambda: token, api=f"{slack.address}/api/")


def told(kind=EventKind.OPENED, **more):
    """Return the message about a step of one finding."""
    finding = passes.fix_available(passes.CUDA)
    [alert] = alerts([Event(kind=kind, finding=finding, at=passes.NOW)], {})
    return post(alert, **more)


def test_the_first_message_becomes_the_new_one_and_the_thread_says_what_changed(slack):
    """Two messages in the channel: one as it stands, and what changed below it."""
    first = bot(slack).send("one", told(has_buttons=True))
    assert first == bot(slack).send("two", told(EventKind.WOKE), first)
    top, reply = slack.posted.values()
    assert "MEDIUM back: saver" in shown(top)
    assert "Back: its snooze is over\n" == shown(reply)
    assert top["ts"] == reply["thread_ts"]
    assert {"key": "two"} == reply["metadata"]["event_payload"]


def test_a_reply_goes_into_the_thread_alone(slack):
    """The first message stays as it is; where it is gone, the reply stands for itself."""
    first = bot(slack).send("one", told())
    assert first == bot(slack).send("two", reply([("opened issue 1", "https://example.org/1")]), first)
    top, answer = slack.posted.values()
    assert "MEDIUM new: saver" in shown(top)
    assert ("Opened issue 1\n", top["ts"]) == (shown(answer), answer["thread_ts"])
    bot(slack).send("three", reply([("it is there", "")]), "C-images 1.1")
    assert "thread_ts" not in list(slack.posted.values())[-1]


@pytest.mark.parametrize(("kind", "is_broadcast"), [(EventKind.WOKE, True), (EventKind.ACKNOWLEDGED, False)])
def test_what_is_loud_again_is_told_to_the_channel(slack, kind, is_broadcast):
    """A thread alone reaches those only who follow it."""
    first = bot(slack).send("one", told())
    bot(slack).send("two", told(kind), first)
    _, reply = slack.posted.values()
    assert is_broadcast == ("reply_broadcast" in reply)


def test_a_first_message_that_is_gone(slack):
    """Then there is a new first one, as a whole."""
    again = bot(slack).send("two", told(EventKind.WOKE), "C-images 1.1")
    [(place, message)] = slack.posted.items()
    assert " ".join(place) == again
    assert "MEDIUM back: saver" in shown(message)


def test_silence(slack, monkeypatch):
    """Nobody waits for ever, and it is tried again."""
    monkeypatch.setattr(channel, "_TIMEOUT", 0.1)
    for way in (bot(slack), Webhook(address=lambda: f"{slack.address}/hook")):
        slack.replies.put(Reply(is_silent=True))
        with pytest.raises(DeliveryError, match="Slack could not be reached") as raised:
            way.send("one", told())
        assert raised.value.again is None
        assert not raised.value.is_final


@pytest.mark.parametrize(
    ("reply", "words", "again"),
    [
        (Reply(status=429, body="{}", headers={"Retry-After": "7"}), "patience", timedelta(seconds=7)),
        (Reply(status=503, body="<html>no</html>"), "Slack has trouble: 503", None),
        (refused("fatal_error"), "Slack has trouble: fatal_error", None),
        (refused("token_revoked"), "Slack refuses: token_revoked", timedelta(hours=1)),
        (refused("<!channel> this is no word of Slack's"), "is not Slack", None),
    ],
)
def test_trouble(slack, reply, words, again):
    """How long to wait, and whether a person must do something first."""
    slack.replies.put(reply)
    with pytest.raises(DeliveryError, match=words) as raised:
        bot(slack).send("one", told())
    assert again == raised.value.again


def test_a_wrong_token_is_not_told(slack):
    """Only that Slack refuses it."""
    with pytest.raises(DeliveryError, match=r"^Slack refuses: invalid_auth$"):
        bot(slack, "xoxb-wrong").send("one", told())
