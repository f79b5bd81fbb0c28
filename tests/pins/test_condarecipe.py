"""Conda recipes."""

from tests.pins.seeing import broken, pins, seen
from watcher.pins import condarecipe

SHA = "f05a8754daf68238d54e4cf31cb3ba866684bbaf"


def test_claims():
    """Recipes have their names."""
    assert condarecipe.claims("recipe/meta.yaml")
    assert condarecipe.claims("recipe.yaml")
    assert not condarecipe.claims("galaxy.yml")


def test_variables():
    """A version set above is where a person would edit the ref."""
    text = (
        '{% set version = "1.2.3" %}\n'
        "source:\n"
        "  git_url: https://github.com/x/a.git\n"
        "  git_rev: v{{ version }}\n"
        "about:\n"
        "  home: https://github.com/x/a\n"
    )
    (pin,) = pins(condarecipe, "meta.yaml", text)
    assert (1, "a", "1.2.3", "v1.2.3") == (pin.line, pin.name, pin.ref, pin.resolved_ref)


def test_sources():
    """Several sources, of both kinds of file; what is not told is unresolved."""
    text = f"""\
context:
  version: "2.0"
source:
  - url: https://github.com/x/a/archive/refs/tags/v${{{{ version }}}}.tar.gz
    sha256: {SHA}
  - git: https://github.com/x/b
    rev: {SHA}  # [cpu]
  - git: https://github.com/x/c
    tag: ${{{{ env.get("TAG") }}}}
"""
    assert ["recipe.yaml:2 x/a@2.0", f"recipe.yaml:7 x/b@{SHA} cpu", "recipe.yaml:9 x/c@unresolved"] == seen(
        condarecipe, "recipe.yaml", text
    )


def test_a_broken_one():
    """A tab is told with its line, the rest is read."""
    text = "source:\n\t- oops\n  git_url: https://github.com/x/a\n  git_tag: v1\n"
    assert [2] == broken(condarecipe, "meta.yaml", text)
    assert ["meta.yaml:4 x/a@v1"] == seen(condarecipe, "meta.yaml", text)
