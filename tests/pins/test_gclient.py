"""DEPS files of gclient."""

from hypothesis import given, settings

from tests.pins.seeing import broken, garbled, seen
from watcher.pins import gclient
from watcher.pins.checkout import Checkout

A, B = "1" * 39 + "a", "2" * 39 + "b"


def test_addresses_in_all_spellings():
    """Concatenated, with fields, for one platform, without a revision; packages are no git."""
    text = (
        f"vars = {{\n  'host': 'https://g.example.org',\n  'a_rev': '{A}',\n}}\n"
        "deps = {\n  'a': Var('host') + '/acme/a.git@' + Var('a_rev'),\n"
        f"  'b': {{'url': '{{host}}/acme/b.git@{B}', 'condition': 'x'}},\n"
        "  'c': 'https://g.example.org/acme/c.git',\n  'd': {'packages': [{'package': 'x', 'version': 'git_revision:"
        + B
        + "'}],"
        " 'dep_type': 'cipd'},\n  'e': None,\n}\n"
        f"deps_os = {{'win': {{'f': Var('host') + '/acme/f@{A}'}}}}\nhooks = [{{'action': ['python', 'x@{B}']}}]\n"
    )
    expected = [f"DEPS:3 acme/a@{A}", f"DEPS:7 acme/b@{B}", "DEPS:8 acme/c@default-branch", f"DEPS:12 acme/f@{A}"]
    assert expected == seen(gclient, "DEPS", text)


def test_a_broken_table():
    """One warning with its line; the others are read."""
    text = f"vars = {{'a' 'b': }}\ndeps = {{'a': 'https://g.example.org/a@{A}'}}\n"
    assert [1] == broken(gclient, "DEPS", text)
    assert [f"DEPS:2 g.example.org/a@{A}"] == seen(gclient, "DEPS", text)


@given(text=garbled)
@settings(max_examples=50, deadline=None)
def test_nothing_makes_it_raise(text):
    """Whatever the text is, reading it gives pins or a warning."""
    list(gclient.parse("DEPS", "deps = {}\n" + text, Checkout()))
