"""A short soak: ten upstreams in all sorts of trouble, a service that is killed, and nothing lost or made up."""

import pytest

from tests.soak.run import soak
from tests.soak.tale import Measure

SHORT = Measure(upstreams=10, seconds=6, events=5, kills=3, slack=("limited",), silent=False, waits=0.1)
"""Slack's other troubles cost half a minute of waiting each; the long soak has them."""


@pytest.mark.timeout(300)
def test_what_is_known_and_told_at_the_end_is_what_happened(tmp_path):
    """The findings are those of the replay, every alert reached Slack, and twice only where a kill explains it."""
    outcome = soak(tmp_path / "soak", 5, SHORT, speed=1, patience=60)
    assert () == outcome.failures
    assert len(outcome.lives) > 1
    assert outcome.counts["moments compared"] >= len(outcome.script.upstreams)
    assert outcome.told.events > 0
