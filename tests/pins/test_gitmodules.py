"""Submodules."""

from tests.pins.finding import SHA, pin_of
from watcher.model import RefKind, oid
from watcher.pins import Checkout, discover

ONE = '[submodule "third/a"]\n\tpath = third/a\n\turl = {url}\n'


def test_the_commit_is_in_the_tree():
    """The gitlink is the pin, at the line of the address."""
    pin = pin_of({".gitmodules": ONE.format(url="git@github.com:x/a.git")}, gitlinks={"third/a": oid(SHA)})
    assert ("https://github.com/x/a", SHA, 3, "gitlink") == (pin.upstream, pin.ref, pin.line, pin.where)


def test_a_relative_address():
    """It stands beside the downstream's own address, and names nobody where that is not known."""
    texts = {".gitmodules": ONE.format(url="../b.git")}
    assert "https://github.com/me/b" == pin_of(texts, origin="https://github.com/me/app.git").upstream
    pin = pin_of(texts, gitlinks={"third/a": oid(SHA)})
    assert (None, "a", RefKind.SHA) == (pin.upstream, pin.name, pin.ref_kind)


def test_a_broken_file():
    """A line that is no entry is one warning; submodules around it are read."""
    text = "<<<<<<< ours\n" + ONE.format(url='"https://github.com/x/a" ; note') + "=======\n"
    result = discover(Checkout(texts={".gitmodules": text}))
    assert [".gitmodules:1"] == [f"{warning.file}:{warning.line}" for warning in result.warnings]
    assert ["https://github.com/x/a"] == [pin.upstream for pin in result.pins]


def test_only_the_one_at_the_root():
    """No other one is read."""
    assert () == discover(Checkout(texts={"docs/.gitmodules": ONE.format(url="https://github.com/x/a")})).pins
