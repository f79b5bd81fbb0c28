"""Text filters."""

import pytest

from watcher.pins.filters import filtered
from watcher.pins.text import written

LIST = "a=v1\nb = v2 # x\n"


@pytest.mark.parametrize(
    ("name", "words", "expected"),
    [
        ("head", ["-n1"], "a=v1"),
        ("tail", ["-1"], "b = v2 # x"),
        ("grep", ["^a="], "a=v1"),
        ("grep", ["-oE", "v[0-9]"], "v1\nv2\n"),
        ("grep", ["-oP", r"^a=\Kv\S+"], "v1"),
        ("grep", ["-A1", "^a="], "a=v1\nb = v2 # x\n"),
        ("grep", ["-A", "1", "^b"], "b = v2 # x"),
        ("cut", ["-d=", "-f2"], "v1 v2 # x"),
        ("awk", ["/^b/ {print $3}"], "v2"),
        ("sed", ["-n", "s/^a=//p"], "v1"),
        ("sed", ["-nE", r"s/^b = (v[0-9]+).*/\1/p"], "v2"),
        ("sed", ["-n", "/^b/p"], "b = v2 # x"),
        ("sed", ["-n", "/a=/,/x/p"], "a=v1\nb = v2 # x\n"),
        ("tr", ["-d", "\\n"], "a=v1b = v2 # x"),
    ],
)
def test_what_comes_through(name, words, expected):
    """Each filter lets through what the program would, at its own place."""
    assert expected == filtered(name, words, written(LIST, "f")).chars


def test_the_place_stays():
    """A ref that is picked out of a list is at its line of the list."""
    assert 2 == filtered("awk", ["/^b/ {print $3}"], written(LIST, "f")).place().line


@pytest.mark.parametrize("words", [["-e", "1d"], ["s/(a+)+b/x/"], ["s/a/b/;s/c/d/"], []])
def test_what_is_not_followed(words):
    """Programs that do more, or patterns that may take long, are unknown."""
    assert filtered("sed", ["-E", *words], written(LIST, "f")) is None
