"""Read a patch that git made without context and without prefixes. Pure; odd content cannot lead it astray.

Hunks are read by the line counts in their headers, so a line that looks like a header is still content.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from watcher.model import FileDiff, Hunk, Oid, oid
from watcher.upstream.porcelain import text, unquoted

_COMMIT = re.compile(rb"^([0-9a-f]{64}|[0-9a-f]{40})\n", re.MULTILINE)
"""No line of a patch is like this one: those of files begin with a sign."""
_FILE = re.compile(rb"^(?=diff --git )", re.MULTILINE)
_CONTENTS = re.compile(rb"^index ([0-9a-f]+)\.\.([0-9a-f]+)", re.MULTILINE)
_HUNK = re.compile(rb"@@ -([0-9]+)(?:,([0-9]+))? \+([0-9]+)(?:,([0-9]+))? @@")


@dataclass(slots=True)
class _File:
    """What is known so far of the file that is being read."""

    header: bytes
    before: bytes | None = None
    after: bytes | None = None
    is_new: bool = False
    is_deleted: bool = False
    binary: bool = False
    hunks: list[Hunk] = field(default_factory=list)

    def finished(self) -> FileDiff:
        """Return the file as a value."""
        before, after = self.before or _same_name(self.header), self.after or _same_name(self.header)
        return FileDiff(
            path=text(before if self.is_deleted else after),
            old_path=None if self.is_new else text(before),
            hunks=tuple(self.hunks),
            binary=self.binary,
        )


def by_commit(printed: bytes) -> Iterator[tuple[Oid, bytes]]:
    """Yield commit → its patch, from `git diff-tree --stdin --always -p`, in the order of the input."""
    _, *parts = _COMMIT.split(printed)
    for commit, printed_of in zip(parts[::2], parts[1::2], strict=True):
        yield oid(commit.decode()), printed_of


def by_content(printed: bytes) -> Iterator[tuple[tuple[Oid, Oid], bytes]]:
    """Yield (content before, content after) → the patch of one file, from `git diff-tree -p --full-index`."""
    for text_of in _FILE.split(printed):
        if named := _CONTENTS.search(text_of):
            yield (oid(named[1].decode()), oid(named[2].decode())), text_of


def file_diffs(patch: bytes) -> Iterator[FileDiff]:
    """Yield each file of a patch made with `-U0 --no-prefix`."""
    # Split at line feeds alone: a carriage return or a form feed belongs to the line.
    lines = iter(patch.split(b"\n"))
    current: _File | None = None
    for line in lines:
        if line.startswith(b"diff --git "):
            if current:
                yield current.finished()
            current = _File(header=line.removeprefix(b"diff --git "))
        elif current and (hunk := _HUNK.match(line)):
            current.hunks.append(_hunk(hunk, lines))
        elif current:
            _note(current, line)
    if current:
        yield current.finished()


def _hunk(header: re.Match[bytes], lines: Iterator[bytes]) -> Hunk:
    """Read one hunk: as many lines as its header counts."""
    old_start, old_count, new_start, new_count = header.groups()
    old = _content(lines, int(old_count or 1) if old_count != b"0" else 0)
    new = _content(lines, int(new_count or 1) if new_count != b"0" else 0)
    return Hunk(old_start=int(old_start), old=old, new_start=int(new_start), new=new)


def _content(lines: Iterator[bytes], count: int) -> tuple[str, ...]:
    """Return so many lines without their signs; the note about a missing line feed at the end is none of them."""
    found: list[str] = []
    while len(found) < count:
        line = next(lines, None)
        if line is None:
            break
        if not line.startswith(b"\\"):
            found.append(line[1:].decode(errors="replace"))
    return tuple(found)


def _note(current: _File, line: bytes) -> None:
    """Take from a header line what it says of the file."""
    if line.startswith(b"--- "):
        current.before = _name(line.removeprefix(b"--- "))
    elif line.startswith(b"+++ "):
        current.after = _name(line.removeprefix(b"+++ "))
    elif line.startswith((b"rename from ", b"copy from ")):
        current.before = unquoted(line.partition(b" from ")[2])
    elif line.startswith((b"rename to ", b"copy to ")):
        current.after = unquoted(line.partition(b" to ")[2])
    elif line.startswith(b"new file mode "):
        current.is_new = True
    elif line.startswith(b"deleted file mode "):
        current.is_deleted = True
    elif line.startswith((b"Binary files ", b"GIT binary patch")):
        current.binary = True


def _name(name: bytes) -> bytes | None:
    """Return the path of a `---` or `+++` line; git ends one that has spaces with a tab."""
    name = name.removesuffix(b"\t")
    return None if name == b"/dev/null" else unquoted(name)


def _same_name(header: bytes) -> bytes:
    """Return the path of a header that names the same file twice."""
    return unquoted(header[: len(header) // 2])
