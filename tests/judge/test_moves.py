"""Which refs moved between two looks."""

from datetime import UTC, datetime

import pytest

from watcher.judge.moves import ref_moves
from watcher.model import Advertisement, Move, Ref, oid

NOW = datetime(2026, 8, 19, tzinfo=UTC)
A, B, TAG, OTHER_TAG = (oid(digit * 40) for digit in "abcd")


def advertised(digest="", **refs):
    """Return an advertisement of refs by short name; a pair is a tag object and the commit behind it."""
    found = []
    for name, value in refs.items():
        full = f"refs/tags/{name}" if name.startswith("v") else f"refs/heads/{name}"
        tip, peeled = value if isinstance(value, tuple) else (value, None)
        found.append(Ref(name=full, oid=tip, peeled=peeled))
    return Advertisement(refs=tuple(found), head=None, digest=digest or repr(refs))


def never(before, after):
    raise AssertionError(f"asked whether {before}..{after} is forced")


def test_new_deleted_moved():
    """A ref that came, one that went and one that moved are told by name; one that stayed is not."""
    before = advertised(main=A, old=A, stays=B)
    after = advertised(main=B, new=B, stays=B)
    asked = []
    moves = ref_moves(before, after, lambda *pair: asked.append(pair), NOW)
    assert (
        Move(ref="refs/heads/main", before=A, after=B, forced=None, at=NOW),
        Move(ref="refs/heads/new", before=None, after=B, forced=False, at=NOW),
        Move(ref="refs/heads/old", before=A, after=None, forced=False, at=NOW),
    ) == moves
    assert [(A, B)] == asked


@pytest.mark.parametrize("answer", [True, False, None])
def test_forced_is_what_the_graph_says(answer):
    """Whether a move was forced is told as it was answered; could-not-tell stays that."""
    (move,) = ref_moves(advertised(main=A), advertised(main=B), lambda before, after: answer, NOW)
    assert answer is move.forced


def test_tags_are_peeled():
    """A moved annotated tag moves from commit to commit."""
    (move,) = ref_moves(advertised(v1=(TAG, A)), advertised(v1=(OTHER_TAG, B)), lambda before, after: False, NOW)
    assert ("refs/tags/v1", A, B) == (move.ref, move.before, move.after)


def test_annotated_anew():
    """A tag that names the same commit through another tag object has not moved."""
    assert () == ref_moves(advertised(v1=(TAG, A)), advertised(v1=(OTHER_TAG, A)), never, NOW)
    assert () == ref_moves(advertised(v1=A), advertised(v1=(TAG, A)), never, NOW)


def test_branch_and_tag_of_one_name():
    """A branch that becomes a tag of the same name is two moves."""
    before = Advertisement(refs=(Ref(name="refs/heads/x", oid=A),), head=None, digest="1")
    after = Advertisement(refs=(Ref(name="refs/tags/x", oid=A),), head=None, digest="2")
    moves = ref_moves(before, after, never, NOW)
    assert [("refs/heads/x", A, None), ("refs/tags/x", None, A)] == [(it.ref, it.before, it.after) for it in moves]


def test_equal_digests():
    """Equal digests mean equal advertisements: nothing is compared."""
    assert () == ref_moves(advertised("same", main=A), advertised("same", main=B), never, NOW)
