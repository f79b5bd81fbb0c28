"""Recipes of Spack."""

from hypothesis import given, settings

from tests.pins.seeing import broken, garbled, pins, seen
from watcher.pins import spack
from watcher.pins.checkout import Checkout

A, B = "1" * 39 + "a", "2" * 39 + "b"
HEAD = 'from spack.package import *\nclass X(Package):\n    git = "https://github.com/acme/x.git"\n'


def test_versions_of_git():
    """Commits, tags, branches; a version with a checksum is a release; a resource has its own address."""
    text = HEAD + (
        f'    version("1.2", tag="v1.2", commit="{A}")\n'
        '    version("main", branch="main")\n    version("1.1", tag="v1.1")\n'
        f'    version("1.0", sha256="{"0" * 64}")\n'
        f'    version("fork", git="https://github.com/other/x", commit="{B}")\n'
        '    resource(name="r", git="https://github.com/acme/r.git", tag="v3.0", destination=".")\n'
    )
    expected = [f"4 acme/x@{A}", "5 acme/x@main", "6 acme/x@v1.1", f"8 other/x@{B}", "9 acme/r@v3.0"]
    assert expected == [
        one.removeprefix("packages/x/package.py:") for one in seen(spack, "packages/x/package.py", text)
    ]
    assert "v1.2" == pins(spack, "packages/x/package.py", text)[0].requested


def test_another_package_py_is_not_read():
    """The name alone makes no recipe."""
    assert [] == seen(spack, "src/package.py", 'git = "https://github.com/acme/x"\nversion("1", tag="v1")\n')


def test_a_broken_line():
    """One warning with its line."""
    assert [4] == broken(spack, "package.py", HEAD + '    version("1", tag=)\n')


@given(text=garbled)
@settings(max_examples=50, deadline=None)
def test_nothing_makes_it_raise(text):
    """Whatever the text is, reading it gives pins or a warning."""
    list(spack.parse("package.py", HEAD + 'version("1", tag="v1")\n' + text, Checkout()))
