"""No expression of ours runs away on a text that is made of the expression itself."""

import pytest

from tests.hostile.patterns import attacks, compiled
from watcher.pins.limit import within

SIZE = 800
"""Characters: enough for what grows faster than the square of them to take for ever."""
LONGEST = 4.0
"""Seconds of processor time for all attacks on one expression; the slowest takes a tenth."""


def _attacked(named):
    """Search every text that could keep an expression busy."""
    _, pattern = named
    return sum(pattern.search(text) is not None for text in attacks(pattern, SIZE)) >= 0


def test_every_expression_ends():
    """A new one that backtracks fails here by its name. Those of manifests have a second a file: pins/test_limit.py."""
    named = list({pattern: (name, pattern) for name, pattern in compiled()}.values())
    assert len(named) > 100
    assert [] == [name for (name, _), ended in within(LONGEST, _attacked, named) if not ended]


@pytest.mark.parametrize("expression", ["(a+)+$", "(\\w+\\s?)*$"])
def test_one_that_runs_away_is_found(expression):
    """The test above can fail."""
    import re  # noqa: PLC0415 - nothing else of this file needs it

    assert [None] == [ended for _, ended in within(0.5, _attacked, [("bad", re.compile(expression))])]
