"""Lock files of Python tools."""

import pytest

from tests.pins.seeing import broken, pins, seen
from watcher.pins import pythonlocks

SHA = "f05a8754daf68238d54e4cf31cb3ba866684bbaf"
OTHER = "b5588e83de86412a48689a6583a4b567e75f7acc"


@pytest.mark.parametrize(
    "path", ["uv.lock", "a/poetry.lock", "pdm.lock", "pylock.toml", "pylock.dev.toml", "Pipfile.lock", "tool.py.lock"]
)
def test_claims(path):
    """Locks have their names."""
    assert pythonlocks.claims(path)


def test_claims_not():
    """Other tools' locks are none."""
    assert not pythonlocks.claims("Cargo.lock")


def test_uv():
    """The commit behind the mark is the pin; what a package asks for is none."""
    text = f"""\
[manifest]
constraints = [{{ name = "a", git = "https://github.com/x/a?rev=v1" }}]
[[package]]
name = "a"
source = {{ git = "https://github.com/x/a?subdirectory=b&rev=v1#{SHA}" }}
[[package]]
name = "c"
source = {{ registry = "https://pypi.org/simple" }}
[package.metadata]
requires-dist = [{{ name = "a", git = "https://github.com/x/a?rev=v1" }}]
[[package]]
name = "d"
source = {{ url = "https://github.com/x/d/archive/{OTHER}.tar.gz" }}
sdist = {{ hash = "sha256:00" }}
"""
    found = pins(pythonlocks, "uv.lock", text)
    assert [(5, "a", SHA, "v1"), (13, "d", OTHER, None)] == [(p.line, p.name, p.ref, p.requested) for p in found]


def test_poetry_and_pdm_and_pylock():
    """Each tool has its own keys for the commit and for what was asked."""
    poetry = (
        "[[package]]\n"
        "[package.source]\n"
        'type = "git"\n'
        'url = "https://github.com/x/a.git"\n'
        'reference = "HEAD"\n'
        f'resolved_reference = "{SHA}"\n'
    )
    pdm = f'[[package]]\ngit = "https://github.com/x/a.git"\nref = "main"\nrevision = "{SHA}"\n'
    pylock = (
        "[[packages]]\n"
        'name = "a"\n'
        "[packages.vcs]\n"
        'type = "git"\n'
        'url = "https://github.com/x/a"\n'
        'requested-revision = "v1"\n'
        f'commit-id = "{SHA}"\n'
    )
    told = [
        (pin.line, pin.ref, pin.requested)
        for name, text in (("poetry.lock", poetry), ("pdm.lock", pdm), ("pylock.toml", pylock))
        for pin in pins(pythonlocks, name, text)
    ]
    assert [(6, SHA, None), (4, SHA, "main"), (7, SHA, "v1")] == told


def test_pipfile_lock():
    """The JSON lock has `ref`, or an archive as `file`."""
    text = f'{{"default": {{"a": {{"git": "https://github.com/x/a.git",\n"ref": "{SHA}"}},\n"b": {{"file": "https://github.com/x/b/archive/{OTHER}.zip"}}}}}}'
    assert [f"Pipfile.lock:2 x/a@{SHA}", f"Pipfile.lock:3 x/b@{OTHER}"] == seen(pythonlocks, "Pipfile.lock", text)


def test_a_broken_one():
    """The mistake has its line, the packages after it are read."""
    text = f'[[package]]\nname = \nsource = {{ git = "https://github.com/x/a#{SHA}" }}\n'
    assert [2] == broken(pythonlocks, "uv.lock", text)
    assert [f"uv.lock:3 x/a@{SHA}"] == seen(pythonlocks, "uv.lock", text)
