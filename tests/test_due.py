"""What is due is decided from what is remembered: no restart, suspend or clock jump skips or doubles a look."""

from datetime import UTC, datetime, timedelta

import pytest

from watcher.due import interval_of, is_over
from watcher.store import Look

NOW = datetime(2026, 8, 20, 9, 0, tzinfo=UTC)
POLL = timedelta(minutes=15)


@pytest.mark.parametrize(
    ("calm", "failures", "expected"),
    [
        (timedelta(hours=1), 0, POLL),
        (timedelta(days=8), 0, 2 * POLL),
        (timedelta(days=31), 0, 4 * POLL),
        (timedelta(days=31), 1, POLL),
        (timedelta(0), 2, 2 * POLL),
        (timedelta(0), 3, timedelta(hours=1)),
        (timedelta(0), 5000, timedelta(hours=1)),
    ],
)
def test_the_interval(calm, failures, expected):
    """What moves is asked as configured, what is calm less often, what fails less and less often, up to an hour."""
    assert expected == interval_of(POLL, calm=calm, failures=failures)


def test_short_and_long_intervals_fail_in_proportion():
    """A failing upstream is never asked more often than a good one, nor left alone for sixty times as long."""
    assert timedelta(minutes=1) == interval_of(timedelta(seconds=1), calm=timedelta(0), failures=99)
    assert timedelta(days=1) == interval_of(timedelta(days=1), calm=timedelta(0), failures=99)


@pytest.mark.parametrize(
    ("look", "expected"),
    [
        (None, True),
        (Look(at=NOW), False),
        (Look(at=NOW - 0.8 * POLL), False),
        (Look(at=NOW - 1.2 * POLL), True),
        (Look(at=NOW - timedelta(days=900)), True),
        (Look(at=NOW + timedelta(days=900)), True),
        (Look(at=NOW - 2 * POLL, not_before=NOW + timedelta(minutes=1)), False),
        (Look(at=NOW - 2 * POLL, not_before=NOW - timedelta(minutes=1)), True),
        (Look(at=NOW - 2 * POLL, not_before=NOW + timedelta(days=9)), False),
        (Look(at=NOW - timedelta(days=1, minutes=1), not_before=NOW + timedelta(days=9)), True),
    ],
)
def test_when_an_interval_is_over(look, expected):
    """By the clock; a look in the future, or a pause without end, was written in error and holds up nothing."""
    assert expected == is_over(look, POLL, "upstream https://example.org/o/n", NOW)


def test_the_jitter_spreads():
    """A hundred upstreams that were looked at together are due over a fifth of the interval, none outside it."""
    due_at = []
    for number in range(100):
        minutes = [m / 100 for m in range(1300, 1700)]
        look = Look(at=NOW)
        due_at.append(next(m for m in minutes if is_over(look, POLL, f"upstream {number}", NOW + timedelta(minutes=m))))
    assert 13.5 <= min(due_at)
    assert max(due_at) <= 16.5
    assert 2 < max(due_at) - min(due_at)
