"""Put what strangers write where git puts it, read that as git's output, and see that it comes back as it was.

No subject, path or content may pass for a part of the frame around it.
"""

from collections.abc import Sequence

from watcher.upstream import patch, porcelain

_OID = "f05a8754" * 5
_OTHER = "b5588e83" * 5


class Led(Exception):  # noqa: N818 - a parser was led astray
    """What was read is not what was written."""


def objects(data: bytes) -> None:
    """Read contents back from `git cat-file --batch`."""
    contents = data.split(b"\xff")
    printed = b"".join(b"%b blob %d\n%b\n" % (_OID.encode(), len(it), it) for it in contents)
    _same([(_OID, it) for it in contents], list(porcelain.objects(printed)))


def row(data: bytes) -> None:
    """Read a commit back whose author, subject and body somebody made up."""
    author, subject, body, *_ = *data.replace(b"\0", b"").split(b"\xff"), b"", b"", b""
    fields = (_OID.encode(), _OTHER.encode(), b"", author, author, author, author, subject, body)
    [it] = porcelain.commits(porcelain.commit_rows(b"\0".join(fields) + b"\0"))
    told = [part.decode(errors="replace") for part in (author, subject, body)]
    _same(told, [it.author, it.subject, it.body])


def raw(data: bytes) -> None:
    """Read paths back from `git diff-tree --raw -z` of two commits."""
    paths = _paths(data)
    entries = b"".join(b":100644 100644 %b %b M\0%b\0" % (_OID.encode(), _OTHER.encode(), it) for it in paths)
    printed = b"".join(commit.encode() + b"\0" + entries for commit in (_OID, _OTHER))
    found = [(commit, [it.path for it in changed]) for commit, changed in porcelain.changes(printed)]
    _same([(commit, list(map(porcelain.text, paths))) for commit in (_OID, _OTHER)], found)


def renames(data: bytes) -> None:
    """Read renamed paths back."""
    paths = _paths(data)
    entries = b"".join(
        b":100644 100644 %b %b R100\0%b\0%b\0" % (_OID.encode(), _OTHER.encode(), it, it) for it in paths
    )
    [(_, found)] = porcelain.renames(_OID.encode() + b"\0" + entries)
    told = [porcelain.text(it) for it in paths]
    _same([(it, it) for it in told], [(new, old.path) for new, old in found])


def history(data: bytes) -> None:
    """Read paths back from `git log -z --raw`."""
    paths = _paths(data)
    entries = b"".join(b":100644 100644 %b %b M\0%b\0" % (_OID.encode(), _OTHER.encode(), it) for it in paths)
    found = [
        (ids, it.path) for ids, it in porcelain.history(b"\x01%b %b\0\n" % (_OID.encode(), _OTHER.encode()) + entries)
    ]
    _same([((_OID, _OTHER), porcelain.text(it)) for it in paths], found)


def tree(data: bytes) -> None:
    """Read paths back from `git ls-tree -z`."""
    paths = _paths(data)
    printed = b"".join(b"100644 blob %b\t%b\0" % (_OID.encode(), it) for it in paths)
    _same({porcelain.text(it): _OID for it in paths}, porcelain.tree(printed)[0])


def blame(data: bytes) -> None:
    """Read lines back from `git blame --line-porcelain`."""
    lines = data.split(b"\n")
    printed = b"".join(
        b"%b %d %d 1\nauthor %b\ncommitter-time 5\nsummary %b\nfilename a\n\t%b\n" % (_OID.encode(), at, at, it, it, it)
        for at, it in enumerate(lines, 1)
    )
    found = [(it.line, it.text, it.origin_date, it.is_boundary) for it in porcelain.blamed(printed)]
    _same([(at, it.decode(errors="replace"), 5, False) for at, it in enumerate(lines, 1)], found)


def patches(data: bytes) -> None:
    """Read the lines of two files back from the patch of a commit."""
    old, _, new = (part.split(b"\n") for part in data.partition(b"\xff"))
    hunk = b"@@ -1,%d +1,%d @@ %b\n" % (len(old), len(new), old[0])
    body = hunk + b"".join(b"-%b\n" % it for it in old) + b"".join(b"+%b\n" % it for it in new)
    head = b"diff --git a a\nindex %b..%b 100644\n--- a\n+++ a\n" % (_OID.encode(), _OTHER.encode())
    printed = _OID.encode() + b"\n" + (head + body) * 2
    [(_, mine)] = patch.by_commit(printed)
    told = [[it.decode(errors="replace") for it in lines] for lines in (old, new)]
    for part in (mine, *(it for _, it in patch.by_content(printed))):
        for file in patch.file_diffs(part):
            _same(told, [list(lines) for hunk in file.hunks for lines in (hunk.old, hunk.new)])
    _same(2, len(list(patch.file_diffs(mine))))
    _same(2, len(list(patch.by_content(printed))))


def _paths(data: bytes) -> Sequence[bytes]:
    return [it for it in dict.fromkeys(data.split(b"\0")) if it]


def _same(written: object, read: object) -> None:
    if written != read:
        raise Led(f"written {written!r:.300}, read {read!r:.300}")
