"""Gather the plan of a bump: which pins are meant, what was judged of them, and what the target brings along."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from functools import cache

from watcher.assess import Assessment
from watcher.config import Settings
from watcher.downstreams import Found, discover
from watcher.errors import UnobservedError, UsageError
from watcher.judge.contract import VERSION_FILES, Difference, contract_files
from watcher.judge.destinations import Aim, Ground
from watcher.judge.plan import plans
from watcher.judge.reachability import holders
from watcher.judge.shipped import Scope, is_shipped
from watcher.judge.stays import foreign, unseen
from watcher.materials import lines
from watcher.meant import meant
from watcher.model import Oid, Pin
from watcher.observation import Observation
from watcher.picture.told import shown_to_all
from watcher.planned import Plan
from watcher.progress import Progress, quiet
from watcher.store import Store
from watcher.upstream.mirror import Mirror
from watcher.upstreams import Examined, examined, mirror_folder

_MOST_FILES = 1000
"""So many shipped files are read on both sides to find what they take from the environment."""
_LARGEST = 512 * 1024
"""Bytes of a file that is read for that; larger ones are generated, or data."""
_SHORTEST = 4
"""Digits of the shortest id that git itself takes."""


def bump_plans(
    settings: Settings,
    store: Store,
    what: str,
    to: str = Aim.MINIMAL,
    *,
    together: bool = False,
    now: datetime,
    progress: Progress = quiet,
) -> tuple[Plan, ...]:
    """Return the plans for the pins that a name means; nothing is recorded and nothing is changed.

    `to` is an Aim, or a commit, tag or branch of the upstream; `together` moves all pins of the dependency. Raises
    UsageError for a name that means nothing, UnobservedError where the upstream cannot be observed now.
    """
    found = discover(settings, now=now, progress=progress)
    named = _named(store, what, found)
    upstreams = list(dict.fromkeys(pin.upstream for pin in named))
    mine = [pin for pin in found.pins if pin.upstream in upstreams]
    looked = examined(settings, store, mine, now=now, progress=progress)
    if not any(upstream in looked.assessments for upstream in upstreams):
        raise UnobservedError(f"no bump of {named[0].name} can be planned now: {_reason(named[0], looked)}")
    made: list[Plan] = []
    for upstream in map(str, upstreams):
        # All together are one proposal under one name, whichever of them was named.
        asked = tuple(pin for pin in (mine if together else named) if pin.upstream == upstream)
        others = tuple(pin for pin in mine if pin.upstream == upstream and pin not in asked)
        kin = set(settings.relatives_of(upstream)) - {upstream}
        away = tuple(foreign(pin, upstream) for pin in found.pins if pin.upstream in kin and pin not in named)
        *first, last = _of_upstream(settings, asked, others, to, looked, together=together)
        forge, shown = settings.pages(upstream).forge, shown_to_all(settings, store, {pin.id for pin in asked})
        every = (*first, replace(last, stays=(*last.stays, *away)))
        made += [replace(plan, forge=forge, shown=shown) for plan in every]
    return tuple(made)


def _named(store: Store, what: str, found: Found) -> tuple[Pin, ...]:
    try:
        return meant(store, what, found.pins)
    except UsageError as error:
        if not found.unobserved:
            raise
        silent = "; ".join(f"{it.upstream}: {it.reason}" for it in found.unobserved)
        raise UnobservedError(f"{what!r} may be pinned where we could not look: {silent}") from error


def _reason(pin: Pin, looked: Examined) -> str:
    silent = looked.unobserved.get(pin.upstream or "")
    return silent.reason if silent else "the files do not say which repository, or which ref, it is"


def _grounded(assessment: Assessment, tracked: tuple[str, ...]) -> Ground:
    return Ground(
        seen=assessment.seen,
        surveyed=assessment.surveyed,
        judgement=assessment.judgement,
        repairs=assessment.repairs,
        reachability=assessment.reachability,
        suggestions={made.pin: made for made in assessment.suggestions},
        tracked=tracked,
    )


def _of_upstream(
    settings: Settings, asked: tuple[Pin, ...], others: tuple[Pin, ...], to: str, looked: Examined, *, together: bool
) -> tuple[Plan, ...]:
    """Return the plans for one upstream's pins; where it could not be looked at, one that says so."""
    upstream = asked[0].upstream or ""
    assessment = looked.assessments.get(upstream)
    if assessment is None:
        reason = _reason(asked[0], looked)
        return (
            Plan(name=asked[0].name, upstream=upstream, to=None, stays=tuple(unseen(pin, reason) for pin in asked)),
        )
    watched = settings.upstream(upstream)
    ground = _grounded(assessment, watched.track)
    seen = ground.seen
    mirror = Mirror.open(
        mirror_folder(settings, seen.upstream),
        settings.address(seen.upstream),
        filters=seen.advertisement.filters,
        object_format=seen.advertisement.object_format,
        allowed=settings.allowed(settings.address(seen.upstream)),
    )
    scope = Scope(paths=watched.paths, variants=watched.variants)
    aim = Aim(to) if to in set(Aim) else _commit(to, seen, mirror)
    if not isinstance(aim, Aim):
        ground = replace(ground, seen=_with_messages(aim, (*asked, *others), seen, mirror))

    @cache
    def difference(before: Oid, after: Oid) -> Difference:
        return _difference(mirror, scope, before, after)

    return plans(asked[0].name, asked, others, aim, ground, difference, together=together, scope=scope)


def _commit(name: str, seen: Observation, mirror: Mirror) -> Oid:
    """Return the commit that a branch, a tag, or a full or short id means; one that no ref holds is no target."""
    tips = (seen.advertisement.tip(full) for full in (name, f"refs/tags/{name}", f"refs/heads/{name}"))
    commit = next((tip for tip in tips if tip), None)
    if commit is None:
        found = mirror.expand(name.lower()) if len(name) >= _SHORTEST else ()
        known = [one for one in found if one in seen.graph]
        if len(known) != 1:
            expected = f"expected {', '.join(Aim)}, or a commit, tag or branch of {seen.upstream}"
            raise UsageError(f"--to {name[:80]}: {expected}; {len(known) or 'none'} fit{'' if known else 's'}")
        commit = known[0]
    if not holders(commit, seen.advertisement.refs, seen.graph):
        raise UsageError(f"--to {name[:80]}: no branch and no tag of {seen.upstream} holds it, so it is no target")
    return commit


def _with_messages(to: Oid, pins: Iterable[Pin], seen: Observation, mirror: Mirror) -> Observation:
    """Add the messages of what lies between pins and an older target: an observation reaches back to the pins alone."""
    pinned = {commit for pin in pins if (commit := seen.commit_of(pin)) and commit in seen.graph}
    base = seen.graph.common_ancestor([to, *sorted(pinned)])
    floor = seen.graph.parents(base) if base else ()
    found = {commit.oid: commit for commit in mirror.commits([to, *sorted(pinned)], floor)}
    return replace(seen, commits={**found, **seen.commits})


def _difference(mirror: Mirror, scope: Scope, before: Oid, after: Oid) -> Difference:
    """Read what differs between two commits, as far as the build contract and the environment are concerned."""
    paths = tuple(path.path for path in mirror.changed_paths([(before, after)])[before, after])
    shipped = [path for path in paths if is_shipped(path, scope)]
    is_too_much = len(shipped) > _MOST_FILES
    wanted = {*VERSION_FILES, *contract_files(paths), *(() if is_too_much else shipped)}
    trees = {commit: mirror.tree(commit) for commit in (before, after)}
    blobs = {commit: {path: files[path] for path in wanted & files.keys()} for commit, (files, _) in trees.items()}
    read = mirror.read((blob for files in blobs.values() for blob in files.values()), largest=_LARGEST)
    texts = {
        commit: {path: "\n".join(lines(read[blob])) for path, blob in files.items() if blob in read}
        for commit, files in blobs.items()
    }
    return Difference(
        paths=paths,
        before=texts[before],
        after=texts[after],
        submodules_before=trees[before][1],
        submodules_after=trees[after][1],
        unread=len(shipped) if is_too_much else 0,
    )
