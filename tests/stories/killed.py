"""Make one pass and kill it at a chosen point, or at a chosen step, in a process of its own.

A step is whatever leaves something behind: a file below the state folder that is opened for writing, renamed, removed
or made, a git program that writes, a statement of SQL that does. Whoever dies before one has done all before it.
"""

import errno
import importlib
import os
import resource
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from watcher import cli, cycle
from watcher.config import load
from watcher.store import Store

_WRITING = {"commit-graph", "fetch", "index-pack", "init", "pack-objects", "pack-refs", "repack", "update-ref"}
"""The git programs that leave something behind."""
_CHANGING = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "shutil.rmtree", "os.truncate", "os.link", "os.symlink"}
_READING = ("SELECT", "PRAGMA")


def make(config: Path, now: datetime, place: str, when: str, word: str = "") -> None:
    """Make the pass; it ends when `module:name` is called (`before`) or done (`after`).

    With a word, only a call that has it among its arguments counts.
    """
    module, _, path = place.partition(":")
    *owners, name = path.split(".")
    owner: Any = importlib.import_module(module)
    for step in owners:
        owner = getattr(owner, step)
    setattr(owner, name, _deadly(getattr(owner, name), when, word))
    _pass(config, now)


def _pass(config: Path, now: datetime) -> None:
    settings = load(config)
    with Store.open(settings.state) as store:
        cycle.check(settings, store, now=now)


def _deadly(function: Callable[..., Any], when: str, word: str) -> Callable[..., Any]:
    """Return the function with a sudden death before or after its first call with the word."""

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        is_it = not word or word in args
        if is_it and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = function(*args, **kwargs)
        if is_it:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    return wrapped


# --- step by step ----------------------------------------------------------------------------------------------------


def make_steps(config: Path, now: datetime, state: Path, last: int, steps: Path) -> None:
    """Make the pass; it ends before the step of that number, or has its steps written to a file, one a line."""
    taken: list[str] = []

    def step(what: str) -> None:
        if len(taken) == last:
            os.kill(os.getpid(), signal.SIGKILL)
        taken.append(what)

    watch(step, state)
    _pass(config, now)
    # Opened before it is written to, and elsewhere than in the state folder: no step of the pass.
    steps.write_text("\n".join(taken), encoding="utf-8")


def check_with_little_room(config: Path, now: datetime, room: int, said: Path) -> None:
    """Run `watcher check` where no file can grow beyond so many bytes, as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    _keep_ignoring(subprocess)
    with said.open("w") as sys.stderr, open(os.devnull, "w") as sys.stdout:  # noqa: PTH123
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
        _check(config, now, said)


def check_without_names(config: Path, now: datetime, state: Path, first: int, said: Path) -> None:
    """Run `watcher check` where no file and no folder can be made any more, from the n-th one on."""
    made: list[str] = []

    def told(event: str, args: tuple[Any, ...]) -> None:
        is_new = event == "open" and args[2] & os.O_CREAT and not os.path.exists(args[0])  # noqa: PTH110
        if (is_new or event == "os.mkdir") and _is_ours(args[0], f"{state.resolve()}{os.sep}"):
            made.append(event)
            if len(made) > first:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(args[0]))

    with said.open("w") as sys.stderr, open(os.devnull, "w") as sys.stdout:  # noqa: PTH123
        sys.addaudithook(told)
        _check(config, now, said)


def _check(config: Path, now: datetime, said: Path) -> None:
    """Run the command line at a moment."""
    cli._now = lambda: now
    sys.argv = ["watcher", "check", "--config", str(config)]
    try:
        cli.main()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        sys.stderr.flush()


def _keep_ignoring(module: Any) -> None:
    """Let programs that are started ignore the signal that a too large file brings, too: they see an error then."""
    begin = module.Popen.__init__

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        begin(self, *args, **{**kwargs, "restore_signals": False})

    module.Popen.__init__ = __init__


def watch(step: Callable[[str], None], state: Path) -> None:
    """Tell of every step from now on, before it is done."""
    below = f"{state.resolve()}{os.sep}"

    def told(event: str, args: tuple[Any, ...]) -> None:
        if event == "open" and _is_ours(args[0], below) and args[2] & (os.O_WRONLY | os.O_RDWR):
            step(f"write {os.path.relpath(os.fsdecode(args[0]), below)}")
        elif event in _CHANGING and _is_ours(args[0], below):
            step(f"{event} {os.path.relpath(os.fsdecode(args[0]), below)}")
        elif event == "subprocess.Popen" and (verb := _WRITING.intersection(args[1][:4])):
            step(f"git {verb.pop()}")

    def connected(*args: Any, **kwargs: Any) -> sqlite3.Connection:
        db = connect(*args, **kwargs)
        db.set_trace_callback(lambda sql: None if _is_reading(sql) else step(_short(sql)))
        return db

    connect, sqlite3.connect = sqlite3.connect, connected
    sys.addaudithook(told)


def _is_ours(path: object, below: str) -> bool:
    return isinstance(path, str | bytes | os.PathLike) and str(Path(os.fsdecode(path)).absolute()).startswith(below)


def _is_reading(sql: str) -> bool:
    return sql.lstrip().upper().startswith(_READING)


def _short(sql: str) -> str:
    return " ".join(sql.split()[:3])
