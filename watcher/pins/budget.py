"""What reading the shell text of one file may cost."""

from collections.abc import Iterable
from dataclasses import dataclass

from watcher.pins.text import Text

_STEPS = 12_000
"""Commands and words that one file may cost; beyond them the rest of it is not read."""
_PIECES = 64
"""So many pieces of text cost as much as a word."""
_DEEPEST = 40


@dataclass(slots=True)
class Budget:
    """Counts the steps of one file, and how deep its statements stand in each other."""

    steps: int = 0
    depth: int = 0
    limit: int = _STEPS
    """Where reading ends for now: a part of the file may have less than the whole."""

    @property
    def is_spent(self) -> bool:
        """Answer whether what is read now has cost all that it may."""
        return self.steps > self.limit

    @property
    def is_exhausted(self) -> bool:
        """Answer whether the file was too costly to be read to its end."""
        return self.steps > _STEPS

    @property
    def is_deepest(self) -> bool:
        """Answer whether nothing deeper is read."""
        return self.depth >= _DEEPEST

    def exhaust(self) -> None:
        """Spend all that the file may cost."""
        self.steps += _STEPS

    def confine(self, steps: int) -> None:
        """Allow so many further steps and no more, until the limit is set back."""
        self.limit = min(self.limit, self.steps + steps)

    def spend_on(self, texts: Iterable[Text]) -> None:
        """Count a word with all that it may become."""
        self.steps += 1 + sum(len(text.spans) for text in texts) // _PIECES

    def spend_on_copy(self, count: int) -> None:
        """Count the copy of a scope with so many variables."""
        self.steps += count // _PIECES
