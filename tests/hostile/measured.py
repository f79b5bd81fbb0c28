"""Do something in a process of its own, which may take so much time and memory and no more."""

import os
import pickle
import resource
import signal
import traceback
from collections.abc import Callable
from typing import Any

MIB = 1 << 20


def within(work: Callable[[], Any], *, seconds: int = 20, megabytes: int = 400) -> Any:
    """Return what the work returns; fail where it takes more processor time, or memory beyond what there is already.

    The limits hold for each program that it starts as well: git, above all.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _work(work, writing, seconds, megabytes)
    os.close(writing)
    with os.fdopen(reading, "rb") as source:
        written = source.read()
    _, status = os.waitpid(child, 0)
    assert written, f"ended by signal {os.WTERMSIG(status)}: more than {seconds} s of processor time?"
    found = pickle.loads(written)  # noqa: S301 - our own child wrote it
    assert not isinstance(found, _Failed), found.text
    return found


class _Failed:
    """What went wrong in the child."""

    def __init__(self, text):
        self.text = text


def _work(work, writing, seconds, megabytes):
    """Work, write what came of it, and end."""
    try:
        signal.alarm(6 * seconds)  # of wall clock: for what hangs
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        limit = _used() + megabytes * MIB
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
        found = work()
    except BaseException:  # noqa: BLE001 - the parent raises it
        found = _Failed(traceback.format_exc())
    with os.fdopen(writing, "wb") as out:
        out.write(pickle.dumps(found))
    os._exit(0)


def _used():
    """Return the bytes of data that this process has already, as RLIMIT_DATA counts them."""
    with open("/proc/self/status", encoding="ascii") as status:  # noqa: PTH123 - as early as can be
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmData:"))
