"""Answer what an upstream's address is, written one way, and why an address must not be used.

Addresses come from people's files and are handed to git, which gives some of them a meaning of their own: `ext::`
runs a program, a leading `-` is an option.

An upstream's one spelling is `https://host/path`: host in lower case, path as written, no user, no token, no `.git`, no
query, no fragment, no port of an ssh or git URL. The port of an http(s) URL stays, since it is another server. So does
`http://` for a bare IP address, for `localhost` and beside such a port, where https would be nobody.
"""

import hashlib
import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

_SCHEMES = frozenset({"https", "http", "ssh", "git"})
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029]")
_HELPER = re.compile(r"([A-Za-z0-9][A-Za-z0-9+.-]*)::")
_AUTHORITY = re.compile(r"(?:[A-Za-z0-9_][A-Za-z0-9._-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+-]*")
SCHEME = re.compile(r"(?:git\+)?(https?|ssh|git|git\+ssh|ssh\+git)://", re.IGNORECASE)
_SCP = re.compile(
    r"(?:(?P<user>[\w.+-]+)@)?(?P<host>[A-Za-z0-9][\w.-]+|\[[0-9A-Fa-f:.]+\]):(?P<path>(?!/?/)[^\\]+|/[^/\\].*)"
)
_SPELLED_HOST = re.compile(r"[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\]")
_SPELLED_PATH = re.compile(r"[^\s\x00-\x1f\x7f\"'<>|`\\\ue000]+")
_WEB_PORTS = {"http": "80", "https": "443"}
_WRAPPED = IPv6Network("64:ff9b::/96")
"""IPv6 addresses that stand for IPv4 ones (RFC 6052)."""
_ALIASES = {"www.github.com": "github.com", "ssh.github.com": "github.com", "altssh.gitlab.com": "gitlab.com"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """What an address may lead to, beside servers on the internet."""

    files: bool = False
    """This machine's file system."""
    private: bool = True
    """Servers inside a private network."""


NAMED = Allowed()
"""What an address may lead to that a person named."""


def canonical(url: str) -> str:
    """Return the address with scheme and host in lower case, without a trailing `/` and `.git`.

    A file address keeps its `.git`: on a file system the two are different places.
    """
    scheme, separator, rest = url.partition("://")
    if not separator:
        place, colon, path = url.partition(":")
        user, at, host = place.rpartition("@")
        return f"{user}{at}{host.lower()}{colon}{_without_suffix(path)}" if colon else url
    if scheme.lower() == "file":
        return f"file://{rest.rstrip('/')}"
    authority, slash, path = rest.partition("/")
    user, at, host = authority.rpartition("@")
    return f"{scheme.lower()}://{user}{at}{host.lower()}{slash}{_without_suffix(path)}".rstrip("/")


def normalise(url: str) -> str | None:
    """Return the one spelling of a repository's address; None for what is no address: paths, helpers."""
    url = url.strip().strip("\"'")
    scheme = SCHEME.match(url)
    if scheme is None:
        return _scp(url)
    inner = max(url.rfind("/https://"), url.rfind("/http://"))
    if inner > scheme.end():  # a download proxy in front: https://proxy/https://github.com/a/b
        return normalise(url[inner + 1 :])
    authority, _, path = url[scheme.end() :].partition("/")
    return _spelled(scheme[1].lower(), authority.rpartition("@")[2], re.split(r"[?#]", path, maxsplit=1)[0])


def host(url: str) -> str:
    """Return the host (with its port) of an address in any form that git takes."""
    authority = url.partition("://")[2].partition("/")[0] or url.partition(":")[0]
    return authority.rpartition("@")[2].lower()


def host_name(url: str) -> str:
    """Return the host of an address in any form that git takes, without its port and brackets."""
    name = host(url)
    return name[1:].partition("]")[0] if name.startswith("[") else name.partition(":")[0]


def _scp(url: str) -> str | None:
    """Read `git@host:path`; a host without a user needs a dot, else it is a drive letter or a helper."""
    found = _SCP.fullmatch(url.removeprefix("git+"))
    if found is None or not (found["user"] or "." in found["host"]):
        return None
    return _spelled("ssh", found["host"], re.split(r"[?#]", found["path"], maxsplit=1)[0])


def _spelled(scheme: str, server: str, path: str) -> str | None:
    host, port = _host_and_port(server.lower())
    host = _ALIASES.get(host, host)
    path = path.strip("/").removesuffix(".git").rstrip("/")
    if not _SPELLED_HOST.fullmatch(host) or not _SPELLED_PATH.fullmatch(path) or ".." in path.split("/"):
        return None
    if host == "github.com" and path.count("/") != 1:
        return None
    is_web = scheme in _WEB_PORTS
    kept = f":{port}" if is_web and port.isdigit() and port != _WEB_PORTS[scheme] else ""
    is_plain = scheme == "http" and (bool(kept) or host == "localhost" or is_literal(host))
    return f"{'http' if is_plain else 'https'}://{host}{kept}/{path}"


def _host_and_port(server: str) -> tuple[str, str]:
    if server.startswith("["):
        host, _, port = server.partition("]")
        return host + "]", port.removeprefix(":")
    host, _, port = server.partition(":")
    return host, port


def is_literal(host: str) -> bool:
    """Answer whether a host is written as an internet address."""
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def is_public(place: str) -> bool:
    """Answer whether an internet address is one of the internet, and of no private network or single machine."""
    it: IPv4Address | IPv6Address = ip_address(place.partition("%")[0])
    if isinstance(it, IPv6Address):
        inner = it.ipv4_mapped or it.sixtofour or (IPv4Address(int(it) & 0xFFFFFFFF) if it in _WRAPPED else None)
        it = inner or it
    return it.is_global and not it.is_multicast


def one_spelling(url: str) -> str:
    """Return an upstream's one spelling; of what has none, such as a file, the canonical one."""
    return normalise(url) or canonical(url)


def last_component(url: str) -> str:
    """Return what people call the repository: the last component of its path."""
    return re.split(r"[/:]", canonical(url).removesuffix(".git").rstrip("/"))[-1]


def folder_name(upstream: str) -> str:
    """Return a folder's name for the mirror of an upstream: readable, safe on any file system, and its own."""
    readable = re.sub(r"[^A-Za-z0-9._-]+", "+", upstream.partition("://")[2] or upstream)[-80:].strip("+.-")
    return f"{readable}-{hashlib.sha256(upstream.encode()).hexdigest()[:10]}.git"


def refusal(url: str, *, files: bool = False) -> str | None:
    """Return the reason why an address must not be used, or None; `files` lets `file:///…` pass.

    The reason never repeats the address, which may hold a secret.
    """
    if url.startswith("-"):
        return "git would read it as an option"
    if helper := _HELPER.match(url):
        return f"{helper[1]}:: would hand it to a helper program"
    if _FORBIDDEN.search(url):
        return "it holds white space or control characters"
    scheme, separator, rest = url.partition("://")
    if not separator:
        return _refusal_of_short_form(url)
    match scheme.lower():
        case "file":
            return _refusal_of_file(rest, files=files)
        case known if known in _SCHEMES:
            return _refusal_of_parts(known, rest)
        case _:
            return "its scheme is none of https, http, ssh and git"


def _refusal_of_file(rest: str, *, files: bool) -> str | None:
    if not files:
        return "file: is not allowed here"
    return None if rest.startswith("/") and rest.strip("/") else "a file: address is file:// and an absolute path"


def _refusal_of_parts(scheme: str, rest: str) -> str | None:
    authority, _, path = rest.partition("/")
    user, at, host = authority.rpartition("@")
    if at and (scheme != "ssh" or not _USER.fullmatch(user)):
        return "credentials do not belong in an address"
    if not _AUTHORITY.fullmatch(host):
        return "it names no valid host"
    if "?" in path or "#" in path:
        return "a query or a fragment is no part of a repository's address"
    return None if path.strip("/") else "it names no repository"


def _refusal_of_short_form(url: str) -> str | None:
    """Judge `user@host:path`, and all that has no scheme."""
    place, colon, path = url.partition(":")
    if url.startswith(("/", ".", "~")):
        return "a path is not allowed here; an address on this machine is written file:///…"
    if not colon or "/" in place:
        return "it has no scheme such as https://"
    user, at, host = place.rpartition("@")
    if host.lower() in _SCHEMES | {"file"} or len(host) == 1:
        return "it is neither scheme://host/path nor user@host:path"
    if not _AUTHORITY.fullmatch(host) or (at and not _USER.fullmatch(user)):
        return "it names no valid host"
    if "@" in path:
        return "credentials do not belong in an address"
    if path.startswith("-"):
        return "git would read its path as an option"
    return None if path.strip("/") else "it names no repository"


def _without_suffix(path: str) -> str:
    return path.rstrip("/").removesuffix(".git").rstrip("/")
