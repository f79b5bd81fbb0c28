"""The files of a downstream that may hold pins, as a value; and the one function that reads them from a folder."""

import os
import posixpath
import stat
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from watcher.model import Oid
from watcher.pins.text import UNKNOWN

_T = TypeVar("_T")
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
    _once: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """What somebody worked out of the texts and others will ask for too."""

    def once(self, key: Hashable, make: Callable[[], _T]) -> _T:
        """Return what `make` makes, which depends on the texts and the key alone; it is made the first time."""
        if key not in self._once:
            self._once[key] = make()
        made: _T = self._once[key]
        return made

    def like(self, claims: Callable[[str], bool]) -> Sequence[str]:
        """Return the paths that a format claims."""
        return self.once(claims, lambda: tuple(path for path in self.texts if claims(path)))

    def within(self, folder: str) -> Sequence[str]:
        """Return the sorted paths of the files that stand in a folder itself; the root is empty."""
        return self.once("paths by folder", self._by_folder).get(folder, ())

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
        folder = beside
        while folder:
            folder = folder.rpartition("/")[0]
            candidate = f"{folder}/{tail}" if folder else tail
            if candidate in self.texts:
                return candidate
        called = self.once("paths by name", self._by_name).get(tail.rpartition("/")[2], ())
        alike = [name for name in called if name.endswith("/" + tail)]
        if not alike and "/" in tail and path.startswith("/"):  # copied into an image from elsewhere
            alike = [name for name in called if "/" in name]
        return alike[0] if len(alike) == 1 else None

    def _by_folder(self) -> Mapping[str, Sequence[str]]:
        folders: dict[str, list[str]] = {}
        for name in sorted(self.texts):
            folders.setdefault(name.rpartition("/")[0], []).append(name)
        return folders

    def _by_name(self) -> Mapping[str, Sequence[str]]:
        named: dict[str, list[str]] = {}
        for name in self.texts:
            named.setdefault(name.rpartition("/")[2], []).append(name)
        return named


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
    try:
        status = os.lstat(f"{root}/{name}")
        is_link = stat.S_ISLNK(status.st_mode)
        if is_link:
            status = (root / name).stat()
        if not is_claimed and not 0 < status.st_size <= _SMALL:
            return None
        if not _is_inside(root, name, folders, is_link=is_link):
            return _Skipped("symbolic link out of the folder")
        if not stat.S_ISREG(status.st_mode):
            return None
        if status.st_size > _LARGEST:
            return _Skipped("larger than 4 MiB")
        data = (root / name).read_bytes()
    except (OSError, ValueError, RuntimeError):  # RuntimeError: a loop of symbolic links
        return _Skipped("unreadable")
    return _Skipped("binary") if b"\0" in data[:_SNIFFED] else decoded(data)


def _is_inside(root: Path, name: str, folders: dict[str, bool], *, is_link: bool) -> bool:
    """Answer whether a file lies below the root; each folder is followed once."""
    if is_link:
        return (root / name).resolve().is_relative_to(root)
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
        ".lst",
        ".pins",
        ".properties",
        ".ini",
        ".json",
        ".toml",
        ".tsv",
        ".tag",
        ".rev",
        ".hash",
    }


def decoded(data: bytes) -> str:
    """Return bytes as text with unix line ends; what is no UTF-8 is replaced, never refused."""
    text = data.decode("utf-8", errors="replace").removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace(UNKNOWN, "\ufffd").replace("\0", "\ufffd")


def _walk(root: Path) -> Iterator[str]:
    for path, folders, files in os.walk(root, followlinks=False):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED_FOLDERS)
        folder = Path(path).relative_to(root).as_posix()
        yield from (name if folder == "." else f"{folder}/{name}" for name in files)
