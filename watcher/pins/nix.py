"""Nix: inputs of flakes, and the fetchers of nixpkgs and of the language itself."""

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from watcher.model import RefKind
from watcher.pins.checkout import Checkout
from watcher.pins.format import Broken
from watcher.pins.nixlang import Group, Source, Token
from watcher.pins.sites import Pick, Sighting
from watcher.pins.sources import archive, repository
from watcher.pins.text import Place, Span, Text, joined, unknown

_LIVE = re.compile(r"\bfetch|\binputs\b|flake:|github:|git\+")
_FORGES = {
    "fetchFromGitHub": ("https://github.com/", ()),
    "fetchFromGitLab": ("https://gitlab.com/", ("domain", "host")),
    "fetchFromBitbucket": ("https://bitbucket.org/", ()),
    "fetchFromCodeberg": ("https://codeberg.org/", ()),
    "fetchFromGitea": ("", ("domain",)),
    "fetchFromForgejo": ("", ("domain",)),
    "fetchFromSourcehut": ("https://git.sr.ht/", ("domain",)),
    "fetchFromGitiles": ("", ()),
    "fetchFromRepoOrCz": ("https://repo.or.cz/", ()),
}
_GIT = frozenset({"fetchgit", "fetchGit", "fetchgitPrivate", "fetchgitLocal", "fetchFromGitiles", "fetchTree"})
_ARCHIVES = frozenset({"fetchTarball", "fetchurl", "fetchzip", "fetchurlBoot", "fetchTree"})
_LOCATORS = {"github": "https://github.com/", "gitlab": "https://gitlab.com/", "sourcehut": "https://git.sr.ht/"}


def claims(path: str) -> bool:
    """Answer whether a file is Nix."""
    name = path.rpartition("/")[2]
    return name.endswith(".nix") and not name.lower().startswith(("dockerfile", "containerfile"))


def parse(path: str, text: str, _: Checkout) -> Iterable[Sighting | Broken]:
    """Find what a flake takes as input, and what expressions fetch."""
    if not _LIVE.search(text):
        return
    source = Source(path, text)
    if source.broken is not None:
        yield Broken(file=path, line=source.broken[0], reason=source.broken[1])
    if PurePosixPath(path).name == "flake.nix":
        yield from _inputs(source)
    for group in source.groups:
        yield from _fetchers(source, group)


# --- inputs of a flake ------------------------------------------------------------------------------------------------


def _inputs(source: Source) -> Iterator[Sighting]:
    body = next((group for group in source.groups if group.opening == "{" and group.outer is source.root), None)
    if body is None:
        return
    yield from _inputs_in(source, body, "inputs.")
    for group in _bound_sets(body, "inputs"):
        yield from _inputs_in(source, group, "")


def _inputs_in(source: Source, group: Group, prefix: str) -> Iterator[Sighting]:
    """Read the inputs that a set binds: `name.url = …`, `name = { url = …; }`, with `ref`, `rev` and `dir` beside."""
    names = dict.fromkeys(
        name.removeprefix(prefix).partition(".")[0]
        for name in group.bindings
        if name.startswith(prefix) and name != "inputs"
    )
    for name in names:
        own = {
            key.removeprefix(f"{prefix}{name}."): source.value(bound, group)
            for key, bound in group.bindings.items()
            if key.startswith(f"{prefix}{name}.")
        }
        for inner in _bound_sets(group, prefix + name):
            own |= {key: source.value(bound, inner) for key, bound in inner.bindings.items()}
        pick = _input({key: value for key, value in own.items() if value is not None})
        if pick is not None:
            yield pick.sighting()


def _bound_sets(group: Group, name: str) -> list[Group]:
    return [item for item in group.bindings.get(name, ()) if isinstance(item, Group) and item.opening == "{"][:1]


def _input(own: dict[str, Text]) -> Pick | None:
    url = own.get("url")
    ref = own.get("rev") or own.get("ref")
    if url is not None:
        pick = locator(url)
        return (
            repository(pick.url, ref, ref.place()) or pick
            if pick is not None and ref is not None and pick.ref is None
            else pick
        )
    prefix = _LOCATORS.get(own["type"].chars) if "type" in own else None
    if prefix is None or "owner" not in own or "repo" not in own:
        return None
    host = own.get("host")
    address = _path(f"https://{host.chars}/" if host else prefix, own["owner"], own["repo"])
    return repository(address, ref, address.place())


def locator(url: Text) -> Pick | None:
    """Read the address of an input: `github:owner/name/ref?dir=x`, `git+https://host/x?ref=main&rev=…`, an archive."""
    bare, _, query = url.chars.partition("?")
    parameters = _parameters(query, len(bare) + 1)
    rev, ref = (url[slice(*parameters[key])] if key in parameters else None for key in ("rev", "ref"))
    found = re.fullmatch(r"(github|gitlab|sourcehut):([^/?#]+)/([^/?#]+)(?:/([^?#]+))?", bare.partition("#")[0])
    if found:
        host = url.chars[slice(*parameters["host"])] if "host" in parameters else ""
        prefix = f"https://{host}/" if host else _LOCATORS[found[1]]
        owner = url[slice(*found.span(2))]
        address = _path(
            prefix,
            owner.mapped(lambda chars: chars) if "%2F" not in owner.chars else _unquoted(owner),
            url[slice(*found.span(3))],
        )
        inline = url[slice(*found.span(4))] if found[4] else None
        return repository(address, inline or rev or ref, url.place())
    if bare.startswith("git+") and not bare.startswith("git+file"):
        hint = (
            None
            if rev
            else RefKind.BRANCH
            if ref and not ref.chars.startswith("refs/") and not _looks_tagged(ref.chars)
            else None
        )
        return repository(url[len("git+") : len(bare)], rev or ref, url.place(), hint=hint)
    if bare.startswith(("git://", "ssh://")):
        return repository(url[: len(bare)], rev or ref, url.place())
    return archive(url[len("tarball+") :] if bare.startswith("tarball+") else url[: len(bare)], url.place())


def _looks_tagged(ref: str) -> bool:
    return re.search(r"\d\.\d", ref) is not None


def _unquoted(text: Text) -> Text:
    parts = text.chars.split("%2F")
    return Text((Span("/".join(parts), text.place()),))


def _parameters(query: str, offset: int) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    for part in query.partition("#")[0].split("&"):
        key, _, value = part.partition("=")
        found[key] = (offset + len(key) + 1, offset + len(key) + 1 + len(value))
        offset += len(part) + 1
    return found


def _path(prefix: str, *parts: Text) -> Text:
    place = parts[0].place()
    spans = [Text((Span(prefix, place),))]
    for at, part in enumerate(parts):
        spans += [part] if not at else [Text((Span("/", place),)), part]
    return joined(spans)


# --- fetchers ---------------------------------------------------------------------------------------------------------


def _fetchers(source: Source, group: Group) -> Iterator[Sighting]:
    """Read the calls that stand in a group: a name that begins with `fetch`, then a set or an address."""
    for at, item in enumerate(group.items[:-1]):
        if not isinstance(item, Token) or item.kind != "name" or not item.chars.startswith("fetch"):
            continue
        argument = group.items[at + 1]
        if (
            isinstance(argument, Token)
            and argument.kind == "name"
            and argument.chars == "rec"
            and at + 2 < len(group.items)
        ):
            argument = group.items[at + 2]
        if isinstance(argument, Group) and argument.opening == "(":
            argument = next(
                (inner for inner in argument.items if isinstance(inner, Group) and inner.opening == "{"), argument
            )
        for pick in _fetched(source, item, argument, group):
            yield pick.sighting(pick.branch)


def _fetched(source: Source, name: Token, argument: Token | Group, around: Group) -> Iterator[Pick]:
    place = source.place(name.offset)
    if isinstance(argument, Token) or argument.opening == "(":
        url = source.value([argument], around)
        if url is not None:
            yield from _known(repository(url, None, place) if name.chars in _GIT else _archived(name, url, place))
    elif argument.opening == "{":
        yield from _called(source, name, argument, place)


def _called(source: Source, name: Token, argument: Group, place: Place) -> Iterator[Pick]:
    """Read a fetcher that is given a set."""
    url = source.attribute(argument, "url")
    is_owned = name.chars in _FORGES and name.chars != "fetchFromGitiles"
    if is_owned or (name.chars in _GIT and url is not None):
        address = _owned(source, name.chars, argument) if is_owned else url
        on = None if is_owned else source.attribute(argument, "ref") or source.attribute(argument, "branchName")
        for ref, hint in _refs(source, argument):
            if address is None or (ref is None and is_owned):
                continue
            branch = on.chars.removeprefix("refs/heads/") if on is not None and on.is_known and on != ref else None
            yield from _known(
                repository(address, ref, ref.place() if ref is not None else place, hint=hint, branch=branch)
            )
    else:
        for one in [url] if url is not None else _listed(source, argument):
            found = _archived(name, one, place)
            if found is not None:
                yield found
                return


def _archived(name: Token, url: Text, place: Place) -> Pick | None:
    return archive(url, place) if name.chars in _ARCHIVES else None


def _known(pick: Pick | None) -> Iterator[Pick]:
    if pick is not None:
        yield pick


def _listed(source: Source, group: Group) -> list[Text]:
    rows = [item for item in group.bindings.get("urls", ()) if isinstance(item, Group) and item.opening == "["]
    return [text for row in rows for item in row.items if (text := source.value([item], row)) is not None]


def _refs(source: Source, group: Group) -> list[tuple[Text | None, RefKind | None]]:
    """Return the ref that a fetcher is given, or several; a commit counts before the branch that it is on."""
    for key, hint in (("rev", None), ("tag", RefKind.TAG), ("ref", None)):
        texts = [text for text in source.alternatives(group, key) if text is not None and text and text.chars != "HEAD"]
        if texts:
            return [(text, hint) for text in texts]
        if source.is_bound(group, key) and source.attribute(group, key) is None:
            return [(unknown(key, group.place), hint)]
    return [(None, None)]


def _owned(source: Source, fetcher: str, group: Group) -> Text | None:
    prefix, keys = _FORGES[fetcher]
    owner, name = source.attribute(group, "owner"), source.attribute(group, "repo")
    domain = next((text for key in (*keys, "githubBase") if (text := source.attribute(group, key)) is not None), None)
    if fetcher == "fetchFromGitLab" and (inner := source.attribute(group, "group")) is not None and owner is not None:
        owner = joined((inner, Text((Span("/", inner.place()),)), owner))
    if name is None or (not prefix and domain is None):
        return None
    start = f"https://{domain.chars}/" if domain is not None else prefix
    return _path(start, owner, name) if owner is not None else _path(start, name)
