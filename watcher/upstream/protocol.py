"""Read what servers say about their refs: git's packets, protocol version 2, the older protocol, `git ls-remote`.

Pure, and strict: every reply is foreign, and no input raises anything but `Malformed`.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from watcher.model import Advertisement, Oid, Ref, oid

_SHORTEST, _LONGEST = 4, 65520
"""Bytes of a packet that carries data, its own length included."""
_SERVICE = b"# service=git-upload-pack\n"
_NAME = re.compile(r"(?!.*(?:\.\.|//|@\{|\.lock(?:/|$)|/\.|/$|\.$))refs/[^\x00-\x20\x7f~^:?*\[]+", re.DOTALL)
_LENGTH = re.compile(rb"[0-9a-fA-F]{4}")
_DIGITS = {"sha1": 40, "sha256": 64}
_READING = 1
"""Changes when the same bytes are to be read in another way."""
_WANTS_BY_ID = {"allow-any-sha1-in-want", "allow-reachable-sha1-in-want"}


class Mark(Enum):
    """The packets that carry no data."""

    FLUSH = 0
    DELIMITER = 1
    RESPONSE_END = 2


class Malformed(Exception):  # noqa: N818 - the shell turns it into `Unobserved`; nobody else meets it
    """A reply that is not what git's protocol allows, or that tells an error (`is_told`)."""

    def __init__(self, reason: str, *, is_told: bool = False) -> None:
        super().__init__(reason)
        self.is_told = is_told


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What one advertisement says, whichever protocol it came in."""

    refs: Mapping[str, Ref]
    head: str | None = None
    object_format: str = "sha1"
    filters: bool = False


def packets(body: bytes) -> Iterator[bytes | Mark]:
    """Yield the packets of a reply; raise Malformed where it is cut or is something else."""
    at = 0
    while at < len(body):
        head = body[at : at + 4]
        if not _LENGTH.fullmatch(head):
            raise Malformed(f"expected the length of a packet, found {head!r}")
        size = int(head, 16)
        if size < _SHORTEST - 1:
            yield Mark(size)
            at += _SHORTEST
            continue
        if not _SHORTEST <= size <= _LONGEST or at + size > len(body):
            raise Malformed("a packet is cut or has an impossible length")
        line = body[at + _SHORTEST : at + size]
        if line.startswith(b"ERR "):
            raise Malformed(ascii(_text(line[4:204]))[1:-1], is_told=True)
        yield line
        at += size


def packet(line: str) -> bytes:
    """Return one line as a packet."""
    data = f"{line}\n".encode()
    return b"%04x%b" % (len(data) + _SHORTEST, data)


def ls_refs(prefixes: Iterable[str], *, object_format: str, agent: str) -> bytes:
    """Return the request for HEAD and for all refs that begin with a prefix."""
    # A server from before object formats knows only SHA-1 and may refuse to hear the word.
    formats = [] if object_format == "sha1" else [f"object-format={object_format}"]
    command = ["command=ls-refs", f"agent={agent}", *formats]
    wanted = ["peel", "symrefs", "ref-prefix HEAD", *(f"ref-prefix {prefix}" for prefix in prefixes)]
    return b"".join([*map(packet, command), b"0001", *map(packet, wanted), b"0000"])


def capabilities(body: bytes) -> Seen | None:
    """Return what a server of version 2 says of itself, without refs yet; None where it speaks an older protocol."""
    found = list(packets(body))
    if found[:1] == [_SERVICE]:
        found = found[2:] if found[1:2] == [Mark.FLUSH] else found[1:]
    if not found or found[0] not in {b"version 2\n", b"version 2"}:
        return None
    if found[-1] is not Mark.FLUSH:
        raise Malformed("the list of capabilities is cut")
    words = [_text(line) for line in _lines(found[1:-1])]
    if not any(word == "ls-refs" or word.startswith("ls-refs=") for word in words):
        raise Malformed("protocol version 2 without ls-refs")
    filters = "filter" in _value(words, "fetch=", "").split()
    return Seen(refs={}, object_format=_object_format(words), filters=filters)


def read_ls_refs(body: bytes, server: Seen) -> Seen:
    """Read the answer of a server of version 2 to `ls-refs`."""
    found = list(packets(body))
    if not found or found[-1] is not Mark.FLUSH:
        raise Malformed("the list of refs is cut")
    refs: dict[str, Ref] = {}
    head = None
    for line in _lines(found[:-1]):
        first, name, *attributes = (*_text(line).split(" "), "")
        told = dict(attribute.partition(":")[::2] for attribute in attributes[:-1])
        if name == "HEAD":
            head = told.get("symref-target")
        elif first != "unborn":
            peeled = told.get("peeled")
            tip = _oid(first, server.object_format)
            _add(refs, name, tip, None if peeled is None else _oid(peeled, server.object_format))
    return Seen(refs=refs, head=head, object_format=server.object_format, filters=server.filters)


def read_old(body: bytes) -> Seen:
    """Read an advertisement of protocol version 0 or 1, as `info/refs` gives it."""
    first, *found = list(packets(body)) or [Mark.FLUSH]
    if first != _SERVICE or found[:1] != [Mark.FLUSH] or found[1:][-1:] != [Mark.FLUSH]:
        raise Malformed("the list of refs is cut, or is none")
    lines = _lines(found[1:-1])
    if lines[:1] == [b"version 1\n"]:
        lines = lines[1:]
    words = _text(lines[0].partition(b"\0")[2]).split() if lines else []
    object_format = _object_format(words)
    refs: dict[str, Ref] = {}
    for line in lines:
        tip, _, name = _text(line.partition(b"\0")[0]).partition(" ")
        if tip != "shallow" and name not in {"HEAD", "capabilities^{}"}:
            _add_line(refs, tip, name, object_format)
    head = _value(words, "symref=HEAD:", "")
    # What a filter leaves out is asked for by id later: of no use where the server hands out only what it advertised.
    filters = "filter" in words and bool(_WANTS_BY_ID & set(words))
    return Seen(refs=refs, head=head or None, object_format=object_format, filters=filters)


def read_ls_remote(printed: bytes) -> Seen:
    """Read what `git ls-remote --symref` prints.

    Whether the server can filter is not told there: a whole mirror is right in either case.
    """
    refs: dict[str, Ref] = {}
    head, object_format = None, "sha1"
    for line in printed.split(b"\n")[:-1]:
        first, _, name = _text(line).partition("\t")
        if first.startswith("ref: "):
            head = first.removeprefix("ref: ") if name == "HEAD" else head
        else:
            object_format = "sha256" if len(first) == _DIGITS["sha256"] else "sha1"
            if name.startswith("refs/"):
                _add_line(refs, first, name, object_format)
    return Seen(refs=refs, head=head, object_format=object_format)


def reply(body: bytes, prefixes: Iterable[str], server: Seen | None) -> str:
    """Return what is equal only for the same bytes from the same server (None: of the older protocol), asked the same.

    It is had without reading what the bytes say.
    """
    told = None if server is None else (server.object_format, server.filters)
    return hashlib.sha256(f"{_READING} {told} {tuple(prefixes)}\n".encode() + body).hexdigest()


def advertisement(seen: Seen, prefixes: Iterable[str], moved_to: str | None, said: str = "") -> Advertisement:
    """Return the value: those refs that were asked for, sorted, with their digest; `said` is their `reply`.

    A prefix that ends in `/` stands for all below it, any other for the one ref of that name: servers take
    `refs/heads/main` for the beginning of `refs/heads/main2` as well.
    """
    asked = tuple(prefixes)
    below, names = tuple(prefix for prefix in asked if prefix.endswith("/")), frozenset(asked)
    refs = [ref for name, ref in sorted(seen.refs.items()) if name.startswith(below) or name in names]
    head = seen.head if seen.head and _NAME.fullmatch(seen.head) else None
    lines = [f"{ref.oid} {ref.peeled or ''} {ref.name}\n" for ref in refs]
    return Advertisement(
        refs=tuple(refs),
        head=head,
        digest=hashlib.sha256("".join([*lines, f"HEAD {head}\n"]).encode()).hexdigest(),
        object_format=seen.object_format,
        filters=seen.filters,
        moved_to=moved_to,
        reply=said,
    )


def _lines(found: Iterable[bytes | Mark]) -> list[bytes]:
    """Return the packets that carry data; there must be no other."""
    lines = []
    for line in found:
        if isinstance(line, Mark):
            raise Malformed("the list ends too early")
        lines.append(line)
    return lines


def _add_line(refs: dict[str, Ref], tip: str, name: str, object_format: str) -> None:
    """Add one line of an old advertisement: a ref, or what the tag before it finally names."""
    plain = name.removesuffix("^{}")
    if plain == name:
        _add(refs, name, _oid(tip, object_format), None)
    elif plain in refs:
        refs[plain] = Ref(name=plain, oid=refs[plain].oid, peeled=_oid(tip, object_format))
    else:
        raise Malformed("a peeled tag without its tag")


def _add(refs: dict[str, Ref], name: str, tip: Oid, peeled: Oid | None) -> None:
    """Add one ref under a name that git allows, once."""
    if not _NAME.fullmatch(name):
        raise Malformed(f"{name[:80]!a} is no name of a ref")
    if name in refs:
        raise Malformed(f"{name[:80]!a} is listed twice")
    refs[name] = Ref(name=name, oid=tip, peeled=peeled)


def _oid(text: str, object_format: str) -> Oid:
    """Return an object id of the repository's own format."""
    try:
        if len(text) == _DIGITS[object_format]:
            return oid(text)
    except ValueError:
        pass
    raise Malformed(f"{text[:80]!a} is no object id")


def _object_format(words: Iterable[str]) -> str:
    """Return the object format among the capabilities."""
    found = _value(words, "object-format=", "sha1")
    if found not in _DIGITS:
        raise Malformed(f"an unknown object format, {found[:80]!a}")
    return found


def _value(words: Iterable[str], prefix: str, default: str) -> str:
    """Return the rest of the capability that begins so."""
    return next((word.removeprefix(prefix) for word in words if word.startswith(prefix)), default)


def _text(line: bytes) -> str:
    """Return a line as text; names that are not UTF-8 become printable and stay distinct."""
    return line.removesuffix(b"\n").decode(errors="backslashreplace")
