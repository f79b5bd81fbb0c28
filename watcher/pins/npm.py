"""`package.json`: dependencies that npm, yarn, pnpm and bun fetch from a repository, and what scripts clone."""

import re
from collections.abc import Iterable, Iterator, Mapping

from watcher.model import RefKind
from watcher.pins import jsontext
from watcher.pins.address import archive_source, normalise
from watcher.pins.checkout import Checkout
from watcher.pins.entries import carried, entry
from watcher.pins.format import Broken
from watcher.pins.live import is_live
from watcher.pins.scope import Scope
from watcher.pins.shell import Reader
from watcher.pins.sites import Sighting
from watcher.pins.text import Text, unknown
from watcher.pins.tree import Leaf, Node, Table, walk
from watcher.pins.values import just

_SECTIONS = (
    ("dependencies",),
    ("devDependencies",),
    ("optionalDependencies",),
    ("peerDependencies",),
    ("overrides",),
    ("resolutions",),
    ("catalog",),
    ("catalogs",),
    ("workspaces", "catalog"),
    ("workspaces", "catalogs"),
    ("pnpm", "overrides"),
    ("jspm", "dependencies"),
)
_HOSTS: Mapping[str, str] = {
    "github": "github.com",
    "gitlab": "gitlab.com",
    "bitbucket": "bitbucket.org",
    "gist": "gist.github.com",
}
_SHORT = re.compile(r"(?:(?P<host>github|gitlab|bitbucket):)?(?P<path>[\w.-]+/[\w.-]+)(?:#(?P<fragment>.*))?")
_GIST = re.compile(r"gist:(?:[\w-]+/)?(?P<path>[0-9a-f]+)(?:#(?P<fragment>.*))?")
_URL = re.compile(
    r"(?:[\w.@/-]+@(?=git))?(?P<url>(?:git\+\w+|git|ssh|https?)://[^#]+|git@[^#]+|git\+[^#]+)(?:#(?P<fragment>.*))?"
)
_PART = re.compile(r"(?P<key>commit|tag|branch|head|path|workspace|semver|cwd)[=:]|")
_HINTS = {"tag": RefKind.TAG, "branch": RefKind.BRANCH, "head": RefKind.BRANCH}
_COLON = re.compile(r"^ssh://([^/@]+@[^/:]+):(?!\d+/)")
"""npm takes `ssh://git@host:path`, which is neither of the two forms that git knows."""
_FORGE_PAGE = re.compile(
    r"https?://(?:[^/@]*@)?(?:www\.)?(?:github\.com|gitlab\.com|bitbucket\.org)/[^/]+/[^/#?]+?(?:\.git)?/?"
)


def claims(path: str) -> bool:
    """Answer whether a file describes a package of npm's kind."""
    return path.rpartition("/")[2] in {"package.json", "package.json5", "bower.json", "jsr.json", ".package.json"}


def parse(path: str, text: str, checkout: Checkout) -> Iterable[Sighting | Broken]:
    """Find the dependencies with a git source and the clones of scripts."""
    reading = jsontext.read(text, path)
    if reading.problem is not None:
        yield Broken(file=path, line=reading.problem.line, reason=reading.problem.reason)
    if not isinstance(reading.root, Table):
        return
    for keys in _SECTIONS:
        yield from _section(reading.root.get(*keys))
    scripts = [
        leaf.text
        for _, leaf in reading.root.table("scripts").entries
        if isinstance(leaf, Leaf) and is_live(leaf.text.chars)
    ]
    for script in scripts:
        reader = Reader(checkout)
        reader.run(script, Scope(cwd=just(unknown("start", script.place()))))
        yield from reader.finish()


def _section(section: Node | None) -> Iterator[Sighting]:
    for found in walk(section) if isinstance(section, Table) else ():
        sighting = specifier(found.node.text) if isinstance(found.node, Leaf) and found.node.is_string else None
        if sighting is not None:
            yield sighting


def specifier(text: Text) -> Sighting | None:
    """Return the pin of what stands for a version; None where that is a range, a tag of the registry or a path."""
    chars = text.chars
    if archive_source(chars):
        return carried(text)
    found = _GIST.fullmatch(chars) or _SHORT.fullmatch(chars) or _URL.fullmatch(chars)
    if found is None or chars.startswith((".", "/", "~")):
        return None
    upstream = _upstream(found)
    if upstream is None:
        return None
    start = found.start("fragment")
    if start < 0:
        return entry(text, None, upstream=upstream)
    ref, hint = fragment(text[start:])
    return entry(text, ref, hint=hint, upstream=upstream)


def _upstream(found: re.Match[str]) -> str | None:
    groups = found.groupdict()
    if "path" in groups:
        host = _HOSTS["gist" if found.re is _GIST else groups.get("host") or "github"]
        return normalise(f"https://{host}/{groups['path']}")
    url = groups["url"]
    is_git = not url.startswith("http") or url.endswith(".git") or _FORGE_PAGE.fullmatch(url)
    return normalise(_COLON.sub(r"\1:", url.removeprefix("git+"))) if is_git else None


def fragment(text: Text) -> tuple[Text | None, RefKind | None]:
    """Return the ref of what follows `#`: `main`, `commit=…`, `main&path:/sub`; a range of versions names no ref."""
    start = 0
    for part in text.chars.split("&"):
        found = _PART.match(part)
        key = found["key"] if found else None
        if key not in {"path", "workspace", "semver", "cwd"} and part:
            value = start + (found.end() if found else 0)
            return text[value : start + len(part)], _HINTS.get(key or "")
        start += len(part) + 1
    return None, None
