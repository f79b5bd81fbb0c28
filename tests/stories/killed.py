"""Make one pass and kill it at a chosen point, in a process of its own."""

import importlib
import os
import signal
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from watcher import cycle
from watcher.config import load
from watcher.store import Store


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
