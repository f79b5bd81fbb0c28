"""How a long pass tells what it is doing."""

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Told what is being done, how many of it are done, and how many there are."""


def quiet(_doing: str, _done: int, _of: int) -> None:
    """Tell nobody."""
