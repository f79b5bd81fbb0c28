"""Cargo's files."""

import pytest

from tests.pins.seeing import broken, pins, seen
from watcher.pins import cargo

SHA = "f05a8754daf68238d54e4cf31cb3ba866684bbaf"


@pytest.mark.parametrize("path", ["Cargo.toml", "a/Cargo.lock", ".cargo/config.toml"])
def test_claims(path):
    """Cargo's files have their names."""
    assert cargo.claims(path)


def test_claims_not():
    """A configuration of something else is none."""
    assert not cargo.claims("config.toml")


def test_manifest():
    """Dependencies, patches and workspaces name a repository by `git`; words in a list do not."""
    text = f"""\
[package]
repository = "https://github.com/x/self"
[dependencies]
a = {{ git = "https://github.com/x/a", rev = "{SHA}" }}
vergen = {{ version = "8", features = ["git", "cargo"] }}
[target.'cfg(feature = "cuda")'.dependencies]
b = {{ git = "https://github.com/x/b.git" }}
[patch."https://github.com/x/c"]
c = {{ git = "https://github.com/y/c", branch = "fix" }}
[workspace.dependencies.d]
git = "ssh://git@github.com/x/d.git"
tag = "v1"
"""
    assert [
        f"Cargo.toml:4 x/a@{SHA}",
        "Cargo.toml:7 x/b@default-branch cuda",
        "Cargo.toml:9 y/c@fix",
        "Cargo.toml:12 x/d@v1",
    ] == seen(cargo, "Cargo.toml", text)


def test_lock():
    """The commit behind the mark is the pin; the registry's index is a registry."""
    text = f"""\
[[package]]
name = "a"
source = "git+https://github.com/x/a.git?tag=v1.0#{SHA}"
[[package]]
name = "b"
source = "registry+https://github.com/rust-lang/crates.io-index"
"""
    (pin,) = pins(cargo, "Cargo.lock", text)
    assert (3, "a", SHA, "v1.0") == (pin.line, pin.name, pin.ref, pin.requested)


def test_a_broken_one():
    """The mistake has its line, the rest is read."""
    text = '[dependencies]\na = { git = "https://github.com/x/a"\nb = { git = "https://github.com/x/b" }\n'
    assert [3] == broken(cargo, "Cargo.toml", text)
    assert ["Cargo.toml:3 x/b@default-branch"] == seen(cargo, "Cargo.toml", text)
