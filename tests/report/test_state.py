"""How much the state folder takes is told largest first, in units that people read."""

import json

import pytest

from tests.report.passes import NOW
from tests.report.test_shown import HOSTILE, golden
from watcher.report.state import Held, State, render, render_json, size_text

ENGINE = Held(name="https://github.com/owner/engine", size=64_173_000, kept=10_276_000, is_pinned=True, seen=NOW)
BRAKES = Held(name="https://github.com/owner/brakes", size=4_300_000, kept=4_100_000, is_pinned=False, seen=NOW)
OURS = Held(name="downstream https://github.com/acme/images", size=900, kept=0, is_pinned=True, seen=None)
BROKEN = Held(name=HOSTILE, size=12_345, kept=None, is_pinned=False, seen=None)
STATE = State(folder="state", mirrors=(OURS, BRAKES, BROKEN, ENGINE), database=839_680, at_most=20 * 2**30)


def test_table():
    """A line for each mirror, largest first, then the sums."""
    golden("state.txt", render(STATE))


def test_nothing_there():
    """Before the first look there is no mirror."""
    assert "all of 0 mirrors" in render(State(folder="state", mirrors=(), database=4096, at_most=None))


def test_json():
    """Bytes, and times with their zone."""
    said = json.loads(render_json(STATE))
    assert (64_173_000, 10_276_000, NOW.isoformat()) == tuple(
        said["mirrors"][0][key] for key in ("size", "kept", "last_seen")
    )
    assert (20 * 2**30, 839_680, STATE.size) == (said["at_most"], said["database"], said["size"])


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0.0 KiB"), (512, "0.5 KiB"), (2**20, "1.0 MiB"), (20 * 2**30, "20.0 GiB"), (2**40, "1.0 TiB")],
)
def test_sizes(count, text):
    """In the largest unit of which there is one."""
    assert text == size_text(count)
