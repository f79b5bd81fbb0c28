"""Send one request about refs, follow its redirects, and say in words what an answer other than 200 means."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Protocol

import httpx

from watcher.model import Unobserved
from watcher.upstream.git import masked

AGENT = "watcher"

_HEADERS = {
    "Git-Protocol": "version=2",
    "User-Agent": f"git/{AGENT}",
    "Accept": "*/*",
    "Accept-Encoding": "identity",
}
_HEADERS_OF_A_BODY = {**_HEADERS, "Content-Type": "application/x-git-upload-pack-request"}
_LAST_PORT = 65535
_PERMANENT = frozenset({301, 308})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MISSING = frozenset({404, 410})
_SECRETS = ("Authorization", "Cookie", "Private-Token")


class Trouble(Exception):  # noqa: N818 - never leaves this package: it becomes `Unobserved`
    """We could not look, for this reason."""

    def __init__(
        self,
        reason: str,
        *,
        missing: bool = False,
        retry_after: float | None = None,
        again: bool = False,
        is_busy: bool = False,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.missing = missing
        self.retry_after = retry_after
        self.again = again
        """Another try may go well."""
        self.is_busy = is_busy
        """The host itself says that we ask too often."""

    def value(self, upstream: str) -> Unobserved:
        """Return what the rest of the program is told."""
        return Unobserved(upstream=upstream, reason=self.reason, missing=self.missing, retry_after=self.retry_after)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One whole answer, after redirects."""

    url: httpx.URL
    content_type: str
    body: bytes
    moved: bool
    """There were redirects, every one of them permanent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One request: a POST where it has a body."""

    url: httpx.URL
    body: bytes | None
    headers: Mapping[str, str]
    largest: int
    """Bytes of the longest answer that is read."""
    is_home: bool
    """It goes to where credentials belong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back, whatever it is."""

    status: int
    headers: Mapping[str, str]
    """By name in lower case."""
    body: bytes


class Sender(Protocol):
    """Who sends questions, one after the other."""

    async def send(self, question: Question) -> Answer:
        """Return the answer; raise one of httpx's errors, or TooLarge."""
        ...


class TooLarge(Exception):  # noqa: N818 - it becomes a Trouble
    """The answer is longer than what is read."""


@dataclass(frozen=True, slots=True)
class Client:
    """Send through a client of httpx: with its proxies, and with its credentials, but for home alone."""

    client: httpx.AsyncClient

    async def send(self, question: Question) -> Answer:
        """Return the answer; raise one of httpx's errors, or TooLarge."""
        method = "GET" if question.body is None else "POST"
        request = self.client.build_request(method, question.url, headers=question.headers, content=question.body)
        if not question.is_home:
            for secret in _SECRETS:
                request.headers.pop(secret, None)
        auth = httpx.USE_CLIENT_DEFAULT if question.is_home else None
        response = await self.client.send(request, stream=True, follow_redirects=False, auth=auth)
        content = bytearray()
        try:
            async for part in response.aiter_bytes():
                content += part
                if len(content) > question.largest:
                    raise TooLarge
        finally:
            await response.aclose()
        headers = {name.lower(): value for name, value in response.headers.items()}
        return Answer(status=response.status_code, headers=headers, body=bytes(content))


async def ask(
    sender: Sender, url: httpx.URL, largest: int, *, home: httpx.URL, hops: int = 0, body: bytes | None = None
) -> Reply:
    """Send one request and follow its redirects; raise Trouble for every answer but 200."""
    moved = True
    headers = _HEADERS if body is None else _HEADERS_OF_A_BODY
    for hop in range(hops + 1):
        if (url.port or 0) > _LAST_PORT:
            raise httpx.InvalidURL("no such port")
        is_home = _origin(url) == _origin(home)
        answer = await _sent(sender, Question(url=url, body=body, headers=headers, largest=largest, is_home=is_home))
        if answer.status == httpx.codes.OK:
            kind = answer.headers.get("content-type", "")
            return Reply(url=url, content_type=kind, body=answer.body, moved=moved and hop > 0)
        if answer.status not in _REDIRECTS:
            raise _refusal(answer, is_home=is_home)
        moved = moved and answer.status in _PERMANENT
        url = _target(url, answer.headers.get("location", ""))
    raise Trouble(f"redirected more than {hops} times")


async def _sent(sender: Sender, question: Question) -> Answer:
    """Send one request; raise Trouble where nothing, or too much, came back."""
    try:
        return await sender.send(question)
    except TooLarge:
        raise Trouble(f"the answer is larger than {question.largest // 1024} KiB") from None
    except httpx.TimeoutException:
        raise Trouble("the server did not answer in time", again=True) from None
    except httpx.ConnectError as error:
        raise _unconnected(question.url, error) from error
    except httpx.HTTPError as error:
        raise Trouble(f"the connection broke: {masked(str(error)) or type(error).__name__}", again=True) from error


def _unconnected(url: httpx.URL, error: httpx.ConnectError) -> Trouble:
    """Tell TLS trouble, which stays, from a host that cannot be reached, which may pass."""
    text = masked(str(error))
    if "SSL" in text or "CERTIFICATE" in text:
        return Trouble(f"no trusted TLS connection to {url.host}: {text}")
    return Trouble(f"cannot connect to {url.host}: {text}", again=True)


def _refusal(answer: Answer, *, is_home: bool) -> Trouble:
    """Return what an answer other than 200 means."""
    status = answer.status
    # A forge that does not want to tell private from gone asks for credentials, and says this in the body.
    hidden = status == httpx.codes.UNAUTHORIZED and b"repository not found" in answer.body[:2000].lower()
    if status in _MISSING or hidden:
        return Trouble(f"there is no such repository, or it is private ({status})", missing=True)
    retry_after = _seconds(answer.headers.get("retry-after", ""), datetime.now(UTC))
    match status:
        case httpx.codes.UNAUTHORIZED:
            return Trouble("the server asks for credentials (401)")
        case httpx.codes.FORBIDDEN:
            return Trouble("the server refuses us (403)", retry_after=retry_after)
        case httpx.codes.TOO_MANY_REQUESTS:
            reason = "the server says that we ask too often (429)"
            return Trouble(reason, retry_after=retry_after, again=True, is_busy=is_home)
        case _:
            again = status >= httpx.codes.INTERNAL_SERVER_ERROR or status == httpx.codes.REQUEST_TIMEOUT
            return Trouble(f"the server answered {status}", retry_after=retry_after, again=again)


def _seconds(text: str, now: datetime) -> float | None:
    """Return the seconds that a Retry-After header asks for, as a number or as a date."""
    if text.isascii() and text.strip().isdigit():
        return float(text)
    try:
        then = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, (then.replace(tzinfo=then.tzinfo or UTC) - now).total_seconds())


def _target(url: httpx.URL, location: str) -> httpx.URL:
    """Return where a redirect leads; refuse to leave http(s), to give up TLS, and to take credentials along."""
    try:
        target = url.join(location)
    except httpx.InvalidURL:
        raise Trouble("redirected to no valid address") from None
    if not location or target.scheme not in {"http", "https"} or not target.host:
        raise Trouble("redirected to an address that is neither http nor https: refused")
    if url.scheme == "https" and target.scheme == "http":
        raise Trouble("redirected from https to http: refused")
    return target.copy_with(userinfo=b"")


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port
