"""Run the installed `watcher` on upstreams that are served here, from outside, and count what it starts."""

import json
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.measuring import Run, outside
from harness.upstreams import Upstream

NOWHERE = "https://upstream.example"
"""What upstreams are called in configurations; where they really are depends on the measurement."""
PROGRAM = Path(sys.executable).with_name("watcher")
"""As it is installed."""
_VARIANTS = ("cuda", "rocm", "cpu")
_TOLD = (0, 1)
"""Exit codes of a pass that saw something: clean, or with findings."""
_SILENT = b"could not look at"
"""What it says beside findings when it did not see everything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """A state folder of watcher, and what it watches."""

    folder: Path
    pins: Sequence[tuple[str, str]]
    """Name of an upstream below its server, and a commit."""

    @property
    def state(self) -> Path:
        """Return where watcher keeps what it knows."""
        return self.folder / "state"

    def check(self, base: str, *, env: Mapping[str, str] | None = None) -> Run:
        """Make one pass against a server; every upstream must be observed."""
        run = outside(self.command(base), folder=self.folder, env=env, codes=_TOLD)
        if _SILENT in run.err:
            raise RuntimeError(f"watcher did not see everything: {self.told(base)['unobserved'][:3]}")
        return run

    def told(self, base: str) -> dict[str, Any]:
        """Return what a pass says in full, whatever that is."""
        run = outside([*self.command(base), "--format", "json"], folder=self.folder, codes=(*_TOLD, 3))
        document: dict[str, Any] = json.loads(run.out)
        return document

    def command(self, base: str) -> list[str | Path]:
        """Return the command of one pass, its configuration written."""
        config = self.folder / "config.yaml"
        self.folder.mkdir(parents=True, exist_ok=True)
        entries = (
            f"  - {{name: {name}, upstream: '{NOWHERE}/{name}', ref: {pin}, variant: {_VARIANTS[at % 3]}}}\n"
            for at, (name, pin) in enumerate(self.pins)
        )
        config.write_text(f"state: state\nrewrites: {{'{NOWHERE}/': '{base}/'}}\npins:\n{''.join(entries)}")
        return [PROGRAM, "check", "--config", config]


def pins_of(upstreams: Iterable[Upstream]) -> list[tuple[str, str]]:
    """Return three pins of each upstream, one for each variant."""
    return [(it.name, pin) for it in upstreams for pin in it.pins]


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """Which git processes a program caused."""

    by_it: Sequence[Sequence[str]]
    """The arguments of those that it started itself."""
    by_git: Sequence[Sequence[str]]
    """Of those that git started."""

    @property
    def fetches(self) -> int:
        """Return how many fetches the program asked for."""
        return sum("fetch" in args for args in self.by_it)

    @property
    def by_verb(self) -> str:
        """Return how often the program ran which of git's commands, the most frequent first."""
        verbs = Counter(next(word for word in args[1:] if not word.startswith("-")) for args in self.by_it)
        return "\n".join(f"{count:6} {verb}" for verb, count in verbs.most_common())

    @property
    def lazy(self) -> int:
        """Return how many fetches git began by itself, for an object that was missing."""
        return sum("fetch" in args for args in self.by_git)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrapper:
    """A `git` that comes first on PATH, and lets the real one write down every process that it starts."""

    folder: Path

    @property
    def env(self) -> dict[str, str]:
        """Return the environment in which it is found."""
        bin_, log = self.folder / "bin", self.folder / "log"
        shutil.rmtree(log, ignore_errors=True)
        log.mkdir(parents=True)
        bin_.mkdir(exist_ok=True)
        script = bin_ / "git"
        script.write_text(f'#!/bin/sh\nGIT_TRACE2_EVENT={log} exec {shutil.which("git")} "$@"\n')
        script.chmod(0o755)
        return {"PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}"}

    def started(self) -> Started:
        """Return what was started since `env` was asked for."""
        first = [_start(path) for path in (self.folder / "log").iterdir()]
        return Started(
            by_it=[event["argv"] for event in first if "/" not in event["sid"]],
            by_git=[event["argv"] for event in first if "/" in event["sid"]],
        )


def _start(log: Path) -> dict[str, str]:
    """Return the event with which a git process begins."""
    events = (json.loads(line) for line in log.read_text().splitlines())
    return next(event for event in events if event["event"] == "start")
