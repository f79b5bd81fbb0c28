"""Compose: contexts, arguments, commands."""

from hypothesis import given, settings

from tests.pins.seeing import broken, garbled, seen
from watcher.pins import compose
from watcher.pins.checkout import Checkout

DOCKERFILE = "FROM a\nARG REV=main\nRUN git clone https://github.com/acme/core && cd core && git checkout $REV\n"


def test_a_git_context():
    """A context may be a repository at a ref; an image tag is none."""
    text = "services:\n  a:\n    build: https://github.com/acme/api.git#v1.8:docker\n  b: {image: 'acme/b:1.2'}\n"
    assert ["compose.yaml:3 acme/api@v1.8"] == seen(compose, "compose.yaml", text)


def test_arguments_as_mapping_list_and_from_the_env_file():
    """Each overrides the Dockerfile's default; a default in `${X:-v}` counts, and so does `.env`."""
    files = {"Dockerfile": DOCKERFILE, ".env": "REV=v3.0\n"}
    for args, place in (
        ("\n        REV: v1.0", "compose.yaml:6 acme/core@v1.0"),
        ("\n        - REV=v1.0", "compose.yaml:6 acme/core@v1.0"),
        ("\n        - REV=${TAG:-v2.0}", "compose.yaml:6 acme/core@v2.0"),
        ("\n        - REV", ".env:1 acme/core@v3.0"),
    ):
        text = f"services:\n  a:\n    build:\n      context: .\n      args:{args}\n"
        assert [f"{place} over Dockerfile:2"] == seen(compose, "compose.yaml", text, files=files)


def test_an_empty_argument_changes_nothing():
    """The Dockerfile's default stays in force."""
    text = "services:\n  a:\n    build:\n      context: .\n      args: {REV: ''}\n"
    assert [] == seen(compose, "compose.yaml", text, files={"Dockerfile": DOCKERFILE})


def test_a_command_that_clones():
    """A service may fetch when it starts."""
    text = "services:\n  a:\n    command: [bash, -c, 'git clone -b v1.0 https://github.com/acme/lib']\n"
    assert ["compose.yaml:3 acme/lib@v1.0"] == seen(compose, "compose.yaml", text)


def test_a_broken_file_is_told():
    """One warning; what stands before is read."""
    text = "services:\n  a: {build: 'https://github.com/acme/api.git#v1'}\nx: [\n"
    assert 1 == len(broken(compose, "compose.yaml", text))
    assert ["compose.yaml:2 acme/api@v1"] == seen(compose, "compose.yaml", text)


@given(text=garbled)
@settings(max_examples=60, deadline=None)
def test_nothing_makes_it_raise(text):
    """Whatever the text is, reading it gives pins or a warning."""
    list(
        compose.parse("compose.yaml", text, Checkout(texts={"compose.yaml": text, "Dockerfile": "FROM a\nARG X=v1\n"}))
    )
