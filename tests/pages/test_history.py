"""The history tells week by week what happened to findings, to pins, and to refs that should have stayed."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tests.hostile.texts import TEXTS
from tests.pages.shown import FRAME, Shown, article_of
from tests.report import passes
from watcher.findings import acknowledge
from watcher.model import Event, EventKind, Move, Moved, Severity
from watcher.pages.history import history, weeks

DAY = timedelta(days=1)
SINCE = passes.NOW - 90 * DAY
GOLDEN = Path(__file__).parent / "golden"
FOUND = passes.fix_available(passes.CUDA)
MAIN, TOPIC, TAG = "refs/heads/main", "refs/heads/topic", "refs/tags/v1.0"


def opened(at=passes.NOW, finding=FOUND) -> Event:
    """Return an event of a finding that was opened."""
    return Event(kind=EventKind.OPENED, finding=finding, at=at)


def move(ref=MAIN, before=passes.OLD, after=passes.NEW, forced=False, at=passes.NOW) -> Move:
    """Return a move of a ref."""
    return Move(ref=ref, before=before, after=after, forced=forced, at=at)


def of(events=(), moved=(), moves=None, zone=UTC):
    """Return the weeks of what happened."""
    return weeks(events, moved, moves or {}, zone)


def shown(found, **more) -> Shown:
    """Return what the page shows of weeks."""
    return Shown(history(found, SINCE, replace(FRAME, **more)))


def test_the_newest_week_is_first():
    """And in it the newest step; weeks without news are left out."""
    times = [passes.NOW - 21 * DAY, passes.NOW - DAY, passes.NOW]
    found = of([opened(at) for at in times])
    assert [date(2026, 8, 17), date(2026, 7, 27)] == [it.begins for it in found]
    assert [[passes.NOW, passes.NOW - DAY], [passes.NOW - 21 * DAY]] == [
        [it.at for it in week.findings] for week in found
    ]


@pytest.mark.parametrize(
    ("zone", "monday"),
    [("UTC", date(2026, 8, 10)), ("Asia/Tokyo", date(2026, 8, 17)), ("Etc/GMT+12", date(2026, 8, 10))],
)
def test_a_week_begins_where_people_live(zone, monday):
    """Sunday evening in one zone is Monday morning in another."""
    late = datetime(2026, 8, 16, 23, 30, tzinfo=UTC)
    moved = Moved(pin=passes.CUDA, after=None, at=late)
    [week] = of([opened(late)], [moved], {passes.SAVER: [move(forced=True, at=late)]}, ZoneInfo(zone))
    assert monday == week.begins
    assert (1, 1, 1) == (len(week.findings), len(week.pins), len(week.upstreams))


def test_only_what_is_unusual_is_told_of_refs():
    """Forced and deleted refs, and tags that moved; an upstream that merely moved on is counted."""
    moves = {
        "https://github.com/acme/saver": [
            move(),
            move(TOPIC, forced=True),
            move(TAG),
            move("refs/heads/old", after=None),
        ],
        "https://github.com/acme/calm": [move()],
        "https://github.com/acme/still": [move("refs/pull/1/head", forced=True)],
    }
    [week] = of(moves=moves)
    [shift] = week.upstreams
    assert [("forced", "topic"), ("forced", "v1.0"), ("deleted", "old")] == [
        (it.what, it.ref) for it in shift.what.steps
    ]
    assert 1 == week.calm
    assert "1 upstream more moved on as usual." in shown((week,)).text


def test_moves_of_one_week_are_one():
    """Of a week, as in a digest; those of another week are another's."""
    moves = [move(forced=True, at=passes.NOW - days * DAY) for days in (8, 1, 0)]
    found = of(moves={passes.SAVER: moves})
    assert [1, 1] == [len(week.upstreams) for week in found]
    assert [passes.NOW, passes.NOW - 8 * DAY] == [week.upstreams[0].at for week in found]


def test_what_changed_is_told_against_what_was_before():
    """Also where that was in another week."""
    worse = replace(FOUND, concern=replace(FOUND.concern, severity=Severity.CRITICAL))
    events = [opened(passes.NOW - 7 * DAY), Event(kind=EventKind.CHANGED, finding=worse, at=passes.NOW)]
    assert f"Severity {FOUND.concern.severity} → critical" in shown(of(events)).text


def test_all_of_a_week():
    """The page in full: a finding's life, pins that were moved and removed, refs of upstreams."""
    at = passes.NOW
    taken, acknowledged = acknowledge(FOUND, at + 2 * timedelta(hours=1), "we know", "Ada (U1)")
    after = replace(passes.CUDA, ref=passes.NEW)
    url = f"https://github.com/acme/images/commit/{passes.STEP}"
    moved = [
        Moved(pin=passes.CUDA, after=after, at=at, landing=passes.STEP, subject="Bump saver", url=url),
        Moved(pin=passes.FLOATS, after=replace(passes.FLOATS, ref=None), at=at - DAY),
        Moved(pin=passes.ROCM, after=None, at=at - 9 * DAY),
    ]
    moves = {
        passes.SAVER: [
            move(forced=True),
            move("refs/heads/gone", after=None),
            move("refs/tags/v2", before=None),
            move("refs/heads/next", before=None),
        ]
    }
    assert taken.by == acknowledged.finding.by
    page = history(of([opened(), acknowledged], moved, moves), SINCE, replace(FRAME, root="", current="history"))
    seen = Shown(page)
    assert {f"finding/{FOUND.handle}.html", url, passes.SAVER} <= set(seen.links)
    assert (GOLDEN / "history.html").read_text(encoding="utf-8") == article_of(page)


def test_many_are_counted():
    """No page is without an end."""
    events = [opened(passes.NOW - timedelta(minutes=it)) for it in range(150)]
    seen = shown(of(events))
    assert 100 == sum("finding/" in it for it in seen.links)
    assert "and 50 more" in seen.text


@pytest.mark.parametrize(("at", "said"), [(passes.NOW, "Nothing happened."), (None, "Nothing was looked at yet.")])
def test_nothing_happened(at, said):
    """Is said, and is not the same as that nobody looked."""
    assert said in shown((), at=at).text


def written_by(stranger: str) -> str:
    """Return the page where a stranger's words stand in headlines, subjects, names, paths and refs."""
    finding = replace(FOUND, concern=replace(FOUND.concern, headline=stranger, places=(), place=stranger))
    pin = replace(passes.CUDA, name=stranger, file=stranger, variant=stranger, ref=stranger)
    moved = Moved(pin=pin, after=pin, at=passes.NOW, landing=passes.NEW, subject=stranger, url=f"javascript:{stranger}")
    moves = {passes.SAVER: [move(f"refs/heads/{stranger}", forced=True)]}
    return history(of([opened(finding=finding)], [moved], moves), SINCE, FRAME)


@pytest.mark.parametrize("name", TEXTS)
def test_what_strangers_wrote_stays_text(name):
    """It opens no tag, leads nowhere, and hides nothing."""
    page = written_by(TEXTS[name][:500].decode(errors="replace"))
    seen, plain = Shown(page), Shown(written_by("plain"))
    assert (plain.tags, plain.links) == (seen.tags, seen.links)
    assert page.replace("\n", "").isprintable()
