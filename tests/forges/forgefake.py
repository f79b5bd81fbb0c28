"""A forge on loopback: what all the fakes share.

Its state is real, and its branches may be those of a bare repository.
"""

import json
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qsl, unquote, urlencode

TIME = "2026-08-20T09:00:00Z"
"""When everything happens."""


@dataclass(kw_only=True)
class Ticket:
    """An issue, or a pull request, which has a head."""

    number: int
    title: str
    body: str = ""
    labels: list[str] = field(default_factory=list)
    author: str = "bot"
    state: str = "open"
    """open or closed."""
    closed_by: str | None = None
    head: str | None = None
    base: str | None = None
    merged_as: str | None = None
    fork: str | None = None
    """The repository that the head is in, when it is another."""
    comments: list[str] = field(default_factory=list)


@dataclass(kw_only=True)
class Repository:
    """One repository of the forge."""

    path: str = "acme/images"
    id: int = 4711
    default_branch: str = "main"
    tips: dict[str, str] = field(default_factory=lambda: {"main": "a1" * 20})
    """Branches, where there is no bare repository."""
    bare: Path | None = None
    protected: set[str] = field(default_factory=set)
    is_archived: bool = False
    is_private: bool = False
    has_issues: bool = True
    parent: str | None = None
    labels: list[str] = field(default_factory=list)
    tickets: list[Ticket] = field(default_factory=list)
    events: list[dict[str, str]] = field(default_factory=list)
    """ref, kind, before, after, at, actor."""

    @property
    def branches(self) -> dict[str, str]:
        """Return every branch and its tip."""
        if self.bare is None:
            return self.tips
        asked = [
            "git",
            "-C",
            str(self.bare),
            "for-each-ref",
            "--format=%(refname:lstrip=2) %(objectname)",
            "refs/heads",
        ]
        printed = subprocess.run(asked, check=True, capture_output=True, text=True).stdout
        return dict(line.split(" ") for line in printed.splitlines())

    def add(self, **given: Any) -> Ticket:
        """Add a ticket under the next number."""
        ticket = Ticket(number=len(self.tickets) + 1, **given)
        self.tickets.append(ticket)
        return ticket

    def ticket(self, number: str) -> Ticket | None:
        """Return a ticket by its number."""
        return next((it for it in self.tickets if str(it.number) == number), None)


@dataclass(kw_only=True)
class Account:
    """Who a token stands for."""

    login: str
    may_write: bool = True
    is_program: bool = False
    """It cannot ask who it is."""


@dataclass(kw_only=True)
class Asked:
    """One request."""

    method: str
    path: list[str]
    query: dict[str, str]
    body: Any
    headers: dict[str, str]
    account: Account | None = None

    @property
    def place(self) -> str:
        """Return the path as one text."""
        return "/".join(self.path)


@dataclass(kw_only=True)
class Told:
    """One answer."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(kw_only=True)
class Fault:
    """An answer in place of the right one, so many times."""

    told: Told
    method: str = ""
    """Of these requests alone."""
    times: int = 1_000_000


class Fake:
    """A forge; a subclass knows the API of one."""

    API = ""
    """The path below which the API is."""
    PAGE_SIZE = "per_page"

    def __init__(self, *repositories: Repository) -> None:
        self.repositories = {it.path: it for it in repositories or (Repository(),)}
        self.moved: dict[str, str] = {}
        """Old path → new path."""
        self.accounts = {"good-token": Account(login="bot"), "weak-token": Account(login="guest", may_write=False)}
        self.faults: list[Fault] = []
        self.asked: list[Asked] = []
        self.statuses: list[int] = []
        self.complaints: list[str] = []
        """What no request and no answer should be like."""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def root(self) -> str:
        """Return its address."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def api(self) -> str:
        """Return where its API is."""
        return f"{self.root}{self.API}"

    @property
    def repository(self) -> Repository:
        """Return the first repository."""
        return next(iter(self.repositories.values()))

    def fault(self, status: int, body: Any = None, *, method: str = "", times: int = 1_000_000, **headers: str) -> None:
        """Answer so from now on; headers are given with `_` for `-`."""
        told = Told(status=status, body=body, headers={name.replace("_", "-"): it for name, it in headers.items()})
        self.faults.append(Fault(told=told, method=method, times=times))

    def route(self, asked: Asked) -> Told:
        """Return the right answer to a request whose account is known."""
        raise NotImplementedError

    def page(self, asked: Asked, items: list[Any]) -> Told:
        """Return one page of a list, and a link to the next."""
        size, page = int(asked.query.get(self.PAGE_SIZE, "30")), int(asked.query.get("page", "1"))
        headers = {}
        if len(items) > page * size:
            query = urlencode(asked.query | {"page": str(page + 1)})
            # As forges behind a proxy do: the link names the public place.
            headers["Link"] = f'<https://forge.example{self.API}/{asked.place}?{query}>; rel="next"'
        return Told(body=items[(page - 1) * size : page * size], headers=headers)

    def answer(self, asked: Asked) -> Told:
        """Return what is told: a fault, a refusal of the token, or the right answer, under its ETag."""
        self.asked.append(asked)
        fault = next((it for it in self.faults if it.times > 0 and it.method in {"", asked.method}), None)
        if fault is not None:
            fault.times -= 1
            return fault.told
        token = asked.headers.get("authorization", "").partition(" ")[2]
        asked.account = self.accounts.get(token)
        if token and asked.account is None:
            return Told(status=401, body={"message": f"Bad credentials: {token}"})
        told = self.checked(asked, self.route)
        if asked.method != "GET" or told.status != 200:
            return told
        etag = f'W/"{sha256(json.dumps(told.body).encode()).hexdigest()[:32]}"'
        is_known = asked.headers.get("if-none-match") == etag
        return Told(
            status=304 if is_known else 200, body=None if is_known else told.body, headers=told.headers | {"ETag": etag}
        )

    def checked(self, asked: Asked, route: Callable[[Asked], Told]) -> Told:
        """Return the answer; a subclass complains of what breaks the contract."""
        return route(asked)


def _handler(fake: Fake) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # an answer in two packets waits 40 ms for the other side

        def _answer(self) -> None:
            raw, _, query = self.path.removeprefix(fake.API).partition("?")
            content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            asked = Asked(
                method=self.command,
                path=[unquote(it) for it in raw.strip("/").split("/")],
                query=dict(parse_qsl(query, keep_blank_values=True)),
                body=json.loads(content) if content else None,
                headers={name.lower(): value for name, value in self.headers.items()},
            )
            told = fake.answer(asked)
            fake.statuses.append(told.status)
            body = (
                told.body
                if isinstance(told.body, bytes)
                else b""
                if told.body is None
                else json.dumps(told.body).encode()
            )
            self.send_response(told.status)
            for name, value in ({"Content-Type": "application/json; charset=utf-8"} | told.headers).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PATCH = do_PUT = _answer  # noqa: N815 - the names that http.server calls

        def handle(self) -> None:
            """Serve a connection; whoever asks may break it off."""
            with suppress(ConnectionError):
                super().handle()

        def log_message(self, *_: object) -> None:
            """Be silent."""

    return Handler
