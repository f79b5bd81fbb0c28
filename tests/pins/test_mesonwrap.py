"""Wraps of Meson."""

from hypothesis import given, settings

from tests.pins.seeing import broken, garbled, seen
from watcher.pins import mesonwrap
from watcher.pins.checkout import Checkout

A = "1" * 39 + "a"


def test_repositories_and_archives():
    """A revision, the head, an archive; patches and assets are none."""
    assert [f"a.wrap:3 acme/a@{A}"] == seen(
        mesonwrap,
        "a.wrap",
        f"[wrap-git]\nurl = https://github.com/acme/a.git\nrevision = {A}\ndepth = 1\n[provide]\na = b\n",
    )
    assert ["a.wrap:2 acme/a@default-branch"] == seen(
        mesonwrap, "a.wrap", "[wrap-git]\nurl=https://github.com/acme/a.git\nrevision=head\n"
    )
    text = (
        "[wrap-file]\nsource_url = https://github.com/acme/b/archive/v1.0.tar.gz\nsource_hash = 00\n"
        "patch_url = https://wrapdb.mesonbuild.com/v2/b/get_patch\n"
        "source_fallback_url = https://github.com/m/w/releases/download/b/b.tgz\n"
    )
    assert ["b.wrap:2 acme/b@v1.0"] == seen(mesonwrap, "b.wrap", text)


def test_a_broken_line():
    """One warning with its line; the rest is read."""
    text = "[wrap-git]\nwhat is this\nurl = https://h.org/a\nrevision = v1.0\n"
    assert [2] == broken(mesonwrap, "a.wrap", text)
    assert ["a.wrap:4 h.org/a@v1.0"] == seen(mesonwrap, "a.wrap", text)


@given(text=garbled)
@settings(max_examples=50, deadline=None)
def test_nothing_makes_it_raise(text):
    """Whatever the text is, reading it gives pins or a warning."""
    list(mesonwrap.parse("a.wrap", "[wrap-git]\n" + text, Checkout()))
