"""One kept connection: answers are read exactly, and no server gets more out of it than an error."""

import asyncio
import socket
import ssl
import threading
from contextlib import asynccontextmanager, suppress
from types import SimpleNamespace

import pytest
import trustme
from hypothesis import given
from hypothesis import strategies as st

from watcher.model import Advertisement
from watcher.upstream import line as lines
from watcher.upstream import wire as wires
from watcher.upstream.line import Line
from watcher.upstream.refs import connected, poll, trust
from watcher.upstream.request import Answer, Broken, Failure, Late, Misput, Question, TooLarge, Unconnected
from watcher.upstream.tls import Resuming
from watcher.upstream.url import Url
from watcher.upstream.wire import Wire

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
CLOSE = None
"""The server closes the connection."""


class Server:
    """Answers the requests of each connection from a script; after its last word it listens on."""

    def __init__(self, *scripts):
        self.scripts = list(scripts)
        """For each connection the parts of each answer; the last script serves all that follow."""
        self.requests = []
        """Of each connection."""
        self.resumed = []
        """Of each connection: whether its TLS session was an earlier one's."""
        self.tasks = []

    async def __call__(self, reader, writer):
        """Talk to one client."""
        self.tasks.append(asyncio.current_task())
        tls = writer.get_extra_info("ssl_object")
        self.resumed.append(tls and tls.session_reused)
        self.requests.append([])
        script = self.scripts.pop(0) if len(self.scripts) > 1 else self.scripts[0]
        with suppress(OSError, asyncio.IncompleteReadError):
            await self._play(script, self.requests[-1], reader, writer)
        writer.transport.abort()

    async def _play(self, script, requests, reader, writer):
        for parts in script:
            requests.append(await self._request(reader))
            for part in parts if isinstance(parts, list) else [parts]:
                if part is CLOSE:
                    return
                writer.write(part)
                await writer.drain()
        await reader.read()

    async def _request(self, reader):
        head = await reader.readuntil(b"\r\n\r\n")
        size = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0] or 0)
        return head + await reader.readexactly(size)


def question(url, body=None, largest=1000, **headers):
    return Question(url=Url.read(url), body=body, headers=headers, largest=largest)


@asynccontextmanager
async def served(*scripts, context=None, trusted=None):
    """Give a server and a wire."""
    server = Server(*scripts)
    listening = await asyncio.start_server(server, "127.0.0.1", 0, ssl=context)
    port = listening.sockets[0].getsockname()[1]
    server.url = f"{'https' if context else 'http'}://127.0.0.1:{port}/x"
    server.port = port
    wire = Wire(trusted or Resuming(ssl.PROTOCOL_TLS_CLIENT))
    try:
        yield server, wire
    finally:
        await wire.close()
        listening.close()
        await asyncio.gather(*server.tasks)


def told(*script, times=1, **kwargs):
    """Return the answers to so many requests over one wire, and the server."""

    async def run():
        async with served(*(script or [[OK]])) as (server, wire):
            return [await wire.send(question(server.url, **kwargs)) for _ in range(times)], server

    return asyncio.run(run())


def test_requests_share_one_connection():
    """The second one is sent where the first was answered, byte for byte as asked."""
    answers, server = told([OK, OK], times=2, body=b"abc", Accept="*/*")
    assert [b"ok", b"ok"] == [answer.body for answer in answers]
    [[first, second]] = server.requests
    assert first == second
    assert (
        b"POST /x HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAccept: */*\r\nContent-Length: 3\r\n\r\nabc" % server.port == first
    )


@pytest.mark.parametrize(
    ("said", "body"),
    [
        (OK, b"ok"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;x=y\r\no\r\n1\r\nk\r\n0\r\nA: b\r\n\r\n", b"ok"),
        (b"HTTP/1.1 200 OK\r\ncontent-LENGTH:2\r\n\r\nok", b"ok"),
        (b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + OK, b"ok"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b""),
        ([bytes([byte]) for byte in OK], b"ok"),
    ],
)
def test_answers_of_every_length_are_read(said, body):
    """Counted, chunked, announced, empty, byte by byte; the connection is kept."""
    (first, second), server = told([said, OK], times=2)
    assert body == first.body
    assert b"ok" == second.body
    assert [2] == [len(requests) for requests in server.requests]


@pytest.mark.parametrize(
    "said",
    [
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
        OK + b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison",
    ],
)
def test_a_connection_that_cannot_be_trusted_on_is_not_kept(said):
    """The server closes it, or said more than it was asked: that is nobody's answer."""
    answers, server = told([said], [OK], times=2)
    assert [b"ok", b"ok"] == [answer.body for answer in answers]
    assert 2 == len(server.requests)


def test_an_answer_may_last_until_the_connection_closes():
    """That is the oldest way to tell a length."""
    answers, _ = told([[b"HTTP/1.1 200 OK\r\n\r\no", b"k", CLOSE]], times=2)
    assert [b"ok", b"ok"] == [answer.body for answer in answers]


@pytest.mark.parametrize(
    "said",
    [
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nokk",
        b"HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-2\r\nok\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x2\r\nok\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok!!0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"f" * 21 + b"\r\nok",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;" + b"x" * 100_000,
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nA: b\r\n folded\r\n\x00: c\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 20_000,
        b"HTTP/1.1 200 " + b"x" * 100_000,
        b"HTTP/1.1 100 Continue\r\n\r\n" * 10 + OK,
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n" + OK,
        b"HTTP/2.0 200 OK\r\n\r\n",
        b"HTTP/1.1 2000 OK\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
        b"\r\n\r\n\r\n",
        b"\x16\x03\x01\x02\x00" * 10,
    ],
)
def test_hostile_answers_are_errors(said):
    """Two lengths, impossible chunks, floods of headers, other protocols: each is the server's breach, told once."""

    async def run():
        async with served([said]) as (server, wire):
            with pytest.raises(Broken):
                await wire.send(question(server.url))
            return server

    assert 1 == len(asyncio.run(run()).requests)


@pytest.mark.parametrize(
    "cut", [b"HTTP/1.1 2", OK[:-1], b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nok"]
)
def test_a_cut_answer_is_an_error(cut):
    """In its head, in its body, in a chunk; on a kept connection it is not asked for again."""

    async def run():
        async with served([OK, [cut, CLOSE]]) as (server, wire):
            await wire.send(question(server.url))
            with pytest.raises(Broken):
                await wire.send(question(server.url))
            return server

    assert 1 == len(asyncio.run(run()).requests)


def test_a_kept_connection_that_was_closed_is_replaced_silently():
    """Whether that is noticed after the next request was sent or before."""
    answers, server = told([OK, CLOSE], [OK], times=2)
    assert [b"ok", b"ok"] == [answer.body for answer in answers]
    assert [2, 1] == [len(requests) for requests in server.requests]

    async def run():
        async with served([[OK, CLOSE]], [OK]) as (server, wire):
            await wire.send(question(server.url))
            await asyncio.gather(*server.tasks)
            await wire._kept[1]._closed.wait()
            return (await wire.send(question(server.url))).body, server

    body, server = asyncio.run(run())
    assert (b"ok", 2) == (body, len(server.requests))


@pytest.mark.parametrize("scripts", [[[CLOSE]], [[OK, CLOSE], [CLOSE]]])
def test_it_is_replaced_once(scripts):
    """A server that always hangs up is not asked for ever."""

    async def run():
        async with served(*scripts) as (server, wire):
            if len(scripts) > 1:
                await wire.send(question(server.url))
            with pytest.raises(Broken):
                await wire.send(question(server.url))
            return server

    assert len(scripts) == len(asyncio.run(run()).requests)


@pytest.mark.parametrize(
    "said",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n" + b"x" * 2000,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1f4\r\n" + b"x" * 500 + b"\r\n1f5\r\n" + b"x" * 501,
        b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 2000,
    ],
)
def test_a_long_answer_is_not_read_to_its_end(said):
    """However its length is told."""
    with pytest.raises(TooLarge):
        told([said])


def test_a_server_that_sends_faster_than_is_read_has_to_wait(monkeypatch):
    """And goes on when more is wanted: nothing is lost."""
    monkeypatch.setattr(lines, "_MOST_UNREAD", 1000)
    body = bytes(range(256)) * 10_000
    said = [b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body), body]
    (answer,), _ = told([said], largest=len(body))
    assert body == answer.body


def test_silence_is_a_timeout_and_a_closed_port_no_connection(monkeypatch):
    """Each has its own error."""
    monkeypatch.setattr(wires, "_PATIENCE", 0.05)
    with pytest.raises(Late):
        told([b""])
    with pytest.raises(Late):
        told([OK[:-1]])
    with pytest.raises(Unconnected, match="Connect"):
        asyncio.run(Wire(Resuming(ssl.PROTOCOL_TLS_CLIENT)).send(question("http://127.0.0.1:1/")))


def test_a_request_cannot_be_split():
    """A line break in a header is refused before anything is sent."""

    async def run():
        async with served([OK]) as (server, wire):
            with pytest.raises(Misput):
                await wire.send(question(server.url, Accept="x\r\nEvil: y"))
            return (await wire.send(question(server.url))).body

    assert b"ok" == asyncio.run(run())


def test_an_exchange_that_is_given_up_takes_its_connection_along():
    """Else the late answer would be the next one's."""

    async def run():
        async with served([b""], [OK]) as (server, wire):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await wire.send(question(server.url))
            assert wire._kept is None
            return (await wire.send(question(server.url))).body

    assert b"ok" == asyncio.run(run())


def test_another_host_gets_a_connection_of_its_own():
    """One is kept, the last."""

    async def run():
        async with served([OK]) as (one, wire), served([OK]) as (other, _):
            bodies = [(await wire.send(question(server.url))).body for server in (one, other, one)]
            return bodies, [len(server.requests) for server in (one, other)]

    assert ([b"ok"] * 3, [2, 1]) == asyncio.run(run())


# --- TLS -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def authority():
    """Sign certificates for the servers of these tests."""
    return trustme.CA()


def contexts(authority, *names, version=ssl.TLSVersion.TLSv1_3):
    """Return a server's context and a client's."""
    server, client = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), Resuming(ssl.PROTOCOL_TLS_CLIENT)
    server.maximum_version = version
    authority.issue_cert(*names).configure_cert(server)
    authority.configure_trust(client)
    return server, client


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_tls_sessions_are_resumed(authority, version):
    """By the next connection to the host, also that of another wire; by both versions of TLS."""
    server_side, client_side = contexts(authority, "127.0.0.1", version=version)

    async def run():
        async with served([OK], context=server_side, trusted=client_side) as (server, wire):
            await wire.send(question(server.url))
            await wire.close()
            assert b"ok" == (await wire.send(question(server.url))).body
            await wire.close()
            return server.resumed

    assert [False, True] == asyncio.run(run())


def test_a_session_stands_for_one_name(authority):
    """Under another one the certificate is checked, and refused."""
    server_side, client_side = contexts(authority, "127.0.0.1")

    async def run():
        async with served([OK], context=server_side, trusted=client_side) as (server, wire):
            await wire.send(question(server.url))
            await wire.close()
            with pytest.raises(Unconnected, match="Hostname mismatch"):
                await wire.send(question(server.url.replace("127.0.0.1", "localhost")))

    asyncio.run(run())


def test_strangers_are_not_trusted(authority):
    """And what was once refused leaves no session behind."""
    server_side, _ = contexts(authority, "127.0.0.1")

    async def run():
        async with served([OK], context=server_side) as (server, wire):
            for _ in range(2):
                with pytest.raises(Unconnected, match="CERTIFICATE_VERIFY_FAILED"):
                    await wire.send(question(server.url))

    asyncio.run(run())


def test_few_sessions_are_kept(monkeypatch):
    """The oldest goes first."""
    monkeypatch.setattr("watcher.upstream.tls._MOST_SESSIONS", 2)
    context = Resuming(ssl.PROTOCOL_TLS_CLIENT)
    for host in ("a", "b", "a", "c"):
        context.remember(host, SimpleNamespace())
    assert ["a", "c"] == list(context._sessions)


# --- any bytes at all ------------------------------------------------------------------------------------------------


class Nowhere:
    """A transport that sends nothing."""

    def write(self, data):
        """Send nothing."""

    def is_closing(self):
        """Stay."""
        return False

    def pause_reading(self):
        """Never is so much sent."""

    resume_reading = pause_reading


async def fed(parts):
    """Return what a connection makes of an answer that comes in these parts and ends there."""
    line = Line("host", 1.0)
    line.connection_made(Nowhere())
    asked = asyncio.ensure_future(line.exchange(question("http://host/")))
    await asyncio.sleep(0)
    for part in parts:
        line.data_received(part)
        await asyncio.sleep(0)
    line.eof_received()
    line.connection_lost(None)
    try:
        return await asked
    except (Broken, TooLarge) as error:
        return type(error)


pieces = st.sampled_from(
    [
        b"HTTP/1.1 200 OK",
        b"\r\n",
        b"\n",
        b"Content-Length: 3",
        b"Transfer-Encoding: chunked",
        b"3",
        b"abc",
        b"0",
        b":",
        b"\0",
    ]
)


@given(st.one_of(st.binary(max_size=200), st.lists(pieces, max_size=20).map(b"".join)), st.integers(1, 50))
def test_no_bytes_raise_anything_unexpected(said, step):
    """And it does not matter in which parts they come."""
    whole = asyncio.run(fed([said]))
    assert isinstance(whole, Answer) or issubclass(whole, Failure)
    assert whole == asyncio.run(fed([said[at : at + step] for at in range(0, len(said), step)]))


# --- proxies ---------------------------------------------------------------------------------------------------------


def test_a_proxy_of_the_environment_is_used(upstream, monkeypatch):
    """Then httpx asks, which knows proxies and their exceptions."""
    upstream.draw("A---B (main)")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    assert "cannot connect" in asyncio.run(poll({"x": upstream.url}))["x"].reason
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    assert isinstance(asyncio.run(poll({"x": upstream.url}))["x"], Advertisement)


def test_without_a_proxy_the_wire_is_used():
    """It is the cheaper way."""

    async def run():
        async with connected(ssl.create_default_context()) as sender:
            return sender

    assert isinstance(asyncio.run(run()), Wire)


def test_whom_to_trust_is_read_at_the_first_connection():
    """Once, whichever way it begins."""
    asked = []
    context = Resuming(ssl.PROTOCOL_TLS_CLIENT, asked.append)
    assert [] == asked
    one, other = socket.socketpair()
    with one, other:
        context.wrap_socket(one, server_hostname="host.example", do_handshake_on_connect=False).close()
    context.wrap_bio(ssl.MemoryBIO(), ssl.MemoryBIO(), server_hostname="host.example")
    assert [context] == asked


def test_the_system_is_trusted():
    """With certificates of its own, or with those that came along."""
    context = trust()
    context.wrap_bio(ssl.MemoryBIO(), ssl.MemoryBIO(), server_hostname="host.example")
    assert context.cert_store_stats()["x509_ca"]


def test_no_connection_begins_before_it_is_known_whom_to_trust():
    """Whatever other threads do meanwhile: the requests to a forge share one context."""
    order = []
    other = threading.Thread(target=lambda: (begin(), order.append("began")))

    def trusting(_):
        other.start()
        other.join(0.1)  # only without a lock does it end so soon
        order.append("trusted")

    context = Resuming(ssl.PROTOCOL_TLS_CLIENT, trusting)

    def begin():
        context.wrap_bio(ssl.MemoryBIO(), ssl.MemoryBIO(), server_hostname="host.example")

    begin()
    other.join()
    assert ["trusted", "began"] == order
