"""Bazel's files."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.pins.seeing import broken, garbled, pins, seen
from watcher.pins import bazel
from watcher.pins.checkout import Checkout

A, B, C = "1" * 39 + "a", "2" * 39 + "b", "3" * 39 + "c"
PIECES = (
    "http_archive(", 'urls = ["https://github.com/acme/a/archive/', "{c}", '.zip".format(c = X)', "]", ")", "\n",
    "X = ", "def f(a, b = 1):\n", "  return ", "f(", '"', "'", '"""', "%s", " % ", " + ", "[", "{", "}",
    'load("//a:b.bzl", "X")\n', "git_repository(remote = ", ", ", "for x in y:\n  ", "if x:\n  ", "else:\n  ",
    "lambda: ", "**", "dict(", "\\", "commit = X",
)  # fmt: skip


def test_names():
    """The workspace, modules and extensions; no lock files."""
    names = (
        "WORKSPACE",
        "WORKSPACE.bazel",
        "MODULE.bazel",
        "a/b.bzl",
        "rust.MODULE.bazel",
        "MODULE.bazel.lock",
        "BUILD",
    )
    assert [True, True, True, True, True, False, False] == [bazel.claims(name) for name in names]


def test_the_address_through_mirrors_and_the_folder_inside():
    """One pin; all its lines."""
    text = (
        f'http_archive(\n  name = "a",\n  strip_prefix = "a-{A}/sub",\n  urls = [\n'
        f'    "https://mirror.bazel.build/github.com/acme/a/archive/{A}.zip",\n'
        f'    "https://github.com/acme/a/archive/{A}.zip",\n  ],\n)\n'
        'http_archive(name = "b", url = "https://github.com/acme/b/releases/download/v1/b.zip")\n'
    )
    (pin,) = pins(bazel, "WORKSPACE", text)
    assert (3, (5, 6), A) == (pin.line, pin.also, pin.ref)


def test_functions_of_the_project():
    """A macro is followed with its arguments; one that nothing calls is no pin; a name may be set inside it."""
    text = (
        "def _gh(name, commit):\n"
        '    http_archive(name = name, urls = ["https://github.com/acme/{}/archive/{}.zip".format(name, commit)])\n'
        f'def deps():\n    _gh("a", "{A}")\n    COMMIT = "{B}"\n'
        '    http_archive(name = "b", url = "https://github.com/acme/b/archive/%s.zip" '
        '% COMMIT, strip_prefix = "b-" + COMMIT)\n'
        'def unused(commit):\n    git_repository(name = "c", remote = "https://github.com/acme/c", commit = commit)\n'
    )
    assert [f"d.bzl:4 acme/a@{A}", f"d.bzl:5 acme/b@{B}"] == seen(bazel, "d.bzl", text)


def test_constants_of_another_file():
    """A renamed constant, a mirroring function and a relative label."""
    text = (
        'load(":rev.bzl", VERSION = "A_COMMIT")\nload("//tools:repo.bzl", "archive", "mirrors")\n'
        'archive(name = "a", urls = mirrors("https://github.com/acme/a/archive/" + VERSION + ".zip"))\n'
    )
    files = {
        "third_party/rev.bzl": f'A_COMMIT = "{A}"\n',
        "tools/repo.bzl": "def mirrors(url):\n  return [url]\n"
        "def archive(name, urls, **kw):\n  _archive(name = name, urls = urls)\n",
    }
    assert [f"third_party/rev.bzl:1 acme/a@{A}"] == seen(bazel, "third_party/a.bzl", text, files=files)


def test_tables_of_locations():
    """With the version formatted into the address, and with a loop over them."""
    text = (
        'SPEC = dict(\n  a = dict(\n    version = "1.2.3",\n'
        '    urls = ["https://github.com/acme/a/archive/v{version}.zip"],\n  ),\n)\n'
        f'D = {{"b": {{"repo": "https://github.com/acme/b.git", "commit": "{B}"}}}}\n'
        "def deps():\n  for name, v in D.items():\n"
        '    git_repository(name = name, remote = v["repo"], commit = v["commit"])\n'
    )
    assert ["l.bzl:3 acme/a@1.2.3", f"l.bzl:7 acme/b@{B}"] == seen(bazel, "l.bzl", text)


def test_rules_of_other_languages():
    """Go at a commit, crates and files from git; a released Go module or an image is none."""
    text = (
        f'go_repository(name = "a", importpath = "github.com/acme/a/v2", commit = "{A}")\n'
        'go_repository(name = "b", importpath = "github.com/acme/b", sum = "h1:x", version = "v1.2.3")\n'
        f'crate.spec(package = "c", git = "https://github.com/acme/c", rev = "{B}")\n'
        f'http_file(name = "d", urls = ["https://raw.githubusercontent.com/acme/d/{C}/x.txt"])\n'
        'container_pull(name = "e", registry = "gcr.io", repository = "acme/e", tag = "v1.0")\n'
        'bazel_dep(name = "f", version = "1.0")\n'
        'new_git_repository(name = "g", remote = "git@github.com:acme/g.git", tag = "v1.0", build_file_content = "x")\n'
    )
    expected = [
        f"WORKSPACE:1 acme/a@{A}",
        f"WORKSPACE:3 acme/c@{B}",
        f"WORKSPACE:4 acme/d@{C}",
        "WORKSPACE:7 acme/g@v1.0",
    ]
    assert expected == seen(bazel, "WORKSPACE", text)


def test_a_string_over_several_lines():
    """Each part is at its own line."""
    text = (
        f'http_archive(\n  name = "a",\n  url = ("https://github.com/acme/a/archive/" +\n    "{A}" +\n    ".zip"),\n)\n'
    )
    text += f'http_archive(name = "b", url = "https://github.com/acme/b/"\n  "archive/"\n  "{B}.zip")\n'
    assert [f"WORKSPACE:4 acme/a@{A}", f"WORKSPACE:9 acme/b@{B}"] == seen(bazel, "WORKSPACE", text)


def test_a_broken_statement():
    """One warning with its line; the others are read."""
    text = f'a(]\nhttp_archive(\n  url = "https://github.com/acme/a/archive/{A}.zip",\n)\n'
    assert [1] == broken(bazel, "WORKSPACE", text)
    assert [f"WORKSPACE:3 acme/a@{A}"] == seen(bazel, "WORKSPACE", text)


@given(text=garbled | st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
@settings(max_examples=80, deadline=None)
def test_nothing_makes_it_raise(text):
    """Whatever the text is, reading it gives pins or a warning."""
    list(bazel.parse("a.bzl", text + " # github", Checkout(texts={"a.bzl": text, "a/b.bzl": "X = 1"})))
