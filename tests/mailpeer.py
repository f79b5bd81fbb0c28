"""A mail server on loopback: takes mail over STARTTLS, TLS or neither, asks for a login, answers as it is told."""

import asyncio
import threading
from email import message_from_bytes, policy
from queue import Queue
from typing import Self

from aiosmtpd.smtp import SMTP, AuthResult

USER, PASSWORD = "watcher@example.org", "correct horse"


class MailPeer:
    """The server; a context manager.

    `tls` is the server's TLS context, for STARTTLS, or with `is_implicit` from the first byte on.
    """

    def __init__(self, tls=None, *, is_implicit=False, has_login=False):
        self.arrived = Queue()
        """What was accepted: (recipients, message, whether it came encrypted)."""
        self.logins = Queue()
        """Every (user, password) that was tried."""
        self.replies = {}
        """What to answer: command, or a recipient's address → reply."""
        self._tls, self._is_implicit, self._has_login = tls, is_implicit, has_login
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._protocols = []

    def __enter__(self) -> Self:
        self._thread.start()
        context = self._tls if self._is_implicit else None
        starting = self._loop.create_server(self._protocol, "127.0.0.1", 0, ssl=context)
        self._server = asyncio.run_coroutine_threadsafe(starting, self._loop).result(10)
        return self

    def __exit__(self, *_):
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def port(self):
        """Return where it listens."""
        return self._server.sockets[0].getsockname()[1]

    @property
    def address(self):
        """Return its address as the configuration has it."""
        return f"smtp{'s' if self._is_implicit else ''}://127.0.0.1:{self.port}"

    # --- what aiosmtpd asks ------------------------------------------------------------------------------------------

    def authenticate(self, _server, _session, _envelope, _mechanism, data):
        """Answer whether a login is right; a wrong one is not handled, so that the client hears of it."""
        tried = (data.login.decode(), data.password.decode())
        self.logins.put(tried)
        return AuthResult(success=tried == (USER, PASSWORD), handled=False)

    async def handle_MAIL(self, _server, _session, envelope, address, options):  # noqa: N802 - aiosmtpd calls it so
        """Take a sender."""
        if "MAIL" in self.replies:
            return self.replies["MAIL"]
        envelope.mail_from, envelope.mail_options = address, options
        return "250 OK"

    async def handle_RCPT(self, _server, _session, envelope, address, _options):  # noqa: N802 - aiosmtpd calls it so
        """Take a recipient."""
        if address in self.replies:
            return self.replies[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, _server, session, envelope):  # noqa: N802 - aiosmtpd calls it so
        """Take a message."""
        if "DATA" in self.replies:
            return self.replies["DATA"]
        message = message_from_bytes(envelope.content, policy=policy.default)
        self.arrived.put((envelope.rcpt_tos, message, session.ssl is not None or self._is_implicit))
        return "250 OK"

    async def handle_QUIT(self, _server, _session, _envelope):  # noqa: N802 - aiosmtpd calls it so
        """Say good-bye."""
        return self.replies.get("QUIT", "221 Bye")

    # --- parts -------------------------------------------------------------------------------------------------------

    def _protocol(self):
        protocol = SMTP(
            self,
            tls_context=None if self._is_implicit else self._tls,
            authenticator=self.authenticate if self._has_login else None,
            auth_exclude_mechanism=set() if self._has_login else {"LOGIN", "PLAIN"},
            auth_require_tls=self._tls is not None and not self._is_implicit,
            hostname="peer.example.org",
            loop=self._loop,
        )
        self._protocols.append(protocol)
        return protocol

    async def _close(self):
        self._server.close()
        for protocol in self._protocols:
            if protocol.transport is not None:
                protocol.transport.abort()
        await asyncio.sleep(0)
        waiting = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
