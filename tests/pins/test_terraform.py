"""Modules of Terraform and Terragrunt."""

from hypothesis import given, settings

from tests.pins.seeing import broken, garbled, seen
from watcher.pins import terraform
from watcher.pins.checkout import Checkout


def test_sources_in_a_repository():
    """All spellings of a git source; one of a registry has a version."""
    text = (
        'locals { v = "v1.0" }\nmodule "a" { source = "git::https://github.com/acme/a.git//sub?ref=v2.0" }\n'
        'module "b" { source = "github.com/acme/b?ref=${local.v}" }\nmodule "c" {\n  source = "x/vpc/aws"\n'
        '  version = "5.1.0"\n}\n'
        'module "d" { source = "git@github.com:acme/d.git?depth=1&ref=abcdef1" }\n'
        'module "e" { source = "git::ssh://git@h.org/acme/e" }\n'
    )
    expected = [
        "main.tf:1 acme/b@v1.0",
        "main.tf:2 acme/a@v2.0",
        "main.tf:8 acme/d@abcdef1",
        "main.tf:9 acme/e@default-branch",
    ]
    assert expected == seen(terraform, "main.tf", text)


def test_terragrunt():
    """A unit names its module likewise."""
    text = 'terraform {\n  source = "git::git@github.com:acme/a.git//x?ref=v1.0"\n}\n'
    assert ["terragrunt.hcl:2 acme/a@v1.0"] == seen(terraform, "terragrunt.hcl", text)


def test_a_broken_block_is_told():
    """One warning; the other blocks are read."""
    text = 'module "x" {\n  source = =\n}\nmodule "a" { source = "github.com/acme/a?ref=v1.0" }\n'
    assert 1 == len(broken(terraform, "main.tf", text))
    assert ["main.tf:4 acme/a@v1.0"] == seen(terraform, "main.tf", text)


@given(text=garbled)
@settings(max_examples=60, deadline=None)
def test_nothing_makes_it_raise(text):
    """Whatever the text is, reading it gives pins or a warning."""
    list(terraform.parse("main.tf", text, Checkout(texts={"main.tf": text, "Dockerfile": "FROM a\nARG X=v1\n"})))
