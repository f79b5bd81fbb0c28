"""`Package.swift` and `Package.resolved`: packages at an exact version, a branch or a revision of their repository."""

import re
from collections.abc import Iterable, Iterator

from watcher.model import RefKind
from watcher.pins import jsontext
from watcher.pins.checkout import Checkout
from watcher.pins.entries import entry
from watcher.pins.format import Broken
from watcher.pins.lines import Lines
from watcher.pins.quoted import constants, pairs, value, without_comments
from watcher.pins.sites import Sighting
from watcher.pins.tree import Table, walk

_PACKAGE = re.compile(r"\.package\s*\((?P<body>[^()]*(?:\([^()]*\)[^()]*)*)\)")
_CALL = re.compile(r"\.(?P<key>exact|branch|revision)\s*\(\s*(?:(?P<string>\"[^\"\n]*\")|(?P<name>[A-Za-z_]\w*))\s*\)")
_REFS = {"revision": None, "exact": RefKind.TAG, "branch": RefKind.BRANCH}


def claims(path: str) -> bool:
    """Answer whether a file is the Swift package manager's."""
    name = path.rpartition("/")[2]
    return (
        name in {"Package.swift", "Package.resolved", "project.pbxproj"}
        or re.fullmatch(r"Package@swift-[\d.]+\.swift", name) is not None
    )


def parse(path: str, text: str, _: Checkout) -> Iterable[Sighting | Broken]:
    """Find the packages of a manifest that name one ref, or the revisions of a lock."""
    if path.endswith(".resolved"):
        yield from _resolved(path, text)
    elif path.endswith(".pbxproj"):
        yield from _referenced(path, text)
    else:
        yield from _listed(path, text)


def _listed(path: str, text: str) -> Iterator[Sighting | Broken]:
    lines = Lines(without_comments(text, "//"), path)
    known = constants(lines)
    found = None
    for found in _PACKAGE.finditer(lines.text):
        start, end = found.span("body")
        values = pairs(lines, start, end, known)
        for call in _CALL.finditer(lines.text, start, end):
            values.setdefault(call["key"], value(lines, call, known))
        key = next((key for key in _REFS if key in values), None)
        sighting = entry(values["url"], values[key], hint=_REFS[key]) if key and "url" in values else None
        if sighting is not None:
            yield sighting
    rest = lines.text.find(".package(", found.end() if found else 0)
    if rest >= 0:
        yield Broken(file=path, line=lines.line(rest), reason="expected `)` behind `.package(`")


_REFERENCE = re.compile(
    r"isa = XCRemoteSwiftPackageReference;\s*repositoryURL = \"?(?P<url>[^\s\";]+)\"?;\s*"
    r"requirement = \{(?P<body>[^{}]*)\}"
)
_SETTING = re.compile(r"\b(?P<key>\w+) = \"?(?P<value>[^\";\n]+)\"?;")
_KINDS = {"branch": "branch", "revision": "revision", "exactVersion": "version"}


def _referenced(path: str, text: str) -> Iterator[Sighting | Broken]:
    """Read what an Xcode project takes at one ref; a range of versions is none."""
    lines = Lines(text, path)
    for found in _REFERENCE.finditer(text):
        start, end = found.span("body")
        settings = {one["key"]: one for one in _SETTING.finditer(text, start, end)}
        kind = settings["kind"]["value"] if "kind" in settings else ""
        ref = settings.get(_KINDS.get(kind, ""))
        if ref is not None:
            hint = {"branch": RefKind.BRANCH, "exactVersion": RefKind.TAG}.get(kind)
            sighting = entry(lines.cut(*found.span("url")), lines.cut(*ref.span("value")), hint=hint)
            if sighting is not None:
                yield sighting


def _resolved(path: str, text: str) -> Iterator[Sighting | Broken]:
    reading = jsontext.read(text, path)
    if reading.problem is not None:
        yield Broken(file=path, line=reading.problem.line, reason=reading.problem.reason)
    for found in walk(reading.root):
        if not isinstance(found.node, Table):
            continue
        url, state = found.node.text("location", "repositoryURL"), found.node.table("state")
        revision = state.text("revision")
        asked = state.text("branch", "version")
        sighting = entry(url, revision, requested=asked.chars if asked else None) if url and revision else None
        if sighting is not None:
            yield sighting
