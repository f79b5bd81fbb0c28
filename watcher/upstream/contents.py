"""Ask a repository of ours what differs between commits and where lines came from, in batches.

What a question reads is fetched beforehand, trees first and then contents. Where something was not foreseen, the
question is asked once more after exactly that was brought.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from watcher.errors import GitError
from watcher.model import BlamedLine, ChangedPath, FileDiff, LineRange, Oid
from watcher.upstream import patch, porcelain
from watcher.upstream.objects import EMPTY_TREE, Listing, Objects, blobs_of, lines

Pair = tuple[Oid | None, Oid]
"""A commit before (None: nothing) and a commit after."""

_LONG = 64 * 1024
"""Bytes of paths that fit on a command line without worry."""
_AT_ONCE = 64
"""How many differences are printed by one call: all of it is in memory."""
_ROUNDS = 3
"""How often a path is followed to the one that it was renamed from, in foresight."""
_MOST_SOURCES = 20
"""So many deleted files of one commit may be what a new one was renamed from."""
_MOST_VERSIONS = 20_000
"""More contents than this are not brought in foresight."""
_NOT_THERE = re.compile(r"no such path|does not exist|unsupported file type|cannot stat path", re.IGNORECASE)
_PLAIN = ("--no-prefix", "--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all")
_PATCH = ("-r", "-p", "--full-index", "--histogram", *_PLAIN)
_HISTORY = ("log", "-z", "--raw", "--no-abbrev", "--no-renames", "--full-history", "--no-mailmap", "--format=%x01%H %P")


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents(Objects):
    """What is in the commits of one repository on disk."""

    # --- differences -------------------------------------------------------------------------------------------------

    def changed_paths(self, pairs: Iterable[Pair]) -> dict[Pair, tuple[ChangedPath, ...]]:
        """Return what differs between the commits of each pair; a pair without `before` is a root commit."""
        asked = list(dict.fromkeys(pairs))
        if not asked:
            return {}
        self.bring_trees(commit for pair in asked for commit in pair if commit)
        options = ("--stdin", "--always", "--root", "-r", "--raw", "-z", "--no-abbrev", "--no-renames")
        told = list(porcelain.changes(self._git.run("diff-tree", *options, stdin=_pairs(asked))))
        if [commit for commit, _ in told] != [after for _, after in asked]:
            raise GitError("cannot compare commits that are not held")
        return {pair: paths for pair, (_, paths) in zip(asked, told, strict=True)}

    def diffs(self, pairs: Iterable[Pair], *, ignore_space: bool) -> dict[Pair, tuple[FileDiff, ...]]:
        """Return how files differ between the commits of each pair, renames followed, without context."""
        options = ("-U0", "-M", *(["-w"] if ignore_space else []))
        asked = list(dict.fromkeys(pairs))
        self._bring_both_sides(asked)
        return {
            pair: tuple(patch.file_diffs(text))
            for part in _parts(asked)
            for pair, text in zip(part, self._patches(part, options), strict=True)
        }

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
        self.prefetch(blobs_of(changed))
        options = ["-w"] if ignore_space else []
        options += ["-M"] if renames else ["--no-renames"]
        printed = self._patch(before, after, "-U0", *options, paths=[change.path for change in changed])
        found = patch.file_diffs(printed)
        return tuple(f for f in found if wanted is None or f.path in wanted or f.old_path in wanted)

    def patch_ids(self, pairs: Iterable[Pair]) -> dict[Pair, str]:
        """Return `git patch-id --verbatim` of the difference of each pair; those without a difference are left out."""
        asked = list(dict.fromkeys(pairs))
        self._bring_both_sides(asked)
        found: dict[Pair, str] = {}
        # git tells them by the commit after: no two of one call may share it.
        for part in (it for some in _parts(asked) for it in _distinct(some)):
            printed = self._printed(part, ("--no-renames",))
            told = self._git.run("patch-id", "--verbatim", stdin=printed).decode().splitlines()
            by_commit = {commit: name for name, commit in (line.split() for line in told)}
            found |= {pair: by_commit[pair[1]] for pair in part if pair[1] in by_commit}
        return found

    def patch_id(self, before: Oid | None, after: Oid) -> str | None:
        """Return `git patch-id --verbatim` of the difference; None where there is none."""
        return self.patch_ids([(before, after)]).get((before, after))

    # --- single entries ----------------------------------------------------------------------------------------------

    def gitlink(self, commit: Oid, path: str) -> Oid | None:
        """Return the commit of a submodule at a commit; None where there is no submodule."""
        return self._entry(commit, path)[1].get(path)

    def content(self, commit: Oid, path: str) -> bytes | None:
        """Return what a file holds at a commit; None where there is no file, or too large a one."""
        blob = self._tip_blob(commit, path)
        return self.read([blob]).get(blob) if blob else None

    # --- where lines came from ---------------------------------------------------------------------------------------

    def blame(
        self, commit: Oid, path: str, ranges: Iterable[LineRange], *, bound: Oid | None
    ) -> tuple[BlamedLine, ...]:
        """Return where lines came from; those at least as old as `bound` are boundary lines. Empty without the file."""
        wanted = list(ranges)
        if not wanted:
            return ()
        if commit == bound:
            return self._all_older(commit, path, wanted)
        options = [f"-L{span.first},{span.last}" for span in wanted]
        revision = f"{bound}..{commit}" if bound else commit
        asked = ("blame", "-w", "--line-porcelain", *options, revision, "--", path)
        try:
            return tuple(porcelain.blamed(self._git.run(*asked)))
        except GitError as error:
            # git says so, too, where it lacks the content.
            if _NOT_THERE.search(str(error)) and self._tip_blob(commit, path) is None:
                return ()
            if not self.partial:
                raise
        self.prefetch(self.blame_blobs([(commit, path)], bound=bound))
        return tuple(porcelain.blamed(self._git.run(*asked)))

    def bring_versions(self, tips: Iterable[Oid], paths: Iterable[str], *, bound: Oid | None) -> None:
        """Fetch what paths held at any commit from `bound` to the tips, and what they were renamed from, in one batch.

        That is what blaming them will read, and what any commit between says of them.
        """
        from_, wanted = list(tips), set(paths)
        if not self.partial or not from_ or not wanted:
            return
        blobs: set[Oid] = set()
        new = wanted
        for _ in range(_ROUNDS):
            found, sources = self._versions(from_, new, bound)
            blobs |= found
            new = sources - wanted
            wanted |= new
            if not new or len(blobs) > _MOST_VERSIONS:
                break
        older = self.files(bound) if bound else {}
        blobs |= {older[path] for path in wanted & older.keys()}
        if len(blobs) <= _MOST_VERSIONS:
            self.prefetch(blobs)

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
            revisions = [str(commit), *([f"^{bound}"] if bound else [])]
            printed = self._raw(revisions, [path], "-m")
            added: set[tuple[Oid, ...]] = set()
            for ids, change in porcelain.history(printed):
                blobs |= blobs_of([change])
                if change.status == "A":
                    added.add(ids)
            for child, *parents in added:
                todo += [(p, source) for p in parents if (source := self._source(p, child, path, blobs))]
            if (held := self._tip_blob(commit, path)) is not None:
                blobs.add(held)
        return blobs

    # --- how ---------------------------------------------------------------------------------------------------------

    def _bring_both_sides(self, pairs: Sequence[Pair]) -> None:
        """Fetch what pairs of commits have different."""
        if pairs:
            self.prefetch(blob for changed in self.changed_paths(pairs).values() for blob in blobs_of(changed))

    def _printed(self, pairs: Sequence[Pair], options: Sequence[str]) -> bytes:
        """Return git's patches between the commits of pairs, each after a line with the commit after."""
        return self._git.run("diff-tree", "--stdin", "--always", "--root", *_PATCH, *options, stdin=_pairs(pairs))

    def _patches(self, pairs: Sequence[Pair], options: Sequence[str]) -> Iterator[bytes]:
        """Yield git's patch between the commits of each pair."""
        told = list(patch.by_commit(self._printed(pairs, options)))
        if [commit for commit, _ in told] != [after for _, after in pairs]:
            raise GitError("cannot compare commits that are not held")
        return (text for _, text in told)

    def _patch(self, before: Oid | None, after: Oid, *options: str, paths: Iterable[str] = ()) -> bytes:
        """Return git's patch between two commits, whose contents must be held."""
        tree = before or EMPTY_TREE[len(after)]
        return self._git.run("diff-tree", *_PATCH, *options, tree, after, "--", *_fitting(paths))

    def _versions(self, tips: list[Oid], paths: set[str], bound: Oid | None) -> tuple[set[Oid], set[str]]:
        """Return what paths held in commits after `bound`, and the paths that they may have been renamed from."""
        revisions = [*map(str, tips), *([f"^{bound}"] if bound else [])]
        # Against the first parent alone: what a merge has from another one, a commit of that one's had before.
        printed = self._raw(revisions, _fitting(paths), "--diff-merges=first-parent", "--full-diff")
        blobs: set[Oid] = set()
        sources: set[str] = set()
        for _, group in groupby(porcelain.history(printed), key=lambda it: it[0]):
            changed = [change for _, change in group]
            blobs |= blobs_of(change for change in changed if change.path in paths)
            gone = [change for change in changed if change.status == "D"]
            if len(gone) <= _MOST_SOURCES and any(it.status == "A" and it.path in paths for it in changed):
                blobs |= blobs_of(gone)
                sources |= {change.path for change in gone}
        return blobs, sources

    def _raw(self, revisions: Sequence[str], paths: Sequence[str], *options: str) -> bytes:
        """Return what commits changed at paths, after bringing trees that nobody foresaw."""
        asked, stdin = (*_HISTORY, *options, "--stdin", "--", *paths), lines(revisions)
        try:
            return self._git.run(*asked, stdin=stdin)
        except GitError:
            if not self.partial:
                raise
        reached = self._git.run("rev-list", "--boundary", "--stdin", stdin=stdin).decode().replace("-", "").split()
        self.bring_trees(map(Oid, reached))
        return self._git.run(*asked, stdin=stdin)

    def _tip_blob(self, commit: Oid, path: str) -> Oid | None:
        """Return what a path holds at a commit, if it is a file."""
        return self._entry(commit, path)[0].get(path)

    def _entry(self, commit: Oid, path: str) -> Listing:
        """Return the entry of a path as `tree` does: among the files, among the submodules, or nowhere."""
        self.bring_trees([commit])
        return porcelain.tree(self._git.run("ls-tree", "-z", "--full-tree", commit, "--", path))

    def _all_older(self, commit: Oid, path: str, ranges: Iterable[LineRange]) -> tuple[BlamedLine, ...]:
        """Return lines as boundary lines: git blames no empty range."""
        blob = self._tip_blob(commit, path)
        if blob is None:
            return ()
        content = self.read([blob]).get(blob, b"").split(b"\n")
        return tuple(
            BlamedLine(
                line=number,
                text=content[number - 1].decode(errors="replace"),
                origin=commit,
                origin_path=path,
                origin_line=number,
                is_boundary=True,
            )
            for wanted in ranges
            for number in range(wanted.first, min(wanted.last, len(content)) + 1)
        )

    def _source(self, parent: Oid, child: Oid, path: str, blobs: set[Oid]) -> str | None:
        """Return the path from which a commit renamed a file, adding what blame reads to find that out."""
        changed = self.changed_paths([(parent, child)])[parent, child]
        deleted = [change for change in changed if change.status == "D"]
        added = [change for change in changed if change.path == path and change.status == "A"]
        if not deleted or not added:
            return None
        read = blobs_of([*deleted, *added])
        blobs |= read
        self.prefetch(read)
        options = ("-r", "-M", "--diff-filter=R", "--raw", "-z")
        listed = _fitting([path, *(change.path for change in deleted)])
        if not listed:
            return None
        renamed = self._git.run("diff-tree", *options, parent, child, "--", *listed).split(b"\0")
        return porcelain.text(renamed[1]) if len(renamed) > 2 else None  # noqa: PLR2004 - facts, source, target


def _pairs(pairs: Iterable[Pair]) -> bytes:
    return lines(f"{after} {before}" if before else after for before, after in pairs)


def _parts(pairs: Sequence[Pair]) -> list[Sequence[Pair]]:
    return [pairs[at : at + _AT_ONCE] for at in range(0, len(pairs), _AT_ONCE)]


def _distinct(pairs: Iterable[Pair]) -> list[list[Pair]]:
    """Return pairs in groups in which no two have the same commit after."""
    groups: list[dict[Oid, Pair]] = []
    for pair in pairs:
        free = next((group for group in groups if pair[1] not in group), None)
        if free is None:
            groups.append(free := {})
        free[pair[1]] = pair
    return [list(group.values()) for group in groups]


def _fitting(paths: Iterable[str]) -> list[str]:
    """Return paths that fit on a command line; none, which means all, where they are too many."""
    listed = sorted(set(paths))
    return [] if sum(len(path.encode()) for path in listed) > _LONG else listed
