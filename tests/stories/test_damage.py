"""The database or a mirror is damaged between two passes: nothing is told twice or wrongly, and nothing is lost."""

import errno
import json
import os
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.faults.damages import DATABASE, MIRROR
from tests.stories import kit
from tests.stories.test_crash import AFTER, BEFORE, OPENED
from tests.stories.world import clean_up, kinds, reach, told
from watcher import selfcheck
from watcher.config import Settings
from watcher.deliver import _words, channels
from watcher.errors import DamagedError, UsageError
from watcher.findings import acknowledge
from watcher.rescuing import drill, rescue
from watcher.store import Store
from watcher.upstream import git, packing, salvage

PROGRAM = Path(sys.executable).with_name("watcher")
SLACK = {"slack": {"channel": "#images", "token": "env:SLACK_BOT_TOKEN"}}


@pytest.fixture
def eventful(world):
    """Offer a world in which four things went wrong after a clean baseline, and one was acknowledged."""
    world.config = SLACK
    oids = world.engine.draw(BEFORE, **kit.STORY)
    world.pin(cuda=oids["B"], rocm=oids["X"], cpu="v1.0")
    assert [] == kinds(world.look())
    world.engine.draw(AFTER, **kit.STORY)
    [unreachable] = [it for it in world.look().findings if it.concern.kind == "pin-unreachable"]
    world.act(unreachable, acknowledge, world.now)
    return world


def looked(world):
    """Make a pass, or two where the first one meets the damage only when it reads that page."""
    try:
        return world.look()
    except DamagedError:
        return world.look()


def damaged_at(file, share):
    """Change one byte of a file."""
    content = bytearray(file.read_bytes())
    content[int(len(content) * share)] ^= 0xFF
    file.chmod(0o644)
    file.write_bytes(content)


def messages(world):
    """Return what is owed, by key."""
    with Store.open(world.state) as store:
        return [owed.key for owed in store.outbox()]


@pytest.mark.parametrize("kind", DATABASE)
def test_a_damaged_database_brings_no_storm(eventful, kind):
    """What was known and could be read is not told again; what could not is told in one summary."""
    before = set(messages(eventful))
    DATABASE[kind](eventful.state / "watcher.db")
    found = looked(eventful)
    assert {"fix-available", "pin-unreachable", "variant-drift"} == {*kinds(found)} - {"tag-moved"}
    assert not [event for event in found.events if event.kind != "opened"], "nothing is resolved in silence"
    new = [key for key in messages(eventful) if key not in before]
    assert len(new) <= 1
    assert all(key.startswith("baseline ") for key in new)
    assert [] == told(eventful.look())


@pytest.mark.parametrize("kind", DATABASE)
def test_what_happened_meanwhile_is_told(world, kind):
    """Upstream forces a branch, moves a tag and repairs a bug after the last good pass: the mirror knows what was."""
    world.config = SLACK
    oids = world.engine.draw(BEFORE, **kit.STORY)
    world.pin(cuda=oids["B"], rocm=oids["X"], cpu="v1.0")
    world.look()
    world.engine.draw(AFTER, **kit.STORY)
    DATABASE[kind](world.state / "watcher.db")
    assert OPENED == told(looked(world))
    assert messages(world)
    assert [] == told(world.look())


def test_a_finding_that_is_over_is_told_so(eventful):
    """The database was damaged while upstream took its branch back: the end is told, as ever."""
    with closing(Store.open(eventful.state)) as store:
        store._row("PRAGMA wal_checkpoint(TRUNCATE)")
    DATABASE["header overwritten"](eventful.state / "watcher.db")
    eventful.engine.draw(BEFORE, **kit.STORY)
    assert ("resolved", "pin-unreachable") in told(eventful.look())


def test_people_are_told_once(eventful):
    """In the channel of alerts, with the name of the file; the self-check and the log say it until that is removed."""
    DATABASE["no database"](eventful.state / "watcher.db")
    eventful.look()
    settings = Settings.model_validate(eventful.document())
    with Store.open(settings.state) as store:
        for _ in range(2):
            store.owe(selfcheck.damage_owed(settings), eventful.now)
        [told_] = [it for it in store.waiting() if "reply" in it.payload]
        [line] = selfcheck._database(store.path)
        words = _words(channels(settings), told_, store, eventful.now).text
    [file] = eventful.state.glob("watcher.db.damaged-*")
    assert f"{file.name} slack" == told_.key
    assert f"{file}: the state database was damaged and is set aside here" in line
    assert line == words
    file.unlink()
    assert () == selfcheck.damage_owed(settings)


# --- mirrors ---------------------------------------------------------------------------------------------------------


NEXT = "A---B---F---G   (main)"
LOSES_OBJECTS = {"pack cut", "pack gone", "objects zeroed", "objects gone", "emptied", "gone"}


@pytest.mark.parametrize("kind", MIRROR)
def test_a_damaged_mirror_alarms_nobody(eventful, kind):
    """It is fetched again. A commit that upstream lost and the mirror kept is there, or its loss is said once."""
    clean_up(eventful.engine)
    eventful.look()
    before = kinds(eventful.look())
    MIRROR[kind](eventful.mirror().directory)
    eventful.engine.draw(NEXT, refs={"refs/tags/v1.0": "F"}, **kit.STORY)
    found = eventful.look()
    assert [] == list(found.unobserved)
    assert "default" == reach(found).cls
    lost = eventful.engine.oids["X"]
    kept = eventful.mirror().run("for-each-ref", "--format=%(refname:lstrip=3)", "refs/watcher/kept/").decode()
    if kind in LOSES_OBJECTS:
        over = [("resolved", "pin-unreachable"), ("resolved", "variant-drift")]
        assert [("opened", "pin-absent"), *over] == told(found), "neither upstream nor anybody else has it"
    else:
        assert [] == told(found)
        assert before == kinds(found)
        assert lost in kept.split()
    assert [] == told(eventful.look())


def test_a_kept_commit_comes_back_from_an_archive(eventful):
    """Neither the mirror nor upstream has it, but somebody rescued it: it is as if nothing had been."""
    settings = Settings.model_validate(eventful.document())
    lost = eventful.engine.oids["X"]
    with Store.open(settings.state) as store:
        rescue(settings, store, "engine", settings.state / "rescued", now=eventful.now)
    clean_up(eventful.engine)
    eventful.look()
    MIRROR["pack cut"](eventful.mirror().directory)
    eventful.engine.draw(NEXT, refs={"refs/tags/v1.0": "F"}, **kit.STORY)
    assert [] == told(eventful.look())
    assert lost in eventful.mirror().run("for-each-ref", "refs/watcher/kept/").decode()
    assert () == salvage.lost(eventful.mirror().directory)


def test_a_kept_commit_that_is_lost_is_said(eventful):
    """By the self-check, until somebody brings it back: the damage was ours, not upstream's."""
    clean_up(eventful.engine)
    eventful.look()
    MIRROR["pack cut"](eventful.mirror().directory)
    eventful.engine.draw(NEXT, refs={"refs/tags/v1.0": "F"}, **kit.STORY)
    eventful.look()
    [line] = selfcheck._mirrors(eventful.state / "mirrors")
    assert f"was damaged, and {eventful.engine.oids['X']}, which it kept for a pin, could not be read" in line


def test_a_damaged_byte_in_what_a_look_reads(world):
    """Of files that are compared with the pinned ones: the same pass builds the mirror anew, and says all there is."""
    world.config = SLACK
    oids = world.engine.draw("A---B---F   (main)", **kit.STORY)
    world.pin(cuda=oids["B"])
    expected = kinds(world.look())
    directory = world.mirror().directory
    packing.tidy(directory)
    for number, share in enumerate((0.05, 0.3, 0.6, 0.9)):
        for pack in directory.glob("objects/pack/*.pack"):
            damaged_at(pack, share)
        world.engine.draw(f"A---B---F---{'---'.join('GHIJ'[: number + 1])}   (main)", **kit.STORY)
        found = world.look()
        assert [] == list(found.unobserved)
        assert (expected, []) == (kinds(found), told(found))


def test_the_daily_drill_finds_a_damaged_pack(world):
    """Nothing changes upstream, so that no look reads it: it is built anew while upstream still answers."""
    oids = world.engine.draw("A---B---F   (main)", **kit.STORY)
    world.pin(cuda=oids["B"])
    world.look()
    settings = Settings.model_validate(world.document())
    with Store.open(settings.state) as store:
        assert () == drill(settings, store, now=world.now)
        packing.tidy(world.mirror().directory)
        for pack in world.mirror().directory.glob("objects/pack/*.pack"):
            damaged_at(pack, 0.5)
        assert () == drill(settings, store, now=world.now)
        shutil.rmtree(world.engine.path)
        assert () == drill(settings, store, now=world.now)


# --- no room, no right to write --------------------------------------------------------------------------------------


def test_a_state_folder_that_cannot_be_made(world):
    """Where nobody can write, not even the superuser: one line with the way on, and the code for "could not tell"."""
    world.config = {"state": "/proc/watcher"}
    world.pin(cuda="main")
    done = subprocess.run([PROGRAM, "check", "-c", world.prepare()], capture_output=True, text=True, check=False)
    assert (3, "") == (done.returncode, done.stdout)
    [line] = done.stderr.splitlines()
    assert line.startswith("watcher: cannot use /proc/watcher as the state folder: ")
    assert line.endswith("make it writable, or name another folder under `state`")


EDIT = """
import resource, signal, subprocess, sys
from pathlib import Path
from watcher.errors import EditError
from watcher.inplace import Change, replace_all
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
files = [Path(sys.argv[1]) / name for name in ("small", "large")]
try:
    replace_all({it: Change(file=it.name, old=it.read_bytes(), new=b"new" * len(it.read_bytes())) for it in files})
except EditError as error:
    sys.exit(str(error))
"""


@pytest.mark.parametrize("room", [0, 10, 100, 2999])
def test_manifests_without_room(tmp_path, room):
    """There is no room for the new content of a file: all files are as they were, and nothing is left beside them."""
    old = {"small": b"x" * 10, "large": b"y" * 1000}
    for name, content in old.items():
        (tmp_path / name).write_bytes(content)
    done = subprocess.run(
        [sys.executable, "-c", EDIT, tmp_path, str(room)], capture_output=True, text=True, check=False
    )
    assert 1 == done.returncode
    assert done.stderr.endswith("it cannot be written: File too large; nothing was changed\n")
    assert old == {name: (tmp_path / name).read_bytes() for name in old}
    assert set(old) == {it.name for it in tmp_path.iterdir()} - {"home"}


def test_an_archive_without_room(eventful, monkeypatch):
    """Nothing is left of it, and the line names the folder."""
    settings = Settings.model_validate(eventful.document())

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("watcher.rescuing._pack", full)
    with Store.open(settings.state) as store, pytest.raises(UsageError, match="out: the archive cannot be written: No"):
        rescue(settings, store, "engine", eventful.folder / "out", now=eventful.now)
    assert [] == list((eventful.folder / "out").iterdir())


# --- power cut -------------------------------------------------------------------------------------------------------
#
# Simulated: the files that nobody waits for are emptied after a pass (`power cut` above). Only looked at: that git is
# told to wait for the others and does so (by its own count), that our own files are waited for before what they replace
# goes, and that the database waits at each commit (tests/store/test_database.py). No power is cut here.


def test_git_waits_for_what_is_kept(world, tmp_path, monkeypatch):
    """Objects, and the refs that keep them, are on the disk before the pass that saw them is recorded."""
    trace, passed = tmp_path / "trace", git._environment
    monkeypatch.setattr(git, "_environment", lambda config: passed(config) | {"GIT_TRACE2_EVENT": str(trace)})
    oids = world.engine.draw("A---B---F   (main)", **kit.STORY)
    world.pin(cuda=oids["B"])
    world.look()
    events = [json.loads(line) for line in trace.read_text().splitlines()]
    waited = {it["sid"] for it in events if it["event"] == "data" and it["category"] == "fsync" and int(it["value"])}
    ran = [(it["sid"], it["argv"]) for it in events if it["event"] == "start"]
    assert all(sid in waited for sid, argv in ran if "index-pack" in argv)
    ours = [sid in waited for sid, argv in ran if "update-ref" in argv and "/mirrors/" in argv[1]]
    assert [False, True] == ours, "upstream's refs are not waited for, those that keep commits are"


def test_our_own_files_are_waited_for(eventful, monkeypatch):
    """A mirror that is built anew is on the disk before the broken one goes, and an archive before it has its name."""
    log: list[tuple[str, str]] = []

    def logged(owner, name, path_of):
        function = getattr(owner, name)

        def wrapped(*args, **kwargs):
            log.append((name, path_of(args)))
            return function(*args, **kwargs)

        monkeypatch.setattr(owner, name, wrapped)

    logged(os, "fsync", lambda args: os.readlink(f"/proc/self/fd/{args[0]}"))  # noqa: PTH115
    logged(Path, "rename", lambda args: str(args[0]))
    logged(Path, "replace", lambda args: str(args[0]))
    logged(shutil, "rmtree", lambda args: str(args[0]))
    directory = eventful.mirror().directory
    MIRROR["HEAD gone"](directory)
    eventful.engine.draw(NEXT, refs={"refs/tags/v1.0": "F"}, **kit.STORY)
    eventful.look()
    settings = Settings.model_validate(eventful.document())
    with Store.open(settings.state) as store:
        rescue(settings, store, "engine", eventful.folder / "out", now=eventful.now)
    [fresh] = [path for name, path in log if name == "rename" and f".{directory.name}." in path]
    begin = log.index(("rename", fresh))
    gone = log.index(("rmtree", f"{directory}.broken"), begin)
    synced = [path for name, path in log[:begin] if name == "fsync" and path.startswith(fresh)]
    assert any(path.endswith((".pack", "/HEAD")) for path in synced)
    assert any("refs/watcher/kept/" in path for path in synced)
    assert ("fsync", str(directory.parent)) in log[begin:gone]
    for name, path in log:
        if name == "replace" and path.endswith(".tar"):
            assert ("fsync", path) in log[: log.index((name, path))]
            assert ("fsync", str(eventful.folder / "out")) in log[log.index((name, path)) :]
    assert [path for name, path in log if name == "replace" and path.endswith(".tar")]
