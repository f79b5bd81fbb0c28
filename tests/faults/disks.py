"""What can happen to the disk and to the process: damage, no room, no names, a sudden death at any step.

Each trial plays one story (a branch is forced, a tag moves, a bug is repaired, a side of a drift is left behind) with
the trouble in the middle, and counts what is known and owed afterwards against the same story without it.
"""

import multiprocessing
import os
import random
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache, partial
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

from tests.faults import damages
from tests.faults.trial import Outcome, Trial
from tests.stories import killed, kit
from tests.stories.world import START, World
from watcher.demo.server import GitServer
from watcher.errors import StoreError
from watcher.store import Store
from watcher.upstream.salvage import KEPT

EVERY = "WATCHER_TRIALS"
"""The variable of the environment that is `all` where every step is tried, and not a spread of them."""
_SOME = 5
_BEFORE = """
      X        (topic)
     /
A---B          (main, tag: v1.0)
"""
_AFTER = "A---B---F     (main, tag: v1.0)"
_SLACK = {"slack": {"channel": "#images", "token": "env:SLACK_BOT_TOKEN"}}
_ROOMS = (0, 20, 41, 100, 500, 1100, 4096, 8192, 20_000, 60_000, 100_000, 140_000)
"""Bytes that a file may have on the full disk."""
_AT_ONCE = {"patience": timedelta(milliseconds=20)}
_Step = TypeVar("_Step")


@dataclass
class Story:
    """The story, as often as it is wanted from its middle on."""

    folder: Path
    server: GitServer
    is_first: bool = False
    """Whether the trouble meets the first look ever."""
    now: datetime = START
    history: Mapping[str, Any] = field(default_factory=lambda: kit.STORY)
    """What its commits hold."""
    world: World = field(init=False)
    expected: tuple[Counter[tuple[str, ...]], Counter[str]] = field(init=False)
    kept: set[str] = field(init=False)
    lost: int = 0
    false: int = 0
    count: int = 0
    slowest: float = 0.0

    def __post_init__(self) -> None:
        """Play it up to its middle, and once without trouble."""
        self.world = World(folder=self.folder, server=self.server, config=dict(_SLACK), now=self.now, reader=None)
        oids = self.world.engine.draw(_BEFORE, **self.history)
        self.world.pin(cuda=oids["B"], rocm=oids["X"], cpu="v1.0")
        if not self.is_first:
            self.world.look()
        self.world.state.mkdir(exist_ok=True)
        shutil.copytree(self.world.state, self.middle)
        self.world.engine.draw(_AFTER, **self.history)
        self.begin()
        self.world.look()
        self.expected = self.known()
        self.kept = self.held()

    @property
    def middle(self) -> Path:
        """Return the state folder as it is in the middle."""
        return self.folder / "middle"

    def begin(self) -> None:
        """Go back to the middle."""
        shutil.rmtree(self.world.state)
        shutil.copytree(self.middle, self.world.state)
        self.world.now += timedelta(hours=1)
        self.world.prepare()

    def end(self) -> None:
        """Make the next passes without trouble, and count what is wrong afterwards."""
        began = time.monotonic()
        self.world.look()
        self.slowest = max(self.slowest, time.monotonic() - began)
        self.world.look()
        (events, messages), (right, owed) = self.known(), self.expected
        self.lost += (right - events).total() + (owed - messages).total() + len(self.kept - self.held())
        self.false += (events - right).total() + (messages - owed).total()
        self.count += 1

    def known(self) -> tuple[Counter[tuple[str, ...]], Counter[str]]:
        """Return what happened, and of which findings messages are owed."""
        with Store.open(self.world.state) as store:
            events = Counter((str(it.kind), it.finding.key) for it in store.events())
            owed = [it.payload for it in store.outbox()]
        named = (key for it in owed for key in it.get("baseline", (it.get("finding"),)))
        return events, Counter(map(str, named))

    def held(self) -> set[str]:
        """Return the commits that are kept, with all their history."""
        git = self.world.mirror()
        named = git.run("for-each-ref", "--format=%(objectname)", KEPT).decode().split()
        return {name for name in named if git.answers("rev-list", "--quiet", name)}

    @property
    def outcome(self) -> Outcome:
        """Return what came of it all."""
        return Outcome(injected=self.count, lost=self.lost, false_alarms=self.false, recovery=self.slowest)


@contextmanager
def told(folder: Path, **given: Any) -> Iterator[Story]:
    """Play the story up to its middle, in an empty folder, with whatever of it is `given`."""
    with GitServer(folder / "served") as server:
        (folder / "world").mkdir()
        yield Story(folder=folder / "world", server=server, **given)


@cache
def _processes() -> ForkServerContext:
    """Return how to start processes: forked from one that has imported everything, so that each is cheap."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([killed.__name__, "watcher.examine", "watcher.forges", "asyncio", "httpx"])
    return context


def _run(work: Callable[..., None], *args: object) -> int | None:
    process = _processes().Process(target=work, args=args)
    process.start()
    process.join(60)
    return process.exitcode


def some(steps: Iterable[_Step], most: int = _SOME) -> list[_Step]:
    """Return all steps, or the same spread of them each time."""
    every = list(steps)
    if os.environ.get(EVERY) == "all" or len(every) <= most:
        return every
    return sorted(random.Random(8).sample(every, most))  # noqa: S311 - no secret


# --- damage ----------------------------------------------------------------------------------------------------------


def _database(kinds: Sequence[str], folder: Path) -> Outcome:
    with told(folder) as story:
        for kind in (kinds[it] for it in some(range(len(kinds)))):
            story.begin()
            damages.DATABASE[kind](story.world.state / "watcher.db")
            with suppress_damage():
                story.world.look()
            story.end()
        return story.outcome


@contextmanager
def suppress_damage() -> Iterator[None]:
    """Let a pass fail that meets the damage: the next one does not."""
    try:
        yield
    except StoreError as error:
        if " is damaged" not in str(error):
            raise


def _mirror(kinds: Sequence[str], folder: Path) -> Outcome:
    with told(folder) as story:
        for kind in (kinds[it] for it in some(range(len(kinds)))):
            story.begin()
            damages.MIRROR[kind](story.world.mirror().directory)
            story.end()
        return story.outcome


# --- locked, full, read-only -----------------------------------------------------------------------------------------


def _locked(folder: Path) -> Outcome:
    """Another process writes for longer than anybody waits."""
    with told(folder) as story:
        for _ in range(2):
            story.begin()
            options = patch.dict(Store.open.__func__.__kwdefaults__, _AT_ONCE)  # type: ignore[attr-defined]
            with closing(Store.open(story.world.state)) as other, other.atomic(), options:
                _refused(story, "is locked")
            story.end()
        return story.outcome


def _refused(story: Story, words: str) -> None:
    try:
        story.world.look()
    except StoreError as error:
        if words not in str(error):
            raise
    else:
        raise AssertionError("the pass was recorded")


def _without_room(*, is_first: bool, folder: Path) -> Outcome:
    with told(folder, is_first=is_first) as story:
        for room in some(_ROOMS):
            story.begin()
            said = folder / "said"
            code = _run(killed.check_with_little_room, *_at(story), room, said)
            check_line(code, said.read_text())
            story.end()
        return story.outcome


def _without_names(*, is_first: bool, folder: Path) -> Outcome:
    with told(folder, is_first=is_first) as story:
        for first in some(range(7)):
            story.begin()
            said = folder / "said"
            code = _run(killed.check_without_names, *_at(story), story.world.state, first, said)
            check_line(code, said.read_text())
            story.end()
        return story.outcome


def _at(story: Story) -> tuple[object, object]:
    return story.world.folder / "config.yaml", story.world.now


def check_line(code: int | None, said: str) -> None:
    """See to it that the trouble, where there was any, was told in few clear lines and by the exit code."""
    if code not in {0, 1, 3} or "Traceback" in said or len(said.splitlines()) > 3:
        raise AssertionError(f"exit code {code}: {said}")


# --- killed ----------------------------------------------------------------------------------------------------------


def _killed(*, is_first: bool, folder: Path) -> Outcome:
    with told(folder, is_first=is_first) as story:
        story.begin()
        steps = folder / "steps"
        if _run(killed.make_steps, *_at(story), story.world.state, -1, steps) != 0:
            raise AssertionError("the pass failed whose steps were to be written down")
        story.end()
        for step in some(range(len(steps.read_text().splitlines()))):
            story.begin()
            code = _run(killed.make_steps, *_at(story), story.world.state, step, steps)
            if code != -signal.SIGKILL:
                raise AssertionError(f"not killed at step {step}: exit code {code}")
            story.end()
        return story.outcome


_UNSETTLED = "power cut"
_LOSING = ("pack cut", "pack gone", "objects zeroed", "objects gone", "emptied", "gone")
TRIALS: Sequence[Trial] = (
    Trial(group="Database", name="damaged between two passes", run=partial(_database, tuple(damages.DATABASE))),
    Trial(group="Database", name="locked by another process", run=_locked),
    Trial(
        group="Mirror",
        name="objects are lost, upstream still has them",
        run=partial(_mirror, _LOSING),
    ),
    Trial(
        group="Mirror",
        name="index, refs or configuration damaged, locks left",
        run=partial(_mirror, tuple(it for it in damages.MIRROR if it not in {*_LOSING, _UNSETTLED})),
    ),
    Trial(group="Power", name="what nobody waits for is gone", run=partial(_mirror, (_UNSETTLED,))),
    Trial(group="Disk", name="full at the first look", run=lambda folder: _without_room(is_first=True, folder=folder)),
    Trial(group="Disk", name="full at a later look", run=lambda folder: _without_room(is_first=False, folder=folder)),
    Trial(group="Disk", name="no inodes, first look", run=lambda folder: _without_names(is_first=True, folder=folder)),
    Trial(group="Disk", name="no inodes, later", run=lambda folder: _without_names(is_first=False, folder=folder)),
    Trial(group="Killed", name="before each step, first", run=lambda folder: _killed(is_first=True, folder=folder)),
    Trial(group="Killed", name="before each step, later", run=lambda folder: _killed(is_first=False, folder=folder)),
)
