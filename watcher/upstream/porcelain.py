"""Read git's output made for machines: commits, changed paths, trees, blamed lines, batches of objects. Pure."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice

from watcher.model import BlamedLine, ChangedPath, Commit, Oid, oid

COMMIT_FORMAT = "%H%x00%T%x00%P%x00%an%x00%ae%x00%at%x00%ct%x00%s%x00%b"
"""What `git log -z` prints for `commits`; no field can hold a NUL."""
_FIELDS = COMMIT_FORMAT.count("%x00") + 1
_LAST_SECOND = int(datetime(9999, 12, 31, tzinfo=UTC).timestamp())
_BLAMED = re.compile(rb"([0-9a-f]{40,64}) ([0-9]+) ([0-9]+)(?: [0-9]+)?")
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_LETTERS = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}
_GITLINK, _SYMLINK, _FOLDER = "160000", "120000", "040000"


def text(raw: bytes) -> str:
    """Return a path as text; what is not UTF-8 becomes printable and stays distinct."""
    return raw.decode(errors="backslashreplace")


def unquoted(name: bytes) -> bytes:
    """Return a path that git may have put into quotes."""
    if not (name.startswith(b'"') and name.endswith(b'"') and len(name) > 1):
        return name
    return _ESCAPE.sub(_unescaped, name[1:-1])


def commits(printed: bytes) -> Iterator[Commit]:
    """Yield the commits of `git log -z --format=COMMIT_FORMAT`."""
    fields = printed.split(b"\0")[:-1]
    for at in range(0, len(fields), _FIELDS):
        found, _, parents, author, email, authored, committed, subject, body = (
            field.decode(errors="replace") for field in fields[at : at + _FIELDS]
        )
        yield Commit(
            oid=oid(found),
            parents=tuple(map(oid, parents.split())),
            author=author,
            email=email,
            authored_at=_moment(authored),
            committed_at=_moment(committed),
            subject=subject,
            body=body,
        )


def root_trees(printed: bytes) -> Iterator[tuple[Oid, Oid]]:
    """Yield commit → its tree, from what `commits` reads as well."""
    fields = printed.split(b"\0")[:-1]
    yield from zip(map(_oid, fields[::_FIELDS]), map(_oid, fields[1::_FIELDS]), strict=True)


def changes(printed: bytes) -> Iterator[tuple[Oid, tuple[ChangedPath, ...]]]:
    """Yield commit → its changed paths, from `git diff-tree --stdin --always --raw -z`, in the order of the input."""
    for commit, entries in _by_commit(printed):
        yield commit, tuple(_changed(facts, names[0]) for facts, names in entries)


def renames(printed: bytes) -> Iterator[tuple[Oid, tuple[tuple[str, ChangedPath], ...]]]:
    """Yield commit → (new path, former path with both contents), from `changes`' command with `-M --diff-filter=R`."""
    for commit, entries in _by_commit(printed, names=2):
        yield commit, tuple((text(names[1]), _changed(facts, names[0])) for facts, names in entries)


def history(printed: bytes) -> Iterator[tuple[tuple[Oid, ...], ChangedPath]]:
    r"""Yield (commit, its parents…) → a changed path, from `git log -z --raw -m --format=%x01%H %P`."""
    tokens = iter(printed.split(b"\0"))
    ids: tuple[Oid, ...] = ()
    for token in tokens:
        match token.strip(b"\n")[:1]:
            case b"\x01":
                ids = tuple(map(oid, token.strip(b"\n\x01").decode().split()))
            case b":":
                yield ids, _changed(token.strip(b"\n").decode(), next(tokens))


def tree(printed: bytes) -> tuple[dict[str, Oid], dict[str, Oid]]:
    """Return the regular files and the submodules of `git ls-tree -z`; a link and a folder are neither."""
    files: dict[str, Oid] = {}
    gitlinks: dict[str, Oid] = {}
    for entry in printed.split(b"\0")[:-1]:
        facts, _, path = entry.partition(b"\t")
        mode, _, target = facts.decode().split(" ")
        if mode == _GITLINK:
            gitlinks[text(path)] = oid(target)
        elif mode not in {_SYMLINK, _FOLDER}:
            files[text(path)] = oid(target)
    return files, gitlinks


def blamed(printed: bytes) -> Iterator[BlamedLine]:
    """Yield the lines of `git blame --line-porcelain`."""
    first, path, date, is_boundary = None, b"", 0, False
    for line in printed.split(b"\n"):
        if first is None:
            first = _BLAMED.fullmatch(line)
        elif line.startswith(b"\t"):
            yield BlamedLine(
                line=int(first[3]),
                text=line[1:].decode(errors="replace"),
                origin=oid(first[1].decode()),
                origin_path=text(unquoted(path)),
                origin_line=int(first[2]),
                origin_date=date,
                is_boundary=is_boundary,
            )
            first, is_boundary = None, False
        elif line == b"boundary":
            is_boundary = True
        elif line.startswith(b"filename "):
            path = line.removeprefix(b"filename ")
        elif line.startswith(b"committer-time "):
            date = int(line.removeprefix(b"committer-time "))


def objects(printed: bytes) -> Iterator[tuple[Oid, bytes]]:
    """Yield the objects of `git cat-file --batch`; missing ones are left out."""
    at = 0
    while at < len(printed):
        end = printed.index(b"\n", at)
        found, kind, *size = printed[at:end].decode().split(" ")
        at = end + 1
        if kind != "missing":
            yield oid(found), printed[at : at + int(size[0])]
            at += int(size[0]) + 1


def _by_commit(printed: bytes, names: int = 1) -> Iterator[tuple[Oid, list[tuple[str, list[bytes]]]]]:
    """Yield commit → (facts, so many names) of each entry of a raw list with NULs."""
    tokens = iter(printed.split(b"\0")[:-1])
    commit, found = None, list[tuple[str, list[bytes]]]()
    for token in tokens:
        if token.startswith(b":"):
            found.append((token.decode(), list(islice(tokens, names))))
            continue
        if commit is not None:
            yield commit, found
        commit, found = oid(token.decode()), []
    if commit is not None:
        yield commit, found


def _changed(entry: str, path: bytes) -> ChangedPath:
    """Return one raw entry; a submodule's commit is no blob."""
    mode_before, mode_after, before, after, status = entry.lstrip(":").split(" ")
    return ChangedPath(
        status=status[:1],
        path=text(path),
        blob_before=_blob(mode_before, before),
        blob_after=_blob(mode_after, after),
    )


def _blob(mode: str, found: str) -> Oid | None:
    return None if mode in {"000000", _GITLINK} else oid(found)


def _oid(name: bytes) -> Oid:
    return oid(name.decode())


def _moment(seconds: str) -> datetime:
    """Return a time that a commit claims, as near as can be told."""
    claimed = int(seconds) if seconds.isascii() and seconds.isdigit() else 0
    return datetime.fromtimestamp(min(claimed, _LAST_SECOND), UTC)


def _unescaped(match: re.Match[bytes]) -> bytes:
    what = match[1]
    return bytes([int(what, 8) & 0xFF]) if len(what) > 1 else _LETTERS.get(what, what)
