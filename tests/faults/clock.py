"""A clock that goes wrong for a while, and comes right again, while something happens and Slack is told."""

import time
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from itertools import product
from pathlib import Path
from unittest.mock import patch

from tests.faults.stage import Stage, right, staged, summed
from tests.faults.trial import Outcome, Trial
from tests.slackpeer import Reply, SlackPeer
from watcher.config import Settings
from watcher.deliver import channels, deliver
from watcher.store import Store

GROUP = "the clock"
_MOST = 12
"""Passes, half an hour apart, after which everything must be told once the clock is right."""
_HEADLINE = 32
"""Letters of a message that no date is in."""
_BUSY = Reply(status=503, body="no")


class Clocked:
    """The stage as a service plays it: what is due is looked at and sent, every half hour."""

    def __init__(self, stage: Stage, peer: SlackPeer) -> None:
        self.stage, self._peer = stage, peer
        self.came: Counter[str] = Counter()
        """What arrived at Slack, by how it begins."""

    def turn(self) -> None:
        """Let half an hour go by, look at what is due, and send what is."""
        world = self.stage.world
        world.tick(31)
        settings = Settings.model_validate(world.document())
        with (
            patch.dict("os.environ", {"HOOK": f"{self._peer.address}/hook"}),
            Store.open(settings.state) as store,
        ):
            deliver(store, channels(settings), world.now)
        while not self._peer.messages.empty():
            self.came[self._peer.messages.get()["text"][:_HEADLINE]] += 1

    def refuse(self, times: int) -> None:
        """Let Slack be busy for so many messages."""
        while not self._peer.replies.empty():
            self._peer.replies.get()
        for _ in range(times):
            self._peer.replies.put(_BUSY)

    def is_told(self) -> bool:
        """Answer whether everything that happened is known, and was sent."""
        with Store.open(self.stage.world.state) as store:
            return not self.stage.known().lost(right()) and not store.waiting()

    def until_told(self) -> float | None:
        """Go on until everything is told; return how long that took, None if it never is."""
        start = time.monotonic()
        for _ in range(_MOST):
            self.turn()
            if self.is_told():
                return time.monotonic() - start
        return None


def jumping(folder: Path, by: timedelta) -> Outcome:
    """Set the clock wrong, and right: something happens meanwhile or afterwards, with a Slack that takes it or not."""
    cases = list(product((True, False), (0, 1)))
    with staged(folder) as stage, SlackPeer() as peer:
        plain = Clocked(stage, peer)
        _played(plain, timedelta(), is_meanwhile=True, refusals=0)
        return summed(
            _counted(Clocked(stage, peer), plain.came, by, is_meanwhile=is_meanwhile, refusals=refusals)
            for is_meanwhile, refusals in cases
        )


def _counted(clocked: Clocked, plain: Counter[str], by: timedelta, *, is_meanwhile: bool, refusals: int) -> Outcome:
    recovery = _played(clocked, by, is_meanwhile=is_meanwhile, refusals=refusals)
    known = clocked.stage.known()
    return Outcome(
        injected=2,
        lost=known.lost(right()) + (plain - clocked.came).total(),
        false_alarms=known.false_alarms(right()) + (clocked.came - plain).total(),
        recovery=recovery,
    )


def _played(clocked: Clocked, by: timedelta, *, is_meanwhile: bool, refusals: int) -> float | None:
    """Play the story; return how long it took until everything was told, from when the clock was right."""
    stage = clocked.stage
    stage.rewind()
    clocked.turn()
    stage.world.now += by
    if is_meanwhile:
        stage.happen()
    clocked.refuse(refusals)
    clocked.turn()
    stage.world.now -= by
    if not is_meanwhile:
        stage.happen()
    return clocked.until_told()


TRIALS: Sequence[Trial] = (
    Trial(group=GROUP, name="goes back two days, and comes right", run=partial(jumping, by=-timedelta(days=2))),
    Trial(group=GROUP, name="goes forward a year, and comes right", run=partial(jumping, by=timedelta(days=365))),
)
