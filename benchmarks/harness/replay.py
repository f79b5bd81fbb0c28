"""Answer git's ref requests with recorded bytes, as cheaply as possible, so that only the client costs anything.

    python -m harness.replay RECORD PORT [--delay SECONDS] [--cert FILE]

Whatever repository is asked for, RECORD answers: a folder with `advertise` (the reply to `info/refs`) and `ls-refs`.
A request with `If-None-Match` is told that nothing changed (304), as a forge's API would.
`--delay` is one round trip: every answer comes so much later, the first of a connection twice as late (thrice with
TLS), since a connection across that distance would not be there sooner.
"""

import argparse
import asyncio
import gc
import os
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.ports import free_port, wait_for

_TYPE = "application/x-git-upload-pack"
_NOT_MODIFIED = b'HTTP/1.1 304 Not Modified\r\nServer: replay\r\nETag: "5f2b"\r\n\r\n'


def recorded(repository: Path, folder: Path, request: bytes) -> Path:
    """Write into a folder what a repository answers: what the server can do, and its refs."""
    folder.mkdir(parents=True, exist_ok=True)
    asked = {"advertise": (["--advertise-refs"], b""), "ls-refs": ([], request)}
    for name, (options, sent) in asked.items():
        command = ["git", "upload-pack", "--stateless-rpc", *options, str(repository)]
        env = {**os.environ, "GIT_PROTOCOL": "version=2"}
        (folder / name).write_bytes(
            subprocess.run(command, input=sent, check=True, capture_output=True, env=env).stdout
        )
    return folder


@contextmanager
def replaying(record: Path, *, delay: float = 0.0, cert: Path | None = None) -> Iterator[str]:
    """Run the server in a process of its own, and give its address."""
    port = free_port()
    command = [sys.executable, "-m", "harness.replay", str(record), str(port), "--delay", str(delay)]
    tls = [] if cert is None else ["--cert", str(cert)]
    running = subprocess.Popen([*command, *tls], cwd=Path(__file__).parents[1])
    try:
        wait_for(port)
        yield f"{'https' if cert else 'http'}://127.0.0.1:{port}"
    finally:
        running.terminate()
        running.wait()


class _Replay(asyncio.Protocol):
    """One connection."""

    def __init__(self, advertise: bytes, ls_refs: bytes, delay: float, first: float) -> None:
        self._answers = {b"GET ": advertise, b"POST": ls_refs}
        self._delay = delay
        self._next = first
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way back."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer when the request is whole; its body is counted, never chunked."""
        self._buffer += data
        head, blank, body = self._buffer.partition(b"\r\n\r\n")
        size = int(head.lower().partition(b"\r\ncontent-length: ")[2].partition(b"\r\n")[0] or b"0")
        if not blank or len(body) < size:
            return
        self._buffer = body[size:]
        is_conditional = b"\r\nif-none-match:" in head.lower()
        answer = _NOT_MODIFIED if is_conditional else self._answers[head[:4]]
        wait, self._next = self._next, self._delay
        if wait:
            asyncio.get_running_loop().call_later(wait, self._send, answer)
        else:
            self._send(answer)

    def _send(self, answer: bytes) -> None:
        transport = self._transport
        if isinstance(transport, asyncio.Transport) and not transport.is_closing():
            transport.write(answer)


def _answer(kind: str, body: bytes) -> bytes:
    head = f"HTTP/1.1 200 OK\r\nServer: replay\r\nContent-Type: {_TYPE}-{kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def _serve(record: Path, port: int, delay: float, cert: Path | None) -> None:
    advertise = _answer("advertisement", (record / "advertise").read_bytes())
    ls_refs = _answer("result", (record / "ls-refs").read_bytes())
    context = None
    if cert is not None:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(cert)
    first = delay * (3 if context else 2)
    server = await asyncio.get_running_loop().create_server(
        lambda: _Replay(advertise, ls_refs, delay, first), "127.0.0.1", port, ssl=context, backlog=1024
    )
    await server.serve_forever()


def _main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("record", type=Path)
    asked.add_argument("port", type=int)
    asked.add_argument("--delay", type=float, default=0.0)
    asked.add_argument("--cert", type=Path)
    given = asked.parse_args()
    gc.disable()
    asyncio.run(_serve(given.record, given.port, given.delay, given.cert))


if __name__ == "__main__":
    _main()
