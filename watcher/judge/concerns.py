"""What should a person know? Turn verdicts into findings without a life yet.

A key is made of the kind, the pin or dependency, and what makes it this one: never of wording or line numbers.
"""

from collections.abc import Container, Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from watcher.model import Concern, Hosted, Kind, Move, Oid, Pin, Reachability, ReachabilityClass, Severity
from watcher.observation import Observation, named_refs

SEVERITIES: Mapping[Kind, Severity] = {
    Kind.PIN_ABSENT: Severity.CRITICAL,
    Kind.UPSTREAM_GONE: Severity.CRITICAL,
    Kind.UPSTREAM_REPLACED: Severity.CRITICAL,
    Kind.PIN_UNREACHABLE: Severity.HIGH,
    Kind.FIX_AVAILABLE: Severity.MEDIUM,
    Kind.VARIANT_DRIFT: Severity.MEDIUM,
    Kind.TAG_MOVED: Severity.LOW,
    Kind.PIN_ON_PULL_ONLY: Severity.MEDIUM,
    Kind.PIN_AMBIGUOUS: Severity.MEDIUM,
    Kind.UPSTREAM_MOVED: Severity.MEDIUM,
    Kind.UPSTREAM_UNOBSERVED: Severity.MEDIUM,
    Kind.PIN_FLOATING: Severity.LOW,
    Kind.PIN_ON_TAG_ONLY: Severity.LOW,
    Kind.BRANCH_REWOUND: Severity.LOW,
    Kind.UPSTREAM_ARCHIVED: Severity.LOW,
}
"""Default severities (DESIGN.md §4); some kinds rise or fall with what is known."""

_LOST = {
    ReachabilityClass.ORPHANED: Kind.PIN_UNREACHABLE,
    ReachabilityClass.SERVED_ONLY: Kind.PIN_UNREACHABLE,
    ReachabilityClass.GONE: Kind.PIN_ABSENT,
    ReachabilityClass.PULL_ONLY: Kind.PIN_ON_PULL_ONLY,
    ReachabilityClass.TAG_OFF_LINEAGE: Kind.PIN_ON_TAG_ONLY,
}


def of_pin(pin: Pin, reach: Reachability, seen: Observation) -> list[Concern]:
    """Return what is wrong with where a pin points: lost, weakly held, ambiguous, or floating."""
    found = []
    if kind := _LOST.get(reach.cls):
        found.append(_lost(pin, reach, kind))
    position = seen.positions.get(pin.id)
    if position and len(position.candidates) > 1:
        found.append(_ambiguous(pin, len(position.candidates), reach))
    if reach.cls is not ReachabilityClass.GONE:
        found += of_manifest(pin, head=seen.advertisement.head, commit=seen.commit_of(pin))
    return found


def of_manifest(pin: Pin, *, head: str | None = None, commit: Oid | None = None) -> list[Concern]:
    """Return what the manifest alone tells: that a pin follows a branch; `head` and `commit` where they are known."""
    if not pin.ref_kind.is_floating:
        return []
    branch = pin.wanted or (head or "the default branch").removeprefix("refs/heads/")
    now = f" (now {commit[:12]})" if commit else ""
    concern = about_pin(
        Kind.PIN_FLOATING,
        pin,
        pin.wanted or "HEAD",
        f"{pin.name}: follows {branch}{now} instead of naming a commit",
        detail=("two builds of the same file may ship different code",),
        advice=f"Pin {commit}." if commit else "Pin a commit.",
    )
    return [concern]


def of_refs(pins: Iterable[Pin], seen: Observation) -> list[Concern]:
    """Return what happened to an upstream's history, and to the upstream: moved, replaced, archived."""
    mine = tuple(pins)
    found = [concern for move in seen.moves for concern in _of_move(move, mine, seen)]
    if seen.advertisement.moved_to:
        found.append(_moved(seen.upstream, seen.advertisement.moved_to, "answers with a permanent redirect"))
    elif seen.hosted and not seen.hosted.is_at(seen.upstream) and not has_other_id(seen):
        found.append(_moved(seen.upstream, seen.hosted.address, "is no longer its name on the forge"))
    if _has_other_history(seen) or has_other_id(seen):
        found.append(_replaced(seen))
    if seen.hosted and seen.hosted.is_archived:
        found.append(_archived(seen.upstream))
    return found


def has_other_id(seen: Observation) -> bool:
    """Answer whether the forge knows another repository under the address than at earlier looks."""
    return seen.known_id is not None and seen.hosted is not None and seen.hosted.id != seen.known_id


def is_withheld(seen: Observation) -> bool:
    """Answer whether no fix is to be offered: another repository with the same history, of which nobody took note yet.

    Where the history is another one, the pins are lost, and nothing is offered for that.
    """
    if not has_other_id(seen) or _has_other_history(seen):
        return False
    return seen.hosted is not None and seen.hosted.id != seen.accepted_id


def replaced_key(upstream: str, hosted: Hosted) -> str:
    """Return the key of the finding that another repository, with the same history, stands behind an address."""
    return f"{Kind.UPSTREAM_REPLACED}:{upstream}:{_by_id(hosted)}"


def _by_id(hosted: Hosted) -> str:
    return f"id {hosted.id}"


def _has_other_history(seen: Observation) -> bool:
    """Answer whether no commit is in common with the one seen before."""
    if not (seen.known_roots and seen.roots):
        return False
    reached = _reached(seen)
    return not any(root in seen.roots or root in reached for root in seen.known_roots)


def _reached(seen: Observation) -> Container[Oid]:
    """Return every commit of the advertised refs: another default branch is no other repository."""
    return seen.graph.ancestors(*(ref.commit for ref in seen.advertisement.refs))


def of_failure(upstream: str, reason: str, since: datetime, tries: int, *, is_missing: bool) -> Concern:
    """Return the concern about an upstream that could not be looked at for longer than patience lasts."""
    said = "is gone or private" if is_missing else "could not be observed"
    gone = "Look at the address yourself; if it moved, change the pins. The kept commits are still in the mirror."
    silent = "Check the network and the token; nothing is said about its pins until it answers."
    concern = about_upstream(
        Kind.UPSTREAM_GONE if is_missing else Kind.UPSTREAM_UNOBSERVED,
        upstream,
        "",
        f"{short_name(upstream)}: {said} since {since:%Y-%m-%d %H:%M} UTC ({tries} tries)",
        detail=(reason,),
        advice=gone if is_missing else silent,
    )
    return replace(concern, since=since)


def short_name(upstream: str) -> str:
    """Return owner/name of an upstream, for a sentence."""
    return "/".join(upstream.split("/")[-2:])


def _lost(pin: Pin, reach: Reachability, kind: Kind) -> Concern:
    short = pin.ref[:12] if pin.ref else "the default branch"
    said, advice = {
        Kind.PIN_UNREACHABLE: (
            f"{short} is on no branch and no tag any more" if reach.refs else f"{short} is on no branch and no tag",
            "Find out why before you move the pin: it can be an attack. We keep a copy of the commit.",
        ),
        Kind.PIN_ABSENT: (f"{short} does not exist upstream", "The next cold build fails: choose another commit."),
        Kind.PIN_ON_PULL_ONLY: (
            f"{short} was never merged, only a proposal holds it",
            f"It landed as {reach.twin}." if reach.twin else "Pin the commit that lands instead.",
        ),
        Kind.PIN_ON_TAG_ONLY: (
            f"{short} is on no branch, only on a tag",
            "Check who made the tag: a stolen token can hide a foreign commit like this.",
        ),
    }[kind]
    what = reach.refs[0] if reach.refs and kind is Kind.PIN_UNREACHABLE else (pin.ref or "HEAD")
    concern = about_pin(kind, pin, what, f"{pin.name}: {said}", detail=(reach.detail,), advice=advice)
    return replace(concern, since=reach.since)


def _ambiguous(pin: Pin, count: int, reach: Reachability) -> Concern:
    return about_pin(
        Kind.PIN_AMBIGUOUS,
        pin,
        str(pin.ref),
        f"{pin.name}: short id {pin.ref} may mean {count} commits",
        detail=(reach.detail,),
        advice="Write the full id of the commit that you mean.",
    )


def _of_move(move: Move, pins: tuple[Pin, ...], seen: Observation) -> list[Concern]:
    move = _since_deletion(move, seen)
    if move.before in {None, move.after}:
        return []
    short = move.ref.removeprefix("refs/tags/").removeprefix("refs/heads/")
    users = [pin for pin in pins if named_refs(seen.advertisement, pin)[:1] == (move.ref,)]
    if move.ref.startswith("refs/tags/"):
        told: list[Pin | None] = [*users] or [None]
        return [_tag_moved(move, short, pin, seen.upstream) for pin in told] if move.after else []
    if not move.forced or not (users or move.ref == seen.advertisement.head or _held_a_pin(move, pins, seen)):
        return []
    to = f"to {move.after[:12]}" if move.after else "away"
    concern = about_upstream(
        Kind.BRANCH_REWOUND,
        seen.upstream,
        f"{move.ref}@{move.at:%Y-%m-%dT%H:%M:%SZ}",
        f"{short_name(seen.upstream)}: branch {short} was forced from {move.before[:12]} {to}",
        detail=("commits that were on it may be reachable from nothing now",),
        advice="Nothing to do while your pins are reachable.",
    )
    return [replace(concern, since=move.at, is_event=True)]


def _since_deletion(move: Move, seen: Observation) -> Move:
    """Return a ref's return as a move from where it was deleted: a tag may be moved in two steps."""
    if move.before is not None or not move.ref.startswith("refs/tags/"):
        return move
    deleted = [it for it in seen.known_moves if it.ref == move.ref and it.after is None]
    return replace(move, before=deleted[-1].before) if deleted else move


def _held_a_pin(move: Move, pins: tuple[Pin, ...], seen: Observation) -> bool:
    """Answer whether a branch was ever seen holding a pinned commit."""
    commits = [commit for pin in pins if (commit := seen.commit_of(pin))]
    return any(holding.ref == move.ref for commit in commits for holding in seen.holdings.get(commit, ()))


def _tag_moved(move: Move, short: str, pin: Pin | None, upstream: str) -> Concern:
    before, after = (move.before or "")[:12], (move.after or "")[:12]
    headline = f"{short_name(upstream)}: tag {short} moved from {before} to {after}"
    what = f"{move.ref}:{move.after}"
    if pin is None:
        concern = about_upstream(Kind.TAG_MOVED, upstream, what, headline, advice="No pin uses it.")
        return replace(concern, since=move.at, is_event=True)
    concern = about_pin(
        Kind.TAG_MOVED,
        pin,
        what,
        headline,
        detail=("the next build ships other code under the same name",),
        advice=f"Compare {move.before} with {move.after}, then pin the commit that you mean.",
    )
    return replace(concern, severity=Severity.HIGH, since=move.at, is_event=True)


def _moved(upstream: str, new: str, old: str) -> Concern:
    return about_upstream(
        Kind.UPSTREAM_MOVED,
        upstream,
        new,
        f"{short_name(upstream)}: moved to {new}",
        detail=(f"the old address {old}, and somebody else may claim it one day",),
        advice=f"Write {new} in the manifests.",
    )


def _replaced(seen: Observation) -> Concern:
    """Return that another repository answers: by its history where that tells, since git tells it at every look."""
    is_foreign = _has_other_history(seen)
    by_id = _by_id(seen.hosted) if seen.hosted and has_other_id(seen) else ""
    has_copy = bool(seen.roots) and not is_foreign
    return about_upstream(
        Kind.UPSTREAM_REPLACED,
        seen.upstream,
        min(seen.roots) if is_foreign else by_id,
        f"{short_name(seen.upstream)}: another repository answers under this address",
        detail=(
            "its history has no commit in common with the one seen before" if is_foreign else "",
            f"its forge knows it by {by_id}, and the one before by id {seen.known_id}" if by_id else "",
            "it has the history of the one before, or a part: anybody can push a copy" if has_copy else "",
        ),
        advice="Check who owns the address now before anything is built from it."
        + ("" if is_foreign else " No fix is offered from it before this is acknowledged."),
    )


def _archived(upstream: str) -> Concern:
    return about_upstream(
        Kind.UPSTREAM_ARCHIVED,
        upstream,
        "",
        f"{short_name(upstream)}: is archived, no fix will come from it any more",
        detail=("its forge says that it is only to be read",),
        advice="Look for a repository that goes on with the work; your pins stay as good as they are.",
    )


def about_pin(
    kind: Kind, pin: Pin, what: str, headline: str, *, detail: tuple[str, ...] = (), advice: str = ""
) -> Concern:
    """Return a concern about a pin, of the default severity; `what` makes it this one among the pin's of its kind."""
    return Concern(
        key=f"{kind}:{pin.id}:{what}",
        kind=kind,
        severity=SEVERITIES[kind],
        headline=headline,
        detail=tuple(line for line in detail if line),
        advice=advice,
        pin=pin.id,
        upstream=pin.upstream,
        place=pin.place,
    )


def about_upstream(
    kind: Kind, upstream: str, what: str, headline: str, *, detail: tuple[str, ...] = (), advice: str = ""
) -> Concern:
    """Return a concern about an upstream as a whole, of the default severity."""
    return Concern(
        key=f"{kind}:{upstream}:{what}".rstrip(":"),
        kind=kind,
        severity=SEVERITIES[kind],
        headline=headline,
        detail=tuple(line for line in detail if line),
        advice=advice,
        upstream=upstream,
    )
