"""Make a commit that changes a few files of a mirrored repository, and push it there as a branch.

No work tree and no index: git's plumbing writes the new blobs and trees, so nothing of the repository is checked out,
and no hook or filter of its is run.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from watcher.errors import GitError
from watcher.model import Oid, oid
from watcher.upstream.git import Git, checked_address
from watcher.upstream.mirror import Mirror
from watcher.upstream.reaching import pinned

_MODES = frozenset({"100644", "100755"})
"""What a file may be that is edited: a symbolic link or a submodule is none."""
_GITLINK = "160000"


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """Who a commit is by."""

    name: str
    email: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """How to show a server who pushes: a user's name and a token, over http(s) alone."""

    user: str
    token: str

    def __repr__(self) -> str:
        return f"Login(user={self.user!r})"


def commit_on(
    mirror: Mirror, base: Oid, entries: Mapping[str, bytes | Oid], message: str, *, author: Author, at: datetime
) -> Oid:
    """Write a commit on top of another one in which some files have other contents, and return it.

    A path with an id in place of contents is a submodule. The same arguments make the same commit. Raises GitError for
    a path that is no regular file at the base, or no submodule.
    """
    mirror.bring_trees([base])
    git = Git(directory=mirror.directory)
    tree = _with_entries(git, oid(_one(git, "rev-parse", "--verify", f"{base}^{{tree}}")), _nested(entries))
    who = f"{_plain(author.name)} <{_plain(author.email)}> {int(at.timestamp())} +0000"
    text = f"tree {tree}\nparent {base}\nauthor {who}\ncommitter {who}\n\n{message.rstrip()}\n"
    return oid(_one(git, "hash-object", "-t", "commit", "-w", "--stdin", stdin=text.encode()))


def push(mirror: Mirror, commit: Oid, branch: str, *, before: Oid | None, login: Login | None = None) -> None:
    """Make a branch of the mirrored repository point to a commit; raise GitError where the server does not let us.

    `before` is where the branch must be for that, None: it must not exist. Whatever somebody else pushed there stays.
    """
    ref = f"refs/heads/{branch}"
    address = checked_address(mirror.url, local=mirror.allowed.files)
    git = Git(directory=mirror.directory, config=_config(mirror, login), local=mirror.allowed.files)
    lease = f"--force-with-lease={ref}:{before or ''}"
    # Not --porcelain: it prints why a push was refused where nobody looks for trouble.
    git.run("push", "--quiet", "--no-verify", lease, address, f"{commit}:{ref}")


def is_by(mirror: Mirror, commit: Oid, author: Author) -> bool:
    """Answer whether a commit is somebody's, and nobody amended it; it is brought where it is not held."""
    if not mirror.keep(commit):
        return False
    git = Git(directory=mirror.directory)
    return _one(git, "show", "-s", "--format=%ae %ce", commit) == f"{author.email} {author.email}"


def _config(mirror: Mirror, login: Login | None) -> tuple[tuple[str, str], ...]:
    # Without deltas: git would look for the old contents of the files to make some of, and a mirror lacks them.
    settings = [*pinned(mirror.url, mirror.allowed), ("pack.window", "0")]
    if mirror.partial:
        settings += [("remote.origin.url", mirror.url), ("remote.origin.promisor", "true")]
    if login:
        basic = base64.b64encode(f"{login.user}:{login.token}".encode()).decode()
        settings.append((f"http.{mirror.url}.extraHeader", f"Authorization: Basic {basic}"))
    return tuple(settings)


Tree = dict[str, "bytes | Oid | Tree"]


def _nested(entries: Mapping[str, bytes | Oid]) -> Tree:
    """Return contents by path as a tree of folders."""
    root: Tree = {}
    for path, content in entries.items():
        *folders, name = path.split("/")
        here = root
        for folder in folders:
            below = here.setdefault(folder, {})
            if not isinstance(below, dict):
                raise GitError(f"{path}: {folder} is no folder")
            here = below
        here[name] = content
    return root


def _with_entries(git: Git, tree: Oid, changed: Tree) -> Oid:
    """Return a tree with other contents, as a new tree."""
    entries = git.run("ls-tree", "-z", tree).split(b"\0")[:-1]
    missing = set(changed)
    lines = []
    for entry in entries:
        facts, _, raw = entry.partition(b"\t")
        mode, kind, held = facts.decode().split(" ")
        name = raw.decode(errors="surrogateescape")
        if name in changed:
            missing.discard(name)
            held = _changed(git, name, (mode, kind, oid(held)), changed[name])
        lines.append(f"{mode} {kind} {held}\t".encode() + raw)
    if missing:
        raise GitError(f"there is no {min(missing)} to change")
    return oid(_one(git, "mktree", "-z", "--missing", stdin=b"".join(line + b"\0" for line in lines)))


def _changed(git: Git, name: str, entry: tuple[str, str, Oid], content: "bytes | Oid | Tree") -> Oid:
    mode, kind, held = entry
    match content:
        case bytes():
            if mode not in _MODES:
                raise GitError(f"{name} is no regular file")
            return oid(_one(git, "hash-object", "-w", "--stdin", stdin=content))
        case str():
            if mode != _GITLINK:
                raise GitError(f"{name} is no submodule")
            return content
        case below:
            if kind != "tree":
                raise GitError(f"{name} is no folder")
            return _with_entries(git, held, below)


def _one(git: Git, *args: str, stdin: bytes | None = None) -> str:
    return git.run(*args, stdin=stdin).decode().strip()


def _plain(text: str) -> str:
    """Return a name as it may stand in a commit."""
    return "".join(char for char in text if char.isprintable() and char not in "<>").strip() or "watcher"
