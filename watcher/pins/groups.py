"""Which other places of a file are said of the same thing as an offset: its brackets, its block, its section."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from watcher.pins.spots import Lines

_TOKEN = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|(?:^|(?<=\s))(?:#|//)[^\n]*|[(){}\[\]]|\\[\"']")
_OPEN = {")": "(", "}": "{", "]": "["}
_HEAD = re.compile(r"(?P<indent>\s*)(?P<item>(?:-\s+)*)(?=\S)")


class Group(NamedTuple):
    """What stands between two brackets."""

    start: int
    end: int
    bracket: str


@lru_cache(maxsize=4)
def brackets(text: str) -> Sequence[Group]:
    """Return the groups of a text in which strings and comments hide their brackets."""
    opened: list[tuple[int, str]] = []
    groups: list[Group] = []
    for token in _TOKEN.finditer(text):
        char = token[0]
        if char in "([{":
            opened.append((token.start(), char))
        elif char in _OPEN and opened and opened[-1][1] == _OPEN[char]:
            start, bracket = opened.pop()
            groups.append(Group(start, token.end(), bracket))
    return groups


def around(groups: Sequence[Group], offset: int) -> list[Group]:
    """Return the calls and tables around an offset, the innermost first; lists are part of what they stand in."""
    found = [group for group in groups if group.start < offset < group.end and group.bracket != "["]
    return sorted(found, key=lambda group: group.end - group.start)


def block(lines: Lines, number: int) -> range:
    """Return the lines of the mapping of a YAML file that a line is an entry of."""
    column = _column(lines.line(number))
    first = last = number
    while not _is_item(lines.line(first), column) and _column(lines.line(first - 1)) >= column and first > 1:
        first -= 1
    while _column(lines.line(last + 1)) >= column and not _is_item(lines.line(last + 1), column) and last < 1 << 20:
        if not lines.line(last + 1).strip() and lines.start(last + 1) >= len(lines.text):
            break
        last += 1
    return range(first, last + 1)


def own(lines: Lines, numbers: range, number: int) -> list[int]:
    """Return those lines of a block whose key stands in the same column as the one of a line."""
    column = _column(lines.line(number))
    return [at for at in numbers if _column(lines.line(at)) == column]


def _column(line: str) -> int:
    head = _HEAD.match(line)
    return len(head[0]) if head else 1 << 20


def _is_item(line: str, column: int) -> bool:
    head = _HEAD.match(line)
    return head is not None and bool(head["item"]) and len(head[0]) <= column


def section(lines: Lines, number: int) -> range:
    """Return the lines of the section of a TOML or INI file that a line stands in."""
    first = number
    while first > 1 and not lines.line(first).startswith("["):
        first -= 1
    last = number
    while lines.start(last + 1) < len(lines.text) and not lines.line(last + 1).startswith("["):
        last += 1
    return range(first, last + 1)


def continued(lines: Lines, number: int) -> range:
    """Return the lines that backslashes at their ends join to a line."""
    first = last = number
    while first > 1 and lines.line(first - 1).rstrip().endswith("\\"):
        first -= 1
    while lines.line(last).rstrip().endswith("\\"):
        last += 1
    return range(first, last + 1)
