"""A bump of a submodule: staged in a checkout, or one commit in a pull request, and named when it was merged."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.forges.forgefake import Repository
from tests.stories import kit
from tests.stories.stage import Stage
from tests.stories.world import HOST, manifest
from watcher import cycle, policy
from watcher.demo.drawing import Gitlink, draw
from watcher.proposing import Outcome, propose_pulls
from watcher.store import Store

PROGRAM = Path(sys.executable).with_name("watcher")
MODULES = f'[submodule "third_party/engine"]\n\tpath = third_party/engine\n\turl = {HOST}acme/engine\n\tbranch = main\n'


def git(folder, *args):
    """Run git in a checkout as a person does, and return what it prints."""
    who = ("-c", "user.name=n", "-c", "user.email=e@x", "-c", "commit.gpgsign=false")
    return subprocess.run(["git", "-C", folder, *who, *args], check=True, capture_output=True, text=True).stdout


@pytest.fixture
def checkout(world):
    """Make the downstream's folder a repository with the engine as a submodule, at B; a fix of it is F."""
    oids = world.engine.draw("A---B---F---C   (main)", **kit.STORY)
    world.images.folder.mkdir()
    world.config["downstreams"] = [{"name": "images", "path": str(world.images.folder)}]
    (world.images.folder / ".gitmodules").write_text(MODULES)
    (world.images.folder / "third_party/engine").mkdir(parents=True)
    git(world.images.folder, "init", "-q")
    git(world.images.folder, "add", ".")
    git(world.images.folder, "update-index", "--add", "--cacheinfo", f"160000,{oids['B']},third_party/engine")
    git(world.images.folder, "commit", "-qm", "x")
    return world


def bump(world):
    """Run `watcher bump --write` in the world's folder."""
    world.prepare()
    command = [PROGRAM, "bump", "engine", "--write"]
    return subprocess.run(command, cwd=world.folder, capture_output=True, text=True, timeout=60, check=False)


def test_written_into_a_checkout(checkout):
    """The index has the new commit, nothing else differs, and the way to its files is told."""
    oids, folder = checkout.engine.oids, checkout.images.folder
    done = bump(checkout)
    assert 0 == done.returncode, done.stderr
    assert f"-Subproject commit {oids['B']}\n+Subproject commit {oids['F']}\n" in done.stdout
    assert "bring them along with `git submodule update -- third_party/engine`" in done.stderr
    assert f":160000 160000 {oids['B']} {oids['F']} M\tthird_party/engine\n" == git(
        folder, "diff", "--cached", "--raw", "--no-abbrev"
    )
    assert "" == git(folder, "diff", "--ignore-submodules")
    again = bump(checkout)
    assert (0, True) == (again.returncode, "nothing to gain" in " ".join(again.stdout.split())), again.stderr


def test_a_locked_index(checkout):
    """It is one clear line, and the index is as it was."""
    folder = checkout.images.folder
    (folder / ".git/index.lock").touch()
    done = bump(checkout)
    assert 0 != done.returncode
    [line] = done.stderr.splitlines()
    assert f"the index is locked: another git is at work there, or one died and left {folder}/.git/index.lock" in line
    assert "" == git(folder, "diff", "--cached")


class Linked(Stage):
    """The stage with a downstream that has the engine as a submodule and in one Dockerfile, read whole."""

    def __init__(self, world, asking):
        super().__init__(world)
        self.repository = Repository(bare=self.path)
        self.github = asking("github", self.repository)
        self.api, self.http = self.github.fake.api, self.github.http
        self.show("A   (main)")

    def show(self, picture, **files):
        """Draw the downstream, whose first commit has both at B."""
        install = f"FROM acme/base:24.04\nRUN pip install git+{HOST}acme/engine.git@{self.oids['B']}\n"
        link = Gitlink(self.oids["B"])
        first = {".gitmodules": MODULES, "third_party/engine": link, manifest("cuda"): install, "README": "x\n"}
        return draw(self.path, picture, files={"A": first, **files})

    def document(self, **more):
        """Return the configuration, with no manifests named."""
        document = super().document(**more)
        del document["downstreams"][0]["manifests"]
        return document


@pytest.fixture
def stage(world, asking, monkeypatch):
    """Set the stage, with a token that may push."""
    monkeypatch.setenv("FORGE_TOKEN", "good-token")
    return Linked(world, asking)


def test_a_pull_request_moves_the_submodule_and_the_file_in_one_commit(stage):
    """On top of the branch that is read; everything else is the very same."""
    done = stage.propose(propose_pulls)
    assert Outcome.OPENED == done.outcome
    [ticket] = stage.repository.tickets
    assert stage.git("rev-parse", "main") == stage.git("rev-parse", f"{ticket.head}^")
    link, file = stage.git("diff", "--raw", "--no-abbrev", "main", ticket.head).splitlines()[::-1]
    assert f":160000 160000 {stage.oids['B']} {stage.oids['F']} M\tthird_party/engine" == link
    assert file.endswith(f"M\t{manifest('cuda')}")
    assert stage.git("show", f"main:{manifest('cuda')}").replace(stage.oids["B"], stage.oids["F"]) == stage.git(
        "show", f"{ticket.head}:{manifest('cuda')}"
    )


def test_the_service_proposes_it_and_its_merge_is_named(stage, world):
    """By policy; after the merge the finding of the submodule is resolved by the commit that moved it."""
    settings = stage.settings(bumps={"high": "pull-request"})
    with Store.open(world.state) as store:
        cycle.check(settings, store, now=world.now)
        [upstream] = policy.wanted(settings, store, world.now)
        done, troubles = policy.propose(settings, store, upstream, world.now)
    assert ((), [Outcome.OPENED]) == (troubles, [it.outcome for it in done])
    link = Gitlink(stage.oids["F"])
    oids = stage.show("A---M---C   (main)", M={"third_party/engine": link}, C={"README": "y\n"})
    with Store.open(world.state) as store:
        cycle.check(settings, store, now=world.now)
        [moved] = store.moved_pins()
        notes = [it.note for it in store.findings() if it.concern.place == ".gitmodules:3"]
    assert (oids["M"], "M") == (moved.landing, moved.subject)
    assert f".gitmodules:3 moved to {stage.oids['F'][:12]} by {oids['M'][:12]} “M”" in notes
