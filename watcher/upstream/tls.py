"""Resume TLS sessions."""

import ssl

_MOST_SESSIONS = 256


class Resuming(ssl.SSLContext):
    """A TLS context that offers a host the session it had last: a new connection then costs no certificates."""

    def __init__(self, _protocol: int) -> None:
        super().__init__()
        self._sessions: dict[str, ssl.SSLSession] = {}

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
        known = self._sessions.get(server_hostname) if isinstance(server_hostname, str) else None
        return super().wrap_bio(incoming, outgoing, server_side, server_hostname, session or known)
