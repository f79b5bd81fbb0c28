"""Where on its lines the ref of a pin stands, and which of several equal words is the ref."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from watcher.errors import EditError
from watcher.model import Pin, RefKind

_COMMIT = {RefKind.SHA, RefKind.SHORT_SHA}
_ARCHIVE = r"\.(?:tar\b|tgz\b|tbz2\b|txz\b|zip\b|git\b|patch\b|diff\b)"
_KEY = re.compile(
    r"(?:[?&#]|\b|_)(?:ref|rev|revision|commit|tag|branch|version|checkout|sha1?|baseline|fetch|origin|-b|refname)\b\W{1,4}$",
    re.IGNORECASE,
)
_PATH = re.compile(r"/(?:archive|tarball|zipball|tar\.gz|zip|raw|tree|blob|commits?|refs/tags|refs/heads|download|-)/$")


class Spot(NamedTuple):
    """Where a word stands in a text, from offset to offset."""

    start: int
    end: int


class Lines:
    """A text by its lines, as `pins` counts them: only a line feed ends one."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]

    def number(self, offset: int) -> int:
        """Return the 1-based line of an offset."""
        return bisect_right(self._starts, offset)

    def start(self, number: int) -> int:
        """Return the offset at which a line starts; the end of the text for a line that is not there."""
        return self._starts[number - 1] if 0 < number <= len(self._starts) else len(self.text)

    def end(self, number: int) -> int:
        """Return the offset at which the characters of a line end, before its line feed."""
        end = self.start(number + 1) - (number < len(self._starts))
        return end - (self.text[self.start(number) : end].endswith("\r"))

    def line(self, number: int) -> str:
        """Return the characters of a line."""
        return self.text[self.start(number) : self.end(number)]


def spots(lines: Lines, pin: Pin, number: int, *, is_shared: bool) -> tuple[Spot, ...]:
    """Return where a pin's ref stands on one of its lines; raise EditError where that cannot be told.

    A commit id that stands on the line twice is one commit: address and folder name, or two mirrors. Of a tag or a
    branch one word is the ref, and what stands before it tells which. `is_shared`: another upstream is pinned on this
    line to the same ref, so that each has a word of its own.
    """
    line, start = lines.line(number), lines.start(number)
    ref = bytes_as_text(pin.ref or "")
    found = list(_occurrences(line, ref, is_commit=pin.ref_kind in _COMMIT))
    if not found:
        raise EditError(
            f"{pin.file}:{number}: the line does not hold {pin.ref!r} any more: the file was changed since it was read"
        )
    if len(found) > 1 and (is_shared or pin.ref_kind not in _COMMIT):
        found = _best(line, ref, found, pin, number)
    return tuple(Spot(start + at, start + at + len(ref)) for at in found)


def bytes_as_text(text: str) -> str:
    """Return a text as it looks in a file that is read byte by byte."""
    return text.encode(errors="surrogateescape").decode("latin-1")


def _occurrences(line: str, ref: str, *, is_commit: bool) -> Sequence[int]:
    """Return where the ref stands as a word of its own: `v1` is not part of `v1.2`, `main` not of `main.yml`."""
    word = re.escape(ref)
    if is_commit:
        pattern = rf"(?<![0-9A-Za-z]){word}(?![0-9A-Za-z])"
    else:
        pattern = rf"(?<![\w.]){word}(?!\w|[.+-]\w)|(?<![\w.]){word}(?={_ARCHIVE})"
    found = [match.start() for match in re.finditer(pattern, line)]
    return found or [match.start() for match in re.finditer(word, line)]


def _best(line: str, ref: str, found: Sequence[int], pin: Pin, number: int) -> list[int]:
    scores = {at: _score(line, ref, at, pin.upstream or "") for at in found}
    best = [at for at in found if scores[at] == max(scores.values())]
    if len(best) > 1:
        raise EditError(
            f"{pin.file}:{number}: {pin.ref!r} stands there {len(found)} times and it is not clear which is the ref of "
            f"{pin.name}: edit the line by hand"
        )
    return best


def _score(line: str, ref: str, at: int, upstream: str) -> int:
    """Weigh what stands around a word: after the upstream's address, after `@`, `#` or a key, a whole value."""
    before, after = line[:at], line[at + len(ref) :]
    path = "/".join(upstream.split("/")[-2:])
    behind = before.rpartition(path)[2] if path and path in before else None
    score = 8 if behind is not None and not re.search(r"\s|://", behind) else 0
    score += 4 if re.search(r"\S[@#]$", before) or _PATH.search(before) else 0
    score += 4 if _KEY.search(before) else 0
    score += 2 if re.search(r"(?:^|[=\s\"':(])$", before) and re.match(r"[\"'\s,;)]|$", after) else 0
    score -= 8 if re.search(r"(?:^|\s)(?:#|//|<!--)", before) else 0
    return score
