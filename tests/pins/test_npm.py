"""Packages of npm's kind."""

import json

import pytest

from tests.pins.seeing import broken, seen
from watcher.pins import npm

SHA = "f05a8754daf68238d54e4cf31cb3ba866684bbaf"


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("x/a", "x/a@default-branch"),
        ("x/a#v1.0", "x/a@v1.0"),
        ("github:x/a#main", "x/a@main"),
        ("gitlab:x/a#main", "x/a@main"),
        ("git+ssh://git@github.com:x/a.git#main", "x/a@main"),
        ("git@github.com:x/a.git#semver:^1.0", "x/a@default-branch"),
        ("git://github.com/x/a.git#" + SHA, "x/a@" + SHA),
        ("https://github.com/x/a", "x/a@default-branch"),
        ("https://github.com/x/a/tarball/main", "x/a@main"),
        ("https://codeload.github.com/x/a/tar.gz/" + SHA, "x/a@" + SHA),
        ("https://github.com/x/a.git#commit=abc1234", "x/a@abc1234"),
        ("x/a#main&path:/packages/b", "x/a@main"),
        ("a@git+https://github.com/x/a.git#f/x", "x/a@f/x"),
    ],
)
def test_specifiers(version, expected):
    """Every way of naming a repository in place of a version."""
    text = json.dumps({"devDependencies": {"a": version}})
    assert [f"package.json:1 {expected}"] == seen(npm, "package.json", text)


@pytest.mark.parametrize(
    "version",
    [
        *(
            "^1.0",
            "latest",
            "*",
            "1.x",
            "npm:b@1",
            "file:../x/y",
            "link:./x",
            "workspace:*",
            "./x/y",
            "~/x/y",
            "patch:a@npm:1",
        ),
        *("https://registry.npmjs.org/a/-/a-1.tgz", "https://github.com/x/a/releases/download/v1/a.tgz", ""),
    ],
)
def test_what_is_no_repository(version):
    """Versions, tags of the registry, paths and release assets are none."""
    assert [] == seen(npm, "package.json", json.dumps({"dependencies": {"a": version}}))


def test_package():
    """Overrides of any depth and scripts count; the project's own repository does not."""
    text = """{"repository": "x/self", "homepage": "https://github.com/x/self#readme",
"overrides": {"a": {".": "x/a",
  "b": "x/b#v1"}},
"scripts": {"postinstall": "git clone -b v2.0 https://github.com/x/c"}}"""
    assert ["package.json:2 x/a@default-branch", "package.json:3 x/b@v1", "package.json:4 x/c@v2.0"] == seen(
        npm, "package.json", text
    )


def test_a_broken_package():
    """The mistake has its line, the rest is read."""
    text = '{"dependencies": {"a": "x/a#v1",\n"b": oops,\n"c": "x/c#v2"}}'
    assert [2] == broken(npm, "package.json", text)
    assert ["package.json:1 x/a@v1", "package.json:3 x/c@v2"] == seen(npm, "package.json", text)


def test_claims():
    """Descriptions have their names."""
    assert npm.claims("web/package.json")
    assert not npm.claims("tsconfig.json")
