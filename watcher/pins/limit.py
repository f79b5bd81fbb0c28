"""A limit of processor time, and of memory, on each of many pieces of work, whatever they do.

The work is done in a child process, one piece after the other; the kernel ends the child when a piece takes too long,
and a new one goes on behind it. Nothing less would do: neither the engine of regular expressions nor a parser in C can
be interrupted from inside. It is processor time of the child alone that counts, so that a busy machine or a slow disk
does not change what a scan finds.
"""

import gc
import os
import pickle
import resource
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, TypeVar

_MEMORY = 1 << 30
"""Bytes that a child may take beyond what it had when it began; the largest real file takes a tenth of that."""
_DATA = 5
"""Which number of statm is the size of data, in pages: see proc_pid_statm(5)."""
_Piece = TypeVar("_Piece")
_Result = TypeVar("_Result")


def within(
    seconds: float, work: Callable[[_Piece], _Result], pieces: Sequence[_Piece]
) -> Iterator[tuple[_Piece, _Result | None]]:
    """Yield each piece with the work's result, None where that took more seconds of processor time or the child died.

    Work that asks for more than a GiB is told so by a MemoryError, where the system has such a limit; one that it does
    not catch ends the child. A result must be such as can be pickled; so must other errors, which are raised here.
    """
    at = 0
    while at < len(pieces):
        for result in _results(seconds, work, pieces[at:]):
            if isinstance(result, BaseException):
                raise result
            yield pieces[at], result
            at += 1
        if at < len(pieces):
            yield pieces[at], None
            at += 1


def _results(
    seconds: float, work: Callable[[_Piece], _Result], pieces: Sequence[_Piece]
) -> Iterator[_Result | Exception]:
    """Yield what a child made of the pieces, up to its end."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # on threads: the child uses nothing that they may hold
        child = os.fork()
    if child == 0:
        os.close(reading)
        with os.fdopen(writing, "wb") as out:
            _do(seconds, work, pieces, out)
    os.close(writing)
    try:
        with os.fdopen(reading, "rb") as source, suppress(EOFError, pickle.UnpicklingError):
            while True:
                yield pickle.load(source)  # noqa: S301 - our own child wrote it
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _do(seconds: float, work: Callable[[_Piece], _Result], pieces: Sequence[_Piece], out: BinaryIO) -> None:
    """Do the work in the child; never return."""
    status = 1
    try:
        _limit_memory()
        sys.unraisablehook = _tell_nobody
        gc.freeze()  # what the parent has is neither looked through again nor copied
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        for piece in pieces:
            signal.setitimer(signal.ITIMER_PROF, seconds)
            try:
                result: _Result | Exception = work(piece)
            except MemoryError:
                return  # there may be too little left to say so: a new child goes on behind it
            except Exception as error:  # noqa: BLE001 - the parent raises it
                result = error
            pickle.dump(result, out)
            out.flush()
        status = 0
    finally:
        os._exit(status)


def _tell_nobody(_: object) -> None:
    """Leave what generators print that run out of memory while they are closed; the result says it."""


def _limit_memory() -> None:
    """Let this process have so much more memory and no more; what it shares with its parent counts for it too."""
    with suppress(OSError, ValueError):  # another system, or a lower limit from outside
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[_DATA])
        most = pages * resource.getpagesize() + _MEMORY
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
