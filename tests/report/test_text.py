"""Text from strangers is harmless, and what is named in it leads where it should."""

import pytest

from watcher.report.text import linked

URL = "https://h/blame"


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
