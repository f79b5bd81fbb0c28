"""Read git's output made for machines: commits, changed paths, trees, blamed lines, batches of objects. Pure."""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import islice

from watcher.model import BlamedLine, ChangedPath, Commit, Oid, oid

COMMIT_FORMAT = "%H%x00%T%x00%P%x00%an%x00%ae%x00%at%x00%ct%x00%s%x00%b"
"""What `git log -z` prints for `commits`; no field can hold a NUL."""
Row = tuple[str, ...]
"""The fields of one commit, in that order."""
_FIELDS = COMMIT_FORMAT.count("%x00") + 1
_LONGEST_SUBJECT, _LONGEST_BODY = 1 << 16, 1 << 18
"""Characters of a message that are read, far more than anybody writes: every word is looked at many times."""
_LAST_SECOND = int(datetime(9999, 12, 31, tzinfo=UTC).timestamp())
_BLAMED = re.compile(rb"([0-9a-f]{40,64}) ([0-9]+) ([0-9]+)(?: [0-9]+)?")
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_LETTERS = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}
_GITLINK, _SYMLINK, _FOLDER = "160000", "120000", "040000"
_NO_BLOB = frozenset({"000000", _GITLINK})


def text(raw: bytes) -> str:
    """Return a path as text; what is not UTF-8 becomes printable and stays distinct."""
    return raw.decode(errors="backslashreplace")


def unquoted(name: bytes) -> bytes:
    """Return a path that git may have put into quotes."""
    if not (name.startswith(b'"') and name.endswith(b'"') and len(name) > 1):
        return name
    return _ESCAPE.sub(_unescaped, name[1:-1])


def commit_rows(printed: bytes) -> list[Row]:
    """Return the fields of each commit of `git log -z --format=COMMIT_FORMAT`."""
    fields = iter(printed.decode(errors="replace").split("\0")[:-1])
    return list(zip(*[fields] * _FIELDS, strict=True))


def commits(rows: Iterable[Row]) -> Iterator[Commit]:
    """Yield the commits of such rows."""
    for found, _, parents, author, email, authored, committed, subject, body in rows:
        yield Commit(
            oid=Oid(found),
            parents=tuple(map(Oid, parents.split())),
            author=author[:_LONGEST_SUBJECT],
            email=email[:_LONGEST_SUBJECT],
            authored_at=_moment(authored),
            committed_at=_moment(committed),
            subject=subject[:_LONGEST_SUBJECT],
            body=body[:_LONGEST_BODY],
        )


def root_trees(rows: Iterable[Row]) -> Iterator[tuple[Oid, Oid]]:
    """Yield commit → its tree, of such rows."""
    return ((Oid(row[0]), Oid(row[1])) for row in rows)


def changes(printed: bytes) -> Iterator[tuple[Oid, tuple[ChangedPath, ...]]]:
    """Yield commit → its changed paths, from `git diff-tree --stdin --always --raw -z`, in the order of the input."""
    for commit, entries in _by_commit(printed):
        yield commit, tuple(_changed(facts, names[0]) for facts, names in entries)


def renames(printed: bytes) -> Iterator[tuple[Oid, tuple[tuple[str, ChangedPath], ...]]]:
    """Yield commit → (new path, former path with both contents), from `changes`' command with `-M --diff-filter=R`."""
    for commit, entries in _by_commit(printed, names=2):
        yield commit, tuple((names[1], _changed(facts, names[0])) for facts, names in entries)


def history(printed: bytes) -> Iterator[tuple[tuple[Oid, ...], ChangedPath]]:
    r"""Yield (commit, its parents…) → a changed path, from `git log -z --raw -m --format=%x01%H %P`."""
    tokens = iter(printed.split(b"\0"))
    ids: tuple[Oid, ...] = ()
    for token in tokens:
        match token.strip(b"\n")[:1]:
            case b"\x01":
                ids = tuple(map(oid, token.strip(b"\n\x01").decode().split()))
            case b":":
                yield ids, _changed(token.strip(b"\n").decode(), text(next(tokens)))


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
        found, _, *size = printed[at:end].decode().split(" ")
        at = end + 1
        if size and size[0].isdigit():
            yield oid(found), printed[at : at + int(size[0])]
            at += int(size[0]) + 1


def _by_commit(printed: bytes, names: int = 1) -> Iterator[tuple[Oid, list[tuple[str, list[str]]]]]:
    """Yield commit → (facts, so many names) of each entry of a raw list with NULs."""
    # Decoded at once, which is the same as one by one: no character has a NUL in it.
    tokens = iter(text(printed).split("\0")[:-1])
    commit, found = None, list[tuple[str, list[str]]]()
    for token in tokens:
        if token.startswith(":"):
            found.append((token, list(islice(tokens, names))))
            continue
        if commit is not None:
            yield commit, found
        commit, found = Oid(token), []
    if commit is not None:
        yield commit, found


def _changed(entry: str, path: str) -> ChangedPath:
    """Return one raw entry; a submodule's commit is no blob."""
    mode_before, mode_after, before, after, status = entry.split(" ")
    return ChangedPath(
        status=status[:1],
        path=path,
        blob_before=_blob(mode_before[1:], before),
        blob_after=_blob(mode_after, after),
    )


def _blob(mode: str, found: str) -> Oid | None:
    return None if mode in _NO_BLOB else Oid(found)


def _moment(seconds: str) -> datetime:
    """Return a time that a commit claims, as near as can be told."""
    claimed = int(seconds) if seconds.isascii() and seconds.isdigit() else 0
    return datetime.fromtimestamp(min(claimed, _LAST_SECOND), UTC)


def _unescaped(match: re.Match[bytes]) -> bytes:
    what = match[1]
    return bytes([int(what, 8) & 0xFF]) if len(what) > 1 else _LETTERS.get(what, what)
