"""Dart packages."""

from tests.pins.seeing import broken, pins, seen
from watcher.pins import pubspec

SHA = "f05a8754daf68238d54e4cf31cb3ba866684bbaf"


def test_claims():
    """Pub's files have their names."""
    assert pubspec.claims("app/pubspec.yaml")
    assert pubspec.claims("pubspec.lock")
    assert not pubspec.claims("spec.yaml")


def test_manifest():
    """A git source is an address or a table; the project's own repository is none."""
    text = """\
repository: https://github.com/x/self
dependencies:
  a:
    git:
      url: https://github.com/x/a.git
      ref: v1.0.0
  b: {git: "git@github.com:x/b.git"}
  c: ^1.0.0
dependency_overrides:
  d:
    git: {url: "https://github.com/x/d", ref: main}
"""
    assert ["pubspec.yaml:6 x/a@v1.0.0", "pubspec.yaml:7 x/b@default-branch", "pubspec.yaml:11 x/d@main"] == seen(
        pubspec, "pubspec.yaml", text
    )


def test_lock():
    """The resolved commit is the pin."""
    text = (
        "packages:\n"
        "  a:\n"
        "    description:\n"
        "      ref: main\n"
        f'      resolved-ref: "{SHA}"\n'
        '      url: "https://github.com/x/a.git"\n'
        "    source: git\n"
    )
    (pin,) = pins(pubspec, "pubspec.lock", text)
    assert (5, SHA, "main") == (pin.line, pin.ref, pin.requested)


def test_a_broken_one():
    """The mistake has its line, what stands before it is read."""
    text = 'dependencies:\n  a: {git: "https://github.com/x/a"}\n  b: [\n  c: ]]\n'
    assert [4] == broken(pubspec, "pubspec.yaml", text)
    assert ["pubspec.yaml:2 x/a@default-branch"] == seen(pubspec, "pubspec.yaml", text)
