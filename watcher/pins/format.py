"""What a manifest format is, and what reading a broken file gives."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from watcher.pins.checkout import Checkout
from watcher.pins.sites import Sighting


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A part of a file that could not be read; the rest of the file was."""

    file: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.reason}"


class Format(Protocol):
    """One kind of manifest; a module is one."""

    def claims(self, path: str) -> bool:
        """Answer whether files of this path are of this format."""

    def parse(self, path: str, text: str, checkout: Checkout) -> Iterable[Sighting | Broken]:
        """Find the pins in a file; never raise, whatever the text is. The checkout holds what the file may refer to."""
