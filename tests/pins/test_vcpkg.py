"""Manifests of vcpkg."""

from hypothesis import given, settings

from tests.pins.seeing import broken, garbled, pins, seen
from watcher.pins import vcpkg
from watcher.pins.checkout import Checkout

A, B = "1" * 39 + "a", "2" * 39 + "b"


def test_baselines():
    """The builtin registry is vcpkg's own repository; versions of ports are none."""
    text = (
        f'{{"dependencies": [{{"name": "fmt", "version>=": "10.1.0"}}],\n'
        f'"builtin-baseline": "{A}",\n"vcpkg-configuration":\n'
        f'{{"default-registry": {{"kind": "git", "repository": "https://github.com/acme/r",\n'
        f'"reference": "dev", "baseline": "{B}"}},\n'
        '"registries": [{"kind": "artifact", "name": "m", "location": '
        '"https://github.com/acme/m/archive/refs/heads/main.zip"}]}}'
    )
    expected = [f"vcpkg.json:2 microsoft/vcpkg@{A}", f"vcpkg.json:5 acme/r@{B}", "vcpkg.json:6 acme/m@main"]
    assert expected == seen(vcpkg, "vcpkg.json", text)
    assert "dev" == pins(vcpkg, "vcpkg.json", text)[1].branch


def test_a_broken_manifest():
    """One warning with its line; what stands before it is read."""
    text = f'{{"builtin-baseline": "{A}",\noops'
    assert [2] == broken(vcpkg, "vcpkg.json", text)
    assert [f"vcpkg.json:1 microsoft/vcpkg@{A}"] == seen(vcpkg, "vcpkg.json", text)


@given(text=garbled)
@settings(max_examples=50, deadline=None)
def test_nothing_makes_it_raise(text):
    """Whatever the text is, reading it gives pins or a warning."""
    list(vcpkg.parse("vcpkg.json", '{"registries": ' + text, Checkout()))
