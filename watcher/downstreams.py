"""Find the pins of every downstream, in a checkout or in a repository at a branch."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from watcher import pins as formats
from watcher.config import Downstream, Settings, is_match
from watcher.errors import GitError
from watcher.model import Advertisement, Pin, Unobserved
from watcher.pins.checkout import Checkout, decoded, read
from watcher.pins.patterns import Pattern, claims
from watcher.pins.refkind import ref_kind
from watcher.progress import Progress, quiet
from watcher.upstream.git import origin, tracked
from watcher.upstream.mirror import Mirror
from watcher.upstreams import advertisements, mirror_folder

OWN = "config"
"""The downstream's name of pins that the configuration itself holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The pins of all downstreams, and what could not be read."""

    pins: tuple[Pin, ...]
    downstreams: tuple[str, ...]
    """Names of the downstreams that were read."""
    unread: frozenset[str] = frozenset()
    """Names of those that were not."""
    unobserved: tuple[Unobserved, ...] = ()
    warnings: tuple[str, ...] = ()


def discover(settings: Settings, *, progress: Progress = quiet) -> Found:
    """Return every pin that the configuration names or its downstreams hold."""
    remote = dict.fromkeys(it.repository for it in settings.downstreams if it.repository)
    seen = advertisements(settings, remote, {}, progress) if remote else {}
    extra = _patterns(settings)
    results = {it.name: _checkout(it, settings, seen, extra) for it in settings.downstreams}
    pins: list[Pin] = list(_own(settings))
    warnings: list[str] = []
    for downstream in settings.downstreams:
        result = results[downstream.name]
        if isinstance(result, Checkout):
            found, told = _pins(downstream, result, extra)
            pins += found
            warnings += told
    return Found(
        pins=tuple(pins),
        downstreams=(
            *(OWN for _ in settings.pins[:1]),
            *(name for name, it in results.items() if isinstance(it, Checkout)),
        ),
        unread=frozenset(name for name, result in results.items() if isinstance(result, Unobserved)),
        unobserved=tuple(result for result in results.values() if isinstance(result, Unobserved)),
        warnings=tuple(warnings),
    )


def scan(folder: Path) -> tuple[tuple[Pin, ...], tuple[str, ...], Mapping[str, int]]:
    """Return the pins of a folder, a warning for each file that is broken, and why how many others were skipped."""
    checkout = local(folder)
    found = formats.discover(checkout)
    warnings = tuple(str(warning) for warning in found.warnings)
    return tuple(formats.identify(found.pins, "")), warnings, checkout.skipped


def _patterns(settings: Settings) -> tuple[Pattern, ...]:
    """Return the patterns of the configuration, one for each glob of files."""
    return tuple(
        Pattern(files=files, regex=it.regex, upstream=it.upstream, variant=it.variant)
        for it in settings.patterns
        for files in it.files
    )


def local(folder: Path, extra: Sequence[Pattern] = ()) -> Checkout:
    """Read what git tracks in a checkout, or all files of a folder that is none; raise GitError where git cannot."""
    listed = tracked(folder)
    names, gitlinks = listed or (None, {})
    checkout = read(folder, names, gitlinks, claims=_claims(extra))
    return replace(checkout, origin=origin(folder))


def _claims(extra: Sequence[Pattern]) -> Callable[[str], bool]:
    is_matched = claims(extra)
    return lambda path: formats.is_claimed(path) or is_matched(path)


def _checkout(
    downstream: Downstream,
    settings: Settings,
    seen: Mapping[str, Advertisement | Unobserved],
    extra: Sequence[Pattern],
) -> Checkout | Unobserved:
    """Read one downstream."""
    if downstream.path is not None:
        if not downstream.path.is_dir():
            return Unobserved(upstream=str(downstream.path), reason="there is no such folder")
        try:
            return local(downstream.path, extra)
        except GitError as error:
            return Unobserved(upstream=str(downstream.path), reason=str(error))
    repository = downstream.repository or ""
    advertisement = seen[repository]
    if isinstance(advertisement, Unobserved):
        return advertisement
    try:
        return _remote(downstream, repository, settings, advertisement, extra)
    except GitError as error:
        return Unobserved(upstream=repository, reason=str(error))


def _remote(
    downstream: Downstream,
    repository: str,
    settings: Settings,
    advertisement: Advertisement,
    extra: Sequence[Pattern],
) -> Checkout | Unobserved:
    """Read a downstream's manifests at its branch, from its mirror."""
    branch = f"refs/heads/{downstream.branch}" if downstream.branch else advertisement.head
    tip = advertisement.tip(branch) if branch else None
    if tip is None:
        return Unobserved(upstream=repository, reason=f"it has no branch {downstream.branch or 'that HEAD names'}")
    url = settings.address(repository)
    mirror = Mirror.open(
        # A mirror of its own: where a downstream is pinned as an upstream too, both are looked at side by side.
        mirror_folder(settings, f"downstream {repository}"),
        url,
        filters=advertisement.filters,
        object_format=advertisement.object_format,
        local=settings.allows_files,
    )
    mirror.fetch(replace(advertisement, refs=tuple(ref for ref in advertisement.refs if ref.name == branch)))
    files = mirror.files(tip)
    wanted = {path: blob for path, blob in files.items() if _is_asked_for(path, downstream, extra)}
    contents = mirror.read(wanted.values())
    texts = {path: decoded(contents[blob]) for path, blob in wanted.items() if blob in contents}
    return Checkout(texts=texts, gitlinks=mirror.gitlinks(tip), origin=repository)


def _is_asked_for(path: str, downstream: Downstream, extra: Sequence[Pattern]) -> bool:
    """Answer whether a file is worth bringing: a manifest, or something that a manifest may refer to.

    Program sources are most of a repository and are referred to by nothing: where manifests are named, they stay away.
    """
    if downstream.manifests and path.endswith(".py"):
        return downstream.manifest(path) is not None
    return _claims(extra)(path) or downstream.manifest(path) is not None


def _pins(downstream: Downstream, checkout: Checkout, extra: Sequence[Pattern]) -> tuple[list[Pin], list[str]]:
    """Return a downstream's pins in the manifests that the configuration wants, for the variants that it says."""
    manifest = {path: downstream.manifest(path) for path in checkout.texts}

    def is_wanted(path: str) -> bool:
        return not downstream.manifests or manifest[path] is not None

    def variant(path: str) -> str | None:
        entry = manifest[path]
        return entry.variant if entry else None

    found = formats.discover(checkout, is_wanted=is_wanted, variant=variant, extra=extra)
    absent = [
        f"{downstream.name}: no file fits {pattern!r}, so nothing of it is watched"
        for entry in downstream.manifests
        for pattern in entry.files
        if not any(is_match(pattern, path) for path in checkout.texts)
    ]
    return list(formats.identify(found.pins, downstream.name)), [
        *absent,
        *(f"{downstream.name}: {warning}" for warning in found.warnings),
    ]


def _own(settings: Settings) -> Iterable[Pin]:
    """Return the pins that no manifest holds."""
    pins = [
        Pin(
            name=it.name,
            upstream=it.upstream,
            ref=None if it.ref == "HEAD" else it.ref,
            ref_kind=ref_kind(it.ref),
            file="config.yaml",
            line=it.line,
            variant=it.variant,
        )
        for it in settings.pins
    ]
    return formats.identify(pins, OWN)
