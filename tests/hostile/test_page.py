"""What docs/security.md says of the tests is so."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", (ROOT / "docs/security.md").read_text(encoding="utf-8"))


def test_tests_are_named():
    """Every row of the tables of threats has one."""
    assert len(NAMED) > 25


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_every_test_that_is_named_exists(file, name):
    """By file and by name."""
    assert f"\ndef {name}(" in (ROOT / file).read_text(encoding="utf-8")
