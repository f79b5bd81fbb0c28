"""Manifests of west."""

from hypothesis import given, settings

from tests.pins.seeing import broken, garbled, seen
from watcher.pins import west
from watcher.pins.checkout import Checkout

A = "1" * 39 + "a"


def test_without_defaults():
    """A project without a revision follows the default branch; digits are a revision."""
    text = (
        "manifest:\n  remotes:\n    - name: r\n      url-base: git@example.org:team\n"
        "  projects:\n    - name: a\n      remote: r\n"
        "    - name: b\n    - name: c\n      url: https://example.org/c\n      revision: 1234567\n"
    )
    assert ["west.yml:6 team/a@default-branch", "west.yml:11 example.org/c@1234567"] == seen(west, "west.yml", text)


def test_blobs_of_a_module():
    """A file at a commit is one."""
    text = f"name: x\nblobs:\n  - path: a\n    sha256: 00\n    url: https://github.com/acme/a/raw/{A}/a.bin\n"
    assert [f"zephyr/module.yml:5 acme/a@{A}"] == seen(west, "zephyr/module.yml", text)


def test_a_broken_manifest():
    """One warning with its line."""
    text = "manifest:\n  projects:\n    - name: a\n      url: https://example.org/a\n      revision: v1.0\nbad: [\n"
    assert 1 == len(broken(west, "west.yml", text))


@given(text=garbled)
@settings(max_examples=50, deadline=None)
def test_nothing_makes_it_raise(text):
    """Whatever the text is, reading it gives pins or a warning."""
    list(
        west.parse("west.yml", "manifest:\n  projects:\n    - name: a\n      url: https://h.org/a\n" + text, Checkout())
    )
