"""What an address and a ref of a manifest mean: a repository with the ref beside it, an archive with the ref inside."""

import re
from dataclasses import replace

from watcher.model import RefKind
from watcher.pins.address import archive_source, normalise, vcs_source
from watcher.pins.sites import Pick, Sighting, is_upstream_ref
from watcher.pins.text import Place, Span, Text, joined, unknown
from watcher.pins.values import ALWAYS, Guard
from watcher.refkind import bare_ref

_MIRRORED = re.compile(r"(?<=/)(?=(?:github|gitlab|codeload\.github|raw\.githubusercontent)\.com/)")
_REPOSITORY = re.compile(
    r"https?://(?P<repo>[\w.-]+(?:/[\w.~-]+){2,6})/repository/(?:archive/(?P<a>[^/?#\s]+?)|(?P<b>[^/?#\s]+)/archive)"
    r"\.(?:tar\.\w+|tgz|zip|tar)(?:\?\S*)?"
)
"""How Gitee, and GitLab before its `/-/archive/`, hand out sources."""
_SCHEME = "https://"
_LONGEST = 2000
PARAMETER = "the parameter of a function that nothing calls"
"""Names the unknown value of one: what such a function would fetch is no pin."""
_TEMPLATE = re.compile(r"\{\{|\{%|%\{|\$\{|\$\(|<%|@\w+@")
"""What a program that writes the file puts in."""


def repository(
    url: Text,
    ref: Text | None,
    place: Place,
    *,
    hint: RefKind | None = None,
    branch: str | None = None,
    guard: Guard = ALWAYS,
    labels: tuple[str, ...] = (),
) -> Pick | None:
    """Return the use of a repository at a ref; without one, or with an empty one, at its default branch."""
    if len(url.chars) > _LONGEST:
        return None
    upstream = normalise(url.chars)
    if ref and _TEMPLATE.search(ref.chars):
        ref = unknown("template", ref.place())
    if ref and ref.is_known and not is_upstream_ref(bare_ref(ref.chars)):
        return None
    if upstream is None:
        return None
    return Pick(
        upstream=upstream,
        url=url,
        ref=ref or None,
        command=place,
        hint=hint,
        branch=branch,
        guard=guard,
        labels=labels,
    )


def archive(url: Text, place: Place, *, guard: Guard = ALWAYS, labels: tuple[str, ...] = ()) -> Pick | None:
    """Return the use of a source archive or raw file at a ref, also through a mirror of the forge."""
    if len(url.chars) > _LONGEST:
        return None
    source, offset = archive_source(url.chars), 0
    if source is None:
        mirrored = _MIRRORED.search(url.chars, len(_SCHEME))
        offset = mirrored.start() - len(_SCHEME) if mirrored else 0
        source = archive_source(_SCHEME + url.chars[mirrored.start() :]) if mirrored else None
    if source is None:
        return _from_repository(url, place, guard, labels)
    if source.ref is None:
        return None
    ref = url[source.ref.start + offset : source.ref.end + offset]
    return Pick(upstream=source.upstream, url=url, ref=ref, command=place, hint=source.hint, guard=guard, labels=labels)


def _from_repository(url: Text, place: Place, guard: Guard, labels: tuple[str, ...]) -> Pick | None:
    found = _REPOSITORY.fullmatch(url.chars)
    upstream = normalise(_SCHEME + found["repo"]) if found else None
    if found is None or upstream is None:
        return None
    ref = url[slice(*found.span("a" if found["a"] else "b"))]
    return Pick(upstream=upstream, url=url, ref=ref, command=place, guard=guard, labels=labels)


def installer(url: Text, place: Place, *, guard: Guard = ALWAYS, labels: tuple[str, ...] = ()) -> Pick | None:
    """Return the use that a `git+…` address names."""
    source = vcs_source(url.chars) if url.chars.startswith("git+") and len(url.chars) <= _LONGEST else None
    if source is None:
        return None
    ref = url[source.ref.start : source.ref.end] if source.ref else None
    return Pick(upstream=source.upstream, url=url, ref=ref, command=place, hint=source.hint, guard=guard, labels=labels)


def any_source(url: Text, place: Place, *, guard: Guard = ALWAYS, labels: tuple[str, ...] = ()) -> Pick | None:
    """Return the use of an archive or of a `git+…` address; None where the address is neither."""
    return installer(url, place, guard=guard, labels=labels) or archive(url, place, guard=guard, labels=labels)


def is_dead(pick: Pick) -> bool:
    """Answer whether the ref is left to the caller of a function that nothing calls."""
    return pick.ref is not None and any(span.is_unknown and span.name == PARAMETER for span in pick.ref.spans)


def prefixed(prefix: str, text: Text, name: str = "version") -> Text:
    """Put characters in front that a tool adds by itself; the text stays what a person would edit."""
    return joined((Text((Span(prefix, text.place()),)), text.named(name)))


def requested(sighting: Sighting, ref: str | None) -> Sighting:
    """Say which ref a locked commit came from."""
    pin = sighting.pin
    if not ref or ref == pin.ref:
        return sighting
    return sighting._replace(pin=replace(pin, requested=ref))
