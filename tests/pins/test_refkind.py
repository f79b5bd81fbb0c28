"""The kind of a ref, by its text."""

import pytest

from watcher.model import RefKind
from watcher.refkind import bare_ref, ref_kind

TAGS = (
    "v1.2.3 0.9.1 v4 core_v0.14.0 release-1.12.1 v1.5.0.post8 v2.29.3-1 v1.0.0-alpha.2 1.1.1w v1.2.3+cu128 refs/tags/x"
)
BRANCHES = (
    "main dev stable release/2.1 v1.19.x nightly-regression release_2 release-2.x gb200_part_2 v2.8_rocm origin/v1"
)


@pytest.mark.parametrize("ref", TAGS.split())
def test_tags(ref):
    """A version, or what its syntax calls one, is a tag."""
    assert RefKind.TAG == ref_kind(ref)


@pytest.mark.parametrize("ref", BRANCHES.split())
def test_branches(ref):
    """Other names are branches, and so is what `origin/` precedes."""
    assert RefKind.BRANCH == ref_kind(ref)


def test_commits():
    """Full and short ids are commits, whatever a key calls them; a word of hex letters is not."""
    assert RefKind.SHA == ref_kind("a" * 39 + "1", RefKind.BRANCH)
    assert RefKind.SHA == ref_kind("a" * 63 + "1")
    assert RefKind.SHORT_SHA == ref_kind("5fc423a", RefKind.TAG)
    assert RefKind.BRANCH == ref_kind("deadbeef")
    assert RefKind.BRANCH == ref_kind("1234567")


def test_a_key_decides_where_the_name_does_not():
    """A key called tag makes a tag of any name that is no commit."""
    assert RefKind.TAG == ref_kind("stable", RefKind.TAG)


def test_the_place_of_a_ref_is_no_part_of_it():
    """`refs/tags/`, `origin/` and the like only say where a ref lives."""
    assert "v1" == bare_ref("refs/tags/v1")
    assert "feature/x" == bare_ref("origin/feature/x")


def test_a_long_name_costs_little():
    """No name is matched for long."""
    assert RefKind.BRANCH == ref_kind("a-1.2" * 10_000)
