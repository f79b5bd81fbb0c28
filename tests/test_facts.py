"""Facts about changes are written and read without loss."""

import json

from hypothesis import given
from hypothesis import strategies as st

from watcher.facts import from_fact, to_fact
from watcher.model import Anchor, Oid, Repair

oids = st.integers(0, 2**160 - 1).map(lambda number: Oid(f"{number:040x}"))
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@st.composite
def anchors(draw) -> Anchor:
    """Draw a line that a fix repairs."""
    wordings = tuple(draw(st.lists(words, min_size=1, max_size=3)))
    return Anchor(
        path=draw(words),
        line=draw(st.integers(1, 10**6)),
        text=wordings[0],
        is_removed=draw(st.booleans()),
        is_wrapped=draw(st.booleans()),
        origins=tuple(draw(st.lists(oids, min_size=1, max_size=3))),
        is_older=draw(st.booleans()),
        paths=tuple(draw(st.lists(words, max_size=3))),
        wordings=wordings,
    )


@given(oids, st.none() | oids, st.lists(anchors(), max_size=3), st.integers(0, 9))
def test_what_is_written_is_read(landing, bound, found, lines):
    """A repair comes back from JSON as it was."""
    repair = Repair(landing=landing, bound=bound, anchors=tuple(found), added=lines, removed=lines)
    assert repair == from_fact(landing, json.loads(json.dumps(to_fact(repair))))
