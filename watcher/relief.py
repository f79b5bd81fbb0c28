"""Relieve those who never let a service run: `watcher check` does, at its end."""

import os
from contextlib import suppress
from pathlib import Path

from watcher.config import Settings
from watcher.errors import GitError

_FAR_TOO_MANY = 200
"""From here on looks lose more by the packs than one of them loses by putting them together."""


def relieve(settings: Settings) -> None:
    """Put the packs of one mirror together, where there are so many that each look suffers."""
    mirrors = (settings.state / "mirrors").glob("*.git")
    packs = {it: _packs(it) for it in mirrors}
    worst = max(packs, key=lambda it: packs[it], default=None)
    if worst is None or packs[worst] <= _FAR_TOO_MANY:
        return
    from watcher.upstream import packing  # noqa: PLC0415 - most passes need none of it
    from watcher.upstream.guard import held  # noqa: PLC0415 - likewise

    with held(worst, wait=0) as is_ours, suppress(GitError):
        if is_ours:
            packing.tidy(worst)


def _packs(mirror: Path) -> int:
    """Return how many packs a mirror has; none where it is being made anew."""
    try:
        # By the names alone: there may be thousands of mirrors, and this is done at the end of each pass.
        return sum(name.endswith(".pack") for name in os.listdir(mirror / "objects" / "pack"))  # noqa: PTH208
    except OSError:
        return 0
