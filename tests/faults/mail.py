"""A mail server that fails while a digest has to be sent."""

import socket
import ssl
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import trustme

from tests.faults.post import CLOSED, TRIES, Pestering, Post
from tests.faults.stage import Stage, staged
from tests.faults.trial import Outcome, Trial
from tests.mailpeer import MailPeer
from watcher import digesting
from watcher.store import Store

GROUP = "Mail"
_TO = ("ann@example.org", "bob@example.org")
_WEEK = timedelta(days=8)
_SIZE = 1 << 16


class MailPost(Post):
    """A digest that is owed, and the server that it is to go to."""

    def __init__(self, stage: Stage, peer: MailPeer) -> None:
        self.peer, self.port = peer, peer.port
        super().__init__(stage)

    def document(self) -> Mapping[str, Any]:
        """Return a configuration with the server."""
        mail = {"smtp": f"smtp://127.0.0.1:{self.port}", "from": "watcher@example.org", "to": [*_TO]}
        return {**self.stage.world.document(), "slack": None, "email": mail}

    def owe(self) -> None:
        """Owe the digest of the week, whose day is over, and nothing else."""
        self.stage.world.now += _WEEK
        with Store.open(self.stage.world.state) as store:
            store.drop([it.id for it in store.waiting()], self.stage.world.now)
            store.owe(digesting.owed(self.settings(), store, self.stage.world.now), self.stage.world.now)

    def taken(self) -> Counter[str]:
        """Take what arrived: for whom, and which message."""
        came: Counter[str] = Counter()
        while not self.peer.arrived.empty():
            recipients, message, _ = self.peer.arrived.get()
            came.update(f"{to} {message['Message-ID']}" for to in recipients)
        return came

    def is_said_of(self, message: str) -> bool:
        """Answer whether it is told that somebody does not get it."""
        return any(message.partition(" ")[0] in reason for reason in self.undelivered())


def pestered(folder: Path, troubles: Sequence[Pestering], *, is_once: bool = True) -> Outcome:
    """Let a mail server have these troubles, one after the other."""
    with staged(folder) as stage, MailPeer() as peer:
        return MailPost(stage, peer).missed(troubles, is_once=is_once)


# --- troubles --------------------------------------------------------------------------------------------------------


@contextmanager
def _refusing(post: MailPost) -> Iterator[None]:
    with patch.object(post, "port", CLOSED):
        yield


@contextmanager
def _answering(post: MailPost, replies: Mapping[str, str]) -> Iterator[None]:
    """Let the server answer so to a command, or to a recipient."""
    with patch.dict(post.peer.replies, replies):
        yield


@contextmanager
def _through(post: MailPost, meddle: Callable[[socket.socket, int], None]) -> Iterator[None]:
    """Let something stand before the server for each connection, which may do with it what it likes."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        doing = threading.Thread(target=_meddled, args=(listening, post.peer.port, meddle), daemon=True)
        doing.start()
        with patch.object(post, "port", listening.getsockname()[1]):
            yield
        listening.shutdown(socket.SHUT_RDWR)
        doing.join(10)


def _meddled(listening: socket.socket, port: int, meddle: Callable[[socket.socket, int], None]) -> None:
    while True:
        try:
            client, _ = listening.accept()
        except OSError:
            return
        with closing(client):
            meddle(client, port)


def _silent(client: socket.socket, _port: int) -> None:
    """Say nothing, until the other side gives up."""
    client.recv(_SIZE)


def _busy(client: socket.socket, _port: int) -> None:
    client.sendall(b"421 too busy\r\n")


def _cut(client: socket.socket, port: int, *, after: bytes, passes: bool) -> None:
    """Pass on what is said, up to a mark in what the client says, which still `passes` or not: then hang up."""
    with closing(socket.create_connection(("127.0.0.1", port))) as server:
        said = b""
        client.sendall(server.recv(_SIZE))
        while True:
            heard = client.recv(_SIZE)
            said += heard
            is_over = after in said
            if not heard or (is_over and not passes):
                return
            server.sendall(heard)
            told = server.recv(_SIZE)
            if is_over:
                return
            client.sendall(told)


@contextmanager
def _expired(post: MailPost) -> Iterator[None]:
    """Offer STARTTLS with a certificate whose time is over."""
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    past = {"not_before": datetime(2020, 1, 1, tzinfo=UTC), "not_after": datetime(2020, 1, 2, tzinfo=UTC)}
    authority.issue_cert("127.0.0.1", **past).configure_cert(context)
    with (
        MailPeer(context) as other,
        authority.cert_pem.tempfile() as trusted,
        patch.dict("os.environ", {"SSL_CERT_FILE": trusted}),
        patch.object(post, "port", other.port),
    ):
        yield


_ANN, _BOB = _TO
_AGAIN, _NEVER = "451 try again", "550 no such user"
_TROUBLES: Mapping[str, tuple[Sequence[Pestering], bool]] = {
    "connection refused": ([_refusing] * TRIES, True),
    "hangs": ([partial(_through, meddle=_silent)] * 2, True),
    "421 at once": ([partial(_through, meddle=_busy)] * TRIES, True),
    "4xx at MAIL, at RCPT for both, at DATA": (
        [partial(_answering, replies=it) for it in ({"MAIL": _AGAIN}, {_ANN: _AGAIN, _BOB: _AGAIN}, {"DATA": _AGAIN})],
        True,
    ),
    "5xx for one of two, who is named": ([partial(_answering, replies={_ANN: _NEVER})], True),
    "5xx for both, which is told": ([partial(_answering, replies={_ANN: _NEVER, _BOB: _NEVER})], True),
    "hangs up within the message": (
        [partial(_through, meddle=partial(_cut, after=b"Message-ID", passes=False))] * 2,
        True,
    ),
    "takes the message, the answer is lost (it comes twice)": (
        [partial(_through, meddle=partial(_cut, after=b"\r\n.\r\n", passes=True))] * 2,
        False,
    ),
    "STARTTLS with a certificate that is over": ([_expired] * 2, True),
}
"""What happens → every variation of it, and whether each message still comes but once."""
TRIALS: Sequence[Trial] = tuple(
    Trial(group=GROUP, name=name, run=partial(pestered, troubles=troubles, is_once=is_once))
    for name, (troubles, is_once) in _TROUBLES.items()
)
