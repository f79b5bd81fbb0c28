"""Who hears of what, and when: routes, quiet hours, findings that come and go."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from watcher.config import Settings
from watcher.findings import acknowledge
from watcher.model import Concern, Event, EventKind, Finding, Kind, Place, Severity, State
from watcher.routing import channels_for, owe, quiet_until
from watcher.store import Store

NOON = datetime(2026, 8, 20, 12, 0, tzinfo=UTC)
NIGHT, MORNING = datetime(2026, 8, 20, 23, 30, tzinfo=UTC), datetime(2026, 8, 21, 7, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
OPENED, RESOLVED, REOPENED, CHANGED = EventKind.OPENED, EventKind.RESOLVED, EventKind.REOPENED, EventKind.CHANGED


def settings(routes=(), **schedule):
    """Return a configuration with a bot."""
    return Settings.model_validate(
        {
            "pins": [{"upstream": "https://example.org/o/n", "ref": "main"}],
            "slack": {"channel": "#images", "token": "env:TOKEN"},
            "routes": list(routes),
            "schedule": schedule,
        }
    )


QUIET = settings(quiet="22:00-07:00")


def concern(severity=Severity.HIGH, kind=Kind.FIX_AVAILABLE, name="engine", variant="rocm"):
    """Return something that is wrong with a pin."""
    return Concern(
        key=f"{kind}:{name}",
        kind=kind,
        severity=severity,
        headline=f"{name}: something",
        dependency=name,
        places=(Place(text="Dockerfile:3", variant=variant),),
    )


@pytest.fixture
def store(tmp_path):
    """Open an empty memory."""
    with Store.open(tmp_path) as opened:
        yield opened


def happen(store, kind, at, of=None, config=QUIET, *, is_baseline=False):
    """Let something happen to a finding."""
    state = State.RESOLVED if kind is RESOLVED else State.OPEN
    finding = Finding(concern=of or concern(), state=state, opened_at=at, changed_at=at)
    event = Event(kind=kind, finding=finding, at=at, is_baseline=is_baseline)
    with store.atomic():
        store.commit_pass([finding], [event], (), at)
        owe(store, config, [event], at)
    return finding


def told(store, at):
    """Send what is due, and return what it says."""
    due = store.due(at)
    for message in due:
        store.delivered(message.id, at)
    return [(message.channel, message.payload.get("event", "baseline")) for message in due]


# --- routes ------------------------------------------------------------------------------------------------------

ROUTES = [
    {"kind": "pin-floating", "severity": "low", "to": "digest"},
    {"variant": "rocm", "severity": "critical", "to": ["#rocm", "#pager"]},
    {"variant": ["ro*", "xpu"], "to": "#rocm"},
    {"dependency": "torch*", "to": "#torch"},
    {"kind": ["branch-rewound"], "severity": "low", "to": "#history"},
]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, ("slack #rocm",)),
        ({"severity": Severity.CRITICAL}, ("slack #rocm", "slack #pager")),
        ({"variant": "cuda"}, ("slack",)),
        ({"variant": "cuda", "name": "torch_memory_saver"}, ("slack #torch",)),
        ({"variant": "cuda", "name": "acme/torch"}, ("slack",)),
        ({"kind": Kind.PIN_FLOATING}, ()),
        ({"severity": Severity.LOW}, ()),
        ({"severity": Severity.LOW, "kind": Kind.BRANCH_REWOUND}, ("slack #history",)),
    ],
)
def test_the_first_route_that_fits(fields, expected):
    """By severity, variant, dependency and kind; else the usual channel, and the digest for what is low."""
    assert expected == channels_for(settings(ROUTES), concern(**fields))


def test_nobody_to_tell():
    """Without Slack nothing is owed."""
    config = settings().model_copy(update={"slack": None})
    assert () == channels_for(config, concern())


def test_a_drift_is_of_all_its_variants():
    """A route for one of them hears of it."""
    drift = concern(kind=Kind.VARIANT_DRIFT)
    both = (Place(text="Dockerfile:3", variant="cuda"), Place(text="Dockerfile.rocm:3", variant="rocm"))
    drifted = Concern(key="k", kind=drift.kind, severity=drift.severity, headline="h", places=both)
    assert ("slack #rocm",) == channels_for(settings(ROUTES), drifted)


def test_the_end_is_told_where_the_beginning_was(store):
    """Whatever the routes say meanwhile; a channel that is configured no longer is left out."""
    happen(store, OPENED, NOON, config=settings(ROUTES))
    assert [("slack #rocm", "opened")] == told(store, NOON)
    again = settings([{"to": "#other"}, {"variant": "x", "to": "#rocm"}])
    happen(store, RESOLVED, NOON + HOUR, config=again)
    assert {("slack #other", "resolved"), ("slack #rocm", "resolved")} >= {*told(store, NOON + HOUR)} > set()
    happen(store, REOPENED, NOON + 2 * HOUR, config=settings())
    assert [("slack", "reopened")] == told(store, NOON + 2 * HOUR)


def test_a_first_look_is_one_summary_for_each_channel(store):
    """What is critical is told alone, what is low is in the summary, what goes to the digest is not."""
    config = settings(ROUTES)
    events = []
    for number, (kind, severity) in enumerate(
        [
            (Kind.PIN_ABSENT, Severity.CRITICAL),
            (Kind.FIX_AVAILABLE, Severity.HIGH),
            (Kind.PIN_ON_TAG_ONLY, Severity.LOW),
            (Kind.PIN_FLOATING, Severity.LOW),
        ]
    ):
        of = concern(severity, kind, name=f"n{number}", variant="cuda" if number else "rocm")
        finding = Finding(concern=of, state=State.OPEN, opened_at=NOON, changed_at=NOON)
        events.append(Event(kind=OPENED, finding=finding, at=NOON, is_baseline=True))
    store.commit_pass([event.finding for event in events], events, (), NOON)
    owe(store, config, events, NOON)
    owed = [(it.channel, it.payload.get("baseline", it.payload.get("finding"))) for it in store.outbox()]
    assert [
        ("slack #rocm", "pin-absent:n0"),
        ("slack #pager", "pin-absent:n0"),
        ("slack", ["fix-available:n1", "pin-on-tag-only:n2"]),
    ] == owed


def test_what_a_summary_told_has_an_end_of_its_own(store):
    """The end of what is low waits for the digest even so."""
    high, low = concern(), concern(Severity.LOW, Kind.PIN_ON_TAG_ONLY, name="low")
    events = [
        Event(
            kind=OPENED,
            finding=Finding(concern=of, state=State.OPEN, opened_at=NOON, changed_at=NOON),
            at=NOON,
            is_baseline=True,
        )
        for of in (high, low)
    ]
    store.commit_pass([event.finding for event in events], events, (), NOON)
    owe(store, QUIET, events, NOON)
    assert [("slack", "baseline")] == told(store, NOON)
    happen(store, RESOLVED, NOON + HOUR, low)
    assert [] == told(store, NOON + HOUR)
    happen(store, RESOLVED, NOON + HOUR, high)
    assert [("slack", "resolved")] == told(store, NOON + HOUR)


# --- quiet hours -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("quiet", "zone", "now", "expected"),
    [
        ("22:00-07:00", "UTC", NOON, None),
        ("22:00-07:00", "UTC", NIGHT, MORNING),
        ("22:00-07:00", "UTC", NIGHT + 4 * HOUR, MORNING),
        ("22:00-07:00", "UTC", MORNING, None),
        ("11:00-13:00", "UTC", NOON, NOON + HOUR),
        ("11:00-12:00", "UTC", NOON, None),
        ("22:00-07:00", "Asia/Tokyo", NOON + HOUR, datetime(2026, 8, 20, 22, 0, tzinfo=UTC)),
        (
            "22:00-07:00",
            "Europe/Berlin",
            datetime(2026, 3, 28, 23, 0, tzinfo=UTC),
            datetime(2026, 3, 29, 5, tzinfo=UTC),
        ),
    ],
)
def test_the_end_of_quiet_hours(quiet, zone, now, expected):
    """In the zone of the configuration, over midnight, and in the night in which clocks change."""
    schedule = settings(quiet=quiet, timezone=zone).schedule
    assert ZoneInfo(zone) == schedule.timezone
    assert expected == quiet_until(schedule, now)


def test_nobody_is_woken_but_for_what_is_critical(store):
    """The rest comes in the morning."""
    happen(store, OPENED, NIGHT)
    happen(store, OPENED, NIGHT, concern(Severity.CRITICAL, Kind.PIN_ABSENT))
    assert [("slack", "opened")] == told(store, NIGHT)
    assert [("slack", "opened")] == told(store, MORNING)


def test_what_is_over_by_the_morning_is_not_told(store):
    """It is in the digest; nothing else of it was owed."""
    happen(store, OPENED, NIGHT)
    happen(store, RESOLVED, NIGHT + HOUR)
    assert [] == told(store, MORNING)
    assert () == store.waiting()


def test_what_grew_overnight_is_told_once_as_new(store):
    """As it stands in the morning; what turned critical is told at once."""
    happen(store, OPENED, NIGHT, concern(Severity.MEDIUM))
    happen(store, CHANGED, NIGHT + HOUR, concern(Severity.HIGH))
    assert [("slack", "opened")] == told(store, MORNING)
    happen(store, OPENED, NIGHT, concern(name="other"))
    happen(store, CHANGED, NIGHT + HOUR, concern(Severity.CRITICAL, name="other"))
    assert [("slack", "opened")] == told(store, NIGHT + HOUR)
    assert [] == told(store, MORNING)


def test_what_was_over_for_an_hour_of_the_night_is_no_news(store):
    """It was told as open by day, and open it is."""
    happen(store, OPENED, NOON)
    told(store, NOON)
    happen(store, RESOLVED, NIGHT)
    happen(store, REOPENED, NIGHT + HOUR)
    assert [] == told(store, MORNING)


def test_what_a_person_does_at_night_is_shown_at_once(store):
    """They are awake."""
    finding = happen(store, OPENED, NOON)
    told(store, NOON)
    after, event = acknowledge(finding, NIGHT, "on it", "dana (U1)")
    store.commit_pass([after], [event], (), NIGHT)
    owe(store, QUIET, [event], NIGHT)
    assert [("slack", "acknowledged")] == told(store, NIGHT)


def test_what_a_person_does_before_it_was_told_is_not_told(store):
    """Who took note of it from the command line needs no message, nor do the others."""
    finding = happen(store, OPENED, NIGHT)
    after, event = acknowledge(finding, NIGHT, "on it")
    store.commit_pass([after], [event], (), NIGHT)
    owe(store, QUIET, [event], NIGHT)
    assert [] == told(store, MORNING)


# --- findings that come and go -----------------------------------------------------------------------------------


def test_a_finding_that_comes_and_goes_is_damped(store):
    """Told twice, then held for six hours, then told as it stands; never for ever."""
    config, at, heard = settings(), NOON, []
    for number in range(20):
        happen(store, (OPENED if number == 0 else REOPENED) if number % 2 == 0 else RESOLVED, at, config=config)
        heard += [(at - NOON, kind) for _, kind in told(store, at)]
        at += HOUR / 2
    minutes = [(int(when.total_seconds() // 60), kind) for when, kind in heard]
    assert [(0, "opened"), (30, "resolved"), (60, "reopened"), (90, "resolved")] == minutes[:4]
    assert 2 >= len(minutes[4:])
    happen(store, REOPENED, at, config=config)
    assert [] == told(store, at)
    assert [("slack", "reopened")] == told(store, at + 6 * HOUR)


def test_yesterday_does_not_count(store):
    """A finding that opens once a day is told each time."""
    config = settings()
    for day in range(5):
        at = NOON + timedelta(days=day)
        happen(store, REOPENED if day else OPENED, at, config=config)
        happen(store, RESOLVED, at + HOUR, config=config)
        assert [("slack", "reopened" if day else "opened"), ("slack", "resolved")] == told(store, at + HOUR)
