"""What docs/scaling.md says is what the script computes, and the drawings state what was measured."""

import importlib.util
import math
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCUMENT = (ROOT / "docs/scaling.md").read_text(encoding="utf-8")


def _loaded(path):
    """Return a script of benchmarks/ as a module; its folder is no package."""
    name = f"benchmarks_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


scale = _loaded(ROOT / "benchmarks/scale.py")
curves = _loaded(ROOT / "benchmarks/sweeping/curves.py")


def test_the_document_has_the_tables_that_the_script_prints():
    """Every table stands in the document, once, as it is computed now."""
    assert scale.tables(scale.Plan()) == dict(scale.BLOCK.findall(DOCUMENT))


def test_the_script_prints_what_it_would_write(capsys):
    """Printed tables have the lines around them that the document has."""
    scale.main([])
    assert scale.tables(scale.Plan()) == dict(scale.BLOCK.findall(capsys.readouterr().out))


def test_tables_are_written_in_place(tmp_path):
    """Only what stands between the lines is replaced."""
    file = tmp_path / "a.md"
    file.write_text("before\n<!-- table assumed -->\nold\n<!-- end -->\nafter\n")
    scale.main(["--pins", "7", "--poll", "2h", "--write", str(file)])
    text = file.read_text()
    assert ("before\n<!-- table assumed -->\n| assumed | is |", "\n<!-- end -->\nafter\n") == (
        text[: text.index("\n| ---")],
        text[text.index("\n<!-- end") :],
    )
    assert "| pins | 7 |" in text
    assert "| poll interval | 2.0 h |" in text


def test_a_poll_interval_that_is_none_is_refused(capsys):
    """A number without a unit is an error with the ways to write it."""
    with pytest.raises(SystemExit):
        scale.main(["--poll", "15"])
    assert "a number and one of s, m, h, d" in capsys.readouterr().err


def test_calm_upstreams_are_polled_less_often():
    """Half of them calm for a week and half for a month give a half and a quarter of the polls."""
    assert pytest.approx(0.375) == scale.Plan(weekly=0.5, monthly=0.5).often


def test_more_machines_shorten_what_can_be_shared_only():
    """The time is the serial part, and the rest divided by all cores."""
    work = scale.Work(serial={"a": 2.0, "b": 1.0}, shared=16.0)
    assert (19.0, 5.0, 4.0) == (work.wall(1, 1), work.wall(1, 8), work.wall(2, 8))


@pytest.mark.parametrize("power", [0.0, 1.0, 2.0])
def test_the_exponent_is_that_of_the_curve(power):
    """Points on a power of the size give that power, whatever the small sizes cost."""
    points = [curves.Point(size=1, cpu=1e6, memory=1.0)]
    points += [curves.Point(size=size, cpu=0.5 * size**power, memory=1.0) for size in (100, 1000, 10_000)]
    assert pytest.approx(power) == curves.exponent(points)


def test_one_size_has_no_exponent():
    """A line needs two points."""
    assert math.isnan(curves.exponent([curves.Point(size=10, cpu=1.0, memory=1.0)]))
