"""Whatever goes wrong: nothing is lost, nobody is alarmed for nothing, and no hand is needed afterwards."""

import os

import pytest

from tests.faults.table import trials


@pytest.mark.parametrize("trial", trials(), ids=lambda it: f"{it.group}: {it.name}")
def test_nothing_is_lost(trial, tmp_path):
    """And the trouble was there. What cannot be brought about here is skipped, and fails where nothing may be."""
    if reason := trial.lack():
        (pytest.fail if os.environ.get("WATCHER_NO_SKIP") else pytest.skip)(reason)
    outcome = trial.run(tmp_path)
    assert (0, 0) == (outcome.lost, outcome.false_alarms)
    assert outcome.injected > 0
