"""One pin for each upstream at each ref of a file."""

from tests.pins.finding import SHA, pin_of
from watcher.pins import Checkout, discover


def test_the_same_ref_twice_is_one_pin():
    """The first line is the place, the rest must be edited with it."""
    line = f"pip install git+https://github.com/x/a@{SHA}\n"
    pin = pin_of({"a.sh": line + "true\n" + line})
    assert (1, (3,)) == (pin.line, pin.also)


def test_files_are_apart():
    """The same ref in two files is two pins, sorted by file."""
    line = f"pip install git+https://github.com/x/a@{SHA}\n"
    pins = discover(Checkout(texts={"b.sh": line, "a.sh": line})).pins
    assert ["a.sh:1", "b.sh:1"] == [pin.place for pin in pins]


def test_the_configuration_names_the_variant():
    """What it says of a file holds for all of its pins."""
    texts = {"docker/Dockerfile": "FROM x\nRUN git clone https://github.com/x/a\n"}
    (pin,) = discover(Checkout(texts=texts), variant=lambda _: "rocm").pins
    assert "rocm" == pin.variant


def test_a_repeated_commit_elsewhere_in_a_command():
    """A folder named for the commit must be edited too."""
    pin = pin_of({"a.sh": f"curl -LO https://github.com/x/a/archive/{SHA}.tar.gz\nmv a-{SHA} a\n"})
    assert (1, (2,)) == (pin.line, pin.also)
