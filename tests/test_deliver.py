"""Messages that are owed arrive: once where all goes well, later where Slack is busy, never lost."""

import json
from datetime import timedelta

import pytest

from tests.report import passes
from tests.slackpeer import TOKEN, Reply, SlackPeer, refused, shown
from watcher.config import load
from watcher.deliver import channels, deliver
from watcher.model import Event, EventKind, Kind, Severity, State
from watcher.routing import owe as owe_events
from watcher.store import Message, Store

NOW = passes.NOW


@pytest.fixture
def slack(monkeypatch):
    """Run a Slack, and put the secrets where the configuration looks for them."""
    with SlackPeer() as peer:
        monkeypatch.setenv("TOKEN", TOKEN)
        monkeypatch.setenv("HOOK", f"{peer.address}/hook")
        yield peer


@pytest.fixture(params=["token: env:TOKEN", "webhook: env:HOOK"])
def settings(request, slack, tmp_path):
    """Return a configuration with a bot, and one with a webhook."""
    path = tmp_path / "config.yaml"
    path.write_text(
        f"pins: [{{upstream: 'https://example.org/o/n', ref: main}}]\n"
        f"slack: {{channel: C1, {request.param}}}\n"
        f"rewrites: {{'https://slack.com/': '{slack.address}/'}}\n"
    )
    return load(path)


@pytest.fixture
def store(tmp_path):
    """Open an empty memory."""
    with Store.open(tmp_path / "state") as opened:
        yield opened


def owe(store, settings, *headlines, kind=EventKind.OPENED, is_baseline=False):
    """Let findings happen, and messages be owed for them."""
    state = State.RESOLVED if kind is EventKind.RESOLVED else State.OPEN
    findings = [
        passes.finding(Kind.FIX_AVAILABLE, Severity.HIGH, passes.pin(name), name, state=state) for name in headlines
    ]
    events = [Event(kind=kind, finding=it, at=NOW, is_baseline=is_baseline) for it in findings]
    store.commit_pass(findings, events, (), NOW)
    owe_events(store, settings, events, NOW)
    return events


def arrived(slack):
    """Return what arrived since the last call."""
    found = []
    while not slack.messages.empty():
        found.append(slack.messages.get())
    return found


def test_a_message_arrives_once(store, settings, slack):
    """What, where, since when, what to do, and how to acknowledge it; then nothing is owed any more."""
    owe(store, settings, "engine: a fix is there")
    assert () == deliver(store, channels(settings), NOW)
    [message] = arrived(slack)
    assert "HIGH new: engine: a fix is there" == message["text"]
    for word in ("HIGH new: engine: a fix is there", "docker/Dockerfile:16", "since 20", "watcher ack "):
        assert word in shown(message)
    assert () == deliver(store, channels(settings), NOW + timedelta(days=1))
    assert [] == arrived(slack)


def test_a_first_look_is_one_message(store, settings, slack):
    """The baseline names its findings, the first twenty of many."""
    owe(store, settings, *(f"finding {number}" for number in range(30)), is_baseline=True)
    deliver(store, channels(settings), NOW)
    [message] = arrived(slack)
    assert "First look: 30 findings" == message["text"]
    assert "finding 0" in shown(message)
    assert "and 11 more" in shown(message)


@pytest.mark.parametrize(
    "hostile", ["<!channel> <@U1> *x* `y` <https://evil.example|ok>", "\u202eevil\u2066", "a" * 9_000]
)
def test_what_strangers_wrote_is_shown_and_not_obeyed(store, settings, slack, hostile):
    """Rich text has no markup, the fallback is escaped, all limits are kept by shortening."""
    owe(store, settings, hostile)
    assert () == deliver(store, channels(settings), NOW)
    [message] = arrived(slack)
    assert "<" not in message["text"]
    assert "\u202e" not in shown(message)
    assert all(block["type"] in {"header", "rich_text"} for block in message["blocks"])


@pytest.mark.parametrize(
    ("reply", "wait"),
    [
        (Reply(status=429, body="{}", headers={"Retry-After": "7"}), timedelta(seconds=7)),
        (Reply(status=429, body="{}", headers={"Retry-After": "soon"}), timedelta(seconds=30)),
        (Reply(status=503, body="{}"), timedelta(seconds=30)),
        (Reply(status=502, body="<html>bad gateway</html>"), timedelta(seconds=30)),
        (Reply(status=200, body="<html>please log in</html>"), timedelta(seconds=30)),
        (Reply(status=200, body='"x"'), timedelta(seconds=30)),
        (Reply(status=200, body="null"), timedelta(seconds=30)),
        (Reply(status=503, body="{}", headers={"Transfer-Encoding": "chunked"}), timedelta(seconds=30)),
        (Reply(status=403, body="{}"), timedelta(hours=1)),
    ],
)
def test_a_busy_slack_is_asked_again(store, settings, slack, reply, wait):
    """As it says itself, or after the usual wait; nothing overtakes the message that waits."""
    owe(store, settings, "one", "two")
    slack.replies.put(reply)
    [trouble] = deliver(store, channels(settings), NOW)
    assert trouble.startswith(("slack: Slack ", "slack: what answers under Slack's address is not Slack"))
    assert () == deliver(store, channels(settings), NOW + wait - timedelta(seconds=1))
    assert [] == arrived(slack)
    deliver(store, channels(settings), NOW + wait)
    assert ["HIGH new: one", "HIGH new: two"] == [message["text"] for message in arrived(slack)]


def test_the_wait_doubles(store, settings, slack):
    """Up to an hour."""
    owe(store, settings, "one")
    at, waits = NOW, []
    for _ in range(9):
        slack.replies.put(Reply(status=500, body="{}"))
        deliver(store, channels(settings), at)
        [message] = store.outbox()
        waits.append((message.next_try_at - at).total_seconds())
        at = message.next_try_at
    assert [30, 60, 120, 240, 480, 960, 1920, 3600, 3600] == waits


def test_what_slack_puts_off_makes_no_wait_longer(store, settings, slack):
    """It named the time itself: the next failure is a first one."""
    owe(store, settings, "one")
    at = NOW
    for _ in range(5):
        slack.replies.put(Reply(status=429, body="{}", headers={"Retry-After": "7"}))
        deliver(store, channels(settings), at)
        at += timedelta(seconds=7)
    slack.replies.put(Reply(status=503, body="{}"))
    deliver(store, channels(settings), at)
    [message] = store.outbox()
    assert timedelta(seconds=30) == message.next_try_at - at


@pytest.mark.parametrize("reason", ["token_revoked", "invalid_auth", "channel_not_found", "is_archived"])
def test_what_a_person_must_mend_is_told_and_kept(store, settings, slack, reason):
    """A revoked token loses nothing: the message goes out once the token is right."""
    owe(store, settings, "one")
    slack.replies.put(refused(reason) if settings.slack.token else Reply(status=404, body=reason))
    assert (f"slack: Slack refuses: {reason}",) == deliver(store, channels(settings), NOW)
    assert () == deliver(store, channels(settings), NOW + timedelta(hours=1))
    assert ["HIGH new: one"] == [message["text"] for message in arrived(slack)]


def test_a_message_that_does_not_fit_holds_up_no_other(store, settings, slack):
    """It is given up with the reason, and stays in the outbox."""
    owe(store, settings, "one", "two")
    slack.replies.put(refused("invalid_blocks") if settings.slack.token else Reply(status=400, body="invalid_blocks"))
    deliver(store, channels(settings), NOW)
    assert ["HIGH new: two"] == [told["text"] for told in arrived(slack)]
    message, _ = store.outbox()
    assert "Slack does not take this message: invalid_blocks" == message.reason
    assert message.failed_at is not None


def test_what_follows_goes_into_the_thread(store, settings, slack):
    """A bot's first message is brought up to date, and its thread gets the rest; a webhook can only post again."""
    owe(store, settings, "one")
    deliver(store, channels(settings), NOW)
    owe(store, settings, "one", kind=EventKind.RESOLVED)
    deliver(store, channels(settings), NOW)
    first, *later = arrived(slack)
    if settings.slack.token:
        assert ["chat.update", "chat.postMessage"] == [message["method"] for message in later]
        [(channel, ts)] = [at for at, message in slack.posted.items() if "thread_ts" not in message]
        assert ("C1", ts, ts) == (channel, later[0]["ts"], later[1]["thread_ts"])
    else:
        assert ["hook"] == [message["method"] for message in later]
    assert "HIGH resolved: one" == later[0]["text"]
    assert later[-1]["text"] in {"Resolved: one", "HIGH resolved: one"}
    assert '"strike": true' in json.dumps(later[0]["blocks"])
    assert "strike" not in json.dumps(first["blocks"])
    assert "watcher ack" not in shown(later[0])


@pytest.mark.parametrize("settings", ["token: env:TOKEN"], indirect=True)
@pytest.mark.parametrize("reason", ["message_not_found", "cant_update_message"])
def test_a_first_message_that_somebody_deleted(store, settings, slack, reason):
    """Then the next one is a first one again."""
    owe(store, settings, "one")
    deliver(store, channels(settings), NOW)
    owe(store, settings, "one", kind=EventKind.RESOLVED)
    slack.replies.put(refused(reason))
    assert () == deliver(store, channels(settings), NOW)
    assert ["chat.postMessage", "chat.postMessage"] == [message["method"] for message in arrived(slack)]


def test_what_is_stuck(store, settings, slack):
    """Counted by channel and reason, until it arrived; what waits for its first try is not stuck."""
    owe(store, settings, "one")
    assert () == store.stuck(NOW)
    slack.replies.put(Reply(status=403, body="{}"))
    deliver(store, channels(settings), NOW)
    [(channel, reason, count)] = store.stuck(NOW)
    assert ("slack", 1) == (channel, count)
    assert reason.startswith("Slack refuses")
    deliver(store, channels(settings), NOW + timedelta(hours=1))
    assert () == store.stuck(NOW)


def test_a_message_about_nothing_holds_up_no_other(store, settings, slack):
    """One whose event the log lacks is given up, and told."""
    store.owe([Message(about="nobody opened", channel="slack", payload={"finding": "x", "event": "opened"})], NOW)
    owe(store, settings, "one")
    assert ("slack: the log has no event nobody opened slack",) == deliver(store, channels(settings), NOW)
    assert ["HIGH new: one"] == [message["text"] for message in arrived(slack)]


def test_a_missing_secret_is_told(store, settings, slack, monkeypatch):
    """Its name is, never a value."""
    owe(store, settings, "one")
    monkeypatch.delenv("TOKEN")
    monkeypatch.delenv("HOOK")
    [trouble] = deliver(store, channels(settings), NOW)
    assert trouble.startswith("slack: expected a secret in env:")


def test_nobody_there(store, settings, monkeypatch):
    """A Slack that cannot be reached is asked again, and its address, a secret, is not told."""
    owe(store, settings, "one")
    monkeypatch.setenv("HOOK", "http://127.0.0.1:9/hook-secret")
    gone = settings.model_copy(update={"rewrites": {"https://slack.com/": "http://127.0.0.1:9/"}})
    [trouble] = deliver(store, channels(gone), NOW)
    assert trouble.startswith("slack: Slack could not be reached")
    assert "secret" not in trouble
