"""`.gitmodules`: where submodules come from; the commits are entries of the tree."""

import posixpath
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from watcher.model import Pin, RefKind
from watcher.pins.address import normalise, repository_name
from watcher.pins.checkout import Checkout
from watcher.pins.format import Broken
from watcher.pins.sites import Sighting
from watcher.pins.text import Place
from watcher.pins.variant import variant_of

_SECTION = re.compile(r"\s*\[\s*(?P<kind>[\w.-]+)(?:\s+\"(?P<name>(?:[^\"\\]|\\.)*)\")?\s*\]\s*(?P<rest>.*)")
_ENTRY = re.compile(r"\s*(?P<key>[A-Za-z][\w-]*)\s*(?:=\s*(?P<value>.*))?")


@dataclass(slots=True, kw_only=True)
class _Submodule:
    name: str
    entries: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Key in lower case → value and line."""


def claims(path: str) -> bool:
    """Answer whether a file lists submodules: only the one at the root does."""
    return path == ".gitmodules"


def parse(path: str, text: str, checkout: Checkout) -> Iterable[Sighting | Broken]:
    """Find the submodules and their commits in the tree; without an entry in the tree the pin is unresolved."""
    for found in _submodules(path, text):
        if isinstance(found, Broken):
            yield found
        elif "url" in found.entries:
            yield _sighting(path, found, checkout)


def folder_of(text: str, line: int) -> str | None:
    """Return the folder of the submodule whose address stands on a line; None where there is none."""
    for found in _submodules(".gitmodules", text):
        if isinstance(found, _Submodule) and found.entries.get("url", ("", 0))[1] == line:
            return _folder(found) or None
    return None


def _folder(submodule: _Submodule) -> str:
    return submodule.entries.get("path", (submodule.name, 0))[0].strip("/")


def _sighting(path: str, submodule: _Submodule, checkout: Checkout) -> Sighting:
    url, line = submodule.entries["url"]
    folder = _folder(submodule)
    commit = checkout.gitlinks.get(folder)
    upstream = _upstream(url, checkout.origin)
    branch = submodule.entries.get("branch", ("", 0))[0]
    pin = Pin(
        name=repository_name(upstream) if upstream else posixpath.basename(folder),
        upstream=upstream,
        ref=commit,
        ref_kind=RefKind.SHA if commit else RefKind.UNRESOLVED,
        file=path,
        line=line,
        variant=variant_of((posixpath.basename(folder), *reversed(folder.split("/"))), path),
        branch=branch if commit and branch and branch != "." else None,
        where="gitlink" if commit else None,
    )
    return Sighting(pin, Place(path, line))


def _upstream(url: str, origin: str | None) -> str | None:
    """Return the upstream of a submodule; a relative address stands beside the downstream's own, if that is known."""
    if not url.startswith(("./", "../")):
        return normalise(url)
    base = normalise(origin) if origin else None
    if base is None:
        return None
    parts = urlsplit(base)
    return normalise(f"{parts.scheme}://{parts.netloc}{posixpath.normpath(posixpath.join(parts.path, url))}")


def _submodules(path: str, text: str) -> Iterator[_Submodule | Broken]:
    """Read the part of git's configuration syntax that git writes here."""
    current: _Submodule | None = None
    is_broken = False
    for number, line in enumerate(text.split("\n"), 1):
        section = _SECTION.fullmatch(line)
        if section:
            if current is not None:
                yield current
            is_submodule = section["kind"].lower() == "submodule" and section["name"]
            current = _Submodule(name=re.sub(r"\\(.)", r"\1", section["name"])) if is_submodule else None
            line = section["rest"]  # noqa: PLW2901 - an entry may follow on the same line
        if not line.strip() or line.lstrip().startswith(("#", ";")):
            continue
        entry = _ENTRY.fullmatch(line)
        if entry is None and not is_broken:
            is_broken = True
            yield Broken(file=path, line=number, reason=f"expected `key = value`, found {line.strip()[:60]!r}")
        elif entry is not None and current is not None:
            current.entries[entry["key"].lower()] = (_value(entry["value"] or ""), number)
    if current is not None:
        yield current


def _value(raw: str) -> str:
    quoted = re.match(r'\s*"((?:[^"\\]|\\.)*)"', raw)
    if quoted:
        return re.sub(r"\\(.)", r"\1", quoted[1])
    return re.split(r"\s[#;]", raw, maxsplit=1)[0].strip()
