"""Lock files of npm's kind."""

import pytest

from tests.pins.seeing import broken, pins, seen
from watcher.pins import npmlocks

SHA = "f05a8754daf68238d54e4cf31cb3ba866684bbaf"
OTHER = "b5588e83de86412a48689a6583a4b567e75f7acc"


@pytest.mark.parametrize(
    "path", ["package-lock.json", "a/yarn.lock", "pnpm-lock.yaml", "bun.lock", "npm-shrinkwrap.json"]
)
def test_claims(path):
    """Locks have their names."""
    assert npmlocks.claims(path)


def test_claims_not():
    """What asks for packages is no lock."""
    assert not npmlocks.claims("package.json")


def test_package_lock():
    """What was resolved counts, in every version of the format; what the root asks for does not."""
    text = f"""{{"packages": {{"": {{"dependencies": {{"a": "github:x/a#main"}}}},
"node_modules/a": {{"resolved": "git+ssh://git@github.com/x/a.git#{SHA}"}},
"node_modules/b": {{"resolved": "https://registry.npmjs.org/git-b/-/git-b-1.0.0.tgz"}}}},
"dependencies": {{"a": {{
  "version": "git+ssh://git@github.com/x/a.git#{SHA}", "from": "github:x/a#main"}}}}}}"""
    (pin,) = pins(npmlocks, "package-lock.json", text)
    assert (2, SHA, (5,)) == (pin.line, pin.ref, pin.also)


def test_yarn_lock():
    """Both forms of the file, and nothing of the registry with its checksums."""
    text = f"""\
"a@git+ssh://git@github.com/x/a.git#main":
  version "2.0.0"
  resolved "git+ssh://git@github.com/x/a.git#{SHA}"

git-b@^4:
  resolved "https://registry.yarnpkg.com/git-b/-/git-b-4.0.0.tgz#{OTHER}"

"c@https://github.com/x/c.git#commit=abc1234":
  resolution: "c@https://github.com/x/c.git#commit={OTHER}"
"""
    assert [f"yarn.lock:3 x/a@{SHA}", f"yarn.lock:9 x/c@{OTHER}"] == seen(npmlocks, "yarn.lock", text)


def test_pnpm_lock():
    """Archives and commits with their repository."""
    text = f"""\
packages:
  a@https://codeload.github.com/x/a/tar.gz/{SHA}:
    resolution: {{tarball: https://codeload.github.com/x/a/tar.gz/{SHA}}}
  b:
    resolution: {{commit: {OTHER}, repo: git@example.org:x/b.git, type: git}}
  c:
    resolution:
      commit: {SHA}
      repo: https://gitlab.com/x/c.git
      type: git
  d@4.0.0:
    resolution: {{integrity: sha512-00}}
"""
    assert [f"pnpm-lock.yaml:3 x/a@{SHA}", f"pnpm-lock.yaml:5 x/b@{OTHER}", f"pnpm-lock.yaml:8 x/c@{SHA}"] == seen(
        npmlocks, "pnpm-lock.yaml", text
    )


def test_bun_lock():
    """The first element of an entry names the commit, perhaps a short one."""
    text = '{"packages": {\n"a": ["a@github:x/a#49c506d", {}, "x-a-49c506d"],\n"b": ["b@1.0.0", "", {}],\n}}'
    assert ["bun.lock:2 x/a@49c506d"] == seen(npmlocks, "bun.lock", text)


def test_a_broken_lock():
    """The mistake has its line, the rest is read."""
    text = f'{{"packages": {{oops\n"a": {{"resolved": "git+https://github.com/x/a.git#{SHA}"}}}}}}'
    assert [1] == broken(npmlocks, "package-lock.json", text)
    assert [f"package-lock.json:2 x/a@{SHA}"] == seen(npmlocks, "package-lock.json", text)
