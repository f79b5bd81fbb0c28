"""Spack recipes: versions and resources that are commits, tags or branches of a git repository."""

import re
from collections.abc import Iterable, Iterator, Mapping

from watcher.model import RefKind
from watcher.pins.checkout import Checkout
from watcher.pins.format import Broken
from watcher.pins.sites import Sighting
from watcher.pins.sources import archive, repository, requested
from watcher.pins.starlark import Module
from watcher.pins.starlarkvalues import Call, Value
from watcher.pins.text import Text

_IS_RECIPE = re.compile(r"\bfrom\s+spack|\bimport\s+spack|\bclass\s+\w+\s*\([^)]*Package[^)]*\)")
_LIVE = re.compile(r"\b(?:commit|tag|branch)\s*=|/archive/")
_MOST = 5_000
_HINTS = {"tag": RefKind.TAG, "branch": RefKind.BRANCH, "commit": None}


def claims(path: str) -> bool:
    """Answer whether a file is a recipe by its name."""
    return path.rpartition("/")[2] == "package.py"


def parse(path: str, text: str, _: Checkout) -> Iterable[Sighting | Broken]:
    """Find the versions of a recipe that git provides; those with a checksum are releases."""
    if not _IS_RECIPE.search(text) or not _LIVE.search(text):
        return
    module = Module(path, text)
    module.run()
    yield from module.broken[:1]
    git = module.names.get("git")
    for call in module.calls[:_MOST]:
        if call.name in {"version", "resource"}:
            yield from _sightings(call, call.keywords.get("git") or (git if call.name == "version" else None))


def _sightings(call: Call, git: Value | None) -> Iterator[Sighting]:
    url = call.keywords.get("url")
    if isinstance(url, Text) and (found := archive(url, url.place())) is not None:
        yield found.sighting()
        return
    ref, hint = _ref(call.keywords)
    if not isinstance(git, Text) or ref is None:
        return
    pick = repository(git, ref, call.place, hint=hint, branch=_chars(call.keywords.get("branch")))
    if pick is not None:
        yield requested(pick.sighting(pick.branch), _chars(call.keywords.get("tag")) if hint is None else None)


def _ref(keywords: Mapping[str, Value]) -> tuple[Text | None, RefKind | None]:
    """Return what git checks out: a commit counts before the tag that it is said to be."""
    for key in ("commit", "tag", "branch"):
        value = keywords.get(key)
        if isinstance(value, Text) and value:
            return value, _HINTS[key]
    return None, None


def _chars(value: Value | None) -> str | None:
    return value.chars if isinstance(value, Text) else None
