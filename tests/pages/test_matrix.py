"""The matrix says of each fix which variant has it, lacks it, or does not need it."""

from dataclasses import replace

import pytest

from tests.pages.shown import told
from tests.stories.conftest import world  # noqa: F401 - the world that stories start from
from watcher.model import Answer
from watcher.pages.matrix import matrix


@pytest.fixture
def story(world):  # noqa: F811
    """Offer the one dependency of the story of two fixes, and its arguments."""
    found, arguments, *_ = told(world)
    [it] = found.dependencies
    return it, arguments


def marks(found):
    """Return the words of each row."""
    return [(title, [mark.word for mark in row]) for title, row in found.rows]


def test_of_the_two_fixes(story):
    """One variant lacks both; the other is on the first of them, and the second fix concerns it too."""
    watched, arguments = story
    found = matrix(watched, arguments)
    assert ("cuda", "rocm") == found.variants
    assert [
        ("#42 “Handle pages that are on the shelf in shelf_free”", ["lacks", "lacks"]),
        ("#41 “Fix the count of pages when slots are empty”", ["lacks", "contains"]),
    ] == marks(found)


def test_what_nobody_lacks_is_folded(story):
    """And counted."""
    watched, arguments = story
    calm = {
        pin: replace(it, verdicts={name: replace(said, answer=Answer.NO) for name, said in it.verdicts.items()})
        for pin, it in arguments.items()
    }
    before, found = matrix(watched, arguments), matrix(watched, calm)
    assert () == found.rows
    assert len(before.rows) + before.folded == found.folded


def test_unsure_and_not_judged(story):
    """A verdict that is open says so, and so does a variant of which nothing is known."""
    watched, arguments = story
    [cuda, rocm] = watched.places
    open_ = {name: replace(said, answer=Answer.UNSURE) for name, said in arguments[cuda].verdicts.items()}
    found = matrix(watched, {cuda: replace(arguments[cuda], verdicts=open_)})
    assert rocm in arguments
    assert {"unsure", "not judged"} == {word for _, row in marks(found) for word in row}


def test_one_variant_is_no_matrix(story):
    """There is nothing to compare; nor where nothing was judged."""
    watched, arguments = story
    assert matrix(replace(watched, pins=watched.pins[:1]), arguments) is None
    assert matrix(watched, {}) is None
