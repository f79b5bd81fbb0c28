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


def test_a_very_long_line_is_several_pieces_of_one_line():
    """A program may write all of a file on one line: cutting it up costs no more than other files."""
    text = written("a" * 50_000 + "\nb", "f")
    assert {1, 2} == {span.place.line for span in text.spans}
    assert max(len(span.chars) for span in text.spans) <= 20_000
    assert (Place("f", 1), Place("f", 2)) == (text[49_999:].place(), text[50_001:].place())
    assert "a" * 50_000 + "\nb" == text.chars


def test_the_same_characters_on_many_lines_are_told_apart_at_once():
    """A table of texts does not compare each with all others: a file may say one thing ten thousand times."""
    assert 1_000 == len({hash(written("git clone a", "f", line)) for line in range(1_000)})


@given(st.text("ab\n", max_size=30), st.integers(0, 30), st.integers(0, 30))
def test_a_part_is_the_same_characters_on_the_same_lines(chars, start, end):
    """Whatever is cut out is what stands there, each character on its line."""
    text = written(chars, "f")[start:end]
    assert chars[start:end] == text.chars
    for at in range(len(text.chars)):
        assert Place("f", chars.count("\n", 0, start + at) + 1) == text.place(at)
