"""Expressions and flakes of Nix."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.pins.seeing import broken, garbled, pins, seen
from watcher.pins import nix
from watcher.pins.checkout import Checkout

A, B = "1" * 39 + "a", "2" * 39 + "b"
PIECES = (
    "fetchFromGitHub {", 'owner = "a";', 'repo = "b";', "rev = ", "}", ";", '"', "''", "${", "let ", " in ",
    "inherit (x) rev;", "x.y", " = ", "rec ", "(", ")", "[", "]", "/*", "#", "\n", "inputs.", 'url = "github:a/b";',
    ".", ":", "with x; ", "fetchGit ", "or ", "a", "{ ",
)  # fmt: skip


def in_nix(text, name="x.nix"):
    """Return what is seen in one file, without its name."""
    return [one.removeprefix(f"{name}:") for one in seen(nix, name, text)]


def test_fetchers():
    """Forges, plain git, archives; patches and comments are none."""
    text = (
        '{ fetchFromGitHub, version ? "0" }:\nlet\n  version = "1.4.2";\n'
        'in {\n  a = fetchFromGitHub {\n    owner = "acme";\n    repo = "a";\n'
        '    tag = "v${version}";\n    hash = "sha256-x";\n  };\n'
        f'  b = pkgs.fetchgit {{ url = "https://git.example.org/acme/b.git"; rev = "{A}"; }};\n'
        f'  c = builtins.fetchGit {{ url = "ssh://git@github.com/acme/c.git"; ref = "dev"; rev = "{B}"; }};\n'
        '  d = fetchFromGitLab { domain = "gl.example.org"; group = '
        '"g"; owner = "acme"; repo = "d"; rev = "refs/tags/2.0"; };\n'
        f'  e = builtins.fetchTarball "https://github.com/acme/e/archive/{A}.tar.gz";\n'
        f'  f = fetchpatch {{ url = "https://github.com/acme/f/commit/{A}.patch"; }};\n'
        '  # g = fetchFromGitHub { owner = "acme"; repo = "g"; rev = "v1"; };\n'
        '  h = builtins.fetchGit "https://git.example.org/acme/h";\n}\n'
    )
    expected = [
        "3 acme/a@1.4.2",
        f"11 acme/b@{A}",
        f"12 acme/c@{B}",
        "13 acme/d@2.0",
        f"14 acme/e@{A}",
        "17 acme/h@default-branch",
    ]
    assert expected == in_nix(text)
    assert "dev" == pins(nix, "x.nix", text)[2].branch


def test_a_table_of_versions():
    """Where an argument chooses the set, each of them is a pin."""
    text = (
        'let\n  all = {\n    "1.0" = { rev = "v1.0"; hash = ""; };\n    "2.0" = { rev = "v2.0"; hash = ""; };\n  };\n'
        '  one = all.${v} or (throw "x");\nin fetchFromGitHub {\n'
        '  inherit (one) rev hash;\n  owner = "acme";\n  repo = "a";\n}\n'
    )
    assert ["3 acme/a@v1.0", "4 acme/a@v2.0"] == in_nix(text)
    inside = text.replace("inherit (one) rev hash;", 'rev = "x-${one.rev}";')
    assert ["3 acme/a@v1.0", "4 acme/a@v2.0"] == in_nix(inside)


def test_attributes_of_the_derivation():
    """The version and name around the fetcher, inherited or through the final attributes; an argument is not told."""
    text = (
        '{ rev }:\nstdenv.mkDerivation (finalAttrs: {\n  pname = "a";\n'
        '  version = "1.0";\n  src = fetchFromGitHub {\n    owner = "acme";\n'
        '    repo = finalAttrs.pname;\n    rev = "v" + finalAttrs.version;\n  };\n'
        '  other = fetchFromGitHub { inherit rev; owner = "acme"; repo = "b"; };\n})\n'
    )
    assert ["4 acme/a@1.0", "10 acme/b@unresolved"] == in_nix(text)


def test_inputs_of_a_flake():
    """All spellings of an input; one that follows another is none."""
    text = (
        '{\n  inputs = {\n    a.url = "github:acme/a/v1.0";\n'
        '    b = { url = "git+ssh://git@example.org/acme/b.git?ref=main"; flake = false; };\n'
        f'    c.url = "gitlab:acme%2Fsub/c/{A}";\n    d.follows = "a";\n'
        f'    e = {{ type = "github"; owner = "acme"; repo = "e"; ref = "dev"; }};\n'
        f'    f.url = "https://github.com/acme/f/archive/{B}.tar.gz";\n'
        '    g.url = "path:./sub";\n    h.url = "nixpkgs/nixos-24.05";\n'
        '    i = { url = "github:acme/i"; inputs.x.follows = "a"; };\n'
        '  };\n  inputs.j.url = "github:acme/j?ref=v2.0&dir=x";\n'
        "  outputs = { self, ... }: { };\n}\n"
    )
    expected = [
        "3 acme/a@v1.0",
        "4 acme/b@main",
        f"5 sub/c@{A}",
        "7 acme/e@dev",
        f"8 acme/f@{B}",
        "11 acme/i@default-branch",
        "13 acme/j@v2.0",
    ]
    assert expected == in_nix(text, "flake.nix")


def test_a_bracket_that_nothing_closes():
    """One warning with its line; the rest is read."""
    text = '}\nfetchFromGitHub { owner = "acme"; repo = "a"; rev = "v1.0"; }\n'
    assert [1] == broken(nix, "x.nix", text)
    assert ["2 acme/a@v1.0"] == in_nix(text)


@given(text=garbled | st.lists(st.sampled_from(PIECES), max_size=80).map("".join))
@settings(max_examples=100, deadline=None)
def test_nothing_makes_it_raise(text):
    """Whatever the text is, reading it gives pins or a warning."""
    list(nix.parse("flake.nix", text + " fetchgit", Checkout()))
