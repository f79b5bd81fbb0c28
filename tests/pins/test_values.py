"""Alternatives and the arms that they belong to."""

from watcher.pins.text import written
from watcher.pins.values import Case, Choice, concat, is_compatible, is_covered

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
