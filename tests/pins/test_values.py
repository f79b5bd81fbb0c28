"""Alternatives and the arms that they belong to."""

from watcher.pins.text import written
from watcher.pins.values import Case, Choice, concat, distinct, is_compatible, is_covered

A0, A1, B0 = Choice("a", 0, 2), Choice("a", 1, 2), Choice("b", 0, 2)


def of(chars, *choices):
    """Return one alternative."""
    return Case(written(chars, "f"), frozenset(choices))


def test_values_of_different_arms_never_meet():
    """Putting two values together pairs only what the same arms set."""
    both = concat((of("x", A0), of("y", A1)), (of("1", A0), of("2", A1)))
    assert ["x1", "y2"] == [case.text.chars for case in both]


def test_arms_cover_what_they_split():
    """All arms of a branch together always hold; one of them, or one each of two branches, does not."""
    assert is_covered([frozenset({A0}), frozenset({A1})], frozenset())
    assert is_covered([frozenset({A0})], frozenset({A0}))
    assert not is_covered([frozenset({A0}), frozenset({B0})], frozenset())


def test_compatible():
    """Guards exclude each other where they take one branch in two directions."""
    assert is_compatible(frozenset({A0}), frozenset({B0}))
    assert not is_compatible(frozenset({A0}), frozenset({A1, B0}))


def test_a_text_of_several_arms_keeps_them_apart():
    """A text that two arms of three leave holds in those, not in the third; one that all arms leave always holds."""
    arms = [Choice("c", at, 3) for at in range(3)]
    assert 2 == len(distinct([of("x", arms[0]), of("x", arms[2])]))
    assert (of("x"),) == distinct([of("x", arm) for arm in arms])
    assert (of("x", A0),) == distinct([of("x", A0), of("x", A0, B0)])
    many = [of("x", A0, Choice("d", at, 9)) for at in range(5)]
    assert (of("x", A0),) == distinct(many)
