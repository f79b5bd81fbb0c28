"""Write objects into a repository as no git program would: byte by byte, past every check."""

import hashlib
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from watcher.upstream.git import Git

AUTHOR = b"A U Thor <author@example.org>"
FIRST = 1_767_225_600
"""2026-01-01."""


@dataclass
class Raw:
    """A bare repository."""

    path: Path
    object_format: str = "sha1"
    packed: dict[bytes, str] = field(default_factory=dict)
    """Refs: name -> oid."""

    def __post_init__(self):
        """Make the repository."""
        Git().run("init", "-q", "--bare", f"--object-format={self.object_format}", "--", str(self.path))
        Git(directory=self.path).run("config", "uploadpack.allowFilter", "true")
        Git(directory=self.path).run("symbolic-ref", "HEAD", "refs/heads/main")

    def write(self, kind: bytes, content: bytes) -> str:
        """Write one object and return its id."""
        whole = b"%b %d\0%b" % (kind, len(content), content)
        oid = hashlib.new(self.object_format, whole).hexdigest()
        file = self.path / "objects" / oid[:2] / oid[2:]
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(zlib.compress(whole, 1))
        return oid

    def blob(self, content: bytes) -> str:
        """Write a file's content."""
        return self.write(b"blob", content)

    def tree(self, entries: Iterable[tuple[bytes, bytes, str]]) -> str:
        """Write a folder of (mode, name, oid), in git's order, whatever the names are."""
        ordered = sorted(entries, key=lambda it: it[1] + (b"/" if it[0] == b"40000" else b""))
        return self.write(b"tree", b"".join(b"%b %b\0%b" % (m, name, bytes.fromhex(o)) for m, name, o in ordered))

    def files(self, files: dict[bytes, bytes]) -> str:
        """Write a folder of plain files."""
        return self.tree((b"100644", name, self.blob(content)) for name, content in files.items())

    def commit(
        self,
        tree: str,
        *parents: str,
        message: bytes = b"a commit\n",
        author: bytes = AUTHOR,
        date: bytes = b"%d +0000" % FIRST,
        extra: bytes = b"",
    ) -> str:
        """Write a commit; `extra` are further header lines."""
        lines = [b"tree " + tree.encode(), *(b"parent " + parent.encode() for parent in parents)]
        lines += [b"author %b %b" % (author, date), b"committer %b %b" % (AUTHOR, date)]
        return self.write(b"commit", b"\n".join(lines) + b"\n" + extra + b"\n" + message)

    def refs(self, refs: dict[bytes, str]) -> None:
        """Make the refs exactly these."""
        self.packed = refs
        lines = [b"# pack-refs with: peeled fully-peeled sorted"]
        lines += [oid.encode() + b" " + name for name, oid in sorted(refs.items())]
        (self.path / "packed-refs").write_bytes(b"\n".join(lines) + b"\n")
