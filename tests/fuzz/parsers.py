"""Every parser of what others write: bytes in; something comes out, or the error that it is known to raise."""

import hashlib
import json
import re
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx

from tests.fuzz import frames, seeds, words
from watcher import address, questions
from watcher.channels.click import click_of
from watcher.commitgraph import CommitGraphError, Mapped, layer
from watcher.conclusion import conclusion_of
from watcher.config import load
from watcher.errors import ConfigError, ForgeError, StoreError, UsageError
from watcher.forges import FORGES
from watcher.forges.client import Budget, Client
from watcher.model import Oid
from watcher.pins import Checkout, discover
from watcher.pins.address import normalise
from watcher.pins.checkout import decoded
from watcher.store import Kept
from watcher.store.rows import finding
from watcher.upstream import patch, porcelain, protocol
from watcher.upstream.url import InvalidUrl, Url

_NOW = datetime(2026, 3, 2, tzinfo=UTC)
_OID = Oid("f05a8754" * 5)
_LINE = re.compile(r".*config\.yaml:[1-9][0-9]*: .")
_HEADER = re.compile(rb"(Link|Location|Retry-After|Date|X-RateLimit-(?:Remaining|Reset)): ([^\r\n]*)\n")
_STATUS = re.compile(rb"!([1-5][0-9][0-9]) ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parser:
    """One parser, and what it is to be tried with."""

    name: str
    read: Callable[[bytes], object]
    errors: tuple[type[Exception], ...]
    """What it may raise."""
    seeds: Callable[[], list[bytes]]
    words: tuple[bytes, ...]
    """What it knows, to be put into inputs."""
    weight: int = 1
    """How much of the time it is worth."""


# --- git's protocol --------------------------------------------------------------------------------------------------


def _packets(data: bytes) -> object:
    """Read packets, which written out again are what they were read from."""
    found = list(protocol.packets(data))
    again = b"".join(
        b"%04x" % it.value if isinstance(it, protocol.Mark) else b"%04x%b" % (len(it) + 4, it) for it in found
    )
    if again.lower() != data.lower():
        raise AssertionError(f"read as {again!r}")
    return found


def _ls_refs(data: bytes) -> object:
    """Read an answer to `ls-refs` of either kind of repository, and what a server says of itself."""
    server = protocol.Seen(refs={}, object_format="sha256" if data[-5:-4] == b"!" else "sha1")
    seen = protocol.read_ls_refs(data, server)
    return protocol.advertisement(seen, ["refs/heads/", "refs/tags/v1"], None)


def _old(data: bytes) -> object:
    return protocol.advertisement(protocol.read_old(data), ["refs/"], None)


def _ls_remote(data: bytes) -> object:
    return protocol.advertisement(protocol.read_ls_remote(data), ["refs/heads/"], None)


# --- git's output ----------------------------------------------------------------------------------------------------


def _rows(data: bytes) -> object:
    rows = porcelain.commit_rows(data)
    return list(porcelain.commits(rows)), dict(porcelain.root_trees(rows))


def _graph(data: bytes) -> object:
    """Read a commit-graph as it is, and with a checksum that holds."""
    _mapped(data)
    return _mapped(data[:-20] + hashlib.sha1(data[:-20], usedforsecurity=False).digest())


def _mapped(data: bytes) -> object:
    try:
        it = layer(memoryview(data))
        held = Mapped([it], [Oid(it.ids[at].hex()) for at in range(min(3, len(it.ids)))])
        return [held.oid(number) for number in held.numbers()], held.order, held.roots
    except CommitGraphError:
        return None


# --- our own files ---------------------------------------------------------------------------------------------------


def _manifest(data: bytes) -> object:
    """Read a manifest through the public way in; the first line is its path."""
    name, _, content = data.partition(b"\n")
    path = name.decode("utf-8", "replace").strip("/") or "Dockerfile"
    found = discover(Checkout(texts={path: decoded(content)}, origin="https://github.com/acme/images"))
    lines = decoded(content).count("\n") + 1
    for pin in found.pins:
        if pin.file == path and not 1 <= pin.line <= lines:
            raise AssertionError(f"{pin} is on no line of {lines}")
    return found


def _config(data: bytes) -> object:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "config.yaml"
        path.write_bytes(data)
        try:
            return load(path)
        except ConfigError as error:
            if not _LINE.match(str(error)):
                raise AssertionError(f"no line is named: {error}") from error
            return None


def _address(data: bytes) -> object:
    """Read an address as manifests do; written out and read again it is the same."""
    text = decoded(data)
    normal = normalise(text)
    if normal is not None:
        address.folder_name(normal)
        # Of what is called `a.git.git`, or holds another address, only its server knows what it means.
        is_odd = normal.endswith(".git") or normal.count("://") > 1
        if not is_odd and normalise(normal) != normal:
            raise AssertionError(f"{normal!r} becomes {normalise(normal)!r}")
    return normal, address.refusal(text)


def _url(data: bytes) -> object:
    url = Url.read(data.decode("utf-8", "surrogateescape"))
    if Url.read(str(url)) != url:
        raise AssertionError(f"{url} is read as {Url.read(str(url))}")
    return url.joined(data[::-1].decode("utf-8", "surrogateescape"))


# --- JSON ------------------------------------------------------------------------------------------------------------


class _Said:
    """A forge that answers everything with the next of some answers, and a memory of what it answered before."""

    def __init__(self, data: bytes, *, is_kept: bool) -> None:
        self._answers, self._count, self._is_kept = data.split(b"\n\n"), 0, is_kept

    def answer(self, request: httpx.Request) -> httpx.Response:
        """Answer one request."""
        if self._is_kept:
            return httpx.Response(304, request=request)
        said, self._count = self._answers[self._count % len(self._answers)], self._count + 1
        headers = [(b"ETag", b'"1"')]
        while header := _HEADER.match(said):
            headers.append((header[1], header[2]))
            said = said[header.end() :]
        status = _STATUS.match(said)
        return httpx.Response(
            int(status[1]) if status else 200, headers=headers, content=said[5 if status else 0 :], request=request
        )

    def reply(self, _: str) -> Kept | None:
        """Return what was kept."""
        if not self._is_kept:
            return None
        said, self._count = self._answers[self._count % len(self._answers)], self._count + 1
        text = said.decode("utf-8", "replace")
        link, _, body = text.partition("\n")
        return Kept(etag='"1"', body=body or text, next=link if body and link.isascii() else "")

    def keep_reply(self, *_: object) -> None:
        """Keep nothing."""


def _asked(sort: Any, data: bytes, *, is_kept: bool = False) -> object:
    """Ask a forge everything that only reads; each question may be refused."""
    said = _Said(data, is_kept=is_kept)
    with httpx.Client(transport=httpx.MockTransport(said.answer)) as http:
        client = Client(
            http,
            host="git.example.org",
            api="https://git.example.org/api",
            budget=Budget(left=60),
            now=_NOW,
            page_size=sort.PAGE_SIZE,
            headers=sort.HEADERS,
            memory=said,
        )
        forge = sort(client=client, path="acme/engine")
        found: list[object] = []
        for ask in (
            forge.repository,
            lambda: forge.pull_of(_OID),
            lambda: forge.linked_issues(forge.pull(3)),
            lambda: forge.issue(4),
            lambda: forge.ref_events("refs/heads/main"),
            lambda: forge.find_issues("marker"),
            lambda: forge.find_pulls("watcher/"),
            lambda: forge.branch("main"),
            lambda: forge.is_protected("main"),
        ):
            try:
                found.append(ask())
            except ForgeError:
                found.append(None)
        return found


def _click(data: bytes) -> object:
    said = _json(data)
    return click_of(said) if isinstance(said, dict) else None


def _json(data: bytes) -> object:
    """Return what others decoded before it is ours to read."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


class _Nothing:
    """A history without commits."""

    def commit(self, name: str) -> Oid:
        """Return an id, or say that there is none of that name."""
        if name.startswith("v"):
            return _OID
        raise UsageError(f"no commit {name[:20]}")

    def answer(self, pin: Oid, fixes: list[Oid]) -> object:
        """Refuse to answer."""
        raise UsageError(f"nothing is known of {pin} and {fixes}")


def _questions(data: bytes) -> object:
    history: Any = _Nothing()
    return list(questions.answers(history, data.decode("utf-8", "replace").splitlines(keepends=True)))


def _decoded(read: Callable[[str], object]) -> Callable[[bytes], object]:
    """Return a reader of the text that a database may hold."""
    return lambda data: read(data.decode("utf-8", "replace").replace("\0", ""))


_GIT = (ValueError, IndexError, RuntimeError)
"""Of what git never prints: whoever gets that far has replaced the git program."""
_EVERY = (
    Parser(
        name="packets",
        read=_packets,
        errors=(protocol.Malformed,),
        seeds=lambda: seeds.printed("ls-refs", "old", "capabilities"),
        words=words.PACKETS,
    ),
    Parser(
        name="ls-refs",
        read=_ls_refs,
        errors=(protocol.Malformed,),
        seeds=lambda: seeds.printed("ls-refs", "capabilities"),
        words=words.PACKETS,
    ),
    Parser(
        name="capabilities",
        read=protocol.capabilities,
        errors=(protocol.Malformed,),
        seeds=lambda: seeds.printed("capabilities", "old"),
        words=words.PACKETS,
    ),
    Parser(
        name="advertisement",
        read=_old,
        errors=(protocol.Malformed,),
        seeds=lambda: seeds.printed("old"),
        words=words.PACKETS,
    ),
    Parser(
        name="ls-remote",
        read=_ls_remote,
        errors=(protocol.Malformed,),
        seeds=lambda: seeds.printed("ls-remote"),
        words=words.PACKETS,
    ),
    Parser(name="rows", read=_rows, errors=_GIT, seeds=lambda: seeds.printed("rows"), words=words.GIT),
    *(
        Parser(
            name=name,
            read=lambda data, read=read: list(read(data)),  # type: ignore[misc]
            errors=_GIT,
            seeds=lambda name=name: seeds.printed(name),  # type: ignore[misc]
            words=words.GIT,
        )
        for name, read in (
            ("raw", porcelain.changes),
            ("renames", porcelain.renames),
            ("history", porcelain.history),
            ("tree", porcelain.tree),
            ("blame", porcelain.blamed),
            ("patch", patch.file_diffs),
        )
    ),
    Parser(
        name="patches",
        read=lambda data: (list(patch.by_commit(data)), list(patch.by_content(data))),
        errors=_GIT,
        seeds=lambda: seeds.printed("patch", "raw"),
        words=words.GIT,
    ),
    *(
        Parser(
            name=f"framed-{read.__name__}",
            read=read,
            errors=(),
            seeds=lambda name=name: seeds.printed(name),  # type: ignore[misc]
            words=words.GIT,
        )
        for name, read in (
            ("rows", frames.row),
            ("objects", frames.objects),
            ("raw", frames.raw),
            ("renames", frames.renames),
            ("history", frames.history),
            ("tree", frames.tree),
            ("blame", frames.blame),
            ("patch", frames.patches),
        )
    ),
    Parser(name="commit-graph", read=_graph, errors=(), seeds=lambda: seeds.printed("graph"), words=words.GRAPH),
    Parser(name="manifest", read=_manifest, errors=(), seeds=seeds.manifests, words=words.MANIFESTS, weight=10),
    Parser(name="config", read=_config, errors=(), seeds=seeds.config, words=words.CONFIG, weight=3),
    Parser(name="url", read=_url, errors=(InvalidUrl,), seeds=seeds.addresses, words=words.ADDRESSES),
    Parser(name="address", read=_address, errors=(), seeds=seeds.addresses, words=words.ADDRESSES),
    *(
        Parser(
            name=kind.value,
            read=lambda data, sort=sort: _asked(sort, data),  # type: ignore[misc]
            errors=(),
            seeds=seeds.forge,
            words=words.JSON,
            weight=2,
        )
        for kind, sort in FORGES.items()
    ),
    Parser(
        name="kept-reply",
        read=lambda data: [_asked(sort, data, is_kept=True) for sort in FORGES.values()],
        errors=(),
        seeds=seeds.forge,
        words=words.JSON,
    ),
    Parser(name="click", read=_click, errors=(ValueError,), seeds=seeds.click, words=words.JSON),
    Parser(name="finding", read=_decoded(finding), errors=(StoreError,), seeds=seeds.finding, words=words.JSON),
    Parser(
        name="conclusion", read=_decoded(conclusion_of), errors=(ValueError,), seeds=seeds.finding, words=words.JSON
    ),
    Parser(name="questions", read=_questions, errors=(UsageError,), seeds=seeds.questions, words=words.JSON),
)
PARSERS: Mapping[str, Parser] = {it.name: it for it in _EVERY}
CORPUS = Path(__file__).parent / "corpus"
"""The inputs that are kept, by parser."""
KNOWN: Mapping[str, tuple[str, str]] = {}
"""Input of the corpus → the failure that waits for its repair, and what it means."""
