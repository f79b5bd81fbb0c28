"""Go modules."""

import pytest

from tests.pins.seeing import broken, seen
from watcher.pins import gomod


def test_claims():
    """Lists of modules have their names; checksums are another file."""
    assert gomod.claims("a/go.mod")
    assert gomod.claims("go.work")
    assert not gomod.claims("go.sum")


def test_pseudo_versions():
    """The commit at the end of a version counts, also after a pre-release and for what is only indirect."""
    text = """\
module example.com/app
require github.com/x/a v0.0.0-20240116102854-94f01eb2f032
require (
\tgithub.com/x/b/v2 v2.0.0-rc.1.0.20240116102854-a4f01eb2f032 // indirect
\tgithub.com/x/c v2.0.1-0.20240116102854-b4f01eb2f032+incompatible
\tgithub.com/x/d v1.2.3
)
exclude github.com/x/e v0.0.0-20240116102854-c4f01eb2f032
"""
    assert ["go.mod:2 x/a@94f01eb2f032", "go.mod:4 x/b@a4f01eb2f032", "go.mod:5 x/c@b4f01eb2f032"] == seen(
        gomod, "go.mod", text
    )


def test_replace():
    """What is replaced is not built; what replaces it is, at a pseudo-version or a branch's commit."""
    text = """\
require (
\tgithub.com/x/a v0.0.0-20240116102854-94f01eb2f032
\tgithub.com/x/b v0.0.0-20240116102854-a4f01eb2f032
\tgithub.com/x/c v0.0.0-20240116102854-d4f01eb2f032
)
replace (
\tgithub.com/x/a => github.com/y/a v0.0.0-20240116102854-b4f01eb2f032
\tgithub.com/x/b v0.0.0-20240116102854-a4f01eb2f032 => ../b
\tgithub.com/x/c v1.0.0 => github.com/y/c v1.2.3
)
"""
    assert ["go.mod:4 x/c@d4f01eb2f032", "go.mod:7 y/a@b4f01eb2f032"] == seen(gomod, "go.mod", text)


@pytest.mark.parametrize(
    ("module", "upstream"),
    [
        ("github.com/x/mono/sub/v3", "https://github.com/x/mono"),
        ("gitlab.com/x/y", "https://gitlab.com/x/y"),
        ("git.example.com/x/y.git/sub", "https://git.example.com/x/y.git"),
        ("golang.org/x/exp/rand", "https://go.googlesource.com/exp"),
        ("gopkg.in/yaml.v3", "https://github.com/go-yaml/yaml"),
        ("gopkg.in/x/y.v1", "https://github.com/x/y"),
        ("k8s.io/utils", "https://github.com/kubernetes/utils"),
        ("example.org/thing", None),
    ],
)
def test_upstream(module, upstream):
    """A module's path tells its repository on forges and behind the well-known names; elsewhere its server would."""
    assert (upstream and upstream.removesuffix(".git")) == gomod.upstream_of(module)


def test_a_broken_one():
    """The first line that is none is told, the rest is read."""
    text = "require (\n\tgithub.com/x/a\n\tgithub.com/x/b v0.0.0-20240116102854-a4f01eb2f032\n)\n"
    assert [2] == broken(gomod, "go.mod", text)
    assert ["go.mod:3 x/b@a4f01eb2f032"] == seen(gomod, "go.mod", text)
