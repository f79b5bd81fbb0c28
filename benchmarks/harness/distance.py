"""Put a long way between a client and a server: a proxy that holds everything back for half a round trip.

    python -m harness.distance PORT TO_PORT SECONDS

SECONDS is the round trip. The first bytes of a connection come one round trip later still: a connection across that
distance would not be there sooner.
"""

import asyncio
import sys
from collections import deque
from contextlib import AbstractContextManager

from harness.ports import running


def distant(address: str, seconds: float) -> AbstractContextManager[str]:
    """Give an address that leads to the same server, so far away."""
    return running("harness.distance", address.rpartition(":")[2], str(seconds))


class _Way:
    """One direction of a connection: what goes in comes out later, in order."""

    def __init__(self, delay: float, first: float) -> None:
        self._delay = delay
        self._due = asyncio.get_running_loop().time() + first
        self._held = deque[bytes | None]()
        self._out: asyncio.Transport | None = None

    def leads_to(self, out: asyncio.Transport) -> None:
        """Name the other end; what waited for it goes out."""
        self._out = out

    def send(self, data: bytes | None) -> None:
        """Send bytes on their way; None is the end."""
        loop = asyncio.get_running_loop()
        self._held.append(data)
        loop.call_at(max(self._due, loop.time() + self._delay), self._arrive)

    def _arrive(self) -> None:
        if self._out is None:
            asyncio.get_running_loop().call_later(self._delay, self._arrive)
            return
        data = self._held.popleft()
        if self._out.is_closing():
            return
        if data is None:
            self._out.close()
        else:
            self._out.write(data)


class _End(asyncio.Protocol):
    """One end of a connection: what comes in goes one way."""

    def __init__(self, way: _Way) -> None:
        self._way = way

    def data_received(self, data: bytes) -> None:
        """Send it on its way."""
        self._way.send(data)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the method of the protocol
        """Tell the other end."""
        self._way.send(None)


class _Near(_End):
    """The client's end, which opens the other."""

    def __init__(self, port: int, seconds: float) -> None:
        super().__init__(_Way(seconds / 2, seconds * 1.5))
        self._back = _Way(seconds / 2, 0)
        self._port = port

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Open the other end."""
        if isinstance(transport, asyncio.Transport):
            self._back.leads_to(transport)
        self._opening = asyncio.get_running_loop().create_task(self._open())

    async def _open(self) -> None:
        far, _ = await asyncio.get_running_loop().create_connection(lambda: _End(self._back), "127.0.0.1", self._port)
        self._way.leads_to(far)


async def _serve(port: int, to: int, seconds: float) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Near(to, seconds), "127.0.0.1", port, backlog=1024)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])))
