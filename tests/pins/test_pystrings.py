"""Literals of Python."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from watcher.pins.pystrings import Literals
from watcher.pins.text import Text


def parts(source):
    """Return the pieces of a literal: characters with their line, then the code of the placeholders."""
    node = ast.parse(source, mode="eval").body
    literals = Literals(source, "a.py")
    pieces = literals.pieces(node) if isinstance(node, ast.JoinedStr) else [literals.text(node)]
    return [
        (span.chars, span.place.line) for piece in pieces for span in (piece.spans if isinstance(piece, Text) else ())
    ] + [ast.unparse(piece) for piece in pieces if not isinstance(piece, Text)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('"a"', [("a", 1)]),
        ('("a"\n "b")', [("a", 1), ("b", 2)]),
        ('("a" # "x"\n\n r"\\b")', [("a", 1), ("\\b", 3)]),
        ('"""a\nb"""', [("a\n", 1), ("b", 2)]),
        ('"""\\\na\\n\nb"""', [("a", 2), ("\n", 2), ("\n", 2), ("b", 3)]),
        ('(f"a{x}b"\n f"{y!r:>{w}}{{c}}")', [("a", 1), ("b", 1), ("{", 2), ("c}", 2), "x", "y"]),
        ('f"""a\n{x}\nb"""', [("a\n", 1), ("\n", 2), ("b", 3), "x"]),
        ('(f"{d[\'k\']}"\n "é" f"{x}")', [("é", 2), "d['k']", "x"]),
    ],
)
def test_parts(source, expected):
    """Each character of a literal is on the line where it is written."""
    assert expected == parts(source)


@given(st.lists(st.text(alphabet="ab\\\"'\n{}é\t", max_size=8), min_size=1, max_size=4))
def test_values(words):
    """A joined literal has the value that Python gives it."""
    source = "(" + "\n".join(repr(word) for word in words) + ")"
    node = ast.parse(source, mode="eval").body
    assert "".join(words).replace("\r", "\n") == Literals(source, "a.py").text(node).chars
