"""Lock files of Nix."""

from hypothesis import given, settings

from tests.pins.seeing import broken, garbled, pins, seen
from watcher.pins import nixlocks
from watcher.pins.checkout import Checkout

A, B = "1" * 39 + "a", "2" * 39 + "b"


def test_what_a_registry_of_flakes_hands_out_is_no_repository():
    """An archive of a forge is one; other hosts and paths are too where they are named."""
    text = (
        '{"nodes": {\n'
        f'"a": {{"locked": {{"type": "tarball", "rev": "{A}", '
        f'"url": "https://api.flakehub.com/f/x/source.tar.gz"}}}},\n'
        f'"b": {{"locked": {{"type": "tarball", "rev": "{B}", "url": '
        f'"https://github.com/acme/b/archive/{B}.tar.gz"}}}},\n'
        f'"c": {{"locked": {{"type": "gitlab", "host": "gl.example.org", '
        f'"owner": "acme", "repo": "c", "rev": "{A}"}}}},\n'
        f'"d": {{"locked": {{"type": "path", "path": "x"}}}}, "root": {{"inputs": {{}}}}\n}}}}'
    )
    assert [f"flake.lock:3 acme/b@{B}", f"flake.lock:4 acme/c@{A}"] == seen(nixlocks, "flake.lock", text)


def test_niv():
    """The commit stands twice; the template of the address is none."""
    text = (
        f'{{"a": {{\n"branch": "main", "owner": "acme", "repo": "a",\n"rev": "{A}",\n'
        f'"url": "https://github.com/acme/a/archive/{A}.tar.gz",\n'
        f'"url_template": "https://github.com/<owner>/<repo>/archive/<rev>.tar.gz"}}}}'
    )
    (pin,) = pins(nixlocks, "nix/sources.json", text)
    assert (3, (4,), A, "main") == (pin.line, pin.also, pin.ref, pin.branch)


def test_a_broken_lock():
    """One warning with its line; the nodes before it are read."""
    text = f'{{"nodes": {{"a": {{"locked": {{"type": "git", "url": "https://h.org/a", "rev": "{A}"}}}},\n"b" oops }}'
    assert [2] == broken(nixlocks, "flake.lock", text)
    assert [f"flake.lock:1 h.org/a@{A}"] == seen(nixlocks, "flake.lock", text)


@given(text=garbled)
@settings(max_examples=50, deadline=None)
def test_nothing_makes_it_raise(text):
    """Whatever the text is, reading it gives pins or a warning."""
    for path in ("flake.lock", "npins/sources.json"):
        list(nixlocks.parse(path, '{"nodes": ' + text, Checkout()))
