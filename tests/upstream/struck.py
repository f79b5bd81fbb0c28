"""Work on a mirror and be killed at one step of it: a call of git, or a change of the file system."""

import os
import shutil
import signal
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from watcher.model import Oid
from watcher.upstream import packing
from watcher.upstream.git import Git

_STEPS = ((Git, "run"), (Path, "replace"), (Path, "rename"), (Path, "unlink"), (Path, "touch"), (shutil, "rmtree"))


def strike(step: int) -> None:
    """Let the process die before a step."""
    steps = count()

    def deadly(function: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            if next(steps) == step:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*args, **kwargs)

        return wrapped

    for owner, name in _STEPS:
        setattr(owner, name, deadly(getattr(owner, name)))


def main(work: str, directory: str, step: str, *needed: str) -> None:
    """Do one of the works of `packing`."""
    strike(int(step))
    match work:
        case "tidy":
            packing.tidy(Path(directory))
        case "slim":
            packing.slim(Path(directory), map(Oid, needed))
        case "remove":
            packing.remove(Path(directory))


if __name__ == "__main__":
    main(*sys.argv[1:])
