"""Projects described in TOML."""

import pytest

from tests.pins.seeing import broken, pins, seen
from watcher.pins import pyproject

SHA = "f05a8754daf68238d54e4cf31cb3ba866684bbaf"


@pytest.mark.parametrize(
    "path", ["pyproject.toml", "a/pyproject.toml", "pyproject_rocm.toml", "uv.toml", "pixi.toml", "Pipfile"]
)
def test_claims(path):
    """Descriptions have their names."""
    assert pyproject.claims(path)


@pytest.mark.parametrize("path", ["Cargo.toml", "pyproject.py", "myproject.toml"])
def test_claims_not(path):
    """Other TOML is none."""
    assert not pyproject.claims(path)


def test_direct_references():
    """Every list of requirements counts: of the project, its extras, its groups, its build and its tools."""
    text = f"""\
[build-system]
requires = ["hatchling", "b @ git+https://github.com/x/b@v1.0"]
[project]
dependencies = ["c @ https://github.com/x/c/archive/{SHA}.zip ; python_version > '3'"]
[project.optional-dependencies]
rocm = [
  "d[e] @ git+ssh://git@github.com/x/d.git@main",
]
[dependency-groups]
dev = ["e @ git+https://github.com/x/e"]
[tool.uv]
override-dependencies = ["f @ git+https://github.com/x/f@v2"]
[tool.hatch.envs.cpu]
dependencies = ["g @ git+https://github.com/x/g@v3"]
[tool.pdm.dev-dependencies]
test = ["-e git+https://github.com/x/h.git@v4#egg=h"]
"""
    assert [
        "pyproject.toml:2 x/b@v1.0",
        f"pyproject.toml:4 x/c@{SHA}",
        "pyproject.toml:7 x/d@main rocm",
        "pyproject.toml:10 x/e@default-branch",
        "pyproject.toml:12 x/f@v2",
        "pyproject.toml:14 x/g@v3 cpu",
        "pyproject.toml:16 x/h@v4",
    ] == seen(pyproject, "pyproject.toml", text)


def test_tables():
    """A git source is a table, inline or not, alone or in a list; an extra tells the platform, a name does not."""
    text = f"""\
[tool.uv.sources]
cuda-tools = {{ git = "https://github.com/x/a", rev = "{SHA}" }}
b = [
  {{ git = "https://github.com/x/b", branch = "main", extra = "rocm" }},
  {{ index = "pypi" }},
]
c = {{ path = "../c" }}
[tool.poetry.dependencies.d]
git = "git@github.com:x/d.git"
tag = "stable"
[tool.poetry.group.npu.dependencies]
e = {{ url = "https://github.com/x/e/archive/refs/tags/v1.0.tar.gz" }}
[tool.pixi.pypi-dependencies]
f = {{ git = "https://github.com/x/f.git" }}
"""
    found = pins(pyproject, "pyproject.toml", text)
    assert [
        (2, "a", SHA, "any"),
        (4, "b", "main", "rocm"),
        (10, "d", "stable", "any"),
        (12, "e", "v1.0", "npu"),
        (14, "f", None, "any"),
    ] == [(pin.line, pin.name, pin.ref, pin.variant) for pin in found]
    assert ["sha", "branch", "tag", "tag", "default-branch"] == [pin.ref_kind for pin in found]


def test_a_table_of_the_project_itself():
    """A tool's own address with a commit beside it is what that tool builds; a page with a version is not."""
    text = f"""\
[project.urls]
source = "https://github.com/x/self"
[tool.kernels]
url = "https://github.com/x/kernels.git"
ref = "{SHA}" # found by its own reader
[tool.release]
repository = "https://github.com/x/self"
branch = "main"
"""
    assert [f"pyproject.toml:5 x/kernels@{SHA}"] == seen(pyproject, "pyproject.toml", text)


def test_commands():
    """Hooks and tasks are shell; a later command works on what an earlier one cloned."""
    text = """\
[tool.cibuildwheel]
before-all = "git clone https://github.com/x/a && cd a && git checkout v1.0"
[tool.poe.tasks]
get = ["git clone https://github.com/x/b /b", "git -C /b checkout v2.0"]
"""
    assert ["pyproject.toml:2 x/a@v1.0", "pyproject.toml:4 x/b@v2.0"] == seen(pyproject, "pyproject.toml", text)


def test_what_is_no_pin():
    """Release assets, indexes, pages and text are none."""
    text = """\
[project]
description = "install with git+https://github.com/x/a@v1"
dependencies = ["a @ https://github.com/x/a/releases/download/v1/a-1-py3-none-any.whl", "b==1.0"]
[[tool.uv.index]]
url = "https://github.com/x/index"
# c @ git+https://github.com/x/c@v1
"""
    assert [] == seen(pyproject, "pyproject.toml", text)


def test_a_broken_one():
    """The mistake has its line, the rest is read."""
    text = (
        "[project]\n"
        'dependencies = ["a @ git+https://github.com/x/a@v1"\n'
        "[tool.uv.sources]\n"
        'b = { git = "https://github.com/x/b" }\n'
    )
    assert [3] == broken(pyproject, "pyproject.toml", text)
    assert ["pyproject.toml:4 x/b@default-branch"] == seen(pyproject, "pyproject.toml", text)
