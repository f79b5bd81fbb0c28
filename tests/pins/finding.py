"""A short way to ask what is pinned in a few texts."""

from watcher.pins import Checkout, discover

SHA = "f05a8754daf68238d54e4cf31cb3ba866684bbaf"
OTHER = "b5588e83de86412a48689a6583a4b567e75f7acc"


def found(files, **more):
    """Return `file:line name ref` of each pin, sorted as discovery sorts them."""
    pins = discover(Checkout(texts=files, **more)).pins
    return [f"{pin.place} {pin.name} {pin.ref or pin.ref_kind.value}" for pin in pins]


def in_script(*lines):
    """Return `line name ref` of each pin of one shell script."""
    return [entry.removeprefix("a.sh:") for entry in found({"a.sh": "\n".join(lines) + "\n"})]


def in_dockerfile(*lines):
    """Return `line name ref` of each pin of one Dockerfile."""
    return [entry.removeprefix("Dockerfile:") for entry in found({"Dockerfile": "\n".join(lines) + "\n"})]


def pin_of(files, **more):
    """Return the only pin in some texts."""
    (pin,) = discover(Checkout(texts=files, **more)).pins
    return pin
