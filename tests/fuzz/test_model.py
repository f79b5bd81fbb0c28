"""The model says of small histories what a person would say."""

import pytest

from tests.fuzz.history import MAIN, TOPIC, History

NONE, ENGINE = frozenset[str](), frozenset({"engine"})


@pytest.fixture
def history():
    """Draw c0---c1---c2 (main), c1---c3 (topic), of which c2 is a fix."""
    made = History()
    made.commit(repaired=NONE)
    made.commit("c0", repaired=NONE)
    made.commit("c1", repaired=ENGINE)
    made.commit("c1", repaired=NONE)
    made.fixes["c2"] = "engine"
    made.move(MAIN, "c2")
    made.move(TOPIC, "c3")
    return made


def test_who_holds_what(history):
    """By walking down from every ref."""
    assert [MAIN, TOPIC] == history.holders("c1")
    assert [TOPIC] == history.holders("c3")
    assert {"c0", "c1", "c2", "c3"} == history.reached()


def test_what_was_published(history):
    """The tips of main, and of the branch that holds the pin."""
    assert history.is_published("c2", "c1")
    assert history.is_published("c3", "c1")
    assert not history.is_published("c3", "c2")


def test_a_merge_has_what_either_side_changed(history):
    """A fix comes along, and so does its revert."""
    assert ENGINE == history.merged("c3", "c2")
    revert = history.commit("c2", repaired=NONE)
    assert NONE == history.merged("c2", revert)
    assert NONE == history.merged(revert, history.commit("c2", repaired=ENGINE))


def test_a_fix_that_is_taken_back_does_not_stand(history):
    """Wherever the revert is in the history."""
    assert {"c2"} == history.standing("c2")
    assert history.is_plain("c2")
    revert = history.commit("c2", repaired=NONE)
    history.reverts[revert] = "c2"
    assert set() == history.standing(revert)
    assert not history.is_plain("c2")


def test_what_no_ref_holds_is_thrown_away(history):
    """And nothing else."""
    del history.refs[TOPIC]
    history.clean_up()
    assert {"c3"} == history.lost
