"""What forges answer is read as values of the right type, or not at all."""

import pytest

from watcher.errors import ForgeError
from watcher.forges import reading


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("Fixes #1", (1,)),
        ("closes: #12, resolves #3 and fixed #12", (12, 3)),
        ("CLOSE #5\nResolved   #6", (5, 6)),
        ("Fixes acme/images#7", (7,)),
        ("Fixes ACME/Images#7", (7,)),
        ("Fixes other/images#8", ()),
        ("Fixes https://github.com/acme/images/issues/9", (9,)),
        ("Fixes https://github.com/acme/images/-/issues/10", (10,)),
        ("Fixes https://github.com/other/images/issues/9", ()),
        ("Fixes https://github.com/acme/images/pull/9", ()),
        ("see #1, prefixes #2, fixing #3, fix 4, fix#5", ()),
        ("Fixes #1234567890123", ()),
        ("fix " * 20_000, ()),
        ("", ()),
    ],
)
def test_the_issues_that_a_text_closes(body, expected):
    """By the forges' keywords, in this repository alone."""
    assert expected == reading.closing(body, "https://github.com/acme/images", "acme/images")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("https://github.com/o/n/pull/1", "https://github.com/o/n/pull/1"),
        ("javascript:alert(1)", ""),
        ("https://github.com/\x1b[31m", ""),
        (None, ""),
    ],
)
def test_addresses(value, expected):
    """Are handed on only where a browser may be sent there."""
    assert expected == reading.link(value)


@pytest.mark.parametrize("value", ["0" * 40, "abc", "A1" * 20, None, ""])
def test_what_is_no_commit(value):
    """Zeros stand for nothing."""
    assert reading.commit(value) is None


@pytest.mark.parametrize(
    ("reader", "value"), [(reading.text, 5), (reading.text, []), (reading.number, "5"), (reading.number, True)]
)
def test_values_of_another_type(reader, value):
    """Are refused."""
    with pytest.raises(TypeError):
        reader(value)


def test_times_are_utc():
    """Whatever zone they are told in."""
    assert "2026-08-20T07:00:00+00:00" == reading.time("2026-08-20T09:00:00.000+02:00").isoformat()


def test_a_time_at_the_end_of_all_times(asking):
    """Is an answer that is none, and no defect."""
    github = asking("github")
    event = {"ref": "refs/heads/main", "before": "", "after": "", "timestamp": "0001-01-01T00:00:00+23:00"}
    github.fake.fault(200, [event])
    with pytest.raises(ForgeError, match="does not answer as such a forge does"):
        github.forge().ref_events("refs/heads/main")
