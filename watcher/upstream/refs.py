"""Ask upstreams which refs they advertise now.

Over http(s) this is git's protocol version 2, `ls-refs` with ref prefixes, straight through httpx: a few hundred
bytes and no process. Servers that know only the older protocol are read as well; other schemes go through git.
Whatever goes wrong is a value: what could not be read is `Unobserved`, never "there are no refs".
"""

import asyncio
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx
import stamina

from watcher import address
from watcher.errors import GitError
from watcher.model import Advertisement, Ref, Unobserved
from watcher.upstream import protocol
from watcher.upstream.git import Git, checked_address, masked
from watcher.upstream.protocol import Malformed, Seen

stamina.instrumentation.set_on_retry_hooks(())  # a retry is told by what came of it, not by a line of its own
HEADS_AND_TAGS = ("refs/heads/", "refs/tags/")
PULLS = ("refs/pull/", "refs/merge-requests/")

_HOPS = 5
_LONGEST_WAIT = 20.0
"""Seconds: a server that asks for a longer pause is left alone until the next pass."""
_AGENT = "watcher"
_LAST_PORT = 65535
_PERMANENT = frozenset({301, 308})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MISSING = frozenset({404, 410})
_SECRETS = ("Authorization", "Cookie", "Private-Token")


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How to ask: what for, and how patiently."""

    prefixes: tuple[str, ...] = HEADS_AND_TAGS
    """One that ends in `/` stands for all refs below it, any other for the one ref of that name."""
    seconds: float = 30.0
    """How long one try may last."""
    tries: int = 3
    """How often `poll` asks when the trouble may pass."""
    largest: int = 64 * 1024 * 1024
    """Bytes of the longest answer that is read."""
    local: bool = False
    """Whether `file:` addresses may be asked."""


class _Trouble(Exception):  # noqa: N818 - never leaves this module: it becomes `Unobserved`
    """We could not look, for this reason."""

    def __init__(
        self, reason: str, *, missing: bool = False, retry_after: float | None = None, again: bool = False
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.missing = missing
        self.retry_after = retry_after
        self.again = again

    def value(self, upstream: str) -> Unobserved:
        """Return what the rest of the program is told."""
        return Unobserved(upstream=upstream, reason=self.reason, missing=self.missing, retry_after=self.retry_after)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reply:
    """One whole answer, after redirects."""

    url: httpx.URL
    content_type: str
    body: bytes
    moved: bool
    """There were redirects, every one of them permanent."""


async def advertise(
    client: httpx.AsyncClient, url: str, manner: Manner = Manner(), *, before: Advertisement | None = None
) -> Advertisement | Unobserved:
    """Return the refs that an http(s) server advertises now; ask once.

    With `before`, an earlier answer of the same server, the handshake is left out: one request instead of two.
    """
    try:
        return await _advertise(client, url, manner, before)
    except _Trouble as trouble:
        return trouble.value(url)


async def pull_refs(
    client: httpx.AsyncClient, url: str, *, before: Advertisement | None = None
) -> tuple[Ref, ...] | Unobserved:
    """Return the refs of proposals; forges have tens of thousands, so ask only when a pin needs them."""
    match await advertise(client, url, Manner(prefixes=PULLS), before=before):
        case Advertisement(refs=refs):
            return refs
        case unobserved:
            return unobserved


async def poll(
    addresses: Mapping[str, str],
    manner: Manner = Manner(),
    *,
    before: Mapping[str, Advertisement] | None = None,
    per_host: int = 16,
    total: int = 64,
    context: ssl.SSLContext | None = None,
    done: Callable[[str], None] | None = None,
) -> dict[str, Advertisement | Unobserved]:
    """Look at every upstream (→ the address to fetch from), and return what was seen of each.

    `before` holds earlier answers, which spare the handshake. `done` hears of each upstream when it is finished.
    """
    results: dict[str, Advertisement | Unobserved] = {}
    queues: dict[str, list[str]] = {}
    for upstream, url in addresses.items():
        queues.setdefault(address.host(url), []).append(upstream)
    context = context or trust()
    places = asyncio.Semaphore(total)

    async def work(queue: list[str]) -> None:
        """Take one upstream after the other from a host's queue."""
        # A client of its own for each worker: one shared pool gets slower with every connection in it.
        limits = httpx.Limits(max_connections=1, max_keepalive_connections=1)
        async with places, httpx.AsyncClient(verify=context, limits=limits) as client:
            while queue:
                upstream = queue.pop(0)
                known = (before or {}).get(upstream)
                results[upstream] = await _patiently(client, upstream, addresses[upstream], manner, known)
                if done:
                    done(upstream)

    async with asyncio.TaskGroup() as group:
        for queue in queues.values():
            for _ in range(min(per_host, total, len(queue))):
                group.create_task(work(queue))
    return {upstream: results[upstream] for upstream in addresses}


def trust() -> ssl.SSLContext:
    """Return a TLS context that trusts what the system trusts; making one takes long, so it is shared."""
    context = httpx.create_ssl_context()
    context.load_default_certs()
    return context


async def _patiently(
    client: httpx.AsyncClient, upstream: str, url: str, manner: Manner, before: Advertisement | None
) -> Advertisement | Unobserved:
    """Look at one upstream; try again where the trouble may pass."""
    try:
        async for attempt in stamina.retry_context(
            _pause, attempts=manner.tries, timeout=None, wait_initial=0.5, wait_max=5.0
        ):
            with attempt:
                if url.startswith(("http://", "https://")):
                    # A server that fails without a handshake may do well with one.
                    return await _advertise(client, url, manner, before if attempt.num == 1 else None)
                return await asyncio.to_thread(_ls_remote, url, manner)
    except _Trouble as trouble:
        return trouble.value(upstream)
    raise AssertionError("unreachable: the loop ends by an answer or by an error")


def _pause(error: Exception) -> bool | float:
    """Return whether to try again, or after how many seconds."""
    if not isinstance(error, _Trouble) or not error.again:
        return False
    if error.retry_after is None:
        return True
    return error.retry_after if error.retry_after <= _LONGEST_WAIT else False


def _ls_remote(url: str, manner: Manner) -> Advertisement:
    """Look once at an ssh, git or file address, through the git program; raise _Trouble."""
    try:
        checked = checked_address(url, local=manner.local)
        # No patterns: with them git leaves the peeled tags out.
        printed = Git(local=manner.local).run("ls-remote", "--symref", "--", checked, timeout=manner.seconds)
        return protocol.advertisement(protocol.read_ls_remote(printed), manner.prefixes, None)
    except GitError as error:
        text = str(error).lower()
        missing = "not found" in text or "does not appear to be a git repository" in text
        raise _Trouble(str(error), missing=missing, again=error.retryable) from error
    except Malformed as error:
        raise _Trouble(f"git's list of refs cannot be read: {error}") from error


# --- over http(s) ----------------------------------------------------------------------------------------------------


async def _advertise(
    client: httpx.AsyncClient, url: str, manner: Manner, before: Advertisement | None
) -> Advertisement:
    """Look once; raise _Trouble."""
    if reason := address.refusal(url):
        raise _Trouble(f"the address is refused: {reason}")
    try:
        async with asyncio.timeout(manner.seconds):
            return await _converse(client, httpx.URL(url.rstrip("/")), manner, before)
    except TimeoutError:
        raise _Trouble(f"no answer within {manner.seconds:g} s", again=True) from None
    except (httpx.InvalidURL, UnicodeError) as error:
        # Also where a redirect led; a host that is no valid international name is a UnicodeError.
        raise _Trouble(f"the address cannot be used: {masked(str(error))[:200]}") from error
    except Malformed as error:
        if error.is_told:
            raise _Trouble(f"the server says: {error}", missing="not found" in str(error).lower()) from error
        # Most often a reply that was cut: another try may bring all of it.
        raise _Trouble(f"the reply is not git's protocol: {error}", again=True) from error


async def _converse(
    client: httpx.AsyncClient, base: httpx.URL, manner: Manner, before: Advertisement | None
) -> Advertisement:
    """Ask by protocol version 2, or read the older advertisement that came instead."""
    if before is not None and before.moved_to is None:
        known = Seen(refs={}, object_format=before.object_format, filters=before.filters)
        try:
            seen = await _ls_refs(client, base, manner, known, home=base)
            return protocol.advertisement(seen, manner.prefixes, None)
        except _Trouble as trouble:
            if trouble.again:
                raise
        except Malformed:
            pass  # Not the server it was: shake hands again, and tell from that answer what is wrong.
    url = _below(base, "info/refs", "service=git-upload-pack")
    reply = await _ask(client, url, manner.largest, home=base, hops=_HOPS)
    _require(reply, "application/x-git-upload-pack-advertisement")
    final = _base_of(reply.url)
    moved_to = address.canonical(str(final)) if reply.moved and _place(final) != _place(base) else None
    server = protocol.capabilities(reply.body)
    if server is None:
        return protocol.advertisement(protocol.read_old(reply.body), manner.prefixes, moved_to)
    seen = await _ls_refs(client, final, manner, server, home=base)
    return protocol.advertisement(seen, manner.prefixes, moved_to)


async def _ls_refs(
    client: httpx.AsyncClient, base: httpx.URL, manner: Manner, server: Seen, *, home: httpx.URL
) -> Seen:
    """Ask a server of version 2 for its refs."""
    body = protocol.ls_refs(manner.prefixes, object_format=server.object_format, agent=_AGENT)
    reply = await _ask(client, _below(base, "git-upload-pack"), manner.largest, home=home, body=body)
    _require(reply, "application/x-git-upload-pack-result")
    return protocol.read_ls_refs(reply.body, server)


async def _ask(
    client: httpx.AsyncClient,
    url: httpx.URL,
    largest: int,
    *,
    home: httpx.URL,
    hops: int = 0,
    body: bytes | None = None,
) -> _Reply:
    """Send one request and follow its redirects; raise _Trouble for every answer but 200.

    The client's credentials are for `home` alone.
    """
    moved = True
    headers = {"Git-Protocol": "version=2", "User-Agent": f"git/{_AGENT}", "Accept": "*/*"}
    if body is not None:
        headers["Content-Type"] = "application/x-git-upload-pack-request"
    for hop in range(hops + 1):
        if (url.port or 0) > _LAST_PORT:
            raise httpx.InvalidURL("no such port")
        request = client.build_request("GET" if body is None else "POST", url, headers=headers, content=body)
        is_home = _origin(url) == _origin(home)
        if not is_home:
            for secret in _SECRETS:
                request.headers.pop(secret, None)
        status, told, content = await _send(client, request, largest, is_home=is_home)
        if status == httpx.codes.OK:
            return _Reply(url=url, content_type=told.get("Content-Type", ""), body=content, moved=moved and hop > 0)
        if status not in _REDIRECTS:
            raise _refusal(status, told, content)
        moved = moved and status in _PERMANENT
        url = _target(url, told.get("Location", ""))
    raise _Trouble(f"redirected more than {hops} times")


async def _send(
    client: httpx.AsyncClient, request: httpx.Request, largest: int, *, is_home: bool
) -> tuple[int, httpx.Headers, bytes]:
    """Send one request and read all of the answer, up to a limit."""
    auth = httpx.USE_CLIENT_DEFAULT if is_home else None
    content = bytearray()
    try:
        response = await client.send(request, stream=True, follow_redirects=False, auth=auth)
        try:
            async for part in response.aiter_bytes():
                content += part
                if len(content) > largest:
                    raise _Trouble(f"the answer is larger than {largest // 1024} KiB")
        finally:
            await response.aclose()
    except httpx.TimeoutException:
        raise _Trouble("the server did not answer in time", again=True) from None
    except httpx.ConnectError as error:
        raise _unconnected(request.url, error) from error
    except httpx.HTTPError as error:
        raise _Trouble(f"the connection broke: {masked(str(error)) or type(error).__name__}", again=True) from error
    return response.status_code, response.headers, bytes(content)


def _unconnected(url: httpx.URL, error: httpx.ConnectError) -> _Trouble:
    """Tell TLS trouble, which stays, from a host that cannot be reached, which may pass."""
    text = masked(str(error))
    if "SSL" in text or "CERTIFICATE" in text:
        return _Trouble(f"no trusted TLS connection to {url.host}: {text}")
    return _Trouble(f"cannot connect to {url.host}: {text}", again=True)


def _refusal(status: int, headers: httpx.Headers, body: bytes) -> _Trouble:
    """Return what an answer other than 200 means."""
    # A forge that does not want to tell private from gone asks for credentials, and says this in the body.
    hidden = status == httpx.codes.UNAUTHORIZED and b"repository not found" in body[:2000].lower()
    if status in _MISSING or hidden:
        return _Trouble(f"there is no such repository, or it is private ({status})", missing=True)
    retry_after = _seconds(headers.get("Retry-After", ""), datetime.now(UTC))
    match status:
        case httpx.codes.UNAUTHORIZED:
            return _Trouble("the server asks for credentials (401)")
        case httpx.codes.FORBIDDEN:
            return _Trouble("the server refuses us (403)", retry_after=retry_after)
        case httpx.codes.TOO_MANY_REQUESTS:
            return _Trouble("the server says that we ask too often (429)", retry_after=retry_after, again=True)
        case _:
            again = status >= httpx.codes.INTERNAL_SERVER_ERROR or status == httpx.codes.REQUEST_TIMEOUT
            return _Trouble(f"the server answered {status}", retry_after=retry_after, again=again)


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
        raise _Trouble("redirected to no valid address") from None
    if not location or target.scheme not in {"http", "https"} or not target.host:
        raise _Trouble("redirected to an address that is neither http nor https: refused")
    if url.scheme == "https" and target.scheme == "http":
        raise _Trouble("redirected from https to http: refused")
    return target.copy_with(userinfo=b"")


def _require(reply: _Reply, expected: str) -> None:
    """Refuse pages: a login wall and a captive portal answer 200 as well."""
    found = reply.content_type.partition(";")[0].strip().lower()
    if not reply.body:
        raise Malformed("it is empty")
    if found != expected:
        raise _Trouble(f"the server answers with {masked(found)[:60] or 'no content type'}, which is not git's")


def _below(base: httpx.URL, path: str, query: str = "") -> httpx.URL:
    """Return an address below a repository's."""
    return base.copy_with(path=f"{base.path.rstrip('/')}/{path}", query=query.encode() or None)


def _base_of(url: httpx.URL) -> httpx.URL:
    """Return the repository's address when its `info/refs` was found at `url`."""
    if not url.path.endswith("/info/refs"):
        raise _Trouble("redirected to a page that is no repository")
    return url.copy_with(path=url.path.removesuffix("/info/refs") or "/", query=None)


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def _place(url: httpx.URL) -> tuple[str, int | None, str]:
    """Return what makes two addresses the same place: neither the scheme nor `.git` does."""
    return url.host, url.port, url.path.rstrip("/").removesuffix(".git")
