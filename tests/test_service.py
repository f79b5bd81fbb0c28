"""What the service does with a clock that somebody sets, and with a click that takes longer than others."""

import signal
import threading

import pytest
from apscheduler.triggers.interval import IntervalTrigger

from watcher import service


@pytest.fixture
def plans(tmp_path, monkeypatch):
    """Return how often the plan is made while the clock is set and signals come."""
    (tmp_path / "config.yaml").write_text("pins: [{upstream: 'https://example.org/o/n', ref: main}]\n")
    running, made = service.Service(tmp_path / "config.yaml"), []
    monkeypatch.setattr(running, "_schedule", lambda: made.append(None))

    def plans(*offsets):
        clock = iter(offsets)
        now = [next(clock)]
        monkeypatch.setattr(service, "clock_offset", lambda: now[0])

        def told():
            for offset in clock:
                now[0] = offset
                yield None
            yield signal.SIGTERM
            raise AssertionError("it did not stop")

        running._wait(told())
        return len(made)

    return plans


@pytest.mark.parametrize(
    ("offsets", "expected"),
    [
        ((0, 0, 0), 0),
        ((0, 1, 2, 3, 2), 0),
        ((0, -3600, -3600), 1),
        ((0, 86400, 86400, 0), 2),
    ],
)
def test_the_plan_is_made_anew_when_the_clock_is_set(plans, offsets, expected):
    """Back or forth; not for what drifts a little, and once for each time."""
    assert expected == plans(*offsets)


def test_a_wish_is_taken_up_at_once(tmp_path, monkeypatch):
    """Not at the next tick, and not by whoever reads the clicks: the next one need not wait for it."""
    (tmp_path / "config.yaml").write_text("pins: [{upstream: 'https://example.org/o/n', ref: main}]\n")
    running, granted = service.Service(tmp_path / "config.yaml"), threading.Event()
    workers = []
    monkeypatch.setattr(service.wishes, "ask", lambda *_, **__: "Taken up.")
    monkeypatch.setattr(running, "_grant", lambda: (workers.append(threading.current_thread()), granted.set()))
    running._scheduler.add_job(running._grant, IntervalTrigger(hours=1), id="wishes")
    running._scheduler.start()
    assert "Taken up." == running._clicked("pull-request", "d2086b6", "dana (U1)")
    assert granted.wait(10)
    running._scheduler.shutdown()
    assert [threading.current_thread()] != workers
