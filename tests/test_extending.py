"""A format of pins, and a forge, has everything that CONTRIBUTING.md asks for."""

from pathlib import Path

import pytest

from watcher.forges import FORGES
from watcher.pins import FORMATS

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_has_claims_parse_and_a_test(name):
    """A row in the table stands for a module with `claims` and `parse`, and a test file of its own."""
    module = FORMATS[name]
    assert callable(module.claims)
    assert callable(module.parse)
    stem = module.__name__.rsplit(".", 1)[-1]
    assert (ROOT / "tests" / "pins" / f"test_{stem}.py").exists()


@pytest.mark.parametrize("kind", FORGES)
def test_each_forge_has_a_test(kind):
    """A row in the table stands for a module of that name, and a test file of its own."""
    assert FORGES[kind].__module__ == f"watcher.forges.{kind}"
    assert (ROOT / "tests" / "forges" / f"test_{kind}.py").exists()
