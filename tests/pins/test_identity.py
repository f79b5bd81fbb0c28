"""The stable name of a pin."""

from tests.pins.finding import OTHER, SHA
from watcher.pins import Checkout, discover, identify


def ids(text, path="Dockerfile"):
    """Return the ids of the pins of one file."""
    return [pin.id for pin in identify(discover(Checkout(texts={path: text})).pins, "app")]


def test_it_survives_a_bump_and_moved_lines():
    """Neither the ref nor the line is part of it."""
    before = ids(f"FROM x\nRUN pip install git+https://github.com/x/a@{SHA}\n")
    after = ids(f"FROM x\n\n\nRUN pip install git+https://github.com/x/a@{OTHER}\n")
    assert ["app:Dockerfile:a"] == before == after


def test_variants_of_one_upstream():
    """The variant tells them apart where one file has several."""
    arms = f"if [ $D = rocm ]; then R={SHA}; else R={OTHER}; fi; git clone https://github.com/x/a; git -C a checkout $R"
    text = f"FROM x AS rocm\nRUN pip install git+https://github.com/x/a@{SHA}\nFROM x AS cuda\nRUN pip install git+https://github.com/x/a@{OTHER}\n"
    assert ["app:Dockerfile:a:rocm", "app:Dockerfile:a:cuda"] == ids(text)
    assert ["app:b.sh:a:any", "app:b.sh:a:rocm"] == sorted(ids(arms.replace("; else", "\nelse"), "b.sh"))


def test_two_upstreams_of_one_name():
    """The owner tells them apart, and the host where even that is the same."""
    text = "git clone https://github.com/x/a\ngit clone https://github.com/y/a y\n"
    assert ["app:b.sh:x/a", "app:b.sh:y/a"] == ids(text, "b.sh")
    text = "git clone https://github.com/x/a\ngit clone https://gitlab.com/x/a y\n"
    assert ["app:b.sh:github.com/x/a", "app:b.sh:gitlab.com/x/a"] == ids(text, "b.sh")


def test_equal_ones_are_counted():
    """What is still equal is numbered by line."""
    text = "git clone -b v1.0.0 https://github.com/x/a\ngit clone -b v2.0.0 https://github.com/x/a y\n"
    assert ["app:b.sh:a", "app:b.sh:a#2"] == ids(text, "b.sh")


def test_without_a_downstream():
    """A plain scan names no downstream."""
    (pin,) = identify(discover(Checkout(texts={"b.sh": "git clone https://github.com/x/a\n"})).pins)
    assert "b.sh:a" == pin.id
