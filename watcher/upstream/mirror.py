"""Hold the history of one upstream, and the commits that we keep of it, in a bare repository of our own.

A mirror lacks file contents until somebody asks (`blob:none`), where the server can do that. Questions never fetch:
contents come in batches beforehand, and a forgotten batch is an error instead of a crawl. Commits that pins name are
held under refs of our own, so they outlive upstream's.
"""

import hashlib
import re
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from watcher.errors import GitError
from watcher.model import (
    Advertisement,
    BlamedLine,
    ChangedPath,
    Commit,
    FileDiff,
    LineRange,
    Oid,
    Ref,
    is_oid,
    oid,
)
from watcher.upstream import patch, porcelain, salvage
from watcher.upstream.git import Git, checked_address

Pair = tuple[Oid | None, Oid]
"""A commit before (None: nothing) and a commit after."""

_PULLS = "refs/watcher/pulls/"
_HOUR = 3600.0
_MANY = 200
"""So many new refs are worth a packed file."""
_LONG = 64 * 1024
"""Bytes of paths that fit on a command line without worry."""
_EMPTY_TREE = {40: "4b825dc642cb6eb9a060e54bf8d69288fbee4904"}
_EMPTY_TREE[64] = hashlib.sha256(b"tree 0\0").hexdigest()
_MOST_LANDINGS = 100
"""How many landings are looked at to find the one that moved a pin."""
_REFUSED = re.compile(r"not our ref|unadvertised object|find remote ref|no such remote ref", re.IGNORECASE)
_NOT_THERE = re.compile(r"no such path|does not exist|unsupported file type|cannot stat path", re.IGNORECASE)
_FETCH = ("fetch", "-q", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--stdin")


def folder_name(upstream: str) -> str:
    """Return a folder's name for the mirror of an upstream: readable, safe on any file system, and its own."""
    readable = re.sub(r"[^A-Za-z0-9._-]+", "+", upstream.partition("://")[2] or upstream)[-80:].strip("+.-")
    return f"{readable}-{hashlib.sha256(upstream.encode()).hexdigest()[:10]}.git"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mirror:
    """One upstream's history on disk; every answer is a value."""

    directory: Path
    url: str
    """Where to fetch from. It is never written to disk."""
    partial: bool
    """File contents are missing until they are fetched."""
    local: bool = False

    @classmethod
    def open(
        cls, directory: Path, url: str, *, filters: bool, object_format: str = "sha1", local: bool = False
    ) -> "Mirror":
        """Return the mirror in a folder; create it on first use, rebuild it when it is broken.

        `filters` is what the server offers now; a mirror stays as it was made.
        """
        checked_address(url, local=local)
        salvage.ensure(directory, filters=filters, object_format=object_format)
        return cls(directory=directory, url=url, partial=salvage.is_partial(directory), local=local)

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
        try:
            self._bring([wanted])
        except GitError as error:
            if error.retryable or not _REFUSED.search(str(error)):
                raise
            return False
        if self.peel(wanted) is None:
            return False
        if not (self.directory / f"{salvage.KEPT}{wanted}").exists():
            self._git.run("update-ref", f"{salvage.KEPT}{wanted}", wanted)
        return True

    def serves(self, wanted: Oid) -> bool:
        """Ask whether the server still hands an object out, although we may hold it."""
        with tempfile.TemporaryDirectory(prefix="asked-", dir=self.directory) as name:
            object_format = salvage.format_of(self.directory) or "sha1"
            Git().run("init", "-q", "--bare", "--template=", f"--object-format={object_format}", "--", name)
            git = Git(directory=Path(name), config=self._remote("tree:0"), local=self.local)
            try:
                git.run(*_FETCH, "--depth=1", "--filter=tree:0", "origin", stdin=_lines([wanted]), timeout=_HOUR)
            except GitError as error:
                if error.retryable or not _REFUSED.search(str(error)):
                    raise
                return False
        return True

    def prefetch(self, blobs: Iterable[Oid]) -> int:
        """Fetch those contents that are missing, in one batch; return how many they were."""
        missing = self._missing(blobs)
        if missing:
            # No talk about what we have: the server would search its history for it.
            noop = (("fetch.negotiationAlgorithm", "noop"),)
            self._fetching(noop).run(*_FETCH, "--filter=blob:none", "origin", stdin=_lines(missing), timeout=_HOUR)
        return len(missing)

    def lacking(self, commit: Oid) -> tuple[Oid, ...]:
        """Return which trees and contents of a commit are missing here; none where it is whole. Asks nobody."""
        options = ("--objects", "--no-object-names", "--no-walk", "--missing=print")
        printed = self._git.run("rev-list", *options, commit).decode().split()
        return tuple(oid(name[1:]) for name in printed if name.startswith("?"))

    def is_whole(self, commit: Oid) -> bool:
        """Answer whether everything is here that a checkout of a commit needs. Asks nobody."""
        return not self.lacking(commit)

    def complete(self, commit: Oid) -> int:
        """Fetch what a commit lacks, in one batch; return how many objects that were."""
        count = 0
        while lacking := self.lacking(commit):
            # Once more only where a tree was missing, whose own contents show after it came.
            count += self.prefetch(lacking)
        return count

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
        stdin = _lines([*tips, *(f"^{commit}" for commit in exclude)])
        return tuple(
            porcelain.commits(
                self._git.run(
                    "log",
                    "-z",
                    "--stdin",
                    "--topo-order",
                    "--no-mailmap",
                    "--encoding=UTF-8",
                    f"--format={porcelain.COMMIT_FORMAT}",
                    stdin=stdin,
                )
            )
        )

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

    def is_fast_forward(self, before: Oid, after: Oid) -> bool | None:
        """Answer whether `after` contains `before`; None where one of them is not held."""
        if self._missing([before, after]):
            return None
        return self._git.answers("merge-base", "--is-ancestor", before, after)

    # --- ask for contents --------------------------------------------------------------------------------------------

    def changed_paths(self, pairs: Iterable[Pair]) -> dict[Pair, tuple[ChangedPath, ...]]:
        """Return what differs between the commits of each pair; a pair without `before` is a root commit."""
        asked = list(dict.fromkeys(pairs))
        if not asked:
            return {}
        stdin = _lines(f"{after} {before}" if before else after for before, after in asked)
        options = ("--stdin", "--always", "--root", "-r", "--raw", "-z", "--no-abbrev", "--no-renames")
        told = list(porcelain.changes(self._git.run("diff-tree", *options, stdin=stdin)))
        if [commit for commit, _ in told] != [after for _, after in asked]:
            raise GitError("cannot compare commits that are not held")
        return {pair: paths for pair, (_, paths) in zip(asked, told, strict=True)}

    def tree(self, commit: Oid) -> tuple[dict[str, Oid], dict[str, Oid]]:
        """Return the regular files of a commit, and its submodules with the commits that they are at."""
        return porcelain.tree(self._git.run("ls-tree", "-r", "-z", "--full-tree", commit))

    def files(self, commit: Oid) -> dict[str, Oid]:
        """Return the regular files of a commit."""
        return self.tree(commit)[0]

    def gitlinks(self, commit: Oid) -> dict[str, Oid]:
        """Return the submodules of a commit, with the commits that they are at."""
        return self.tree(commit)[1]

    def gitlink(self, commit: Oid, path: str) -> Oid | None:
        """Return the commit of a submodule at a commit; None where there is no submodule."""
        return self._entry(commit, path)[1].get(path)

    def content(self, commit: Oid, path: str) -> bytes | None:
        """Return what a file holds at a commit; None where there is no file, or too large a one."""
        blob = self._tip_blob(commit, path)
        return self.read([blob]).get(blob) if blob else None

    def read(self, blobs: Iterable[Oid], *, largest: int = 4 * 1024 * 1024) -> dict[Oid, bytes]:
        """Return contents, fetched in one batch where missing; those larger than `largest` bytes are left out."""
        wanted = list(dict.fromkeys(blobs))
        self.prefetch(wanted)
        fitting = [name for name, (kind, size) in self._facts(wanted).items() if kind == "blob" and size <= largest]
        return dict(porcelain.objects(self._git.run("cat-file", "--batch", "--buffer", stdin=_lines(fitting))))

    def diff(
        self,
        before: Oid | None,
        after: Oid,
        *,
        ignore_space: bool,
        paths: Iterable[str] | None = None,
        renames: bool = True,
    ) -> tuple[FileDiff, ...]:
        """Return how files differ, without context; with `paths`, those of them, also under their former names."""
        wanted = None if paths is None else frozenset(paths)
        changed = self.changed_paths([(before, after)])[before, after]
        if wanted is not None:
            follow = renames and any(change.status == "A" for change in changed if change.path in wanted)
            changed = tuple(c for c in changed if c.path in wanted or (follow and c.status == "D"))
        if not changed:
            return ()
        self.prefetch(_blobs(changed))
        options = ["-w"] if ignore_space else []
        options += ["-M"] if renames else ["--no-renames"]
        printed = self._patch(before, after, "-U0", *options, paths=[change.path for change in changed])
        found = patch.file_diffs(printed)
        return tuple(f for f in found if wanted is None or f.path in wanted or f.old_path in wanted)

    def patch_id(self, before: Oid | None, after: Oid) -> str | None:
        """Return `git patch-id --verbatim` of the difference; None where there is none."""
        self.prefetch(_blobs(self.changed_paths([(before, after)])[before, after]))
        printed = self._patch(before, after, "--no-renames")
        told = self._git.run("patch-id", "--verbatim", stdin=printed).decode().split()
        return told[0] if told else None

    def blame(
        self, commit: Oid, path: str, ranges: Iterable[LineRange], *, bound: Oid | None
    ) -> tuple[BlamedLine, ...]:
        """Return where lines came from; those at least as old as `bound` are boundary lines. Empty without the file."""
        wanted = list(ranges)
        if not wanted:
            return ()
        if commit == bound:
            return self._all_older(commit, path, wanted)
        if self.partial:
            self.prefetch(self.blame_blobs([(commit, path)], bound=bound))
        options = [f"-L{lines.first},{lines.last}" for lines in wanted]
        revision = f"{bound}..{commit}" if bound else commit
        try:
            printed = self._git.run("blame", "-w", "--line-porcelain", *options, revision, "--", path)
        except GitError as error:
            if _NOT_THERE.search(str(error)):
                return ()
            raise
        return tuple(porcelain.blamed(printed))

    def blame_blobs(self, places: Iterable[tuple[Oid, str]], *, bound: Oid | None) -> set[Oid]:
        """Return the contents that blaming files at commits will read, back to `bound`, renames followed."""
        blobs: set[Oid] = set()
        todo, seen = list(places), set[tuple[Oid, str]]()
        while todo:
            place = todo.pop()
            if place in seen:
                continue
            seen.add(place)
            commit, path = place
            options = ("--raw", "--no-abbrev", "--no-renames", "--full-history", "-m", "--format=%x01%H %P")
            revisions = [commit, f"^{bound}"] if bound else [commit]
            printed = self._git.run("log", "-z", *options, *revisions, "--", path)
            added: set[tuple[Oid, ...]] = set()
            for ids, change in porcelain.history(printed):
                blobs |= _blobs([change])
                if change.status == "A":
                    added.add(ids)
            for child, *parents in added:
                todo += [(p, source) for p in parents if (source := self._source(p, child, path, blobs))]
            if (held := self._tip_blob(commit, path)) is not None:
                blobs.add(held)
        return blobs

    def size(self) -> int:
        """Return the bytes that the mirror takes on disk."""
        return sum(file.stat().st_size for file in self.directory.rglob("*") if file.is_file())

    # --- how ---------------------------------------------------------------------------------------------------------

    @property
    def _git(self) -> Git:
        """Return git for questions: it knows no remote, so it cannot fetch."""
        return Git(directory=self.directory)

    def _fetching(self, config: tuple[tuple[str, str], ...] = ()) -> Git:
        """Return git for fetches: it knows the remote, and that the remote holds what is missing."""
        remote = self._remote("blob:none") if self.partial else self._remote(None)
        return Git(directory=self.directory, config=(*remote, *config), local=self.local)

    def _remote(self, filtered: str | None) -> tuple[tuple[str, str], ...]:
        promise = (("remote.origin.promisor", "true"), ("remote.origin.partialCloneFilter", filtered or ""))
        return (("remote.origin.url", self.url), *(promise if filtered else ()))

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
        self._git.run("update-ref", "--no-deref", "--stdin", stdin=_lines(gone))
        new = [f"update {name} {tip}" for name, tip in wanted.items() if held.get(name) != tip]
        self._git.run("update-ref", "--no-deref", "--stdin", stdin=_lines(new))
        if len(new) >= _MANY:
            self._git.run("pack-refs", "--all")
        self._git.run("commit-graph", "write", "--reachable", "--split", "--no-progress")
        return True

    def _refs(self, folders: list[str]) -> dict[str, Oid]:
        printed = self._git.run("for-each-ref", "--format=%(objectname) %(refname)", *folders).decode()
        rows = (line.partition(" ") for line in printed.splitlines())
        return {name: Oid(tip) for tip, _, name in rows}

    def _bring(self, wanted: Iterable[Oid]) -> None:
        """Fetch those objects that are missing, with all their history, and check that it is whole."""
        asked = list(dict.fromkeys(wanted))
        missing = self._missing(asked)
        if missing:
            options = ["--filter=blob:none"] if self.partial else []
            self._fetching().run(*_FETCH, *options, "origin", stdin=_lines(missing), timeout=_HOUR)
        if asked:
            self._require_whole(asked)

    def _require_whole(self, tips: list[Oid]) -> None:
        """Raise GitError where commits lack ancestors: a shallow server hands such out without a word."""
        try:
            self._git.run("rev-list", "--quiet", "--stdin", "--not", "--all", stdin=_lines(tips))
        except GitError as error:
            raise GitError(f"upstream's history is not whole (is it a shallow copy?): {error}") from error

    def _missing(self, wanted: Iterable[Oid]) -> list[Oid]:
        """Return those objects that are not held."""
        return [name for name, (kind, _) in self._facts(wanted).items() if kind == "missing"]

    def _facts(self, wanted: Iterable[Oid]) -> dict[Oid, tuple[str, int]]:
        """Return each object's type (`missing` where it is not held) and size."""
        asked = list(dict.fromkeys(wanted))
        if not asked:
            return {}
        for name in asked:
            if not is_oid(name):
                raise GitError(f"expected an object id, found {name[:80]!r}")
        rows = self._git.run("cat-file", "--batch-check", "--buffer", stdin=_lines(asked)).decode().splitlines()
        split = (row.split(" ") for row in rows)
        return {Oid(name): (kind, int(size[0]) if size else 0) for name, kind, *size in split}

    def _tip_blob(self, commit: Oid, path: str) -> Oid | None:
        """Return what a path holds at a commit, if it is a file."""
        return self._entry(commit, path)[0].get(path)

    def _entry(self, commit: Oid, path: str) -> tuple[dict[str, Oid], dict[str, Oid]]:
        """Return the entry of a path as `tree` does: among the files, among the submodules, or nowhere."""
        return porcelain.tree(self._git.run("ls-tree", "-z", "--full-tree", commit, "--", path))

    def _landed(self, path: str, older: Oid, newer: Oid) -> tuple[Commit, ...]:
        """Return what landed on the first-parent line between two commits and changed a path, newest first."""
        line = ("log", "-z", "--first-parent", f"--max-count={_MOST_LANDINGS}", "--no-mailmap", "--encoding=UTF-8")
        printed = self._git.run(*line, f"--format={porcelain.COMMIT_FORMAT}", newer, f"^{older}", "--", path)
        return tuple(porcelain.commits(printed))

    def _patch(self, before: Oid | None, after: Oid, *options: str, paths: Iterable[str] = ()) -> bytes:
        """Return git's patch between two commits, whose contents must be held."""
        listed = list(paths)
        if sum(len(path.encode()) for path in listed) > _LONG:
            listed = []
        fixed = ("-r", "-p", "--full-index", "--histogram", "--no-prefix", "--no-color", "--no-ext-diff")
        quiet = ("--no-textconv", "--ignore-submodules=all")
        tree = before or _EMPTY_TREE[len(after)]
        return self._git.run("diff-tree", *fixed, *quiet, *options, tree, after, "--", *listed)

    def _all_older(self, commit: Oid, path: str, ranges: Iterable[LineRange]) -> tuple[BlamedLine, ...]:
        """Return lines as boundary lines: git blames no empty range."""
        blob = self._tip_blob(commit, path)
        if blob is None:
            return ()
        lines = self.read([blob]).get(blob, b"").split(b"\n")
        return tuple(
            BlamedLine(
                line=number,
                text=lines[number - 1].decode(errors="replace"),
                origin=commit,
                origin_path=path,
                origin_line=number,
                is_boundary=True,
            )
            for wanted in ranges
            for number in range(wanted.first, min(wanted.last, len(lines)) + 1)
        )

    def _source(self, parent: Oid, child: Oid, path: str, blobs: set[Oid]) -> str | None:
        """Return the path from which a commit renamed a file, adding what blame reads to find that out."""
        changed = self.changed_paths([(parent, child)])[parent, child]
        deleted = [change for change in changed if change.status == "D"]
        added = [change for change in changed if change.path == path and change.status == "A"]
        if not deleted or not added:
            return None
        read = _blobs([*deleted, *added])
        blobs |= read
        self.prefetch(read)
        options = ("-r", "-M", "--diff-filter=R", "--raw", "-z")
        listed = [path, *(change.path for change in deleted)]
        if sum(len(name.encode()) for name in listed) > _LONG:
            return None
        renamed = self._git.run("diff-tree", *options, parent, child, "--", *listed).split(b"\0")
        return porcelain.text(renamed[1]) if len(renamed) > 2 else None  # noqa: PLR2004 - facts, source, target


def _lines(words: Iterable[str]) -> bytes:
    """Return standard input for git: one word a line."""
    return "".join(f"{word}\n" for word in words).encode()


def _blobs(changed: Iterable[ChangedPath]) -> set[Oid]:
    """Return the contents on both sides of changes."""
    return {blob for change in changed for blob in (change.blob_before, change.blob_after) if blob}
