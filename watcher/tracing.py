"""Find the landings after each pin that have to do with an error, and gather what is told about them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from watcher import address
from watcher.assess import Assessment
from watcher.config import Settings
from watcher.downstreams import discover
from watcher.judge.complaint import complaint
from watcher.judge.enclosing import enclosing
from watcher.judge.equivalents import Index, equivalents
from watcher.judge.shipped import Role, role
from watcher.judge.suggest import ladder_for
from watcher.judge.trace import named_paths, rank, relevant
from watcher.materials import lines
from watcher.meant import meant
from watcher.model import Answer, Change, ChangedPath, FileDiff, Fix, Oid, Pin, Rung, Unobserved, Verdict
from watcher.progress import Progress, quiet
from watcher.questions import judged
from watcher.report.trace import Step, Trace
from watcher.store import Store
from watcher.suspicion import Altered, Complaint, Landing, Named, Ranked, Suspects
from watcher.upstream.mirror import Mirror
from watcher.upstreams import examined, mirror_folder
from watcher.web import Pages, pages

_CLOSELY = 80
"""How many landings have their altered lines read: those which by their files and words come first."""
_MOST_FILES = 40
"""Files of one landing that are read."""
_LARGEST = 512 * 1024
"""Bytes of a file that is read."""
_SHOWN = 5
_UNREAD = {Role.DOCS, Role.TOOLING}


@dataclass(frozen=True, slots=True, kw_only=True)
class Traced:
    """What an error text led to."""

    said: Complaint
    traces: tuple[Trace, ...]
    """The likeliest pin first."""
    unobserved: tuple[Unobserved, ...] = ()


# --- ask -------------------------------------------------------------------------------------------------------------


def traced(
    settings: Settings, store: Store, text: str, *, only: str = "", now: datetime, progress: Progress = quiet
) -> Traced:
    """Trace an error through what landed after each pin, or after those that `only` names; nothing is recorded.

    Raises UsageError for a name that means nothing.
    """
    found = discover(settings, store.readings(), now=now, progress=progress)
    pins = meant(store, only, found.pins) if only else found.pins
    upstreams = {pin.upstream for pin in pins}
    # All pins of an upstream are looked at together, as a pass does: what is known of its landings rests on it.
    beside = [pin for pin in found.pins if pin.upstream in upstreams]
    looked = examined(settings, store, beside, now=now, progress=progress)
    said = complaint(text)
    traces: list[Trace] = []
    for number, (upstream, assessment) in enumerate(looked.assessments.items()):
        progress(f"tracing through {address.last_component(upstream)}", number, len(looked.assessments))
        mirror = _mirror(settings, upstream, assessment)
        mine = [pin for pin in pins if pin.upstream == upstream]
        shown = settings.pages(upstream)
        traces += [_trace(mirror, assessment, same, said, shown) for same in _same_commit(mine, assessment)]
    return Traced(
        said=said,
        traces=_likeliest_first(traces),
        unobserved=(*found.unobserved, *looked.unobserved.values()),
    )


def traced_without_configuration(upstream: str, name: str, text: str, *, now: datetime) -> Traced:
    """Trace an error through what landed after a commit, tag or branch of a repository: an address, or a folder."""
    pin, mirror, assessment = judged(upstream, name, now)
    said = complaint(text)
    shown = pages(address.normalise(upstream))
    return Traced(said=said, traces=(_trace(mirror, assessment, (pin,), said, shown),))


def _mirror(settings: Settings, upstream: str, assessment: Assessment) -> Mirror:
    seen = assessment.seen.advertisement
    return Mirror.open(
        mirror_folder(settings, upstream),
        settings.address(upstream),
        filters=seen.filters,
        object_format=seen.object_format,
        allowed=settings.allowed(settings.address(upstream)),
    )


def _same_commit(pins: Iterable[Pin], assessment: Assessment) -> Iterable[tuple[Pin, ...]]:
    """Return pins of one upstream by commit: CUDA and ROCm mostly stand at the same one."""
    found: dict[Oid | str, list[Pin]] = {}
    for pin in pins:
        found.setdefault(assessment.seen.commit_of(pin) or pin.id, []).append(pin)
    return map(tuple, found.values())


def _likeliest_first(traces: Iterable[Trace]) -> tuple[Trace, ...]:
    best = {it.pins[0].id: max((step.ranked.score for step in it.steps), default=0.0) for it in traces}
    return tuple(sorted(traces, key=lambda it: -best[it.pins[0].id]))


# --- one pinned commit -----------------------------------------------------------------------------------------------


def _trace(mirror: Mirror, assessment: Assessment, pins: tuple[Pin, ...], said: Complaint, shown: Pages) -> Trace:
    """Trace an error through what landed after one commit, which is the same for all these pins."""
    commit = assessment.seen.commit_of(pins[0])
    reach = assessment.reachability[pins[0].id]
    trace = Trace(pins=pins, commit=commit, pages=shown, reachability=reach.cls, looked_at=0, steps=())
    if commit is None or commit not in assessment.surveyed.pinned:
        return trace
    known = suspects(mirror, assessment, commit, _verdicts(pins, assessment), said)
    ranked = relevant(rank(said, known))
    return replace(
        trace,
        looked_at=len(known.landings),
        related=len(ranked),
        steps=tuple(Step(ranked=it, target=_target(it, pins[0], commit, assessment)) for it in ranked[:_SHOWN]),
    )


def _verdicts(pins: Iterable[Pin], assessment: Assessment) -> dict[str, Verdict]:
    """Return what each fix means for pins of one commit: the surest for the variant that needs it most."""
    found: dict[str, Verdict] = {}
    for pin in pins:
        for name, said in assessment.judgement.verdicts.get(pin.id, {}).items():
            if name not in found or (said.answer is Answer.YES and found[name].answer is not Answer.YES):
                found[name] = said
    return found


def _target(it: Ranked, pin: Pin, commit: Oid, assessment: Assessment) -> Rung | None:
    """Return the smallest commit that has a landing."""
    fix = it.landing.fix
    if fix and (rung := assessment.single.get(pin.id, {}).get(fix.id)):
        return rung
    seen = assessment.seen
    same = assessment.judgement.same.get(fix.id) if fix else None
    same = same or equivalents(it.landing.change, Index(seen.commits, pulls=seen.advertisement.pulls), seen.graph)
    return ladder_for(commit, seen, assessment.surveyed).minimal([same])


def suspects(
    mirror: Mirror, assessment: Assessment, commit: Oid, verdicts: Mapping[str, Verdict], said: Complaint
) -> Suspects:
    """Return what landed after a pinned commit, with what it alters, for the ranking of an error text."""
    has = assessment.seen.graph.ancestors(commit)
    held = {name for name, said_of in verdicts.items() if said_of.contained_as}
    fixes = {fix.change.landing: fix for fix in assessment.judgement.fixes.values()}
    changes = [
        change
        for change in assessment.surveyed.changes
        if change.landing not in has and not (change.landing in fixes and fixes[change.landing].id in held)
    ]
    pairs = {change.landing: (change.before, change.landing) for change in changes}
    told = mirror.changed_paths(pairs.values())
    paths = {landing: told[pair] for landing, pair in pairs.items()}
    tree = mirror.files(commit)
    named = named_paths(said, tree, (path.path for found in paths.values() for path in found))
    pinned = _texts(mirror, {path: tree[path] for path in named if path in tree and named[path].lines})
    landings = tuple(_landing(change, paths[change.landing], assessment, fixes, verdicts) for change in changes)
    known = Suspects(landings=landings, named=named, pinned=pinned)
    closely = [it.landing for it in rank(said, known)[:_CLOSELY]]
    read = _read(mirror, closely, paths, named)
    return replace(known, landings=tuple(read.get(it.change.landing, it) for it in landings))


def _landing(
    change: Change,
    paths: Iterable[ChangedPath],
    assessment: Assessment,
    fixes: Mapping[Oid, Fix],
    verdicts: Mapping[str, Verdict],
) -> Landing:
    commits = assessment.seen.commits
    said = [commits[oid] for oid in dict.fromkeys((change.landing, *change.commits)) if oid in commits]
    fix = fixes.get(change.landing)
    return Landing(
        change=change,
        title=change.title,
        message="\n".join(f"{commit.subject}\n{commit.body}" for commit in said),
        paths=tuple(path.path for path in paths),
        fix=fix,
        verdict=verdicts.get(fix.id) if fix else None,
    )


def _read(
    mirror: Mirror,
    landings: Sequence[Landing],
    paths: Mapping[Oid, tuple[ChangedPath, ...]],
    named: Mapping[str, Named],
) -> dict[Oid, Landing]:
    """Return landings with the places that they alter; all contents come in one batch."""
    chosen = {it.change.landing: _chosen(paths[it.change.landing], named) for it in landings}
    blobs = {blob for found in chosen.values() for it in found for blob in (it.blob_before, it.blob_after) if blob}
    mirror.prefetch(blobs)
    before = {it.blob_before for found in chosen.values() for it in found if it.blob_before}
    texts = {blob: lines(content) for blob, content in mirror.read(before, largest=_LARGEST).items()}
    return {it.change.landing: _with_places(mirror, it, chosen[it.change.landing], texts, named) for it in landings}


def _chosen(changed: Iterable[ChangedPath], named: Mapping[str, Named]) -> tuple[ChangedPath, ...]:
    """Return the files of a landing that are read: named ones first, documents and tooling only then."""
    mine = [it for it in changed if it.path in named or role(it.path) not in _UNREAD]
    return tuple(sorted(mine, key=lambda it: (it.path not in named, role(it.path) is not Role.SOURCE)))[:_MOST_FILES]


def _with_places(
    mirror: Mirror,
    landing: Landing,
    changed: Sequence[ChangedPath],
    texts: Mapping[Oid, tuple[str, ...]],
    named: Mapping[str, Named],
) -> Landing:
    if not changed:
        return landing
    before = {it.path: texts[it.blob_before] for it in changed if it.blob_before and it.blob_before in texts}
    change = landing.change
    diffs = mirror.diff(change.before, change.landing, ignore_space=True, paths=[it.path for it in changed])
    return replace(
        landing,
        altered=tuple(place for diff in diffs for place in _places(diff, before)),
        before={path: text for path, text in before.items() if path in named and named[path].lines},
    )


def _places(diff: FileDiff, before: Mapping[str, tuple[str, ...]]) -> Iterable[Altered]:
    path = diff.old_path or diff.path
    text = before.get(path, ())
    for hunk in diff.hunks:
        yield Altered(
            path=path,
            first=hunk.old_start,
            last=hunk.old_start + max(0, len(hunk.old) - 1),
            text=(*hunk.old, *hunk.new),
            inside=enclosing(text, hunk.old_start if hunk.old else hunk.old_start + 1) if text else (),
        )


def _texts(mirror: Mirror, blobs: Mapping[str, Oid]) -> dict[str, tuple[str, ...]]:
    contents = mirror.read(blobs.values(), largest=_LARGEST)
    return {path: lines(contents[blob]) for path, blob in blobs.items() if blob in contents}
