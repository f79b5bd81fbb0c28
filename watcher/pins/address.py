"""Which upstream an address in a manifest names, and which ref the address itself carries."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from watcher.address import SCHEME, normalise
from watcher.model import RefKind
from watcher.pins.text import UNKNOWN

__all__ = [
    "Part",
    "Source",
    "archive_source",
    "archive_urls",
    "context_source",
    "normalise",
    "repository_name",
    "vcs_source",
    "vcs_urls",
]


class Part(NamedTuple):
    """Where a part stands in the characters of an address."""

    start: int
    end: int


class Source(NamedTuple):
    """An address that names a repository and perhaps a ref of it."""

    upstream: str
    ref: Part | None = None
    """The ref, without `refs/tags/` and the like; it may contain an unknown part."""
    hint: RefKind | None = None
    """What the syntax says the ref is."""
    branch: Part | None = None
    """A branch that the address names beside a commit."""


def repository_name(upstream: str) -> str:
    """Return the last path component of a normalised address."""
    return upstream.rsplit("/", 1)[-1]


# --- addresses inside other text ------------------------------------------------------------------------------------

_VCS = re.compile(r"git\+(?:(?:https?|ssh|git)://|[\w.-]+@)[^\s\"'<>|;,`\\]+", re.IGNORECASE)
_WEB = re.compile(r"https?://[^\s\"'<>|;,`\\]+", re.IGNORECASE)


def vcs_urls(chars: str) -> Iterator[tuple[int, Source]]:
    """Yield each `git+…` address of an installer, with its offset: `git+https://host/a/b.git@ref#egg=x`."""
    for found in _VCS.finditer(chars):
        source = vcs_source(found[0].rstrip(")]}"))
        if source is not None:
            yield found.start(), source


def vcs_source(url: str) -> Source | None:
    """Read one `git+…` address; the ref stands after the last `@` of the path, or (npm) alone after `#`."""
    address, fragment = _cut(url, "#")
    start = address.index("://") + 3 if "://" in address else len("git+")
    at = address.rfind("@", max(start, address.find("/", start) if "://" in address else address.find(":", start)))
    upstream = normalise(address[:at] if at > 0 else address)
    if upstream is None:
        return None
    if at > 0:
        return _with_ref(url, upstream, Part(at + 1, len(address)))
    if fragment and "=" not in fragment and not fragment.startswith("semver:"):
        return _with_ref(url, upstream, Part(len(address) + 1, len(url)))
    return Source(upstream)


def _cut(url: str, mark: str) -> tuple[str, str]:
    head, _, tail = url.partition(mark)
    return head, tail


_REF_PREFIX = re.compile(r"(?:refs/)?(?:tags|heads)/(?=.)")


def _with_ref(url: str, upstream: str, part: Part, hint: RefKind | None = None) -> Source:
    """Attach a ref without the prefix that says where it lives; an empty one is none."""
    prefix = _REF_PREFIX.match(url[part.start : part.end])
    if prefix:
        hint = RefKind.TAG if "tags/" in prefix[0] else RefKind.BRANCH
        part = Part(part.start + prefix.end(), part.end)
    return Source(upstream, part if part.start < part.end else None, hint)


# --- archives and single files --------------------------------------------------------------------------------------

_NAME = rf"[^/?#{UNKNOWN}]+"
_REF = r"(?P<ref>(?:refs/(?:tags|heads)/)?[^?#\s]+?)"
_ONE = r"(?P<ref>(?:refs/(?:tags|heads)/)?[^/?#\s]+)"
_EXT = rf"\.(?:tar\.\w+|tgz|tbz2?|txz|tar|zip|{UNKNOWN})(?:[?#].*)?"
_FORGE = r"(?:github\.com|(?:[\w-]+\.)*(?:git|gitlab|gitea|github|code|forgejo)[\w-]*(?:\.[\w-]+)+|codeberg\.org|bitbucket\.org|gitee\.com|framagit\.org|invent\.kde\.org|salsa\.debian\.org)(?::\d+)?"  # noqa: E501 - one list of hosts
_ARCHIVES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?P<repo>{_FORGE}/(?:{_NAME}/)+?{_NAME})/-/archive/{_REF}(?:/[^/]+)?{_EXT}",
        rf"(?P<repo>{_FORGE}/{_NAME}/{_NAME})/archive/(?P<ref>[0-9a-f]{{7,40}}|v?\d[\w.+-]*)/[^/?#]+{_EXT}",
        rf"(?P<repo>{_FORGE}/{_NAME}/{_NAME})/archive/{_REF}{_EXT}",
        rf"(?P<repo>{_FORGE}/{_NAME}/{_NAME})/get/{_REF}{_EXT}",
        rf"(?P<repo>github\.com/{_NAME}/{_NAME})/(?:tarball|zipball)/{_REF}(?:[?#].*)?",
        rf"(?:api\.github\.com/repos)/(?P<path>{_NAME}/{_NAME})/(?:tarball|zipball)/{_REF}(?:[?#].*)?",
        rf"codeload\.github\.com/(?P<path>{_NAME}/{_NAME})/(?:legacy\.)?(?:tar\.gz|zip|tar\.bz2)/{_REF}(?:[?#].*)?",
        rf"raw\.github(?:usercontent)?\.com/(?P<path>{_NAME}/{_NAME})/{_ONE}/[^?#]+(?:[?#].*)?",
        rf"(?P<repo>{_FORGE}/(?:{_NAME}/)+?{_NAME})/-/raw/{_ONE}/.+",
        rf"(?P<repo>github\.com/{_NAME}/{_NAME})/raw/{_ONE}/.+",
        rf"(?P<repo>github\.com/{_NAME}/{_NAME})/blob/{_ONE}/[^?#]+\?raw=(?:true|1).*",
        rf"(?P<repo>{_FORGE}/{_NAME}/{_NAME})/raw/(?:branch|tag|commit)/{_ONE}/.+",
        rf"(?P<repo>[\w.-]+/(?:{_NAME}/)*(?P<stem>{_NAME}?)(?:\.git)?)/snapshot/(?P=stem)-{_REF}{_EXT}",
        rf"(?P<repo>[\w.-]+\.googlesource\.com/{_NAME}(?:/{_NAME})*?)/\+archive/{_REF}{_EXT}",
    )
)
_NO_ARCHIVE = re.compile(r"/releases/(?:download|latest)/", re.IGNORECASE)
_LONGEST = 2000


def archive_urls(chars: str) -> Iterator[tuple[int, Source]]:
    """Yield each address of a source archive or a raw file at a ref, with its offset."""
    for found in _WEB.finditer(chars):
        start = max(found[0].rfind("https://"), found[0].rfind("http://"), 0)
        source = archive_source(found[0][start:].rstrip(")]}"))
        if source is not None:
            yield found.start() + start, source


def archive_source(url: str) -> Source | None:
    """Read the address of a source archive or a raw file; None for release assets and everything else."""
    scheme = SCHEME.match(url)
    if scheme is None or len(url) > _LONGEST or _NO_ARCHIVE.search(url):
        return None
    start = scheme.end() + len(re.match(r"[^/@]*@|", url[scheme.end() :])[0])  # type: ignore[index] # it may match nothing
    found = next((found for pattern in _ARCHIVES if (found := pattern.fullmatch(url, start))), None)
    if found is None:
        return None
    where = found["repo"] if "repo" in found.re.groupindex else f"github.com/{found['path']}"
    upstream = normalise(f"{scheme[1]}://{where}")
    return upstream and _with_ref(url, upstream, Part(*found.span("ref")))  # type: ignore[return-value] # None or Source


# --- build contexts -------------------------------------------------------------------------------------------------


def context_source(url: str, *, is_git: bool = False) -> Source | None:
    """Read a git address as BuildKit does: `https://host/a/b.git#ref:folder`, or `?ref=…&commit=…&subdir=…`.

    Only `git@`, `ssh://`, `git://` and http(s) paths that end in `.git` are repositories there; everything else is a
    file.
    """
    address, fragment = _cut(url, "#")
    bare, query = _cut(address, "?")
    is_web = bare.lower().startswith(("http://", "https://"))
    upstream = normalise(bare)
    if upstream is None or (is_web and not is_git and not bare.endswith(".git")):
        return None
    if query:
        return _from_query(len(bare) + 1, query, upstream)
    ref = fragment.partition(":")[0]
    return _with_ref(url, upstream, Part(len(address) + 1, len(address) + 1 + len(ref)))


def _from_query(start: int, query: str, upstream: str) -> Source:
    parts: dict[str, Part] = {}
    for pair in query.split("&"):
        key, _, value = pair.partition("=")
        parts[key] = Part(start + len(key) + 1, start + len(key) + 1 + len(value))
        start += len(pair) + 1
    named = next(((key, parts[key]) for key in ("tag", "branch", "ref") if key in parts), None)
    hints = {"tag": RefKind.TAG, "branch": RefKind.BRANCH}
    commit = parts.get("commit") or parts.get("checksum")
    if commit is not None:
        return Source(upstream, commit, None, named[1] if named and named[0] != "tag" else None)
    return Source(upstream, named[1], hints.get(named[0])) if named else Source(upstream)
