"""Makefiles: variables, conditionals, recipes, and what a make passes to another one."""

from hypothesis import given, settings

from tests.pins.seeing import broken, garbled, seen
from watcher.pins import makefile
from watcher.pins.checkout import Checkout

CORE = (
    "CORE_REPO?=https://github.com/acme/core\nCORE_VERSION?=v1.0\n"
    "core:\n\tgit clone $(CORE_REPO) core && cd core && git checkout $(CORE_VERSION)\n"
)


def test_names_that_are_makefiles():
    """Makefiles are known by name: with a suffix behind a dash or a dot too; what automake reads is none."""
    names = ["Makefile", "a/GNUmakefile", "Makefile-awq", "Makefile.rocm", "x/rules.mk"]
    assert [True] * 5 == [makefile.claims(name) for name in names]
    assert [False] * 3 == [makefile.claims(name) for name in ["Makefile.am", "makefile.py", "make.md"]]


def test_a_variable_is_the_pin_of_the_recipe_that_uses_it():
    """The ref is reported where the variable is set, whatever flavour it has."""
    for how in ("=", ":=", "?=", "::="):
        text = f"REV {how} v1.2  # remark\nx:\n\t@git clone -b $(REV) https://github.com/acme/lib\n"
        assert ["Makefile:1 acme/lib@v1.2"] == seen(makefile, "Makefile", text)


def test_single_quotes_do_not_keep_make_out():
    """Make puts its variables in before a shell sees the quotes; `$$` is the shell's own dollar."""
    text = "REV := v1.2\nx:\n\tR='$(REV)'; git clone -b $$R https://github.com/acme/lib\n"
    assert ["Makefile:1 acme/lib@v1.2"] == seen(makefile, "Makefile", text)


def test_each_line_of_a_recipe_is_a_shell_of_its_own():
    """A `cd` ends with its line, the clone stays."""
    text = "x:\n\tgit clone https://github.com/acme/lib\n\tcd lib\n\tcd lib && git checkout v2.0\n"
    assert ["Makefile:4 acme/lib@v2.0"] == seen(makefile, "Makefile", text)


def test_prerequisites_come_first():
    """What a prerequisite cloned is there, wherever in the file it stands."""
    text = "use: get\n\tcd lib && git checkout v2.0\nget:\n\tgit clone https://github.com/acme/lib\n"
    assert ["Makefile:2 acme/lib@v2.0"] == seen(makefile, "Makefile", text)


def test_two_targets_that_clone_into_one_folder_stay_apart():
    """A ref is that of the clone of its own target."""
    text = (
        "a:\n\tif [ ! -d v ]; then git clone https://github.com/acme/one v; fi\n\tcd v && git checkout v1.0\n"
        "b:\n\tif [ ! -d v ]; then git clone https://github.com/acme/two v; fi\n\tcd v && git checkout v2.0\n"
    )
    assert ["Makefile:3 acme/one@v1.0", "Makefile:6 acme/two@v2.0"] == seen(makefile, "Makefile", text)


def test_arms_of_a_conditional_are_all_read():
    """Each arm has its value, and its condition tells the variant."""
    text = (
        "ifeq ($(GPU),rocm)\nREV = v1.0\nelse\nREV = v2.0\nendif\n"
        "x:\n\tgit clone https://github.com/acme/lib && cd lib && git checkout $(REV)\n"
    )
    assert ["Makefile:2 acme/lib@v1.0 rocm", "Makefile:4 acme/lib@v2.0"] == seen(makefile, "Makefile", text)


def test_a_canned_recipe_is_read_with_its_arguments():
    """`$(call name,a,b)` puts the arguments in."""
    text = "define get\ngit clone -b $(2) https://github.com/acme/$(1)\nendef\nx:\n\t$(call get,lib,v1.3)\n"
    assert ["Makefile:5 acme/lib@v1.3"] == seen(makefile, "Makefile", text)


def test_a_variable_of_an_included_file_is_found():
    """The pin stands in the included file."""
    files = {"versions.mk": "REV := v3.1\n"}
    text = "include versions.mk\nx:\n\tgit clone -b $(REV) https://github.com/acme/lib\n"
    assert ["versions.mk:1 acme/lib@v3.1"] == seen(makefile, "Makefile", text, files=files)


def test_values_for_another_makefile_are_pins_of_their_own():
    """What `$(MAKE) X=y` passes on replaces the default of the Makefile that uses it."""
    text = "MINE?=v9.0\nx:\n\t$(MAKE) -C core CORE_VERSION=$(MINE) core\n"
    assert ["Makefile:1 acme/core@v9.0 over core/Makefile:2"] == seen(
        makefile, "Makefile", text, files={"core/Makefile": CORE}
    )
    copied = (
        "FORK?=https://github.com/acme/fork\nMINE?=v9.0\nx:\n"
        "\tCORE_REPO=$(FORK) CORE_VERSION=$(MINE) \\\n\t$(MAKE) -C ../copy core\n"
    )
    assert ["a/Makefile:2 acme/fork@v9.0"] == seen(makefile, "a/Makefile", copied, files={"core/Makefile": CORE})


def test_a_package_version_is_no_pin():
    """A variable that only pip sees names a release of an index."""
    assert [] == seen(makefile, "Makefile", "V := v2.6.1\nx:\n\tpip install lib==$(V) # https://github.com/acme/lib\n")


def test_a_broken_line_is_told_once_and_the_rest_is_read():
    """One warning with its line; recipes below are still read."""
    text = "this is no rule\nnor this\nx:\n\tgit clone -b v1.0 https://github.com/acme/lib\n"
    assert [1] == broken(makefile, "Makefile", text)
    assert ["Makefile:4 acme/lib@v1.0"] == seen(makefile, "Makefile", text)


@given(text=garbled)
@settings(max_examples=60, deadline=None)
def test_nothing_makes_it_raise(text):
    """Whatever the text is, reading it gives pins or a warning."""
    list(makefile.parse("Makefile", text, Checkout(texts={"Makefile": text, "Dockerfile": "FROM a\nARG X=v1\n"})))
