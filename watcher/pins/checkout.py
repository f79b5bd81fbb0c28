"""The files of a downstream that may hold pins, as a value; and the one function that reads them from a folder."""

import os
import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from watcher.model import Oid
from watcher.pins.text import UNKNOWN

_LARGEST = 4 * 1024 * 1024
_SMALL = 4096
"""A file up to this size may be what a script reads a ref from."""
_SNIFFED = 8192
_SKIPPED_FOLDERS = frozenset({".git", ".hg", ".svn", "node_modules", ".venv", "__pycache__"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """What a downstream's tree holds."""

    texts: Mapping[str, str] = field(default_factory=dict)
    """Path with `/` → text, of the files that a format claims and of small ones that they may refer to."""
    gitlinks: Mapping[str, Oid] = field(default_factory=dict)
    """Path of each submodule → its commit in the tree."""
    origin: str | None = None
    """The downstream's own address, where it is known; relative submodules stand beside it."""
    skipped: Mapping[str, int] = field(default_factory=dict)
    """Why files were not read → how many."""
    _named: dict[str, list[str]] = field(default_factory=dict, init=False, repr=False, compare=False)
    """File name → the paths that end in it, once somebody asked."""

    def find(self, path: str, beside: str) -> str | None:
        """Return the file that a script means by a path, or None.

        A script may run in any folder: its own, one above, the root. Where that does not help, one single file of the
        checkout whose path ends the same is meant. What stands before a part that is not known says nothing.
        """
        tail = os.path.normpath(path.rpartition(UNKNOWN)[2].strip("/ ") or ".")
        while tail.startswith("../"):
            tail = tail[3:]
        if tail in {".", ".."} or "\n" in tail or "*" in tail:
            return None
        for folder in PurePosixPath(beside).parents:
            candidate = str(folder / tail)
            if candidate in self.texts:
                return candidate
        alike = [name for name in self._called(tail) if name.endswith("/" + tail)]
        if not alike and "/" in tail and path.startswith("/"):  # copied into an image from elsewhere
            alike = [name for name in self._called(tail) if "/" in name]
        return alike[0] if len(alike) == 1 else None

    def _called(self, path: str) -> list[str]:
        if not self._named:
            for name in self.texts:
                self._named.setdefault(name.rpartition("/")[2], []).append(name)
        return self._named.get(path.rpartition("/")[2], [])


def read(
    folder: Path, names: Iterable[str] | None, gitlinks: Mapping[str, Oid], *, claims: Callable[[str], bool]
) -> Checkout:
    """Read a folder's files: the given names (tracked files, say), or all below it for None.

    Never leaves the folder by a symbolic link, never raises for a file that cannot be read or is not text: those are
    counted.
    """
    root = folder.resolve()
    texts: dict[str, str] = {}
    skipped: dict[str, int] = {}
    folders: dict[str, bool] = {}
    for name in sorted(names if names is not None else _walk(root)):
        is_claimed = claims(name)
        content = _content(root, name, folders, is_claimed=is_claimed) if is_claimed or _may_be_a_list(name) else None
        if isinstance(content, str):
            texts[name] = content
        elif content is not None:
            skipped[content.reason] = skipped.get(content.reason, 0) + 1
    return Checkout(texts=texts, gitlinks=dict(gitlinks), skipped=skipped)


@dataclass(frozen=True, slots=True)
class _Skipped:
    reason: str


def _content(root: Path, name: str, folders: dict[str, bool], *, is_claimed: bool) -> str | _Skipped | None:
    """Return a file's text, or why it was skipped; None for one that nobody would look at."""
    path = root / name
    try:
        size = path.stat().st_size
        if not is_claimed and not 0 < size <= _SMALL:
            return None
        if not _is_inside(root, name, folders):
            return _Skipped("symbolic link out of the folder")
        if not path.is_file():
            return None
        if size > _LARGEST:
            return _Skipped("larger than 4 MiB")
        data = path.read_bytes()
    except (OSError, ValueError, RuntimeError):  # RuntimeError: a loop of symbolic links
        return _Skipped("unreadable")
    return _Skipped("binary") if b"\0" in data[:_SNIFFED] else decoded(data)


def _is_inside(root: Path, name: str, folders: dict[str, bool]) -> bool:
    """Answer whether a file lies below the root; each folder is followed once."""
    path = root / name
    if path.is_symlink():
        return path.resolve().is_relative_to(root)
    folder = name.rpartition("/")[0]
    if folder not in folders:
        folders[folder] = (root / folder).resolve().is_relative_to(root)
    return folders[folder]


def _may_be_a_list(name: str) -> bool:
    """Answer whether a file may hold one ref, or a few, for a script to read."""
    return posixpath.splitext(posixpath.basename(name))[1].lower() in {
        "",
        ".txt",
        ".version",
        ".env",
        ".cfg",
        ".conf",
        ".ref",
        ".commit",
        ".pin",
        ".sha",
        ".list",
    }


def decoded(data: bytes) -> str:
    """Return bytes as text with unix line ends; what is no UTF-8 is replaced, never refused."""
    text = data.decode("utf-8", errors="replace").removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace(UNKNOWN, "\ufffd").replace("\0", "\ufffd")


def _walk(root: Path) -> Iterator[str]:
    for folder, folders, files in os.walk(root, followlinks=False):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED_FOLDERS)
        for name in files:
            yield (Path(folder) / name).relative_to(root).as_posix()
