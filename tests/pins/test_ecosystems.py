"""No text makes a format of a language's packages raise."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from watcher.pins import (
    Broken,
    Checkout,
    beam,
    cargo,
    composer,
    condarecipe,
    environment,
    gomod,
    npm,
    npmlocks,
    pubspec,
    pyproject,
    pythonlocks,
    ruby,
    setupcfg,
    swift,
)
from watcher.pins.sites import Sighting

SHA = "f05a8754daf68238d54e4cf31cb3ba866684bbaf"
FILES = [
    *((beam, "mix.exs"), (beam, "mix.lock"), (beam, "rebar.config"), (cargo, "Cargo.toml"), (cargo, "Cargo.lock")),
    *(
        (composer, "composer.json"),
        (composer, "composer.lock"),
        (condarecipe, "meta.yaml"),
        (environment, "environment.yml"),
    ),
    *((gomod, "go.mod"), (npm, "package.json"), (npmlocks, "package-lock.json"), (npmlocks, "yarn.lock")),
    *((npmlocks, "pnpm-lock.yaml"), (npmlocks, "bun.lock"), (pubspec, "pubspec.yaml"), (pubspec, "pubspec.lock")),
    *((pyproject, "pyproject.toml"), (pythonlocks, "uv.lock"), (pythonlocks, "Pipfile.lock"), (ruby, "Gemfile")),
    *(
        (ruby, "Gemfile.lock"),
        (ruby, "Podfile.lock"),
        (setupcfg, "setup.cfg"),
        (swift, "Package.swift"),
        (swift, "Package.resolved"),
    ),
]
PARTS = [
    *(
        "git",
        ' = "',
        '"',
        "'",
        "[[package]]\n",
        "[tool.uv.sources]\n",
        "source = { ",
        "rev",
        "tag",
        "branch",
        "#",
        "@",
        "\n",
        "  ",
        "\t",
    ),
    *(
        "https://github.com/x/a",
        "git+https://github.com/x/a.git",
        SHA,
        "v1.0",
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        ",",
        ":",
        "=>",
        "- ",
    ),
    *(
        '"dependencies": {',
        '"resolved": "',
        '"git": "',
        "github:x/a",
        "x/a#",
        "require (\n",
        "v0.0.0-20240116102854-94f01eb2f032",
    ),
    *(
        "gem ",
        "git: ",
        "GIT\n",
        "  remote: ",
        "  revision: ",
        ".package(",
        "url: ",
        "{:a, ",
        "{:git, ",
        "dependencies:\n",
        "pip:\n",
    ),
    *(
        "resolution: {commit: ",
        "repo: ",
        '"state": {',
        '"location": "',
        "{% set a = 'b' %}\n",
        "{{ a }}",
        "${{ a }}",
        "\\",
        "\ue000",
        "é",
    ),
    *(
        "CHECKOUT OPTIONS:\n",
        "    :git: ",
        "source:\n",
        "git_url: ",
        "description:\n",
        "resolved-ref: ",
        "commands = ",
        "git clone ",
        '"""',
    ),
]


@pytest.mark.parametrize(("fmt", "path"), FILES, ids=lambda part: part if isinstance(part, str) else "")
@settings(max_examples=60)
@given(st.lists(st.sampled_from(PARTS) | st.text(max_size=3), max_size=50).map("".join))
def test_any_text(fmt, path, text):
    """Whatever a file holds, there are sightings and warnings at lines that it has."""
    for found in fmt.parse(path, text, Checkout(texts={path: text})):
        assert isinstance(found, Sighting | Broken)
        line = found.pin.line if isinstance(found, Sighting) else found.line
        assert 1 <= line <= text.count("\n") + 1


@pytest.mark.parametrize(("fmt", "path"), FILES, ids=lambda part: part if isinstance(part, str) else "")
def test_a_large_one(fmt, path):
    """Long files of one pattern take no time that grows with their square."""
    for part in (
        '"git" https://',
        "git: [{",
        "gem 'git', ",
        "\n git+",
        "  resolution: git\n",
        '{:a, git "',
        ".package(",
        "\n\n\n git",
    ):
        list(fmt.parse(path, "git pip dependencies ://" + part * 20_000, Checkout()))
