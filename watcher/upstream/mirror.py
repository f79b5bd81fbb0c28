"""Hold the history of one upstream, and the commits that we keep of it, in a bare repository of our own.

A mirror has commits alone until somebody asks for more (`tree:0`), where the server can do that: a tenth of a whole
clone. Commits that pins name are held under refs of our own, so they outlive upstream's.
"""

import re
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from watcher.address import NAMED, Allowed
from watcher.errors import GitError
from watcher.model import Advertisement, Commit, Oid, Ref, oid
from watcher.upstream import porcelain, salvage
from watcher.upstream.contents import Contents
from watcher.upstream.git import Git, checked_address
from watcher.upstream.objects import FETCH, LATER, Config, lines

_PULLS = "refs/watcher/pulls/"
_MANY = 200
"""So many new refs are worth a packed file."""
_LONG = 1 << 16
"""Bytes of packs' indexes (some 2,000 objects) from which git's own file of the history pays."""
_MOST_LANDINGS = 100
"""How many landings are looked at to find the one that moved a pin."""
_DURABLE = (("core.fsync", "committed,loose-object,reference"), ("core.fsyncMethod", "batch"))
"""What survives a power cut: commits that were brought, and the refs that keep them. Upstream's own refs need not."""
_REFUSED = re.compile(r"not our ref|unadvertised object|find remote ref|no such remote ref", re.IGNORECASE)
_LEFT_OUT = re.compile(r"did not send all necessary objects")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mirror(Contents):
    """One upstream's history on disk; every answer is a value."""

    @classmethod
    def open(
        cls, directory: Path, url: str, *, filters: bool, object_format: str = "sha1", allowed: Allowed = NAMED
    ) -> "Mirror":
        """Return the mirror in a folder; create it on first use, rebuild it when it is broken.

        `filters` is what the server offers now; a mirror stays as it was made.
        """
        checked_address(url, local=allowed.files)
        salvage.ensure(directory, filters=filters, object_format=object_format)
        return cls(directory=directory, url=url, partial=salvage.is_partial(directory), allowed=allowed)

    # --- bring -------------------------------------------------------------------------------------------------------

    def fetch(self, advertisement: Advertisement) -> bool:
        """Make branches and tags equal to what is advertised; return whether anything had to be done.

        Raises a retryable GitError when upstream moved on in between.
        """
        return self._match(["refs/heads/", "refs/tags/"], {ref.name: ref.oid for ref in advertisement.refs})

    def fetch_pulls(self, refs: Iterable[Ref]) -> None:
        """Hold the refs of proposals, these and no others, under names of our own."""
        self._match([_PULLS], {_PULLS + ref.name.removeprefix("refs/"): ref.oid for ref in refs})

    def keep(self, wanted: Oid) -> bool:
        """Hold a commit (or a tag object) for ever; return False where the server refuses to hand it out."""
        return wanted in self.keep_all([wanted])

    def keep_all(self, wanted: Iterable[Oid]) -> dict[Oid, Oid]:
        """Hold commits (or tag objects) for ever; return each with the commit that it stands for.

        Those that the server refuses to hand out, and what is no commit, are left out.
        """
        asked = list(dict.fromkeys(wanted))
        kept = self._refs([salvage.KEPT])
        new = [name for name in asked if f"{salvage.KEPT}{name}" not in kept]
        served = self._brought(new) if new else set()
        served |= {name for name in new if name not in served and salvage.restored(self.directory, name)}
        commits = self._commits_of([name for name in asked if name in served or f"{salvage.KEPT}{name}" in kept])
        add = [f"update {salvage.KEPT}{name} {name}" for name in new if name in commits]
        self._write_refs(add, is_lasting=True)
        return commits

    def serves(self, wanted: Oid) -> bool:
        """Ask whether the server still hands an object out, although we may hold it."""
        with tempfile.TemporaryDirectory(prefix="asked-", dir=self.directory) as name:
            object_format = salvage.format_of(self.directory) or "sha1"
            Git().run("init", "-q", "--bare", "--template=", f"--object-format={object_format}", "--", name)

            def ask(remote: Config) -> None:
                git = Git(directory=Path(name), config=remote, local=self.allowed.files)
                git.run(*FETCH, "--depth=1", "--filter=tree:0", "origin", stdin=lines([wanted]), timeout=LATER)

            try:
                self.ask(ask, "tree:0")
            except GitError as error:
                if error.retryable or not _REFUSED.search(str(error)):
                    raise
                return False
        return True

    # --- ask for commits ---------------------------------------------------------------------------------------------

    def parents(self) -> dict[Oid, tuple[Oid, ...]]:
        """Return every commit that is held, with its parents; raise GitError when the history is not whole."""
        if (self.directory / "shallow").exists():
            raise GitError("the mirror is shallow: it cannot tell what is reachable")
        try:
            printed = self._git.run("rev-list", "--all", "--parents").decode()
        except GitError as error:
            if not error.retryable:
                salvage.note_unsound(self.directory, str(error))
            raise
        rows = (line.split(" ") for line in printed.splitlines())
        return {Oid(commit): tuple(map(Oid, parents)) for commit, *parents in rows}

    def expand(self, prefix: str) -> tuple[Oid, ...]:
        """Return the commits that a short id may mean."""
        if not re.fullmatch(r"[0-9a-f]{4,64}", prefix):
            return ()
        found = self._git.run("rev-parse", f"--disambiguate={prefix}").decode().split()
        return tuple(sorted(name for name, (kind, _) in self._facts(map(oid, found)).items() if kind == "commit"))

    def peel(self, wanted: Oid) -> Oid | None:
        """Return the commit behind an id, through tags of tags; None where there is none."""
        printed = self._git.run("rev-parse", "--verify", "-q", f"{wanted}^{{commit}}", check=(0, 1, 128)).decode()
        return oid(printed.strip()) if printed.strip() else None

    def first_parent(self, commit: Oid) -> Oid | None:
        """Return a commit's first parent; None for a root."""
        printed = self._git.run("rev-parse", "--verify", "-q", f"{commit}^1", check=(0, 1)).decode()
        return oid(printed.strip()) if printed.strip() else None

    def commits(self, include: Iterable[Oid], exclude: Iterable[Oid] = ()) -> tuple[Commit, ...]:
        """Return the metadata of all that `include` reaches and `exclude` does not, children first."""
        tips = list(include)
        if not tips:
            return ()
        asked = ("log", "-z", "--stdin", "--topo-order", "--no-mailmap", "--encoding=UTF-8")
        stdin = lines([*tips, *(f"^{commit}" for commit in exclude)])
        rows = porcelain.commit_rows(self._git.run(*asked, f"--format={porcelain.COMMIT_FORMAT}", stdin=stdin))
        self._seen.trees.update(porcelain.root_trees(rows))
        return tuple(porcelain.commits(rows))

    def changes_of(self, path: str, older: Oid, newer: Oid) -> tuple[tuple[Commit, bytes | None], ...]:
        """Return what landed on the first-parent line between two commits and changed a path, newest first.

        Each with the content that it gave the path; None where it has none after that, or one that is too large.
        """
        landed = self._landed(path, older, newer)
        blobs = [self._tip_blob(commit.oid, path) for commit in landed]
        held = self.read(blob for blob in blobs if blob)
        return tuple((commit, held.get(blob) if blob else None) for commit, blob in zip(landed, blobs, strict=True))

    def relinks_of(self, path: str, older: Oid, newer: Oid) -> tuple[tuple[Commit, Oid | None], ...]:
        """Return what landed on the first-parent line between two commits and changed a submodule, newest first.

        Each with the commit that it put the submodule at; None where there is no submodule after that.
        """
        return tuple((commit, self.gitlink(commit.oid, path)) for commit in self._landed(path, older, newer))

    # --- how ---------------------------------------------------------------------------------------------------------

    def _landed(self, path: str, older: Oid, newer: Oid) -> tuple[Commit, ...]:
        """Return what landed on the first-parent line between two commits and changed a path, newest first."""
        if self.partial:
            reached = self._git.run("rev-list", "--first-parent", "--boundary", newer, f"^{older}").decode()
            self.bring_trees(map(Oid, reached.replace("-", "").split()))
        line = ("log", "-z", "--first-parent", f"--max-count={_MOST_LANDINGS}", "--no-mailmap", "--encoding=UTF-8")
        printed = self._git.run(*line, f"--format={porcelain.COMMIT_FORMAT}", newer, f"^{older}", "--", path)
        return tuple(porcelain.commits(porcelain.commit_rows(printed)))

    def _match(self, folders: list[str], advertised: Mapping[str, Oid]) -> bool:
        """Make the refs below some folders equal to those advertised."""
        # A name that is not UTF-8 came here with backslashes, which git allows in no ref of ours.
        wanted = {name.replace("\\", "%"): tip for name, tip in advertised.items()}
        held = self._refs(folders)
        if wanted == held:
            return False
        try:
            self._bring(tip for name, tip in wanted.items() if held.get(name) != tip)
        except GitError as error:
            if _REFUSED.search(str(error)):
                raise GitError(f"upstream moved on while we looked: {error}", retryable=True) from error
            raise
        # Deleted first, in a transaction of its own: `topic` may have become `topic/one`.
        gone = [f"delete {name} {tip}" for name, tip in held.items() if name not in wanted]
        # Packed refs are written anew for it, those that keep commits among them.
        self._write_refs(gone, is_lasting=True)
        new = [f"update {name} {tip}" for name, tip in wanted.items() if held.get(name) != tip]
        self._write_refs(new)
        if len(new) >= _MANY:
            self._write("pack-refs", "--all", is_lasting=True)
        if sum(index.stat().st_size for index in (self.directory / "objects" / "pack").glob("*.idx")) >= _LONG:
            self._write("commit-graph", "write", "--reachable", "--split", "--no-progress")
        return True

    def _write_refs(self, changes: list[str], *, is_lasting: bool = False) -> None:
        """Change refs, all of them or none."""
        if changes:
            self._write("update-ref", "--no-deref", "--stdin", stdin=lines(changes), is_lasting=is_lasting)

    def _write(self, *args: str, stdin: bytes | None = None, is_lasting: bool = False) -> None:
        """Run a command that writes; a lock that a killed program left is taken away, and it is run again."""
        git = _lasting(self._git) if is_lasting else self._git
        try:
            git.run(*args, stdin=stdin)
        except GitError as error:
            if not salvage.unlocked(self.directory, error):
                raise
            self._write(*args, stdin=stdin, is_lasting=is_lasting)

    def _refs(self, folders: list[str]) -> dict[str, Oid]:
        printed = self._git.run("for-each-ref", "--format=%(objectname) %(refname)", *folders).decode()
        rows = (line.partition(" ") for line in printed.split("\n")[:-1])  # names have other line ends
        return {name: Oid(tip) for tip, _, name in rows}

    def _brought(self, wanted: list[Oid]) -> set[Oid]:
        """Return those objects that could be brought: all at once, or in halves where the server refuses some."""
        try:
            self._bring(wanted)
        except GitError as error:
            if error.retryable or not _REFUSED.search(str(error)):
                raise
            if len(wanted) == 1:
                return set()
            middle = len(wanted) // 2
            return self._brought(wanted[:middle]) | self._brought(wanted[middle:])
        return set(wanted)

    def _commits_of(self, wanted: list[Oid]) -> dict[Oid, Oid]:
        """Return the commit behind each id, through tags of tags; those without one are left out."""
        if not wanted:
            return {}
        asked = lines(f"{name}^{{commit}}" for name in wanted)
        rows = self._git.run("cat-file", "--batch-check=%(objectname) %(objecttype)", "--buffer", stdin=asked)
        found = zip(wanted, rows.decode().splitlines(), strict=True)
        return {name: oid(row.split()[0]) for name, row in found if row.endswith(" commit")}

    def _bring(self, wanted: Iterable[Oid]) -> None:
        """Fetch those objects that are missing, with all their history, and check that it is whole."""
        asked = list(dict.fromkeys(wanted))
        missing = self._missing(asked)
        if missing and not self._fetched(missing):
            # Some tag names a tree, which the filter leaves out even where it is asked for by its id.
            self.prefetch(missing)
        try:
            self._require_whole(asked)
        except GitError:
            if missing == asked:
                raise
            # What was held has gaps, as where the mirror was built anew of what could be read of a damaged one.
            self._fetched(asked, "--refetch")
            self._require_whole(asked)

    def _fetched(self, wanted: list[Oid], *more: str) -> bool:
        """Fetch objects with their history; return False where the filter left some of them out."""
        options = ["--filter=tree:0", *more] if self.partial else more
        try:
            self._fetch(*options, stdin=lines(wanted))
        except GitError as error:
            if not self.partial or not _LEFT_OUT.search(error.said):
                raise
            return False
        return True

    def _require_whole(self, tips: list[Oid]) -> None:
        """Raise GitError where commits lack ancestors: a shallow server hands such out without a word."""
        if not tips:
            return
        try:
            self._git.run("rev-list", "--quiet", "--stdin", "--not", "--all", stdin=lines(tips))
        except GitError as error:
            reason = f"upstream's history is not whole (is it a shallow copy?): {error}"
            raise GitError(reason, said=error.said) from error


def _lasting(git: Git) -> Git:
    """Return git that waits until the disk has what it writes."""
    return replace(git, config=(*git.config, *_DURABLE))
