"""What the service does with a clock that somebody sets."""

import signal

import pytest

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
