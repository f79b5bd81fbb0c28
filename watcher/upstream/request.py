"""Send one request about refs, follow its redirects, and say in words what an answer other than 200 means."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Protocol

from watcher.model import Unobserved
from watcher.upstream.git import masked
from watcher.upstream.url import InvalidUrl, Url

AGENT = "watcher"

_HEADERS = {
    "Git-Protocol": "version=2",
    "User-Agent": f"git/{AGENT}",
    "Accept": "*/*",
    "Accept-Encoding": "identity",
}
_HEADERS_OF_A_BODY = {**_HEADERS, "Content-Type": "application/x-git-upload-pack-request"}
_PERMANENT = frozenset({301, 308})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MISSING = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.GONE})


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

    url: Url
    content_type: str
    body: bytes
    moved: bool
    """There were redirects, every one of them permanent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One request: a POST where it has a body."""

    url: Url
    body: bytes | None
    headers: Mapping[str, str]
    largest: int
    """Bytes of the longest answer that is read."""
    is_private: bool = True
    """It may go to a server inside a private network."""


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
        """Return the answer; raise a Failure."""
        ...


class Failure(Exception):  # noqa: N818 - it becomes a Trouble, and so do those below
    """There is no whole answer."""


class TooLarge(Failure):
    """The answer is longer than what is read."""


class Late(Failure):
    """There was no connection, or nothing more of an answer, in time."""


class Unconnected(Failure):
    """There is no connection."""


class Broken(Failure):
    """What came back is no answer, or not all of it."""


class Private(Failure):
    """The server is inside a private network, and must not be asked."""


class Misput(Failure):
    """The request itself is none that can be sent."""


async def ask(
    sender: Sender,
    url: Url,
    largest: int,
    *,
    home: Url,
    hops: int = 0,
    body: bytes | None = None,
    is_private: bool = True,
) -> Reply:
    """Send one request and follow its redirects; raise Trouble for every answer but 200.

    `is_private`: home may be inside a private network. Another host, to which a redirect leads, never may.
    """
    moved = True
    headers = _HEADERS if body is None else _HEADERS_OF_A_BODY
    for hop in range(hops + 1):
        may = is_private and url.host == home.host
        asked = Question(url=url, body=body, headers=headers, largest=largest, is_private=may)
        answer = await _sent(sender, asked)
        if answer.status == HTTPStatus.OK:
            kind = answer.headers.get("content-type", "")
            return Reply(url=url, content_type=kind, body=answer.body, moved=moved and hop > 0)
        if answer.status not in _REDIRECTS:
            raise _refusal(answer, is_home=url.origin == home.origin)
        moved = moved and answer.status in _PERMANENT
        url = _target(url, answer.headers.get("location", ""))
    raise Trouble(f"redirected more than {hops} times")


async def _sent(sender: Sender, question: Question) -> Answer:
    """Send one request; raise Trouble where nothing, or too much, came back."""
    try:
        return await sender.send(question)
    except TooLarge:
        raise Trouble(f"the answer is larger than {question.largest // 1024} KiB") from None
    except Late:
        raise Trouble("the server did not answer in time", again=True) from None
    except Unconnected as error:
        raise _unconnected(question.url, error) from error
    except Private as error:
        raise Trouble(str(error)) from None
    except Failure as error:
        raise Trouble(f"the connection broke: {masked(str(error))}", again=True) from error


def _unconnected(url: Url, error: Unconnected) -> Trouble:
    """Tell TLS trouble, which stays, from a host that cannot be reached, which may pass."""
    text = masked(str(error))
    if "SSL" in text or "CERTIFICATE" in text:
        return Trouble(f"no trusted TLS connection to {url.host}: {text}")
    return Trouble(f"cannot connect to {url.host}: {text}", again=True)


def _refusal(answer: Answer, *, is_home: bool) -> Trouble:
    """Return what an answer other than 200 means."""
    status = answer.status
    # A forge that does not want to tell private from gone asks for credentials, and says this in the body.
    hidden = status == HTTPStatus.UNAUTHORIZED and b"repository not found" in answer.body[:2000].lower()
    if status in _MISSING or hidden:
        return Trouble(f"there is no such repository, or it is private ({status})", missing=True)
    retry_after = _seconds(answer.headers.get("retry-after", ""), datetime.now(UTC))
    match status:
        case HTTPStatus.UNAUTHORIZED:
            return Trouble("the server asks for credentials (401)")
        case HTTPStatus.FORBIDDEN:
            return Trouble("the server refuses us (403)", retry_after=retry_after)
        case HTTPStatus.TOO_MANY_REQUESTS:
            reason = "the server says that we ask too often (429)"
            return Trouble(reason, retry_after=retry_after, again=True, is_busy=is_home)
        case _:
            again = status >= HTTPStatus.INTERNAL_SERVER_ERROR or status == HTTPStatus.REQUEST_TIMEOUT
            return Trouble(f"the server answered {status}", retry_after=retry_after, again=again)


def _seconds(text: str, now: datetime) -> float | None:
    """Return the seconds that a Retry-After header asks for, as a number or as a date."""
    if not text or (text.isascii() and text.strip().isdigit()):
        return float(text) if text else None
    from email.utils import parsedate_to_datetime  # noqa: PLC0415 - large, and a date is rare

    try:
        then = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, (then.replace(tzinfo=then.tzinfo or UTC) - now).total_seconds())


def _target(url: Url, location: str) -> Url:
    """Return where a redirect leads; refuse to leave http(s), and to give up TLS."""
    try:
        target = url.joined(location)
    except InvalidUrl as error:
        raise Trouble(f"redirected to an address that cannot be used: {error}") from None
    if url.scheme == "https" and target.scheme == "http":
        raise Trouble("redirected from https to http: refused")
    return target
