"""Text from strangers is harmless, and what is named in it leads where it should."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from watcher.report.json import written
from watcher.report.text import linked

URL = "https://h/blame"
LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=10)
TREES = st.recursive(
    LEAVES, lambda it: st.lists(it, max_size=3) | st.dictionaries(st.text(max_size=5), it, max_size=3), max_leaves=6
)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("one of two (a.c:10, a.c:103)", [("one of two (", None), ("a.c:10", URL), (", a.c:103)", None)]),
        ("a.c:10", [("a.c:10", URL)]),
        ("", []),
        ("nothing", [("nothing", None)]),
    ],
)
def test_only_what_is_named_leads_somewhere(said, expected):
    """A longer number is another line."""
    assert expected == linked(said, {"a.c:10": URL})


def test_the_longest_name_wins():
    """Where one name begins with another."""
    urls = {"a": URL, "a b": f"{URL}2"}
    assert [("a b", f"{URL}2"), (" ", None), ("a", URL)] == linked("a b a", urls)


@given(st.dictionaries(st.text(max_size=5), TREES, max_size=3))
@example({"place": "caf\udce9.txt", "title": "\x7f“\u2028😀\x1b/\\", "none": [{}, [], None, True, -1]})
def test_json_is_what_python_writes(value):
    """To the last byte: quoted, in ASCII, indented by one."""
    assert json.dumps(value, indent=1) == written(value)
