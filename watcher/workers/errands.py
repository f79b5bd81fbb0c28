"""What a worker on another machine does, given values alone: functions that it can find by their names.

Its mirrors are a cache. Where it sees the service's own folder (one machine, a shared disk), it works there; else in a
folder of its own, which it first brings to hold what the service's mirror holds for ever. Where it cannot, it hands the
task back: what upstream hands out no more is known to the service alone.
"""

import asyncio
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from watcher import address
from watcher.conclusion import Report, Said
from watcher.errors import GitError
from watcher.examine import Task, report
from watcher.forges import Budget, connect
from watcher.model import Advertisement, Handshake, Oid, Pin, RefKind, Same, Unobserved, is_oid, oid
from watcher.opinions import Asking
from watcher.upstream import salvage
from watcher.upstream.mirror import Mirror
from watcher.upstream.refs import Manner, news

FOLDER = "WATCHER_MIRRORS"
"""The variable that names where a worker keeps its mirrors, so that they outlive it."""
_MARKER = ".marker"
_PER_HOST = 16
"""How many questions one host is asked at once, by all workers together."""
_PART = 250
"""So many upstreams are polled together, where there are enough of them for several workers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One upstream to look at, as it travels."""

    task: Task
    said: Said
    release: str
    """The version of watcher that asks."""
    marker: str
    """What lies beside the service's mirrors: who finds it sees them."""
    kept: tuple[Oid, ...]
    """Commits of pins that the service's mirror holds for ever."""
    requests: int | None
    """How many requests one worker may send to forges in one pass; None where no forge is asked."""
    run: str
    """Which pass it is, of all that this worker ever works for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """What came of an order."""

    report: Report
    is_shared: bool
    """It was done in the service's own mirror."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Upstreams to poll together."""

    addresses: Mapping[str, str]
    known: Mapping[str, Handshake]
    manner: Manner
    per_host: int


# --- on a worker -----------------------------------------------------------------------------------------------------


def polled(part: Part) -> dict[str, Said]:
    """Return what upstreams say now."""
    return asyncio.run(news(part.addresses, part.known, part.manner, per_host=part.per_host))


def looked_at(order: Order) -> Errand | None:
    """Look at an upstream; return None where this worker is not the one who can."""
    if order.release != version("watcher"):
        return None
    asking = None if order.requests is None else _asking(order.run, order.requests, order.task.at)
    if order.marker and _marked(order.task.folder.parent) == order.marker:
        return Errand(report=report(order.task, order.said, asking), is_shared=True)
    task = replace(order.task, folder=_own_folder() / order.task.folder.name)
    if order.kept and not _holds(task, order.said, order.kept):
        return None
    return Errand(report=report(task, order.said, asking), is_shared=False)


def _holds(task: Task, said: Said, wanted: Sequence[Oid]) -> bool:
    """Make a mirror hold commits for ever; answer whether it does."""
    if isinstance(said, Unobserved) or (isinstance(said, Same) and task.last is not None):
        return True  # No mirror is looked into.
    try:
        return len(_opened(task, said).keep_all(wanted)) == len(wanted)
    except GitError:
        return False


def _own_folder() -> Path:
    """Return where this worker keeps its mirrors."""
    from distributed import get_worker  # noqa: PLC0415 - only workers have it for sure

    return Path(os.environ.get(FOLDER) or get_worker().local_directory) / "mirrors"


@lru_cache(maxsize=1)
def _asking(_run: str, requests: int, at: datetime) -> Asking:
    """Return how this worker asks forges in one pass: all its tasks share what it may ask."""
    return Asking(http=connect(), budget=Budget(left=requests), now=at)


# --- on the service's side -------------------------------------------------------------------------------------------


def parts(addresses: Mapping[str, str], known: Mapping[str, Handshake], manner: Manner, workers: int) -> Iterator[Part]:
    """Cut upstreams by host, so that no host is asked more at once than one process would ask it."""
    hosts: dict[str, list[str]] = {}
    for upstream, url in addresses.items():
        hosts.setdefault(address.host(url), []).append(upstream)
    small: list[str] = []
    for names in hosts.values():
        count = min(workers, _PER_HOST, -(-len(names) // _PART))
        if count <= 1:
            small += names
        for at in range(count if count > 1 else 0):
            yield _part(names[at::count], addresses, known, manner, _PER_HOST // count)
        if len(small) >= _PART:
            yield _part(small, addresses, known, manner, _PER_HOST)
            small = []
    if small:
        yield _part(small, addresses, known, manner, _PER_HOST)


def preferred(upstream: str, names: Mapping[str, str]) -> str:
    """Return the address of the worker (address → name) that has an upstream's mirror.

    When a worker comes or goes, only what it gets or had has another one than before.
    """
    return max(names, key=lambda at: sha256(f"{names[at]} {upstream}".encode()).digest())


def marker(mirrors: Path) -> str:
    """Return what marks the folder of the service's mirrors; write it on first use."""
    mirrors.mkdir(parents=True, exist_ok=True)
    if not _marked(mirrors):
        fresh = mirrors / f"{_MARKER}.{os.getpid()}"
        fresh.write_text(f"{secrets.token_hex(16)}\n", encoding="ascii")
        fresh.replace(mirrors / _MARKER)
    return _marked(mirrors)


def kept(task: Task) -> tuple[Oid, ...]:
    """Return the commits of an upstream's pins that its mirror here holds for ever; no process is started."""
    written = tuple(str(pin.wanted).lower() for pin in task.pins if pin.ref_kind in {RefKind.SHA, RefKind.SHORT_SHA})
    return tuple(it for it in salvage.kept(task.folder) if written and it.startswith(written))


def keep(task: Task, said: Said, made: Report) -> Report:
    """Hold the pinned commits here that a worker found, whose own mirror may be gone tomorrow.

    Where that fails the conclusion is not settled: the next pass tries it again.
    """
    found = made.conclusion
    if found is None or isinstance(said, Unobserved):
        return made
    wanted = {_named(pin, found.commits[pin.id]) for pin in task.pins if _is_fixed(pin) and pin.id in found.commits}
    if wanted <= set(salvage.kept(task.folder)):
        return made
    try:
        is_kept = _kept_all(task, said, made, wanted)
    except GitError:
        is_kept = False
    return made if is_kept else replace(made, conclusion=replace(found, is_settled=False))


def _is_fixed(pin: Pin) -> bool:
    """Answer whether the commit of a pin does not move on by itself."""
    return pin.ref_kind in {RefKind.SHA, RefKind.SHORT_SHA, RefKind.TAG}


def _named(pin: Pin, commit: Oid) -> Oid:
    """Return the object that a pin names in full, which may be a tag's; else its commit."""
    written = str(pin.wanted).lower()
    return oid(written) if is_oid(written) else commit


def _kept_all(task: Task, said: Advertisement | Same, made: Report, wanted: set[Oid]) -> bool:
    """Hold commits with their trees: without these nobody could look for what they became, once they are lost."""
    with salvage.alone(task.folder):
        mirror = _opened(task, said)
        held = mirror.keep_all(wanted)
        if len(held) < len(wanted) and made.sighting is not None:
            # A server that hands out only what it advertises.
            mirror.fetch(made.sighting.advertisement)
            held = mirror.keep_all(wanted)
        mirror.bring_trees(held.values())
        return len(held) == len(wanted)


def _part(
    names: Sequence[str], addresses: Mapping[str, str], known: Mapping[str, Handshake], manner: Manner, per_host: int
) -> Part:
    return Part(
        addresses={name: addresses[name] for name in names},
        known={name: known[name] for name in names if name in known},
        manner=manner,
        per_host=per_host,
    )


def _opened(task: Task, said: Advertisement | Same) -> Mirror:
    server = said.handshake
    return Mirror.open(
        task.folder, task.url, filters=server.filters, object_format=server.object_format, allowed=task.allowed
    )


def _marked(mirrors: Path) -> str:
    """Return what marks a folder; nothing where it is not marked, or not there."""
    try:
        return (mirrors / _MARKER).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
