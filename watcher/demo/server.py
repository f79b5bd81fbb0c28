"""Serve bare repositories over smart HTTP on loopback, and misbehave when told to.

Every bare repository `owner/name` below the root is at `/owner/name` and `/owner/name.git`, through
`git http-backend`. A fault makes one repository answer like the servers that have bitten people: 503, cut replies, a
login page, an old protocol, or any bytes at all. The server may also be closed and opened again. Requests are
counted, so that a test can say what a poll costs.
"""

import gzip
import ssl
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self, assert_never

from watcher.upstream.git import http_backend


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """Answer with a status, such as 503 or 429, and headers, such as Retry-After."""

    code: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = ""
    times: int | None = None
    """How many requests it strikes; None: all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """Send only so many bytes of the body; `honest` says so in Content-Length, else the connection breaks."""

    length: int
    honest: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """Take the request and never answer, until the server closes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Redirect:
    """Send the client elsewhere: `to` replaces the repository's own address."""

    to: str
    code: int = 301


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Answer 200 with a web page, as a login wall does."""

    html: str = "<!doctype html><title>Sign in</title>"


@dataclass(frozen=True, slots=True, kw_only=True)
class OldProtocol:
    """Never hear that the client speaks version 2."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """Answer with exactly these bytes, in git's own content type."""

    body: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The right answer to a request."""

    kind: str
    """That of the request."""
    code: int
    headers: Mapping[str, str]
    payload: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """Send these bytes, piece by piece, in place of the right answer, and hang up; None: the right answer after all."""

    instead: Callable[[Reply], Iterable[bytes] | None]


Fault = Status | Cut | Silence | Redirect | Page | OldProtocol | Raw | Said


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request that came in."""

    repository: str
    """`owner/name`."""
    kind: str
    """`advertise` (GET info/refs), `ls-refs`, `fetch` or `other`."""
    protocol: str
    headers: Mapping[str, str]


class GitServer:
    """A server for every bare repository below a folder; a context manager."""

    def __init__(self, root: Path, context: ssl.SSLContext | None = None) -> None:
        self.root = root
        self.faults: dict[str, Fault] = {}
        """`owner/name` → how it misbehaves now."""
        self.requests: list[Request] = []
        """Everything asked so far; clear it to count anew."""
        self.context: ssl.SSLContext | None = context
        """Which certificate it shows to whoever connects next; None for a server that began without TLS."""
        self._scheme = "http" if context is None else "https"
        self._closing = threading.Event()
        self._server: ThreadingHTTPServer | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self.close()

    def open(self) -> None:
        """Listen, where it listened before if it did."""
        owner = self

        class Handler(_Handler):
            """Knows its server."""

            server_of: ClassVar[GitServer] = owner

        self._server = _Quiet(("127.0.0.1", self._port or 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Listen no more: connections are refused."""
        if self._server and self._thread:
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()

    @property
    def address(self) -> str:
        """Return `http://127.0.0.1:port`."""
        if self._port is None:
            raise RuntimeError("the server runs only inside its `with` block")
        return f"{self._scheme}://127.0.0.1:{self._port}"

    def url(self, name: str) -> str:
        """Return the address of the repository `owner/name`."""
        return f"{self.address}/{name}"

    def path(self, name: str) -> Path:
        """Return where the bare repository `owner/name` lies, or would lie."""
        return self.root / f"{name}.git"

    def count(self, name: str | None = None) -> Counter[str]:
        """Return how many requests of each kind came in, for one repository or for all."""
        return Counter(request.kind for request in self.requests if name in {None, request.repository})

    def wait_for_close(self, seconds: float | None = None) -> None:
        """Block until the server closes for good, or for so long."""
        self._closing.wait(seconds)

    @property
    def _port(self) -> int | None:
        """Return where it listens, or listened; None where it never did."""
        return None if self._server is None else self._server.server_address[1]


class _Quiet(ThreadingHTTPServer):
    """A server that says nothing of clients that hang up."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing."""


class _Handler(BaseHTTPRequestHandler):
    """Answer one connection's requests."""

    protocol_version = "HTTP/1.1"
    server_of: ClassVar[GitServer]
    timeout = 60

    def setup(self) -> None:
        """Begin with TLS, if that is how it is served."""
        if context := self.server_of.context:
            self.request.settimeout(self.timeout)
            self.request = context.wrap_socket(self.request, server_side=True)
        super().setup()

    def finish(self) -> None:
        """End TLS, which the server itself knows nothing of."""
        super().finish()
        if isinstance(self.request, ssl.SSLSocket):
            self.request.close()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the method it replaces
        """Say nothing."""

    def do_GET(self) -> None:
        """Answer the advertisement, and whatever else is asked."""
        self._answer(b"")

    def do_POST(self) -> None:
        """Answer ls-refs and fetch."""
        self._answer(self._body())

    def _body(self) -> bytes:
        """Read the request's body, chunked or counted."""
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _answer(self, body: bytes) -> None:
        """Find the repository, note the request, and answer it with or without a fault."""
        path, _, query = self.path.partition("?")
        owner, name, rest = (*path.lstrip("/").split("/", 2), "", "", "")[:3]
        repository = f"{owner}/{name.removesuffix('.git')}"
        protocol = self.headers.get("Git-Protocol", "")
        self.server_of.requests.append(
            Request(
                repository=repository, kind=_kind(rest, body), protocol=protocol, headers=dict(self.headers.items())
            )
        )
        fault = self.server_of.faults.get(repository)
        if isinstance(fault, Said):
            self._say(fault, _kind(rest, body), self._git(repository, rest, query, body, protocol))
            return
        match fault:
            case Status(code=code, headers=headers, body=text) as fault:
                self._strike(repository, fault)
                self._reply(code, headers, text.encode())
            case Redirect(to=to, code=code):
                self._reply(code, {"Location": f"{to}/{rest}?{query}" if query else f"{to}/{rest}"}, b"")
            case Silence():
                self.server_of.wait_for_close()
                self.close_connection = True
            case Page(html=html):
                self._reply(200, {"Content-Type": "text/html; charset=utf-8"}, html.encode())
            case Raw(body=raw):
                self._reply(200, {"Content-Type": _content_type(rest)}, raw)
            case Cut(length=length, honest=honest):
                code, headers, payload = self._git(repository, rest, query, body, protocol)
                self._reply(code, headers, payload[:length], announced=None if honest else len(payload))
            case OldProtocol():
                self._reply(*self._git(repository, rest, query, body, ""))
            case None:
                self._reply(*self._git(repository, rest, query, body, protocol))
            case other:
                assert_never(other)

    def _say(self, fault: Said, kind: str, right: tuple[int, Mapping[str, str], bytes]) -> None:
        """Send what a fault makes of the right answer, as it is, and hang up."""
        code, headers, payload = right
        pieces = fault.instead(Reply(kind=kind, code=code, headers=headers, payload=payload))
        if pieces is None:
            self._reply(code, headers, payload)
            return
        self.close_connection = True
        for piece in pieces:
            self.wfile.write(piece)

    def _strike(self, repository: str, fault: Status) -> None:
        """Count a status fault down and lift it when it is used up."""
        left = sum(1 for request in self.server_of.requests if request.repository == repository)
        if fault.times is not None and left >= fault.times:
            self.server_of.faults.pop(repository, None)

    def _git(
        self, repository: str, rest: str, query: str, body: bytes, protocol: str
    ) -> tuple[int, dict[str, str], bytes]:
        """Let `git http-backend` answer."""
        folder = next((f for f in self._folders(repository) if (f / "HEAD").is_file()), None)
        if folder is None:
            return 404, {"Content-Type": "text/plain"}, b"Repository not found.\n"
        if self.headers.get("Content-Encoding", "").lower() in {"gzip", "x-gzip"}:
            body = gzip.decompress(body)
        env = {
            "GIT_PROJECT_ROOT": str(folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": f"/{rest}",
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "REMOTE_ADDR": "127.0.0.1",
        }
        return _cgi(http_backend(env | ({"GIT_PROTOCOL": protocol} if protocol else {}), body))

    def _folders(self, repository: str) -> tuple[Path, ...]:
        """Return where the repository may lie."""
        if any(part in {"", ".", ".."} for part in repository.split("/")):
            return ()
        return self.server_of.path(repository), self.server_of.root / repository

    def _reply(self, code: int, headers: Mapping[str, str], payload: bytes, announced: int | None = None) -> None:
        """Send one reply; break the connection when it announced more than it has."""
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(payload) if announced is None else announced))
        self.end_headers()
        self.wfile.write(payload)
        self.close_connection = self.close_connection or announced is not None


def _kind(rest: str, body: bytes) -> str:
    """Return what sort of request it is."""
    if rest == "info/refs":
        return "advertise"
    if rest != "git-upload-pack":
        return "other"
    return "ls-refs" if b"command=ls-refs" in body[:64] else "fetch"


def _content_type(rest: str) -> str:
    """Return git's content type for the reply to such a request."""
    kind = "advertisement" if rest == "info/refs" else "result"
    return f"application/x-git-upload-pack-{kind}"


def _cgi(printed: bytes) -> tuple[int, dict[str, str], bytes]:
    """Split what a CGI program prints into status, headers and body."""
    head, _, payload = printed.partition(b"\r\n\r\n")
    headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)
    return int(headers.pop("Status", "200").split()[0]), headers, payload
