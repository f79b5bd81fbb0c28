"""Patterns of the configuration: a regular expression that says where refs stand in files that no format reads.

Expressions are matched by an engine that needs time in proportion to the text, whatever the expression: people may
write what they like, and no file can make a scan hang. Look-around and references back do not exist there.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re2

from watcher.config.expression import PatternError, compiled
from watcher.config.glob import is_match
from watcher.pins.address import normalise
from watcher.pins.checkout import Checkout
from watcher.pins.format import Broken
from watcher.pins.sites import Pick, Sighting
from watcher.pins.text import written
from watcher.pins.variant import ANY

_MOST = 10_000
"""How many matches of one pattern in one file are looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """What to look for in some files."""

    files: str
    """A glob of paths: `deps/**/*.txt`."""
    regex: str
    """Has the named group `ref`, and `upstream` where no fixed one is given; `^` and `$` are ends of lines."""
    upstream: str | None = None
    """The repository, where the files do not name it; `{name}` stands for a group: `https://host/{owner}/{name}`."""
    variant: str | None = None


def claims(patterns: Sequence[Pattern]) -> Callable[[str], bool]:
    """Return a function that answers whether some pattern looks at files of a path."""
    return lambda path: any(is_match(pattern.files, path) for pattern in patterns)


def find(patterns: Sequence[Pattern], checkout: Checkout) -> Iterator[Sighting | Broken]:
    """Find what the patterns match in a checkout; one that cannot be used is refused with the configuration."""
    for pattern in patterns:
        try:
            expression = compiled(pattern.regex)
        except PatternError:
            continue
        for path in sorted(checkout.texts):
            if is_match(pattern.files, path):
                yield from _matches(pattern, expression, path, checkout.texts[path])


def _matches(pattern: Pattern, expression: "re2._Regexp[str]", path: str, text: str) -> Iterable[Sighting | Broken]:
    groups = expression.groupindex
    if "ref" not in groups:
        return
    line, last = 1, 0
    for count, found in enumerate(expression.finditer(text)):
        start, end = found.span(groups["ref"])
        if count >= _MOST:
            break
        if start < 0 or start == end:
            continue
        line += text.count("\n", last, start)
        last = start
        named = {name: found.group(number) or "" for name, number in groups.items()}
        address = _address(pattern, named)
        upstream = normalise(address)
        if upstream is None:
            yield Broken(file=path, line=line, reason=f"expected the address of a repository, found {address[:60]!r}")
            continue
        ref = written(text[start:end], path, line)
        sighting = Pick(upstream=upstream, url=ref, ref=ref, command=ref.place()).sighting()
        variant = pattern.variant or named.get("variant") or sighting.pin.variant or ANY
        yield sighting._replace(pin=replace(sighting.pin, variant=variant))


def _address(pattern: Pattern, groups: dict[str, str]) -> str:
    """Return the address that a match names; `owner/name` alone is one of GitHub."""
    address = groups.get("upstream", "")
    if pattern.upstream is not None:
        address = pattern.upstream
        for name, value in groups.items():
            address = address.replace(f"{{{name}}}", value)
    is_short = "://" not in address and "@" not in address and address.count("/") == 1
    return f"https://github.com/{address}" if is_short else address
