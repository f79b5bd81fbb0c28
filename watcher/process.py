"""What the process of the service is to whoever runs it: the signals that it takes, its one place, its log."""

import fcntl
import logging
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from select import select

import structlog

from watcher.errors import StoreError, UsageError

_LOCK = "watcher.lock"
_GLANCE = 10.0
"""Seconds without a signal after which whoever waits for one may look around."""


def log_to_stderr() -> None:
    """Write one line an event: for people on a terminal, as JSON elsewhere."""
    shown = structlog.dev.ConsoleRenderer() if sys.stderr.isatty() else structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.dict_tracebacks,
            shown,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    logging.getLogger("apscheduler").setLevel(logging.ERROR)  # a pass that takes longer than its interval is no news
    logging.getLogger("slack_sdk").setLevel(logging.CRITICAL)  # what it could not do is told by whoever asked it to


def clock_offset() -> float:
    """Return how far the clock is ahead of one that nobody sets, in seconds."""
    return time.time() - time.monotonic()


def signals(*numbers: signal.Signals) -> Iterator[int | None]:
    """Take signals from now on, and return an iterator that waits for the next one; None now and then, for none.

    The interpreter itself writes them into a pipe: whichever thread they reach and whatever this one does just then,
    none is missed.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing)
    for number in numbers:
        signal.signal(number, lambda *_: None)
    return (os.read(reading, 1)[0] if select([reading], [], [], _GLANCE)[0] else None for _ in count())


@contextmanager
def only_one(state: Path) -> Iterator[None]:
    """Hold the state folder for this process; raise UsageError that names the process which has it.

    Raises StoreError where the folder cannot be written to.
    """
    try:
        state.mkdir(parents=True, exist_ok=True)
        lock = (state / _LOCK).open("a+", encoding="ascii")
    except OSError as error:
        raise StoreError(f"{state}: the state folder cannot be used: {error.strerror}") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise UsageError(f"{state}: another watcher (process {lock.read().strip()}) runs on this state") from None
        lock.truncate(0)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        yield
