"""Where may an address lead, and where does it lead?

Manifests are written by strangers, and so are redirects: neither may make us ask a server inside the network that we
run in, unless the configuration names its host. Of all others the internet address is looked up, judged, and given to
git, which then asks no name server that could answer otherwise.
"""

import os
import socket
from urllib.parse import urlsplit

from watcher.address import Allowed, is_literal, is_public
from watcher.errors import GitError

_PROXIES = frozenset({"http_proxy", "https_proxy", "all_proxy"})
_PORTS = {"http": 80, "https": 443}


def is_proxied() -> bool:
    """Answer whether the environment names a proxy, which then looks up names, and goes where we do not see."""
    return any(value and name.lower() in _PROXIES for name, value in os.environ.items())


def private(host: str, place: str) -> str:
    """Return why a host at a private internet address is not asked."""
    at = "" if host == place else f" at {place}"
    return (
        f"{host} is{at} inside a private network, where neither a manifest nor a redirect may lead: if it may be "
        "asked, list the upstream under `upstreams`, or where it redirects to under `rewrites`"
    )


def pinned(url: str, allowed: Allowed) -> tuple[tuple[str, str], ...]:
    """Return git's settings with which it goes to the server that was judged, and to no other.

    Raises GitError where that is inside a private network and may not be asked, or cannot be found.
    """
    parts = urlsplit(url)
    if allowed.private or parts.scheme == "file":
        return ()
    host = parts.hostname or ""
    if parts.scheme not in _PORTS:
        raise GitError(f"{host or url[:60]} is asked over http(s) alone: the configuration does not name it")
    port = parts.port or _PORTS[parts.scheme]
    if is_proxied() and not is_literal(host):
        return ()  # what a name stands for is the proxy's business
    places = _places(host, port)
    if inside := next((place for place in places if not is_public(place)), None):
        raise GitError(private(host, inside))
    return (("http.curloptResolve", f"{host}:{port}:{','.join(places)}"),)


def _places(host: str, port: int) -> list[str]:
    """Return the internet addresses of a host; raise GitError where there are none."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise GitError(f"could not resolve host {host}: {error}", retryable=True) from error
    return list(dict.fromkeys(str(place[0]) for *_, place in found))
