"""Lock files of Nix: `flake.lock`, `sources.json` of npins and of niv."""

from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from watcher.pins import jsontext
from watcher.pins.checkout import Checkout
from watcher.pins.format import Broken
from watcher.pins.sites import Pick, Sighting
from watcher.pins.sources import archive, repository, requested
from watcher.pins.text import Place, Span, Text, joined
from watcher.pins.tree import Table

_HOSTS = {"github": "https://github.com/", "gitlab": "https://gitlab.com/", "sourcehut": "https://git.sr.ht/"}


def claims(path: str) -> bool:
    """Answer whether a file is one of these locks."""
    if not path.endswith(("flake.lock", "sources.json")):
        return False
    file = PurePosixPath(path)
    return file.name == "flake.lock" or (file.name == "sources.json" and file.parent.name in {"nix", "npins", ""})


def parse(path: str, text: str, _: Checkout) -> Iterable[Sighting | Broken]:
    """Find the locked commits."""
    root, problem = jsontext.read(text, path)
    if problem is not None:
        yield Broken(file=path, line=problem.line, reason=problem.reason)
    if not isinstance(root, Table):
        return
    if PurePosixPath(path).name == "flake.lock":
        for _name, node in root.table("nodes").entries:
            yield from _node(node) if isinstance(node, Table) else ()
    elif isinstance(root.get("pins"), Table):
        for _name, node in root.table("pins").entries:
            yield from _npin(node) if isinstance(node, Table) else ()
    else:
        for _name, node in root.entries:
            yield from _niv(node) if isinstance(node, Table) else ()


def _node(node: Table) -> Iterator[Sighting]:
    locked, original = node.table("locked"), node.table("original")
    rev, kind = locked.text("rev"), locked.text("type")
    if kind is None:
        return
    if rev is None:
        url = locked.text("url")
        found = archive(url, url.place()) if url is not None else None
        if found is not None:
            yield found.sighting()
        return
    url = locked.text("url")
    is_tarball = kind.chars in {"tarball", "file"}
    if is_tarball and (url is None or archive(url, url.place()) is None):
        return  # a registry of flakes hands those out; the files do not say from which repository
    address = url if is_tarball or kind.chars == "git" else _owned(locked, kind.chars)
    wanted = original.text("ref") or original.text("rev")
    yield from _sighting(address, rev, wanted.chars if wanted is not None else None)


def _owned(table: Table, kind: str) -> Text | None:
    owner, name, host = table.text("owner"), table.text("repo"), table.text("host")
    prefix = f"https://{host.chars}/" if host is not None else _HOSTS.get(kind)
    if owner is None or name is None or prefix is None:
        return None
    return joined((_plain(prefix, owner.place()), owner, _plain("/", owner.place()), name))


def _plain(chars: str, place: Place) -> Text:
    return Text((Span(chars, place),))


def _sighting(address: Text | None, rev: Text, wanted: str | None, branch: str | None = None) -> Iterator[Sighting]:
    pick = _pick(address, rev)
    if pick is not None:
        yield requested(pick.sighting(branch), wanted)


def _pick(address: Text | None, rev: Text) -> Pick | None:
    if address is None:
        return None
    known = archive(address, rev.place())
    if known is not None:
        return Pick(upstream=known.upstream, url=address, ref=rev, command=rev.place())
    bare = address.chars.partition("?")[0]
    return repository(address[: len(bare)], rev, rev.place())


def _npin(node: Table) -> Iterator[Sighting]:
    rev = node.text("revision")
    if rev is None:
        return
    place, url = node.table("repository"), node.text("url")
    kind = place.text("type")
    address = place.text("url") or (_owned(place, kind.chars.lower()) if kind is not None else None)
    if kind is not None and kind.chars in {"GitLab", "Forgejo"} and (server := place.text("server")) is not None:
        address = _path_of(place, server)
    branch, version = node.text("branch"), node.text("version")
    yield from _sighting(address, rev, version.chars if version else None, branch.chars if branch else None)
    found = archive(url, url.place()) if url is not None else None
    if found is not None and found.ref is not None and found.ref.chars == rev.chars:
        yield found.sighting()


def _path_of(place: Table, server: Text) -> Text | None:
    path = place.text("repo_path")
    owner, name = place.text("owner"), place.text("repo")
    start = _plain(server.chars.rstrip("/") + "/", server.place())
    if path is not None:
        return joined((start, path))
    return joined((start, owner, _plain("/", owner.place()), name)) if owner is not None and name is not None else None


def _niv(node: Table) -> Iterator[Sighting]:
    rev = node.text("rev")
    url = node.text("url")
    if rev is None:
        found = archive(url, url.place()) if url is not None and node.text("sha256") is not None else None
        if found is not None:
            yield found.sighting()
        return
    repo = node.text("repo")
    is_address = repo is not None and "://" in repo.chars
    address = repo if is_address else _owned(node, "github") or url
    branch = node.text("branch") or node.text("ref")
    yield from _sighting(address, rev, None, branch.chars if branch else None)
    found = archive(url, url.place()) if url is not None else None
    if found is not None and found.ref is not None and found.ref.chars == rev.chars:
        yield found.sighting()
