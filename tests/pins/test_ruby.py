"""Gems and pods."""

import pytest

from tests.pins.seeing import broken, pins, seen
from watcher.pins import ruby

SHA = "f05a8754daf68238d54e4cf31cb3ba866684bbaf"


@pytest.mark.parametrize(
    "path", ["Gemfile", "Gemfile.lock", "a/gems.rb", "Podfile", "ios/Podfile.lock", "rails7.gemfile"]
)
def test_claims(path):
    """Lists and their locks have their names."""
    assert ruby.claims(path)


def test_gemfile():
    """Each way to name a repository and a ref, with names set above, blocks, and lines that go on."""
    text = f"""\
COMMIT = "{SHA}"
git_source(:corp) {{ |name| "https://git.example.org/#{{name}}.git" }}
gem "rails", "~> 7"
gem "a", git: "https://github.com/x/a.git", ref: COMMIT
gem 'b', :git => 'git@github.com:x/b.git', :branch => 'main' # :tag => 'v1'
# gem "c", github: "x/c"
gem "d", github: "x/d", # why
         tag: "v1.0"
gem "e", corp: "t/e"
git "https://github.com/x/f.git", tag: "v2.0" do
  gem "f1"
end
gem("g", github: "g", branch: "next")
gem "h", path: "../h"
gem "i", git: "https://github.com/x/i", tag: "v#{{VERSION}}"
"""
    assert [
        f"Gemfile:1 x/a@{SHA}",
        "Gemfile:5 x/b@main",
        "Gemfile:8 x/d@v1.0",
        "Gemfile:9 t/e@default-branch",
        "Gemfile:10 x/f@v2.0",
        "Gemfile:13 g/g@next",
        "Gemfile:15 x/i@unresolved",
    ] == seen(ruby, "Gemfile", text)


def test_gemfile_lock():
    """The revision is the pin, the branch is what was asked for."""
    text = (
        "GIT\n"
        "  remote: https://github.com/x/a.git\n"
        f"  revision: {SHA}\n"
        "  branch: main\n"
        "  specs:\n"
        "    a (1)\n"
        "\n"
        "GEM\n"
        "  remote: https://rubygems.org/\n"
    )
    (pin,) = pins(ruby, "Gemfile.lock", text)
    assert (3, "a", SHA, "main") == (pin.line, pin.name, pin.ref, pin.requested)


def test_pods():
    """A lock's checkouts count, not what it repeats of the Podfile, and no checksum."""
    text = (
        "EXTERNAL SOURCES:\n"
        "  A:\n"
        "    :branch: main\n"
        "    :git: https://github.com/x/A.git\n"
        "\n"
        "CHECKOUT OPTIONS:\n"
        "  A:\n"
        f"    :commit: {SHA}\n"
        "    :git: https://github.com/x/A.git\n"
        "\n"
        "SPEC CHECKSUMS:\n"
        f"  A: {SHA}\n"
    )
    assert [f"Podfile.lock:8 x/A@{SHA}"] == seen(ruby, "Podfile.lock", text)
    assert ["Podfile:1 x/A@v1"] == seen(
        ruby, "Podfile", "pod 'A', :git => 'https://github.com/x/A.git', :tag => 'v1'\n"
    )


def test_a_broken_one():
    """A gem without a name is told with its line, the rest is read."""
    text = 'gem\ngem "a", github: "x/a", ref: "abc1234"\n'
    assert [1] == broken(ruby, "Gemfile", text + "# git")
    assert ["Gemfile:2 x/a@abc1234"] == seen(ruby, "Gemfile", text)
