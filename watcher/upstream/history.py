"""Where is a mirror's history read from: git's own file of it, or git's output?

The file is mapped into memory where there is one, where it is large enough to pay for numpy, and where numpy is
installed (the extra `fast`); what is newer than the file comes from git. Whatever is odd about the file or the
repository, the answer comes from git alone.
"""

import mmap
from collections.abc import Iterable, Sequence
from pathlib import Path

from watcher.errors import GitError
from watcher.graph import Graph
from watcher.model import Oid, is_oid
from watcher.numbered import Table
from watcher.upstream.git import Git
from watcher.upstream.mirror import Mirror

_WORTH = 1 << 20
"""Bytes of a file (some 16,000 commits) below which git's output is read sooner than numpy is imported."""


def open_graph(mirror: Mirror, *, worth: int = _WORTH) -> Graph:
    """Return the graph of what a mirror holds; raise GitError when the history is not whole.

    `worth`: bytes from which git's own file is used.
    """
    table = _mapped(mirror.directory, worth)
    return Graph(mirror.parents() if table is None else table)


def _mapped(directory: Path, worth: int) -> Table | None:
    """Return the table in git's files, with what is newer; None where these cannot be used."""
    # Grafts and shallow commits pretend other parents than the file has, and git itself does not use it then.
    if (directory / "shallow").exists() or (directory / "info" / "grafts").exists():
        return None
    try:
        files = [_contents(path) for path in _paths(directory / "objects" / "info")]
        return _table(Git(directory=directory), files) if sum(map(len, files)) >= max(worth, 1) else None
    except (OSError, GitError):
        return None


def _table(git: Git, files: Iterable[memoryview]) -> Table | None:
    try:
        from watcher.commitgraph import CommitGraphError, Mapped, layer  # noqa: PLC0415 - numpy is an extra, and large
    except ImportError:
        return None
    try:
        layers = tuple(map(layer, files))
        tips = tuple(map(Oid, git.run("rev-list", "--all", "--no-walk=unsorted").decode().split()))
        missing = [tip for tip in tips if not any(bytes.fromhex(tip) in it.ids for it in layers)]
        return Mapped(layers, tips, _newer(git, missing, tips))
    except CommitGraphError:
        return None


def _newer(git: Git, missing: Sequence[Oid], tips: Sequence[Oid]) -> dict[Oid, tuple[Oid, ...]]:
    """Return the parents of what some tips reach and no other tip does."""
    if not missing:
        return {}
    others = set(tips).difference(missing)
    asked = "".join([*(f"{tip}\n" for tip in missing), *(f"^{tip}\n" for tip in others)])
    rows = (
        line.split(" ")
        for line in git.run("rev-list", "--parents", "--stdin", stdin=asked.encode()).decode().splitlines()
    )
    return {Oid(commit): tuple(map(Oid, parents)) for commit, *parents in rows}


def _paths(info: Path) -> list[Path]:
    """Return git's files, lowest layer first; a single one comes before a chain of them, as with git."""
    if (single := info / "commit-graph").exists():
        return [single]
    folder = info / "commit-graphs"
    names = (folder / "commit-graph-chain").read_text(encoding="ascii", errors="replace").split()
    return [folder / f"graph-{name}.graph" for name in names if is_oid(name)]


def _contents(path: Path) -> memoryview:
    """Map a file into memory; git never writes to one that is there."""
    with path.open("rb") as file:
        size = path.stat().st_size
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b"")
