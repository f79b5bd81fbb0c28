"""YAML with lines."""

from hypothesis import given
from hypothesis import strategies as st

from tests.pins.seeing import garbled
from watcher.pins import yamlnodes
from watcher.pins.tree import Leaf, walk

DOCUMENT = """\
a: &x {b: c, d: "e"}
l:
  - *x
  - >-
    git clone
    && git checkout abc
  - |
    line one
    line two
  - plain and
    long
m: {<<: *x, z: 1234567}
"""


def places(text):
    """Return each word of each string with its line."""
    return {
        (word, leaf.text.place(leaf.text.chars.index(word)).line)
        for found in walk(yamlnodes.read(text, "a.yml").root)
        if isinstance(leaf := found.node, Leaf) and leaf.is_string
        for word in leaf.text.chars.split()
    }


def test_lines():
    """Words of every style of scalar know their lines, also where the reader folds them."""
    found = places(DOCUMENT)
    assert {("clone", 5), ("checkout", 6), ("one", 8), ("two", 9), ("plain", 10), ("long", 11)} <= found


def test_scalars_stay_as_written():
    """A commit that looks like a number stays what was written; nothing and truth are no strings."""
    root = yamlnodes.read("a: 0123456\nb: 12e4567\nc:\nd: true\n", "a.yml").root
    assert ["0123456", "12e4567", None, None] == [text.chars if (text := root.text(key)) else None for key in "abcd"]


def test_merged_keys():
    """`<<` gives the keys of another table."""
    root = yamlnodes.read(DOCUMENT, "a.yml").root
    assert "c" == root.get("m", "b").text.chars
    assert "1234567" == root.get("m", "z").text.chars


def test_many_aliases():
    """Aliases of aliases stay one node each."""
    text = "a0: &a0 [x]\n" + "".join(f"a{at}: &a{at} [{', '.join([f'*a{at - 1}'] * 9)}]\n" for at in range(1, 40))
    reading = yamlnodes.read(text, "a.yml")
    assert reading.problem is None
    assert 42 == sum(1 for _ in walk(reading.root))


def test_a_broken_file():
    """What stands before the mistake is read, and its line is told."""
    reading = yamlnodes.read("a: b\nc: [d\ne: f\n", "a.yml")
    assert reading.problem.line in {2, 3}
    assert "b" == reading.root.get("a").text.chars


@given(garbled | st.text(alphabet="ab:-[]{}&*!|>'\"\n #%@,?<", max_size=60))
def test_any_text(text):
    """Any text gives something."""
    yamlnodes.read_all(text, "a.yml")
