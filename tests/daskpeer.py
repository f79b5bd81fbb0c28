"""A scheduler of dask.distributed and its workers, as real processes on loopback."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from watcher.workers.errands import FOLDER

_PRELOADED = Path(__file__).with_name("daskpreload.py")
_LONG = 100
_QUIET = ("--no-dashboard",)


@dataclass
class DaskPeer:
    """One scheduler, and the workers that were started for it."""

    folder: Path
    address: str = "tcp://127.0.0.1:0"
    """Where the scheduler is, once it is started."""
    started: list[subprocess.Popen] = field(default_factory=list)
    """The scheduler first."""

    def schedule(self, *options: str) -> None:
        """Start the scheduler where it was, if it was anywhere, and wait until it answers."""
        told = self.folder / "scheduler.json"
        told.unlink(missing_ok=True)
        host, _, port = self.address.rpartition(":")
        place = ("--host", host, "--port", port, "--scheduler-file", str(told))
        self.started.insert(0, self._start("scheduler", *place, *_QUIET, *options))
        until(told.exists)
        self.address = json.loads(told.read_text())["address"]

    def employ(self, count: int, *options: str, name: str = "w", path: Path | None = None) -> subprocess.Popen:
        """Start workers; what lies in `path` is found by them before all other packages."""
        what = ("--nthreads", "1", "--nworkers", str(count), "--name", name, "--memory-limit", "0")
        where = ("--host", "127.0.0.1", "--local-directory", str(self.folder / "scratch"), "--preload", str(_PRELOADED))
        process = self._start("worker", self.address, *what, *where, *_QUIET, *options, path=path)
        self.started.append(process)
        return process

    def end(self) -> None:
        """End the workers before their scheduler, and whatever does not end, by force."""
        for process in reversed(self.started):
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _start(self, what: str, *args: str, path: Path | None = None) -> subprocess.Popen:
        passed = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        paths = [str(path)] if path else []
        own = {"PYTHONPATH": os.pathsep.join(paths), "TZ": "UTC", FOLDER: str(self.folder / "cache")}
        with (self.folder / f"{what}.log").open("a") as log:
            command = [sys.executable, "-m", f"distributed.cli.dask_{what}", *args]
            return subprocess.Popen(command, env=passed | own, stdout=log, stderr=log)


def until(is_so) -> None:
    """Wait until something is so."""
    end = time.monotonic() + _LONG
    while not is_so():
        if time.monotonic() > end:
            raise AssertionError("it never was")
        threading.Event().wait(0.05)


@contextmanager
def dask_peer(folder: Path, *, workers: int = 2) -> Iterator[DaskPeer]:
    """Run a scheduler with workers."""
    folder.mkdir(exist_ok=True)
    peer = DaskPeer(folder)
    try:
        peer.schedule()
        if workers:
            peer.employ(workers)
            with client_of(peer) as client:
                client.wait_for_workers(workers, timeout=_LONG)
        yield peer
    finally:
        peer.end()


def client_of(peer: DaskPeer):
    """Return a client of its own, for what the tests ask the workers."""
    from distributed import Client  # noqa: PLC0415 - it takes a second, which most tests need not wait

    return Client(peer.address, timeout=_LONG, set_as_default=False)
