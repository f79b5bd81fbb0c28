"""Disks that are really full: the program itself, with its state folder on a tmpfs that has little room, or few inodes.

That takes no rights but those of a user who may have mounts of his own.
"""

import random
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.faults.disks import Story, check_line, some, told
from tests.faults.stage import summed
from tests.faults.trial import Outcome, Trial
from tests.stories import kit

_WAYS = (("unshare", "-rm"), ("unshare", "-m"))
"""How a program gets mounts of its own: as a user, and as a root who may have no users below him."""
_PREPARE = """
place=$1 before=$2 room=$3 names=$4
filled() { cp -R --preserve=mode,timestamps "$1/." "$2" || exit 99; }
disk() { mount -t tmpfs -o "size=$1k,nr_inodes=$2" none "$place" && filled "$before" "$place"; }
used() { df -P"$1" "$place" | awk 'NR == 2 { print $3 }'; }
disk 65536 65536 || exit 99
room=$(($(used k) + room)) names=$(($(used i) + names))
umount "$place" && disk "$room" "$names" || exit 99
"""
"""Mount a small disk with all that is in a folder, and so much room and so many names beside it."""
_RUN = f"""{_PREPARE}
after=$5
shift 5
"$@"
code=$?
filled "$place" "$after"
exit $code
"""
"""Run a program there, and bring what it left to another disk."""
_UNSET = 99
_MET = 3
"""The exit code where something could not be told."""
_FEW = 2
_MUCH = {True: (64 * 1024,), False: (64 * 1024,)}
"""Whether it is the first look → KiB, or inodes, that are enough."""
_ROOMS = {True: range(4, 800, 16), False: range(4, 560, 16)}
"""KiB that are too few, or just enough: the database needs some 400 at first, and the mirror as much again."""
_NAMES = {True: range(1, 36), False: range(9)}
"""Inodes that are."""
_NOISE = random.Random(8).randbytes(300_000).hex()  # noqa: S311 - no secret
_HEAVY = {it: {**kit.FILES[it], f"src/{it}.txt": f"{_NOISE}{it}"} for it in "AF"}
"""What upstream has: some that fills a mirror."""


@cache
def _apart() -> Sequence[str]:
    """Return the beginning of a command that has mounts of its own; nothing where those are not permitted."""
    for way in _WAYS:
        with TemporaryDirectory() as place, TemporaryDirectory() as empty:
            command = [*way, "sh", "-c", _PREPARE, "sh", place, empty, "8", "8"]
            if shutil.which(way[0]) and subprocess.run(command, capture_output=True, check=False).returncode == 0:
                return way
    return ()


def _lack() -> str:
    asked = " nor by ".join(f"`{' '.join(it)}`" for it in _WAYS)
    return "" if _apart() else f"a small tmpfs can be mounted neither by {asked}"


def _small(folder: Path, rooms: Mapping[bool, Sequence[int]], names: Mapping[bool, Sequence[int]]) -> Outcome:
    """Let the disk be too small at the first look, and at a later one: with each room, and each number of inodes."""
    return summed(
        _looked(folder, is_first=is_first, disks=some(product(rooms[is_first], names[is_first]), _FEW))
        for is_first in (True, False)
    )


def _looked(folder: Path, *, is_first: bool, disks: Iterable[tuple[int, int]]) -> Outcome:
    place = folder / ("first" if is_first else "later")
    place.mkdir()
    # The program looks at the clock: for it, nothing of the story may be in the future.
    yesterday = datetime.now(UTC) - timedelta(days=1)
    with told(place, is_first=is_first, now=yesterday, history={**kit.STORY, "files": _HEAVY}) as story:
        met = sum(_is_met(story, room, names) for room, names in disks)
        return replace(story.outcome, injected=met)


def _is_met(story: Story, room: int, names: int) -> bool:
    """Run `watcher check` on a small disk, go on where there is room; return whether it was too small."""
    story.begin()
    after = story.folder / "after"
    after.mkdir()
    config = story.world.folder / "config.yaml"
    program = [sys.executable, "-m", "watcher", "check", "--config", config]
    small = [*_apart(), "sh", "-c", _RUN, "sh", story.world.state, story.middle, str(room), str(names), after]
    done = subprocess.run([*small, *program], capture_output=True, text=True, check=False)
    if done.returncode == _UNSET:
        raise AssertionError(f"the small disk could not be made: {done.stderr}")
    check_line(done.returncode, done.stderr)
    shutil.rmtree(story.world.state)
    after.rename(story.world.state)
    story.world.now = datetime.now(UTC)
    story.end()
    return done.returncode == _MET


TRIALS: Sequence[Trial] = (
    Trial(
        group="Disk",
        name="a small tmpfs is full, at the first look and later",
        run=partial(_small, rooms=_ROOMS, names=_MUCH),
        lack=_lack,
    ),
    Trial(
        group="Disk",
        name="a small tmpfs has no inodes left, at the first look and later",
        run=partial(_small, rooms=_MUCH, names=_NAMES),
        lack=_lack,
    ),
)
