"""Watch for months: look at everything when it is due, send what is owed, until told to stop.

SIGTERM and SIGINT end it, SIGHUP reads the configuration anew. A pass that is under way is waited for a little and
then abandoned: what it had not recorded is looked at again after the next start.
"""

import fcntl
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import structlog
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.interval import IntervalTrigger

from watcher import cycle
from watcher.config import Settings, load
from watcher.deliver import channels, deliver
from watcher.errors import ConfigError, UsageError, WatcherError
from watcher.model import Pass
from watcher.report.text import safe
from watcher.store import Store
from watcher.systemd import notify, watchdog

_SEND = timedelta(seconds=15)
"""How often the outbox is looked into."""
_PATIENCE = 8.0
"""Seconds that a pass or a message under way has to end after we were told to stop."""
_JITTER = 0.1
"""Share of the interval by which a pass may be earlier or later, so that many services do not ask at once."""
_LOCK = "watcher.lock"


class Service:
    """The running service of one configuration."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._settings: Settings = load(path)
        self._stopping = threading.Event()
        self._looking, self._sending = threading.Lock(), threading.Lock()
        self._troubles: tuple[str, ...] = ()
        self._log = structlog.get_logger()
        self._scheduler = BackgroundScheduler(timezone=UTC, executors={"default": ThreadPoolExecutor(3)})

    def run(self) -> None:
        """Watch until a signal says stop; raise UsageError where another service has the same state."""
        with _only_one(self._settings.state):
            told = _signals(signal.SIGHUP, signal.SIGTERM, signal.SIGINT)
            self._log.info("started", config=str(self._path), pid=os.getpid(), **self._plan())
            self._schedule()
            self._scheduler.start()
            notify("READY=1")
            while next(told) == signal.SIGHUP:
                self._reload()
            notify("STOPPING=1")
            self._stop()

    def _schedule(self) -> None:
        every = int(self._settings.schedule.poll.total_seconds())
        look = IntervalTrigger(seconds=every, jitter=int(every * _JITTER) or None, timezone=UTC)
        send = IntervalTrigger(seconds=int(_SEND.total_seconds()), timezone=UTC)
        options = {"replace_existing": True, "max_instances": 1, "coalesce": True, "misfire_grace_time": None}
        jobs = [("look", self._look, look), ("send", self._send, send)]
        if alive := watchdog():
            jobs.append(
                ("alive", lambda: notify("WATCHDOG=1"), IntervalTrigger(seconds=max(1, int(alive)), timezone=UTC))
            )
        for name, work, trigger in jobs:
            self._scheduler.add_job(work, trigger, id=name, next_run_time=datetime.now(UTC), **options)

    def _stop(self) -> None:
        self._stopping.set()
        self._log.info("stopping")
        self._scheduler.shutdown(wait=False)
        end = time.monotonic() + _PATIENCE
        works = (self._looking, self._sending)
        is_idle = all(work.acquire(timeout=max(0.0, end - time.monotonic())) for work in works)
        self._log.info("stopped", abandoned=not is_idle)
        sys.stderr.flush()
        if not is_idle:
            os._exit(0)

    # --- jobs --------------------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Make a pass and send what it owes."""
        if self._stopping.is_set():
            return
        with self._looking, self._telling("pass failed"):
            with Store.open(self._settings.state) as store:
                found = cycle.check(self._settings, store, now=datetime.now(UTC))
            self._tell(found)
        self._send()

    def _send(self) -> None:
        """Send what is due; a trouble is told when it is new."""
        ways = channels(self._settings)
        if not ways or self._stopping.is_set():
            return
        with self._sending, self._telling("sending failed"):
            with Store.open(self._settings.state) as store:
                troubles = deliver(store, ways, datetime.now(UTC))
            for trouble in set(troubles) - set(self._troubles):
                self._log.warning("not delivered", reason=safe(trouble))
            self._troubles = troubles

    @contextmanager
    def _telling(self, what: str) -> Iterator[None]:
        """Let whatever goes wrong be told, so that it is tried again when it is due next."""
        try:
            yield
        except WatcherError as error:
            self._log.error(what, reason=safe(str(error)))
        except Exception:  # noqa: BLE001 - told with its trace
            self._log.exception(what)

    def _reload(self) -> None:
        """Take up a changed configuration; where it is wrong, the old one goes on."""
        refused = "configuration refused, the old one goes on"
        try:
            settings = load(self._path)
        except ConfigError as error:
            self._log.error(refused, reason=str(error))
            return
        if settings.state != self._settings.state:
            self._log.error(refused, reason=f"{self._path}: another state folder needs a restart")
            return
        self._settings = settings
        self._schedule()
        self._log.info("configuration read", **self._plan())

    def _tell(self, found: Pass) -> None:
        """Write a line for each thing that happened; a pass in which nothing did writes none."""
        for event in found.events:
            concern = event.finding.concern
            self._log.info(
                str(event.kind), kind=str(concern.kind), severity=str(concern.severity), what=safe(concern.headline)
            )

    def _plan(self) -> dict[str, str]:
        return {
            "poll": str(self._settings.schedule.poll),
            "state": str(self._settings.state),
            "channels": ", ".join(channels(self._settings)) or "none",
        }


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


def _signals(*numbers: signal.Signals) -> Iterator[int]:
    """Take signals from now on, and return an iterator that waits for the next one.

    The interpreter itself writes them into a pipe: whichever thread they reach and whatever this one does just then,
    none is missed.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing)
    for number in numbers:
        signal.signal(number, lambda *_: None)
    return (os.read(reading, 1)[0] for _ in count())


@contextmanager
def _only_one(state: Path) -> Iterator[None]:
    """Hold the state folder for this process; raise UsageError that names the process which has it."""
    state.mkdir(parents=True, exist_ok=True)
    with (state / _LOCK).open("a+", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise UsageError(f"{state}: another watcher (process {lock.read().strip()}) runs on this state") from None
        lock.truncate(0)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        yield
