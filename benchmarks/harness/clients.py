"""Ask many upstreams for their branches and tags in one of several ways, once, and tell what that cost.

    python -m harness.clients WAY URLS [--in-flight N]

URLS is a file with one address a line. What comes before the first request (imports, trust) is left out for clients
that pay it once, and counted for programs that pay it every time. `SSL_CERT_FILE` says whom to trust.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from ssl import SSLContext, create_default_context

from harness.measuring import Cost, costing, tell
from watcher.model import Advertisement, Handshake, Same
from watcher.upstream.protocol import ls_refs
from watcher.upstream.refs import HEADS_AND_TAGS, Manner, news, trust

Way = Callable[[Sequence[str], int], Cost]

_MANNER = Manner(seconds=120)
_CERT = os.environ.get("SSL_CERT_FILE")


def git(urls: Sequence[str], in_flight: int) -> Cost:
    """Run `git ls-remote` for each, so many at once."""
    env = {**os.environ, **({"GIT_SSL_CAINFO": _CERT} if _CERT else {})}

    def one(url: str) -> None:
        subprocess.run(["git", "ls-remote", "--heads", "--tags", url], check=True, stdout=subprocess.DEVNULL, env=env)

    with costing() as cost, ThreadPoolExecutor(in_flight) as pool:
        list(pool.map(one, urls))
    return cost


def nvchecker(urls: Sequence[str], in_flight: int) -> Cost:
    """Run nvchecker, which runs `git ls-remote` itself."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "config.toml")
        entries = [
            f'[u{number}]\nsource = "git"\ngit = "{url}"\nuse_commit = true\n' for number, url in enumerate(urls)
        ]
        config.write_text("".join([f"[__config__]\nmax_concurrency = {in_flight}\n", *entries]))
        env = {**os.environ, **({"GIT_SSL_CAINFO": _CERT} if _CERT else {})}
        command = [sys.executable, "-m", "nvchecker", "-c", str(config), "--logger", "json"]
        with costing() as cost:
            done = subprocess.run(command, check=True, capture_output=True, text=True, env=env)
    answered = done.stdout.count('"event": "updated"')
    if answered != len(urls):
        raise RuntimeError(f"nvchecker saw {answered} of {len(urls)}: {done.stdout[:500]}")
    return cost


def dulwich(urls: Sequence[str], in_flight: int) -> Cost:
    """Let dulwich ask for the same refs by protocol version 2, in threads, through one pool of connections."""
    import urllib3  # noqa: PLC0415 - each way imports what it measures
    from dulwich.client import HttpGitClient  # noqa: PLC0415

    pool = urllib3.PoolManager(maxsize=in_flight, ca_certs=_CERT)
    prefixes = [prefix.encode() for prefix in HEADS_AND_TAGS]

    def one(url: str) -> None:
        host, _, path = url.partition("://")[2].partition("/")
        client = HttpGitClient(f"{url.partition('://')[0]}://{host}/", pool_manager=pool)
        if not client.get_refs(path.encode(), protocol_version=2, ref_prefix=prefixes).refs:
            raise RuntimeError("dulwich saw no refs")

    with costing() as cost, ThreadPoolExecutor(in_flight) as threads:
        list(threads.map(one, urls))
    return cost


def httpx(urls: Sequence[str], in_flight: int) -> Cost:
    """Send the one request that a poll needs through one client of httpx with its pool."""
    import httpx as library  # noqa: PLC0415

    body = ls_refs(HEADS_AND_TAGS, object_format="sha1", agent="bench")
    headers = {"Git-Protocol": "version=2", "Content-Type": "application/x-git-upload-pack-request"}
    limits = library.Limits(max_connections=in_flight, max_keepalive_connections=in_flight)
    waiting = list(urls)
    context = create_default_context(cafile=_CERT)

    async def run() -> None:
        async with library.AsyncClient(verify=context, limits=limits, timeout=60) as client:

            async def work() -> None:
                while waiting:
                    url = f"{waiting.pop()}/git-upload-pack"
                    (await client.post(url, content=body, headers=headers)).raise_for_status()

            await asyncio.gather(*(work() for _ in range(in_flight)))

    with costing() as cost:
        asyncio.run(run())
    return cost


def cold(urls: Sequence[str], in_flight: int) -> Cost:
    """Poll upstreams that were never seen: two requests, and every answer is read."""
    return asyncio.run(_polled(urls, in_flight, {}, trust()))


def warm(urls: Sequence[str], in_flight: int) -> Cost:
    """Poll upstreams that did not change since: one request."""
    return asyncio.run(_warm(urls, in_flight))


def remembered(urls: Sequence[str], in_flight: int) -> Cost:
    """Poll upstreams that all say what the first one says, and were seen by an earlier run."""
    return asyncio.run(_remembered(urls, in_flight))


async def _warm(urls: Sequence[str], in_flight: int) -> Cost:
    context = trust()
    return await _polled(urls, in_flight, await _handshakes(urls, in_flight, context), context)


async def _remembered(urls: Sequence[str], in_flight: int) -> Cost:
    context = trust()
    (first,) = (await _handshakes(urls[:1], in_flight, context)).values()
    with costing() as whole:
        cost = await _polled(urls, in_flight, {url: replace(first) for url in urls}, context)
    return replace(cost, memory=whole.memory)  # what is remembered takes memory, too


async def _handshakes(urls: Sequence[str], in_flight: int, context: SSLContext) -> dict[str, Handshake]:
    addresses = {url: url for url in urls}
    seen = await news(addresses, {}, _MANNER, per_host=in_flight, total=in_flight, context=context)
    return {url: it.handshake for url, it in seen.items() if isinstance(it, Advertisement)}


async def _polled(urls: Sequence[str], in_flight: int, known: Mapping[str, Handshake], context: SSLContext) -> Cost:
    """Poll once; what is known must be found unchanged."""
    addresses = {url: url for url in urls}
    with costing() as cost:
        seen = await news(addresses, known, _MANNER, per_host=in_flight, total=in_flight, context=context)
    strange = [it for it in seen.values() if not isinstance(it, Same if known else Advertisement)]
    if strange:
        raise RuntimeError(f"{len(strange)} upstreams were not seen, such as {strange[0]}")
    return cost


WAYS: Mapping[str, Way] = {
    "git": git,
    "nvchecker": nvchecker,
    "dulwich": dulwich,
    "httpx": httpx,
    "cold": cold,
    "warm": warm,
    "remembered": remembered,
}


def _main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("way", choices=WAYS)
    asked.add_argument("urls", type=Path)
    asked.add_argument("--in-flight", type=int, default=1)
    given = asked.parse_args()
    tell(WAYS[given.way](given.urls.read_text().split(), given.in_flight))


if __name__ == "__main__":
    _main()
