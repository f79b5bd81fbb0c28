"""What commands print where somebody reads it: a pipe, `$(…)`."""

from collections.abc import Callable, Iterable

from watcher.pins.text import Text, joined
from watcher.pins.values import Case, Guard, Value, distinct, is_compatible, just, tagged


class Printed:
    """Collects what is printed while somebody reads it."""

    def __init__(self) -> None:
        self._values: list[Value] | None = None

    @property
    def is_read(self) -> bool:
        """Answer whether somebody reads what is printed now."""
        return self._values is not None

    def add(self, value: Value | None) -> None:
        """Remember what a command prints, where somebody reads it; None for something unknown."""
        if self._values is not None:
            self._values.append(value or ())

    def captured(self, action: Callable[[], None]) -> Value | None:
        """Return what an action prints, as far as the files tell; None where they do not."""
        before, self._values = self._values, []
        try:
            action()
            printed = self._values
        finally:
            self._values = before
        if not printed or any(not value for value in printed):
            return None
        value: Value = just(Text())
        for part in printed:
            value = distinct(_continued(value, part))
        return just(value[0].text) if len(value) == 1 else value

    def under(self, guard: Guard, action: Callable[[], None]) -> None:
        """Do what happens in one arm of a branch, and remember that what it prints is printed there alone."""
        start = len(self._values or ())
        action()
        if guard and self._values is not None:
            self._values[start:] = [tagged(value, guard) for value in self._values[start:]]


def _continued(value: Value, part: Value) -> Iterable[Case]:
    """Yield what is printed once a part more is; a part of another arm of a branch stands for itself."""
    for a in value:
        for b in part:
            if is_compatible(a.guard, b.guard):
                yield Case(joined((a.text, b.text)), a.guard | b.guard)
    yield from (a for a in value if not any(is_compatible(a.guard, b.guard) for b in part))
    yield from (b for b in part if not any(is_compatible(a.guard, b.guard) for a in value))
