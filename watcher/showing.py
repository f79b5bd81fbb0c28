"""Show the pages over HTTP: to whoever may see them, in full only where they changed since they were seen last."""

import base64
import binascii
import gzip
import hmac
import re
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from http import HTTPStatus
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from watcher.errors import ConfigError, StoreError
from watcher.pages import Page
from watcher.report.text import safe
from watcher.site import PUBLIC, Site

_POLICIES = {
    "text/html": "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'",
    # A picture that stands alone has its style in it, and nothing that a browser runs or loads.
    "image/svg+xml": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
}
_HEADERS = {
    "cache-control": "no-cache",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
}
_CLOSED = (
    "the pages are shown on loopback alone, or to whoever has the token: name one by `http: {token: env:NAME}`, or by "
    "`http: {trusted_header: X-Forwarded-User}` what a reverse proxy says\n"
)
_MISNAMED = "the pages are not known by that name: list it by `http: {hosts: …}`\n"
_UNTOLD = "the reverse proxy does not say who asks\n"
_TAG = re.compile(r'(?:W/)?("[^"]*")')
_PACKED_FROM = 1024
"""Bytes; smaller bodies are sent as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """Who may see the pages."""

    host: str
    """Where the service listens."""
    token: Callable[[], str] | None
    """Looks up what has to be shown; None where whoever is on this machine may see them."""
    header: str | None = None
    """What a reverse proxy sets once it let somebody in."""
    proxies: tuple[str, ...] = ()
    """From which networks that is believed."""
    hosts: tuple[str, ...] = ()
    """Under which other names the pages are asked for."""
    is_public: bool = False
    """Whether badges and pictures are shown to anybody."""

    def is_open(self, address: str) -> bool:
        """Answer whether what is at an address is shown to anybody, on any other page too."""
        return self.is_public and address.startswith(PUBLIC)

    def refusal(self, request: Request) -> Response | None:
        """Return why a request is refused, None where it is not.

        Without a token it must come over loopback, or from a reverse proxy that knows who asks. It must name us: a
        page of a stranger's, whose name suddenly stands for this machine, names its own host, and sets any header.
        """
        said = self._refused_without_token(request)
        if said is None:
            return None
        if self.token is None:
            return PlainTextResponse(said, status_code=403)
        try:
            wanted = self.token()
        except ConfigError as error:
            return PlainTextResponse(f"{safe(str(error))}\n", status_code=503)
        if hmac.compare_digest(_shown(request).encode(), wanted.encode()):
            return None
        asking = {"www-authenticate": 'Basic realm="watcher", charset="UTF-8"'}
        return PlainTextResponse("the token is wanted, as a bearer token or a password\n", 401, asking)

    def _refused_without_token(self, request: Request) -> str | None:
        """Return what to say to a request that shows no token."""
        if self.header is None and (self.token or not _is_loopback(self.host)):
            return _CLOSED
        if not self._is_named(request.headers.get("host", "")):
            return _MISNAMED
        if self.header is None:
            return None
        peer = _address(request.client.host if request.client else "")
        is_proxy = peer is not None and any(peer in ip_network(it) for it in self.proxies)
        return None if is_proxy and request.headers.get(self.header, "").strip() else _UNTOLD

    def _is_named(self, said: str) -> bool:
        """Answer whether a Host names us, with whatever port; an internet address is nobody else's name."""
        name = re.sub(r":\d*$", "", said).lower()
        known = {"localhost", self.host.lower(), *(re.sub(r":\d+$", "", it) for it in self.hosts)}
        return name in known or _address(name.removeprefix("[").removesuffix("]")) is not None


def shown(site: Site, door: Door) -> Callable[[Request], Response]:
    """Return what answers for every page."""

    def answer(request: Request) -> Response:
        address = request.path_params["address"]
        is_open = door.is_open(address)
        if not is_open and (refused := door.refusal(request)):
            return refused
        try:
            page = site.page(address, dict(request.query_params))
        except StoreError as error:
            return PlainTextResponse(f"{safe(str(error))}\n", status_code=503)
        if page is None:
            return PlainTextResponse("there is no such page\n", status_code=404)
        return _sent(page, request, is_open=is_open)

    return answer


def _sent(page: Page, request: Request, *, is_open: bool) -> Response:
    """Return a page as it goes over the line; packed it is another thing, with another tag."""
    is_packed = len(page.body) >= _PACKED_FROM and takes_gzip(request.headers.get("accept-encoding", ""))
    tag = f'"{sha256(page.body).hexdigest()[:32]}{"-gzip" if is_packed else ""}"'
    policy = _POLICIES.get(page.media_type.partition(";")[0], "default-src 'none'")
    headers = {**_HEADERS, "content-security-policy": policy, "etag": tag, "vary": "accept-encoding, authorization"}
    headers |= {"cross-origin-resource-policy": "cross-origin"} if is_open else {}
    if page.status == HTTPStatus.OK and is_known(request.headers.get("if-none-match", ""), tag):
        return Response(status_code=304, headers=headers)
    if not is_packed:
        return Response(page.body, status_code=page.status, media_type=page.media_type, headers=headers)
    # The quickest of nine levels: it is done for each request, and whoever asks waits for it.
    packed, headers = gzip.compress(page.body, compresslevel=1, mtime=0), headers | {"content-encoding": "gzip"}
    return Response(packed, status_code=page.status, media_type=page.media_type, headers=headers)


def takes_gzip(said: str) -> bool:
    """Answer whether an Accept-Encoding names gzip, and not to say no (RFC 9110 §12.5.3)."""
    for choice in said.lower().split(","):
        name, _, weight = choice.partition(";")
        if name.strip() == "gzip":
            return re.fullmatch(r"\s*q=0(\.0*)?\s*", weight) is None
    return False


def is_known(said: str, tag: str) -> bool:
    """Answer whether an If-None-Match names a tag (RFC 9110 §13.1.2); weak ones compare like strong ones."""
    return said.strip() == "*" or tag in _TAG.findall(said)


def _is_loopback(host: str) -> bool:
    it = _address(host)
    return host == "localhost" or (it is not None and it.is_loopback)


def _address(said: str) -> IPv4Address | IPv6Address | None:
    """Return an internet address, None for what is none; one of the old kind written as a new one is of the old."""
    try:
        it = ip_address(said)
    except ValueError:
        return None
    return (it.ipv4_mapped or it) if isinstance(it, IPv6Address) else it


def _shown(request: Request) -> str:
    """Return the token that a request shows: a bearer's, or the password of a login."""
    kind, _, value = request.headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return value.strip()
    if kind.lower() != "basic":
        return ""
    try:
        return base64.b64decode(value, validate=True).decode().partition(":")[2]
    except (binascii.Error, UnicodeDecodeError):
        return ""
