"""A mail server that fails while a digest has to be sent."""

import socket
import ssl
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from select import select
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

    def __init__(self, stage: Stage, peer: MailPeer, *, is_final: bool) -> None:
        self.peer, self.port, self._is_final = peer, peer.port, is_final
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
        """Answer whether it is told that somebody, or everybody, does not get it, where no try can help."""
        if not self._is_final:
            return False
        to = message.partition(" ")[0]
        return any(to in reason or "not take this message" in reason for reason in self.undelivered())


def pestered(folder: Path, troubles: Sequence[Pestering], *, is_once: bool = True, is_final: bool = False) -> Outcome:
    """Let a mail server have these troubles, one after the other; all of them are met."""
    with staged(folder) as stage, MailPeer() as peer:
        outcome = MailPost(stage, peer, is_final=is_final).missed(troubles, is_once=is_once)
    if outcome.injected != len(troubles):
        raise AssertionError(f"{len(troubles)} troubles, and {outcome.injected} were met")
    return outcome


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


def _said(client: socket.socket, _port: int, *, greeting: bytes) -> None:
    """Greet so, and hang up."""
    client.sendall(greeting)


def _dripping(client: socket.socket, _port: int) -> None:
    """Greet for ever, a byte at a time, until the other side gives up: never silent, and never done."""
    with suppress(OSError):
        while not select([client], [], [], 0.05)[0]:
            client.sendall(b"2")


def _struck(client: socket.socket, port: int, *, at: bytes, passes: bool = False, is_silent: bool = False) -> None:
    """Pass on what is said, up to a mark in what the client says, which still `passes` or not.

    Then hang up, or say nothing until the client does.
    """
    with closing(socket.create_connection(("127.0.0.1", port))) as server:
        said, answer = b"", server.recv(_SIZE)
        while at not in said:
            client.sendall(answer)
            heard = client.recv(_SIZE)
            said += heard
            if not heard:
                return
            if passes or at not in said:
                server.sendall(heard)
                answer = server.recv(_SIZE)
        if is_silent:
            client.recv(_SIZE)


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
_AGAIN, _NEVER, _TOO_LARGE = "451 try again", "550 no such user", "552 too large"
_STEPS = (b"", b"ehlo", b"mail FROM", b"rcpt TO", b"data\r\n", b"Message-ID")
"""Marks in what is said to a server, the last one within the message."""


def _answers(*replies: Mapping[str, str]) -> Sequence[Pestering]:
    return [partial(_answering, replies=it) for it in replies]


def _at_each_step(*, is_silent: bool) -> Sequence[Pestering]:
    return [partial(_through, meddle=partial(_struck, at=it, is_silent=is_silent)) for it in _STEPS]


def _greeting(*greetings: bytes) -> Sequence[Pestering]:
    return [partial(_through, meddle=partial(_said, greeting=it)) for it in greetings]


_TROUBLES: Mapping[str, Sequence[Pestering]] = {
    "connection refused": [_refusing] * TRIES,
    "hangs at each step, and within the message": _at_each_step(is_silent=True),
    "hangs up at each step, and within the message": _at_each_step(is_silent=False),
    "drips, a byte at a time, for ever": [partial(_through, meddle=_dripping)],
    "421 and 554 at once": _greeting(b"421 too busy\r\n", b"554 not you\r\n"),
    "a web page in place of a greeting": _greeting(b"HTTP/1.1 400 Bad Request\r\n\r\n<!doctype html>", b"\0\xff\r\n"),
    "4xx at MAIL, at RCPT for both, at DATA": _answers(
        {"MAIL": _AGAIN}, {_ANN: _AGAIN, _BOB: _AGAIN}, {"DATA": _AGAIN}
    ),
    "4xx for one of two, for a while": _answers({_ANN: _AGAIN}, {_BOB: _AGAIN}),
    "5xx at MAIL, at RCPT for both, at DATA, which is told": _answers(
        {"MAIL": _NEVER}, {_ANN: _NEVER, _BOB: _NEVER}, {"DATA": _NEVER}
    ),
    "STARTTLS with a certificate that is over": [_expired] * 2,
}
"""What happens → every variation of it: everything arrives afterwards."""
_FINAL: Mapping[str, Sequence[Pestering]] = {
    "4xx for one of two, for ever: the other gets it, and who does not is named": _answers(*[{_ANN: _AGAIN}] * 8),
    "5xx for one of two: the other gets it, and who does not is named": _answers({_ANN: _NEVER}),
    "552: the message can never be sent, which is told": _answers({"DATA": _TOO_LARGE}),
}
"""Likewise, of what no try can help."""
_LOST_ANSWER: Pestering = partial(_through, meddle=partial(_struck, at=b"\r\n.\r\n", passes=True))
TRIALS: Sequence[Trial] = (
    *(Trial(group=GROUP, name=name, run=partial(pestered, troubles=it)) for name, it in _TROUBLES.items()),
    *(Trial(group=GROUP, name=name, run=partial(pestered, troubles=it, is_final=True)) for name, it in _FINAL.items()),
    Trial(
        group=GROUP,
        name="takes the message, the answer is lost (it comes twice)",
        run=partial(pestered, troubles=[_LOST_ANSWER] * 2, is_once=False),
    ),
)
