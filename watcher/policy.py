"""What does the service propose of itself? What `bumps` in the configuration says, once for each target."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from watcher.bumping import bump_plans
from watcher.config import BumpWay, Settings
from watcher.due import is_over
from watcher.errors import WatcherError
from watcher.model import Finding, Kind, Severity
from watcher.planned import Plan
from watcher.proposing import Done, Outcome, forges, login, propose_issues, propose_pulls
from watcher.store import Look, Store

_AGAIN = timedelta(hours=1)
"""How long an upstream rests for which something could not be proposed, or has to wait."""


def wanted(settings: Settings, store: Store, now: datetime) -> tuple[str, ...]:
    """Return the upstreams whose bumps are to be proposed: those with targets that were not proposed before."""
    looks, done = store.looks(), store.standings("bump")
    return tuple(
        upstream
        for upstream, findings in _by_upstream(settings, store.findings()).items()
        if done.get(upstream, {}).get("targets") != _targets(findings)
        and is_over(looks.get(f"bump {upstream}"), _AGAIN, f"bump {upstream}", now)
    )


def propose(settings: Settings, store: Store, upstream: str, now: datetime) -> tuple[tuple[Done, ...], tuple[str, ...]]:
    """Propose the bumps of an upstream's pins; return what was done, and why the rest was not."""
    findings = _by_upstream(settings, store.findings()).get(upstream, [])
    store.record_looks({f"bump {upstream}": Look(at=now)})
    done: list[Done] = []
    troubles: list[str] = []
    try:
        for plan in bump_plans(settings, store, upstream, together=True, now=now):
            done += _proposed(settings, store, plan, findings, now)
    except WatcherError as error:
        troubles.append(str(error))
    if not troubles and all(it.outcome is not Outcome.WAITS for it in done):
        told = {"targets": _targets(findings), "urls": [it.url for it in done]}
        store.record_standings({f"bump {upstream}": told}, now)
    return tuple(done), tuple(troubles)


def _proposed(
    settings: Settings, store: Store, plan: Plan, findings: Iterable[Finding], now: datetime
) -> tuple[Done, ...]:
    moved = {step.pin.id for step in plan.steps}
    meant = [it.concern.severity for it in findings if it.concern.pin in moved]
    if not meant:
        return ()
    way = settings.bumps.way(max(meant, key=lambda severity: severity.rank))
    with forges(settings, store, now) as ask:
        if way is BumpWay.ISSUE:
            return propose_issues(settings, plan, ask, at_most=settings.bumps.at_most)
        account = lambda repository: login(settings, repository)  # noqa: E731 - an argument
        return propose_pulls(settings, plan, ask, account, at_most=settings.bumps.at_most)


def _by_upstream(settings: Settings, findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    """Return the live findings that ask for a proposal."""
    found: dict[str, list[Finding]] = {}
    for finding in findings:
        concern = finding.concern
        is_meant = finding.is_live and concern.kind is Kind.FIX_AVAILABLE and concern.target is not None
        if is_meant and concern.upstream and settings.bumps.way(Severity(concern.severity)) is not BumpWay.OFF:
            found.setdefault(concern.upstream, []).append(finding)
    return found


def _targets(findings: Iterable[Finding]) -> list[str]:
    return sorted(f"{it.key} {it.concern.target}" for it in findings)
