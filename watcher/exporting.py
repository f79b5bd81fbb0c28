"""Write every page into a folder, to be looked at without the service."""

from collections.abc import Iterable
from pathlib import Path

from watcher.errors import UsageError
from watcher.site import BOARD, Site

_MARK = ".watcher-pages"
"""The list of what was written, beside it: nothing else is ever removed."""


def write(site: Site, folder: Path) -> int:
    """Write all pages below a folder and return how many; raise UsageError where it is not ours to write to."""
    mark = folder / _MARK
    try:
        if folder.exists() and not mark.exists() and any(folder.iterdir()):
            raise UsageError(f"{folder} holds other files: name a new folder, or one that pages were written to before")
        before = set(mark.read_text(encoding="utf-8").splitlines()) if mark.exists() else set()
        folder.mkdir(parents=True, exist_ok=True)
        planned = dict.fromkeys(site.addresses())
        _note(mark, before.union(planned))  # so that whoever is ended halfway finds its own again
        written = [address for address in planned if _is_written(site, address, folder)]
        _forget(folder, before.difference(written))
        _note(mark, written)
    except OSError as error:
        raise UsageError(f"cannot write pages to {folder}: {error.strerror}") from error
    return len(written)


def first_page(folder: Path) -> Path:
    """Return the page to begin with."""
    return folder / BOARD


def _is_written(site: Site, address: str, folder: Path) -> bool:
    page = site.page(address, {})
    if page is None:
        return False
    place = folder / address
    place.parent.mkdir(parents=True, exist_ok=True)
    _put(place, page.body)
    return True


def _note(mark: Path, addresses: Iterable[str]) -> None:
    _put(mark, "".join(f"{it}\n" for it in sorted(addresses)).encode())


def _put(place: Path, body: bytes) -> None:
    """Replace a file at once: whoever reads it sees the old one or the new one."""
    new = place.with_name(f"{place.name}.new")
    new.write_bytes(body)
    new.replace(place)


def _forget(folder: Path, addresses: Iterable[str]) -> None:
    """Remove pages that were written earlier and are no more; an address that leads elsewhere is none of them."""
    for address in addresses:
        place = folder / address
        if ".." not in Path(address).parts and not Path(address).is_absolute():
            place.unlink(missing_ok=True)
