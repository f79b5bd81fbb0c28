"""Mirrors are packed and made smaller, and nothing that pins need is ever lost on the way."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest

from tests.upstream.test_mirror import PICTURE, TEXT, advertised, mirrored, refs_of
from watcher.errors import GitError
from watcher.model import Oid
from watcher.upstream import packing, salvage
from watcher.upstream.git import Git
from watcher.upstream.guard import held
from watcher.upstream.history import open_graph
from watcher.upstream.mirror import Mirror
from watcher.upstream.standalone import tried

NOW = datetime.now(UTC)
FILES = {name: {f"src/{name}.c": f"{name}\n{TEXT}"} for name in "ABCDEXY"}
ROOT = Path(__file__).parents[2]


@pytest.fixture
def mirror(upstream, tmp_path):
    """Return a mirror in many packs: Y is kept, has its contents, and no ref of upstream's holds it any more."""
    oids = upstream.draw(PICTURE, files=FILES)
    made = mirrored(upstream, tmp_path)
    made.keep(oids["Y"])
    made.complete(oids["Y"])
    made.bring_past(oids["Y"])
    upstream.draw("A---B---C---D---E---F (main)", files=FILES)
    made.fetch(advertised(upstream.url))
    made.complete(upstream.oids["F"])
    return made


def reopened(mirror) -> Mirror:
    """Return the mirror as a later process finds it."""
    return Mirror.open(mirror.directory, mirror.url, filters=True)


def objects(directory: Path) -> set[str]:
    """Return the ids of all objects that are there."""
    printed = Git(directory=directory).run("cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
    return set(printed.decode().split())


def packs(directory: Path) -> list[str]:
    """Return how the names of packs' files end."""
    return sorted(file.suffix for file in (directory / "objects" / "pack").iterdir())


def aged(place: Path) -> Path:
    """Let a file be old, as one that a program left that was killed long ago."""
    os.utime(place, (0, 0), follow_symlinks=False)
    return place


def killed_at_each_step(work: str, directory: Path, spare: Path, *needed: Oid):
    """Do a work again and again on copies of a mirror, killed one step later each time; yield what is left."""
    for step in count():
        shutil.rmtree(spare, ignore_errors=True)
        shutil.copytree(directory, spare, symlinks=True)
        command = [sys.executable, "-m", "tests.upstream.struck", work, spare, str(step), *needed]
        done = subprocess.run(command, capture_output=True, timeout=60, check=False, cwd=ROOT)
        yield done.returncode
        if done.returncode != -9:
            break


# --- packing ---------------------------------------------------------------------------------------------------------


def test_all_packs_become_one(mirror):
    """Every object is still there, what no ref reaches included; what upstream promised is still known to be so."""
    before, refs = objects(mirror.directory), refs_of(mirror)
    assert 4 <= packing.clutter(mirror.directory).packs
    packing.tidy(mirror.directory)
    assert [".idx", ".pack", ".promisor"] == packs(mirror.directory)
    assert (before, refs) == (objects(mirror.directory), refs_of(mirror))


def test_what_was_packed_is_a_mirror_like_any_other(mirror, upstream):
    """Its history is read from git's table, upstream's news come, and contents too."""
    packing.tidy(mirror.directory)
    upstream.draw("A---B---C---D---E---F---G (main)", files=FILES | {"G": {"new.c": "new\n"}})
    later = reopened(mirror)
    later.fetch(advertised(upstream.url))
    assert b"new\n" == later.content(upstream.oids["G"], "new.c")
    assert upstream.oids["Y"] in open_graph(later, worth=0).ancestors(upstream.oids["Y"])


def test_a_whole_copy_is_packed_too(upstream, tmp_path):
    """Upstream's server has no filters: the mirror has everything, in files of their own at first."""
    oids = upstream.draw(PICTURE, files=FILES)
    made = Mirror.open(tmp_path / "mirror.git", upstream.url, filters=False)
    made.fetch(advertised(upstream.url))
    upstream.draw("A---B (main)", files=FILES)
    made.fetch(advertised(upstream.url))
    before = objects(made.directory)
    packing.tidy(made.directory)
    assert [".idx", ".pack"] == packs(made.directory)
    assert (before, 0) == (objects(made.directory), packing.clutter(made.directory).loose)
    assert oids["E"] in before


def test_killed_while_packing_nothing_is_lost(mirror, tmp_path):
    """Whatever the step: all objects and refs are there, and the next one makes one pack."""
    before, refs, spare = objects(mirror.directory), refs_of(mirror), tmp_path / "spare.git"
    for _ in killed_at_each_step("tidy", mirror.directory, spare):
        assert (before, refs) == (objects(spare), refs_of(Mirror(directory=spare, url="", partial=True)))
        packing.tidy(spare)
        assert [".idx", ".pack", ".promisor"] == packs(spare)


def test_clutter_is_counted(mirror):
    """Packs one by one; loose objects are taken from one folder of 256."""
    (mirror.directory / "objects" / "17").mkdir()
    for number in range(3):
        (mirror.directory / "objects" / "17" / f"{number:038}").touch()
    found = packing.clutter(mirror.directory)
    assert (packs(mirror.directory).count(".pack"), 3 * 256) == (found.packs, found.loose)


# --- leaving out -----------------------------------------------------------------------------------------------------


def test_what_pins_need_stays_and_the_rest_goes(mirror, upstream):
    """All commits, the contents of the kept one, the trees before it; not the contents of what upstream has now."""
    y, f = upstream.oids["Y"], upstream.oids["F"]
    commits = mirror.parents()
    assert packing.slim(mirror.directory, packing.kept_commits(mirror.directory))
    assert commits == mirror.parents()
    later = reopened(mirror)
    assert (True, False) == (later.is_whole(y), later.is_whole(f))
    assert [".idx", ".pack", ".promisor"] == packs(mirror.directory)
    for commit in ("A", "B", "C", "X"):
        assert f"src/{commit}.c" in later.files(upstream.oids[commit])
    later.complete(f)
    assert later.is_whole(f)


def test_without_upstream_the_kept_commit_is_as_good_as_before(mirror, upstream, tmp_path):
    """It can be copied and checked, as a rescue does."""
    packing.slim(mirror.directory, packing.kept_commits(mirror.directory))
    shutil.rmtree(upstream.path)
    tried(reopened(mirror), upstream.oids["Y"], tmp_path / "tried.git")


def test_there_is_nothing_to_leave_out_twice(mirror):
    """The second time changes nothing."""
    kept = packing.kept_commits(mirror.directory)
    assert packing.slim(mirror.directory, kept)
    before = sorted(file.stat().st_mtime_ns for file in mirror.directory.rglob("*"))
    assert not packing.slim(mirror.directory, kept)
    assert before == sorted(file.stat().st_mtime_ns for file in mirror.directory.rglob("*"))


def test_a_whole_copy_stays_whole(upstream, tmp_path):
    """Its server does not hand out parts."""
    upstream.draw(PICTURE, files=FILES)
    made = Mirror.open(tmp_path / "mirror.git", upstream.url, filters=False)
    made.fetch(advertised(upstream.url))
    before = objects(made.directory)
    assert not packing.slim(made.directory, ())
    assert before == objects(made.directory)


def test_a_damaged_mirror_is_not_made_smaller(mirror):
    """What cannot be read could be what a pin needs: nothing is removed."""
    files = sorted(mirror.directory.glob("objects/pack/*.pack"))
    for pack in files:
        content = bytearray(pack.read_bytes())
        content[len(content) // 2] ^= 0xFF
        pack.chmod(0o644)
        pack.write_bytes(content)
    with pytest.raises(GitError):
        packing.slim(mirror.directory, packing.kept_commits(mirror.directory))
    assert files == sorted(mirror.directory.glob("objects/pack/*.pack"))


def test_killed_while_leaving_out_no_need_is_hurt(mirror, upstream, tmp_path):
    """Whatever the step: history and kept contents are there, and the next day leaves one pack."""
    y, spare, refs = upstream.oids["Y"], tmp_path / "spare.git", refs_of(mirror)
    kept, commits = packing.kept_commits(mirror.directory), mirror.parents()
    codes = []
    for code in killed_at_each_step("slim", mirror.directory, spare, *kept):
        codes.append(code)
        left = Mirror(directory=spare, url=mirror.url, partial=True)
        assert (True, commits, refs) == (left.is_whole(y), left.parents(), refs_of(left))
        for place in [spare, *spare.rglob("*")]:
            aged(place)
        packing.sweep(spare, NOW)
        packing.slim(spare, kept)
        packing.tidy(spare)
        again = Mirror(directory=spare, url=mirror.url, partial=True)
        assert (True, commits) == (again.is_whole(y), again.parents())
        assert not list(spare.glob("objects/slim-*"))
        assert [".idx", ".pack", ".promisor"] == packs(spare)
    assert 0 == codes[-1]
    assert 15 < len(codes)


# --- removing --------------------------------------------------------------------------------------------------------


def test_killed_while_removing_there_is_all_or_nothing(mirror, tmp_path):
    """A mirror is there, or it is not; what is left of one that is not is swept away some day."""
    before, spare = objects(mirror.directory), tmp_path / "spare.git"
    for _ in killed_at_each_step("remove", mirror.directory, spare):
        assert not spare.exists() or before == objects(spare)
        for place in tmp_path.glob(".spare.git.*"):
            aged(place)
        packing.sweep(spare, NOW)
        assert not list(tmp_path.glob(".spare.git.*"))
    assert not spare.exists()


LEFT = (
    "packed-refs.lock",
    "packed-refs.new",
    "config.lock",
    "refs/heads/main.lock",
    "objects/info/commit-graphs/commit-graph-chain.lock",
    "objects/pack/tmp_pack_a1b2c3",
    "objects/pack/.tmp-77-pack-0123.pack",
    "objects/pack/pack-0123.keep",
    "objects/pack/pack-0123.pack",
    "objects/17/tmp_obj_a1b2c3",
    "objects/slim-abc/pack-1.pack",
    "asked-abc/config",
)


def test_what_killed_programs_left_goes(mirror):
    """Where it is old; what is younger may be somebody's work. Packing works afterwards."""
    before, left = objects(mirror.directory), [mirror.directory / name for name in LEFT]
    for file in left:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    packing.sweep(mirror.directory, NOW)
    assert all(file.exists() for file in left)
    for file in left:
        aged(file)
        aged(file.parent)
    packing.sweep(mirror.directory, NOW)
    assert [] == [file for file in left if file.exists()]
    packing.tidy(mirror.directory)
    assert before == objects(mirror.directory)


def test_a_lock_beside_a_mirror_stays_however_old(mirror):
    """Somebody may hold it, or wait for it: who came later would get another one, and both would work at once."""
    with held(mirror.directory, wait=0):
        aged(lock := mirror.directory.with_name(f"{mirror.directory.name}.lock"))
        packing.sweep(mirror.directory, NOW)
        assert lock.exists()


def test_whoever_looks_takes_the_same_lock(mirror):
    """A look and the upkeep of one mirror exclude each other."""

    def is_free():
        with held(mirror.directory, wait=0) as is_ours:
            return is_ours

    with ThreadPoolExecutor() as pool:
        with salvage.alone(mirror.directory):
            assert not pool.submit(is_free).result()
        assert pool.submit(is_free).result()


def test_old_mirrors_lose_nothing_by_sweeping(mirror, upstream):
    """Everything in it is old, and none of it is a leftover."""
    before, refs = objects(mirror.directory), refs_of(mirror)
    for place in [mirror.directory, *mirror.directory.rglob("*")]:
        aged(place)
    count_ = len(list(mirror.directory.rglob("*")))
    packing.sweep(mirror.directory, NOW)
    assert (before, refs, count_) == (
        objects(mirror.directory),
        refs_of(mirror),
        len(list(mirror.directory.rglob("*"))),
    )


# --- sizes -----------------------------------------------------------------------------------------------------------


def test_what_pins_need_is_part_of_the_size(mirror, upstream):
    """A commit that was kept takes its part, nothing takes none, and both are less than the whole."""
    everything = packing.size(mirror.directory)
    kept = packing.size_of(mirror.directory, [upstream.oids["Y"]])
    assert 0 == packing.size_of(mirror.directory, [])
    assert 0 < kept < everything


def test_only_published_commits_are_on_branches_and_tags(mirror, upstream):
    """Y was left behind by a forced update, D was not."""
    y, d = upstream.oids["Y"], upstream.oids["D"]
    found = [packing.is_published(mirror.directory, some) for some in ([d], [y], [d, y])]
    assert [True, False, False] == found
