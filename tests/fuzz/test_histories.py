"""Whatever happens to an upstream and to its pins, each look says what the model says."""

import pytest
from hypothesis import HealthCheck, settings

from tests.fuzz.machine import Histories

Histories.TestCase.settings = settings(
    max_examples=10,
    stateful_step_count=15,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


@pytest.mark.timeout(600)
class TestHistories(Histories.TestCase):
    """A few made-up histories; `benchmarks/fuzz.py` plays many."""
