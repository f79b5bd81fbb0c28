"""Conan: source archives of `conandata.yml`, and what a `conanfile.py` clones or gets."""

from collections.abc import Iterable, Iterator

from watcher.model import RefKind
from watcher.pins import yamltext
from watcher.pins.checkout import Checkout
from watcher.pins.format import Broken
from watcher.pins.sites import Sighting
from watcher.pins.sources import any_source, repository
from watcher.pins.starlark import Module
from watcher.pins.starlarkvalues import Call
from watcher.pins.starlarkvalues import Table as Dictionary
from watcher.pins.text import Text
from watcher.pins.tree import Leaf, Row, Table, walk

_REFS = ("commit", "revision", "rev", "sha", "tag", "branch")
_MOST = 5_000
_HINTS = {"tag": RefKind.TAG, "branch": RefKind.BRANCH}


def claims(path: str) -> bool:
    """Answer whether a file is a recipe's."""
    return path.rpartition("/")[2] in {"conandata.yml", "conanfile.py"}


def parse(path: str, text: str, _: Checkout) -> Iterable[Sighting | Broken]:
    """Find the sources; requirements come from a registry."""
    if path.endswith(".py"):
        yield from _recipe(path, text)
        return
    root, problem = yamltext.read(text, path)
    if problem is not None:
        yield Broken(file=path, line=problem.line, reason=problem.reason)
    if isinstance(root, Table):
        for found in walk(root.table("sources"), ("sources",)):
            if isinstance(found.node, Table):
                yield from _entry(found.node)


def _entry(table: Table) -> Iterator[Sighting]:
    for key in ("url", "urls", "mirrors"):
        node = table.get(key)
        leaves = node.nodes if isinstance(node, Row) else [node]
        for leaf in leaves:
            if isinstance(leaf, Leaf):
                ref = next((key for key in _REFS if isinstance(table.get(key), Leaf)), None)
                inner = table.get(ref) if ref else None
                yield from _sighting(leaf.text, inner.text if isinstance(inner, Leaf) else None, ref)


def _sighting(url: Text, ref: Text | None, key: str | None) -> Iterator[Sighting]:
    pick = any_source(url, url.place())
    if pick is None and ref is not None:
        pick = repository(url, ref, ref.place(), hint=_HINTS.get(key or ""))
    if pick is not None:
        yield pick.sighting()


def _recipe(path: str, text: str) -> Iterator[Sighting | Broken]:
    if "git" not in text and "://" not in text:
        return
    module = Module(path, text)
    module.run()
    yield from module.broken[:1]
    scm = module.names.get("scm")
    if isinstance(scm, Dictionary):
        url, revision = scm.entries.get("url"), scm.entries.get("revision")
        if isinstance(url, Text) and isinstance(revision, Text) and revision.chars != "auto":
            yield from _sighting(url, revision, "revision")
    yield from _called(module.calls[:_MOST])


def _called(calls: list[Call]) -> Iterator[Sighting]:
    """Read `git.clone(…)` with the `git.checkout(…)` behind it, and `get(self, …)`."""
    for at, call in enumerate(calls):
        url = call.keywords.get("url") or next((value for value in call.arguments if isinstance(value, Text)), None)
        if not isinstance(url, Text):
            continue
        if call.name in {"get", "download"}:
            found = any_source(url, url.place())
            if found is not None:
                yield found.sighting()
        elif call.name in {"clone", "fetch_commit"}:
            commit = call.keywords.get("commit") or call.keywords.get("branch")
            following = next((other for other in calls[at + 1 : at + 6] if other.name in {"checkout", "clone"}), None)
            if commit is None and following is not None and following.name == "checkout":
                commit = following.keywords.get("commit") or next(iter(following.arguments), None)
            ref = commit if isinstance(commit, Text) else None
            is_open = commit is not None and ref is None
            pick = None if is_open else repository(url, ref, call.place)
            if pick is not None:
                yield pick.sighting()
