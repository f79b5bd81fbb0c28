"""Find a free port on loopback, run a server of ours there, and wait until somebody listens."""

import random
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FIRST, _LAST = 20000, 32000
"""Below the ports that clients are given: a client that polls a closed one of those may connect to itself."""


def free_port() -> int:
    """Return a port that nobody uses now."""
    while True:
        port = random.randint(_FIRST, _LAST)  # noqa: S311 - no secret
        with socket.socket() as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                tried.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


@contextmanager
def running(module: str, *words: str) -> Iterator[str]:
    """Run a module's server in a process of its own, told its port before other words, and give its address."""
    port = free_port()
    command = [sys.executable, "-m", module, str(port), *words]
    server = subprocess.Popen(command, cwd=Path(__file__).parents[1])
    try:
        wait_for(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def wait_for(port: int, *, seconds: float = 20.0) -> None:
    """Return when a connection is accepted; raise TimeoutError when nobody listens for so long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    raise TimeoutError(f"nobody listens on port {port}")
