"""Recipes of BitBake."""

from hypothesis import given, settings

from tests.pins.seeing import broken, garbled, pins, seen
from watcher.pins import yocto
from watcher.pins.checkout import Checkout

A, B = "1" * 39 + "a", "2" * 39 + "b"


def test_the_commit_counts_before_the_tag_that_it_is_said_to_be():
    """The tag is what was asked for; without a commit it is the pin, from the version in the file's name."""
    text = f'SRC_URI = "git://github.com/acme/a.git;protocol=https;branch=main;tag=v${{PV}}"\nSRCREV = "{A}"\n'
    (pin,) = pins(yocto, "recipes-x/a/a_1.2.bb", text)
    assert (2, A, "v1.2", "main") == (pin.line, pin.ref, pin.requested, pin.branch)
    alone = 'SRC_URI = "git://github.com/acme/a.git;branch=main;tag=v1.0"\n'
    assert ["recipes-x/a/a_1.2.bb:1 acme/a@v1.0"] == seen(yocto, "recipes-x/a/a_1.2.bb", alone)


def test_old_and_new_spellings_of_overrides():
    """Appended sources, a revision for one machine, weak defaults, archives."""
    text = (
        'SRC_URI = "https://github.com/acme/t/archive/v1.0.tar.gz \\\n  file://x.patch"\n'
        'SRC_URI:append:rocm = " git://github.com/acme/r;protocol=https;name=r"\n'
        f'SRCREV_r ?= "{A}"\nSRCREV_r ??= "{B}"\nSRCREV_FORMAT = "r"\nSRCREV_SHORT = "${{@x}}"\n'
        f'do_fetch() {{\n  SRCREV_r = "{B}"\n}}\npython () {{\n    SRC_URI = "git://github.com/acme/no"\n}}\n'
    )
    assert ["x_1.bb:1 acme/t@v1.0", f"x_1.bb:4 acme/r@{A} rocm"] == seen(yocto, "x_1.bb", text)


def test_includes_and_appends():
    """The revision in an include, the address in the recipe; an append changes the revision of its recipe."""
    recipe = 'require x.inc\nSRC_URI = "git://${HOST}/acme/x;protocol=https;branch=main"\n'
    files = {"recipes-x/x/x.inc": f'HOST = "g.example.org"\nSRCREV = "{A}"\n'}
    assert [f"recipes-x/x/x.inc:2 acme/x@{A}"] == seen(yocto, "recipes-x/x/x_1.bb", recipe, files=files)
    append = {"recipes-x/x/x_1.bb": f'SRC_URI = "git://g.example.org/acme/x;protocol=https"\nSRCREV = "{A}"\n'}
    assert [f"m/recipes-x/x/x_%.bbappend:1 acme/x@{B}"] == seen(
        yocto, "m/recipes-x/x/x_%.bbappend", f'SRCREV = "{B}"\n', files=append
    )


def test_without_a_revision():
    """A recipe that gets it from elsewhere is unresolved; AUTOREV follows the branch; a local repository is none."""
    text = (
        'SRC_URI = "git://g.example.org/a;protocol=https;name=a git:///home/x;protocol=file"\n'
        'SRC_URI += "git://g.example.org/b;name=b"\nSRCREV_b = "${AUTOREV}"\n'
    )
    assert ["x.bb:1 g.example.org/a@unresolved", "x.bb:2 g.example.org/b@default-branch"] == seen(yocto, "x.bb", text)


def test_a_broken_line():
    """One warning with its line; the rest is read."""
    text = f'what is this\nSRC_URI = "git://g.example.org/a"\nSRCREV = "{A}"\ninherit cmake\nexport X\n'
    assert [1] == broken(yocto, "x.bb", text)
    assert [f"x.bb:3 g.example.org/a@{A}"] == seen(yocto, "x.bb", text)


@given(text=garbled)
@settings(max_examples=50, deadline=None)
def test_nothing_makes_it_raise(text):
    """Whatever the text is, reading it gives pins or a warning."""
    list(yocto.parse("x.bb", 'SRC_URI = "git://a/b ${X}"\nSRCREV = "' + text, Checkout()))
