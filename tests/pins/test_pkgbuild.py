"""Build scripts of pacman."""

from hypothesis import given, settings

from tests.pins.seeing import garbled, seen
from watcher.pins import pkgbuild
from watcher.pins.checkout import Checkout

A = "1" * 39 + "a"


def test_sources():
    """Fragments, names in front, variables, archives, arrays for one architecture; assets and patches are none."""
    text = (
        f'pkgver=1.2.3\n_commit={A}\nurl="https://github.com/acme/a"\n'
        'source=("git+https://github.com/acme/a.git#commit=$_commit"\n'
        '  "b::git+https://github.com/acme/b#tag=v$pkgver?signed"\n  "c-$pkgver.tar.gz::$url/archive/v$pkgver.tar.gz"\n'
        "  git+https://git.example.org/q.git\n  fix.patch)\n"
        'source_x86_64=("https://github.com/acme/d/releases/download/v1/d.tar.gz" '
        '"git://git.example.org/e#branch=dev")\n'
    )
    expected = [
        "PKGBUILD:1 acme/a@1.2.3",
        "PKGBUILD:1 acme/b@1.2.3",
        f"PKGBUILD:2 acme/a@{A}",
        "PKGBUILD:7 git.example.org/q@default-branch",
        "PKGBUILD:9 git.example.org/e@dev",
    ]
    assert expected == seen(pkgbuild, "PKGBUILD", text)


def test_a_plain_variable_as_in_alpine():
    """Words of one string."""
    text = (
        'pkgver=2.0\nsource="$pkgname-$pkgver.tar.gz::https://github.com/acme/a/archive/v$pkgver.tar.gz\n\tx.patch"\n'
    )
    assert ["APKBUILD:1 acme/a@2.0"] == seen(pkgbuild, "APKBUILD", text)


def test_what_is_not_closed_leaves_the_rest():
    """A script with an open quote behind its sources."""
    assert ["PKGBUILD:1 h.org/a@v1"] == seen(pkgbuild, "PKGBUILD", 'source=("git+https://h.org/a#tag=v1")\nx="\n')


@given(text=garbled)
@settings(max_examples=50, deadline=None)
def test_nothing_makes_it_raise(text):
    """Whatever the text is, reading it gives pins or a warning."""
    list(pkgbuild.parse("PKGBUILD", "source=(" + text, Checkout()))
