"""What the configuration says about discovery: patterns, remarks, manifests."""

import subprocess
from datetime import UTC, datetime

import pytest

from tests.conftest import Upstream
from watcher.config import load
from watcher.demo.drawing import Gitlink
from watcher.downstreams import discover
from watcher.errors import ConfigError
from watcher.model import oid

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


# --- who moved a submodule -------------------------------------------------------------------------------------------

MODULES = '[submodule "deps/ops"]\n\tpath = deps/ops\n\turl = https://github.com/acme/ops\n'
OTHER = '[submodule "deps/tri"]\n\tpath = deps/tri\n\turl = https://github.com/acme/tri\n'
ONE, TWO, THREE = (Gitlink(oid(digit * 40)) for digit in "123")
START = {".gitmodules": OTHER + MODULES, "deps/ops": ONE, "deps/tri": ONE, "README": "x"}


@pytest.fixture
def moved(server, tmp_path):
    """Read a downstream at A and at the end of a row, and return who did what to the submodule of ops."""
    images = Upstream(server, "acme/images")
    config = tmp_path / "config.yaml"
    config.write_text(f"downstreams:\n  - repository: {images.url}\nstate: {tmp_path}/state\n")

    def look(picture, **files):
        settings = load(config)
        oids = images.draw("A   (main)", files={"A": START})
        first = discover(settings, now=NOW)
        oids |= images.draw(picture, files={"A": START, **files})
        second = discover(settings, {it.name: it for it in first.readings}, now=NOW)
        names = {commit: name for name, commit in oids.items()}
        return [(it.after and it.after.ref, names.get(it.landing), it.subject) for it in second.moved]

    return look


def test_the_landing_that_moved_a_submodule_is_named(moved):
    """The last one after which it was as it is now; its neighbour and the files beside it do not matter."""
    story = {"B": {"deps/ops": TWO}, "C": {"deps/ops": THREE}, "D": {"deps/tri": TWO, "README": "y"}}
    assert [(TWO.oid, "D", "D"), (THREE.oid, "C", "C")] == moved("A---B---C---D   (main)", **story)


def test_there_and_back_and_there_again(moved):
    """The newest run of landings at the commit counts."""
    story = {"B": {"deps/ops": TWO}, "C": {"deps/ops": ONE}, "D": {"deps/ops": TWO}, "E": {"README": "y"}}
    assert [(TWO.oid, "D", "D")] == moved("A---B---C---D---E   (main)", **story)


def test_a_merge_that_brought_it_is_named(moved):
    """It landed with the merge, whoever wrote it."""
    picture = """
      X---Y
     /     \\
    A---B---M---C   (main)
    """
    assert [(TWO.oid, "M", "M")] == moved(picture, Y={"deps/ops": TWO})


def test_a_submodule_that_moved_to_another_folder_and_commit(moved):
    """The folder that it has now is looked at."""
    elsewhere = {".gitmodules": OTHER + MODULES.replace("path = deps/ops", "path = third/ops"), "deps/ops": None}
    story = {"B": {**elsewhere, "third/ops": TWO}, "C": {"README": "y"}}
    assert [(TWO.oid, "B", "B")] == moved("A---B---C   (main)", **story)


def test_who_removed_a_submodule_is_named(moved):
    """Whatever else was said in `.gitmodules` before and after that."""
    story = {
        "B": {".gitmodules": f"# ours\n{OTHER}{MODULES}"},
        "C": {".gitmodules": OTHER, "deps/ops": None},
        "D": {".gitmodules": f"# theirs\n{OTHER}"},
    }
    assert [(None, "C", "C")] == moved("A---B---C---D   (main)", **story)


def test_a_submodule_without_its_commit_is_gone(moved):
    """`git rm --cached` leaves the section."""
    assert [(None, "B", "B")] == moved("A---B---C   (main)", B={"deps/ops": None})


@pytest.mark.parametrize(
    ("story", "after"),
    [({"B": {".gitmodules": OTHER}}, None), ({"B": {".gitmodules": OTHER + MODULES.replace("acme", "fork")}}, ONE.oid)],
    ids=["no section", "another address"],
)
def test_what_did_not_move_in_the_tree_names_nobody(moved, story, after):
    """The commit stands in the tree as before, so no landing of it is to be found."""
    assert [(after, None, "")] == moved("A---B   (main)", **story)


def test_a_history_that_was_rewritten(moved):
    """What landed on the line that took the place of the old one is named."""
    assert [(TWO.oid, "B", "B")] == moved("Z---B   (main)", Z=START, B={"deps/ops": TWO})


def test_who_moved_a_submodule_of_a_folder(tmp_path):
    """What is committed is named; what is staged alone is nobody's landing."""
    folder = tmp_path / "images"
    git = ["git", "-C", folder, "-c", "user.name=n", "-c", "user.email=e@x", "-c", "commit.gpgsign=false"]

    def stage(link):
        info = f"160000,{link.oid},deps/ops"
        subprocess.run([*git, "update-index", "--add", "--cacheinfo", info], check=True)

    subprocess.run(["git", "init", "-q", folder], check=True)
    (folder / ".gitmodules").write_text(MODULES)
    subprocess.run([*git, "add", "."], check=True)
    (tmp_path / "config.yaml").write_text("downstreams:\n  - path: images\n")
    settings, known, moves = load(tmp_path / "config.yaml"), {}, []
    for link, is_committed in ((ONE, True), (TWO, True), (THREE, False)):
        stage(link)
        if is_committed:
            subprocess.run([*git, "commit", "-qm", f"to {link.oid[:1]}"], check=True)
        found = discover(settings, known, now=NOW)
        known = {it.name: it for it in found.readings}
        moves += [(it.after.ref, it.subject) for it in found.moved]
    assert [(TWO.oid, "to 2"), (THREE.oid, "")] == moves
