"""Kustomize and Helm: bases, components and charts that come from a git repository."""

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from watcher.pins import yamltext
from watcher.pins.address import archive_source, normalise
from watcher.pins.checkout import Checkout
from watcher.pins.format import Broken
from watcher.pins.sites import Pick, Sighting
from watcher.pins.text import Text
from watcher.pins.tree import Leaf, Table, strings, walk

_NAME = re.compile(
    r"kustomization(?:\.ya?ml)?|kustomizeconfig.*\.ya?ml|chart\.ya?ml|requirements\.ya?ml|helmfile.*\.ya?ml(?:\.gotmpl)?",
    re.IGNORECASE,
)
_HELM = re.compile(
    r"git(?:\+|::)(?P<url>(?:https?|ssh|file)://[^@?\s]+(?:@(?=[^/]*:)[^@?\s]+)?)(?:@(?P<path>[^?\s]*))?(?:\?(?P<query>\S*))?"
)
_REMOTE = re.compile(
    r"(?:git::)?(?P<url>(?:(?:https?|ssh|git)://)?(?:[\w.-]+@)?[A-Za-z0-9][\w-]*(?:\.[\w-]+)+(?::\d+)?[/:][\w.~-]+/[\w.~-]+?(?:\.git)?)"
    r"(?:/+(?P<path>[^?\s]*))?(?:\?(?P<query>\S*))?"
)
_LISTS = ("resources", "bases", "components", "crds", "configurations", "generators", "transformers")


def claims(path: str) -> bool:
    """Answer whether a file is a kustomization, or a chart's list of charts."""
    return _NAME.fullmatch(path.rpartition("/")[2]) is not None


def parse(path: str, text: str, _: Checkout) -> Iterable[Sighting | Broken]:
    """Find the remote bases and the charts in repositories; charts of an index have versions."""
    nodes, problem = yamltext.documents(text, path)
    if problem and "{{" not in text:  # a template is no YAML yet
        yield Broken(file=path, line=problem.line, reason=problem.reason)
    is_kustomization = "kustom" in PurePosixPath(path).name.lower()
    for root in nodes:
        if is_kustomization and isinstance(root, Table):
            for name in _LISTS:
                for entry in strings(root.get(name)):
                    yield from _remote(entry)
            continue
        for found in walk(root):
            if isinstance(found.node, Leaf) and found.keys[-1:] in {("repository",), ("chart",), ("url",), ("path",)}:
                yield from _chart(found.node.text)


def _remote(entry: Text) -> Iterator[Sighting]:
    """Read `https://github.com/a/b//folder?ref=v1`, `github.com/a/b/folder?ref=v1`, `git@host:a/b.git`, a raw file."""
    source = archive_source(entry.chars)
    if source is not None:
        ref = entry[source.ref.start : source.ref.end] if source.ref else None
        yield Pick(upstream=source.upstream, url=entry, ref=ref, command=entry.place(), hint=source.hint).sighting()
        return
    found = _REMOTE.fullmatch(entry.chars)
    if found is None or re.search(r"/(?:releases/download|-/)", entry.chars) or _is_file(found):
        return
    url = found["url"]
    upstream = normalise(url if re.match(r"\w+://|[\w.-]+@", url) else f"https://{url}")
    if upstream is not None:
        yield _asked(entry, upstream, found)


def _is_file(found: re.Match[str]) -> bool:
    """Answer whether an address is of one file on some server: kustomize downloads it."""
    is_plain = not found["query"] and "//" not in found[0].partition("://")[2] and ".git" not in found["url"]
    return is_plain and (found["path"] or found["url"]).lower().endswith((".yaml", ".yml", ".json"))


def _chart(text: Text) -> Iterator[Sighting]:
    """Read what Helm's git plug-in takes: `git+https://host/a/b@folder?ref=v1`."""
    found = _HELM.fullmatch(text.chars)
    upstream = normalise(re.sub(r"(?<=[^:])//.*", "", found["url"])) if found else None
    if found and upstream:
        yield _asked(text, upstream, found)


def _asked(text: Text, upstream: str, found: re.Match[str]) -> Sighting:
    asked = re.search(r"(?:^|&)(?:ref|version)=([^&]*)", found["query"] or "")
    start = found.start("query")
    ref = text[start + asked.start(1) : start + asked.end(1)] if asked else None
    return Pick(upstream=upstream, url=text, ref=ref or None, command=text.place()).sighting()
