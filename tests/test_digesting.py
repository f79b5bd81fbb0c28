"""A digest is owed once a week and set of recipients, and tells what the store knows."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from apscheduler.triggers.cron import CronTrigger

from tests.report import passes
from watcher import digesting
from watcher.config import load
from watcher.config.settings import Schedule
from watcher.errors import UsageError
from watcher.findings import acknowledge, dismiss
from watcher.model import (
    Advertisement,
    Event,
    EventKind,
    Finding,
    Kind,
    Move,
    Moved,
    Place,
    Severity,
    State,
    Unobserved,
)
from watcher.report import json as as_json
from watcher.report.digest import text
from watcher.store import Message, Store

BERLIN = ZoneInfo("Europe/Berlin")
MONDAY = datetime(2026, 11, 30, 9, tzinfo=BERLIN)
"""When the digest of 2026-W49 is due."""
WEEK = timedelta(weeks=1)
HOUR = timedelta(hours=1)
FIRST = MONDAY - timedelta(days=10)
"""When the first pass was."""


@pytest.fixture
def store(tmp_path):
    """Open a memory in which one pass was made."""
    with Store.open(tmp_path / "state") as opened:
        opened.record_run("images", FIRST)
        yield opened


@pytest.fixture
def configured(tmp_path):
    """Return how to write a configuration."""

    def configured(*, to="[a@example.org, b@example.org]", slack=True, digest="mon 09:00", email=True):
        path = tmp_path / "config.yaml"
        path.write_text(
            "downstreams: [{name: images, repository: 'https://example.org/o/images'}]\n"
            f"schedule: {{digest: {digest}, timezone: Europe/Berlin}}\n"
            + (f"email: {{smtp: 'smtp://h:25', from: w@example.org, to: {to}}}\n" if email else "")
            + ("slack: {channel: C1, token: env:TOKEN}\n" if slack else "")
        )
        return load(path)

    return configured


def schedule(digest, zone="Europe/Berlin"):
    """Return a schedule."""
    return Schedule.model_validate({"digest": digest, "timezone": zone})


def periods(messages):
    """Return what is owed: channel → (since, until)."""
    return {
        it.channel: tuple(datetime.fromisoformat(it.payload["digest"][name]) for name in ("since", "until"))
        for it in messages
    }


# --- when ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("digest", "week", "due"),
    [
        ("mon 09:00", (2026, 49), "2026-11-30T08:00Z"),
        ("sun 23:30", (2026, 49), "2026-12-06T22:30Z"),
        ("mon 09:00", (2026, 53), "2026-12-28T08:00Z"),
        ("fri 09:00", (2026, 53), "2027-01-01T08:00Z"),
        ("sun 02:30", (2026, 13), "2026-03-29T01:30Z"),  # the clocks skip from 02:00 to 03:00
        ("sun 02:30", (2026, 43), "2026-10-25T00:30Z"),  # 02:30 comes twice
    ],
)
def test_due(digest, week, due):
    """In the configured zone, in weeks that belong to two years, and where the clocks are changed."""
    assert datetime.fromisoformat(due) == digesting.due_at(schedule(digest), week)


@pytest.mark.parametrize("digest", ["mon 09:00", "sun 02:30", "sat 00:00", "wed 23:59"])
@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/Santiago", "Australia/Lord_Howe", "UTC"])
def test_due_as_a_scheduler_would(digest, zone):
    """For six hundred weeks it is when a cron trigger of APScheduler fires first."""
    day, hour, minute = digest[:3], int(digest[4:6]), int(digest[7:])
    tz = ZoneInfo(zone)
    trigger = CronTrigger(day_of_week=day, hour=hour, minute=minute, timezone=tz)
    for number in range(600):
        monday = datetime(2020, 1, 6, tzinfo=tz) + number * WEEK
        year, week, _ = monday.isocalendar()
        fires = trigger.get_next_fire_time(None, monday)
        assert fires.astimezone(UTC) == digesting.due_at(schedule(digest, zone), (year, week))


@pytest.mark.parametrize(
    ("digest", "now", "week"),
    [
        ("mon 09:00", "2026-11-30T07:59Z", (2026, 48)),
        ("mon 09:00", "2026-11-30T08:00Z", (2026, 49)),
        ("sun 23:30", "2026-12-06T22:29Z", (2026, 48)),
        ("sun 23:30", "2026-12-06T22:30Z", (2026, 49)),
        ("sun 23:30", "2026-12-06T23:10Z", (2026, 49)),  # already Monday in Berlin
        ("mon 09:00", "2027-01-03T12:00Z", (2026, 53)),
        ("tue 09:00", "2027-01-04T12:00Z", (2026, 53)),
    ],
)
def test_newest_week(digest, now, week):
    """It is the ISO week of the last due time, whatever the year."""
    assert week == digesting.newest_week(schedule(digest), datetime.fromisoformat(now))


def test_owed_once(store, configured):
    """From the due time on, for each channel, however often it is asked; the first begins with the first pass."""
    settings = configured()
    store.owe(digesting.owed(settings, store, MONDAY - HOUR), MONDAY - HOUR)
    [*before] = store.outbox()
    now = digesting.owed(settings, store, MONDAY)
    assert {"mail", "slack"} == {it.channel for it in now}
    assert all(it.about.startswith("digest 2026-W49") for it in now)
    assert {"mail": (MONDAY - WEEK, MONDAY), "slack": (MONDAY - WEEK, MONDAY)} == periods(now)
    store.owe(now, MONDAY)
    assert {"mail": (FIRST, MONDAY - WEEK), "slack": (FIRST, MONDAY - WEEK)} == periods(
        [Message(about="", channel=it.channel, payload=it.payload) for it in before]
    )
    for later in (timedelta(0), HOUR, WEEK - HOUR):
        assert () == digesting.owed(settings, store, MONDAY + later)
    assert {"mail", "slack"} == {it.channel for it in digesting.owed(settings, store, MONDAY + WEEK)}


def test_owed_though_nobody_was_there_at_the_hour(store, configured):
    """Days later it is still owed, with the period that it was due for; of several missed weeks, the newest."""
    settings = configured(slack=False)
    [message] = digesting.owed(settings, store, MONDAY + timedelta(days=3))
    assert (FIRST, MONDAY) == periods([message])["mail"]
    [message] = digesting.owed(settings, store, MONDAY + 3 * WEEK)
    assert message.about.startswith("digest 2026-W52")


def test_how_far_back_a_digest_looks(store, configured):
    """Four weeks at most."""
    settings = configured(slack=False)
    store.owe(digesting.owed(settings, store, MONDAY), MONDAY)
    [message] = digesting.owed(settings, store, MONDAY + 10 * WEEK)
    assert 4 * WEEK == MONDAY + 10 * WEEK - periods([message])["mail"][0]


def test_nothing_is_owed_before_the_first_pass(configured, tmp_path):
    """Nor of the week that was over before it."""
    settings = configured()
    with Store.open(tmp_path / "new") as store:
        assert () == digesting.owed(settings, store, MONDAY + HOUR)
        store.record_run("images", MONDAY + HOUR)
        assert () == digesting.owed(settings, store, MONDAY + HOUR)
        assert 2 == len(digesting.owed(settings, store, MONDAY + WEEK))


def test_another_set_of_recipients_gets_its_own(store, configured):
    """Another order is the same set; one more or one less is another, of the same period, and Slack gets no second."""
    settings = configured()
    first = digesting.owed(settings, store, MONDAY)
    store.owe(first, MONDAY)
    assert () == digesting.owed(configured(to="[B@example.org, a@example.org]"), store, MONDAY)
    [other] = digesting.owed(configured(to="a@example.org"), store, MONDAY)
    assert "mail" == other.channel
    assert periods(first)["mail"] == periods([other])["mail"]


def test_what_nobody_is_to_get_any_more(store, configured):
    """A digest that waits while its recipients change is outdated; what was sent is not."""
    store.owe(digesting.owed(configured(), store, MONDAY), MONDAY)
    mail, slack = store.outbox()
    assert () == digesting.outdated(configured(), store)
    assert (mail.id,) == digesting.outdated(configured(to="new@example.org"), store)
    assert (slack.id,) == digesting.outdated(configured(slack=False), store)
    store.delivered(mail.id, MONDAY)
    assert () == digesting.outdated(configured(to="new@example.org"), store)


def test_what_somebody_asks_for(store, configured):
    """One of this week takes the place of the one that will be due; one of its own takes no place."""
    settings = configured(digest="fri 09:00", slack=False)
    store.owe(digesting.owed_now(settings, store, MONDAY, since=MONDAY - timedelta(days=3)), MONDAY)
    [asked] = digesting.owed_now(settings, store, MONDAY)
    assert (FIRST, MONDAY) == periods([asked])["mail"]
    store.owe([asked], MONDAY)
    friday = MONDAY + timedelta(days=4)
    assert () == digesting.owed(settings, store, friday)
    [following] = digesting.owed(settings, store, friday + WEEK)
    assert (MONDAY, friday + WEEK) == periods([following])["mail"]


def test_nobody_to_send_to(store, configured):
    """Whoever asks for a digest that nobody gets is told."""
    with pytest.raises(UsageError, match="expected email or slack"):
        digesting.owed_now(configured(slack=False, email=False), store, MONDAY)


@pytest.mark.parametrize(
    ("written", "since"),
    [
        ("7d", "2026-11-23T09:00+01:00"),
        ("2026-11-23", "2026-11-23T00:00+01:00"),
        ("2026-10-01", "2026-10-01T00:00+02:00"),
    ],
)
def test_since(written, since):
    """Days, or a day as it begins in the configured zone."""
    assert datetime.fromisoformat(since) == digesting.parse_since(written, MONDAY, BERLIN)


@pytest.mark.parametrize(
    "written", ["", "7", "d", "-7d", "0d", "soon", "2026-13-01", "2027-01-01", f"{'9' * 30}d", "٣d"]
)
def test_since_that_is_none(written):
    """Anything else, and the future, is refused."""
    with pytest.raises(UsageError, match="for --since, found"):
        digesting.parse_since(written, MONDAY, BERLIN)


# --- what ------------------------------------------------------------------------------------------------------------


def finding(name, severity=Severity.MEDIUM, *, kind=Kind.PIN_FLOATING, opened=MONDAY - HOUR, **more):
    """Return an open finding."""
    state = more.pop("state", State.OPEN)
    made = passes.finding(kind, severity, passes.pin(name), f"{name}: something", **more)
    return Finding(concern=made.concern, state=state, opened_at=opened, changed_at=opened)


def keep(store, *findings, events=()):
    """Write findings down."""
    store.commit_pass(findings, events, [], MONDAY)


def composed(store, **more):
    """Return the digest of the week."""
    return digesting.compose(store, **{"since": MONDAY - WEEK, "until": MONDAY, **more})


def test_nothing_to_tell(store):
    """An empty store is a quiet week."""
    assert composed(store).is_quiet


def test_findings(store):
    """New and still open ones, the worst first; what people put off is counted; of one text, several places."""
    wide = Place(text="docker/Dockerfile:80", variant="cuda")
    keep(
        store,
        finding("a", Severity.LOW),
        finding("b", Severity.HIGH),
        finding("c", opened=MONDAY - 2 * WEEK, places=(wide,)),
        finding("d", state=State.ACKNOWLEDGED),
        finding("e", state=State.SNOOZED),
        finding("f", state=State.SNOOZED),
    )
    told = composed(store)
    assert ["b: something", "a: something"] == [it.headline for it in told.new]
    assert ["c: something"] == [it.headline for it in told.still]
    assert (wide,) == told.still[0].places
    assert "docker/Dockerfile:16" == told.new[0].places[0].text
    assert ((Severity.HIGH, 1), (Severity.MEDIUM, 1), (Severity.LOW, 1)) == told.open
    assert (1, 2) == (told.acknowledged, told.snoozed)


def test_times_are_told_in_the_zone(store):
    """Of the digest, and of its findings."""
    keep(store, finding("a", since=datetime(2026, 11, 23, 23, 30, tzinfo=UTC)))
    assert "since 2026-11-24," in text(composed(store))


def test_what_was_resolved(store):
    """In the period, with its note; not what came back, and what is no fix is counted apart."""
    old = MONDAY - 2 * WEEK
    done, back, wrong, early = (finding(name, kind=Kind.FIX_AVAILABLE, opened=old) for name in "abcd")

    def ended(it, at, note="it no longer holds"):
        after = Finding(concern=it.concern, state=State.RESOLVED, opened_at=old, changed_at=at, note=note)
        return after, Event(kind=EventKind.RESOLVED, finding=after, at=at)

    done, first = ended(done, MONDAY - HOUR, "moved by 1a2b3c4")
    _, second = ended(back, MONDAY - HOUR)
    wrong, third = dismiss(wrong, MONDAY - HOUR, by="dana")
    early, fourth = ended(early, old)
    keep(store, done, back, wrong, early, events=(first, second, third, fourth))
    told = composed(store)
    assert [("a: something", "moved by 1a2b3c4")] == [(it.headline, it.note) for it in told.resolved]
    assert 1 == told.dismissed
    assert 0 == composed(store, until=MONDAY - 2 * HOUR).dismissed


def test_alerts(store):
    """Events of findings that were told in the period, each once for however many channels."""
    taken = finding("a")
    taken, event = acknowledge(taken, MONDAY - HOUR)
    keep(store, taken, events=(event,))
    told = {"finding": taken.key, "event": "acknowledged"}
    messages = [Message(about=event.id, channel=channel, payload=told) for channel in ("slack", "slack #rocm")]
    store.owe([*messages, Message(about="baseline", channel="slack", payload={"baseline": []})], MONDAY - HOUR)
    assert 0 == composed(store).alerts
    for message in store.outbox():
        store.delivered(message.id, MONDAY - HOUR)
    assert 1 == composed(store).alerts
    assert 0 == composed(store, until=MONDAY - 2 * HOUR).alerts


def test_what_did_not_arrive(store):
    """It is told with the reason."""
    store.owe([Message(about="x", channel="slack", payload={"baseline": []})], MONDAY)
    store.given_up(store.outbox()[0].id, "Slack refuses: no", MONDAY)
    [stuck] = composed(store).stuck
    assert ("slack", "Slack refuses: no", 1) == (stuck.channel, stuck.reason, stuck.count)


def test_bumps_and_drift(store):
    """Standings as reports write them: the bump of a pin whose fix is open, the variants with what they lack."""
    found = passes.everything()
    keep(store, *found.findings)
    store.record_standings(
        {
            f"upstream {passes.SAVER}": as_json.upstream_documents(found, [passes.SAVER])[passes.SAVER],
            "drift saver": {
                **as_json.drift_document(found.drift[0]),
                "relation": "behind",
                "variants": {"cuda": passes.OLD, "rocm": passes.NEW},
                "lacks": {"cuda": [passes.FIX.id, "unknown"]},
                "align": {"cuda": passes.NEW},
            },
        },
        MONDAY,
    )
    told = composed(store)
    [bump] = told.bumps
    assert ("saver", passes.OLD, passes.NEW, 5, 2) == (
        bump.name,
        bump.before,
        bump.after,
        bump.commits,
        bump.landings,
    )
    assert ("#95 Do not release a handle twice",) == bump.fixes
    assert "same package version 0.0.9" == bump.version
    assert ["docker/Dockerfile:16", "docker/Dockerfile.rocm:14"] == [it.text for it in bump.places]
    [drift] = told.drift
    assert not drift.is_level
    cuda, rocm = drift.stands
    assert ("#95 Do not release a handle twice", "unknown") == cuda.lacks
    assert (passes.NEW, ()) == (cuda.target, rocm.lacks)
    [fix] = [it for it in told.still if "#95" in it.headline]
    assert "" == fix.advice
    assert 1 == told.upstreams


@pytest.mark.parametrize(
    "standing",
    [
        {},
        {"pins": None, "fixes": [None, {}], "suggestions": [{}, "x", {"pin": passes.CUDA.id}]},
        {"suggestions": [{"pin": passes.CUDA.id, "from": passes.OLD, "to": passes.NEW}]},
    ],
)
def test_standings_of_another_version(store, standing):
    """What is missing is left out."""
    keep(store, passes.fix_available(passes.CUDA))
    store.record_standings({f"upstream {passes.SAVER}": standing, "drift saver": {"variants": {"cuda": None}}}, MONDAY)
    assert text(composed(store))


def test_an_acknowledged_fix_is_no_bump(store):
    """What people put off is not asked for again."""
    found = passes.everything()
    findings = [acknowledge(it, MONDAY)[0] for it in found.findings if it.state is State.OPEN]
    keep(store, *findings)
    document = as_json.upstream_documents(found, [passes.SAVER])[passes.SAVER]
    store.record_standings({f"upstream {passes.SAVER}": document}, MONDAY)
    assert () == composed(store).bumps


def test_what_moved(store):
    """Downstream's pins, and upstream's refs: what is unusual first."""
    moved = Moved(pin=passes.CUDA, after=None, at=MONDAY - HOUR)
    late = Moved(pin=passes.ROCM, after=None, at=MONDAY + HOUR)
    store.record_moved_pins([moved, late])
    for name, forced in (("https://a.b/a/calm", False), ("https://a.b/z/wild", True)):
        store.record_snapshot(name, Advertisement(refs=(), head="refs/heads/main", digest="x"), MONDAY)
        move = Move(ref="refs/heads/main", before=passes.OLD, after=passes.NEW, forced=forced, at=MONDAY - HOUR)
        store.record_moves(name, [move])
    told = composed(store)
    assert (moved,) == told.made
    assert ["z/wild", "a/calm"] == [it.name for it in told.moved]
    assert "main" == told.moved[1].steps[0].ref


def test_what_could_not_be_observed(store):
    """Since when, how often, and why."""
    failure = Unobserved(upstream="https://a.b/o/n", reason="the server answered 503")
    for hours in (60, 2, 1):
        store.record_look(failure.upstream, failure, MONDAY - hours * HOUR)
    [silent] = composed(store).silent
    assert ("o/n", 3, MONDAY - 60 * HOUR) == (silent.name, silent.tries, silent.since)
    assert "o/n: for 2 days (3 failed looks)" in text(composed(store))


@pytest.mark.parametrize(("after", "is_late"), [(timedelta(minutes=59), False), (timedelta(minutes=61), True)])
def test_a_late_digest_says_so(store, configured, after, is_late):
    """From an hour on, with the time at which it was due."""
    settings = configured()
    [message, _] = digesting.owed(settings, store, MONDAY)
    told = digesting.digest_of(message.payload, settings, store, MONDAY + after)
    assert is_late == (told.due is not None)
    assert is_late == ("late: it was due 2026-11-30 09:00 Europe/Berlin" in text(told))
    assert "images" == told.name


def test_one_that_was_asked_for_is_never_late(store, configured):
    """It was not due."""
    settings = configured()
    [message, _] = digesting.owed_now(settings, store, MONDAY, since=MONDAY - WEEK)
    assert digesting.digest_of(message.payload, settings, store, MONDAY + WEEK).due is None


def test_many_downstreams(tmp_path):
    """The first three give the digest its name."""
    path = tmp_path / "config.yaml"
    rows = "".join(f"  - {{name: d{number}, repository: 'https://example.org/o/d{number}'}}\n" for number in range(5))
    path.write_text(f"downstreams:\n{rows}")
    assert "d0, d1, d2 and 2 more" == digesting.name_of(load(path))
