"""Ask upstreams which refs they advertise now.

Over http(s) this is git's protocol version 2, `ls-refs` with ref prefixes, on kept connections: a few hundred
bytes and no process. Servers that know only the older protocol are read as well; other schemes go through git.
Whatever goes wrong is a value: what could not be read is `Unobserved`, never "there are no refs".
"""

import asyncio
import os
import ssl
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import certifi

from watcher import address
from watcher.address import Allowed, host_name
from watcher.errors import GitError
from watcher.model import Advertisement, Handshake, Ref, Same, Unobserved
from watcher.upstream import protocol
from watcher.upstream.git import Git, checked_address, masked
from watcher.upstream.protocol import Malformed, Seen
from watcher.upstream.reaching import is_proxied, pinned
from watcher.upstream.request import AGENT, Reply, Sender, Trouble, ask
from watcher.upstream.tls import Resuming
from watcher.upstream.url import InvalidUrl, Url
from watcher.upstream.wire import Wire

HEADS_AND_TAGS = ("refs/heads/", "refs/tags/")
PULLS = ("refs/pull/", "refs/merge-requests/")

_HOPS = 5
_LONGEST_WAIT = 20.0
"""Seconds: a server that asks for a longer pause is left alone until the next pass."""
_TRUSTED_INSTEAD = ("SSL_CERT_FILE", "SSL_CERT_DIR")
"""OpenSSL's own variables: whoever sets one says whom to trust."""


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
    named: frozenset[str] | None = None
    """The hosts that may be inside a private network; None: all."""

    def allowed(self, url: str) -> Allowed:
        """Return what an address may lead to."""
        return Allowed(files=self.local, private=self.named is None or host_name(url) in self.named)


@dataclass(slots=True, kw_only=True)
class _Host:
    """What is still to be asked of one host."""

    waiting: deque[str] = field(default_factory=deque)
    busy: Trouble | None = None
    """It said that we ask too often, and for how long it wants to be left alone."""


async def pull_refs(
    url: str, manner: Manner = Manner(), *, before: Advertisement | None = None
) -> tuple[Ref, ...] | Unobserved:
    """Return the refs of proposals; forges have tens of thousands, so ask only when a pin needs them.

    With `before`, an earlier answer of the same server, the handshake is left out: one request instead of two.
    """
    # What it said then was the answer to another question.
    known = {} if before is None else {url: replace(before.handshake, reply="")}
    match (await news({url: url}, known, replace(manner, prefixes=PULLS, tries=1)))[url]:
        case Advertisement(refs=refs):
            return refs
        case Unobserved() as unobserved:
            return unobserved
        case Same():
            raise AssertionError("unreachable: nothing is the same as what is not known")


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
    earlier = before or {}
    known = {upstream: it.handshake for upstream, it in earlier.items()}
    seen = await news(addresses, known, manner, per_host=per_host, total=total, context=context, done=done)
    return {name: replace(earlier[name], pulls=()) if isinstance(it, Same) else it for name, it in seen.items()}


async def news(
    addresses: Mapping[str, str],
    known: Mapping[str, Handshake],
    manner: Manner = Manner(),
    *,
    per_host: int = 16,
    total: int = 64,
    context: ssl.SSLContext | None = None,
    done: Callable[[str], None] | None = None,
) -> dict[str, Advertisement | Same | Unobserved]:
    """Look at every upstream as `poll` does, and read only the answers that differ from the last one.

    `known` holds the handshakes of the last answers: of an upstream that said the same again nothing else is needed.
    """
    results: dict[str, Advertisement | Same | Unobserved] = {}
    hosts: dict[str, _Host] = {}
    for upstream, url in addresses.items():
        hosts.setdefault(address.host(url), _Host()).waiting.append(upstream)
    # A host has as many lanes as it may be asked at once.
    lanes = deque(host for host in hosts.values() for _ in range(min(per_host, len(host.waiting))))

    async def work(context: ssl.SSLContext) -> None:
        """Take one lane after the other, and on it one upstream after the other."""
        # A client of its own for each worker: one shared pool gets slower with every connection in it.
        async with connected(context) as sender:
            while lanes:
                host = lanes.popleft()
                while host.waiting:
                    name = host.waiting.popleft()
                    results[name] = await _asked(sender, host, name, addresses[name], manner, known.get(name))
                    if done:
                        done(name)

    if lanes:
        context = context or trust()
        async with asyncio.TaskGroup() as group:
            for _ in range(min(total, len(lanes))):
                group.create_task(work(context))
    return {upstream: results[upstream] for upstream in addresses}


def landing(url: str, allowed: Allowed) -> str:
    """Return where an http(s) server's redirects lead, as a repository's address; raise GitError."""

    async def look() -> str:
        """Ask, and return the last address."""
        home = Url.read(url.rstrip("/"))
        async with connected(trust()) as sender, asyncio.timeout(Manner().seconds):
            asked = Url.read(f"{home}/info/refs?service=git-upload-pack")
            reply = await ask(sender, asked, Manner().largest, home=home, hops=_HOPS, is_private=allowed.private)
            return str(_base_of(reply.url))

    try:
        return asyncio.run(look())
    except Trouble as trouble:
        raise GitError(trouble.reason, retryable=trouble.again) from None
    except TimeoutError:
        raise GitError("no answer in time", retryable=True) from None


@asynccontextmanager
async def connected(context: ssl.SSLContext) -> AsyncIterator[Sender]:
    """Give what sends requests one after the other, over one connection."""
    # Once the environment names a proxy, httpx is left to tell which hosts are asked through it, and to do so.
    if is_proxied():
        from watcher.upstream.proxied import proxied  # noqa: PLC0415 - httpx is large

        async with proxied(context) as client:
            yield client
        return
    wire = Wire(context)
    try:
        yield wire
    finally:
        await wire.close()


def trust() -> ssl.SSLContext:
    """Return a TLS context that trusts what the system trusts; that is long to read, so it is shared."""
    return Resuming(ssl.PROTOCOL_TLS_CLIENT, _trust_system)


def _trust_system(context: ssl.SSLContext) -> None:
    context.load_default_certs()
    if not any(os.environ.get(name) for name in _TRUSTED_INSTEAD):
        context.load_verify_locations(certifi.where())


async def _asked(
    sender: Sender, host: _Host, upstream: str, url: str, manner: Manner, known: Handshake | None
) -> Advertisement | Same | Unobserved:
    """Look at one upstream; a host that wants to be left alone is not asked."""
    if host.busy:
        return host.busy.value(upstream)
    try:
        return await _patiently(sender, url, manner, known)
    except Trouble as trouble:
        if trouble.is_busy and (trouble.retry_after or 0) > _LONGEST_WAIT:
            host.busy = trouble
        return trouble.value(upstream)


async def _patiently(sender: Sender, url: str, manner: Manner, known: Handshake | None) -> Advertisement | Same:
    """Look at one upstream; try again where the trouble may pass; raise Trouble."""
    try:
        return await _once(sender, url, manner, known, is_spared=True)
    except Trouble as trouble:
        first = trouble
    import stamina  # noqa: PLC0415 - large, and most looks need no second try

    stamina.instrumentation.set_on_retry_hooks(())  # a retry is told by what came of it, not by a line of its own
    async for attempt in stamina.retry_context(
        _pause, attempts=manner.tries, timeout=None, wait_initial=0.5, wait_max=5.0
    ):
        with attempt:
            if attempt.num == 1:
                raise first  # Most looks end above: they are spared what retries need, a fifth of what a look costs.
            # A server that fails without a handshake may do well with one.
            return await _once(sender, url, manner, known, is_spared=False)
    raise AssertionError("unreachable: the loop ends by an answer or by an error")


async def _once(
    sender: Sender, url: str, manner: Manner, known: Handshake | None, *, is_spared: bool
) -> Advertisement | Same:
    """Look once, in the way that the address asks for; raise Trouble."""
    if url.startswith(("http://", "https://")):
        return await _advertise(sender, url, manner, known, is_spared=is_spared)
    return await asyncio.to_thread(_ls_remote, url, manner)


def _pause(error: Exception) -> bool | float:
    """Return whether to try again, or after how many seconds."""
    if not isinstance(error, Trouble) or not error.again:
        return False
    if error.retry_after is None:
        return True
    return error.retry_after if error.retry_after <= _LONGEST_WAIT else False


def _ls_remote(url: str, manner: Manner) -> Advertisement:
    """Look once at an ssh, git or file address, through the git program; raise Trouble."""
    try:
        checked = checked_address(url, local=manner.local)
        pinned(url, manner.allowed(url))
        # No patterns: with them git leaves the peeled tags out.
        printed = Git(local=manner.local).run("ls-remote", "--symref", "--", checked, timeout=manner.seconds)
        return protocol.advertisement(protocol.read_ls_remote(printed), manner.prefixes, None)
    except GitError as error:
        text = str(error).lower()
        missing = "not found" in text or "does not appear to be a git repository" in text
        raise Trouble(str(error), missing=missing, again=error.retryable) from error
    except Malformed as error:
        raise Trouble(f"git's list of refs cannot be read: {error}") from error


# --- over http(s) ----------------------------------------------------------------------------------------------------


async def _advertise(
    sender: Sender, url: str, manner: Manner, known: Handshake | None, *, is_spared: bool
) -> Advertisement | Same:
    """Look once; raise Trouble. The handshake with a server that is known is left out, if it may be spared."""
    if reason := address.refusal(url):
        raise Trouble(f"the address is refused: {reason}")
    try:
        async with asyncio.timeout(manner.seconds):
            return await _converse(sender, url.rstrip("/"), manner, known, is_spared=is_spared)
    except TimeoutError:
        raise Trouble(f"no answer within {manner.seconds:g} s", again=True) from None
    except InvalidUrl as error:
        raise Trouble(f"the address cannot be used: {masked(str(error))[:200]}") from error
    except Malformed as error:
        if error.is_told:
            raise Trouble(f"the server says: {error}", missing="not found" in str(error).lower()) from error
        # Most often a reply that was cut: another try may bring all of it.
        raise Trouble(f"the reply is not git's protocol: {error}", again=True) from error


async def _converse(
    sender: Sender, base: str, manner: Manner, known: Handshake | None, *, is_spared: bool
) -> Advertisement | Same:
    """Ask by protocol version 2, or read the older advertisement that came instead."""
    if is_spared and known is not None and known.moved_to is None:
        server = Seen(refs={}, object_format=known.object_format, filters=known.filters)
        try:
            return _told(await _ls_refs(sender, base, manner, server), server, manner, None, known)
        except Trouble as trouble:
            if trouble.again:
                raise
        except Malformed:
            pass  # Not the server it was: shake hands again, and tell from that answer what is wrong.
    home = Url.read(base)
    asked = Url.read(f"{base}/info/refs?service=git-upload-pack")
    is_private = manner.allowed(base).private
    reply = await ask(sender, asked, manner.largest, home=home, hops=_HOPS, is_private=is_private)
    _require(reply, "application/x-git-upload-pack-advertisement")
    final = _base_of(reply.url)
    moved_to = address.canonical(str(final)) if reply.moved and _place(final) != _place(home) else None
    speaks = protocol.capabilities(reply.body)
    body = reply.body if speaks is None else await _ls_refs(sender, str(final), manner, speaks, home=home)
    return _told(body, speaks, manner, moved_to, known)


def _told(
    body: bytes, server: Seen | None, manner: Manner, moved_to: str | None, known: Handshake | None
) -> Advertisement | Same:
    """Return what a server (None: of the older protocol) told of its refs; what is known already is not read again."""
    said = protocol.reply(body, manner.prefixes, server)
    if known is not None and (said, moved_to) == (known.reply, known.moved_to):
        return Same(handshake=known)
    seen = protocol.read_old(body) if server is None else protocol.read_ls_refs(body, server)
    return protocol.advertisement(seen, manner.prefixes, moved_to, said)


async def _ls_refs(sender: Sender, base: str, manner: Manner, server: Seen, *, home: Url | None = None) -> bytes:
    """Ask a server of version 2 for its refs; it is at home unless it is said what is."""
    url = Url.read(f"{base.rstrip('/')}/git-upload-pack")
    body = protocol.ls_refs(manner.prefixes, object_format=server.object_format, agent=AGENT)
    is_private = manner.allowed(str(home or url)).private
    reply = await ask(sender, url, manner.largest, home=home or url, body=body, is_private=is_private)
    _require(reply, "application/x-git-upload-pack-result")
    return reply.body


def _require(reply: Reply, expected: str) -> None:
    """Refuse pages: a login wall and a captive portal answer 200 as well."""
    found = reply.content_type.partition(";")[0].strip().lower()
    if not reply.body:
        raise Malformed("it is empty")
    if found != expected:
        raise Trouble(f"the server answers with {masked(found)[:60] or 'no content type'}, which is not git's")


def _base_of(url: Url) -> Url:
    """Return the repository's address when its `info/refs` was found at `url`."""
    if not url.path.endswith("/info/refs"):
        raise Trouble("redirected to a page that is no repository")
    return replace(url, path=url.path.removesuffix("/info/refs") or "/", query="")


def _place(url: Url) -> tuple[str, str]:
    """Return what makes two addresses the same place: neither the scheme nor `.git` does."""
    return url.authority, url.path.rstrip("/").removesuffix(".git")
