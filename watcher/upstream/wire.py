"""Send requests over one kept connection, at a fraction of what a client of httpx costs.

That client goes through models, pools, locks and layers which take longer than the exchange itself.
"""

import asyncio
import ssl

import httpx

from watcher.upstream.line import Line
from watcher.upstream.request import Answer, Question

_PATIENCE = 5.0
"""Seconds until there must be a connection, or anything more of an answer."""
_EYEBALLS = 0.25
"""Seconds after which the next address of a host is tried beside the first."""
_PORTS = {"http": 80, "https": 443}

_Place = tuple[str, str, int]
"""Scheme, host, port."""


class Wire:
    """One kept connection, for one request after the other.

    A kept connection that the server closed is replaced, once, if it gave no byte of an answer. What went wrong is
    told by httpx's errors.
    """

    def __init__(self, context: ssl.SSLContext) -> None:
        self._context = context
        self._kept: tuple[_Place, Line] | None = None

    async def send(self, question: Question) -> Answer:
        """Return the answer; raise one of httpx's errors, or TooLarge."""
        url = question.url
        place = (url.scheme, url.raw_host.decode("ascii"), _PORTS[url.scheme] if url.port is None else url.port)
        line = self._taken(place)
        if line is not None:
            try:
                return await self._exchange(place, line, question)
            except (httpx.ReadError, httpx.RemoteProtocolError):
                if line.has_heard:
                    raise
        return await self._exchange(place, await self._connect(place), question)

    async def close(self) -> None:
        """Close the connection."""
        if self._kept is not None:
            await self._kept[1].hang_up().wait()
            self._kept = None

    def _taken(self, place: _Place) -> Line | None:
        """Return the kept connection if it leads there and is sound; until it is kept again it is nobody else's."""
        kept, self._kept = self._kept, None
        if kept is None:
            return None
        if kept[0] == place and kept[1].is_idle:
            return kept[1]
        kept[1].hang_up()
        return None

    async def _connect(self, place: _Place) -> Line:
        scheme, host, port = place
        try:
            async with asyncio.timeout(_PATIENCE):
                _, line = await asyncio.get_running_loop().create_connection(
                    lambda: Line(host, _PATIENCE),
                    host,
                    port,
                    ssl=self._context if scheme == "https" else None,
                    happy_eyeballs_delay=_EYEBALLS,
                )
        except TimeoutError:
            raise httpx.ConnectTimeout("no connection in time") from None
        except OSError as error:  # TLS errors among them
            raise httpx.ConnectError(str(error) or type(error).__name__) from error
        except UnicodeError as error:
            raise httpx.InvalidURL("the host has no valid name") from error
        return line

    async def _exchange(self, place: _Place, line: Line, question: Question) -> Answer:
        try:
            answer = await line.exchange(question)
        except BaseException:
            line.hang_up()
            raise
        if line.is_idle:
            self._kept = (place, line)
        else:
            line.hang_up()
        return answer
