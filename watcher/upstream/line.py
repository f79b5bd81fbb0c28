"""Hold one HTTP/1.1 connection.

Parsing is h11's, which refuses two lengths that differ, bad chunks and endless heads; what it lets pass and a kept
connection must not see is refused here. Whatever goes wrong is a Failure.
"""

import asyncio
from typing import Any

import h11

from watcher.upstream.request import Answer, Broken, Late, Misput, Question, TooLarge
from watcher.upstream.tls import Resuming

_LONGEST_HEAD = 64 * 1024
"""Bytes of status line and headers, of a chunk's first line, of trailers."""
_MOST_UNREAD = 256 * 1024
"""Bytes that may wait to be parsed before the server has to wait."""
_MOST_INTERIM = 8
"""Answers that announce an answer (100, 103), for one request."""


class Line(asyncio.Protocol):
    """One connection: bytes come in when they will, events go out when they are asked for."""

    def __init__(self, host: str, patience: float) -> None:
        self.has_heard = False
        """A byte came in since the last request was sent."""
        self._host = host
        self._patience = patience
        self._parser = h11.Connection(h11.CLIENT, max_incomplete_event_size=_LONGEST_HEAD)
        self._transport: Any = None  # no class of asyncio's has all methods of both transports
        self._news: asyncio.Future[None] | None = None
        self._unread = 0
        self._error: Exception | None = None
        self._closed = asyncio.Event()

    # --- what asyncio tells ------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way out."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Hand on what came in; make a server wait that sends more than is read."""
        self.has_heard = True
        self._parser.receive_data(data)
        self._unread += len(data)
        if self._unread > _MOST_UNREAD:
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        """Hand on that nothing more will come."""
        self._parser.receive_data(b"")
        self._wake()

    def connection_lost(self, error: Exception | None) -> None:
        """Keep why."""
        self._error = error or ConnectionResetError("the connection was closed")
        self._closed.set()
        self._wake()

    # --- what is asked -----------------------------------------------------------------------------------------------

    @property
    def is_idle(self) -> bool:
        """Answer whether another request may be sent.

        A server that says something unasked would have it taken for the next answer.
        """
        is_next = self._parser.our_state is h11.IDLE and self._parser.their_state is h11.IDLE
        return is_next and self._parser.trailing_data == (b"", False) and not self._transport.is_closing()

    @property
    def place(self) -> str:
        """Return the internet address of the server."""
        return str(self._transport.get_extra_info("peername")[0])

    async def exchange(self, question: Question) -> Answer:
        """Send a request, and return its answer; raise a Failure."""
        self._send(question)
        head = await self._head()
        headers = {name.decode("ascii"): value.decode("latin-1") for name, value in head.headers}
        body = await self._body(question.largest)
        if self._parser.our_state is h11.DONE and self._parser.their_state is h11.DONE:
            self._parser.start_next_cycle()
        return Answer(status=head.status_code, headers=headers, body=body)

    def hang_up(self) -> asyncio.Event:
        """Close at once, keeping the TLS session; return what tells when it is done."""
        tls = self._transport.get_extra_info("ssl_object")
        if tls is not None and isinstance(tls.context, Resuming):
            tls.context.remember(self._host, tls.session)
        self._transport.abort()
        return self._closed

    def _send(self, question: Question) -> None:
        """Send a request whole: those of a poll are small."""
        self.has_heard = False
        url, body = question.url, question.body
        headers = [("Host", url.authority), *question.headers.items()]
        if body is not None:
            headers.append(("Content-Length", str(len(body))))
        try:
            head = h11.Request(method="GET" if body is None else "POST", target=url.target, headers=headers)
            sent = [head, h11.EndOfMessage()] if body is None else [head, h11.Data(data=body), h11.EndOfMessage()]
            self._transport.write(b"".join(self._parser.send(event) or b"" for event in sent))
        except h11.LocalProtocolError as error:
            raise Misput(str(error)) from error

    async def _head(self) -> h11.Response:
        for _ in range(_MOST_INTERIM + 1):
            event = await self._event()
            if isinstance(event, h11.Response):
                _check(event)
                return event
            if not isinstance(event, h11.InformationalResponse):
                raise Broken("the server closed the connection without an answer")
        raise Broken("the server announces an answer again and again")

    async def _body(self, largest: int) -> bytes:
        parts, size = [], 0
        while isinstance(event := await self._event(), h11.Data):
            parts.append(event.data)
            size += len(event.data)
            if size > largest:
                raise TooLarge
        return b"".join(parts)

    async def _event(self) -> h11.Event:
        """Return what the server says next."""
        while True:
            try:
                event = self._parser.next_event()
            except h11.RemoteProtocolError as error:
                raise Broken(str(error)) from error
            if isinstance(event, h11.Event):
                return event
            if self._error is not None:
                raise Broken(str(self._error) or type(self._error).__name__)
            await self._more()

    async def _more(self) -> None:
        """Wait until more came in, or nothing more will."""
        if self._unread > _MOST_UNREAD:
            self._transport.resume_reading()
        self._unread = 0
        self._news = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(self._patience):
                await self._news
        except TimeoutError:
            raise Late from None

    def _wake(self) -> None:
        if self._news is not None and not self._news.done():
            self._news.set_result(None)


def _check(head: h11.Response) -> None:
    """Refuse an answer that is not what we asked for, or that somebody else would read in another way."""
    names = {name for name, _ in head.headers}
    if head.http_version not in {b"1.0", b"1.1"}:
        raise Broken("the answer is not HTTP/1")
    if {b"transfer-encoding", b"content-length"} <= names:
        raise Broken("the answer tells its length in two ways")
    if b"content-encoding" in names and dict(head.headers)[b"content-encoding"].lower() != b"identity":
        raise Broken("the answer is compressed, unasked")
