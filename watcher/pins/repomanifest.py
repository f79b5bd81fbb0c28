"""Manifests of Android's `repo`: projects of remotes, with a revision of their own, of the remote or by default."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from urllib.parse import urlsplit
from xml.parsers import expat

from watcher.model import Pin, RefKind
from watcher.pins.address import normalise
from watcher.pins.checkout import Checkout
from watcher.pins.format import Broken
from watcher.pins.sites import Sighting
from watcher.pins.sources import repository
from watcher.pins.text import Place, Text, written
from watcher.pins.variant import variant_of
from watcher.refkind import bare_ref, ref_kind

_NAME = re.compile(r"default\.xml|.*manifests?[\w.-]*\.xml", re.IGNORECASE)
_FOLDERS = frozenset({"manifests", "manifest", "local_manifests", ".repo"})
_INCLUDES = 6
_MOST = 20_000


def claims(path: str) -> bool:
    """Answer whether a file may be a manifest; Android's `AndroidManifest.xml` is another thing."""
    if not path.endswith(".xml"):
        return False
    file = PurePosixPath(path)
    is_named = _NAME.fullmatch(file.name) is not None or bool(_FOLDERS & set(file.parts[:-1]))
    return is_named and file.name != "AndroidManifest.xml"


def parse(path: str, text: str, checkout: Checkout) -> Iterable[Sighting | Broken]:
    """Find the projects of a manifest."""
    manifest = _read(path, text)
    if manifest.root != "manifest":
        return
    if manifest.broken is not None:
        yield manifest.broken
    known = _included(manifest, path, checkout)
    for element in manifest.elements:
        if element.name in {"project", "extend-project", "superproject"}:
            yield from _sighting(element, known, checkout)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Element:
    name: str
    attributes: Mapping[str, Text]


@dataclass(slots=True, kw_only=True)
class _Manifest:
    root: str = ""
    elements: list[_Element] = field(default_factory=list)
    broken: Broken | None = None


def _read(path: str, text: str) -> _Manifest:
    """Read the elements of a file. Entities of its own are refused: they can only hide or blow up things."""
    manifest = _Manifest()
    data = text.encode("utf-8", "replace")
    lines = text.split("\n")
    parser = expat.ParserCreate(encoding="utf-8")

    def start(name: str, attributes: Mapping[str, str]) -> None:
        manifest.root = manifest.root or name
        if manifest.root != "manifest" or len(manifest.elements) >= _MOST:
            return
        line = parser.CurrentLineNumber
        texts = {key: written(value, path, _line(lines, line, key, value)) for key, value in attributes.items()}
        manifest.elements.append(_Element(name=name, attributes=texts))

    def refuse(*_: object) -> None:
        message = "an entity of its own"
        raise _RefusedError(message)

    parser.StartElementHandler = start
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, _RefusedError) as error:
        line = parser.CurrentLineNumber
        manifest.broken = Broken(file=path, line=line, reason=f"expected XML: {str(error).split(':')[0]}")
    return manifest


class _RefusedError(Exception):
    """The file declares an entity."""


def _line(lines: list[str], start: int, key: str, value: str) -> int:
    """Return the line of an attribute's value; a tag may go over several."""
    pattern = re.compile(rf"(?<![\w:-]){re.escape(key)}\s*=\s*[\"']")
    for number in range(start, min(start + 60, len(lines) + 1)):
        if pattern.search(lines[number - 1]):
            return number
        if ">" in lines[number - 1] and value not in lines[number - 1]:
            return start
    return start


def _included(manifest: _Manifest, path: str, checkout: Checkout) -> dict[str, list[_Element]]:
    """Return remotes, defaults and projects, of the files that a manifest includes too."""
    known: dict[str, list[_Element]] = {"remote": [], "default": [], "project": []}
    queue, seen = [manifest], {path}
    for current in queue:
        for element in current.elements:
            if element.name in known:
                known[element.name].append(element)
            name = element.attributes.get("name")
            found = checkout.find(name.chars, path) if element.name == "include" and name is not None else None
            if found is not None and found not in seen and len(seen) <= _INCLUDES:
                seen.add(found)
                queue.append(_read(found, checkout.texts[found]))
    return known


def _sighting(element: _Element, known: Mapping[str, list[_Element]], checkout: Checkout) -> Iterator[Sighting]:
    name = element.attributes.get("name")
    if name is None or not name:
        return
    if element.name == "extend-project":
        if "revision" not in element.attributes:
            return
        project = next((other for other in known["project"] if _chars(other, "name") == name.chars), element)
    else:
        project = element
    default = known["default"][-1].attributes if known["default"] else {}
    remote_name = element.attributes.get("remote") or project.attributes.get("remote") or default.get("remote")
    remotes = [
        other for other in known["remote"] if remote_name is not None and _chars(other, "name") == remote_name.chars
    ]
    remote = remotes[-1].attributes if remotes else {}
    ref = element.attributes.get("revision") or remote.get("revision") or default.get("revision")
    branch = element.attributes.get("upstream") or element.attributes.get("dest-branch")
    fetch = _absolute(remote["fetch"].chars, checkout.origin) if "fetch" in remote else None
    url = written(f"{fetch.rstrip('/')}/{name.chars}", *name.place()) if fetch else None
    pick = repository(url, ref, name.place(), branch=None) if url is not None else None
    if pick is not None:
        yield pick.sighting(branch.chars.removeprefix("refs/heads/") if branch and pick.kind is RefKind.SHA else None)
    elif ref is not None and ref:
        yield _unnamed(name, ref)


def _unnamed(name: Text, ref: Text) -> Sighting:
    """Return the pin of a project whose remote the files do not tell."""
    place = ref.place()
    bare = bare_ref(ref.chars)
    pin = Pin(
        name=name.chars.removesuffix(".git").rstrip("/").rsplit("/", 1)[-1],
        upstream=None,
        ref=bare,
        ref_kind=ref_kind(ref.chars),
        file=place.file,
        line=place.line,
        variant=variant_of((), place.file),
    )
    return Sighting(pin, Place(*name.place()))


def _absolute(fetch: str, origin: str | None) -> str | None:
    """Return a remote's address; `..` is seen from the manifest's own repository."""
    if not fetch.startswith((".", "/")):
        return fetch
    base = normalise(origin) if origin else None
    if base is None:
        return None
    parts = urlsplit(base)
    path = parts.path.rstrip("/").split("/")
    for step in fetch.strip("/").split("/"):
        path = path[:-1] if step == ".." else path
    return f"{parts.scheme}://{parts.netloc}{'/'.join(path)}"


def _chars(element: _Element, key: str) -> str | None:
    value = element.attributes.get(key)
    return value.chars if value is not None else None
