"""TOML with lines."""

import tomllib
from datetime import date, datetime, time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from watcher.pins import tomltext
from watcher.pins.tree import Leaf, Row, Table, walk

DOCUMENT = """\
a = "one" # "two"
b.c."d e" = 'lite\\ral'
f = [ "x",
  # "not this"
  "y", ]
g = { h = 1, i = { j = "k" }, l = [{ m = "n" }] }
o = \"\"\"
first "quoted"
second \\
    joined\"\"\"
p = '''a
b'''
q = "tab\\t \\u00e9 \\U0001F600"
r = 1979-05-27 07:32:00
s = -1_000.5e3
t = true

[u]
v = ""
[[w.x]]
y = "1"
[w.x.z]
aa = "2"
[[w.x]]
y = "3"
"""


def plain(node):
    """Return a node as plain values; all that is no string as `#`."""
    match node:
        case Leaf():
            return node.text.chars if node.is_string else "#"
        case Row():
            return [plain(child) for child in node.nodes]
        case Table():
            return {key.chars: plain(child) for key, child in node.entries}


def reduced(value):
    """Return the standard library's value in the same form."""
    match value:
        case dict():
            return {key: reduced(inner) for key, inner in value.items()}
        case list():
            return [reduced(inner) for inner in value]
        case str():
            return value
        case bool() | int() | float() | date() | datetime() | time():
            return "#"


def lines(text):
    """Return each string's content with the line where it starts."""
    found = (one.node for one in walk(tomltext.read(text, "a.toml").root))
    return [(leaf.text.chars, leaf.text.place().line) for leaf in found if isinstance(leaf, Leaf) and leaf.is_string]


def test_the_same_values():
    """A document with all that TOML has means what the standard library says."""
    reading = tomltext.read(DOCUMENT, "a.toml")
    assert reading.problem is None
    assert reduced(tomllib.loads(DOCUMENT)) == plain(reading.root)


def test_lines():
    """Each string knows its line; of a long one each part."""
    assert [("x", 3), ("y", 5)] == [one for one in lines(DOCUMENT) if one[0] in {"x", "y"}]
    assert [("1", 21), ("2", 23), ("3", 25)] == lines(DOCUMENT)[-3:]
    long = tomltext.read(DOCUMENT, "a.toml").root.text("o")
    assert 8 == long.place(long.chars.index("first")).line
    assert 9 == long.place(long.chars.index("second")).line
    assert 10 == long.place(long.chars.index("joined")).line


@given(st.text(alphabet="abx=[]{}.,'\"\\#\n u0", max_size=50))
def test_what_the_library_reads(text):
    """What the standard library accepts gives the same values here, and no complaint."""
    reading = tomltext.read(text, "a.toml")
    try:
        expected = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    assert reading.problem is None
    assert reduced(expected) == plain(reading.root)


@pytest.mark.parametrize(
    ("text", "line", "kept"),
    [
        ('a = "1"\nb = \nc = "2"\n', 2, {"a": "1", "c": "2"}),
        ('a = "1"\n[b\nc = "2"\n[d]\ne = "3"\n', 2, {"a": "1", "d": {"e": "3"}}),
        ('a = "unclosed\nb = "2"\n', 1, {"b": "2"}),
        ('x = { a = "1"\nb = "2"\n', 2, {"b": "2"}),
    ],
)
def test_the_rest_of_a_broken_file(text, line, kept):
    """What is wrong is said with its line; the statements after it are read."""
    reading = tomltext.read(text, "a.toml")
    assert line == reading.problem.line
    assert kept == plain(reading.root)


def test_depth():
    """Nesting beyond all measure is a complaint."""
    assert tomltext.read("a = " + "[" * 50_000, "a.toml").problem is not None
    assert tomltext.read("a = " + "{a=" * 50_000, "a.toml").problem is not None
    assert tomltext.read(".".join("a" * 5000) + " = 1", "a.toml").problem is not None
