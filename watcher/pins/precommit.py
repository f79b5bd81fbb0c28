"""pre-commit: the revision of each repository of hooks, and addresses among what hooks install beside themselves."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from watcher.pins import yamltext
from watcher.pins.address import normalise, vcs_urls
from watcher.pins.checkout import Checkout
from watcher.pins.format import Broken
from watcher.pins.sites import Pick, Sighting
from watcher.pins.text import Text
from watcher.pins.tree import Table, strings, tables

_NAME = re.compile(r"\.?pre-commit-config[\w.-]*\.ya?ml|\.pre-commit[\w.-]*\.ya?ml")
_FROZEN = re.compile(r"#\s*(?:frozen|was|from):\s*(\S+)")


def claims(path: str) -> bool:
    """Answer whether a file lists repositories of hooks."""
    return _NAME.fullmatch(path.rpartition("/")[2]) is not None


def parse(path: str, text: str, _: Checkout) -> Iterable[Sighting | Broken]:
    """Find the pins; `local` and `meta` have no upstream."""
    reading = yamltext.read(text, path)
    if reading.problem:
        yield Broken(file=path, line=reading.problem.line, reason=reading.problem.reason)
    lines = text.split("\n")
    for repository in tables(reading.root.get("repos") if isinstance(reading.root, Table) else reading.root):
        yield from _repository(repository, lines)
        for hook in tables(repository.get("hooks")):
            yield from _additional(hook)


def _repository(repository: Table, lines: list[str]) -> Iterator[Sighting]:
    url, ref = repository.text("repo"), repository.text("rev", "sha")
    upstream = normalise(url.chars) if url else None
    if url is None or upstream is None:
        return
    sighting = Pick(upstream=upstream, url=url, ref=ref, command=(ref or url).place()).sighting()
    frozen = _FROZEN.search(lines[sighting.pin.line - 1])
    yield sighting._replace(pin=replace(sighting.pin, requested=frozen[1])) if frozen and ref else sighting


def _additional(hook: Table) -> Iterator[Sighting]:
    for dependency in strings(hook.get("additional_dependencies")):
        for offset, source in vcs_urls(dependency.chars):
            url: Text = dependency[offset:]
            ref = url[source.ref.start : source.ref.end] if source.ref else None
            yield Pick(upstream=source.upstream, url=url, ref=ref, command=url.place(), hint=source.hint).sighting()
