"""What is taken of all that is seen while a Python program is followed, and under which names."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from watcher.pins.pyfinds import Finds
from watcher.pins.pyvalues import Map, PyValue
from watcher.pins.values import Guard, Value


@dataclass(slots=True, eq=False)
class Attention:
    """Hands what is seen to the finds, with the names around it, unless it is only looked at."""

    finds: Finds
    labels: list[str] = field(default_factory=list)
    """Names around what is read now that may tell the platform, the nearest last."""
    is_quiet: bool = False
    """No requirement is taken of what is read now."""
    is_defining: bool = False
    """Only definitions are followed: the module is read for what another one imports."""

    def take(self, value: Value, guard: Guard) -> None:
        """Take a string that is a requirement."""
        if not self.is_quiet:
            self.finds.take(value, guard, self._around())

    def table(self, found: Map, guard: Guard) -> None:
        """Take a dictionary that names a repository."""
        if not self.is_quiet:
            self.finds.table(found, guard, self._around())

    def build(self, arguments: PyValue, beside: Mapping[str, PyValue]) -> None:
        """Take a dictionary of build arguments."""
        self.finds.build(arguments, beside, self._around())

    def download(self, function: str, arguments: Sequence[PyValue], guard: Guard) -> None:
        """Take what a function downloads."""
        self.finds.download(function, arguments, guard, self._around())

    def _around(self) -> list[str]:
        """Return the names around this place, the nearest first."""
        return self.labels[::-1]

    @contextmanager
    def labelled(self, names: Iterable[str]) -> Iterator[None]:
        """Have names around what is read meanwhile."""
        before = self.labels
        self.labels = [*before, *names]
        try:
            yield
        finally:
            self.labels = before

    @contextmanager
    def elsewhere(self, *, is_quiet: bool, is_defining: bool) -> Iterator[None]:
        """Follow something that stands elsewhere, with no names around it."""
        before = self.labels, self.is_quiet, self.is_defining
        self.labels, self.is_quiet, self.is_defining = [], is_quiet, is_defining
        try:
            yield
        finally:
            self.labels, self.is_quiet, self.is_defining = before
