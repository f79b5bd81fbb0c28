"""PHP's `composer.json` and `composer.lock`: packages from a repository of their own.

What comes by way of the public registry is a registry package, although its lock entry names the repository too.
"""

import re
from collections.abc import Iterable, Iterator

from watcher.pins import jsontext
from watcher.pins.address import normalise
from watcher.pins.checkout import Checkout
from watcher.pins.entries import entry
from watcher.pins.format import Broken
from watcher.pins.sites import Sighting
from watcher.pins.text import Text
from watcher.pins.tree import Leaf, Table, tables, walk
from watcher.refkind import is_commit

_DEVELOPMENT = re.compile(
    r"dev-(?P<branch>[^\s#|,]+?)(?:\s+as\s+\S+)?(?:#(?P<ref>[0-9a-f]{7,40}))?|(?P<line>[\w.]+)-dev(?:#(?P<at>[0-9a-f]{7,40}))?"
)


def claims(path: str) -> bool:
    """Answer whether a file is Composer's."""
    return path.rpartition("/")[2] in {"composer.json", "composer.lock"}


def parse(path: str, text: str, _: Checkout) -> Iterable[Sighting | Broken]:
    """Find the packages that a repository of the project's choice serves."""
    reading = jsontext.read(text, path)
    if reading.problem is not None:
        yield Broken(file=path, line=reading.problem.line, reason=reading.problem.reason)
    root = reading.root
    if not isinstance(root, Table):
        return
    if path.endswith(".lock"):
        for package in (*tables(root.get("packages")), *tables(root.get("packages-dev"))):
            yield from _locked(package)
    else:
        yield from _listed(root)


def _listed(root: Table) -> Iterator[Sighting]:
    for found in walk(root.get("repositories") or Table(root.place)):
        if isinstance(found.node, Table) and found.keys[-1:] == ("source",):
            yield from _source(found.node, None)
    for name, node in (*root.table("require").entries, *root.table("require-dev").entries):
        if isinstance(node, Leaf):
            yield from _required(root, name.chars, node.text)


def _locked(package: Table) -> Iterator[Sighting]:
    version, notified = package.text("version"), package.text("notification-url")
    is_development = version is not None and (version.chars.startswith("dev-") or version.chars.endswith("-dev"))
    if is_development or notified is None or "packagist.org" not in notified.chars:
        yield from _source(package.table("source"), version)


def _source(source: Table, version: Text | None) -> Iterator[Sighting]:
    url, ref, kind = source.text("url"), source.text("reference"), source.text("type")
    if url is None or ref is None or (kind is not None and kind.chars not in {"git", "vcs", "github", "gitlab"}):
        return
    sighting = entry(url, ref, requested=version.chars.removeprefix("dev-") if version else None)
    if sighting is not None:
        yield sighting


def _required(root: Table, name: str, version: Text) -> Iterator[Sighting]:
    """Read `dev-main#<commit>` of a package whose repository is listed beside it."""
    found = _DEVELOPMENT.fullmatch(version.chars)
    url = _repository(root, name) if found else None
    if found is None or url is None:
        return
    group = next((group for group in ("ref", "at", "branch") if found[group]), None)
    if group is None:
        return
    ref = version[found.start(group) : found.end(group)]
    branch = found["branch"] if is_commit(ref.chars) and group != "branch" else None
    sighting = entry(url, ref, branch=branch)
    if sighting is not None:
        yield sighting


def _repository(root: Table, name: str) -> Text | None:
    listed = root.get("repositories")
    found = (
        [*tables(listed), *(node for _, node in listed.entries if isinstance(node, Table))]
        if isinstance(listed, Table)
        else [*tables(listed)]
    )
    urls = [url for table in found if (url := table.text("url")) is not None and normalise(url.chars)]
    last = name.rpartition("/")[2].lower()
    return next(
        (url for url in urls if (normalise(url.chars) or "").lower().endswith("/" + name.lower())), None
    ) or next((url for url in urls if (normalise(url.chars) or "").lower().rpartition("/")[2] == last), None)
