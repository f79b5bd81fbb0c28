"""Zephyr's west: projects of a manifest with their remotes and defaults; archives that a module names."""

from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from watcher.pins import yamltext
from watcher.pins.checkout import Checkout
from watcher.pins.format import Broken
from watcher.pins.sites import Sighting
from watcher.pins.sources import archive, repository
from watcher.pins.text import Span, Text, joined
from watcher.pins.tree import Table, tables

_FOLDERS = frozenset({"submanifests", "zephyr"})


def claims(path: str) -> bool:
    """Answer whether a file may be a manifest of west or describe a module."""
    if not path.endswith((".yml", ".yaml")):
        return False
    file = PurePosixPath(path)
    return file.stem.startswith("west") or file.stem.endswith("west") or bool(_FOLDERS & set(file.parts[:-1]))


def parse(path: str, text: str, _: Checkout) -> Iterable[Sighting | Broken]:
    """Find the projects of a manifest."""
    is_module = PurePosixPath(path).stem == "module" and "blobs:" in text
    if not is_module and ("manifest:" not in text or "projects:" not in text):
        return
    root, problem = yamltext.read(text, path)
    if problem is not None:
        yield Broken(file=path, line=problem.line, reason=problem.reason)
    if not isinstance(root, Table):
        return
    manifest = root.table("manifest")
    for project in tables(manifest.get("projects")):
        yield from _project(project, manifest)
    for blob in tables(root.get("blobs")):
        url = blob.text("url")
        found = archive(url, url.place()) if url is not None else None
        if found is not None:
            yield found.sighting()


def _project(project: Table, manifest: Table) -> Iterator[Sighting]:
    name, defaults = project.text("name"), manifest.table("defaults")
    if name is None:
        return
    url = project.text("url") or _address(project, manifest, name)
    ref = _scalar(project, "revision") or _scalar(defaults, "revision")
    pick = repository(url, ref, (ref or name).place()) if url is not None else None
    if pick is not None:
        yield pick.sighting()


def _scalar(table: Table, key: str) -> Text | None:
    """Return a value as written: a revision of digits alone is one too."""
    node = table.get(key)
    text = getattr(node, "text", None)
    return text if isinstance(text, Text) and text else None


def _address(project: Table, manifest: Table, name: Text) -> Text | None:
    """Return the address below the remote's base."""
    remote = project.text("remote") or manifest.table("defaults").text("remote")
    remotes = [other for other in tables(manifest.get("remotes")) if remote is not None and _is(other, remote)]
    base = remotes[0].text("url-base") if remotes else None
    if base is None:
        return None
    path = project.text("repo-path") or name
    return joined((Text((Span(base.chars.rstrip("/") + "/", path.place()),)), path))


def _is(remote: Table, wanted: Text) -> bool:
    name = remote.text("name")
    return name is not None and name.chars == wanted.chars
