"""Change files where they are: several at once or none, and never through a link that leads out of the folder."""

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from watcher.errors import EditError


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The content of one file, before and after."""

    file: str
    """What a person calls it."""
    old: bytes
    new: bytes


def inside(folder: Path, file: str) -> Path:
    """Return where a file really is; raise EditError where that is outside of the folder, or no plain file."""
    root = folder.resolve()
    try:
        target = (root / file).resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise EditError(f"{file}: it cannot be read: {type(error).__name__}") from error
    if not target.is_relative_to(root) or ".git" in target.relative_to(root).parts:
        raise EditError(f"{file}: it is a symbolic link out of the checkout, and what it leads to is not edited")
    if not target.is_file():
        raise EditError(f"{file}: it is no plain file")
    return target


def content_of(folder: Path, file: str) -> bytes:
    """Read a file of a folder; raise EditError where that cannot be."""
    try:
        return inside(folder, file).read_bytes()
    except OSError as error:
        raise EditError(f"{file}: it cannot be read: {error.strerror}") from error


def replace_all(planned: Mapping[Path, Change]) -> None:
    """Put every new content in place at once, or leave all as it was."""
    back = {path: replace(it, new=it.old) for path, it in planned.items()}
    # The way back is on the disk before anything is changed: a full disk cannot bar it.
    with _copies(planned) as copies, _copies(back) as saved:
        for path, it in planned.items():
            if path.read_bytes() != it.old:
                raise EditError(f"{it.file}: it was changed in this moment; nothing was written")
        done: list[Path] = []
        for path, copy in copies.items():
            try:
                copy.replace(path)
            except OSError as error:
                for other in done:
                    saved[other].replace(other)
                raise _unwritable(planned[path].file, error) from error
            done.append(path)


def _unwritable(file: str, error: OSError) -> EditError:
    return EditError(f"{file}: it cannot be written: {error.strerror}; nothing was changed")


@contextmanager
def _copies(planned: Mapping[Path, Change]) -> Iterator[Mapping[Path, Path]]:
    """Make the new contents beside the files, on disk and with the mode and owner of the old ones."""
    copies: dict[Path, Path] = {}
    try:
        for path, it in planned.items():
            try:
                copies[path] = _copy(path, it.new)
            except OSError as error:
                raise _unwritable(it.file, error) from error
        yield copies
    finally:
        for copy in copies.values():
            copy.unlink(missing_ok=True)


def _copy(path: Path, content: bytes) -> Path:
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    copy = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        _dress(path, copy)
    except OSError:
        copy.unlink(missing_ok=True)
        raise
    return copy


def _dress(old: Path, new: Path) -> None:
    """Give a copy the mode, owner and attributes of the file that it replaces, and a new time."""
    status = old.stat()
    made = new.stat()
    if (status.st_uid, status.st_gid) != (made.st_uid, made.st_gid):
        os.chown(new, status.st_uid, status.st_gid)
    shutil.copystat(old, new)
    with suppress(OSError):
        os.utime(new)
