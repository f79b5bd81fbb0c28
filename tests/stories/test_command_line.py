"""What the installed `watcher` prints, and how it exits."""

import json
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from tests.stories import kit
from tests.stories.world import finding, manifest, name_of
from watcher.demo.server import Redirect, Status
from watcher.pages.openapi import check_schema

PROGRAM = Path(sys.executable).with_name("watcher")
SCHEMA = check_schema()
PICTURE = "A---B---F---C   (main)"


@pytest.fixture
def run(world):
    """Return how to run `watcher` in the world's folder, where config.yaml lies."""

    def run(*args):
        world.prepare()
        return subprocess.run(
            [PROGRAM, *args], cwd=world.folder, capture_output=True, text=True, timeout=60, check=False
        )

    return run


@pytest.fixture
def buggy(world):
    """Offer a world whose CUDA pin lacks a fix, and whose ROCm pin has it."""
    oids = world.engine.draw(PICTURE, **kit.STORY)
    world.pin(cuda=oids["B"], rocm=oids["F"])
    return world


def test_0_when_clean(world, run):
    """Nothing is wrong and everything was seen."""
    oids = world.engine.draw(PICTURE, **kit.STORY)
    world.pin(cuda=oids["F"])
    done = run("check")
    assert 0 == done.returncode, done.stderr
    assert "" == done.stdout
    assert "1 pins, 1 of 1 upstreams observed: no findings" in done.stderr


def test_1_when_there_are_findings(buggy, run):
    """Findings on stdout with place, target and kind; the summary on stderr."""
    done = run("check")
    assert 1 == done.returncode, done.stderr
    for words in ("engine", f"{manifest('cuda')}:2", buggy.engine.oids["F"], "fix-available", "variant-drift"):
        assert words in done.stdout
    assert "upstreams observed" in done.stderr
    assert "upstreams observed" not in done.stdout


def test_2_for_usage_and_configuration(world, run):
    """A wrong key, a missing file, an unknown option, a finding that is not there: 2, and one clear line."""
    world.pin(cuda="1" * 40)
    world.config = {"downstreem": []}
    done = run("check")
    assert 2 == done.returncode
    assert re.search(r"config\.yaml:\d+: .*downstreem.*downstreams", done.stderr)
    world.config = {}
    for arguments in (
        ["check", "--config", "nowhere.yaml"],
        ["check", "--fail-on", "loud"],
        ["ack", "0000000"],
        ["explain", "nothing"],
    ):
        done = run(*arguments)
        assert 2 == done.returncode, (arguments, done.stderr)
        assert "Traceback" not in done.stderr
        assert "" == done.stdout


def test_3_when_it_could_not_tell(world, run):
    """Nothing is wrong with what was seen, but not everything was."""
    oids = world.engine.draw(PICTURE, **kit.STORY)
    world.pin(cuda=oids["F"])
    world.pin("acme/other", cuda="1" * 40)
    world.upstream("acme/other").fault(Status(code=403))
    done = run("check")
    assert 3 == done.returncode
    assert "could not look at 1" in done.stderr
    assert name_of("acme/other") in done.stdout


def test_retries_are_not_talked_about(world, run):
    """What came of them is in the report; no library writes to stderr by itself."""
    oids = world.engine.draw(PICTURE, **kit.STORY)
    world.pin(cuda=oids["F"])
    world.engine.fault(Status(code=503))
    done = run("check")
    assert 3 == done.returncode
    assert "503" in done.stdout
    assert 2 == len(done.stderr.splitlines()), done.stderr


def test_1_and_3_are_1_and_stderr_says_both(buggy, run):
    """Findings win; that something was not seen is said beside them."""
    buggy.pin("acme/other", cuda="1" * 40)
    buggy.upstream("acme/other").fault(Status(code=403))
    done = run("check")
    assert 1 == done.returncode
    assert re.search(r"1 of 2 upstreams observed: .*(medium|high)", done.stderr)
    assert "could not look at 1" in done.stderr


def test_fail_on_says_from_where(world, run):
    """Low findings alone are 0 by default; 1 with `--fail-on low`, and with `fail_on: low` in the configuration."""
    world.engine.draw(PICTURE)
    world.pin(cuda="main")
    assert 0 == run("check").returncode
    assert 1 == run("check", "--fail-on", "low").returncode
    world.config = {"fail_on": "low"}
    assert 1 == run("check").returncode


def test_json_is_as_the_contract_says(buggy, run):
    """Findings of many kinds in one document: all of it fits the schema, and the parts fit each other."""
    picture = """
          X                (topic)
         /
    A---B---F---C          (main, tag: v1.0)
         \\
          Y---Z            (tag: v0.9-odd)
    """
    oids = buggy.engine.draw(picture, **kit.STORY)
    moved = buggy.upstream("acme/moved")
    home = buggy.upstream("newhome/moved")
    home.draw("K---L   (main)")
    moved.fault(Redirect(to=home.url))
    buggy.pin(xpu=oids["X"], npu=oids["Y"], cpu="v1.0", hpu=oids["A"][:9], tpu=None)
    buggy.pin("acme/moved", cuda="main", rocm="2" * 40)
    buggy.pin("acme/silent", cuda="3" * 40)
    buggy.upstream("acme/silent").fault(Status(code=403))
    buggy.look()
    buggy.engine.draw(picture.replace("X                (topic)", "W                (other)"), **kit.STORY)
    done = run("check", "--format", "json")
    assert 1 == done.returncode
    document = json.loads(done.stdout)
    jsonschema.validate(document, SCHEMA)
    kinds = {found["kind"] for found in document["findings"]}
    assert kinds >= {
        "fix-available",
        "variant-drift",
        "pin-unreachable",
        "pin-absent",
        "pin-floating",
        "pin-on-tag-only",
        "upstream-moved",
    }
    pins = {pin["id"] for pin in document["pins"]}
    fixes = {fix["id"] for fix in document["fixes"]}
    assert {found["pin"] for found in document["findings"]} <= {None, *pins}
    for made in document["suggestions"]:
        assert made["pin"] in pins
        assert set(made["fixes"]) <= fixes
        assert {said["fix"] for said in made["affected"]} == set(made["fixes"])
    for drift in document["drift"]:
        assert {name for lacks in drift["lacks"].values() for name in lacks} <= fixes
    assert [name_of("acme/silent")] == [failure["upstream"] for failure in document["unobserved"]]


def test_json_of_the_smallest_story(buggy, run):
    """The one suggestion, word for word."""
    document = json.loads(run("check", "--format", "json").stdout)
    oids = buggy.engine.oids
    [cuda] = [pin for pin in document["pins"] if pin["variant"] == "cuda"]
    [fix] = document["fixes"]
    [made] = document["suggestions"]
    [drift] = document["drift"]
    assert ("sha", oids["B"], oids["B"], manifest("cuda"), 2) == tuple(
        cuda[key] for key in ("ref_kind", "ref", "commit", "file", "line")
    )
    assert (oids["F"], [oids["F"]], None, "certain") == tuple(
        fix[key] for key in ("landing", "commits", "pull_request", "grade")
    )
    assert {
        "pin": cuda["id"],
        "from": oids["B"],
        "to": oids["F"],
        "fixes": [fix["id"]],
        "commits": 1,
        "landings": 1,
        "fast_forward": True,
        "package_version": {"from": "1.4.0", "to": "1.4.0"},
        "cautions": [],
    }.items() <= made.items()
    assert [("yes", [kit.REPAIRED_LINE])] == [(said["answer"], said["where"]) for said in made["affected"]]
    assert ("behind", {"cuda": oids["F"]}, [fix["id"]]) == (drift["relation"], drift["align"], drift["lacks"]["cuda"])


def test_pins_needs_no_configuration(buggy, run):
    """`watcher pins` lists a folder: place, address, ref, variant."""
    buggy.prepare()
    done = run("pins", "images")
    assert 0 == done.returncode
    oids = buggy.engine.oids
    rows = [set(line.split()) for line in done.stdout.splitlines()]
    assert [
        {f"{manifest('cuda')}:2", name_of(), oids["B"], "cuda"},
        {f"{manifest('rocm')}:2", name_of(), oids["F"], "rocm"},
    ] == rows
    [first, _] = json.loads(run("pins", "images", "--format", "json").stdout)["pins"]
    assert (name_of(), oids["B"], 2) == (first["upstream"], first["ref"], first["line"])
    assert 2 == run("pins", "no/such/folder").returncode


def test_explain_repeats_the_whole_argument(buggy, run):
    """The pin, the fix with its evidence, the lines, the target; and git commands that run and agree."""
    buggy.look()
    done = run("explain", "images:docker/Dockerfile.cuda:engine")
    assert 0 == done.returncode, done.stderr
    oids = buggy.engine.oids
    for words in (oids["B"], oids["F"], "Reachability: default", kit.REPAIRED_LINE, "certain", "Smallest bump"):
        assert words in done.stdout
    commands = re.findall(r"^ +\$ (git .*)$", done.stdout, re.MULTILINE)
    assert commands
    for command in commands:
        again = subprocess.run(  # noqa: S602 - people paste these into a shell
            command, shell=True, capture_output=True, text=True, timeout=60, check=False
        )
        assert 0 == again.returncode, (command, again.stderr)
    [count] = [command for command in commands if "rev-list --count" in command]
    assert "1\n" == subprocess.check_output(count, shell=True, text=True)  # noqa: S602 - as above


def test_explain_takes_a_name_and_a_handle(buggy, run):
    """By the dependency's name both pins; by a finding's handle the pin that it is about."""
    handle = finding(buggy.look(), "fix-available").handle
    both = run("explain", "engine").stdout
    one = run("explain", handle).stdout
    assert 2 == both.count("Reachability:")
    assert 1 == one.count("Reachability:")
    assert manifest("cuda") in one


def test_explain_could_not_tell(buggy, run):
    """The upstream is silent now: 3, with the reason, not a mistake of whoever asked."""
    buggy.look()
    buggy.engine.fault(Status(code=403))
    done = run("explain", "engine")
    assert "the server refuses us (403)" in done.stderr
    assert 3 == done.returncode


def test_ack_snooze_and_reopen_by_handle(buggy, run):
    """What is acknowledged or snoozed does not fail a check; reopened it does again. The table shows the handles."""
    table = run("check").stdout
    found = buggy.look()
    fix, drift = (finding(found, kind).handle for kind in ("fix-available", "variant-drift"))
    assert re.search(rf"\b{fix}\b", table)
    assert re.search(rf"\b{drift}\b", table)

    done = run("ack", fix, "--note", "next release")
    assert 0 == done.returncode, done.stderr
    assert done.stdout.startswith("acknowledged: engine: ")
    assert ["variant-drift"] == [it.concern.kind for it in buggy.look().findings if it.is_live]
    assert 0 == run("snooze", drift, "--days", "2").returncode
    done = run("check", "--format", "json")
    assert 0 == done.returncode
    states = {it["kind"]: (it["state"], it["note"]) for it in json.loads(done.stdout)["findings"]}
    assert {"fix-available": ("acknowledged", "next release"), "variant-drift": ("snoozed", "")} == states

    assert 0 == run("reopen", fix).returncode
    assert 2 == run("reopen", fix).returncode, "it is open already"
    assert 1 == run("check").returncode


def test_config_check_and_schema(buggy, run):
    """`config check` is 0 for a right file; the schema accepts it."""
    path = buggy.prepare()
    assert 0 == run("config", "check").returncode
    schema = json.loads(run("config", "schema").stdout)
    jsonschema.validate(json.loads(path.read_text()), schema)


def test_words_of_strangers_steer_no_terminal(world, run):
    """A commit message with escape sequences and a bidirectional mark is shown without them."""
    title = "fix: crash \x1b[2J\x1b]0;owned\x07 \u202egnp.exe"
    oids = world.engine.draw(PICTURE, files=kit.FILES, messages={"F": f"{title}\n\nFixes #1\n"})
    world.pin(cuda=oids["B"])
    for arguments in (["check"], ["check", "-f", "markdown"], ["explain", "engine"]):
        done = run(*arguments)
        assert "crash" in done.stdout, arguments
        for mark in ("\x1b", "\x07", "\u202e"):
            assert mark not in done.stdout + done.stderr, arguments
