"""Conda environments."""

import pytest

from tests.pins.seeing import broken, seen
from watcher.pins import environment

SHA = "f05a8754daf68238d54e4cf31cb3ba866684bbaf"


@pytest.mark.parametrize("path", ["environment.yml", "conda/dev.yaml", "env-rocm.yml", "conda_env.yaml", "envs/x.yml"])
def test_claims(path):
    """Environments have their names or their folder."""
    assert environment.claims(path)


@pytest.mark.parametrize("path", ["values.yaml", "environment.json", "docs/x.yml"])
def test_claims_not(path):
    """Other files are none."""
    assert not environment.claims(path)


def test_pip_section():
    """Only what pip installs has an address; the environment's name tells the platform."""
    text = f"""\
name: rocm-dev
dependencies:
  - libx=2.1.0=hdb3da77_1
  - pip
  - pip:
    - -r requirements.txt
    - --extra-index-url https://github.com/x/index
    - a @ git+https://github.com/x/a@{SHA} # why
    - "-e git+https://github.com/x/b.git@v1#egg=b"
    - https://github.com/x/c/archive/main.zip
"""
    assert [
        f"environment.yml:8 x/a@{SHA} rocm",
        "environment.yml:9 x/b@v1 rocm",
        "environment.yml:10 x/c@main rocm",
    ] == seen(environment, "environment.yml", text)


def test_other_yaml():
    """A file that only looks like one by its name holds nothing for pip."""
    assert [] == seen(environment, "env.yaml", "a:\n  - git+https://github.com/x/a # pip dependencies\n")


def test_a_broken_one():
    """The mistake has its line; items before and behind it are read."""
    text = "dependencies:\n  - pip:\n    - git+https://github.com/x/a@v1\n  - {{ b }}: [\n    - git+https://github.com/x/c@v2\n"
    assert broken(environment, "environment.yml", text)
    assert ["environment.yml:3 x/a@v1", "environment.yml:5 x/c@v2"] == seen(environment, "environment.yml", text)
