"""Swift packages."""

from tests.pins.seeing import broken, pins, seen
from watcher.pins import swift

SHA = "f05a8754daf68238d54e4cf31cb3ba866684bbaf"


def test_claims():
    """Manifests and their locks have their names."""
    assert swift.claims("ios/Package.swift")
    assert swift.claims("a.xcodeproj/project.xcworkspace/xcshareddata/swiftpm/Package.resolved")
    assert not swift.claims("Package.json")


def test_manifest():
    """One exact ref is a pin, in the old spelling and the new; a range of versions is none."""
    text = f"""\
let commit = "{SHA}"
.package(url: "https://github.com/x/a.git", from: "2.0.0"),
.package(url: "https://github.com/x/b", branch: "main"),
.package(url: "https://github.com/x/c", revision: commit),
.package(name: "d", url: "https://github.com/x/d", .exact("1.2.3")),
// .package(url: "https://github.com/x/e", branch: "main"),
.package(
    url: "https://github.com/x/f.git",
    exact: "0.1.0"),
"""
    found = pins(swift, "Package.swift", text)
    assert [(1, "c", "sha"), (3, "b", "branch"), (5, "d", "tag"), (9, "f", "tag")] == [
        (pin.line, pin.name, pin.ref_kind) for pin in found
    ]


def test_resolved():
    """Both versions of the lock; the branch or version is what was asked for."""
    new = (
        f'{{"pins": [{{"location": "https://github.com/x/a.git", "state": {{\n'
        f'"revision": "{SHA}", "version": "1.0.0"}}}}]}}'
    )
    old = (
        f'{{"object": {{"pins": [{{"repositoryURL": "https://github.com/x/a", "state": {{"branch": "main",\n'
        f'"revision": "{SHA}"}}}}]}}}}'
    )
    told = [(pin.line, pin.ref, pin.requested) for text in (new, old) for pin in pins(swift, "Package.resolved", text)]
    assert [(2, SHA, "1.0.0"), (2, SHA, "main")] == told


def test_a_broken_one():
    """A call that never ends is told with its line, those before it are read."""
    text = '.package(url: "https://github.com/x/a", branch: "main"),\n.package(url: "https://github.com/x/b"\n'
    assert [2] == broken(swift, "Package.swift", text)
    assert ["Package.swift:1 x/a@main"] == seen(swift, "Package.swift", text)
    assert [1] == broken(swift, "Package.resolved", "[oops")


def test_a_project_of_xcode():
    """A package reference of a project is a pin at its branch, revision or exact version."""

    def reference(name, *requirement):
        lines = "".join(f"\t\t\t\t{line};\n" for line in requirement)
        return (
            "\t\t0A /* x */ = {\n\t\t\tisa = XCRemoteSwiftPackageReference;\n"
            f'\t\t\trepositoryURL = "https://github.com/x/{name}.git";\n\t\t\trequirement = {{\n'
            f"{lines}\t\t\t}};\n\t\t}};\n"
        )

    text = (
        reference("a", 'branch = "swift-0.8"', "kind = branch")
        + reference("b", "kind = revision", f"revision = {SHA}")
        + reference("c", "kind = exactVersion", "version = 1.2.3")
        + reference("d", "kind = upToNextMajorVersion", "minimumVersion = 1.0.0")
    )
    path = "ios/a.xcodeproj/project.pbxproj"
    assert swift.claims(path)
    assert [f"{path}:5 x/a@swift-0.8", f"{path}:14 x/b@{SHA}", f"{path}:22 x/c@1.2.3"] == seen(swift, path, text)
