"""Send requests over one kept connection, at a fraction of what a client of httpx costs.

That client goes through models, pools, locks and layers which take longer than the exchange itself.
"""

import asyncio
import ssl

from watcher.address import is_public
from watcher.upstream.line import Line
from watcher.upstream.reaching import private
from watcher.upstream.request import Answer, Broken, Late, Private, Question, Unconnected
from watcher.upstream.url import Url

_PATIENCE = 5.0
"""Seconds until there must be a connection, or anything more of an answer."""
_EYEBALLS = 0.25
"""Seconds after which the next address of a host is tried beside the first."""


class Wire:
    """One kept connection, for one request after the other.

    A kept connection that the server closed is replaced, once, if it gave no byte of an answer.
    """

    def __init__(self, context: ssl.SSLContext) -> None:
        self._context = context
        self._kept: tuple[Url, Line] | None = None

    async def send(self, question: Question) -> Answer:
        """Return the answer; raise a Failure."""
        line = self._taken(question.url)
        if line is not None:
            try:
                return await self._exchange(line, question)
            except Broken:
                if line.has_heard:
                    raise
        return await self._exchange(await self._connect(question.url), question)

    async def close(self) -> None:
        """Close the connection."""
        if self._kept is not None:
            await self._kept[1].hang_up().wait()
            self._kept = None

    def _taken(self, url: Url) -> Line | None:
        """Return the kept connection if it leads there and is sound; until it is kept again it is nobody else's."""
        kept, self._kept = self._kept, None
        if kept is None:
            return None
        if kept[0].origin == url.origin and kept[1].is_idle:
            return kept[1]
        kept[1].hang_up()
        return None

    async def _connect(self, url: Url) -> Line:
        host = url.host.strip("[]")
        try:
            async with asyncio.timeout(_PATIENCE):
                _, line = await asyncio.get_running_loop().create_connection(
                    lambda: Line(host, _PATIENCE),
                    host,
                    url.port,
                    ssl=self._context if url.scheme == "https" else None,
                    happy_eyeballs_delay=_EYEBALLS,
                )
        except TimeoutError:
            raise Late from None
        except OSError as error:  # TLS errors among them
            raise Unconnected(str(error) or type(error).__name__) from error
        except UnicodeError as error:
            raise Unconnected("the host has no valid name") from error
        return line

    async def _exchange(self, line: Line, question: Question) -> Answer:
        try:
            _require_allowed(line.place, question)
            answer = await line.exchange(question)
        except BaseException:
            line.hang_up()
            raise
        if line.is_idle:
            self._kept = (question.url, line)
        else:
            line.hang_up()
        return answer


def _require_allowed(place: str, question: Question) -> None:
    """Raise Private where a request must not go to an internet address, whoever said that it is the host's."""
    if not question.is_private and not is_public(place):
        raise Private(private(question.url.host, place))
