"""Answer git over HTTP for any number of upstreams that share a few repositories, cheaply enough to be no part of it.

    python -m sweeping.answering PORT ROOT

ROOT/some/name is a symbolic link to a bare repository; whoever points it at another one has moved that upstream. Each
request is answered by the real `git upload-pack` once for each repository, and from memory when it comes again: ten
thousand upstreams cost this server no more than one, and what is measured is the client.
"""

import argparse
import asyncio
import gc
import gzip
import os
import subprocess
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path

from harness.ports import running

_TYPE = "application/x-git-upload-pack"
_LARGEST = 4 * 1024 * 1024
"""Bytes of the longest answer that is kept."""
_NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"


def answering(root: Path) -> AbstractContextManager[str]:
    """Run the server in a process of its own, and give its address."""
    return running("sweeping.answering", str(root))


class _Server:
    """What was answered so far."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._kept: dict[tuple[str, str, bytes], bytes] = {}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection until it is closed."""
        try:
            while head := await _head(reader):
                request, headers = head
                if headers.get("expect"):
                    writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                writer.write(await self._answer(request, headers, await _body(reader, headers)))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client went away
        finally:
            writer.close()

    async def _answer(self, request: str, headers: Mapping[str, str], body: bytes) -> bytes:
        method, target, _ = request.split(" ")
        name = target.partition("?")[0].strip("/").removesuffix("/info/refs").removesuffix("/git-upload-pack")
        repository = self._repository(name.removesuffix(".git"))
        if repository is None:
            return _NOT_FOUND
        key = (repository, method, body)
        answer = self._kept.get(key)
        if answer is None:
            answer = await _asked(repository, body if method == "POST" else None, headers.get("git-protocol", ""))
            if len(answer) <= _LARGEST:
                self._kept[key] = answer
        return answer

    def _repository(self, name: str) -> str | None:
        """Return what an upstream is now."""
        found = os.path.realpath(self._root / name)
        return found if Path(found).exists() else None


async def _asked(repository: str, body: bytes | None, protocol: str) -> bytes:
    """Let git answer."""
    options, kind = (["--advertise-refs"], "advertisement") if body is None else ([], "result")
    git = await asyncio.create_subprocess_exec(
        *("git", "upload-pack", "--stateless-rpc", *options, repository),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "GIT_PROTOCOL": protocol},
    )
    said, _ = await git.communicate(body or b"")
    head = (
        f"HTTP/1.1 200 OK\r\nServer: answering\r\nContent-Type: {_TYPE}-{kind}\r\nContent-Length: {len(said)}\r\n\r\n"
    )
    return head.encode() + said


async def _head(reader: asyncio.StreamReader) -> tuple[str, dict[str, str]] | None:
    """Return the request line and the headers; None where the connection ends."""
    lines: list[str] = []
    while (line := (await reader.readline()).decode("latin-1").rstrip("\r\n")) or not lines:
        if not line:
            return None
        lines.append(line)
    pairs = (line.partition(":") for line in lines[1:])
    return lines[0], {name.lower(): value.strip() for name, _, value in pairs}


async def _body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    """Return what was sent, put together and unpacked."""
    if headers.get("transfer-encoding") == "chunked":
        parts = []
        while size := int(await reader.readline(), 16):
            parts.append(await reader.readexactly(size))
            await reader.readline()
        await reader.readline()
        body = b"".join(parts)
    else:
        body = await reader.readexactly(int(headers.get("content-length", "0")))
    return gzip.decompress(body) if headers.get("content-encoding") == "gzip" else body


async def _serve(root: Path, port: int) -> None:
    server = await asyncio.start_server(_Server(root).serve, "127.0.0.1", port, backlog=1024)
    await server.serve_forever()


def _main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("port", type=int)
    asked.add_argument("root", type=Path)
    given = asked.parse_args()
    gc.disable()
    asyncio.run(_serve(given.root, given.port))


if __name__ == "__main__":
    _main()
