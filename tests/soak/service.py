"""The real service as a process: started, watched from outside, killed, stopped."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

_LONG = 15
"""Seconds that a service has to end after SIGTERM; it promises ten."""
_YOUNG = 3
"""Seconds until a new service has read all of its own code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weight:
    """What a process holds."""

    kilobytes: int
    files: int


@dataclass
class Service:
    """One service after the other, on one folder."""

    folder: Path
    environment: dict[str, str]
    process: subprocess.Popen[bytes] | None = None
    kills: list[float] = field(default_factory=list)
    """When it was killed, in seconds since 1970."""
    lives: list[tuple[Weight, Weight]] = field(default_factory=list)
    """What each life held soon after its beginning, and before its end."""
    _first: Weight | None = None
    _begun: float = 0.0
    _log_before: int = 0
    _turn: threading.RLock = field(default_factory=threading.RLock)

    @property
    def log(self) -> Path:
        """Return where it writes."""
        return self.folder / "service.log"

    def start(self) -> None:
        """Start it, as the leader of a process group of its own."""
        self._log_before = self.log.stat().st_size if self.log.exists() else 0
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "watcher", "run"],
                cwd=self.folder,
                env=self.environment,
                stderr=log,
                stdout=log,
                start_new_session=True,
            )
        self._first, self._begun = None, time.monotonic()

    def restart(self, *, group: bool) -> None:
        """Kill it at once, alone or with all that it started, and start it again."""
        with self._turn:
            process = self._running()
            self._weigh()
            self.kills.append(time.time())
            (os.killpg if group else os.kill)(process.pid, signal.SIGKILL)
            process.wait()
            self.start()

    def stop(self) -> tuple[int, float]:
        """Tell it to end; return how it did, and after how many seconds."""
        process = self._running()
        self._weigh()
        begun = time.monotonic()
        process.terminate()
        return process.wait(_LONG), time.monotonic() - begun

    def reload(self) -> None:
        """Tell it to read its configuration again: everything is due then."""
        self._running().send_signal(signal.SIGHUP)

    def look(self) -> None:
        """Weigh a new life once; fail where it ended by itself."""
        with self._turn:
            process = self._running()
            if process.poll() is not None:
                raise AssertionError(f"the service ended by itself with {process.returncode}: {self.lines()[-3:]}")
            if self._first is None and time.monotonic() - self._begun > _YOUNG:
                self._first = self.weight()

    def is_at_work(self) -> bool:
        """Answer whether the present life has begun to look."""
        return self.log.read_bytes().count(b'"event": "started"', self._log_before) > 0

    def end(self) -> None:
        """Make sure that nothing of it is left."""
        if self.process and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def weight(self) -> Weight:
        """Return what it holds now."""
        place = Path("/proc") / str(self._running().pid)
        fields = dict(line.split(":", 1) for line in (place / "status").read_text().splitlines())
        return Weight(kilobytes=int(fields["VmRSS"].split()[0]), files=len(list((place / "fd").iterdir())))

    def lines(self) -> list[dict[str, object]]:
        """Return its log; a line that is none of its own is one under the word `stray`."""
        found: list[dict[str, object]] = []
        for line in self.log.read_text(errors="replace").splitlines():
            try:
                found.append(json.loads(line))
            except ValueError:
                found.append({"event": "stray", "text": line})
        return found

    def _weigh(self) -> None:
        if self._running().poll() is None:
            now = self.weight()
            self.lives.append((self._first or now, now))

    def _running(self) -> subprocess.Popen[bytes]:
        if self.process is None:
            raise AssertionError("the service was not started")
        return self.process
