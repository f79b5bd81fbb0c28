"""No expression of ours runs away on a text that is made of the expression itself."""

import re

import pytest

from tests.hostile.patterns import attacks, compiled, ways
from watcher.pins.limit import within

SIZE = 60_000
"""Characters, as many as we ever read of a text: what grows with the square of them takes too long then."""
CUT = {"watcher.judge.enclosing._NAMED": 400, "watcher.judge.complaint._FUNCTIONS": 2000}
"""Expressions that only ever see so many characters at once: of a line, the rest is not looked at."""
OWN = "watcher.config."
"""Where texts are those of whoever runs the watcher: these have to end in time for short ones."""
OURS = 2_000
LONGEST = 4.0
"""Seconds of processor time for all attacks on one expression; the slowest takes a quarter."""


def _attacked(named):
    """Ask about every text that could keep an expression busy, in the ways in which the program asks."""
    name, pattern = named
    size = CUT.get(name.partition("[")[0], OURS if name.startswith(OWN) else SIZE)
    return sum(bool(getattr(pattern, way)(text)) for text in attacks(pattern, size) for way in ways(name)) >= 0


def test_every_expression_ends():
    """A new one that backtracks fails here by its name. Those of manifests have a second a file: pins/test_limit.py."""
    named = list({pattern: (name, pattern) for name, pattern in compiled()}.values())
    assert len(named) > 100
    assert [] == [name for (name, _), ended in within(LONGEST, _attacked, named) if not ended]


@pytest.mark.parametrize("expression", ["(a+)+$", "(\\w+\\s?)*$", "a+b"])
def test_one_that_runs_away_is_found(expression):
    """The test above can fail."""
    assert [None] == [ended for _, ended in within(1.0, _attacked, [("watcher.cli.bad", re.compile(expression))])]
