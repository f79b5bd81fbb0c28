"""`watcher bump`: the plan of a bump, from pins in Dockerfiles and an upstream that is served."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.stories import kit, test_two_fixes
from tests.stories.world import HOST, manifest, name_of
from watcher.bumping import bump_plans
from watcher.config import Settings
from watcher.demo.drawing import Gitlink
from watcher.demo.server import Status
from watcher.errors import UnobservedError, UsageError
from watcher.judge.destinations import Aim
from watcher.planned import Stance, Way
from watcher.report.proposal import mark, read_marker
from watcher.store import Store

PROGRAM = Path(sys.executable).with_name("watcher")
SHELF = test_two_fixes.NAME
ROW = "A---B---F---C   (main)"


@pytest.fixture
def shelf(world):
    """Offer the world of the two fixes: both images pin P."""
    oids = world.upstream(SHELF).draw(test_two_fixes.PICTURE, **test_two_fixes.STORY)
    world.pin(SHELF, cuda=oids["P"], rocm=oids["P"])
    return world


def planned(world, what, to=Aim.MINIMAL, *, together=False):
    """Return the plans for what a name means."""
    world.prepare()
    settings = Settings.model_validate(world.document())
    with Store.open(settings.state) as store:
        return bump_plans(settings, store, what, to, together=together, now=world.now)


def run(world, *args):
    """Run the installed program in the world's folder."""
    world.prepare()
    return subprocess.run(
        [PROGRAM, "bump", *args], cwd=world.folder, capture_output=True, text=True, timeout=60, check=False
    )


def test_the_worked_example(shelf):
    """Both variants go to the merge of the second fix: five commits, two landings, the version as before."""
    oids = shelf.upstream(SHELF).oids
    [plan] = planned(shelf, "vram-shelf", together=True)
    assert (oids["N"], "refs/heads/main", ()) == (plan.to, plan.line, plan.stays)
    assert [41, 42] == [fix.change.pull_request for fix in plan.gained]
    for step in plan.steps:
        assert (Way.FORWARD, 5, 2) == (step.way, step.rung.commits, step.rung.landings)
        assert ("0.2.1.post3", "0.2.1.post3", ()) == (step.version_from, step.version_to, step.terms)
        assert [41, 42] == [it.change.pull_request for it in step.passed if it.is_gained]
        assert {"any": 1, "rocm": 1} == step.files
    first, earlier = plan.why
    assert "the first state of main that has what is pinned, #41 and #42" == first
    assert f"one landing earlier, {oids['M'][:12]} lacks #42" == earlier


def test_nothing_is_recorded(shelf):
    """A plan leaves no finding and no pass behind."""
    planned(shelf, "vram-shelf")
    with Store.open(shelf.state) as store:
        assert (0, 0) == (len(store.findings()), len(store.events()))


def test_one_place_alone(shelf):
    """A place means one pin; the other variant is left behind, and said to be."""
    [plan] = planned(shelf, f"{manifest('cuda')}:2")
    assert ["cuda"] == [step.pin.variant for step in plan.steps]
    assert [("rocm", Stance.LEFT_BEHIND)] == [(it.pin.variant, it.stance) for it in plan.stays]


def test_a_variant_that_has_it(shelf):
    """It needs no change."""
    oids = shelf.upstream(SHELF).oids
    shelf.pin(SHELF, rocm=oids["C"])
    [plan] = planned(shelf, "vram-shelf", together=True)
    [stay] = plan.stays
    short = oids["M"][:12]
    assert ("rocm", Stance.HAS_IT) == (stay.pin.variant, stay.stance)
    assert f"already has #41 (as {short}) and #42 (as {oids['N'][:12]}): no change" == stay.said


def test_a_variant_that_floats(shelf):
    """It is told to be pinned, with the commit that it is at."""
    shelf.pin(SHELF, rocm="main")
    [plan] = planned(shelf, "vram-shelf", together=True)
    [stay] = plan.stays
    assert (Stance.FLOATING, "follows main: pin it") == (stay.stance, stay.said)
    assert shelf.upstream(SHELF).oids["O"] in stay.advice[0]


def test_a_variant_from_a_fork(shelf):
    """A relative is another repository: not moved, and not even asked."""
    shelf.pin("fork/vram-shelf", rocm="1" * 40)
    del shelf.images.pins["rocm", SHELF]
    shelf.config["relatives"] = [[f"{HOST}{SHELF}", f"{HOST}fork/vram-shelf"]]
    [plan] = planned(shelf, f"{manifest('cuda')}:2", together=True)
    assert [Stance.OTHER_REPOSITORY] == [it.stance for it in plan.stays]


@pytest.mark.parametrize("to", ["N", "tag", "main", "short"])
def test_a_commit_that_was_asked_for(shelf, to):
    """A full id, a short one, a branch and a tag mean their commit."""
    oids = shelf.upstream(SHELF).draw(test_two_fixes.PICTURE, **test_two_fixes.STORY, refs={"refs/tags/v0.3.0": "N"})
    name = {"N": oids["N"], "tag": "v0.3.0", "main": "main", "short": oids["N"][:9]}[to]
    [plan] = planned(shelf, "vram-shelf", name)
    assert oids["O" if to == "main" else "N"] == plan.to
    assert plan.why[0].startswith("you asked for it")


def test_an_older_commit(shelf):
    """It is shown, and loudly said to be a downgrade."""
    oids = shelf.upstream(SHELF).oids
    [plan] = planned(shelf, "vram-shelf", oids["A"])
    [step, _] = plan.steps
    assert (Way.BACK, 2) == (step.way, step.back)
    assert ["B", test_two_fixes.MESSAGES["P"]] == [it.change.title for it in step.passed]
    assert "a downgrade: the target is older than what is pinned and takes back 2 commits" == step.cautions[0]


def test_a_commit_that_no_ref_holds(shelf):
    """What upstream does not hold any more is no target."""
    shelf.look()
    gone = shelf.upstream(SHELF).oids["O"]
    shelf.upstream(SHELF).draw("A---B---P   (main)", **test_two_fixes.STORY)
    for name in (gone, "nothing", "0" * 40):
        with pytest.raises(UsageError, match="--to"):
            planned(shelf, "vram-shelf", name)


def test_what_comes_along(world):
    """The build contract in words: dependencies, options, variables of the environment, submodules."""
    files = {
        "A": {**kit.FILES["A"], "CMakeLists.txt": 'option(USE_ROCM "x" OFF)\n', "lib": Gitlink("1" * 40)},
        "B": {"README.md": "Read me\n"},
        "F": {
            **kit.FILES["F"],
            "setup.py": kit.SETUP.replace("version=", 'install_requires=["ninja"], version='),
            "CMakeLists.txt": 'option(USE_ROCM "x" ON)\n',
            "src/mode.py": 'import os\n\nMODE = os.environ.get("ENGINE_MODE")\n',
            "tests/test_mode.py": 'import os\n\nMODE = os.environ.get("ONLY_IN_TESTS")\n',
            "lib": Gitlink("2" * 40),
        },
    }
    oids = world.engine.draw(ROW, messages=kit.MESSAGES, files=files)
    world.pin(cuda=oids["B"])
    [plan] = planned(world, "engine")
    assert [
        ("CMakeLists.txt", "CMake option USE_ROCM: OFF → ON"),
        ("setup.py", "new dependency ninja"),
        ("lib", "submodule 111111111111 → 222222222222"),
        ("src/mode.py:3", "newly reads environment variable ENGINE_MODE"),
    ] == [(it.place, it.said) for it in plan.steps[0].terms]
    assert ("1.4.0", "1.4.0", 1) == (plan.steps[0].version_from, plan.steps[0].version_to, plan.steps[0].other_files)


def test_a_lost_pin(world):
    """It gets evidence and advice, never a bump; exit 0."""
    oids = world.engine.draw("A---B---X   (main)", **kit.STORY)
    world.pin(cuda=oids["X"])
    world.look()
    fix = world.engine.draw(ROW, **kit.STORY)["F"]
    done = run(world, "engine")
    assert 0 == done.returncode, done.stderr
    for words in ("engine: nothing moves", "is on no branch and no tag any more", "it can be an attack"):
        assert words in " ".join(done.stdout.split())
    assert fix[:12] not in done.stdout


# --- the program -------------------------------------------------------------------------------------------------


def test_0_with_a_plan(shelf):
    """The plan on stdout; that nothing was changed on stderr."""
    done = run(shelf, "vram-shelf", "--all-variants")
    assert 0 == done.returncode, done.stderr
    for words in (shelf.upstream(SHELF).oids["N"], "#41", "#42", "5 commits in 2 landings", "0.2.1.post3 as before"):
        assert words in done.stdout
    assert "a plan only: nothing was changed" in done.stderr


def test_0_without_a_fix(world):
    """Nothing to gain is said, and never that it is safe."""
    oids = world.engine.draw(ROW, **kit.STORY)
    world.pin(cuda=oids["F"])
    done = run(world, "engine")
    assert 0 == done.returncode, done.stderr
    assert "nothing to gain: no fix found that concerns it" in " ".join(done.stdout.split())
    assert "safe" not in done.stdout


def test_json_and_markdown(shelf):
    """The JSON has the target of every pin that moves; the Markdown has the mark of the plan."""
    oids = shelf.upstream(SHELF).oids
    document = json.loads(run(shelf, "vram-shelf", "--format", "json").stdout)
    assert 1 == document["version"]
    assert {oids["N"]} == {move["to"] for move in document["plans"][0]["moves"]}
    body = run(shelf, "vram-shelf", "--format", "markdown").stdout
    assert mark(planned(shelf, "vram-shelf")[0]) == read_marker(body)


def test_2_for_names_that_mean_nothing(shelf):
    """An unknown pin and an unknown target are usage errors, in one clear line."""
    for arguments in (["nothing"], ["vram-shelf", "--to", "nowhere"]):
        done = run(shelf, *arguments)
        assert (2, "") == (done.returncode, done.stdout), done.stderr
        assert 1 == len(done.stderr.splitlines())


def test_3_when_it_could_not_look(world):
    """An upstream that does not answer gives no plan."""
    world.pin(cuda="1" * 40)
    world.engine.fault(Status(code=403))
    with pytest.raises(UnobservedError, match="403"):
        planned(world, "engine")
    done = run(world, "engine")
    assert (3, "") == (done.returncode, done.stdout), done.stderr


def test_3_when_the_downstream_could_not_be_read(world):
    """A name that may be pinned in a downstream that does not answer is not unknown."""
    world.downstream("far", served=True).pin("acme/engine", cuda="1" * 40)
    world.prepare()
    world.server.faults["acme/far"] = Status(code=403)
    with pytest.raises(UnobservedError, match="may be pinned where we could not look"):
        planned(world, "engine")


def test_one_of_two_could_not_be_looked_at(world):
    """Of two upstreams of one name the one that answers is planned, and the other is said to be silent: 3."""
    oids = world.engine.draw(ROW, **kit.STORY)
    world.pin(cuda=oids["B"])
    world.pin("fork/engine", rocm="1" * 40)
    world.upstream("fork/engine").fault(Status(code=403))
    first, second = planned(world, "engine")
    assert (name_of(), oids["F"]) == (first.upstream, first.to)
    assert [Stance.UNOBSERVED] == [it.stance for it in second.stays]
    assert 3 == run(world, "engine").returncode
