"""Scripts that build images with arguments."""

from hypothesis import given, settings

from tests.pins.seeing import garbled, seen
from watcher.pins import buildscript
from watcher.pins.checkout import Checkout

DOCKERFILE = "FROM a\nARG REV=main\nRUN git clone https://github.com/acme/core && cd core && git checkout $REV\n"
FILES = {"Dockerfile": DOCKERFILE, "docker/Dockerfile.rocm": DOCKERFILE}


def test_an_argument_overrides_the_default():
    """The value is the pin, wherever it was set, and names the default."""
    text = "R=${R:-v1.0}\nsudo docker buildx build -t a --build-arg REV=$R .\n"
    assert ["build.sh:1 acme/core@v1.0 over Dockerfile:2"] == seen(buildscript, "build.sh", text, files=FILES)


def test_the_named_file_and_the_folder():
    """`-f` and the folder say which Dockerfile; its name tells the variant."""
    text = "docker build --build-arg REV=v1.0 -f docker/Dockerfile.rocm .\n"
    assert ["build.sh:1 acme/core@v1.0 rocm over docker/Dockerfile.rocm:2"] == seen(
        buildscript, "build.sh", text, files=FILES
    )


def test_arms_give_their_own_arguments():
    """Each arm of a branch is a build."""
    text = 'if [ "$GPU" = rocm ]; then\n  R=v1.0\nelse\n  R=v2.0\nfi\npodman build --build-arg "REV=$R" .\n'
    expected = ["build.sh:2 acme/core@v1.0 rocm over Dockerfile:2", "build.sh:4 acme/core@v2.0 over Dockerfile:2"]
    assert expected == seen(buildscript, "build.sh", text, files=FILES)


def test_what_is_no_override():
    """An empty value, an unknown one, an argument that the file does not ask for."""
    text = 'docker build --build-arg REV= --build-arg X=v1.0 .\ndocker build --build-arg REV="$(date)" .\n'
    assert [] == seen(buildscript, "build.sh", text, files=FILES)


@given(text=garbled)
@settings(max_examples=60, deadline=None)
def test_nothing_makes_it_raise(text):
    """Whatever the text is, reading it gives pins or a warning."""
    list(buildscript.parse("build.sh", text, Checkout(texts={"build.sh": text, "Dockerfile": "FROM a\nARG X=v1\n"})))
