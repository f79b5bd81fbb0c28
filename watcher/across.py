"""Put the judgements of all upstreams together: drift between variants, what is wrong, what is unknown, the outcome."""

from collections.abc import Callable, Collection, Container, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import cache

from watcher.conclusion import Conclusion, Dependency
from watcher.config import Settings
from watcher.downstreams import Found
from watcher.due import observable
from watcher.findings import landing_of
from watcher.judge import concerns as wrong
from watcher.judge import drift as drifting
from watcher.judge import offers
from watcher.model import (
    Concern,
    Drift,
    Event,
    Finding,
    Fix,
    Kind,
    Moved,
    Oid,
    Pass,
    Patience,
    Pin,
    Place,
    Reachability,
    ReachabilityClass,
    State,
    is_oid,
)
from watcher.refkind import bare_ref
from watcher.report.places import place_of
from watcher.upstreams import Looked
from watcher.web import PagesOf


def dependencies(settings: Settings, pins: Iterable[Pin]) -> tuple[Dependency, ...]:
    """Return every dependency that is pinned for two variants or more, by name."""
    found = drifting.groups(pins, settings.relatives)
    return tuple(
        Dependency(name=name, variants=variants, policy=settings.drift_policy(name))
        for name, variants in sorted(found.items())
    )


def drifts(known: Iterable[Dependency], looked: Looked) -> tuple[Drift, ...]:
    """Return how every dependency stands, but for those of which nothing was due in this pass."""
    return tuple(
        _drift(it, looked) for it in known if not any(_is_left_out(pin, looked) for pin in it.variants.values())
    )


def _is_left_out(pin: Pin, looked: Looked) -> bool:
    """Answer whether a pin's upstream was not due in this pass: nothing is said of it, as before."""
    return pin.upstream in observable([pin]) and pin.upstream not in looked


def _drift(dependency: Dependency, looked: Looked) -> Drift:
    """Return how a dependency stands; across repositories, or unobserved, there is no history to compare."""
    conclusion = looked.conclusions.get(dependency.upstream or "")
    for drift in conclusion.drifts if conclusion else ():
        if drift.name == dependency.name:
            return drift
    stands = {
        variant: drifting.Stand(pin=pin, commit=_commit(pin, looked)) for variant, pin in dependency.variants.items()
    }
    return drifting.drift(dependency.name, stands, None, {}, dependency.policy)


def _commit(pin: Pin, looked: Looked) -> Oid | None:
    conclusion = looked.conclusions.get(pin.upstream or "")
    return conclusion.commits.get(pin.id) if conclusion else None


def concerns(
    settings: Settings,
    found: Found,
    looked: Looked,
    drifted: Iterable[Drift],
    patience: Mapping[str, Patience],
    now: datetime,
) -> tuple[Concern, ...]:
    """Return everything that this pass found wrong, in the severities of the configuration."""
    pins = {pin.id: pin for pin in found.pins}
    fixes = _all_fixes(looked)
    shown = cache(settings.pages)  # thousands of concerns are about few repositories
    raised = [
        *(concern for pin in found.pins for concern in _of_unjudged(pin, looked)),
        *(concern for it in looked.conclusions.values() for concern in it.concerns),
        *(concern for drift in drifted for concern in offers.of_drift(drift, pins, fixes, shown)),
        *(concern for upstream, had in patience.items() for concern in _of_failure(settings, upstream, had, now)),
    ]
    return tuple(map(_located(settings, found, drifted, looked, shown), raised))


def _located(
    settings: Settings, found: Found, drifted: Iterable[Drift], looked: Looked, shown: PagesOf
) -> Callable[[Concern], Concern]:
    """Return how to say of a concern how severe it is, what it is about, where that stands, and on which pages."""
    pins = {pin.id: pin for pin in found.pins}
    is_owned = len(found.readings) > 1
    places = {
        pin.id: place_of(shown, pin, reading, is_owned=is_owned) for reading in found.readings for pin in reading.pins
    }
    members = {f"{Kind.VARIANT_DRIFT}:{drift.name}": drift.pins for drift in drifted}
    of_upstream: dict[str | None, list[Pin]] = {}
    for pin in found.pins:
        of_upstream.setdefault(pin.upstream, []).append(pin)

    def located(concern: Concern) -> Concern:
        mine = (concern.pin,) if concern.pin else members.get(concern.key, ())
        meant = [pins[name] for name in mine] or of_upstream.get(concern.upstream, [])
        return replace(
            concern,
            severity=settings.severity(concern.kind, concern.severity),
            dependency=meant[0].name if meant else (concern.upstream or "").rsplit("/", 1)[-1],
            places=tuple(places[pin.id] for pin in meant),
            compare=_compare(shown, pins[concern.pin], concern.target, looked)
            if concern.pin and concern.target
            else None,
            lines=_lines(shown, pins[concern.pin], concern, looked) if concern.pin else (),
        )

    return located


def _lines(shown: PagesOf, pin: Pin, concern: Concern, looked: Looked) -> tuple[Place, ...]:
    """Return lines of what is pinned, and where their blame is shown."""
    commit, pages = _commit(pin, looked), shown(pin.upstream)
    return tuple(
        Place(text=it.text, variant=it.variant, url=pages.blame(commit, it.text) if commit else None)
        for it in concern.lines
    )


def _compare(shown: PagesOf, pin: Pin, target: Oid, looked: Looked) -> str | None:
    commit = _commit(pin, looked)
    return shown(pin.upstream).compare(commit, target) if commit else None


def reasons(
    looked: Looked, moved: Iterable[Moved], dismissed: Mapping[str, Container[Oid]]
) -> Callable[[Finding], tuple[str, str | None]]:
    """Return why a finding is over, in words, and where a browser shows it.

    `moved`: the pins that were moved or removed lately, oldest first; `dismissed`: upstream → the landings of which
    somebody said that they are no fix.
    """
    newest: dict[str, Moved] = {}
    for it in moved:
        newest[f"pin {it.pin.id}"] = newest[f"name {it.pin.name}"] = it

    def reason(finding: Finding) -> tuple[str, str | None]:
        concern = finding.concern
        last = newest.get(f"pin {concern.pin}" if concern.pin else f"name {concern.dependency}")
        if last and last.at >= finding.opened_at:
            return _moved_words(last), last.url
        if landing_of(concern) in dismissed.get(concern.upstream or "", ()):
            return "not a fix", None
        conclusion = looked.conclusions.get(concern.upstream or "")
        reach = conclusion.reachability.get(concern.pin or "") if conclusion else None
        if conclusion and _is_about_lost(concern, conclusion):
            return "a pin of it is reachable from nothing now, and is not judged until it is moved", None
        if reach and concern.kind in {Kind.PIN_UNREACHABLE, Kind.PIN_ABSENT, Kind.PIN_ON_PULL_ONLY}:
            return f"it is reachable again: {reach.detail}", None
        return "it no longer holds", None

    return reason


def _is_about_lost(concern: Concern, conclusion: Conclusion) -> bool:
    """Answer whether nothing is said of fixes any more only because a pin was lost."""
    from watcher.assess import LOST  # noqa: PLC0415 - the judges are large, and most passes judge nothing anew

    match concern.kind:
        case Kind.FIX_AVAILABLE:
            said = conclusion.reachability.get(concern.pin or "")
            return said is not None and said.cls in LOST
        case Kind.VARIANT_DRIFT:
            return any(said.cls in LOST for said in conclusion.reachability.values())
        case _:
            return False


def _moved_words(it: Moved) -> str:
    by = f" by {it.landing[:12]} “{it.subject}”" if it.landing else ""
    if it.after is None:
        return f"{it.pin.place} is gone{by}"
    return f"{it.after.place} moved to {_short(it.after.wanted)}{by}"


def _short(ref: str | None) -> str:
    return "the default branch" if ref is None else ref[:12] if is_oid(ref) else ref


def _of_unjudged(pin: Pin, looked: Looked) -> list[Concern]:
    """Return what the manifest alone tells of a pin whose upstream could not be observed, or is not known."""
    conclusion = looked.conclusions.get(pin.upstream or "")
    if _is_left_out(pin, looked) or (conclusion and pin.id in conclusion.reachability):
        return []
    return wrong.of_manifest(pin)


def _of_failure(settings: Settings, upstream: str, had: Patience, now: datetime) -> list[Concern]:
    """Raise an upstream's silence only once it has lasted as long, and as often, as the configuration bears."""
    gone, silent = settings.patience.gone, settings.patience.unobserved
    if had.missing_since and had.missing_tries >= gone.tries and now - had.missing_since >= gone.over:
        return [
            wrong.of_failure(upstream, had.last_reason, had.missing_since, had.missing_tries, is_missing=True),
        ]
    if had.tries >= silent.tries and now - had.since >= silent.over:
        return [wrong.of_failure(upstream, had.last_reason, had.since, had.tries, is_missing=False)]
    return []


def unknowns(found: Found, looked: Looked) -> Callable[[Concern], bool]:
    """Return whether this pass could tell nothing of what an earlier concern is about.

    A pin whose downstream was not read may still be there, and so may the other side of a drift, or the last pin of an
    upstream; a pin whose upstream was not observed may still be ill. Where another repository answers for an upstream,
    nothing is said of fixes. That a pin follows a branch is read from its manifest alone.
    """
    there = {pin.id for pin in found.pins}
    unjudged = {
        name
        for it in looked.conclusions.values()
        for name, said in it.reachability.items()
        if said.cls is ReachabilityClass.UNKNOWN
    }
    withheld = {name for name, it in looked.conclusions.items() if it.is_withheld}
    watched = observable(found.pins)
    unread = tuple(f"{name}:" for name in found.unread)

    def unknown(concern: Concern) -> bool:
        if concern.pin is None and found.unread:
            return concern.kind is Kind.VARIANT_DRIFT or concern.upstream not in looked.conclusions
        if concern.pin is not None and concern.pin not in there:
            return concern.pin.startswith(unread)
        if concern.upstream in watched and concern.upstream not in looked:
            return True
        if concern.kind is Kind.PIN_FLOATING:
            return False
        if concern.kind in {Kind.FIX_AVAILABLE, Kind.VARIANT_DRIFT} and concern.upstream in withheld:
            return True
        return concern.upstream in looked.unobserved or concern.pin in unjudged

    return unknown


def with_past_events_ended(known: Iterable[Finding], found: Found) -> tuple[Finding, ...]:
    """Return the known findings; a tag that moved is over once the pin is gone, or names that tag no longer."""
    pins = {pin.id: pin for pin in found.pins}
    unread = tuple(f"{name}:" for name in found.unread)

    def is_past(concern: Concern) -> bool:
        if concern.kind is not Kind.TAG_MOVED or concern.pin is None:
            return False
        pin = pins.get(concern.pin)
        if pin is None:
            return not concern.pin.startswith(unread)
        return not concern.key.startswith(f"{concern.kind}:{pin.id}:refs/tags/{bare_ref(pin.wanted or '')}:")

    return tuple(
        replace(it, concern=replace(it.concern, is_event=False)) if is_past(it.concern) else it for it in known
    )


def first_looks(found: Found, first: Collection[str], known: Container[str] = ()) -> Callable[[Concern], bool]:
    """Return whether a concern comes of the first pass over its downstream; `first` names those that are new.

    What is no single pin's is of a first look only where everything is. What has a key that is `known` never is: the
    memory of the downstream was lost then, but not that of the finding.
    """
    is_all_new = set(found.downstreams) <= set(first)
    owners = {pin.id: pin.downstream for pin in found.pins}
    return lambda concern: (
        concern.key not in known and (owners[concern.pin] in first if concern.pin in owners else is_all_new)
    )


def outcome(
    found: Found,
    looked: Looked,
    drifted: tuple[Drift, ...],
    known: Iterable[Finding],
    events: tuple[Event, ...],
    *,
    now: datetime,
    is_first: bool,
) -> Pass:
    """Return everything that the pass found, for the reports."""
    reach = {name: said for it in looked.conclusions.values() for name, said in it.reachability.items()}
    silent = Reachability(cls=ReachabilityClass.UNKNOWN, detail="the upstream was not observed")
    commits = {name: commit for it in looked.conclusions.values() for name, commit in it.commits.items()}
    made = {it.pin: it for one in looked.conclusions.values() for it in one.suggestions}
    return Pass(
        at=now,
        pins=found.pins,
        commits=commits,
        dates={name: at for it in looked.conclusions.values() for name, at in it.dates.items()},
        reachability={pin.id: reach.get(pin.id, silent) for pin in found.pins},
        fixes=tuple(fix for _, fix in sorted(_all_fixes(looked).items())),
        suggestions=tuple(made[pin.id] for pin in found.pins if pin.id in made),
        drift=drifted,
        findings=tuple(sorted((it for it in known if it.state is not State.RESOLVED), key=lambda it: it.key)),
        events=events,
        unobserved=(*found.unobserved, *looked.unobserved.values()),
        observed=frozenset(looked.conclusions),
        warnings=(*found.warnings, *looked.troubles),
        is_first=is_first,
    )


def _all_fixes(looked: Looked) -> dict[str, Fix]:
    return {name: fix for it in looked.conclusions.values() for name, fix in it.fixes.items()}
