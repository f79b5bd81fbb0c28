"""Find the pins of every downstream, in a checkout or in a repository at a branch.

What reads manifests is imported where there is something to read.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from watcher.address import normalise
from watcher.config import OWN, Downstream, Settings, is_match
from watcher.errors import GitError
from watcher.model import Advertisement, Commit, Moved, Oid, Pin, Reading, RefKind, Unobserved
from watcher.naming import identify
from watcher.progress import Progress, quiet
from watcher.refkind import ref_kind
from watcher.upstream.git import head, origin, tracked
from watcher.upstreams import advertisements, mirror_folder
from watcher.web import PagesOf

if TYPE_CHECKING:
    from watcher.pins import Checkout, Pattern
    from watcher.upstream.mirror import Mirror


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The pins of all downstreams, and what could not be read."""

    pins: tuple[Pin, ...]
    readings: tuple[Reading, ...] = ()
    """What each downstream held that was read now, or is not due yet."""
    fresh: frozenset[str] = frozenset()
    """Names of those that were read now."""
    moved: tuple[Moved, ...] = ()
    """The pins that were moved or removed since the reading before."""
    unread: frozenset[str] = frozenset()
    """Names of the downstreams that could not be read."""
    unobserved: tuple[Unobserved, ...] = ()

    @property
    def downstreams(self) -> tuple[str, ...]:
        """Return the names of the downstreams whose pins are known."""
        return tuple(reading.name for reading in self.readings)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return a line for each file that could not be read."""
        return tuple(warning for reading in self.readings for warning in reading.warnings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """The files of one downstream as they are now."""

    checkout: "Checkout"
    commit: Oid | None = None
    """The commit that they are of; of a folder, the one that is checked out. None without a repository."""
    prefix: str = ""
    """The folder of the repository that was read, with `/` at its end; empty for all of it."""
    history: "Mirror | None" = None

    def contents(self, paths: Iterable[str]) -> dict[str, bytes]:
        """Return the bytes of files of the commit; those that it does not have are left out."""
        if self.history is None or self.commit is None:
            return {}
        held = self.history.files(self.commit)
        blobs = {path: held[self.prefix + path] for path in paths if self.prefix + path in held}
        read = self.history.read(blobs.values())
        return {path: read[blob] for path, blob in blobs.items() if blob in read}


def discover(
    settings: Settings,
    known: Mapping[str, Reading] | None = None,
    *,
    now: datetime,
    due: Collection[str] | None = None,
    progress: Progress = quiet,
) -> Found:
    """Return every pin that the configuration names or its downstreams hold.

    `known` holds the readings before; those that are not `due` (None: all are) are not read again.
    """
    before = known or {}
    wanted = [it for it in settings.downstreams if due is None or it.name in due or it.name not in before]
    remote = dict.fromkeys(it.repository for it in wanted if it.repository)
    seen = advertisements(settings, remote, {}, progress) if remote else {}
    extra = patterns(settings)
    results = {
        it.name: _as_before(it, before.get(it.name), seen, settings) or _files(it, settings, seen, extra)
        for it in wanted
    }
    readings = [Reading(name=OWN, pins=tuple(_own(settings)))] if settings.pins else []
    moved = [it for own in readings for it in _moves(before.get(OWN), own, None, settings.pages, now)]
    for downstream in settings.downstreams:
        match results.get(downstream.name):
            case None:
                readings.append(before[downstream.name])
            case Reading() as again:
                readings.append(again)
            case Files() as read_now:
                inputs = _inputs(downstream, settings) if downstream.repository else ""
                readings.append(replace(_reading(downstream, read_now, extra), inputs=inputs))
                moved += _moves(before.get(downstream.name), readings[-1], read_now.history, settings.pages, now)
    return Found(
        pins=tuple(pin for reading in readings for pin in reading.pins),
        readings=tuple(readings),
        fresh=frozenset(reading.name for reading in readings if reading.name == OWN or reading.name in results),
        moved=tuple(moved),
        unread=frozenset(name for name, result in results.items() if isinstance(result, Unobserved)),
        unobserved=tuple(result for result in results.values() if isinstance(result, Unobserved)),
    )


def scan(folder: Path) -> tuple[tuple[Pin, ...], tuple[str, ...], Mapping[str, int]]:
    """Return the pins of a folder, a warning for each file that is broken, and why how many others were skipped."""
    from watcher import pins as formats  # noqa: PLC0415 - the readers are large, and most passes read nothing

    checkout = local(folder)
    found = formats.discover(checkout)
    warnings = tuple(str(warning) for warning in found.warnings)
    return tuple(identify(found.pins, "")), warnings, checkout.skipped


def files_of(settings: Settings, downstream: Downstream) -> Files | Unobserved:
    """Return the files of one downstream as they are now."""
    remote = [downstream.repository] if downstream.repository else []
    seen = advertisements(settings, remote, {}, quiet) if remote else {}
    return _files(downstream, settings, seen, patterns(settings))


def patterns(settings: Settings) -> "tuple[Pattern, ...]":
    """Return the patterns of the configuration, one for each glob of files."""
    if not settings.patterns:
        return ()
    from watcher.pins import Pattern  # noqa: PLC0415 - the readers are large, and most passes read nothing

    return tuple(
        Pattern(files=files, regex=it.regex, upstream=it.upstream, variant=it.variant)
        for it in settings.patterns
        for files in it.files
    )


def local(folder: Path, extra: "Sequence[Pattern]" = ()) -> "Checkout":
    """Read what git tracks in a checkout, or all files of a folder that is none; raise GitError where git cannot."""
    from watcher.pins import read  # noqa: PLC0415 - the readers are large, and most passes read nothing

    listed = tracked(folder)
    names, gitlinks = listed or (None, {})
    checkout = read(folder, names, gitlinks, claims=_claims(extra))
    return replace(checkout, origin=origin(folder))


def _claims(extra: "Sequence[Pattern]") -> Callable[[str], bool]:
    from watcher import pins as formats  # noqa: PLC0415 - the readers are large, and most passes read nothing
    from watcher.pins.patterns import claims  # noqa: PLC0415 - likewise

    is_matched = claims(extra)
    return lambda path: formats.is_claimed(path) or is_matched(path)


def _files(
    downstream: Downstream,
    settings: Settings,
    seen: Mapping[str, Advertisement | Unobserved],
    extra: "Sequence[Pattern]",
) -> Files | Unobserved:
    """Read the files of one downstream."""
    if downstream.path is not None:
        if not downstream.path.is_dir():
            return Unobserved(upstream=str(downstream.path), reason="there is no such folder")
        try:
            return _local(downstream.path, extra)
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


def _local(folder: Path, extra: "Sequence[Pattern]") -> Files:
    checkout, at = local(folder, extra), head(folder)
    if at is None:
        return Files(checkout=checkout)
    from watcher.upstream.repository import Repository  # noqa: PLC0415 - likewise

    history = Repository(directory=at.directory, url="", partial=False)
    return Files(checkout=checkout, commit=at.commit, prefix=at.prefix, history=history)


def _as_before(
    downstream: Downstream,
    known: Reading | None,
    seen: Mapping[str, Advertisement | Unobserved],
    settings: Settings,
) -> Reading | None:
    """Return the last reading of a downstream whose branch is where it was, to be read in the same way; else None."""
    answer = seen.get(downstream.repository or "")
    if known is None or not isinstance(answer, Advertisement) or known.commit is None:
        return None
    is_there = _tip(downstream, answer) == known.commit and known.inputs == _inputs(downstream, settings)
    return known if is_there and _mirror_of(settings, downstream.repository or "").exists() else None


def _inputs(downstream: Downstream, settings: Settings) -> str:
    """Return a digest of what the pins of a downstream follow from, beside its commit."""
    parts = (version("watcher"), downstream, settings.patterns)
    return sha256(repr(parts).encode("utf-8", "surrogateescape")).hexdigest()


def _tip(downstream: Downstream, answer: Advertisement) -> Oid | None:
    branch = _branch(downstream, answer)
    return answer.tip(branch) if branch else None


def _branch(downstream: Downstream, answer: Advertisement) -> str | None:
    return f"refs/heads/{downstream.branch}" if downstream.branch else answer.head


def _mirror_of(settings: Settings, repository: str) -> Path:
    """Return where the mirror of a downstream lies: one of its own, since it may be pinned as an upstream too."""
    return mirror_folder(settings, f"downstream {repository}")


def _remote(
    downstream: Downstream,
    repository: str,
    settings: Settings,
    advertisement: Advertisement,
    extra: "Sequence[Pattern]",
) -> Files | Unobserved:
    """Read a downstream's manifests at its branch, from its mirror."""
    from watcher.pins.checkout import Checkout, decoded  # noqa: PLC0415 - the readers are large, and most passes read nothing

    branch, tip = _branch(downstream, advertisement), _tip(downstream, advertisement)
    if tip is None:
        return Unobserved(upstream=repository, reason=f"it has no branch {downstream.branch or 'that HEAD names'}")
    url = settings.address(repository)
    from watcher.upstream.mirror import Mirror  # noqa: PLC0415 - likewise

    mirror = Mirror.open(
        _mirror_of(settings, repository),
        url,
        filters=advertisement.filters,
        object_format=advertisement.object_format,
        allowed=settings.allowed(url),
    )
    mirror.fetch(replace(advertisement, refs=tuple(ref for ref in advertisement.refs if ref.name == branch)))
    files = mirror.files(tip)
    wanted = {path: blob for path, blob in files.items() if _is_asked_for(path, downstream, extra)}
    contents = mirror.read(wanted.values())
    texts = {path: decoded(contents[blob]) for path, blob in wanted.items() if blob in contents}
    checkout = Checkout(texts=texts, gitlinks=mirror.gitlinks(tip), origin=repository)
    return Files(checkout=checkout, commit=tip, history=mirror)


def _is_asked_for(path: str, downstream: Downstream, extra: "Sequence[Pattern]") -> bool:
    """Answer whether a file is worth bringing: a manifest, or something that a manifest may refer to.

    Program sources are most of a repository and are referred to by nothing: where manifests are named, they stay away.
    """
    if downstream.manifests and path.endswith(".py"):
        return downstream.manifest(path) is not None
    return _claims(extra)(path) or downstream.manifest(path) is not None


def _reading(downstream: Downstream, read_now: Files, extra: "Sequence[Pattern]") -> Reading:
    """Return a downstream's pins in the manifests that the configuration wants, for the variants that it says."""
    from watcher import pins as formats  # noqa: PLC0415 - the readers are large, and most passes read nothing

    checkout = read_now.checkout
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
    return Reading(
        name=downstream.name,
        pins=tuple(identify(found.pins, downstream.name)),
        warnings=(*absent, *(f"{downstream.name}: {warning}" for warning in found.warnings)),
        commit=read_now.commit,
        address=normalise(checkout.origin or ""),
        prefix=read_now.prefix,
    )


def _moves(
    before: Reading | None, after: Reading, history: "Mirror | None", shown: PagesOf, now: datetime
) -> list[Moved]:
    """Return the pins that differ from the reading before, each with the commit that did it."""
    there = {pin.id: pin for pin in after.pins}
    changed = [pin for pin in (before.pins if before else ()) if _stands(pin) != _stands(there.get(pin.id))]
    older = before.commit if before else None
    return [_move(pin, there.get(pin.id), older, after, history, shown, now) for pin in changed]


def _stands(pin: Pin | None) -> tuple[str | None, str | None] | None:
    return (pin.upstream, pin.wanted) if pin else None


def _move(
    pin: Pin,
    now_there: Pin | None,
    older: Oid | None,
    after: Reading,
    history: "Mirror | None",
    shown: PagesOf,
    now: datetime,
) -> Moved:
    landing = _landing(pin, now_there, older, after, history)
    if landing is None:
        return Moved(pin=pin, after=now_there, at=now)
    url = shown(after.address).commit(landing.oid)
    return Moved(pin=pin, after=now_there, at=now, landing=landing.oid, subject=landing.subject, url=url)


def _landing(
    pin: Pin, now_there: Pin | None, older: Oid | None, after: Reading, history: "Mirror | None"
) -> Commit | None:
    """Return the first of the newest landings after which it was as it is now; None where git cannot tell."""
    if history is None or older is None or after.commit is None or older == after.commit:
        return None
    look = _relinks if any(it and it.where == "gitlink" for it in (pin, now_there)) else _rewrites
    try:
        changes = look(pin, now_there, after.prefix, history, (older, after.commit))
    except GitError:  # the older commit was lost to a forced update, or a shallow clone has neither
        return None
    found = None
    for commit, is_as_now in changes:
        if not is_as_now:
            break
        found = commit
    return found


def _rewrites(
    pin: Pin, now_there: Pin | None, prefix: str, history: "Mirror", between: tuple[Oid, Oid]
) -> list[tuple[Commit, bool]]:
    """Return what changed a pin's file, newest first, each with whether the file then says what it says now."""
    said, is_there = (now_there.ref, True) if now_there else (pin.ref, False)
    if said is None:
        return []
    ref = said.encode(errors="surrogateescape")
    changes = history.changes_of(prefix + pin.file, *between)
    return [(commit, (ref in (content or b"")) == is_there) for commit, content in changes]


def _relinks(
    pin: Pin, now_there: Pin | None, prefix: str, history: "Mirror", between: tuple[Oid, Oid]
) -> list[tuple[Commit, bool]]:
    """Return what changed a submodule, newest first, each with whether it is then at what it is at now."""
    from watcher.pins.checkout import decoded  # noqa: PLC0415 - the readers are large, and most passes read nothing
    from watcher.pins.gitmodules import folder_of  # noqa: PLC0415 - likewise

    older, newer = between
    linked = now_there if now_there and now_there.where == "gitlink" else None
    shown, at = (linked, newer) if linked else (pin, older)
    folder = folder_of(decoded(history.content(at, prefix + shown.file) or b""), shown.line)
    if folder is None or history.gitlink(at, prefix + folder) != shown.ref:
        return []  # a folder on this machine is read as it is, and may say what is committed nowhere
    now = linked.ref if linked else None
    return [(commit, link == now) for commit, link in history.relinks_of(prefix + folder, *between)]


def _own(settings: Settings) -> Iterable[Pin]:
    """Return the pins that no manifest holds."""
    pins = [
        Pin(
            name=it.name,
            upstream=it.upstream,
            ref=None if it.ref == "HEAD" else it.ref,
            ref_kind=RefKind.DEFAULT_BRANCH if it.ref == "HEAD" else ref_kind(it.ref),
            file="config.yaml",
            line=it.line,
            variant=it.variant,
        )
        for it in settings.pins
    ]
    return identify(pins, OWN)
