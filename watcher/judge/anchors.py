"""Which lines does a fix repair?

The lines that it removes or alters. A fix that only adds is anchored on what it guards: lines that it merely indented
(an `if` around old code), else its neighbours.
"""

import re
from collections.abc import Iterable, Mapping

from watcher.judge.shipped import Role, role
from watcher.model import FileDiff, Hunk

_INSIGNIFICANT = re.compile(
    r"[{}()\[\];,:\s]*$"
    r"|//|/\*|\*(\s|/|$)|--(\s|$)|\"\"\"|'''"
    r"|#(?!!?\[|\s*(if|ifdef|ifndef|else|elif|endif|define|undef|pragma|error)\b)"
    r"|(import|from \S+ import|#\s*include|(use|using|package)(?=\s+[\w:<]))\b"
    r"|(else|try|begin|end|pass|do|fi|done|then)\b\s*[:{]?$"
)
"""Of a stripped line: nothing or braces; comments (not directives or Rust attributes); imports; bare block words."""
_MOST = 5000
"""So many lines of a change are looked for; who rewrites more repairs none of them in particular."""
_WINDOW = 3
_AROUND = 12
"""Lines on each side of a hunk that count as its surroundings."""


def is_significant(text: str) -> bool:
    """Answer whether a line says something of its own: no blank, brace, comment or import."""
    return _INSIGNIFICANT.match(text.strip()) is None


def removed_lines(diffs: Iterable[FileDiff]) -> dict[str, tuple[int, ...]]:
    """Return path before → significant lines that the diffs remove, in shipped source; diffs ignore white space."""
    found = {
        diff.old_path: tuple(number for hunk in diff.hunks for number in _significant(hunk))
        for diff in diffs
        if diff.old_path is not None and is_code(diff.path)
    }
    return _first(found)


def guarded_lines(
    diffs: Iterable[FileDiff], plain: Iterable[FileDiff], lengths: Mapping[str, int]
) -> dict[str, tuple[int, ...]]:
    """Return path before → lines that added code guards or stands beside.

    `diffs` ignore white space, `plain` do not; a line that only `plain` removes was merely indented. `lengths`: lines
    of each file before.
    """
    indented = removed_lines(plain)
    found = {}
    for diff in diffs:
        if diff.old_path is None or not is_code(diff.path):
            continue
        added = [hunk for hunk in diff.hunks if any(is_significant(text) for text in hunk.new)]
        around = {number for hunk in added for number in _near(hunk, _WINDOW, lengths.get(diff.old_path, 0))}
        lines = indented.get(diff.old_path) or tuple(sorted(around))
        if lines and added:
            found[diff.old_path] = lines
    return _first(found)


def surroundings(diffs: Iterable[FileDiff], lengths: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """Return path before → lines close to what the diffs alter in shipped source, which stay as they are."""
    found: dict[str, tuple[int, ...]] = {}
    for diff in diffs:
        if diff.old_path is not None and is_code(diff.path):
            removed = {number for hunk in diff.hunks for number in _numbers(hunk)}
            near = {number for hunk in diff.hunks for number in _near(hunk, _AROUND, lengths.get(diff.old_path, 0))}
            found[diff.old_path] = tuple(sorted(near - removed))
    return found


def weight(diffs: Iterable[FileDiff]) -> tuple[int, int]:
    """Return how many lines of shipped source the diffs add and remove."""
    hunks = [hunk for diff in diffs if is_code(diff.path) for hunk in diff.hunks]
    return sum(len(hunk.new) for hunk in hunks), sum(len(hunk.old) for hunk in hunks)


def _first(found: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    """Return path → lines, as many of them as are looked for; paths without any are left out."""
    kept: dict[str, tuple[int, ...]] = {}
    left = _MOST
    for path, lines in found.items():
        if some := lines[:left]:
            kept[path] = some
            left -= len(some)
    return kept


def _near(hunk: Hunk, window: int, length: int) -> range:
    """Return the lines of a file of some length that a hunk alters, with a window on each side.

    A hunk that only adds starts at the line after which it adds.
    """
    first = hunk.old_start if hunk.old else hunk.old_start + 1
    return range(max(1, first - window), min(length, first + len(hunk.old) - 1 + window) + 1)


def _numbers(hunk: Hunk) -> range:
    return range(hunk.old_start, hunk.old_start + len(hunk.old))


def _significant(hunk: Hunk) -> list[int]:
    return [hunk.old_start + index for index, text in enumerate(hunk.old) if is_significant(text)]


def is_code(path: str) -> bool:
    """Answer whether a path is code that is shipped, or that builds it."""
    return role(path) in {Role.SOURCE, Role.BUILD}
