"""Definition files of Apptainer and Singularity."""

from hypothesis import given, settings

from tests.pins.seeing import garbled, seen
from watcher.pins import apptainer
from watcher.pins.checkout import Checkout

HEAD = "Bootstrap: docker\nFrom: acme/base:1\n\n%environment\n    export REV=v1.5\n\n"


def test_files_that_define_an_image():
    """They are named for the program, or end in `.def`."""
    assert [True] * 3 == [apptainer.claims(p) for p in ["a/Apptainerfile.rocm", "Singularity", "images/x.def"]]
    assert [False] * 2 == [apptainer.claims(p) for p in ["x.definition", "Dockerfile"]]


def test_scripts_of_its_sections():
    """`%post` is a shell script at its own lines; what files and help hold is none."""
    text = (
        HEAD + "%files\n    git clone https://github.com/acme/no\n\n"
        "%post\n    git clone -b v1.0 https://github.com/acme/core\n    pip install git+https://github.com/acme/lib.git\n"
        "%help\n    git clone https://github.com/acme/no\n"
    )
    expected = ["x.def:11 acme/core@v1.0", "x.def:12 acme/lib@default-branch"]
    assert expected == seen(apptainer, "x.def", text)


def test_another_file_of_that_ending():
    """Without the header it is no image."""
    assert [] == seen(apptainer, "x.def", "%post\ngit clone https://github.com/acme/core\n")


@given(text=garbled)
@settings(max_examples=60, deadline=None)
def test_nothing_makes_it_raise(text):
    """Whatever the text is, reading it gives pins or a warning."""
    text = f"{HEAD}%post\n{text}"
    list(apptainer.parse("x.def", text, Checkout(texts={"x.def": text})))
