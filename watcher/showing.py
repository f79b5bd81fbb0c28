"""Show the pages over HTTP: to whoever may see them, in full only where they changed since they were seen last."""

import base64
import binascii
import hmac
import re
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from http import HTTPStatus
from ipaddress import ip_address

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from watcher.errors import ConfigError, StoreError
from watcher.report.text import safe
from watcher.site import Site

_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
_HEADERS = {
    "cache-control": "no-cache",
    "content-security-policy": _POLICY,
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
}
_CLOSED = "the pages are shown on loopback alone, or to whoever has the token: name one by `http: {token: env:NAME}`\n"
_TAG = re.compile(r'(?:W/)?("[^"]*")')


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """Who may see the pages."""

    host: str
    """Where the service listens."""
    token: Callable[[], str] | None
    """Looks up what has to be shown; None where whoever is on this machine may see them."""

    def refusal(self, request: Request) -> Response | None:
        """Return why a request is refused, None where it is not.

        Without a token it must come over loopback, and be meant for it: a page of a stranger's, whose name suddenly
        stands for this machine, names its own host.
        """
        if self.token is None:
            is_open = _is_loopback(self.host) and _is_loopback(request.url.hostname or "")
            return None if is_open else PlainTextResponse(_CLOSED, status_code=403)
        try:
            wanted = self.token()
        except ConfigError as error:
            return PlainTextResponse(f"{safe(str(error))}\n", status_code=503)
        if hmac.compare_digest(_shown(request).encode(), wanted.encode()):
            return None
        asking = {"www-authenticate": 'Basic realm="watcher", charset="UTF-8"'}
        return PlainTextResponse("the token is wanted, as a bearer token or a password\n", 401, asking)


def shown(site: Site, door: Door) -> Callable[[Request], Response]:
    """Return what answers for every page."""

    def answer(request: Request) -> Response:
        if refused := door.refusal(request):
            return refused
        try:
            page = site.page(request.path_params["address"], dict(request.query_params))
        except StoreError as error:
            return PlainTextResponse(f"{safe(str(error))}\n", status_code=503)
        if page is None:
            return PlainTextResponse("there is no such page\n", status_code=404)
        tag = f'"{sha256(page.body).hexdigest()[:32]}"'
        headers = {**_HEADERS, "etag": tag}
        if page.status == HTTPStatus.OK and is_known(request.headers.get("if-none-match", ""), tag):
            return Response(status_code=304, headers=headers)
        return Response(page.body, status_code=page.status, media_type=page.media_type, headers=headers)

    return answer


def is_known(said: str, tag: str) -> bool:
    """Answer whether an If-None-Match names a tag (RFC 9110 §13.1.2); weak ones compare like strong ones."""
    return said.strip() == "*" or tag in _TAG.findall(said)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


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
