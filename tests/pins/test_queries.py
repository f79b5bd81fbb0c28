"""What `jq` and `yq` print."""

import pytest

from watcher.pins.queries import path_in, queried
from watcher.pins.text import written


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        (".a.b-c", ("a", "b-c")),
        ('.["a b"][0]."c"', ("a b", "0", "c")),
        (".a // empty", ("a",)),
        (".", None),
        (".[] | select(.x)", None),
        ("a.json", None),
    ],
)
def test_paths(word, expected):
    """Plain paths are followed; what selects or computes is not."""
    assert expected == path_in(["-r", word])


@pytest.mark.parametrize(
    ("file", "text"),
    [("a.json", '{"a":\n["x", "v1"]}'), ("a.yaml", "a:\n- x\n- v1\n"), ("a.toml", 'a = ["x",\n"v1"]\n'), ("a", "{")],
)
def test_the_scalar_at_a_path(file, text):
    """All three languages are read; what is no scalar or is not there prints nothing."""
    source = written(text, file)
    found = queried(("a", "1"), source)
    assert ("v1" if "v1" in text else None) == (found.chars if found else None)
    assert found is None or text[: text.index("v1")].count("\n") + 1 == found.place().line
    assert queried(("a",), source) is None
    assert queried(("b", "c"), source) is None
