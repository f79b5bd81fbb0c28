"""Bake files in HCL and JSON."""

from hypothesis import given, settings

from tests.pins.seeing import broken, garbled, seen
from watcher.pins import bake
from watcher.pins.checkout import Checkout

DOCKERFILE = "FROM a\nARG REV=main\nRUN git clone https://github.com/acme/core && cd core && git checkout $REV\n"
FILES = {"Dockerfile": DOCKERFILE}


def test_a_variable_and_an_argument_of_a_target():
    """A variable's default is the pin of the targets that pass it; an own argument replaces what is inherited."""
    text = (
        'variable "V" {\n  default = "v1.0"\n}\ntarget "base" {\n  args = { REV = V }\n}\n'
        'target "rocm" {\n  inherits = ["base"]\n  args = {\n    REV = "v2.0"\n  }\n}\n'
    )
    expected = [
        "docker-bake.hcl:2 acme/core@v1.0 over Dockerfile:2",
        "docker-bake.hcl:10 acme/core@v2.0 rocm over Dockerfile:2",
    ]
    assert expected == seen(bake, "docker-bake.hcl", text, files=FILES)


def test_templates_and_choices():
    """`"${V}"` and `c ? a : b` are followed."""
    text = 'V = "v1.0"\ntarget "a" {\n  args = { REV = W != "" ? "${V}" : "v2.0" }\n}\n'
    expected = [
        "docker-bake.hcl:1 acme/core@v1.0 over Dockerfile:2",
        "docker-bake.hcl:3 acme/core@v2.0 over Dockerfile:2",
    ]
    assert expected == seen(bake, "docker-bake.hcl", text, files=FILES)


def test_a_matrix():
    """Each row of a matrix is a build."""
    text = (
        'target "a" {\n  matrix = {\n    i = [\n      { rev = "v1.0", gpu = "cuda" },\n'
        '      { rev = "v2.0", gpu = "rocm" },\n    ]\n  }\n'
        "  args = { REV = i.rev }\n}\n"
    )
    expected = [
        "docker-bake.hcl:4 acme/core@v1.0 cuda over Dockerfile:2",
        "docker-bake.hcl:5 acme/core@v2.0 rocm over Dockerfile:2",
    ]
    assert expected == seen(bake, "docker-bake.hcl", text, files=FILES)


def test_contexts():
    """A named context may be a repository."""
    text = 'target "a" {\n  contexts = { tools = "https://github.com/acme/tools.git#v2.1" }\n}\n'
    assert ["docker-bake.hcl:2 acme/tools@v2.1"] == seen(bake, "docker-bake.hcl", text)


def test_json():
    """The same in JSON."""
    text = '{"variable": {"V": {\n"default": "v1.0"}},\n"target": {"a": {"args": {"REV": "${V}"}}}}'
    assert ["docker-bake.json:2 acme/core@v1.0 over Dockerfile:2"] == seen(bake, "docker-bake.json", text, files=FILES)


def test_an_empty_default_changes_nothing():
    """The Dockerfile's default stays in force."""
    text = 'variable "REV" {\n  default = ""\n}\ntarget "a" {\n  args = { REV = REV }\n}\n'
    assert [] == seen(bake, "docker-bake.hcl", text, files=FILES)


def test_a_circle_of_variables_is_unknown():
    """Variables that name each other end nowhere."""
    text = 'A = "${B}"\nB = "${A}"\ntarget "a" {\n  args = { REV = A }\n}\n'
    assert [] == seen(bake, "docker-bake.hcl", text, files=FILES)


def test_a_broken_block_is_told_and_the_others_are_read():
    """One warning with its line."""
    text = (
        'variable "X" {\n  default = = 3\n}\ntarget "a" {\n  contexts = { t = "https://github.com/acme/t.git#v1" }\n}\n'
    )
    assert [2] == broken(bake, "docker-bake.hcl", text)
    assert ["docker-bake.hcl:5 acme/t@v1"] == seen(bake, "docker-bake.hcl", text)


@given(text=garbled)
@settings(max_examples=60, deadline=None)
def test_nothing_makes_it_raise(text):
    """Whatever the text is, reading it gives pins or a warning."""
    list(
        bake.parse(
            "docker-bake.hcl", text, Checkout(texts={"docker-bake.hcl": text, "Dockerfile": "FROM a\nARG X=v1\n"})
        )
    )


def test_a_file_of_variables_alone():
    """It changes the targets beside it, and the arguments that bear its names."""
    text = '{"variable": {"V": {\n"default": "v3.0"}, "REV": {\n"default": "v4.0"}}}'
    files = {"docker-bake.hcl": 'variable "V" { default = "v1.0" }\ntarget "a" { args = { REV = V } }\n', **FILES}
    expected = ["versions.json:2 acme/core@v3.0 over Dockerfile:2", "versions.json:3 acme/core@v4.0 over Dockerfile:2"]
    assert expected == seen(bake, "versions.json", text, files=files)
