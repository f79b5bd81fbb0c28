"""Let one at a time work on a mirror: threads of this process, and other processes on the same disk."""

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import local
from typing import IO

_GLANCE = 0.05
"""Seconds between two looks whether the other one is done."""


class _Mine(local):
    """What this thread holds: a lock of a file knows no threads, and would let one wait for itself."""

    def __init__(self) -> None:
        self.held: set[Path] = set()


_MINE = _Mine()


@contextmanager
def held(directory: Path, *, wait: float) -> Iterator[bool]:
    """Hold a mirror's lock while the block runs; the value is False where another one has it for `wait` seconds.

    The lock is a file beside the mirror, which itself may come and go meanwhile; it ends with the process that holds
    it. A thread that holds it already goes on.
    """
    place = directory.absolute()
    if place in _MINE.held:
        yield True
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    # Never removed: another process may wait on this very file.
    with place.with_name(f"{place.name}.lock").open("ab") as lock:
        if not _locked(lock, time.monotonic() + wait):
            yield False
            return
        _MINE.held.add(place)
        try:
            yield True
        finally:
            _MINE.held.discard(place)


def _locked(lock: IO[bytes], end: float) -> bool:
    """Take a lock, or give up at a moment of the clock that nobody sets."""
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= end:
                return False
            time.sleep(_GLANCE)
        else:
            return True
