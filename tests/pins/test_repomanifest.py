"""Manifests of repo."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.pins.seeing import broken, garbled, pins, seen
from watcher.pins import repomanifest
from watcher.pins.checkout import Checkout

A = "1" * 39 + "a"


def test_names():
    """Manifests by name and folder; Android's other manifest is none."""
    names = ("default.xml", "my-manifest.xml", "manifests/x.xml", "app/AndroidManifest.xml", "pom.xml")
    assert [True, True, True, False, False] == [repomanifest.claims(name) for name in names]


def test_remotes_of_an_included_file_and_a_changed_project():
    """A tag over several lines; the revision's own line."""
    text = (
        '<manifest>\n  <include name="remotes.xml"/>\n  <project\n    name="acme/a"\n'
        f'    revision="{A}"\n    upstream="refs/heads/dev"/>\n'
        '  <extend-project name="acme/b" revision="v2.0"/>\n</manifest>\n'
    )
    files = {
        "remotes.xml": '<manifest><remote name="r" fetch="https://h.org/"/><default remote="r"/>'
        '<project name="acme/b"/></manifest>'
    }
    assert [f"default.xml:5 acme/a@{A}", "default.xml:7 acme/b@v2.0"] == seen(
        repomanifest, "default.xml", text, files=files
    )
    assert "dev" == pins(repomanifest, "default.xml", text, files=files)[0].branch


def test_a_remote_beside_the_manifest():
    """Only the address of the manifest's own repository tells where that is."""
    text = (
        '<manifest><remote name="r" fetch=".."/><default remote="r" '
        'revision="v1.0"/><project name="platform/a"/></manifest>'
    )
    assert ["default.xml:1 ?@v1.0"] == seen(repomanifest, "default.xml", text)
    checkout = Checkout(texts={"default.xml": text}, origin="https://h.org/x/manifest.git")
    (found,) = repomanifest.parse("default.xml", text, checkout)
    assert "https://h.org/x/platform/a" == found.pin.upstream


def test_what_is_broken_or_wicked():
    """One warning with its line; entities of its own are refused, the projects before it are read."""
    text = (
        '<manifest>\n<remote name="r" fetch="https://h.org"/>\n'
        '<project name="a" remote="r" revision="v1.0"/>\n<project\n'
    )
    assert [4] == broken(repomanifest, "default.xml", text)
    assert ["default.xml:3 h.org/a@v1.0"] == seen(repomanifest, "default.xml", text)
    bomb = '<!DOCTYPE x [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]>\n<manifest><project name="&b;"/></manifest>'
    assert [] == list(repomanifest.parse("default.xml", bomb, Checkout()))


@given(text=garbled | st.text("<manifest>/ \n\"'=&;!project", max_size=80))
@settings(max_examples=80, deadline=None)
def test_nothing_makes_it_raise(text):
    """Whatever the text is, reading it gives pins or a warning."""
    list(repomanifest.parse("default.xml", "<manifest>" + text, Checkout()))
    list(repomanifest.parse("default.xml", text, Checkout()))
