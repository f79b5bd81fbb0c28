"""Answer over HTTP how the service does: /healthz for people, /readyz for whoever restarts it, /metrics for Prometheus.

All other addresses are those of pages (`showing`).

Nothing here writes, and nothing that a request says is trusted: every page is the same for whoever asks.
"""

import asyncio
import socket
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import Any, Self, cast

import structlog
import uvicorn
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector
from starlette.applications import Starlette
from starlette.convertors import PathConvertor, register_url_convertor
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from watcher.config.fields import Endpoint
from watcher.errors import StoreError, UsageError
from watcher.metrics import Beat, Pulse, Scrape, sendable_since
from watcher.report.text import safe
from watcher.store import Owed, Store

_AT_ONCE = 32
"""How many connections are open at a time; more are refused."""
_LONGEST = 10.0
"""Seconds that a connection lives, whatever it does: whoever sends half a request holds nothing up."""
_PASSES, _AT_LEAST = 3, timedelta(minutes=10)
"""A pass is late after so many intervals, and not before so long."""
_TICK = timedelta(seconds=60)
"""The scheduler gives a sign of life within it."""
_WAIT = timedelta(hours=1)
"""A message that waits longer is in trouble."""
_HEADERS = [("connection", "close"), ("x-content-type-options", "nosniff")]
_UNKEPT = {"cache-control": "no-store", "content-security-policy": "default-src 'none'"}
"""What every answer says that does not say otherwise."""


class Served:
    """The pages of one service, served by a thread of their own."""

    def __init__(
        self,
        endpoint: Endpoint,
        state: Path,
        pulse: Pulse,
        others: Callable[[Request], Response] | None = None,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._endpoint = endpoint
        self._server = uvicorn.Server(_config(_pages(state, pulse, others, now)))
        self._socket: socket.socket | None = None
        self._thread: Thread | None = None

    def start(self) -> None:
        """Take the address and answer from now on; raise UsageError where it cannot be had."""
        self._socket = taken = _bound(self._endpoint)
        self._endpoint = Endpoint(host=self._endpoint.host, port=taken.getsockname()[1])
        self._thread = Thread(target=self._server.run, args=([taken],), name="http", daemon=True)
        self._thread.start()

    def stop(self, timeout: float = 2.0) -> None:
        """Answer no more; whoever is still being answered after `timeout` seconds is left."""
        self._server.should_exit = True
        if self._thread is not None:
            self._thread.join(timeout)
        if self._socket is not None:
            self._socket.close()  # where it was told to stop before it began, nobody else does

    @property
    def address(self) -> Endpoint:
        """Return where it listens; the real port, once it was started."""
        return self._endpoint

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()


# --- what is said ----------------------------------------------------------------------------------------------------


def health(store: Store, now: datetime) -> dict[str, Any]:
    """Return what wants a person: messages that do not arrive, and what the self-check found."""
    undelivered = [
        {"channel": safe(channel), "reason": safe(reason), "count": count}
        for channel, reason, count in store.stuck(now)
    ]
    troubles = [safe(line) for duty in store.standings("duty").values() for line in duty.get("troubles", ())]
    return {"undelivered": undelivered, "self_check": troubles}


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One condition of being ready."""

    is_met: bool
    detail: str


def checks(beat: Beat, waiting: Iterable[Owed], now: datetime) -> Mapping[str, Check]:
    """Return what being ready means, by name, apart from the database."""
    return {"cycle": _cycle(beat), "scheduler": _scheduler(beat), "outbox": _outbox(beat, waiting, now)}


def _cycle(beat: Beat) -> Check:
    limit = max(_PASSES * beat.every, _AT_LEAST).total_seconds()
    told = [f"the last good pass, or the start, was {beat.looked:.0f} s ago; {limit:.0f} s are fine"]
    told += [f"one is under way for {beat.running:.0f} s"] if beat.running is not None else []
    told += [f"the last one failed: {safe(beat.failure)}"] if beat.failure else []
    return Check(is_met=beat.looked <= limit, detail="; ".join(told))


def _scheduler(beat: Beat) -> Check:
    limit = _TICK.total_seconds()
    return Check(
        is_met=beat.ticked <= limit,
        detail=f"its last sign of life, or the start, was {beat.ticked:.0f} s ago; {limit:.0f} s are fine",
    )


def _outbox(beat: Beat, waiting: Iterable[Owed], now: datetime) -> Check:
    """Look at the messages that can be sent: not at held ones, nor at those for a channel that was taken away."""
    since = [at for message, at in sendable_since(waiting) if message.channel in beat.channels and at <= now]
    if not since:
        return Check(is_met=True, detail="no message waits")
    age = now - min(since)
    limit = _WAIT.total_seconds()
    return Check(
        is_met=age <= _WAIT, detail=f"the oldest message waits for {age.total_seconds():.0f} s; {limit:.0f} s are fine"
    )


# --- the pages -------------------------------------------------------------------------------------------------------


def _pages(
    state: Path, pulse: Pulse, others: Callable[[Request], Response] | None, now: Callable[[], datetime]
) -> Starlette:
    """Return the application; `others` answers for every page that is for people.

    All are plain functions: they run in threads, each with a store of its own.
    """

    def healthz(_: Request) -> Response:
        said: dict[str, Any] = {"undelivered": [], "self_check": [], "database": "ok"}
        try:
            with Store.open(state) as store:
                said |= health(store, now())
        except StoreError as error:
            said["database"] = safe(str(error))
        is_well = said == {"undelivered": [], "self_check": [], "database": "ok"}
        return JSONResponse({"status": "ok" if is_well else "trouble", **said, "version": version("watcher")})

    def readyz(_: Request) -> Response:
        database, waiting = Check(is_met=True, detail="it answers"), tuple[Owed, ...]()
        try:
            with Store.open(state) as store:
                waiting = store.waiting()
        except StoreError as error:
            database = Check(is_met=False, detail=safe(str(error)))
        found = {**checks(pulse.beat(), waiting, now()), "database": database}
        is_ready = all(check.is_met for check in found.values())
        said = {name: {"ok": check.is_met, "detail": check.detail} for name, check in found.items()}
        return JSONResponse({"ready": is_ready, "checks": said}, status_code=200 if is_ready else 503)

    def metrics(request: Request) -> Response:
        encoder, media_type = _encoder(request.headers.get("accept", ""))
        return Response(encoder(Scrape(pulse=pulse, state=state, now=now())), media_type=media_type)

    register_url_convertor("anything", _Anything())
    pages = Starlette(
        routes=[
            Route("/healthz", healthz),
            Route("/readyz", readyz),
            Route("/metrics", metrics),
            *([Route("/{address:anything}", others)] if others else []),
        ],
        middleware=[Middleware(_Unkept)],
        exception_handlers={Exception: _failed},
    )
    # A redirect would be made of the Host that the request names.
    pages.router.redirect_slashes = False
    return pages


class _Anything(PathConvertor):
    """What an address can be; the `path` of the library ends where a line does."""

    regex = r"[\s\S]*"


class _Unkept:
    """Let nobody keep an answer, nor run anything in it, unless it says otherwise."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _UNKEPT.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, sending)


def _encoder(accept: str) -> tuple[Callable[[Collector], bytes], str]:
    try:
        return choose_encoder(accept)
    except TypeError:  # it compares whatever is sent as a version with numbers
        return choose_encoder("")


def _failed(request: Request, error: Exception) -> Response:
    structlog.get_logger().error("page failed", page=safe(request.scope["path"]), exc_info=error)
    return PlainTextResponse("internal error", status_code=500)


# --- the server ------------------------------------------------------------------------------------------------------


class _Connection(H11Protocol):
    """One of a few connections, for a limited time; the server by itself waits for ever for a request to begin."""

    _end: asyncio.TimerHandle

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        way = cast("asyncio.Transport", transport)
        super().connection_made(way)
        self._end = self.loop.call_later(_LONGEST, way.abort)
        if len(self.connections) > _AT_ONCE:
            way.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end.cancel()
        super().connection_lost(exc)


def _config(pages: Starlette) -> uvicorn.Config:
    return uvicorn.Config(
        pages,
        http=_Connection,
        ws="none",
        loop="asyncio",
        lifespan="off",
        log_config=None,
        log_level="critical",  # strangers shall not write our log; what fails in a page is told by `_failed`
        access_log=False,
        proxy_headers=False,
        server_header=False,
        headers=_HEADERS,
        timeout_graceful_shutdown=1,
    )


def _bound(at: Endpoint) -> socket.socket:
    """Return a socket that listens."""
    family = socket.AF_INET6 if ":" in at.host else socket.AF_INET
    try:
        return socket.create_server((at.host, at.port), family=family, backlog=_AT_ONCE)
    except OSError as error:
        reason = str(error.strerror).partition(" (while")[0]
        raise UsageError(f"cannot listen on {at}: {reason}; name another address by `http: {{listen: …}}`") from error
