"""Findings, events and messages come back exactly, and what is owed is sent once."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.strategies import findings, times
from watcher.errors import StoreError
from watcher.findings import acknowledge, reconcile
from watcher.model import Concern, Event, EventKind, Finding, Kind, Severity, State, oid
from watcher.store import Message, Owed, Store

NOW = datetime(2026, 8, 19, 9, tzinfo=UTC)
LATER, LAST = NOW + timedelta(minutes=15), NOW + timedelta(days=1)
lasting = settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path) as opened:
        yield opened


def concern(key="pin-unreachable cuda", severity=Severity.HIGH):
    return Concern(
        key=key,
        kind=Kind.PIN_UNREACHABLE,
        severity=severity,
        headline="no ref holds f05a875 any more",
        detail=("main was forced from B to C", "it was last seen on main"),
        advice="pin the twin",
        pin="cuda",
        upstream="https://example.org/one",
        place="docker/Dockerfile:166",
        target=oid("c" * 40),
        since=NOW - timedelta(microseconds=1),
        is_event=True,
    )


def first_pass():
    return reconcile(
        [], [concern(), concern("pin-floating rocm")], unknown=lambda _: False, now=NOW, is_first=lambda _: True
    )


def slack(event):
    return Message(about=event.id, channel="slack", payload={"text": event.finding.concern.headline})


# --- findings and events ---------------------------------------------------------------------------------------------


def test_pass_comes_back(store):
    """Findings, events and messages of one pass are all there afterwards."""
    found, events = first_pass()
    store.commit_pass(found, events, map(slack, events), NOW)
    assert sorted(found, key=lambda it: it.key) == list(store.findings())
    assert (found[0], None) == (store.finding("pin-unreachable cuda"), store.finding("nothing"))
    assert (events, events[1:]) == (store.events(), store.events("pin-floating rocm"))
    assert [events[0].id + " slack", events[1].id + " slack"] == [owed.key for owed in store.outbox()]


def test_pass_is_written_once(store):
    """To write the same pass again adds nothing and changes nothing."""
    found, events = first_pass()
    for _ in range(2):
        store.commit_pass(found, events, map(slack, events), NOW)
    assert (2, 2, 2) == (len(store.findings()), len(store.events()), len(store.outbox()))


def test_unchanged_findings_cost_no_write(store):
    """A pass that changed nothing writes no row."""
    found, events = first_pass()
    store.commit_pass(found, events, [], NOW)
    before = store._db.total_changes
    store.commit_pass(found, [], [], LATER)
    assert before == store._db.total_changes


def test_event_keeps_the_finding_of_its_time(store):
    """The log shows a finding as it was at each event, the finding itself as it is now."""
    (found, _), (opened, _) = first_pass()
    after, acknowledged = acknowledge(found, LATER, "we know")
    store.commit_pass([found], [opened], [], NOW)
    store.commit_pass([after], [acknowledged], [], LATER)
    assert ((opened, acknowledged), (after,)) == (store.events(), store.findings())
    assert (State.OPEN, State.ACKNOWLEDGED) == tuple(event.finding.state for event in store.events())


def test_acknowledgement_between_passes_is_kept(tmp_path):
    """A pass that reads and writes in one block does not undo what another process did just before."""
    found, events = first_pass()
    with Store.open(tmp_path) as service, Store.open(tmp_path) as shell:
        service.commit_pass(found, events, [], NOW)
        acknowledged, event = acknowledge(found[0], LATER)
        shell.commit_pass([acknowledged], [event], [], LATER)
        with service.atomic():
            seen = [it.concern for it in found]
            after, told = reconcile(
                service.findings(), seen, unknown=lambda _: False, now=LAST, is_first=lambda _: False
            )
            service.commit_pass(after, told, [], LAST)
        assert acknowledged == shell.finding(found[0].key)


@given(st.lists(findings(), unique_by=lambda it: it.key, max_size=4))
@lasting
def test_any_finding_comes_back(store, found):
    """Every field of every finding comes back exactly."""
    store.commit_pass(found, [], [], NOW)
    for it in found:
        assert it == store.finding(it.key)
        assert it in store.findings()


@given(findings(), st.sampled_from(EventKind), times, st.booleans())
@lasting
def test_any_event_comes_back(store, finding, kind, at, is_baseline):
    """Every field of every event comes back exactly."""
    event = Event(kind=kind, finding=finding, at=at, is_baseline=is_baseline)
    if event.id not in {it.id for it in store.events(finding.key)}:
        store.commit_pass([finding], [event], [], at)
        assert event == store.events(finding.key)[-1]


def test_naive_times_are_refused(store):
    """A finding with a time without a zone is a defect, and nothing is written."""
    naive = Finding(concern=concern(), state=State.OPEN, opened_at=NOW.replace(tzinfo=None), changed_at=NOW)
    with pytest.raises(ValueError, match="expected an aware time"):
        store.commit_pass([naive], [], [], NOW)
    assert () == store.findings()


def test_pass_is_written_wholly_or_not(store):
    """Where its last part, the messages, cannot be written, the findings and events before it are not either."""
    found, events = first_pass()
    with pytest.raises(ValueError, match="expected an aware time"):
        store.commit_pass(found, events, map(slack, events), NOW.replace(tzinfo=None))
    assert ((), (), ()) == (store.findings(), store.events(), store.outbox())


def test_words_of_another_version(store):
    """A finding of a kind that this version does not know is told as such, with a way on."""
    found, events = first_pass()
    store.commit_pass(found, events, [], NOW)
    store._write("UPDATE findings SET body = json_set(body, '$.kind', 'pin-on-the-moon')")
    with pytest.raises(StoreError, match=r"pin-on-the-moon.*another version of watcher wrote it; use that one"):
        store.findings()


# --- the outbox ------------------------------------------------------------------------------------------------------


def owed(store, about="opened", channel="slack", at=NOW):
    """Owe one message and return it."""
    store.owe([Message(about=about, channel=channel, payload={"text": "é \udce9", "blocks": [1, None]})], at)
    return store.outbox()[-1]


def test_owed_is_due_at_once(store):
    """A message that is owed can be sent now, with everything that its channel needs."""
    message = owed(store)
    assert (
        Owed(
            id=message.id,
            key="opened slack",
            channel="slack",
            payload={"text": "é \udce9", "blocks": [1, None]},
            created_at=NOW,
            attempts=0,
            next_try_at=NOW,
            delivered_at=None,
            failed_at=None,
            reason="",
        )
        == message
    )
    assert ((message,), ()) == (store.due(NOW), store.due(NOW - timedelta(microseconds=1)))


def test_one_message_a_channel(store):
    """What is owed already is not owed again, sent or not; another channel has its own."""
    first = owed(store)
    assert [first] == [owed(store, at=LATER)]
    store.delivered(first.id, LATER)
    owed(store, at=LAST)
    assert 1 == len(store.outbox())
    assert ["opened slack", "opened email"] == [it.key for it in (first, owed(store, channel="email"))]


def test_delivered(store):
    """A message that was sent is not due any more, and to mark it again changes nothing."""
    message = owed(store)
    store.delivered(message.id, LATER)
    store.delivered(message.id, LAST)
    store.postponed(message.id, "429", LAST)
    store.given_up(message.id, "404", LAST)
    assert () == store.due(LAST)
    assert [(1, LATER, None, "")] == [(it.attempts, it.delivered_at, it.failed_at, it.reason) for it in store.outbox()]


def test_postponed(store):
    """A try that failed counts, says why, and comes again at its time."""
    message = owed(store)
    store.postponed(message.id, "429: wait", LATER)
    assert () == store.due(NOW)
    assert [(1, "429: wait", LATER)] == [(it.attempts, it.reason, it.next_try_at) for it in store.due(LATER)]
    store.delivered(message.id, LAST)
    assert [(2, "", LAST)] == [(it.attempts, it.reason, it.delivered_at) for it in store.outbox()]


def test_given_up(store):
    """A message that can never be sent is not due, but stays to be seen; it is not owed again either."""
    message = owed(store)
    store.given_up(message.id, "channel_not_found", LATER)
    owed(store, at=LAST)
    assert () == store.due(LAST)
    assert [(1, "channel_not_found", LATER, None)] == [
        (it.attempts, it.reason, it.failed_at, it.delivered_at) for it in store.outbox()
    ]


def test_given_up_and_sent_after_all(store):
    """A message that was given up and then sent by hand counts as sent."""
    message = owed(store)
    store.given_up(message.id, "channel_not_found", LATER)
    store.delivered(message.id, LAST)
    assert [(None, LAST, "")] == [(it.failed_at, it.delivered_at, it.reason) for it in store.outbox()]


def test_due_in_order(store):
    """Messages are due in the order in which they came to be owed; none overtakes one of its channel that waits."""
    first, second = owed(store, "first"), owed(store, "second")
    store.postponed(first.id, "503", LATER)
    assert [] == [it.id for it in store.due(NOW)]
    assert [first.id, second.id] == [it.id for it in store.due(LATER)]


def test_what_is_held_holds_up_its_finding_alone(store):
    """Later news of the same finding waits behind it; that of another finding, and of another channel, does not."""

    def news(about, finding, channel="slack", until=None):
        payload = {"finding": finding} if finding else {"digest": about}
        store.owe([Message(about=about, channel=channel, payload=payload, not_before=until)], NOW)

    news("1", "a", until=LATER)
    news("2", "a")
    news("3", "b")
    news("4", "a", channel="slack #b")
    news("5", None, until=LATER)
    news("6", None)
    assert ["3 slack", "4 slack #b", "6 slack"] == [it.key for it in store.due(NOW)]
    assert [f"{number} slack" for number in "12356"] == [it.key for it in store.due(LATER) if it.channel == "slack"]


@pytest.mark.parametrize("key", ["one", "caf\udce9"])
def test_what_was_owed_about_a_finding(store, key):
    """Its own messages, and first looks that name it among others; for ever."""
    store.owe([Message(about="first", channel="slack", payload={"baseline": ["other", key]})], NOW)
    store.owe([Message(about="first", channel="mail", payload={"baseline": ["other"]})], NOW)
    store.owe([Message(about="own", channel="slack", payload={"finding": key})], NOW)
    store.delivered(store.about(key)[0].id, NOW)
    assert ["first slack", "own slack"] == [it.key for it in store.about(key)]
    assert ["first slack", "first mail"] == [it.key for it in store.about("other")]


@pytest.mark.parametrize("act", [Store.delivered, lambda store, *it: store.given_up(it[0], "404", it[1])])
def test_unknown_message(store, act):
    """To mark a message that is not there is an error, not a silent success."""
    with pytest.raises(StoreError, match=r"watcher\.db holds no message 7"):
        act(store, 7, NOW)


# --- first runs ------------------------------------------------------------------------------------------------------


def test_first_run(store):
    """Each downstream has its own first run, once."""
    assert store.is_first_run("miles")
    store.record_run("miles", NOW)
    store.record_run("miles", LATER)
    assert (False, True) == (store.is_first_run("miles"), store.is_first_run("slime"))
