"""The stage of the trials of servers: a small world, what happens in it meanwhile, and how to count what came of it.

Upstream has a branch that holds a pin and is deleted, a tag that moves, a fix that lands, and a branch that nothing
happens to; downstream pins one more commit. What is known and told with faults before, while and after this happens is
counted against the same story without them.
"""

import atexit
import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache, partial
from pathlib import Path
from ssl import SSLContext
from tempfile import mkdtemp
from unittest.mock import patch

import stamina

from tests.faults.trial import Outcome
from tests.stories import kit
from tests.stories.world import START, World, clean_up
from watcher.demo.server import Fault, GitServer
from watcher.errors import GitError
from watcher.model import Oid, Pass, State
from watcher.store import Store
from watcher.upstream.refs import Manner
from watcher.upstream.salvage import KEPT

BEFORE = """
          X        (topic)
         /
    A---B          (main, tag: v1.0)
     \\
      D            (dev)
"""
AFTER = """
    A---B---F      (main, tag: v1.0)
     \\
      D            (dev)
"""
SECRETS = {"HOOK": "http://127.0.0.1:1/hook"}
CONFIG = {"slack": {"webhook": "env:HOOK"}}
_OWN = ("upstream-unobserved", "upstream-gone")
"""What is told of the silence itself, when it lasts."""
_MOST_AT_FIRST = 12
"""So many variations of a trouble are met at the first look too."""
_MOST_PASSES = 4
"""After the end of a fault, until everything must be told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known and told at one moment."""

    told: Counter[tuple[str, ...]]
    """Events, and messages that are owed for them."""
    kept: frozenset[str]
    """Commits that are held for ever, with all their history."""

    def lost(self, right: "Known") -> int:
        """Return how much of what should be known is not."""
        return (right.told - self.told).total() + len(right.kept - self.kept)

    def false_alarms(self, right: "Known") -> int:
        """Return how much was told that should not have been."""
        return (self.told - right.told).total()


@dataclass
class Met(dict[str, Fault]):
    """One fault of one repository, for requests of some kinds; it counts the requests that it strikes."""

    server: GitServer
    name: str
    fault: Fault | Callable[[], None]
    """Or what is to happen before the request is answered as ever."""
    kinds: tuple[str, ...] = ()
    """None: all."""
    nth: int | None = None
    """Only the request of these kinds with this number strikes, from 1; None: every one."""
    strikes: int = 0
    asked: int = 0

    def get(self, name: str, default: Fault | None = None) -> Fault | None:  # type: ignore[override]
        """Return the fault for the request that just came in."""
        if name != self.name or (self.kinds and self.server.requests[-1].kind not in self.kinds):
            return default
        self.asked += 1
        if self.nth is not None and self.asked != self.nth:
            return default
        self.strikes += 1
        if callable(self.fault):
            self.fault()
            return default
        return self.fault


Trouble = Callable[["Stage"], AbstractContextManager[None]]
"""Something that goes wrong as long as the block runs."""


@dataclass
class Stage:
    """The world, at the moment before anything goes wrong, as often as that is wanted."""

    world: World
    before: Path
    """The state folder as it was then."""
    picture: str = BEFORE
    """Upstream, where it is in the story."""
    oids: dict[str, Oid] = field(default_factory=dict)
    strikes: int = 0
    """Passes in which a fault was met."""

    def rewind(self) -> None:
        """Bring back the moment before anything went wrong."""
        shutil.rmtree(self.world.state, ignore_errors=True)
        if self.before.exists():
            shutil.copytree(self.before, self.world.state)
        self.picture = BEFORE
        self.oids = self.draw()
        self.world.images.pins.clear()
        self.world.pin(cuda=self.oids["B"], rocm=self.oids["X"], npu=self.oids["D"], cpu="v1.0")
        self.world.now = START + timedelta(hours=1)

    def happen(self) -> None:
        """Let a branch be deleted and cleaned up, a fix land, and a pin be added."""
        self.picture = AFTER
        self.draw()
        self.world.pin(xpu=self.oids["A"])

    def draw(self) -> dict[str, Oid]:
        """Bring upstream to where it is in the story, with nothing else in its store."""
        drawn = self.world.engine.draw(self.picture, **kit.STORY)
        clean_up(self.world.engine)
        return drawn

    def look(self, hours: float = 1) -> Pass:
        """Make a pass, and count it if it met the fault."""
        faults = self.world.server.faults
        before = faults.strikes if isinstance(faults, Met) else 0
        found = self.world.look(hours)
        has_met = faults.strikes > before if isinstance(faults, Met) else bool(found.unobserved)
        self.strikes += has_met
        return found

    def known(self) -> Known:
        """Return what is known and told now."""
        with Store.open(self.world.state) as store:
            events = [(event.kind.value, event.finding.key) for event in store.events()]
            owed = [(it.channel, *_about(it.payload)) for it in store.outbox() if it.dropped_at is None]
        return Known(
            told=Counter(it for it in (*events, *owed) if not any(own in part for part in it for own in _OWN)),
            kept=frozenset(_whole(self.world)),
        )

    def is_told_of_silence(self) -> bool:
        """Answer whether a finding about the silence itself is still open."""
        with Store.open(self.world.state) as store:
            return any(it.concern.kind in _OWN and it.state is not State.RESOLVED for it in store.findings())


def _about(payload: Mapping[str, object]) -> Iterator[str]:
    """Yield what a message is about."""
    for name, value in sorted(payload.items()):
        yield from (name, *(map(str, value) if isinstance(value, list) else [str(value)]))


def _whole(world: World) -> Iterator[str]:
    """Yield the commits that the mirror holds for ever, with all their history."""
    try:
        git = world.mirror()
    except ValueError:
        return
    held = git.run("for-each-ref", "--format=%(objectname)", KEPT).decode().split()
    with suppress(GitError):
        git.run("rev-list", "--quiet", *held)
        yield from held
        return
    for name in held:
        with suppress(GitError):
            git.run("rev-list", "--quiet", name)
            yield name


# --- the play --------------------------------------------------------------------------------------------------------


def endured(stage: Stage, troubles: Sequence[Trouble], *, is_quiet: bool = True, hours: float = 0.1) -> Outcome:
    """Go through the story with one trouble after the other; count what came of it against what is right.

    Each has a pass of its own before anything happens, with `is_quiet`, and one afterwards.
    """
    stage.rewind()
    stage.strikes = 0
    before = stage.known()
    for trouble in troubles if is_quiet else ():
        with impatient(), trouble(stage):
            stage.look(hours)
    quiet = stage.known()
    stage.happen()
    for trouble in troubles:
        with impatient(), trouble(stage):
            stage.look(hours)
    met = stage.strikes
    recovery = recovered(stage)
    after = stage.known()
    return Outcome(
        injected=met,
        lost=quiet.lost(before) + after.lost(right()),
        false_alarms=quiet.false_alarms(before) + after.false_alarms(right()) + stage.is_told_of_silence(),
        recovery=recovery,
    )


def met_at_first(stage: Stage, troubles: Sequence[Trouble]) -> Outcome:
    """Meet troubles at the very first looks, when nothing is known; then go through the story."""
    stage.rewind()
    shutil.rmtree(stage.world.state)
    stage.strikes = 0
    for trouble in troubles:
        with impatient(), trouble(stage):
            stage.look(0.1)
    met = stage.strikes
    start = time.monotonic()
    stage.look()
    recovery = time.monotonic() - start
    stage.happen()
    stage.look()
    after = stage.known()
    return Outcome(injected=met, lost=after.lost(right()), false_alarms=after.false_alarms(right()), recovery=recovery)


def recovered(stage: Stage) -> float | None:
    """Make passes until everything is told, and one more; return how long that took, None if it was told before."""
    start, taken = time.monotonic(), None
    was_told = not stage.known().lost(right())
    for _ in range(_MOST_PASSES):
        stage.look()
        if not stage.known().lost(right()):
            taken = taken or time.monotonic() - start
            break
    stage.look()
    return None if was_told else taken


def summed(outcomes: Iterable[Outcome]) -> Outcome:
    """Return what came of several ways to bring a trouble about: the longest recovery counts."""
    every = tuple(outcomes)
    return Outcome(
        injected=sum(it.injected for it in every),
        lost=sum(it.lost for it in every),
        false_alarms=sum(it.false_alarms for it in every),
        recovery=max((it.recovery for it in every if it.recovery is not None), default=None),
    )


def tried(folder: Path, troubles: Sequence[Trouble], context: SSLContext | None = None) -> Outcome:
    """Bring trouble about in every way: over something known, and at the first look too."""
    with staged(folder, context) as stage:
        some = troubles[:: -(-len(troubles) // _MOST_AT_FIRST)]
        return summed([endured(stage, troubles), met_at_first(stage, some)])


def right() -> Known:
    """Return what is known and told where nothing goes wrong."""
    return _template().right


def happened() -> Path:
    """Return the state folder as it is when a pass has seen everything that happens: to be copied."""
    return _template().after


@dataclass(frozen=True, slots=True, kw_only=True)
class _Template:
    """The story without any trouble."""

    before: Path
    after: Path
    right: Known


@cache
def _template() -> _Template:
    """Make the state after a first pass, once; and play the story from there without any trouble."""
    folder = Path(mkdtemp(prefix="faults-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with hermetic(folder), GitServer(folder / "served") as server:
        world = World(folder=folder, server=server, config=CONFIG, reader=None)
        stage = Stage(world=world, before=folder / "before")
        stage.rewind()
        world.look()
        shutil.copytree(world.state, stage.before)
        stage.happen()
        world.look()
        shutil.copytree(world.state, folder / "after")
        for _ in range(2):
            world.look()
        return _Template(before=stage.before, after=folder / "after", right=stage.known())


@contextmanager
def staged(folder: Path, context: SSLContext | None = None, *, is_hasty: bool = True) -> Iterator[Stage]:
    """Build the stage in an empty folder, as it is after the first pass."""
    with (
        hermetic(folder),
        stamina.set_testing(True, attempts=2) if is_hasty else nullcontext(),
        GitServer(folder / "served", context) as server,
    ):
        stage = Stage(world=World(folder=folder, server=server, config=CONFIG, reader=None), before=_template().before)
        stage.rewind()
        yield stage


@contextmanager
def hermetic(folder: Path) -> Iterator[None]:
    """Keep the user's settings, proxies and time zone out."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    foreign = {name for name in os.environ if name.startswith("GIT_") or name.lower().endswith("_proxy")}
    kept = {name: value for name, value in os.environ.items() if name not in foreign}
    own = {"HOME": str(home), "XDG_CONFIG_HOME": str(home), "TZ": "UTC", **SECRETS}
    with patch.dict(os.environ, kept | own, clear=True):
        yield


@contextmanager
def impatient() -> Iterator[None]:
    """Wait for little: what is shown does not depend on how long. Only under a trouble: machines are slow, too."""
    with ExitStack() as stack:
        stack.enter_context(patch("watcher.upstream.wire._PATIENCE", 0.2))
        stack.enter_context(patch("watcher.upstreams.Manner", partial(Manner, seconds=0.5)))
        stack.enter_context(patch.dict("watcher.upstream.git._CONFIG", {"http.lowSpeedTime": "1"}))
        stack.enter_context(patch("watcher.forges.client._TIMEOUT", 0.2))
        stack.enter_context(patch("watcher.channels.slack._TIMEOUT", 0.2))
        stack.enter_context(patch("watcher.channels.mail._TIMEOUT", 0.2))
        yield


@contextmanager
def struck(stage: Stage, fault: Fault | Callable[[], None], *kinds: str, nth: int | None = None) -> Iterator[None]:
    """Let the server of the upstream misbehave."""
    server = stage.world.server
    server.faults = Met(server=server, name=stage.world.engine.name, fault=fault, kinds=kinds, nth=nth)
    try:
        yield
    finally:
        server.faults = {}


def of(fault: Fault, *kinds: str, nth: int | None = None) -> Trouble:
    """Return the trouble that a fault of the server makes."""
    return lambda stage: struck(stage, fault, *kinds, nth=nth)
