"""Which line an offset of a text is on."""

from bisect import bisect_right
from collections.abc import Iterator

from watcher.pins.text import Text, written


class Lines:
    """A text of one file, from which parts are cut that know their lines."""

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file
        self._starts = [0]
        at = text.find("\n")
        while at >= 0:
            self._starts.append(at + 1)
            at = text.find("\n", at + 1)

    def line(self, offset: int) -> int:
        """Return the 1-based line of an offset."""
        return bisect_right(self._starts, offset)

    def cut(self, start: int, end: int) -> Text:
        """Return what stands between two offsets."""
        return written(self.text[start:end], self.file, self.line(start))

    def __iter__(self) -> Iterator[tuple[int, str]]:
        """Yield the lines with their numbers."""
        return iter(enumerate(self.text.split("\n"), 1))
