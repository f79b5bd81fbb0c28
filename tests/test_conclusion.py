"""What looking at an upstream came to is kept as text, and comes back the same."""

from dataclasses import replace

import pytest

from tests.report import passes
from watcher.conclusion import Conclusion, conclusion_of, text_of
from watcher.model import Drift, Kind, Relation, Severity

FOUND = passes.everything()
CONCLUSION = Conclusion(
    upstream=passes.SAVER,
    commits={passes.CUDA.id: passes.OLD},
    reachability=FOUND.reachability,
    concerns=tuple(it.concern for it in FOUND.findings),
    fixes={fix.id: fix for fix in FOUND.fixes},
    suggestions=FOUND.suggestions,
    drifts=(
        Drift(
            name="saver",
            relation=Relation.BEHIND,
            variants={"cuda": passes.OLD, "rocm": passes.NEW},
            pins=(passes.CUDA.id, passes.ROCM.id),
            lacks={"cuda": (passes.FIX.id,)},
            align={"cuda": passes.NEW},
            is_breach=True,
        ),
    ),
    is_settled=True,
)


def test_everything_comes_back():
    """Times, sets and words of enumerations included."""
    assert CONCLUSION == conclusion_of(text_of(CONCLUSION))


def test_what_merely_happened_is_not_kept():
    """A tag moved in that one look: the next one must not tell it again."""
    moved = passes.finding(Kind.TAG_MOVED, Severity.LOW, None, "acme/saver: tag v1 moved").concern
    with_event = replace(CONCLUSION, concerns=(*CONCLUSION.concerns, replace(moved, is_event=True)))
    assert CONCLUSION == conclusion_of(text_of(with_event))


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"upstream": 3}'])
def test_another_text_is_an_error(text):
    """It is never taken for a conclusion of nothing."""
    with pytest.raises(ValueError, match="Conclusion"):
        conclusion_of(text)
