"""Requirements files."""

import pytest

from tests.pins.finding import SHA, found, pin_of
from watcher.pins import Checkout, discover, requirements


@pytest.mark.parametrize(
    "path",
    ["requirements.txt", "requirements-rocm.txt", "requirements/cuda.txt", "constraints.txt", "a/requirements.in"],
)
def test_claims(path):
    """Lists for pip have their names or their folder."""
    assert requirements.claims(path)


@pytest.mark.parametrize("path", ["notes.txt", "requirements.md", "docs/x.txt"])
def test_claims_not(path):
    """Other text is none."""
    assert not requirements.claims(path)


def test_continued_lines():
    """The ref is on its own line of a continued requirement; an environment variable is not told."""
    text = (
        f"a @ \\\n  git+https://github.com/x/a@{SHA} \\\n  --hash=sha256:0\nb @ git+https://github.com/x/b@${{REF}}\n"
    )
    assert [f"requirements.txt:2 a {SHA}", "requirements.txt:4 b unresolved"] == found({"requirements.txt": text})


def test_what_is_no_requirement():
    """Options that name a page, comments and links behind a hash mark are no pins."""
    text = "--find-links https://github.com/x/a/archive/v1.zip\n# git+https://github.com/x/a\nb==1 # git+https://github.com/x/b\n"
    assert [] == found({"requirements.txt": text})


def test_a_token_in_the_address():
    """A token that comes from the environment is no part of the upstream."""
    text = "a @ git+https://${TOKEN}@github.com/x/a@v1.0.0\n"
    assert "https://github.com/x/a" == pin_of({"requirements.txt": text}).upstream


def test_a_broken_list():
    """A line that pip would refuse is one warning; the others are read."""
    text = "a @@ https://x.example/a\nb @ git+https://github.com/x/b@v1.0.0\n"
    result = discover(Checkout(texts={"requirements.txt": text}))
    assert ["requirements.txt:1"] == [f"{warning.file}:{warning.line}" for warning in result.warnings]
    assert ["v1.0.0"] == [pin.ref for pin in result.pins]
