"""Resume TLS sessions."""

import ssl
import threading
from collections.abc import Callable
from typing import Any

_MOST_SESSIONS = 256


class Resuming(ssl.SSLContext):
    """A TLS context that offers a host the session it had last: a new connection then costs no certificates.

    `trusting` tells it whom to trust, before its first connection: that takes longer than a request without TLS.
    """

    def __init__(self, _protocol: int, trusting: Callable[[ssl.SSLContext], None] | None = None) -> None:
        super().__init__()
        self._sessions: dict[str, ssl.SSLSession] = {}
        self._trusting = trusting
        self._learning = threading.Lock()

    def remember(self, host: str, session: ssl.SSLSession | None) -> None:
        """Keep a host's session; the hosts that were kept longest ago are forgotten."""
        if session is None:
            return
        self._sessions.pop(host, None)
        self._sessions[host] = session
        if len(self._sessions) > _MOST_SESSIONS:
            del self._sessions[next(iter(self._sessions))]

    def wrap_bio(
        self,
        incoming: ssl.MemoryBIO,
        outgoing: ssl.MemoryBIO,
        server_side: bool = False,
        server_hostname: str | bytes | None = None,
        session: ssl.SSLSession | None = None,
    ) -> ssl.SSLObject:
        """Begin a connection where the host's last one ended; asyncio itself offers no session."""
        # A session stands for a certificate that was checked, so it is never offered under another name.
        self._prepare()
        known = self._sessions.get(server_hostname) if isinstance(server_hostname, str) else None
        return super().wrap_bio(incoming, outgoing, server_side, server_hostname, session or known)

    def wrap_socket(self, *args: Any, **options: Any) -> ssl.SSLSocket:
        """Begin a connection as `ssl.SSLContext` does."""
        self._prepare()
        return super().wrap_socket(*args, **options)

    def _prepare(self) -> None:
        """Learn whom to trust, once; another thread waits until it is known."""
        with self._learning:
            if self._trusting is not None:
                self._trusting(self)
                self._trusting = None
