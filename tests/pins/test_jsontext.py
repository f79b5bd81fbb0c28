"""JSON with lines."""

import json

from hypothesis import given
from hypothesis import strategies as st

from watcher.pins import jsontext
from watcher.pins.tree import DEEPEST, Leaf, Row, Table, walk

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=20,
)


def plain(node):
    """Return a node as the standard library would; numbers and the like as they are written."""
    match node:
        case Leaf():
            return node.text.chars if node.is_string else json.loads(node.text.chars)
        case Row():
            return [plain(child) for child in node.nodes]
        case Table():
            return {key.chars: plain(child) for key, child in node.entries}


@given(VALUES, st.sampled_from([None, 1]))
def test_the_same_values(value, indent):
    """A document means what the standard library says that it means."""
    for is_ascii in (True, False):
        text = json.dumps(value, indent=indent, ensure_ascii=is_ascii).replace("\\ue000", "x").replace("\ue000", "x")
        reading = jsontext.read(text, "a.json")
        assert reading.problem is None
        assert json.loads(text) == plain(reading.root)


@given(VALUES)
def test_lines(value):
    """Each string stands on its line."""
    text = json.dumps(value, indent=1, ensure_ascii=False)
    lines = text.split("\n")
    for found in walk(jsontext.read(text, "a.json").root):
        if isinstance(found.node, Leaf) and found.node.is_string and found.node.text.chars.isalnum():
            assert found.node.text.chars in lines[found.node.text.place().line - 1]


def test_a_comment_and_a_comma_too_many():
    """What editors and tools accept is accepted."""
    reading = jsontext.read('{// x\n"a": [1, 2,], /* y\n */ "b": "c",}', "a.json")
    assert reading.problem is None
    assert {"a": [1, 2], "b": "c"} == plain(reading.root)


def test_the_rest_of_a_broken_file():
    """What is wrong is said with its line, and what stands around it is read."""
    reading = jsontext.read('{"a": 1,\n "b" oops,\n "c": {"d": "e"},\n "f": ]', "a.json")
    assert 2 == reading.problem.line
    assert "e" == reading.root.get("c", "d").text.chars


def test_no_end():
    """A file that stops is read to where it stops."""
    reading = jsontext.read('{"a": {"b": "c"', "a.json")
    assert "c" == reading.root.get("a", "b").text.chars
    assert "expected `}` or `]`, found 'the end'" == reading.problem.reason


def test_depth():
    """Nesting beyond all measure costs nothing and raises nothing."""
    reading = jsontext.read("[" * 100_000 + '"x"' + "]" * 100_000, "a.json")
    assert reading.problem is None
    assert DEEPEST == sum(isinstance(found.node, Row) for found in walk(reading.root))


@given(st.text(alphabet='{}[],:"\\ \n/*1ae', max_size=60))
def test_any_text(text):
    """Any text gives something."""
    jsontext.read(text, "a.json")
