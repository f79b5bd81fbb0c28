"""What Prometheus sees is what happened and what the store holds."""

from datetime import timedelta

import pytest
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from tests.report import passes
from watcher.metrics import Scrape, sendable_since
from watcher.model import Advertisement, Kind, Reading, RefKind, Severity, State, Unobserved
from watcher.store import Message, Store
from watcher.store.database import FILE

NOW = passes.NOW
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


@pytest.fixture
def store(tmp_path):
    """Open an empty memory."""
    with Store.open(tmp_path) as opened:
        yield opened


@pytest.fixture
def scraped(pulse, store):
    """Return how to read every sample: by name and labels, as the library's own parser does."""

    def read(now=NOW):
        text = generate_latest(Scrape(pulse=pulse, state=store.path.parent, now=now)).decode()
        return {
            (sample.name, *sample.labels.values()): sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        }

    return read


def observed(store, *names, ago):
    """Let upstreams have been observed so long before now."""
    for name in names:
        said = Advertisement(refs=(), head=None, digest="same")
        store.record_snapshot(f"https://github.com/acme/{name}", said, NOW - ago)


def pinned(store, *pins):
    """Let a downstream hold these pins."""
    store.record_readings([Reading(name="images", pins=pins)], NOW)


def owe(store, about, *, ago=timedelta(), channel="slack", finding=None, not_before=None):
    """Let a message be owed since some time, and return its number."""
    payload = {"finding": finding} if finding else {"digest": {}}
    message = Message(about=about, channel=channel, payload=payload, not_before=not_before)
    store.owe([message], NOW - ago)
    return next(it.id for it in store.outbox() if it.key == message.key)


def test_passes_are_counted(pulse, clock, scraped):
    """By result, with how long they took and what they looked at; before the first one, zeros are shown."""
    assert {("watcher_cycles_total", "ok"): 0, ("watcher_polls_total", "unobserved"): 0}.items() <= scraped().items()
    pulse.began()
    clock.seconds += 20
    pulse.ended(observed=7, unobserved=2)
    pulse.began()
    clock.seconds += 2
    pulse.failed("the disk is full")
    assert {
        ("watcher_cycles_total", "ok"): 1,
        ("watcher_cycles_total", "failed"): 1,
        ("watcher_polls_total", "observed"): 7,
        ("watcher_polls_total", "unobserved"): 2,
        ("watcher_cycle_duration_seconds_bucket", "5.0"): 1,
        ("watcher_cycle_duration_seconds_bucket", "60.0"): 2,
        ("watcher_cycle_duration_seconds_sum",): 22,
    }.items() <= scraped().items()


def test_a_beat_tells_how_long_ago_things_were(pulse, clock):
    """Each sign of life moves its own age, and a failed pass is no good one."""
    clock.seconds += 10
    pulse.ticked()
    pulse.began()
    clock.seconds += 5
    beat = pulse.beat()
    assert (15, 5, 15, 5, "") == (beat.age, beat.ticked, beat.looked, beat.running, beat.failure)
    pulse.failed("no")
    beat = pulse.beat()
    assert (15, None, "no") == (beat.looked, beat.running, beat.failure)
    pulse.idled()
    assert (0, "no") == (pulse.beat().looked, pulse.beat().failure)
    pulse.began()
    pulse.ended(observed=0, unobserved=0)
    assert (0, "") == (pulse.beat().looked, pulse.beat().failure)


def test_a_changed_configuration_is_taken_up(pulse):
    """The interval and the channels are those of the new one."""
    pulse.expect(every=HOUR, channels={"slack", "mail"})
    assert (HOUR, {"slack", "mail"}) == (pulse.beat().every, pulse.beat().channels)


def test_upstreams_that_are_pinned_are_counted(store, scraped):
    """Failed and never observed ones are unobserved; what nothing is pinned to any more plays no part."""
    pinned(
        store,
        *(passes.pin(name) for name in ("saver", "attn", "ops", "bridge")),
        passes.pin("saver", file="docker/Dockerfile.rocm"),
        passes.pin("unclear", kind=RefKind.UNRESOLVED),
        passes.pin("nowhere", upstream=None),
    )
    observed(store, "saver", ago=MINUTE)
    observed(store, "attn", ago=HOUR)
    observed(store, "past", ago=100 * HOUR)
    for name in ("attn", "bridge", "past"):
        upstream = f"https://github.com/acme/{name}"
        store.record_look(upstream, Unobserved(upstream=upstream, reason="the server answered 503"), NOW)
    assert {
        ("watcher_upstreams",): 4,
        ("watcher_upstreams_unobserved",): 3,
        ("watcher_oldest_observation_age_seconds",): 3600,
        ("watcher_newest_observation_age_seconds",): 60,
    }.items() <= scraped().items()


def test_nothing_observed_has_no_age(store, scraped):
    """An age of 0 would look well."""
    pinned(store, passes.pin())
    found = scraped()
    assert 1 == found["watcher_upstreams_unobserved",]
    assert ("watcher_oldest_observation_age_seconds",) not in found


def test_a_clock_that_was_set_back_makes_no_negative_age(store, scraped):
    """What was observed in the future was observed just now."""
    pinned(store, passes.pin())
    observed(store, "saver", ago=-HOUR)
    assert 0 == scraped()["watcher_oldest_observation_age_seconds",]


def test_findings_are_counted(store, scraped):
    """By kind, severity and state; a state that none has any more is shown as 0."""
    open_, other = (
        passes.finding(Kind.FIX_AVAILABLE, Severity.HIGH, passes.pin(name), name) for name in ("saver", "attn")
    )
    over = passes.finding(Kind.PIN_FLOATING, Severity.LOW, passes.pin(), "ops", state=State.RESOLVED)
    store.commit_pass([open_, other, over], [], [], NOW)
    found = {key[1:]: value for key, value in scraped().items() if key[0] == "watcher_findings"}
    assert 2 * len(State) == len(found)
    assert 2 == found["fix-available", "high", "open"]
    assert 0 == found["fix-available", "high", "resolved"]
    assert 1 == found["pin-floating", "low", "resolved"]


def test_messages_are_counted(store, scraped):
    """Waiting, held and failed, by channel; a channel without any is shown with zeros."""
    owe(store, "first", ago=2 * HOUR)
    tried = owe(store, "tried", ago=HOUR)
    store.postponed(tried, "Slack has trouble: 503", NOW + MINUTE)
    failed = owe(store, "failed", channel="mail")
    store.given_up(failed, "refused", NOW)
    owe(store, "held", ago=9 * HOUR, not_before=NOW + MINUTE)
    store.delivered(owe(store, "sent", ago=9 * HOUR), NOW)
    found = scraped()
    assert {
        ("watcher_outbox_messages", "slack", "waiting"): 2,
        ("watcher_outbox_messages", "slack", "held"): 1,
        ("watcher_outbox_messages", "slack", "failed"): 0,
        ("watcher_outbox_messages", "mail", "waiting"): 0,
        ("watcher_outbox_messages", "mail", "failed"): 1,
        ("watcher_outbox_oldest_age_seconds", "slack"): 7200,
        ("watcher_outbox_oldest_age_seconds", "mail"): 0,
    }.items() <= found.items()


def test_a_channel_without_messages_is_shown(scraped):
    """An alert can be written for it before anything went wrong."""
    assert 0 == scraped()["watcher_outbox_messages", "slack", "failed"]


def test_a_message_waits_from_when_it_could_be_sent(store):
    """Not while it is held itself, nor while an earlier one about its finding in its channel is."""
    owe(store, "held", ago=9 * HOUR, finding="a", not_before=NOW - HOUR)
    owe(store, "behind it", ago=8 * HOUR, finding="a")
    owe(store, "other finding", ago=7 * HOUR, finding="b")
    owe(store, "other channel", ago=6 * HOUR, finding="a", channel="mail")
    owe(store, "later than both", ago=timedelta(), finding="a")
    owe(store, "held digest", ago=5 * HOUR, not_before=NOW)
    owe(store, "other digest", ago=4 * HOUR)
    since = {message.key: NOW - at for message, at in sendable_since(store.waiting())}
    assert {
        "held slack": HOUR,
        "behind it slack": HOUR,
        "other finding slack": 7 * HOUR,
        "other channel mail": 6 * HOUR,
        "later than both slack": timedelta(),
        "held digest slack": timedelta(),
        "other digest slack": 4 * HOUR,
    } == since


def test_the_mirrors_are_measured_once_a_day(store, scraped):
    """Nothing is said of them before; what was measured stands until the next time."""
    assert ("watcher_mirrors_bytes",) not in scraped()
    store.record_standings({"state mirrors": {"bytes": 5_000_000, "count": 3}}, NOW)
    found = scraped()
    assert (5_000_000, 3) == (found["watcher_mirrors_bytes",], found["watcher_mirrors",])


def test_the_database_is_measured(store, scraped):
    """With what waits beside it to be written into it."""
    assert store.path.stat().st_size <= scraped()["watcher_database_bytes",]


def test_a_database_that_is_away_is_told(store, scraped):
    """What was counted is still shown."""
    assert 1 == scraped()["watcher_database_up",]
    store.close()
    store.path.unlink()
    store.path.mkdir()
    for rest in store.path.parent.glob(f"{FILE}-*"):
        rest.unlink()
    found = scraped()
    assert 0 == found["watcher_database_up",]
    assert ("watcher_cycles_total", "ok") in found
    assert ("watcher_upstreams",) not in found
