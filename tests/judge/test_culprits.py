"""Which commits messages name as the ones that brought a bug."""

import pytest

from tests.judge.picture import drawn, named
from watcher.judge.culprits import completed, introduced

PICTURE = "A---B---C---F   (main)"


def culprits(message, **words):
    """Return the names of the commits that the message of F blames."""
    it = drawn(PICTURE, messages={"F": message, **words})
    found = introduced((it.commits[named("F")],), it.commits)
    return [name for name in "ABC" if named(name) in found]


@pytest.mark.parametrize(
    "sentence",
    [
        "regression from #12",
        "Fix regression introduced in #12.",
        "It was caused by #12.",
        "This was broken by PR #12, updating",
        "fixes failing test introduced in pull request #12.",
        "(regression by #12)",
        "introduced with owner/project#12",
    ],
)
def test_a_number_names_the_pull_request_that_landed(sentence):
    """The commit that bears the number as its own is meant."""
    assert ["B"] == culprits(f"mend it\n\n{sentence}", B="Add packing (#12)")


@pytest.mark.parametrize("sentence", ["Follow-up to #12", "This is a follow up of #12.", "follow-up: #12"])
def test_a_follow_up_blames_nobody(sentence):
    """What it completes may have repaired only half of an older bug."""
    it = drawn(PICTURE, messages={"F": f"mend it\n\n{sentence}", "B": "Add packing (#12)"})
    assert ((named("B"),), ()) == (
        completed((it.commits[named("F")],), it.commits),
        introduced((it.commits[named("F")],), it.commits),
    )


def test_a_merge_lands_a_pull_request():
    """A merge's own number counts as well."""
    assert ["B"] == culprits("mend it\n\nbroken by #12", B="Merge pull request #12 from dana/packing\n\nAdd packing")


@pytest.mark.parametrize("sentence", ["see #12", "fixes #12", "closes #12", "like #12", "regression test of #12"])
def test_a_mere_reference_names_nobody(sentence):
    """Only a sentence that says who brought it counts."""
    assert [] == culprits(f"mend it\n\n{sentence}", B="Add packing (#12)")


def test_its_own_number_is_no_culprit():
    """A squash repeats the number of the proposal that it came from."""
    assert [] == culprits("mend it (#12)\n\nbroken by #12", B="Add packing (#12)")


def test_an_id_is_believed_before_a_number():
    """Where both are named the commit is the more exact one."""
    text = f"mend it\n\nbroken by #12\n\nFixes: {named('C')[:12]}"
    assert ["C"] == culprits(text, B="Add packing (#12)")


def test_a_number_of_many_commits_names_none():
    """More commits under one number than a backport would make are no answer."""
    picture = "---".join(f"N{number}" for number in range(30)) + "---F   (main)"
    words = {f"N{number}": "Add packing (#12)" for number in range(30)}
    it = drawn(picture, messages={"F": "mend it\n\nbroken by #12", **words})
    assert () == introduced((it.commits[named("F")],), it.commits)
