"""A pinned commit outlives its upstream: in an archive that git and pip take in place of it."""

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.conftest import Upstream
from tests.stories.world import HOST, clean_up, git_of, name_of
from tests.upstream.test_guard import guarded_elsewhere
from watcher import rescuing
from watcher.config import Settings
from watcher.demo.drawing import Gitlink
from watcher.demo.server import Status
from watcher.errors import UnobservedError, UsageError
from watcher.report.rescue import PLACE, render
from watcher.rescuing import drill, rescue
from watcher.store import Store

PROGRAM = Path(sys.executable).with_name("watcher")
PICTURE = """
A---B---P---C   (main)
"""
BACKEND = '''\
"""Build one wheel with nothing but the standard library."""

import zipfile


def build_wheel(folder, settings=None, metadata=None):
    name = "engine-1.4.0-py3-none-any.whl"
    with zipfile.ZipFile(f"{folder}/{name}", "w") as wheel:
        wheel.write("engine.py")
        info = "engine-1.4.0.dist-info"
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\\nName: engine\\nVersion: 1.4.0\\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(f"{info}/RECORD", "")
    return name
'''
FILES = {
    "A": {
        "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n',
        "backend.py": BACKEND,
        "engine.py": "speed = 1\n",
    },
    "P": {"engine.py": "speed = 2\n", "third_party/gears": Gitlink("5" * 40)},
    "C": {"engine.py": "speed = 3\n"},
}


@pytest.fixture
def pinned(world):
    """Offer a world that pins P, and has looked once: the mirror has the history, and hardly a file."""
    oids = world.engine.draw(PICTURE, files=FILES)
    world.pin(cuda=oids["P"])
    world.look()
    return world


def rescued(world, what="engine"):
    """Rescue what a name means, to a folder of the world."""
    world.prepare()
    settings = Settings.model_validate(world.document())
    with Store.open(settings.state) as store:
        return rescue(settings, store, what, world.folder / "out", now=world.now)


def drilled(world, **bounds):
    """Make the daily drill."""
    settings = Settings.model_validate(world.document())
    with Store.open(settings.state) as store:
        return drill(settings, store, now=world.now, **bounds)


def vanish(upstream: Upstream) -> None:
    """Let an upstream be gone."""
    shutil.rmtree(upstream.path)


def unpack_as_told(made, folder: Path) -> str:
    """Do what the text says, with another folder for the one that it supposes; return the text."""
    text = render(made).replace(PLACE, str(folder))
    with tarfile.open(made.archive) as packed:
        packed.extractall(folder, filter="data")
    for line in text.splitlines():
        if line.startswith("  RUN "):
            shell(line.removeprefix("  RUN "))
    return text


def shell(line: str) -> str:
    """Run a line as a shell does, with a home of its own, and return what it prints."""
    environment = os.environ | {"GIT_CONFIG_NOSYSTEM": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run(
        ["sh", "-ec", line], env=environment, capture_output=True, text=True, timeout=100, check=False
    )
    assert 0 == done.returncode, done.stderr
    return done.stdout


@pytest.mark.parametrize("has_history", [True, False])
def test_pip_installs_it_without_the_upstream(pinned, tmp_path, has_history):
    """By the address and the commit of before, after the settings that the text gives; with and without old files."""
    drilled(pinned)
    if not has_history:
        vanish(pinned.engine)
    [made] = rescued(pinned)
    assert ("whole" if has_history else "trees") == made.past
    if has_history:
        vanish(pinned.engine)
    unpack_as_told(made, tmp_path / "opt")
    for number, spelling in enumerate((name_of(), f"{name_of()}.git")):
        target = tmp_path / f"installed{number}"
        options = "--quiet --no-index --no-deps --no-build-isolation"
        shell(f"{sys.executable} -m pip install {options} --target {target} git+{spelling}@{made.commit}")
        assert "speed = 2\n" == (target / "engine.py").read_text()


def test_a_clone_has_the_same_commit_and_tree(pinned, tmp_path):
    """As a Dockerfile's git clone and git checkout have it; the text's own check prints the tree."""
    [made] = rescued(pinned)
    vanish(pinned.engine)
    text = unpack_as_told(made, tmp_path / "opt")
    shell(f"git clone -q {name_of()} {tmp_path}/clone && git -C {tmp_path}/clone checkout -q {made.commit}")
    assert "speed = 2\n" == (tmp_path / "clone" / "engine.py").read_text()
    [check] = [line for line in text.splitlines() if "rev-parse" in line]
    assert made.tree == shell(check).strip()
    assert made.tree == shell(f"git -C {tmp_path}/clone rev-parse HEAD^{{tree}}").strip()


def test_without_old_files_a_clone_asks_for_no_more_than_it_needs(pinned, tmp_path):
    """Upstream went before anybody asked for its history: the text says how to clone what is left, and that works."""
    drilled(pinned)
    vanish(pinned.engine)
    [made] = rescued(pinned)
    text = unpack_as_told(made, tmp_path / "opt")
    for option in ("--filter=blob:none", "--depth=1"):
        assert option in text
        clone = tmp_path / option.strip("-")[:5]
        shell(f"git clone -q {option} {name_of()} {clone} && git -C {clone} checkout -q {made.commit}")
        assert "speed = 2\n" == (clone / "engine.py").read_text()


def test_tags_tell_the_version(world, tmp_path):
    """`git describe` says what it said upstream; a tag after the pin is not there."""
    oids = world.engine.draw("A---B---C   (main)", refs={"refs/tags/v1.0*": "A", "refs/tags/v2.0": "C"})
    world.pin(cuda=oids["B"])
    world.look()
    [made] = rescued(world)
    vanish(world.engine)
    unpack_as_told(made, tmp_path / "opt")
    shell(f"git clone -q {name_of()} {tmp_path}/clone")
    assert f"v1.0-1-g{made.commit[:7]}" == shell(f"git -C {tmp_path}/clone describe --tags").strip()
    assert "v1.0" == shell(f"git -C {tmp_path}/clone tag").strip()


def test_what_is_not_in_it_is_said(pinned):
    """Submodules, by path and commit."""
    [made] = rescued(pinned)
    assert {"third_party/gears": "5" * 40} == made.submodules
    assert f"third_party/gears at {'5' * 40}" in render(made)


def test_large_files_are_said_to_be_missing(world):
    """Git LFS keeps them elsewhere."""
    oids = world.engine.draw("A (main)", files={"A": {".gitattributes": "*.bin filter=lfs diff=lfs -text\n"}})
    world.pin(cuda=oids["A"])
    world.look()
    [made] = rescued(world)
    assert made.has_large_files
    assert "Git LFS" in render(made)


def test_a_tag_is_there_under_its_name(world, tmp_path):
    """A build that asks for the tag finds it."""
    world.engine.draw("A---B   (main)", refs={"refs/tags/v1.0*": "A"})
    world.pin(cuda="v1.0")
    world.look()
    [made] = rescued(world)
    assert ("v1.0",) == made.refs
    vanish(world.engine)
    unpack_as_told(made, tmp_path / "opt")
    shell(f"git clone -q --branch v1.0 {name_of()} {tmp_path}/clone")
    assert ["A"] == sorted(path.name for path in (tmp_path / "clone").iterdir() if path.name != ".git")


def test_after_a_rescue_the_upstream_is_not_needed_again(pinned):
    """The mirror has the commit whole then: a second rescue works when the upstream is gone."""
    [first] = rescued(pinned)
    vanish(pinned.engine)
    [second] = rescued(pinned)
    assert (first.commit, first.tree) == (second.commit, second.tree)
    assert ("whole", "trees") == (first.past, second.past)


def test_where_old_trees_were_never_brought(pinned, tmp_path):
    """The commit is whole, and of older ones there is the message alone: the text says how to take it."""
    settings = Settings.model_validate(pinned.document())
    with Store.open(settings.state) as store:
        mirror = rescuing._mirror(settings, name_of(), store.snapshot(name_of()))
        mirror.complete(pinned.engine.oids["P"])
    vanish(pinned.engine)
    [made] = rescued(pinned)
    assert "names" == made.past
    text = unpack_as_told(made, tmp_path / "opt")
    assert "git clone --depth=1" in text
    shell(f"git clone -q --depth=1 {name_of()} {tmp_path}/clone")
    assert made.tree == shell(f"git -C {tmp_path}/clone rev-parse HEAD^{{tree}}").strip()


def test_two_pins_of_one_commit_are_one_archive(world):
    """CUDA and ROCm stand at the same one."""
    oids = world.engine.draw(PICTURE, files=FILES)
    world.pin(cuda=oids["P"], rocm=oids["P"])
    world.look()
    assert 1 == len(rescued(world))


def test_a_commit_that_no_ref_holds_any_more(pinned):
    """It was kept, and what it lacks is fetched as long as the server hands it out."""
    pinned.engine.draw("A---B---X   (main)", files=FILES)
    pinned.look()
    [made] = rescued(pinned)
    assert pinned.engine.oids["P"] == made.commit


def test_what_is_missing_is_said_exactly(pinned):
    """Upstream is gone before its files were fetched: which, and that it does not answer."""
    vanish(pinned.engine)
    with pytest.raises(UnobservedError, match=r"4 of 4 files are missing: .*backend\.py.*engine\.py") as raised:
        rescued(pinned)
    assert pinned.engine.oids["P"][:12] in str(raised.value)
    assert not list((pinned.folder / "out").glob("*.tar"))


def test_what_was_never_held_cannot_be_rescued(world):
    """No mirror, no upstream: told with the reason."""
    world.pin(cuda="1" * 40)
    world.engine.fault(Status(code=503))
    with pytest.raises(UnobservedError, match=r"nothing of it is held here.*503"):
        rescued(world)


def test_a_commit_that_never_was_is_not_rescued(pinned):
    """The server refuses it."""
    pinned.pin(rocm="1" * 40)
    with pytest.raises(UnobservedError, match="upstream does not hand it out"):
        rescued(pinned, name_of())


def test_an_unknown_name_is_a_mistake(pinned):
    """And the message offers the names that there are."""
    with pytest.raises(UsageError, match="there are pins of engine"):
        rescued(pinned, "engin")


def test_the_command(pinned):
    """Exit 0 with the text, 2 for an unknown name, 3 where the upstream is gone and files are missing."""

    def run(*args):
        config = pinned.prepare()
        command = [PROGRAM, "rescue", *args, "--config", config, "--output", pinned.folder / "out"]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    assert 2 == run("nothing").returncode
    vanish(pinned.engine)
    done = run("engine")
    assert 3 == done.returncode
    assert "files are missing" in done.stderr
    pinned.engine.draw(PICTURE, files=FILES)
    done = run("engine")
    assert 0 == done.returncode, done.stderr
    assert f".insteadOf {HOST}acme/engine.git" in done.stdout


# --- the drill -------------------------------------------------------------------------------------------------------


def test_a_drill_cleans_up_after_one_that_was_killed(pinned):
    """What that one tried is thrown away, and nothing else in the state folder."""
    left, other = pinned.state / "drill-abandoned", pinned.state / "kept"
    for folder in (left, other):
        folder.mkdir(parents=True)
        (folder / "file").write_text("x")
    drilled(pinned)
    assert (False, True) == (left.exists(), other.exists())


def test_the_drill_completes_what_is_pinned(pinned):
    """From then on the upstream may go."""
    assert () == drilled(pinned)
    vanish(pinned.engine)
    [made] = rescued(pinned)
    assert pinned.engine.oids["P"] == made.commit
    assert () == drilled(pinned)


def test_the_drill_tells_what_it_cannot_complete(pinned):
    """One line that names the pin, the commit and what is missing."""
    vanish(pinned.engine)
    [trouble] = drilled(pinned)
    assert trouble.startswith(f"engine at {pinned.engine.oids['P'][:12]} could not be rescued today: ")
    assert "files are missing" in trouble


@pytest.mark.parametrize("is_there", [True, False])
def test_the_drill_finds_a_damaged_object(pinned, is_there):
    """A file whose content is not what its id says does not unpack: it is fetched again, or its loss is told."""
    assert () == drilled(pinned)
    [mirror] = (pinned.state / "mirrors").glob("*.git")
    blob = shell(f"git --git-dir={mirror} rev-parse {pinned.engine.oids['P']}:engine.py").strip()
    for pack in mirror.glob("objects/pack/*.pack"):
        listed = [line.split() for line in shell(f"git verify-pack -v {pack.with_suffix('.idx')}").splitlines()]
        content = bytearray(pack.read_bytes())
        for at in (int(words[4]) for words in listed if words[0] == blob):
            content[at + 5] ^= 0xFF
        pack.chmod(0o644)
        pack.write_bytes(content)
    if not is_there:
        vanish(pinned.engine)
    troubles = drilled(pinned)
    assert troubles == drilled(pinned)
    assert ([] if is_there else [True]) == ["could not be rescued today" in trouble for trouble in troubles]


def test_the_drill_leaves_nothing_behind(pinned):
    """What it unpacked is thrown away."""
    before = set(pinned.state.iterdir())
    drilled(pinned)
    assert before == set(pinned.state.iterdir())


def test_the_drill_keeps_to_its_bounds_and_gets_round(world):
    """With no time for more than nothing it ends; each day it begins with another commit, so none is left out."""
    other = world.upstream("acme/brakes")
    world.pin(cuda=world.engine.draw("A---B   (main)")["A"])
    world.pin("acme/brakes", cuda=other.draw("C---D   (main)")["C"])
    world.look()
    assert () == drilled(world, seconds=-1)
    assert [0, 0] == [whole(world, name) for name in ("acme/engine", "acme/brakes")]
    for _ in range(2):
        drilled(world, most=0)
        world.look(hours=24)
    assert [1, 1] == [whole(world, name) for name in ("acme/engine", "acme/brakes")]


def whole(world, name):
    """Return how many contents the mirror of an upstream has."""
    printed = world.mirror(name).run("cat-file", "--batch-all-objects", "--batch-check=%(objecttype)").decode()
    return printed.split().count("blob")


def test_the_drill_brings_again_what_the_mirror_lost(pinned):
    """A mirror that was removed or built anew: upstream still has the commit, under a branch or not."""
    pinned.engine.draw("A---B---X   (main)", files=FILES)
    shutil.rmtree(pinned.mirror().directory)
    assert () == drilled(pinned)
    vanish(pinned.engine)
    [made] = rescued(pinned)
    assert pinned.engine.oids["P"] == made.commit


def test_the_drill_brings_a_branch_again(world):
    """A pin that follows a branch stands for a commit, too."""
    world.engine.draw("A---B   (main)")
    world.pin(cuda="main")
    world.look()
    shutil.rmtree(world.mirror().directory)
    assert () == drilled(world)
    assert 1 <= whole(world, "acme/engine")


def test_the_drill_tells_what_is_lost_for_good(pinned):
    """The mirror has lost the commit, and upstream refuses it: each day, until a person does something about it."""
    pinned.engine.draw("A---B---X   (main)", files=FILES)
    clean_up(pinned.engine)
    shutil.rmtree(pinned.mirror().directory)
    for _ in range(2):
        [trouble] = drilled(pinned)
        commit = pinned.engine.oids["P"]
        said = "it is not held here, and upstream does not hand it out"
        assert f"engine at {commit[:12]} could not be rescued today: {said}" == trouble


def test_the_drill_leaves_a_mirror_alone_that_somebody_works_on(pinned, monkeypatch):
    """It says so, and tries again the next day."""
    monkeypatch.setattr(rescuing, "_GLANCE", 0.0)
    with guarded_elsewhere(pinned.mirror().directory):
        [trouble] = drilled(pinned)
    assert "is in use" in trouble
    assert () == drilled(pinned)


def test_nothing_pinned_is_nothing_to_try(world):
    """A service that has read nothing yet has no trouble."""
    world.pin(cuda="1" * 40)
    assert () == drilled(world)


def test_the_served_repository_is_never_written(pinned):
    """A rescue reads upstream, and no more."""
    before = git_of(pinned.engine).run("for-each-ref")
    rescued(pinned)
    assert before == git_of(pinned.engine).run("for-each-ref")
