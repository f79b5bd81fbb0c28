"""Say which objects a bare repository of ours holds, and bring those that are missing, in batches.

Questions never fetch: what they read is brought beforehand, and a forgotten batch is an error instead of a crawl. An
object that was seen once stays, so it is not looked for again.
"""

import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from watcher.address import NAMED, Allowed, host
from watcher.errors import GitError
from watcher.model import ChangedPath, Oid, is_oid, oid
from watcher.upstream import porcelain
from watcher.upstream.git import Git
from watcher.upstream.reaching import pinned

EMPTY_TREE = {40: "4b825dc642cb6eb9a060e54bf8d69288fbee4904"}
EMPTY_TREE[64] = hashlib.sha256(b"tree 0\0").hexdigest()
HOUR = 3600.0
LATER = 600.0
"""Seconds that a fetch may take which brings no whole history: a server that drips must not hold a pass for long."""
FETCH = ("fetch", "-q", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--stdin")
_REDIRECTED = re.compile(r"returned error: 30[12378]")
_MOST_TREES = 8
"""So many listings of whole commits are kept at hand."""

_LONG = 64 * 1024
"""Bytes of paths that fit on a command line without worry."""

Config = tuple[tuple[str, str], ...]
"""Settings of git."""
Listing = tuple[dict[str, Oid], dict[str, Oid]]
"""The regular files of a commit, and its submodules with the commits that they are at."""


@dataclass(slots=True)
class _Seen:
    """What was found to be held."""

    objects: dict[Oid, tuple[str, int] | None] = field(default_factory=dict)
    """With type and size; None where nobody looked since they were brought."""
    commits: set[Oid] = field(default_factory=set)
    """Those whose trees are held."""
    trees: dict[Oid, Oid] = field(default_factory=dict)
    """Commit → its tree, held or not."""
    listings: dict[Oid, Listing] = field(default_factory=dict)
    entries: dict[Oid, tuple[frozenset[str], Listing]] = field(default_factory=dict)
    """Commit → paths that were asked for, and what it has of them."""
    at: str | None = None
    """Where the upstream's address was found to lead, by a redirect."""
    changed: dict[tuple[Oid | None, Oid], tuple[ChangedPath, ...]] = field(default_factory=dict)
    """What differs between commits, where somebody asked for all of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Objects:
    """The objects of one repository on disk."""

    directory: Path
    url: str
    """Where to fetch from. It is never written to disk."""
    partial: bool
    """Trees and file contents are missing until they are fetched."""
    allowed: Allowed = NAMED
    """What its address, and where that leads, may be."""
    _seen: _Seen = field(default_factory=_Seen, compare=False, repr=False)

    # --- bring -------------------------------------------------------------------------------------------------------

    def prefetch(self, objects: Iterable[Oid]) -> int:
        """Fetch those objects that are missing, trees with all below them, in one batch; return how many they were."""
        missing = self._missing(objects)
        if missing:
            # No talk about what we have: the server would search its history for it.
            noop = (("fetch.negotiationAlgorithm", "noop"),)
            self._fetch("--filter=blob:none", config=noop, stdin=lines(missing))
            self._seen.objects.update(dict.fromkeys(missing))
        return len(missing)

    def bring_trees(self, commits: Iterable[Oid]) -> None:
        """Fetch the trees of commits that are missing, in one batch: without them nobody can tell what differs."""
        wanted = [commit for commit in dict.fromkeys(commits) if commit not in self._seen.commits]
        if not wanted or not self.partial:
            return
        trees = self._seen.trees
        if new := [commit for commit in wanted if commit not in trees]:
            asked = ("log", "--no-walk=unsorted", "--stdin", "--no-mailmap", "--format=%T")
            printed = self._git.run(*asked, stdin=lines(new)).decode().split()
            trees.update(zip(new, map(Oid, printed), strict=True))
        self.prefetch(trees[commit] for commit in wanted)
        self._seen.commits.update(wanted)

    def bring_past(self, commit: Oid) -> None:
        """Fetch the trees of a commit and of all before it: a clone without contents cannot do without them."""
        if self.partial:
            self.bring_trees(map(Oid, self._git.run("rev-list", commit).decode().split()))

    def lacking(self, commit: Oid) -> tuple[Oid, ...]:
        """Return which trees and contents of a commit are missing here; none where it is whole. Asks nobody."""
        options = ("--objects", "--no-object-names", "--no-walk", "--missing=print")
        printed = self._git.run("rev-list", *options, commit).decode().split()
        return tuple(oid(name[1:]) for name in printed if name.startswith("?"))

    def is_whole(self, commit: Oid) -> bool:
        """Answer whether everything is here that a checkout of a commit needs. Asks nobody."""
        return not self.lacking(commit)

    def complete(self, commit: Oid) -> int:
        """Fetch what a commit lacks, in one batch for its trees and one for their contents; return how many objects."""
        count = 0
        while lacking := self.lacking(commit):
            # Once more only where a tree was missing, whose own contents show after it came.
            brought = self.prefetch(lacking)
            if not brought:
                raise GitError(f"{len(lacking)} objects of {commit[:12]} cannot be read, though they were brought")
            count += brought
        return count

    # --- ask ---------------------------------------------------------------------------------------------------------

    def tree(self, commit: Oid) -> Listing:
        """Return the regular files of a commit, and its submodules with the commits that they are at."""
        listings = self._seen.listings
        if commit not in listings:
            self.bring_trees([commit])
            found = porcelain.tree(self._git.run("ls-tree", "-r", "-z", "--full-tree", commit))
            if len(listings) >= _MOST_TREES:
                del listings[next(iter(listings))]
            listings[commit] = found
        return listings[commit]

    def files(self, commit: Oid) -> dict[str, Oid]:
        """Return the regular files of a commit."""
        return self.tree(commit)[0]

    def entries(self, commit: Oid, paths: Iterable[str]) -> Listing:
        """Return those paths that a commit has: among the files, among the submodules, or nowhere."""
        wanted = frozenset(paths)
        asked, found = self._seen.entries.get(commit, (frozenset(), ({}, {})))
        if not wanted <= asked:
            self.bring_trees([commit])
            listed = fitting(wanted)
            shown = ("-z", "--full-tree") if listed else ("-r", "-z", "--full-tree")
            found = porcelain.tree(self._git.run("ls-tree", *shown, commit, "--", *listed))
            self._seen.entries[commit] = wanted, found
        files, gitlinks = found
        return {it: files[it] for it in wanted & files.keys()}, {it: gitlinks[it] for it in wanted & gitlinks.keys()}

    def gitlinks(self, commit: Oid) -> dict[str, Oid]:
        """Return the submodules of a commit, with the commits that they are at."""
        return self.tree(commit)[1]

    def read(self, blobs: Iterable[Oid], *, largest: int = 4 * 1024 * 1024) -> dict[Oid, bytes]:
        """Return contents, fetched in one batch where missing; those larger than `largest` bytes are left out."""
        wanted, known = list(dict.fromkeys(blobs)), self._seen.objects
        self.prefetch(wanted)
        known.update(self._facts(name for name in wanted if known[name] is None))
        fitting = [name for name in wanted if (fact := known[name]) and fact[0] == "blob" and fact[1] <= largest]
        if not fitting:
            return {}
        return dict(porcelain.objects(self._git.run("cat-file", "--batch", "--buffer", stdin=lines(fitting))))

    def size(self) -> int:
        """Return the bytes that the repository takes on disk."""
        return sum(file.stat().st_size for file in self.directory.rglob("*") if file.is_file())

    # --- how ---------------------------------------------------------------------------------------------------------

    @property
    def _git(self) -> Git:
        """Return git for questions: it knows no remote, so it cannot fetch."""
        return Git(directory=self.directory)

    def _fetch(self, *options: str, stdin: bytes, config: Config = ()) -> None:
        """Fetch what `stdin` names from the remote, which is known to hold what is missing."""
        filtered = "tree:0" if self.partial else None
        has_history = any((self.directory / "objects" / "pack").glob("*.pack"))

        def fetch(remote: Config) -> None:
            git = Git(directory=self.directory, config=(*remote, *config), local=self.allowed.files)
            git.run(*FETCH, *options, "origin", stdin=stdin, timeout=LATER if has_history else HOUR)

        self.ask(fetch, filtered)

    def ask(self, ask: Callable[[Config], object], filtered: str | None = None) -> None:
        """Ask the remote, with git's settings for it (`filtered`: for a partial clone); follow its redirect, if any."""
        try:
            ask(self._remote(filtered))
        except GitError as error:
            if self._seen.at is not None or not _REDIRECTED.search(error.said):
                raise
            from watcher.upstream.refs import landing  # noqa: PLC0415 - large, and few upstreams redirect

            self._seen.at = landing(self.url, self.allowed)
            ask(self._remote(filtered))

    def _remote(self, filtered: str | None) -> Config:
        url = self._seen.at or self.url
        is_home = host(url) == host(self.url)
        promise = (("remote.origin.promisor", "true"), ("remote.origin.partialCloneFilter", filtered or ""))
        return (
            ("remote.origin.url", url),
            *pinned(url, self.allowed if is_home else Allowed(private=False)),
            *(promise if filtered else ()),
        )

    def _missing(self, wanted: Iterable[Oid]) -> list[Oid]:
        """Return those objects that are not held."""
        facts = self._facts(name for name in wanted if name not in self._seen.objects)
        self._seen.objects.update((name, fact) for name, fact in facts.items() if fact[0] != "missing")
        return [name for name, fact in facts.items() if fact[0] == "missing"]

    def _facts(self, wanted: Iterable[Oid]) -> dict[Oid, tuple[str, int]]:
        """Return each object's type (`missing` where it is not held) and size."""
        asked = list(dict.fromkeys(wanted))
        if not asked:
            return {}
        for name in asked:
            if not is_oid(name):
                raise GitError(f"expected an object id, found {name[:80]!r}")
        rows = self._git.run("cat-file", "--batch-check", "--buffer", stdin=lines(asked)).decode().splitlines()
        split = (row.split(" ") for row in rows)
        return {Oid(name): (kind, int(size[0]) if size else 0) for name, kind, *size in split}


def fitting(paths: Iterable[str]) -> list[str]:
    """Return paths that fit on a command line; none, which means all, where they are too many."""
    listed = sorted(set(paths))
    return [] if sum(len(path.encode()) for path in listed) > _LONG else listed


def lines(words: Iterable[str]) -> bytes:
    """Return standard input for git: one word a line."""
    return "".join(f"{word}\n" for word in words).encode()


def blobs_of(changed: Iterable[ChangedPath]) -> set[Oid]:
    """Return the contents on both sides of changes."""
    return {blob for change in changed for blob in (change.blob_before, change.blob_after) if blob}
