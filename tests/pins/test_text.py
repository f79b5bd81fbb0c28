"""Text that remembers where it is written."""

from hypothesis import given
from hypothesis import strategies as st

from watcher.pins.text import Place, joined, unknown, written


def test_a_part_knows_its_line():
    """A slice over line ends starts on the line of its first character."""
    assert Place("f", 3) == written("a\nb\ncd", "f")[4:].place()


def test_joined_parts_keep_their_places():
    """What is put together from two places is still at both."""
    text = joined((written("v", "f", 9), written("1.2", "g", 2)))
    assert [Place("f", 9), Place("g", 2)] == [text.place(0), text.place(1)]


def test_unknown_parts_differ_by_name():
    """Two unknown values are not the same value."""
    place = Place("f", 1)
    assert unknown("A", place).key != unknown("B", place).key


@given(st.lists(st.text(min_size=1), min_size=1), st.integers(0, 30), st.integers(0, 30))
def test_a_slice_is_a_slice(parts, start, end):
    """A text slices as its characters do."""
    text = joined(written(part, "f") for part in parts)
    assert "".join(parts)[start:end] == text[start:end].chars
