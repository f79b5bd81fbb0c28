"""Ask a repository of ours what differs between commits and where lines came from, in batches.

What a question reads is fetched beforehand, trees first and then contents. Where something was not foreseen, the
question is asked once more after exactly that was brought.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from watcher.errors import GitError
from watcher.model import BlamedLine, ChangedPath, FileDiff, LineRange, Oid
from watcher.upstream import patch, porcelain
from watcher.upstream.git import LARGEST
from watcher.upstream.objects import EMPTY_TREE, Objects, blobs_of, fitting, lines

Pair = tuple[Oid | None, Oid]
"""A commit before (None: nothing) and a commit after."""

_Told = TypeVar("_Told")
_AT_ONCE = 64
"""How many differences are printed by one call: all of it is in memory."""
_EDITS_AT_ONCE = 4096
"""The same for those of few files."""
_NOT_THERE = re.compile(r"no such path|does not exist|unsupported file type|cannot stat path", re.IGNORECASE)
_PLAIN = ("--no-prefix", "--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all")
_PATCH = ("-r", "-p", "--full-index", "--histogram", *_PLAIN)
_HISTORY = ("log", "-z", "--raw", "--no-abbrev", "--no-renames", "--full-history", "--no-mailmap", "--format=%x01%H %P")


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents(Objects):
    """What is in the commits of one repository on disk."""

    # --- differences -------------------------------------------------------------------------------------------------

    def changed_paths(self, pairs: Iterable[Pair], paths: Iterable[str] = ()) -> dict[Pair, tuple[ChangedPath, ...]]:
        """Return what differs between the commits of each pair; a pair without `before` is a root commit.

        With `paths`, what differs of those alone.
        """
        asked, wanted = list(dict.fromkeys(pairs)), frozenset(paths)
        if wanted:
            told = _matched(asked, porcelain.changes(self._raw_pairs(asked, "--no-renames", paths=wanted)))
            return {pair: tuple(it for it in changed if it.path in wanted) for pair, changed in told.items()}
        known = self._seen.changed
        new = [pair for pair in asked if pair not in known]
        known.update(_matched(new, porcelain.changes(self._raw_pairs(new, "--no-renames"))))
        return {pair: known[pair] for pair in asked}

    def renames(self, pairs: Iterable[Pair]) -> dict[Pair, dict[str, ChangedPath]]:
        """Return what the later commit of each pair renamed: new path → its former path and both contents."""
        told = self.changed_paths(pairs)
        moving = {
            pair: changed for pair, changed in told.items() if {"A", "D"} <= {change.status for change in changed}
        }
        self.prefetch(blobs_of(it for changed in moving.values() for it in changed if it.status in {"A", "D"}))
        return {
            pair: dict(found)
            for how, some in self._by_likeness(list(moving)).items()
            for pair, found in _matched(some, porcelain.renames(self._raw_pairs(some, how, "--diff-filter=R"))).items()
        }

    def diffs(self, pairs: Iterable[Pair], *, ignore_space: bool) -> dict[Pair, tuple[FileDiff, ...]]:
        """Return how files differ between the commits of each pair, renames followed, without context."""
        options = ("-U0", *(["-w"] if ignore_space else []))
        asked = list(dict.fromkeys(pairs))
        self._bring_both_sides(asked)
        return {
            pair: tuple(patch.file_diffs(text))
            for how, some in self._by_likeness(asked).items()
            for part in _parts(some)
            for pair, text in _matched(part, patch.by_commit(self._printed(part, (how, *options)))).items()
        }

    def edits(
        self, pairs: Iterable[Pair], paths: Iterable[str], *, renames: bool = False
    ) -> dict[tuple[Oid, Oid], bytes]:
        """Return (content before, content after) → git's patch, as blame compares: white space ignored, no context.

        Of those paths that the commits of a pair have otherwise; the contents must be held.
        """
        asked, listed = list(dict.fromkeys(pairs)), fitting(paths)
        # As text whatever is in them, since blame knows no other; but not whatever else a commit may hold.
        text = ("--text",) if listed else ()
        options = ("--diff-algorithm=myers", "-U0", "-w", *text, "-M" if renames else "--no-renames")
        return {
            key: text
            for at in range(0, len(asked), _EDITS_AT_ONCE)
            for key, text in patch.by_content(self._printed(asked[at : at + _EDITS_AT_ONCE], options, listed))
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
        options += list(self._by_likeness([(before, after)])) if renames else ["--no-renames"]
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

    # --- entries -----------------------------------------------------------------------------------------------------

    def entries_of(self, commits: Iterable[Oid], paths: Iterable[str]) -> dict[Oid, dict[str, Oid | None]]:
        """Return commit → those paths that it has, with their contents; None stands for a submodule.

        Of one commit they are listed, of the others it is asked what differs.
        """
        asked, wanted = list(dict.fromkeys(commits)), frozenset(paths)
        if not asked:
            return {}
        first = next((it for it in asked if it in self._seen.entries), asked[0])
        files, gitlinks = self.entries(first, wanted)
        held: dict[str, Oid | None] = {**files, **dict.fromkeys(gitlinks)}
        found = {first: held}
        for (_, commit), changed in self.changed_paths([(first, it) for it in asked if it != first], wanted).items():
            after = {it.path: it.blob_after for it in changed}
            gone = {it.path for it in changed if it.status == "D"}
            found[commit] = {path: blob for path, blob in (held | after).items() if path not in gone}
        return found

    # --- single entries ----------------------------------------------------------------------------------------------

    def gitlink(self, commit: Oid, path: str) -> Oid | None:
        """Return the commit of a submodule at a commit; None where there is no submodule."""
        return self.entries(commit, [path])[1].get(path)

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
            pairs = [(parent, child) for child, *parents in added for parent in parents]
            for pair, found in self.renames(pairs).items():
                todo += [(pair[0], found[path].path)] if pair[0] and path in found else []
            if (held := self._tip_blob(commit, path)) is not None:
                blobs.add(held)
        return blobs

    def large(self, contents: Iterable[Oid]) -> frozenset[Oid]:
        """Return those contents, which must be held, that are too large to be compared with others."""
        known, asked = self._seen.objects, set(contents)
        sizes = self._facts(name for name in asked if known.get(name) is None)
        known.update((name, fact) for name, fact in sizes.items() if fact[0] != "missing")
        return frozenset(name for name in asked if (fact := known.get(name)) and fact[1] > LARGEST)

    # --- how ---------------------------------------------------------------------------------------------------------

    def _by_likeness(self, pairs: Sequence[Pair]) -> dict[str, list[Pair]]:
        """Return pairs of commits under how git is to find what was renamed; the contents must be held.

        Where contents are large on both sides, by their ids alone: to say how alike they are, git reads them all.
        """
        moved: dict[Pair, list[set[Oid]]] = {}
        for pair, changed in self.changed_paths(pairs).items():
            moved[pair] = [blobs_of(it for it in changed if it.status == status) for status in "AD"]
        large = self.large(blob for sides in moved.values() if all(sides) for side in sides for blob in side)
        found: dict[str, list[Pair]] = {}
        for pair in pairs:
            is_large = all(not side.isdisjoint(large) for side in moved[pair])
            found.setdefault("-M100%" if is_large else "-M", []).append(pair)
        return found

    def _bring_both_sides(self, pairs: Sequence[Pair]) -> None:
        """Fetch what pairs of commits have different."""
        if pairs:
            self.prefetch(blob for changed in self.changed_paths(pairs).values() for blob in blobs_of(changed))

    def _raw_pairs(self, pairs: Sequence[Pair], *options: str, paths: Iterable[str] = ()) -> bytes:
        """Return git's list of what differs between the commits of pairs, each after its commit after."""
        if not pairs:
            return b""
        self.bring_trees(commit for pair in pairs for commit in pair if commit)
        shown = ("--stdin", "--always", "--root", "-r", "--raw", "-z", "--no-abbrev", *options)
        return self._git.run("diff-tree", *shown, "--", *fitting(paths), stdin=_pairs(pairs))

    def _printed(self, pairs: Sequence[Pair], options: Sequence[str], paths: Iterable[str] = ()) -> bytes:
        """Return git's patches between the commits of pairs, each after a line with the commit after."""
        shown = ("--stdin", "--always", "--root", *_PATCH, *options)
        return self._git.run("diff-tree", *shown, "--", *paths, stdin=_pairs(pairs)) if pairs else b""

    def _patch(self, before: Oid | None, after: Oid, *options: str, paths: Iterable[str] = ()) -> bytes:
        """Return git's patch between two commits, whose contents must be held."""
        tree = before or EMPTY_TREE[len(after)]
        return self._git.run("diff-tree", *_PATCH, *options, tree, after, "--", *fitting(paths))

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
        return self.entries(commit, [path])[0].get(path)

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


def _matched(pairs: Sequence[Pair], told: Iterable[tuple[Oid, _Told]]) -> dict[Pair, _Told]:
    """Return pair → what git told of it, in the order in which it was asked; raise GitError where it left some out."""
    found = list(told)
    if [commit for commit, _ in found] != [after for _, after in pairs]:
        raise GitError("cannot compare commits that are not held")
    return {pair: it for pair, (_, it) in zip(pairs, found, strict=True)}


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
