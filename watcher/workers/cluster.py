"""Have upstreams looked at by workers of dask.distributed, and by the threads here where there is trouble.

What was given to a worker is owed to whoever asked: a worker that dies has it done by another one, and where the
scheduler or the last worker goes, the threads do what is left.
"""

import asyncio
import logging
import secrets
import time
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import Future, as_completed
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from platform import python_version
from threading import Event, Lock, Thread
from typing import Any, Generic, TypeVar, cast

from distributed import Client, Security
from distributed.core import rpc
from distributed.scheduler import KilledWorker
from distributed.versions import VersionMismatchWarning

from watcher.conclusion import Report, Said
from watcher.config import Executor, Settings
from watcher.examine import Task
from watcher.model import Handshake, Unobserved
from watcher.report.text import safe
from watcher.upstream.refs import Manner
from watcher.workers.errands import Errand, Order, keep, kept, looked_at, marker, parts, polled, preferred
from watcher.workers.threads import ABOUT, Threads, Workers

_PATIENCE = 10.0
"""Seconds in which a scheduler has to answer."""
_EVERY = 2.0
"""Seconds between two questions whether it is still there."""
_ALONE = 30.0
"""Seconds that a scheduler may be without workers: one that was killed is started again in a few."""
_HERE = "going on here, at our own pace"
_COMPARED = ("watcher", "distributed")
_Made = TypeVar("_Made")


class UnusableError(Exception):
    """No work can be given to a scheduler's workers now; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Owed(Generic[_Made]):
    """What is to become of something that a worker was asked for."""

    promised: Future[_Made]
    here: Callable[[], Future[_Made]]
    """Does it here."""
    came: Callable[[Any], Future[_Made] | None]
    """What follows from a worker's answer; None where it has to be done here after all."""
    killed: Callable[[], Future[_Made]]
    """What follows where several workers died of it."""


def employed(settings: Settings, here: Threads) -> Workers:
    """Return the workers of the configured scheduler; the threads where it has none that can be used."""
    executor = settings.executor
    try:
        team = asyncio.run(_team(str(executor.dask), _security(executor)))
        client = _client(executor)
    except UnusableError as error:
        return Threads(pool=here.pool, asking=here.asking, troubles=(f"{ABOUT}{error}: {_HERE}",))
    return Cluster(settings, client, team, here)


class Cluster:
    """The workers of one scheduler, for one pass."""

    def __init__(self, settings: Settings, client: Client, team: Mapping[str, str], here: Threads) -> None:
        self._client, self._team, self._here = client, team, here
        self._address = str(settings.executor.dask)
        self._run = secrets.token_hex(8)
        self._mirrors = settings.state / "mirrors"
        self._lock, self._closed = Lock(), Event()
        self._owed: dict[int, _Owed[Any]] = {}
        self._trouble = self._odd = ""
        Thread(target=self._watch, daemon=True, name="watcher scheduler").start()

    @property
    def troubles(self) -> tuple[str, ...]:
        """Return why threads had to do some of the work."""
        return tuple(filter(None, (self._trouble, self._odd)))

    def news(
        self,
        addresses: Mapping[str, str],
        known: Mapping[str, Handshake],
        manner: Manner,
        done: Callable[[str], None],
    ) -> Mapping[str, Said]:
        """Have them polled in parts."""
        asked = {}
        for part in parts(addresses, known, manner, len(self._team)):
            here = partial(self._here.pool.submit, polled, part)
            asked[self._ask(polled, part, here=here, came=_ready, killed=here)] = part
        seen: dict[str, Said] = {}
        for it in as_completed(asked):
            seen |= it.result()
            for name in asked[it].addresses:
                done(name)
        return {name: seen[name] for name in addresses}

    def submit(self, task: Task, said: Said) -> Future[Report]:
        """Look at an upstream, rather on the worker that has its mirror."""
        return self._ask(
            looked_at,
            self._order(task, said),
            here=partial(self._here.submit, task, said),
            came=partial(self._came, task, said),
            killed=partial(_killed, task),
            workers=[preferred(task.upstream, self._team)],
            allow_other_workers=True,
        )

    def close(self) -> None:
        """Let go of the scheduler; it forgets what is still being done for us."""
        self._closed.set()
        with suppress(OSError, TimeoutError):
            self._client.close(timeout=_PATIENCE)

    # --- one thing that is asked for ---------------------------------------------------------------------------------

    def _ask(
        self,
        do: Callable[[Any], Any],
        what: object,
        *,
        here: Callable[[], Future[_Made]],
        came: Callable[[Any], Future[_Made] | None],
        killed: Callable[[], Future[_Made]],
        **where: object,
    ) -> Future[_Made]:
        owed = _Owed(promised=Future(), here=here, came=came, killed=killed)
        with self._lock:
            self._owed[id(owed)] = owed
        try:
            there = None if self._trouble else self._client.get_executor(pure=False, **where).submit(do, what)
        except Exception:  # noqa: BLE001 - a client that was just closed raises what it likes
            there = None
        if there is None:
            self._settle(owed, owed.here)
        else:
            there.add_done_callback(partial(self._arrived, owed))
        return owed.promised

    def _arrived(self, owed: _Owed[Any], there: Future[Any]) -> None:
        """Make of a worker's answer what was promised."""
        if there.cancelled():
            self._give_up("does not answer")
            self._settle(owed, owed.here)
        elif isinstance(there.exception(), KilledWorker):
            self._settle(owed, owed.killed)
        elif error := there.exception():
            # What is wrong with the task itself shows again, and what is wrong with the worker does not.
            self._odd = f"{ABOUT}a worker failed ({type(error).__name__}: {safe(str(error), 200)}): done here"
            self._settle(owed, owed.here)
        else:
            self._settle(owed, lambda: owed.came(there.result()) or owed.here())

    def _settle(self, owed: _Owed[Any], how: Callable[[], Future[Any]]) -> None:
        """Keep a promise, once."""
        with self._lock:
            is_open = self._owed.pop(id(owed), None) is not None
        if is_open:
            how().add_done_callback(partial(_pass_on, owed.promised))

    def _order(self, task: Task, said: Said) -> Order:
        asking = self._here.asking
        return Order(
            task=task,
            said=said,
            release=version("watcher"),
            marker=marker(self._mirrors),
            kept=kept(task),
            requests=None if asking is None else max(1, asking.budget.left // len(self._team)),
            run=self._run,
        )

    def _came(self, task: Task, said: Said, made: Errand | None) -> Future[Report] | None:
        if made is None:
            return None
        return _ready(made.report) if made.is_shared else self._here.pool.submit(keep, task, said, made.report)

    # --- the scheduler -----------------------------------------------------------------------------------------------

    def _watch(self) -> None:
        """Give up a scheduler that falls silent, or stays without workers: nothing else would end the waiting."""
        seen = time.monotonic()
        while not self._closed.wait(_EVERY):
            try:
                ask = cast(Any, self._client.scheduler).identity
                told = self._client.sync(ask, n_workers=0, callback_timeout=_PATIENCE)
            except Exception:  # noqa: BLE001 - however it does not answer
                if not self._closed.is_set():
                    self._give_up("does not answer")
                return
            now = time.monotonic()
            seen = now if told["n_workers"] else seen
            if now - seen > _ALONE:
                self._give_up("has no workers any more")
                return

    def _give_up(self, why: str) -> None:
        """Do all that is still owed here."""
        with self._lock:
            if not self._trouble:
                self._trouble = f"{ABOUT}the scheduler {self._address} {why}: {_HERE}"
            left = list(self._owed.values())
        for owed in left:
            self._settle(owed, owed.here)


def _ready(value: _Made) -> Future[_Made]:
    made: Future[_Made] = Future()
    made.set_result(value)
    return made


def _killed(task: Task) -> Future[Report]:
    """Say of an upstream that looking at it ends workers: here it would end the service."""
    reason = "several workers died while they looked at it: do they have too little memory?"
    return _ready(Report(failure=Unobserved(upstream=task.upstream, reason=reason)))


def _pass_on(promised: Future[Any], made: Future[Any]) -> None:
    """Keep a promise by what became of something else."""
    if error := made.exception():
        promised.set_exception(error)
    else:
        promised.set_result(made.result())


# --- before anything is asked ----------------------------------------------------------------------------------------


async def _team(address: str, security: Security | None) -> dict[str, str]:
    """Return the workers of a scheduler, address → name; raise UnusableError where they cannot work for us."""
    args = security.get_connection_args("client") if security else {}
    try:
        async with asyncio.timeout(_PATIENCE), rpc(address, connection_args=args) as scheduler:
            told = await scheduler.identity(n_workers=-1)
            ours = await scheduler.versions(packages=["watcher"])
            asked = {"op": "versions", "packages": ["watcher"]}
            theirs = await scheduler.broadcast(msg=asked, on_error="ignore")
    except (OSError, TimeoutError) as error:
        more = f" ({safe(str(error), 100)})" if address.startswith("tls:") and str(error) else ""
        raise UnusableError(f"the scheduler {address} does not answer{more}") from error
    names = {at: str(it["name"]) for at, it in told["workers"].items()}
    if not names:
        raise UnusableError(f"the scheduler {address} has no workers")
    _require_same(f"the scheduler {address}", ours["packages"], ("distributed",))
    for at, versions in sorted(theirs.items()):
        _require_same(f"the worker {names.get(at, at)} of {address}", versions["packages"], _COMPARED)
    return names


def _require_same(who: str, found: Mapping[str, str | None], compared: tuple[str, ...]) -> None:
    """Raise UnusableError where others have other versions: what travels between us would not be understood."""
    pairs = {name: (version(name), str(found.get(name) or "none")) for name in compared}
    minors = tuple(".".join(it.split(".")[:2]) for it in (python_version(), str(found.get("python"))))
    pairs["Python"] = (minors[0], minors[1])
    for name, (own, other) in pairs.items():
        if own != other:
            raise UnusableError(f"{safe(who)} has {name} {safe(other, 40)}, and we have {own}")


def _client(executor: Executor) -> Client:
    # What its library would print of lost connections and other versions, we say ourselves.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    warnings.filterwarnings("ignore", category=VersionMismatchWarning)
    try:
        return Client(executor.dask, timeout=_PATIENCE, security=_security(executor), set_as_default=False)
    except (OSError, TimeoutError) as error:
        raise UnusableError(f"the scheduler {executor.dask} does not answer") from error


def _security(executor: Executor) -> Security | None:
    """Return the certificates; raise UnusableError for one that cannot be read."""
    if executor.ca is None:
        return None
    named = {"ca": executor.ca, "cert": executor.cert, "key": executor.key}
    for name, file in named.items():
        if not cast(Any, file).is_file():
            raise UnusableError(f"the file {file} ({name}) is not there")
    return Security(
        tls_ca_file=str(executor.ca),
        tls_client_cert=str(executor.cert),
        tls_client_key=str(executor.key),
        require_encryption=True,
    )
