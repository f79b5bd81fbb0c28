"""It needs little power: nothing is written outside of the state folder."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.stories import kit
from tests.stories.test_service import LONG, PROGRAM

HOOK = """
import json, os, sys

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def _hook(event, args):
    if event == "open" and isinstance(args[0], (str, bytes)) and (args[2] or 0) & _WRITING:
        paths = [args[0]]
    elif event in {"os.mkdir", "os.remove", "os.rmdir", "os.truncate", "os.chmod", "sqlite3.connect"}:
        paths = [args[0]]
    elif event in {"os.rename", "os.link", "os.symlink"}:
        paths = list(args[:2])
    elif event == "subprocess.Popen":
        with open(LOG, "a") as log:
            log.write(json.dumps({"program": [os.fsdecode(it) for it in args[1]]}) + chr(10))
        return
    else:
        return
    found = [os.path.abspath(os.fsdecode(it)) for it in paths if isinstance(it, (str, bytes, os.PathLike))]
    found = [it for it in found if it != LOG and "__pycache__" not in it]
    if found:
        fd = os.open(LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(fd, (json.dumps({"event": event, "paths": found}) + chr(10)).encode())
        os.close(fd)


LOG = os.environ["WRITES"]
sys.addaudithook(_hook)
"""


@pytest.fixture
def writes(world, tmp_path, monkeypatch):
    """Return what a command writes to, and which programs it starts: told by Python's own audit hooks."""
    (tmp_path / "hook").mkdir()
    (tmp_path / "hook" / "sitecustomize.py").write_text(HOOK)
    log = tmp_path / "writes.jsonl"
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "hook"))
    monkeypatch.setenv("WRITES", str(log))
    monkeypatch.setenv("HOME", "/nonexistent")

    def writes(*command):
        log.unlink(missing_ok=True)
        world.prepare()
        ran = subprocess.run([PROGRAM, *command], cwd=world.folder, capture_output=True, check=False, timeout=LONG)
        said = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        paths = {path for it in said for path in it.get("paths", ())}
        return ran, paths, [it["program"] for it in said if "program" in it]

    return writes


def outside(paths, world):
    """Return those paths that are not below the state folder."""
    return {it for it in paths if not f"{it}{os.sep}".startswith(f"{world.state}{os.sep}") and it != os.devnull}


def test_a_pass_writes_to_its_state_alone(world, writes):
    """And the programs that it starts are git, told where."""
    oids = world.engine.draw("A---B---F---C   (main)", **kit.STORY)
    world.pin(cuda=oids["B"], rocm="main")
    ran, paths, programs = writes("check")
    assert 1 == ran.returncode, ran.stderr
    state = f"{world.state}{os.sep}"
    assert str(world.state / "watcher.db") in paths
    assert set() == outside(paths, world)
    assert programs
    assert {"git"} == {Path(it[0]).name for it in programs}
    # Those that read what a folder of ours has; all others are told the mirror, or make it.
    elsewhere = [it for it in programs if not any(word.startswith((f"--git-dir={state}", state)) for word in it)]
    assert [] == [it for it in elsewhere if it[1] != "-C" or it[3] not in {"ls-files", "config", "rev-parse"}]


@pytest.mark.parametrize("command", ["pins", "explain engine", "config check", "digest", "state"])
def test_what_only_tells_writes_nothing_else(world, writes, command):
    """Nor does it write to the folder that it reads pins from."""
    world.pin(cuda=world.engine.draw("A---B   (main)")["A"])
    world.look()
    ran, paths, _ = writes(*command.split())
    assert ran.returncode in {0, 1}, ran.stderr
    assert set() == outside(paths, world)
