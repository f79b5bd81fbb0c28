"""What the configuration says about discovery: patterns, remarks, manifests."""

from datetime import UTC, datetime

import pytest

from watcher.config import load
from watcher.downstreams import discover
from watcher.errors import ConfigError

SHA = "a1" * 20
NOW = datetime(2026, 8, 20, tzinfo=UTC)


@pytest.fixture
def found(tmp_path):
    """Discover the pins of files under a configuration's own lines."""

    def look(files, more=""):
        for name, text in files.items():
            (tmp_path / "images" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "images" / name).write_text(text)
        config = tmp_path / "config.yaml"
        config.write_text(f"downstreams:\n  - path: images\n{more}")
        return discover(load(config), now=NOW)

    return look


def places(result):
    """Return each pin in one line."""
    return [f"{pin.place} {pin.upstream} {pin.ref} {pin.variant}" for pin in result.pins]


def test_a_pattern_reads_what_no_format_does(found):
    """A glob and an expression make pins of a file of one's own making."""
    more = (
        "patterns:\n"
        "  - files: deps/*.lock9\n"
        "    regex: '^(?P<upstream>\\S+) => (?P<ref>[0-9a-f]{40})$'\n"
        "    variant: rocm\n"
    )
    result = found({"deps/a.lock9": f"# mine\nhttps://github.com/acme/ops.git => {SHA}\n"}, more)
    assert [f"deps/a.lock9:2 https://github.com/acme/ops {SHA} rocm"] == places(result)


@pytest.mark.parametrize(
    ("regex", "reason"),
    [
        ("(?P<ref>x", "missing"),
        ("(?P<upstream>x)", "expected a group named ref"),
        ("(?P<ref>x)", "expected a group named upstream"),
        ("(?=x)(?P<ref>y)", "cannot be used"),
    ],
)
def test_a_pattern_that_cannot_work_is_an_error_with_its_line(found, regex, reason):
    """The expression's own line is named, and what is missing."""
    with pytest.raises(ConfigError, match=rf"config\.yaml:5: .*{reason}"):
        found({}, f"patterns:\n  - files: '*'\n    regex: '{regex}'\n")


def test_a_remark_silences_a_pin(found):
    """`# watcher: ignore` stands for its own line or the next, and no other."""
    install = f"RUN pip install git+https://github.com/acme/ops@{SHA}\n"
    text = f"FROM a\n# watcher: ignore we patch it ourselves\n{install}{install.replace('ops', 'tri')}"
    assert [f"Dockerfile:4 https://github.com/acme/tri {SHA} any"] == places(found({"Dockerfile": text}))


def test_a_remark_makes_a_pin(found):
    """`# watcher: upstream=…` makes the next ref one, with its variant."""
    text = "# watcher: upstream=https://github.com/acme/ops variant=rocm\nOPS_VERSION=v1.2.3\n"
    assert ["build.sh:2 https://github.com/acme/ops v1.2.3 rocm"] == places(found({"build.sh": text}))


def test_a_manifest_that_is_not_there_is_told(found):
    """Nothing would be watched of it, so silence would be an all-clear."""
    result = found({"Dockerfile": "FROM a\n"}, "    manifests: [Dockerfile, docker/Dockerfile.rocm]\n")
    assert ("images: no file fits 'docker/Dockerfile.rocm', so nothing of it is watched",) == result.warnings
