"""Find a free port on loopback, and wait until somebody listens there."""

import random
import socket
import time

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
