"""Try a parser on an input: within two seconds and little memory it returns, or raises what it is known to raise."""

import resource
import time
import traceback
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.parsers import Parser

SECONDS = 2.0
"""Of processor time, for one input."""
MEGABYTES = 256
"""By which the most memory ever used may grow."""
_WATCHER = f"{Path('watcher')}/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What a parser did that it must not do."""

    what: str
    """The error, `slow` or `greedy`."""
    where: str
    """The deepest place in the program."""
    text: str

    @property
    def name(self) -> str:
        """Return what tells it from other failures, as a file name."""
        return f"{self.what}-{self.where.replace('/', '.').replace(':', '-')}"


def attempt(parser: Parser, data: bytes, *, seconds: float = SECONDS) -> Failure | None:
    """Return what went wrong, None where nothing did."""
    memory, began = _most_memory(), time.process_time()
    try:
        parser.read(data)
    except parser.errors:
        pass
    except Exception as error:  # noqa: BLE001 - whatever it is, it is reported
        return Failure(what=type(error).__name__, where=_place(error), text=traceback.format_exc(limit=-8))
    took, grew = time.process_time() - began, _most_memory() - memory
    if took > seconds:
        return Failure(what="slow", where=parser.name, text=f"{took:.1f} s of processor time")
    if grew > MEGABYTES:
        return Failure(what="greedy", where=parser.name, text=f"{grew} MB more memory")
    return None


def _most_memory() -> int:
    """Return the most megabytes that this process, or any of its children, ever used."""
    return max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) // 1024


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    own = [it for it in frames if _WATCHER in it.filename and "tests/" not in it.filename]
    last = (own or frames)[-1]
    return f"{last.filename.rpartition(_WATCHER)[2]}:{last.name}"
