"""Entries of manifests: an address that carries its ref, or an address and a ref in keys of one table."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from watcher.model import RefKind
from watcher.pins.address import Source, archive_source, archive_urls, normalise, vcs_source, vcs_urls
from watcher.pins.sites import Pick, Sighting
from watcher.pins.text import Place, Text
from watcher.pins.tree import Table

REF_KEYS: Mapping[str, RefKind | None] = {
    "rev": None,
    "revision": None,
    "commit": None,
    "commit_hash": None,
    "commit_sha": None,
    "commit_id": None,
    "sha": None,
    "git_sha": None,
    "git_commit": None,
    "git_rev": None,
    "git_ref": None,
    "tag": RefKind.TAG,
    "git_tag": RefKind.TAG,
    "ref": None,
    "branch": RefKind.BRANCH,
    "git_branch": RefKind.BRANCH,
}
"""Keys that hold a ref beside an address, the more exact first, and what the key says the ref is."""
_LONGEST = 4000
_SPELLING = re.compile(r"[-_]?([A-Z])|-")


def entry(
    url: Text,
    ref: Text | None,
    *,
    hint: RefKind | None = None,
    labels: Sequence[str] = (),
    branch: str | None = None,
    requested: str | None = None,
    upstream: str | None = None,
    command: Place | None = None,
) -> Sighting | None:
    """Return the pin of an address and a ref that stand apart; None where the address names no repository.

    Without a ref the one that the address itself may carry counts: `https://host/a/b.git@v1`, `git+…#main`.
    """
    if ref is None and upstream is None:
        return carried(url, labels=labels, requested=requested)
    upstream = upstream or normalise(url.chars.strip().removeprefix("git+").split("#")[0])
    if upstream is None:
        return None
    place = command or (ref.place() if ref and not ref.is_known else url.place())
    pick = Pick(upstream=upstream, url=url, ref=ref or None, command=place, hint=hint, labels=tuple(labels))
    return _asked(pick.sighting(branch), requested)


def carried(url: Text, *, labels: Sequence[str] = (), requested: str | None = None) -> Sighting | None:
    """Return the pin of an address that carries its ref, or that stands alone and follows the default branch."""
    chars = url.chars.strip()
    start = len(url.chars) - len(url.chars.lstrip())
    prefix = "" if chars.startswith("git+") else "git+"
    source = archive_source(chars)
    if source is None:
        prefixed = vcs_source(prefix + chars)
        source = _moved(prefixed, -len(prefix)) if prefixed else None
    return _asked(picked(url[start:], source, labels).sighting(), requested) if source else None


def picked(url: Text, source: Source, labels: Sequence[str] = ()) -> Pick:
    """Return the use of an upstream that an address with its ref inside asks for."""
    return Pick(
        upstream=source.upstream,
        url=url,
        ref=url[source.ref.start : source.ref.end] if source.ref else None,
        command=url.place(),
        hint=source.hint,
        labels=tuple(labels),
    )


def addresses(text: Text, labels: Sequence[str] = ()) -> Iterator[Sighting]:
    """Yield the pins of all installer addresses and source archives in a text."""
    if "://" not in text.chars and "git+" not in text.chars:
        return
    for offset, source in (*vcs_urls(text.chars), *archive_urls(text.chars)):
        yield picked(text[offset:], source, labels).sighting()


_NAMED = re.compile(r"\s*[A-Za-z0-9][\w.-]*\s*(?:\[[^\]]*\])?\s*@\s*(?=\S+://|git\+)|\s*(?=git\+|\S+://)")


def requirement(text: Text, labels: Sequence[str] = ()) -> Iterator[Sighting]:
    """Yield the pin of a requirement that names an address: `name @ git+…`, or the address alone; else nothing."""
    found = _NAMED.match(text.chars) if len(text.chars) <= _LONGEST else None
    if found is not None:
        yield from addresses(text[found.end() :], labels)


def keyed(
    table: Table,
    url_keys: Sequence[str] = ("git",),
    ref_keys: Mapping[str, RefKind | None] = REF_KEYS,
    *,
    labels: Sequence[str] = (),
    needs_ref: bool = False,
) -> Sighting | None:
    """Return the pin of a table that names a repository in one key and perhaps a ref in another."""
    url = table.text(*url_keys)
    if url is None:
        return None
    spelled = {
        _SPELLING.sub(lambda found: "_" + (found[1] or "").lower(), key.chars).strip("_"): key.chars
        for key, _ in table.entries
    }
    names = [name for name in ref_keys if name in spelled and table.text(spelled[name])]
    if not names:
        return None if needs_ref else entry(url, None, labels=labels)
    name = names[0]
    branches = [other for other in names[1:] if ref_keys[other] is RefKind.BRANCH]
    branch = table.text(spelled[branches[0]]) if branches else None
    return entry(
        url, table.text(spelled[name]), hint=ref_keys[name], labels=labels, branch=branch.chars if branch else None
    )


def _asked(sighting: Sighting, requested: str | None) -> Sighting:
    pin = sighting.pin
    if not requested or requested in {pin.ref, "HEAD"}:
        return sighting
    return sighting._replace(pin=replace(pin, requested=requested))


def _moved(source: Source, by: int) -> Source:
    ref = source.ref
    return source._replace(ref=ref._replace(start=ref.start + by, end=ref.end + by)) if ref else source
