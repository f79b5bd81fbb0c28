"""vcpkg's manifests: the baseline is a commit of a registry, and a registry is a git repository."""

from collections.abc import Iterable, Iterator

from watcher.model import RefKind
from watcher.pins import jsontext
from watcher.pins.checkout import Checkout
from watcher.pins.format import Broken
from watcher.pins.sites import Sighting
from watcher.pins.sources import archive, repository
from watcher.pins.text import Span, Text
from watcher.pins.tree import Table, tables

_BUILTIN = "https://github.com/microsoft/vcpkg"


def claims(path: str) -> bool:
    """Answer whether a file is a manifest or its configuration."""
    return path.rpartition("/")[2] in {"vcpkg.json", "vcpkg-configuration.json"}


def parse(path: str, text: str, _: Checkout) -> Iterable[Sighting | Broken]:
    """Find the baselines."""
    root, problem = jsontext.read(text, path)
    if problem is not None:
        yield Broken(file=path, line=problem.line, reason=problem.reason)
    if not isinstance(root, Table):
        return
    yield from _baseline(root.text("builtin-baseline"), None, None)
    for table in (root, root.table("vcpkg-configuration"), root.table("configuration")):
        for registry in (*tables(table.get("default-registry")), *tables(table.get("registries"))):
            yield from _registry(registry)


def _registry(registry: Table) -> Iterator[Sighting]:
    kind = registry.text("kind")
    match kind.chars if kind is not None else "":
        case "builtin":
            yield from _baseline(registry.text("baseline"), None, None)
        case "git":
            yield from _baseline(registry.text("baseline"), registry.text("repository"), registry.text("reference"))
        case "artifact":
            location = registry.text("location")
            found = archive(location, location.place()) if location is not None else None
            if found is not None:
                yield found.sighting()


def _baseline(baseline: Text | None, address: Text | None, branch: Text | None) -> Iterator[Sighting]:
    if baseline is None:
        return
    url = address if address is not None else Text((Span(_BUILTIN, baseline.place()),))
    pick = repository(url, baseline, baseline.place())
    if pick is not None:
        yield pick.sighting(branch.chars if branch is not None and pick.kind is RefKind.SHA else None)
