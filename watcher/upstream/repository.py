"""Read a repository of somebody else's on this machine as a mirror that is never written to."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from watcher.errors import GitError
from watcher.model import Advertisement, Oid, Ref, is_oid, oid
from watcher.upstream.git import Git
from watcher.upstream.mirror import Mirror


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository(Mirror):
    """A local repository, bare or not: what it holds is all there is."""

    @classmethod
    def at(cls, folder: Path) -> "Repository":
        """Return the repository in a folder; raise GitError where there is none."""
        found = Git().run("-C", str(folder), "rev-parse", "--absolute-git-dir").decode().strip()
        return cls(directory=Path(found), url="", partial=False)

    def advertisement(self) -> Advertisement:
        """Return its refs as a server would tell them, proposals included."""
        fields = "%(refname) %(objectname) %(*objectname)"
        printed = self._git.run("for-each-ref", f"--format={fields}").decode(errors="backslashreplace")
        rows = [line.split(" ") for line in printed.split("\n")[:-1]]
        refs = tuple(Ref(name=name, oid=oid(tip), peeled=self._peeled(peeled)) for name, tip, *peeled in rows)
        head = self._git.run("symbolic-ref", "-q", "HEAD", check=(0, 1)).decode().strip()
        return Advertisement(
            refs=tuple(ref for ref in refs if ref.name.startswith(("refs/heads/", "refs/tags/"))),
            head=head or None,
            digest="",
            pulls=tuple(ref for ref in refs if ref.name.startswith(("refs/pull/", "refs/merge-requests/"))),
        )

    def _peeled(self, found: list[str]) -> Oid | None:
        """Return the object behind a tag; git peels one level here, so a tag of a tag is asked about."""
        if not found or not is_oid(found[0]):
            return None
        return self.peel(oid(found[0])) or oid(found[0])

    def fetch(self, advertisement: Advertisement) -> bool:  # noqa: ARG002 - there is nothing to bring
        """Do nothing: the refs are there."""
        return False

    def fetch_pulls(self, refs: Iterable[Ref]) -> None:
        """Do nothing: the proposals are there, or nowhere."""

    def keep_all(self, wanted: Iterable[Oid]) -> dict[Oid, Oid]:
        """Return the commit that each id stands for, where it is there; nothing is written to keep it."""
        return self._commits_of(list(dict.fromkeys(wanted)))

    def serves(self, wanted: Oid) -> bool:
        """Answer whether the repository has the object."""
        return self.peel(wanted) is not None

    def prefetch(self, blobs: Iterable[Oid]) -> int:
        """Raise GitError for contents that are missing: a partial clone of somebody else's is not completed here."""
        missing = self._missing(blobs)
        if missing:
            raise GitError(f"{self.directory} lacks {len(missing)} file contents: is it a partial clone?")
        return 0
