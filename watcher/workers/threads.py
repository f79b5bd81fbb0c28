"""What workers can be asked for, and how threads of this process do it."""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from watcher.conclusion import Report, Said
from watcher.model import Handshake
from watcher.opinions import Asking
from watcher.upstream.refs import Manner, news

if TYPE_CHECKING:
    from watcher.examine import Task

ABOUT = "executor: "
"""How every trouble with workers begins."""
AT_ONCE = 4
"""How many mirrors this process brings up to date at a time."""


Poll = Callable[
    [Mapping[str, str], Mapping[str, Handshake], Manner, Callable[[str], None]],
    Mapping[str, Said],
]
"""Asks upstreams (→ address) of which a handshake may be known, in a manner; tells of each when it is done."""


def news_here(
    addresses: Mapping[str, str], known: Mapping[str, Handshake], manner: Manner, done: Callable[[str], None]
) -> Mapping[str, Said]:
    """Ask upstreams from this process."""
    return asyncio.run(news(addresses, known, manner, done=done))


class Workers(Protocol):
    """Those who look at upstreams during one pass."""

    @property
    def troubles(self) -> tuple[str, ...]:
        """Return why the work was not done as it was configured, one line each."""

    def news(
        self,
        addresses: Mapping[str, str],
        known: Mapping[str, Handshake],
        manner: Manner,
        done: Callable[[str], None],
    ) -> Mapping[str, Said]:
        """Return what each upstream (→ its address) says now, as `refs.news` does."""

    def submit(self, task: "Task", said: Said) -> Future[Report]:
        """Look at an upstream that gave an answer."""

    def close(self) -> None:
        """Let go of what was held for the pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Threads:
    """Threads of this process."""

    pool: ThreadPoolExecutor
    asking: Asking | None
    """How forges are asked; None where none is."""
    troubles: tuple[str, ...] = ()

    def news(
        self,
        addresses: Mapping[str, str],
        known: Mapping[str, Handshake],
        manner: Manner,
        done: Callable[[str], None],
    ) -> Mapping[str, Said]:
        """Ask them all from one loop: waiting is most of it."""
        return news_here(addresses, known, manner, done)

    def submit(self, task: "Task", said: Said) -> Future[Report]:
        """Look at an upstream as soon as a thread is free."""
        from watcher.examine import report  # noqa: PLC0415 - the judges are large, and most passes judge nothing anew

        return self.pool.submit(report, task, said, self.asking)

    def close(self) -> None:
        """Leave the pool to whoever made it."""
