"""Put nvchecker beside a pass: the same fault of the same server, while the same thing happens upstream.

It follows the commit of HEAD by its source `git`, and is to say which is new. Nobody's patience is shortened here.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.faults.servers import FAILINGS, Failing, certified, showing
from tests.faults.stage import Stage, right, staged
from tests.stories.world import reasons

_MOST = 6
"""So many variations of a trouble are met."""
_PATIENCE = 75.0
"""Seconds after which nvchecker is ended; it gives a command of its own a minute."""
_ENDED = "the TLS certificate ends"
_ENTRY = """\
[__config__]
oldver = "old.json"
newver = "new.json"

[engine]
source = "git"
git = "{url}"
use_commit = true
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What somebody said while a fault lasted."""

    said: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What both said under one fault, in each of its variations, and once it was over."""

    fault: str
    ours: Sequence[Answer]
    theirs: Sequence[Answer]
    """Empty where nvchecker is not installed, as is what it said afterwards."""
    ours_after: str
    theirs_after: str


def has_nvchecker() -> bool:
    """Answer whether there is anything to put beside."""
    return find_spec("nvchecker") is not None


def beside(only: str = "") -> Iterator[Beside]:
    """Yield what both say of each fault that is met by those who ask for refs, if it has this in its name."""
    for failing in FAILINGS:
        if failing.is_polled and only in failing.name:
            with TemporaryDirectory() as name, staged(Path(name), is_hasty=False) as stage:
                yield _met(failing, stage)
    if only not in _ENDED:
        return
    with TemporaryDirectory() as name, certified(Path(name)) as shown:
        ended = Failing(name=_ENDED, troubles=[partial(showing, context=it) for it in shown.wrong])
        with staged(Path(name), shown.right, is_hasty=False) as stage:
            yield _met(ended, stage)


def _met(failing: Failing, stage: Stage) -> Beside:
    """Let both meet a fault after something happened, and look once more when it is over."""
    checker = Checker(stage) if has_nvchecker() else None
    stage.happen()
    ours, theirs = [], []
    for trouble in failing.troubles[:: -(-len(failing.troubles) // _MOST)]:
        with trouble(stage):
            ours.append(_timed(lambda: _passed(stage)))
            if checker:
                theirs.append(_timed(checker.told))
    return Beside(
        fault=failing.name,
        ours=ours,
        theirs=theirs,
        ours_after=_passed(stage),
        theirs_after=checker.told() if checker else "",
    )


def _passed(stage: Stage) -> str:
    """Make a pass; return what it says."""
    if said := reasons(stage.look(0.1)):
        return f"could not look: {said[0].replace(stage.world.server.address, 'the server')}"
    return "says nothing new" if stage.known().lost(right()) else "tells everything"


def _timed(said: Callable[[], str]) -> Answer:
    start = time.monotonic()
    return Answer(said=said(), seconds=time.monotonic() - start)


class Checker:
    """nvchecker, which looked once before anything went wrong."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._folder = stage.world.folder / "nvchecker"
        self._folder.mkdir()
        self._config.write_text(_ENTRY.format(url=stage.world.engine.url))
        code, _ = self._run()
        self._before = self._seen()
        if code != 0 or self._before is None:
            raise AssertionError(f"nvchecker sees nothing where nothing goes wrong: exit code {code}")
        self._old.write_text(self._new.read_text())

    def told(self) -> str:
        """Run it once more over what it saw before anything went wrong; return what it says."""
        self._new.write_text(self._old.read_text())
        code, errors = self._run()
        seen = self._seen()
        right_now = self._stage.world.engine.oids["F"]
        version = {right_now: "the new version", self._before: "keeps the old version"}.get(seen, "a wrong version")
        if seen is None:
            version = "writes no version"
        end = "still waiting, ended by us" if code is None else f"exit code {code}"
        return ", ".join([version, *(["an error"] if errors else ["no error"]), end])

    @property
    def _config(self) -> Path:
        return self._folder / "config.toml"

    @property
    def _old(self) -> Path:
        return self._folder / "old.json"

    @property
    def _new(self) -> Path:
        return self._folder / "new.json"

    def _seen(self) -> str | None:
        """Return the version that it wrote down."""
        if not self._new.exists():
            return None
        entry = json.loads(self._new.read_text())["data"].get("engine")
        return str(entry["version"]) if entry else None

    def _run(self) -> tuple[int | None, list[str]]:
        """Run it; return its exit code, None where it had to be ended, and the errors that it reports."""
        command = [sys.executable, "-m", "nvchecker", "-c", str(self._config), "--logger", "json", "--failures"]
        trusted = {"GIT_SSL_CAINFO": os.environ["SSL_CERT_FILE"]} if "SSL_CERT_FILE" in os.environ else {}
        # A group of its own: the git that it starts outlives it.
        with subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **trusted},
            start_new_session=True,
        ) as process:
            try:
                out, _ = process.communicate(timeout=_PATIENCE)
                code: int | None = process.returncode
            except subprocess.TimeoutExpired:
                code, out = None, b""
            finally:
                _end(process.pid)
        rows = [json.loads(line) for line in out.decode().splitlines() if line.startswith("{")]
        return code, [str(row.get("event")) for row in rows if row.get("level") == "error"]


def _end(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return
