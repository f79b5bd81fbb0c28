"""A whole YAML file as one table."""

from hypothesis import given, settings

from tests.pins.seeing import garbled
from watcher.pins import yamltext


def test_documents_become_one_table():
    """Keys of all documents are there, each with its line."""
    root = yamltext.read("a: 1x\n---\nb: 2x\n", "f").root
    assert [("a", 1), ("b", 3)] == [(key.chars, node.place.line) for key, node in root.entries]


def test_what_follows_a_broken_place_is_read():
    """The first broken line is told; the keys around it are there."""
    reading = yamltext.read("a: x\nbad: [1,\nc: : y\nd: z\n", "f")
    assert reading.problem is not None
    assert {"a", "d"} <= set(reading.root.index)


def test_a_file_that_is_too_large_is_told():
    """Nobody writes so much by hand."""
    assert "too large" in yamltext.read("- a\n" * 200_000, "f").problem.reason


@given(text=garbled)
@settings(max_examples=60, deadline=None)
def test_nothing_makes_it_raise(text):
    """Whatever the text is, something is read."""
    yamltext.read(text, "f")
