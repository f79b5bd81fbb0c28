"""Answer what an upstream's address is, written one way, and why an address must not be used.

Addresses come from people's files and are handed to git, which gives some of them a meaning of their own: `ext::`
runs a program, a leading `-` is an option.
"""

import re

_SCHEMES = frozenset({"https", "http", "ssh", "git"})
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029]")
_HELPER = re.compile(r"([A-Za-z0-9][A-Za-z0-9+.-]*)::")
_AUTHORITY = re.compile(r"(?:[A-Za-z0-9_][A-Za-z0-9._-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+-]*")


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


def last_component(url: str) -> str:
    """Return what people call the repository: the last component of its path."""
    return re.split(r"[/:]", canonical(url).removesuffix(".git").rstrip("/"))[-1]


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
