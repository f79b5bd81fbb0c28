"""Patterns of the configuration."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.pins.seeing import told
from watcher.config.expression import PatternError, check
from watcher.pins import patterns
from watcher.pins.checkout import Checkout
from watcher.pins.format import Broken
from watcher.pins.patterns import Pattern

TEXT = "a=acme/one@v1.0\nb=acme/two@main\nc=acme/one/three\n"


def found(pattern, text=TEXT, path="deps/a.list"):
    """Return what a pattern finds in one file."""
    return [
        one if isinstance(one, Broken) else told(one.pin)
        for one in patterns.find([pattern], Checkout(texts={path: text}))
    ]


def test_groups_name_the_upstream_and_the_ref():
    """`^` and `$` are ends of lines; `owner/name` is one of GitHub."""
    pattern = Pattern(files="deps/*.list", regex=r"^\w=(?P<upstream>[\w/]+)@(?P<ref>\S+)$")
    assert ["deps/a.list:1 acme/one@v1.0", "deps/a.list:2 acme/two@main"] == found(pattern)


def test_a_fixed_upstream_and_one_made_of_groups():
    """Where the files do not name it, the configuration does."""
    fixed = Pattern(files="**", regex=r"one@(?P<ref>\S+)", upstream="https://github.com/acme/own", variant="rocm")
    assert ["deps/a.list:1 acme/own@v1.0 rocm"] == found(fixed)
    made = Pattern(
        files="**", regex=r"acme/(?P<name>\w+)@(?P<ref>main)", upstream="https://git.example.com/x/{name}.git"
    )
    assert ["deps/a.list:2 x/two@main"] == found(made)


def test_other_files_are_left_alone():
    """The glob decides."""
    assert [] == found(Pattern(files="other/*", regex=r"@(?P<ref>\S+)", upstream="acme/a"))
    assert patterns.claims([Pattern(files="deps/**", regex="x")])("deps/x/y.z")


def test_a_match_without_an_address_is_told():
    """File and line are said."""
    (one,) = found(Pattern(files="**", regex=r"b=(?P<upstream>\w)(?P<ref>\S+)"))
    assert ("deps/a.list", 2) == (one.file, one.line)


@pytest.mark.parametrize(
    ("regex", "upstream", "reason"),
    [
        ("(?P<ref>x", "a/b", "missing )"),
        ("x", "a/b", "a group named ref"),
        ("(?P<ref>x)", None, "a group named upstream"),
        (r"(?=x)(?P<ref>y)", "a/b", "invalid perl operator"),
    ],
)
def test_an_expression_that_cannot_be_used_is_refused(regex, upstream, reason):
    """The message says why."""
    with pytest.raises(PatternError, match=re.escape(reason)):
        check(regex, has_upstream=upstream is not None)


def test_no_expression_makes_a_scan_hang():
    """What takes other engines for ever takes this one no time."""
    pattern = Pattern(files="**", regex=r"(a+)+(?P<ref>b)c", upstream="acme/a")
    started = time.perf_counter()
    assert [] == found(pattern, "a" * 100_000)
    assert 1 > time.perf_counter() - started


@given(regex=st.text(max_size=20), text=st.text(max_size=60))
@settings(max_examples=60, deadline=None)
def test_nothing_makes_it_raise(regex, text):
    """Whatever the expression is, it is refused or matched."""
    found(Pattern(files="**", regex=regex, upstream="acme/a"), text)
    found(Pattern(files="**", regex=f"(?P<ref>{regex})", upstream="acme/a"), text)
