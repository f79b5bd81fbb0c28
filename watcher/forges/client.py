"""Talk to a forge's REST API: politely, within a budget, and without ever showing the token.

An answer that was kept is asked for again only if it changed (ETag): where it did not, that costs neither side much.
"""

import json
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any, Protocol, TypeVar

import httpx
import stamina

from watcher.errors import ForgeError
from watcher.forges.refusals import Aim, Answer, Asker, refusal, said
from watcher.store import Kept
from watcher.upstream.refs import trust

stamina.instrumentation.set_on_retry_hooks(())  # a retry is told by what came of it, not by a line of its own
PAGES = 10
"""The most pages that are read of one list."""
PER_PAGE = 100

_TIMEOUT = 20.0
"""Seconds to wait for the server at each step."""
_TRIES = 3
_HOPS = 5
_LARGEST = 8 * 1024 * 1024
_LARGEST_KEPT = 2 * 1024 * 1024
_REDIRECTS = frozenset({301, 302, 307, 308})
_REPEATABLE = frozenset({"GET", "PUT", "PATCH"})
"""What may be sent twice: a POST whose answer was lost may have opened an issue."""

Parameters = Mapping[str, str | int]
_Made = TypeVar("_Made")


def connect() -> httpx.Client:
    """Return a client to be shared by all forges of a run; whoever asks for it closes it."""
    return httpx.Client(verify=trust(), timeout=_TIMEOUT, follow_redirects=False)


class Memory(Protocol):
    """Where answers are kept: `store.Replies` is one."""

    def reply(self, address: str) -> Kept | None:
        """Return what an address answered last."""

    def keep_reply(self, address: str, kept: Kept, at: datetime) -> None:
        """Keep an answer in place of the one before."""


@dataclass(slots=True, kw_only=True)
class Budget:
    """How many requests a run may still send, to all forges together. An answer that did not change is free."""

    left: int

    def spend(self) -> None:
        """Take one; raise ForgeError where none is left."""
        if self.left < 1:
            raise ForgeError(
                "this run may send no more requests to forges: the rest waits for the next", kind="limited"
            )
        self.left -= 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """A token, looked up when it is needed."""

    place: str
    """Where it is, for messages."""
    token: Callable[[], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reply:
    status: int
    headers: httpx.Headers
    content: bytes

    @property
    def next(self) -> str:
        """Return the query of the page after this one; empty for the last.

        Its path is that of this page: where the API is reached through a proxy, the link leads past it.
        """
        link = self.headers.get("Link", "")
        links = httpx.Response(HTTPStatus.OK, headers={"Link": link}).links if link.isascii() else {}
        try:
            return httpx.URL(links.get("next", {}).get("url", "")).query.decode("ascii")
        except httpx.InvalidURL:
            return ""


class Client:
    """The API of one host, asked in one run."""

    def __init__(
        self,
        http: httpx.Client,
        *,
        host: str,
        api: str,
        budget: Budget,
        now: datetime,
        credentials: Credentials | None = None,
        scheme: str = "Bearer",
        page_size: str = "per_page",
        headers: Mapping[str, str] | None = None,
        memory: Memory | None = None,
    ) -> None:
        self._http = http
        self._api = httpx.URL(api)
        self._budget = budget
        self._now = now
        self._credentials = credentials
        self._scheme = scheme
        self._page_size = page_size
        self._headers = {"User-Agent": "watcher", "Accept": "application/json", **(headers or {})}
        self._memory = memory
        self._asker = Asker(host=host, token=credentials.place if credentials else None)
        self._logins: dict[str, str | None] = {}
        self._seen: set[str] = set()

    @property
    def host(self) -> str:
        """Return the host that is asked."""
        return self._asker.host

    def address(self, path: str) -> str:
        """Return the whole address of a path below the API, under which its answer is kept."""
        return str(self._below(path, None))

    def get(
        self,
        path: str,
        aim: Aim,
        parameters: Parameters | None = None,
        *,
        absent: Container[int] = (),
        within: str | None = None,
    ) -> Any | None:
        """Return what an address below the API answers; None for an answer of a status that means an absent thing.

        It is believed only of what is `within` something that is there: of a repository that a token may not see, or
        that is out of order, forges say likewise that there is nothing.
        """
        found = self._page(self._below(path, parameters), aim, absent)[0]
        if found is None and within is not None and within not in self._seen:
            self.get(within, aim)
            self._seen.add(within)
        return found

    def pages(self, path: str, aim: Aim, parameters: Parameters | None = None, most: int = PAGES) -> Iterator[Any]:
        """Return the items of a list, page after page, `most` pages at most."""
        url = self._below(path, {self._page_size: PER_PAGE, **(parameters or {})})
        for _ in range(most):
            items, query = self._page(url, aim)
            if not isinstance(items, list):
                raise self._strange(aim)
            yield from items
            if not query:
                return
            try:
                url = url.copy_with(query=query.encode("ascii"))
            except (UnicodeEncodeError, httpx.InvalidURL):
                raise self._strange(aim) from None

    def send(self, method: str, path: str, aim: Aim, body: Mapping[str, Any]) -> Any:
        """Have something done; return what is answered."""
        # Ours, and not httpx's: half a character would end that in an error.
        reply = self._exchange(method, self._below(path, None), aim, content=json.dumps(body).encode("ascii"))
        return self._decoded(reply.content, aim) if reply.content else None

    def login(self, path: str, key: str) -> str | None:
        """Return the name of the token's account; None where there is none, or it is a program that cannot ask."""
        if self._credentials is None:
            return None
        if path not in self._logins:
            aim = Aim(what="ask for the name of its account", needs="the right to read its own profile")
            try:
                found = self.get(path, aim)
            except ForgeError as error:
                if error.kind not in {"forbidden", "missing"}:
                    raise
                found = None
            self._logins[path] = self.read(aim, lambda: str(found[key]) if found else None)
        return self._logins[path]

    def read(self, aim: Aim, made: Callable[[], _Made]) -> _Made:
        """Return what is made of an answer; raise ForgeError where it is not of the shape that the API has."""
        try:
            return made()
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            raise self._strange(aim) from None

    def _strange(self, aim: Aim) -> ForgeError:
        return ForgeError(
            f"{self.host} does not answer as such a forge does when asked to {aim.what}: are its kind and api right, "
            "under forges?",
            kind="unfit",
        )

    def _below(self, path: str, parameters: Parameters | None) -> httpx.URL:
        query = httpx.QueryParams(dict(parameters or {}))
        raw = f"{self._api.raw_path.decode('ascii').rstrip('/')}/{path}"
        return self._api.copy_with(raw_path=(f"{raw}?{query}" if query else raw).encode("ascii"))

    def _page(self, url: httpx.URL, aim: Aim, absent: Container[int] = ()) -> tuple[Any, str]:
        """Return one answer, and the query of the page after it."""
        kept = self._memory.reply(str(url)) if self._memory else None
        reply = self._exchange("GET", url, aim, etag=kept.etag if kept else None, absent=absent)
        if reply.status in absent:
            return None, ""
        if reply.status == HTTPStatus.NOT_MODIFIED and kept:
            self._budget.left += 1
            return self._decoded(kept.body.encode(), aim), kept.next
        decoded = self._decoded(reply.content, aim)
        self._keep(url, reply)
        return decoded, reply.next

    def _keep(self, url: httpx.URL, reply: _Reply) -> None:
        etag = reply.headers.get("ETag", "")
        if self._memory and etag.isascii() and etag and len(reply.content) <= _LARGEST_KEPT:
            kept = Kept(etag=etag, body=reply.content.decode("utf-8"), next=reply.next)
            self._memory.keep_reply(str(url), kept, self._now)

    def _decoded(self, content: bytes, aim: Aim) -> Any:
        try:
            return json.loads(content.decode("utf-8"))
        except (ValueError, RecursionError):
            raise self._strange(aim) from None

    # --- one exchange, with its redirects and second tries -----------------------------------------------------------

    def _exchange(
        self,
        method: str,
        url: httpx.URL,
        aim: Aim,
        *,
        content: bytes | None = None,
        etag: str | None = None,
        absent: Container[int] = (),
    ) -> _Reply:
        """Return a good answer, that nothing changed, or that a thing is absent; raise ForgeError for any other."""
        headers = self._headers | self._authorization()
        if content is not None:
            headers["Content-Type"] = "application/json"
        if etag is not None:
            headers["If-None-Match"] = etag
        for attempt in stamina.retry_context(
            on=lambda error: method in _REPEATABLE and _may_pass(error),
            attempts=_TRIES,
            timeout=None,
            wait_initial=0.5,
            wait_max=5.0,
        ):
            with attempt:
                reply = self._followed(method, url, aim, headers, content)
                if reply.status in absent or reply.status < HTTPStatus.BAD_REQUEST:
                    return reply
                raise self._refusal(reply, aim, headers)
        raise AssertionError("unreachable: the loop ends by an answer or by an error")

    def _followed(
        self, method: str, url: httpx.URL, aim: Aim, headers: Mapping[str, str], content: bytes | None
    ) -> _Reply:
        """Send a request, and once more wherever the forge says that a renamed repository now is."""
        for _ in range(_HOPS):
            self._budget.spend()
            reply = self._sent(method, url, aim, headers, content)
            if reply.status not in _REDIRECTS:
                return reply
            url = self._target(url, reply.headers.get("Location", ""))
        raise ForgeError(f"{self.host} redirects again and again: is its api right, under forges?", kind="unfit")

    def _sent(self, method: str, url: httpx.URL, aim: Aim, headers: Mapping[str, str], content: bytes | None) -> _Reply:
        try:
            with self._http.stream(method, url, headers=headers, content=content, follow_redirects=False) as response:
                read = bytearray()
                for part in response.iter_bytes():
                    read += part
                    if len(read) > _LARGEST:
                        raise self._strange(aim)
                return _Reply(status=response.status_code, headers=response.headers, content=bytes(read))
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            # Its text may hold what was sent.
            raise ForgeError(
                f"{self.host} could not be asked to {aim.what} ({type(error).__name__}): try again later", kind="busy"
            ) from None

    def _refusal(self, reply: _Reply, aim: Aim, headers: Mapping[str, str]) -> ForgeError:
        token = headers.get("Authorization", "").partition(" ")[2]
        answer = Answer(status=reply.status, headers=reply.headers, said=said(reply.content, token))
        return refusal(answer, aim, self._asker, self._now)

    def _target(self, url: httpx.URL, location: str) -> httpx.URL:
        """Return where a redirect leads; refuse to leave the host, to which alone the token belongs."""
        try:
            target = url.join(location)
        except httpx.InvalidURL:
            target = httpx.URL("")
        if not location or (target.scheme, target.host, target.port) != (url.scheme, url.host, url.port):
            raise ForgeError(
                f"{self.host} redirects to another place, which was not followed: is its api right, under forges?",
                kind="unfit",
            )
        return target.copy_with(userinfo=b"", fragment=None)

    def _authorization(self) -> dict[str, str]:
        if self._credentials is None:
            return {}
        token = self._credentials.token()
        if not token.isascii() or not token.isprintable() or " " in token:
            raise ForgeError(
                f"the token in {self._credentials.place} has characters that no token has: put the token alone there",
                kind="unauthorised",
            )
        return {"Authorization": f"{self._scheme} {token}"}


def _may_pass(error: Exception) -> bool:
    """Answer whether trouble may be over in a moment; where the forge names a time, it is left alone until then."""
    return isinstance(error, ForgeError) and error.kind == "busy" and error.again is None
