"""Dockerfiles that a shell script holds in a heredoc and hands to a builder."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from watcher.model import RefKind
from watcher.pins import dockerfile
from watcher.pins.checkout import Checkout
from watcher.pins.format import Broken
from watcher.pins.sites import Sighting

_START = re.compile(r"<<-?[ \t]*(?P<quote>[\"'\\]?)(?P<end>[A-Za-z_]\w*)\b")
_DOCKERFILE = re.compile(r"(?:[ \t]*(?:#[^\n]*|ARG [^\n]*)?\n)*[ \t]*FROM[ \t]+\S", re.IGNORECASE)
_ESCAPED = re.compile(r"\\([$`\\])")
_MOST = 20
"""No script holds more of them."""


class _Heredoc(NamedTuple):
    line: int
    """The line before its first one, counted from 1."""
    body: str
    is_quoted: bool


def sightings(path: str, text: str, checkout: Checkout) -> Iterator[Sighting | Broken]:
    """Find the pins of such Dockerfiles; what the shell puts into one is not followed."""
    if "<<" not in text or "FROM" not in text:
        return
    for heredoc in islice(_heredocs(text.split("\n")), _MOST):
        if not _DOCKERFILE.match(heredoc.body):
            continue
        body = heredoc.body if heredoc.is_quoted else _ESCAPED.sub(r"\1", heredoc.body)
        for found in dockerfile.parse(path, "\n" * heredoc.line + body, checkout):
            if isinstance(found, Sighting) and found.pin.ref_kind is not RefKind.UNRESOLVED:
                yield found


def _heredocs(lines: list[str]) -> Iterator[_Heredoc]:
    ends: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        ends.setdefault(line.strip(), []).append(number)
    at = 0
    while at < len(lines):
        start = _START.search(lines[at])
        while start and lines[at].endswith("\\") and at + 1 < len(lines):
            at += 1  # the command goes on before the heredoc begins
        end = next((end for end in ends.get(start["end"], ()) if end > at), None) if start else None
        if start and end is not None:
            yield _Heredoc(at + 1, "\n".join(lines[at + 1 : end]) + "\n", bool(start["quote"]))
            at = end
        at += 1
