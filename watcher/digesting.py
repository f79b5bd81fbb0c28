"""When is a digest owed, and what does it tell? Decided from the store alone.

So a restart neither skips one nor sends one twice.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from hashlib import sha256
from typing import Any

from watcher.config import Settings
from watcher.config.settings import Schedule
from watcher.errors import UsageError
from watcher.model import EventKind, State
from watcher.report.items import counts, items, over
from watcher.report.movements import movement
from watcher.report.standings import bumps, drifts, fix_words
from watcher.report.text import safe
from watcher.report.week import Digest, Movement, Silence, Stuck
from watcher.store import Message, Owed, Store

Week = tuple[int, int]
"""ISO year and week."""

_LATE = timedelta(hours=1)
_FURTHEST = timedelta(weeks=4)
"""How far back a digest looks at most, however long ago the last one was."""
_NAMED = 3
"""How many downstreams stand in a digest's name."""


# --- when ------------------------------------------------------------------------------------------------------------


def due_at(schedule: Schedule, week: Week) -> datetime:
    """Return when the digest of an ISO week is due by the clocks of the configured zone.

    A time that the clocks skip is as much later as they skip; of a time that comes twice, the first one counts.
    """
    when, (year, number) = schedule.digest, week
    day = datetime.strptime(f"{year} {number} {when.weekday}", "%G %V %a").replace(tzinfo=schedule.timezone)
    # In UTC: of two times in one zone, Python compares the figures on the clock, though one may be there twice.
    return day.replace(hour=when.hour, minute=when.minute).astimezone(UTC)


def newest_week(schedule: Schedule, now: datetime) -> Week:
    """Return the newest ISO week whose digest is due."""
    this = week_of(schedule, now)
    return this if due_at(schedule, this) <= now else week_of(schedule, now - timedelta(weeks=1))


def week_of(schedule: Schedule, at: datetime) -> Week:
    """Return the ISO week of a moment in the configured zone."""
    date = at.astimezone(schedule.timezone).isocalendar()
    return date.year, date.week


def owed(settings: Settings, store: Store, now: datetime) -> tuple[Message, ...]:
    """Return the digest of the newest week that is due, for each channel that was not owed it before.

    A week whose digest was due before the first pass has none.
    """
    schedule = settings.schedule
    week = newest_week(schedule, now)
    due, first = due_at(schedule, week), store.first_run_at()
    if first is None or first >= due:
        return ()
    known = _digests(store)
    wanted = _messages(settings, week, since=_since(known, week, due, first), until=due, due=due)
    keys = {it.key for it in known}
    return tuple(it for it in wanted if it.key not in keys)


def owed_now(settings: Settings, store: Store, now: datetime, since: datetime | None = None) -> tuple[Message, ...]:
    """Return the digest that somebody asks for, owed before or not; raise UsageError where nobody gets one.

    It is the one of this week, which is then not sent again when it is due; with `since` it is one of its own.
    """
    if since is None:
        week = week_of(settings.schedule, now)
        begin = _since(_digests(store), week, now, store.first_run_at() or now)
        found = _messages(settings, week, since=begin, until=now)
    else:
        found = _messages(settings, None, since=since, until=now)
    if not found:
        raise UsageError("expected email or slack in the configuration, found neither: nobody gets the digest")
    return found


def outdated(settings: Settings, store: Store) -> tuple[int, ...]:
    """Return the digests in the outbox whose recipients are not those of the configuration any more."""
    current = _audiences(settings)
    waiting = [it for it in store.waiting() if "digest" in it.payload]
    return tuple(it.id for it in waiting if current.get(it.channel) != it.payload["digest"].get("to", ""))


def parse_since(text: str, now: datetime, zone: tzinfo) -> datetime:
    """Read `7d`, or `2026-11-23` as midnight in the zone; raise UsageError for anything else, and for the future."""
    days = text.removesuffix("d")
    try:
        if days != text and days.isascii() and days.isdigit():
            found = now.astimezone(zone) - timedelta(days=int(days))
        else:
            found = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=zone)
    except (ValueError, OverflowError):
        raise UsageError(f"expected days such as 7d or a date such as 2026-11-23 for --since, found {text}") from None
    if found >= now:
        raise UsageError(f"expected a time in the past for --since, found {text}")
    return found


def outcome(store: Store, messages: Iterable[Message], now: datetime) -> tuple[tuple[str, ...], bool]:
    """Return what became of messages that were tried now, a line for each channel, and whether all are sent."""
    keys = {it.key for it in messages}
    tried = [it for it in store.outbox() if it.key in keys]
    return tuple(f"{it.channel}: {_became(it, now)}" for it in tried), all(it.delivered_at for it in tried)


def _became(it: Owed, now: datetime) -> str:
    if it.delivered_at:
        before = f" before, on {it.delivered_at:%Y-%m-%d %H:%M} UTC; with --since one of its own is sent"
        partly = f", but not to {safe(it.reason)}" if it.reason else ""
        return f"sent{partly}{'' if it.delivered_at >= now else before}"
    if it.failed_at:
        return f"not sent: {safe(it.reason)}"
    why = safe(it.reason) or "it waits for what is owed before it"
    return f"not sent yet: {why}; next try on {it.next_try_at:%Y-%m-%d %H:%M} UTC"


def _messages(
    settings: Settings, week: Week | None, *, since: datetime, until: datetime, due: datetime | None = None
) -> tuple[Message, ...]:
    """Return one message a channel: of a week, or of a period of its own."""
    told = {
        "week": None if week is None else _written(week),
        "since": since.astimezone(UTC).isoformat(),
        "until": until.astimezone(UTC).isoformat(),
        "due": None if due is None else due.astimezone(UTC).isoformat(),
    }
    about = "digest " + (told["week"] or f"from {told['since']} to {told['until']}")
    return tuple(
        Message(about=f"{about} {to}".rstrip(), channel=channel, payload={"digest": {**told, "to": to}})
        for channel, to in _audiences(settings).items()
    )


def _audiences(settings: Settings) -> dict[str, str]:
    """Return channel → who gets a digest there: a name for the set of recipients, whatever their order."""
    found = {}
    if settings.email is not None:
        recipients = "\n".join(sorted({it.lower() for it in settings.email.to}))
        found["mail"] = sha256(recipients.encode()).hexdigest()[:8]
    if settings.slack is not None:
        found["slack"] = ""
    return found


def _written(week: Week) -> str:
    return f"{week[0]}-W{week[1]:02}"


def _since(known: Iterable[Owed], week: Week, until: datetime, first: datetime) -> datetime:
    """Return where a week's digest begins: where the last one of another week ended, else at the first pass."""
    weekly = [it.payload["digest"] for it in known if it.payload["digest"].get("week") not in {None, _written(week)}]
    last = max((end for it in weekly if (end := _time(it["until"])) < until), default=first)
    return max(last, until - _FURTHEST)


def _digests(store: Store) -> list[Owed]:
    return [it for it in store.outbox() if "digest" in it.payload]


# --- what ------------------------------------------------------------------------------------------------------------


def digest_of(payload: Mapping[str, Any], settings: Settings, store: Store, now: datetime) -> Digest:
    """Return the digest that a message's payload asks for, as things stand now; it says where it is late."""
    told, zone = payload["digest"], settings.schedule.timezone
    due = _time(told["due"]) if told.get("due") else None
    return compose(
        store,
        since=_time(told["since"]).astimezone(zone),
        until=_time(told["until"]).astimezone(zone),
        due=due.astimezone(zone) if due and now - due > _LATE else None,
        name=name_of(settings),
        at=now,
    )


def digest_now(settings: Settings, store: Store, now: datetime, since: datetime | None = None) -> Digest:
    """Return the digest as it would be sent now: from a moment on, or since the last one of another week."""
    schedule = settings.schedule
    begin = since or _since(_digests(store), week_of(schedule, now), now, store.first_run_at() or now)
    zone = schedule.timezone
    return compose(store, since=begin.astimezone(zone), until=now.astimezone(zone), name=name_of(settings))


def name_of(settings: Settings) -> str:
    """Return whose digest it is: the names of the downstreams, the first of many."""
    names = [it.name for it in settings.downstreams]
    more = len(names) - _NAMED
    return ", ".join(names) if more <= 0 else f"{', '.join(names[:_NAMED])} and {more} more"


def compose(
    store: Store,
    *,
    since: datetime,
    until: datetime,
    due: datetime | None = None,
    name: str = "",
    at: datetime | None = None,
) -> Digest:
    """Return what the store knows of a period, in the time zone of `since`.

    What is open, stuck or silent is told as it stands now (`at`); what happened, from `since` up to `until`.
    """
    upstreams, findings = store.standings("upstream"), store.findings()
    words = fix_words(upstreams)
    live = [it for it in findings if it.is_live]
    suggested = bumps(upstreams, live, words)
    ended = {it.finding.key for it in store.events_since(since) if it.kind is EventKind.RESOLVED and it.at < until}
    return Digest(
        name=name,
        since=since,
        until=until.astimezone(since.tzinfo),
        at=at or until,
        due=due,
        stuck=tuple(Stuck(channel=way, reason=why, count=count) for way, why, count in store.stuck(at or until)),
        new=items((it for it in live if it.opened_at >= since), suggested, since.tzinfo),
        still=items((it for it in live if it.opened_at < since), suggested, since.tzinfo),
        open=counts(live),
        acknowledged=sum(it.state is State.ACKNOWLEDGED for it in findings),
        snoozed=sum(it.state is State.SNOOZED for it in findings),
        resolved=over(it for it in findings if it.key in ended),
        bumps=suggested,
        drift=drifts(store.standings("drift"), words),
        made=tuple(it for it in store.moved_pins(since) if it.at < until),
        moved=_movements(store, since, until),
        silent=_silences(store),
        alerts=_alerts(store, since, until),
        dismissed=sum(it.is_dismissed and it.key in ended for it in findings),
        upstreams=len(upstreams),
    )


def _movements(store: Store, since: datetime, until: datetime) -> tuple[Movement, ...]:
    """Return what moved, upstreams where something unusual happened first."""
    found = []
    for upstream, moves in store.moves_since(since).items():
        seen = store.snapshot(upstream)
        told = movement(upstream, [it for it in moves if it.at < until], head=seen.head if seen else None)
        found += [told] if told else []
    return tuple(sorted(found, key=lambda it: (it.is_routine, it.name)))


def _silences(store: Store) -> tuple[Silence, ...]:
    """Return what could not be observed, the longest first."""
    ordered = sorted(store.failures().items(), key=lambda it: it[1].since)
    return tuple(
        Silence(
            name="/".join(upstream.split("/")[-2:]),
            url=upstream,
            since=failed.since,
            tries=failed.tries,
            reason=failed.last_reason,
        )
        for upstream, failed in ordered
    )


def _alerts(store: Store, since: datetime, until: datetime) -> int:
    """Return how many events of findings were told; to tell one in two channels is one alert."""
    told = {
        it.key.removesuffix(f" {it.channel}")
        for it in store.outbox()
        if "finding" in it.payload and it.delivered_at and since <= it.delivered_at < until
    }
    return len(told)


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)
