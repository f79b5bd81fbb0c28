"""pre-commit: repositories of hooks and their revisions."""

from hypothesis import given, settings

from tests.pins.seeing import broken, garbled, pins, seen
from watcher.pins import precommit
from watcher.pins.checkout import Checkout


def test_a_revision_and_where_it_was_frozen_from():
    """A frozen commit remembers its tag; `local` has no upstream."""
    text = f"repos:\n- repo: https://github.com/acme/a\n  rev: {'1' * 40}  # frozen: v1.2\n- repo: local\n  hooks: []\n"
    (pin,) = pins(precommit, ".pre-commit-config.yaml", text)
    assert (3, "1" * 40, "v1.2") == (pin.line, pin.ref, pin.requested)


def test_what_hooks_install_beside_themselves():
    """An address is a pin, a version is none."""
    text = (
        "repos:\n- repo: local\n  hooks:\n  - id: x\n"
        "    additional_dependencies: [click==8, 'x @ git+https://github.com/acme/x@v1.0']\n"
    )
    assert [".pre-commit-config.yaml:5 acme/x@v1.0"] == seen(precommit, ".pre-commit-config.yaml", text)


def test_a_broken_list_is_told():
    """One warning; what stands before is read."""
    text = "repos:\n- repo: https://github.com/acme/a\n  rev: v1.0\n- repo: [\n"
    assert 1 == len(broken(precommit, ".pre-commit-config.yaml", text))
    assert [".pre-commit-config.yaml:3 acme/a@v1.0"] == seen(precommit, ".pre-commit-config.yaml", text)


@given(text=garbled)
@settings(max_examples=60, deadline=None)
def test_nothing_makes_it_raise(text):
    """Whatever the text is, reading it gives pins or a warning."""
    list(
        precommit.parse(
            ".pre-commit-config.yaml",
            text,
            Checkout(texts={".pre-commit-config.yaml": text, "Dockerfile": "FROM a\nARG X=v1\n"}),
        )
    )
