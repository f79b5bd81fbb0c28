"""Messages that are owed while the server that they are to go to fails: what arrives, and what nobody is told of."""

import shutil
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Any
from unittest.mock import patch

from tests.faults.stage import Stage, happened, impatient
from tests.faults.trial import Outcome
from watcher.config import Settings
from watcher.deliver import channels, deliver
from watcher.store import Store

CLOSED = 1
"""A port where nobody listens."""
TRIES = 3
"""Deliveries under a trouble that has no variations."""
_MOST = 10
"""Deliveries after which everything must have arrived."""


class Post(ABC):
    """Messages that are owed, and where they are to go."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self._owing = stage.world.folder / "owing"
        shutil.rmtree(stage.world.state)
        shutil.copytree(happened(), stage.world.state)
        self.owe()
        shutil.copytree(stage.world.state, self._owing)

    @abstractmethod
    def document(self) -> Mapping[str, Any]:
        """Return the configuration as people write it."""

    @abstractmethod
    def taken(self) -> Counter[str]:
        """Take out of the server what arrived."""

    def owe(self) -> None:  # noqa: B027 - alerts are owed by passes
        """Owe what no pass owes."""

    def environment(self) -> Mapping[str, str]:
        """Return where the secrets are."""
        return {}

    def is_said_of(self, message: str) -> bool:
        """Answer whether people are told that a message will not arrive."""
        return False

    # --- the trial ---------------------------------------------------------------------------------------------------

    def missed(self, troubles: "Sequence[Pestering]", *, is_once: bool = True) -> Outcome:
        """Try to send under each trouble, and after them; count what did not arrive, and what came too often."""
        right = self._arrived()
        self._rewind()
        met = sum(self._is_met(it) for it in troubles)
        start, recovery = time.monotonic(), None
        for _ in range(_MOST):
            self.send()
            if recovery is None and not self.is_owing():
                recovery = time.monotonic() - start
        came = self.taken()
        lost = Counter({it: count for it, count in (right - came).items() if not self.is_said_of(it)})
        return Outcome(
            injected=met,
            lost=lost.total() + self.is_owing(),
            false_alarms=(came - right).total() if is_once else len(came.keys() - right.keys()),
            recovery=recovery,
        )

    def send(self) -> tuple[str, ...]:
        """Send what is due, two hours after the last time; return the trouble that there was."""
        self.stage.world.now += timedelta(hours=2)
        with patch.dict("os.environ", self.environment()), Store.open(self.stage.world.state) as store:
            return deliver(store, channels(self.settings()), self.stage.world.now)

    def settings(self) -> Settings:
        """Return the configuration."""
        return Settings.model_validate(self.document())

    def is_owing(self) -> bool:
        """Answer whether something still waits. What was given up did not arrive, which is counted as that."""
        with Store.open(self.stage.world.state) as store:
            return bool(store.waiting())

    def undelivered(self) -> Sequence[str]:
        """Return why messages did not arrive, as `watcher check` and /healthz tell it."""
        with Store.open(self.stage.world.state) as store:
            return [reason for _, reason, _ in store.stuck(self.stage.world.now)]

    def _is_met(self, trouble: "Pestering") -> bool:
        """Send under a trouble; answer whether it was met, and see to it that people are told of what waits."""
        with impatient(), trouble(self):
            is_met = bool(self.send())
        if self.is_owing() and not self.undelivered():
            raise AssertionError("a message waits, and nobody is told")
        return is_met or bool(self.undelivered())

    def _arrived(self) -> Counter[str]:
        """Return what arrives where nothing goes wrong."""
        self._rewind()
        self.send()
        came = self.taken()
        if not came:
            raise AssertionError("nothing arrives where nothing goes wrong: there is nothing to lose")
        return came

    def _rewind(self) -> None:
        shutil.rmtree(self.stage.world.state)
        shutil.copytree(self._owing, self.stage.world.state)


Pestering = Callable[[Any], AbstractContextManager[None]]
"""A trouble of the server that a post is to go to, as long as the block runs."""
