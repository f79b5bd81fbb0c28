"""Recipes of Conan."""

from hypothesis import given, settings

from tests.pins.seeing import broken, garbled, seen
from watcher.pins import conan
from watcher.pins.checkout import Checkout

A, B = "1" * 39 + "a", "2" * 39 + "b"


def test_sources_of_the_data_file():
    """Archives and repositories for each version; patches and assets are none."""
    text = (
        'sources:\n  "1.0":\n    url: https://github.com/acme/a/archive/v1.0.tar.gz\n'
        '    sha256: 00\n  "2.0":\n    url:\n'
        f'      - https://mirror.org/a.tgz\n      - https://github.com/acme/a/archive/{A}.tar.gz\n  "3.0":\n'
        f"    url: https://github.com/acme/a.git\n    commit: {B}\n"
        f'  "4.0": {{url: "https://github.com/acme/a/releases/download/4/a.tgz"}}\n'
        'patches:\n  "1.0":\n    - patch_source: https://github.com/acme/a/archive/v0.1.tar.gz\n'
    )
    expected = ["conandata.yml:3 acme/a@v1.0", f"conandata.yml:8 acme/a@{A}", f"conandata.yml:11 acme/a@{B}"]
    assert expected == seen(conan, "conandata.yml", text)


def test_what_a_recipe_clones():
    """With the checkout behind it, and as the old attribute."""
    text = (
        'class A(ConanFile):\n    requires = "fmt/10.1.0"\n'
        f'    scm = {{"type": "git", "url": "https://github.com/acme/s.git", "revision": "{A}"}}\n'
        "    def source(self):\n        git = Git(self)\n"
        '        git.clone(url="https://github.com/acme/a.git", target=".")\n'
        '        git.checkout("v1.0")\n        get(self, "https://github.com/acme/b/archive/v2.0.tar.gz")\n'
    )
    expected = [f"conanfile.py:3 acme/s@{A}", "conanfile.py:7 acme/a@v1.0", "conanfile.py:8 acme/b@v2.0"]
    assert expected == seen(conan, "conanfile.py", text)


def test_broken_files():
    """One warning with its line."""
    assert [2] == broken(conan, "conanfile.py", "git = 1\nx = (\n")
    assert 1 == len(broken(conan, "conandata.yml", "sources: [\n"))


@given(text=garbled)
@settings(max_examples=50, deadline=None)
def test_nothing_makes_it_raise(text):
    """Whatever the text is, reading it gives pins or a warning."""
    list(conan.parse("conandata.yml", "sources:\n  a: " + text, Checkout()))
    list(conan.parse("conanfile.py", "git\n" + text, Checkout()))
