"""Read the address of one request as RFC 3986 says, as far as http(s) goes."""

import re
from dataclasses import dataclass
from typing import Self
from urllib.parse import quote, urljoin, urlsplit

_HOST = re.compile(r"[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_.-])?|\[[0-9a-f:.]+\]")
_USER = re.compile(r"[A-Za-z0-9._~!$&'()*+,;=:%-]*")
_AS_IS = "/?:@!$&'()*+,;=%-._~"
"""What a path and a query may hold (RFC 3986, 3.3 and 3.4), and percent signs of what is quoted already."""
_PORTS = {"http": 80, "https": 443}


class InvalidUrl(ValueError):  # noqa: N818 - it becomes a Trouble
    """Nothing can be asked at such an address."""


@dataclass(frozen=True, slots=True)
class Url:
    """An address without credentials and without fragment."""

    scheme: str
    """`http` or `https`."""
    host: str
    """In lower case and ASCII, an IPv6 address in brackets."""
    port: int
    path: str
    query: str = ""

    @classmethod
    def read(cls, text: str) -> Self:
        """Return what a text says; raise InvalidUrl. Credentials in it are dropped."""
        try:
            parts = urlsplit(text)
            scheme, path = parts.scheme, quote(_without_dots(parts.path), safe=_AS_IS)
            if scheme not in _PORTS:
                raise InvalidUrl("it is neither http nor https")
            host = _host(parts.netloc)
            port = _PORTS[scheme] if parts.port is None else parts.port
            return cls(scheme, host, port, path or "/", quote(parts.query, safe=_AS_IS))
        except UnicodeError as error:
            raise InvalidUrl("the host has no valid name") from error
        except ValueError as error:
            raise InvalidUrl(str(error)) from error

    def joined(self, location: str) -> Self:
        """Return where a `Location` leads from here (RFC 3986, 5); raise InvalidUrl."""
        try:
            return self.read(urljoin(str(self), location))
        except ValueError as error:
            raise InvalidUrl(str(error)) from error

    @property
    def origin(self) -> tuple[str, str, int]:
        """Return scheme, host and port."""
        return self.scheme, self.host, self.port

    @property
    def authority(self) -> str:
        """Return the host, with its port where that is not the usual one."""
        return self.host if self.port == _PORTS[self.scheme] else f"{self.host}:{self.port}"

    @property
    def target(self) -> str:
        """Return what a request line names."""
        return f"{self.path}?{self.query}" if self.query else self.path

    def __str__(self) -> str:
        """Return it written out."""
        return f"{self.scheme}://{self.authority}{self.target}"


def _without_dots(path: str) -> str:
    """Return a path without `.` and `..` (RFC 3986, 5.2.4), which also addresses that are whole may have."""
    if "/." not in path:
        return path
    kept: list[str] = []
    _, *segments = path.split("/")
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    is_folder = bool(kept) and segments[-1] in {".", ".."}
    return f"/{'/'.join(kept)}{'/' if is_folder else ''}"


def _host(authority: str) -> str:
    """Return the host of `user@host:port` in ASCII; raise UnicodeError, or InvalidUrl."""
    user, _, place = authority.rpartition("@")
    host = place if place.endswith("]") else re.sub(r":[0-9]*\Z", "", place)
    host = host.lower() if host.isascii() else host.encode("idna").decode("ascii")
    if not _HOST.fullmatch(host) or not _USER.fullmatch(user):
        raise InvalidUrl("it names no valid host")
    return host
