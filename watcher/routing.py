"""Which channels hear of what happened to a finding, and when? Owed in the transaction that records what happened.

What is low waits for the digest, and so does what a route leaves to it. In quiet hours, and of a finding that comes
and goes, messages are held; what happens meanwhile takes their place, so that nobody hears of what is past.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from fnmatch import fnmatchcase

from watcher.config import DIGEST, Route, Schedule, Settings
from watcher.model import Concern, Event, EventKind, Severity
from watcher.store import Message, Owed, Store

SLACK = "slack"
"""The channel of `slack` in the configuration; those of routes have their name behind it."""
_FLAPS, _WITHIN = 3, timedelta(hours=24)
"""A finding that opened so often in so long comes and goes."""
_CALM = timedelta(hours=6)
"""How long the news of such a finding is held: told is how it stands then."""
_BY_PEOPLE = {EventKind.ACKNOWLEDGED, EventKind.SNOOZED}


def channels_for(settings: Settings, concern: Concern, *, is_summary: bool = False) -> tuple[str, ...]:
    """Return the channels that hear of a concern; none where it waits for the digest.

    A summary names what is low too, where no route leads elsewhere.
    """
    if settings.slack is None:
        return ()
    if route := _route(settings, concern):
        return tuple(name_of(it) for it in route.to if it != DIGEST)
    return (SLACK,) if is_summary or concern.severity is not Severity.LOW else ()


def _route(settings: Settings, concern: Concern) -> Route | None:
    """Return the first route that fits."""
    return next(
        (
            route
            for route in settings.routes
            if concern.severity.rank >= route.severity.rank
            and concern.kind in route.kind
            and _fits(route.dependency, (concern.dependency,))
            and _fits(route.variant, concern.variants or ("any",))
        ),
        None,
    )


def channels(settings: Settings) -> dict[str, str]:
    """Return every Slack channel of the configuration: what the outbox calls it → its name; empty for a webhook's."""
    if settings.slack is None:
        return {}
    routed = {name_of(it): it for route in settings.routes for it in route.to if it != DIGEST}
    return {SLACK: settings.slack.channel or "", **routed}


def name_of(channel: str) -> str:
    """Return what the outbox calls the Slack channel of a route."""
    return f"{SLACK} {channel}"


def quiet_until(schedule: Schedule, now: datetime) -> datetime | None:
    """Return when the quiet hours end that `now` is in, or None."""
    if schedule.quiet is None:
        return None
    local = now.astimezone(schedule.timezone)
    begin, end = schedule.quiet.begin, schedule.quiet.end
    clock = local.time()
    is_quiet = begin <= clock < end if begin < end else clock >= begin or clock < end
    if not is_quiet:
        return None
    day = local.date() + timedelta(days=1 if clock >= end else 0)
    return datetime.combine(day, end, schedule.timezone).astimezone(now.tzinfo)


def owe(store: Store, settings: Settings, events: Iterable[Event], now: datetime) -> None:
    """Put into the outbox what the events owe, inside the transaction that records them."""
    every = tuple(events)
    for event in every:
        if not _is_summed_up(event):
            _owe_one(store, settings, event, now)
    _owe_baseline(store, settings, [event for event in every if _is_summed_up(event)], now)


def _is_summed_up(event: Event) -> bool:
    """Answer whether an event of a first look waits for the summary."""
    return event.is_baseline and event.finding.concern.severity is not Severity.CRITICAL


def _owe_baseline(store: Store, settings: Settings, events: list[Event], now: datetime) -> None:
    """Owe one summary of a first look to each channel; what is low is in it too."""
    by_channel: dict[str, list[str]] = {}
    for event in events:
        for channel in channels_for(settings, event.finding.concern, is_summary=True):
            by_channel.setdefault(channel, []).append(event.finding.key)
    wait = quiet_until(settings.schedule, now)
    store.owe(
        (
            Message(about=f"baseline {now.isoformat()}", channel=name, payload={"baseline": keys}, not_before=wait)
            for name, keys in by_channel.items()
        ),
        now,
    )


def _owe_one(store: Store, settings: Settings, event: Event, now: datetime) -> None:
    """Owe the news of one event to the channels that are to hear of it, and to those that heard of its finding."""
    concern = event.finding.concern
    known: dict[str, list[Owed]] = {}
    for message in store.about(event.finding.key):
        is_own = "finding" in message.payload or concern.severity is not Severity.LOW
        if message.dropped_at is None and is_own and message.channel in channels(settings):
            known.setdefault(message.channel, []).append(message)
    wanted = () if event.kind in _BY_PEOPLE else channels_for(settings, concern)
    until = _held_until(settings, event, _openings(store, event, now), now)
    for channel in dict.fromkeys((*wanted, *known)):
        news = _news(event, known.get(channel, []), until, now)
        store.drop(news.needless, now)
        if news.kind is not None:
            payload = {"finding": event.finding.key, "event": news.kind}
            store.owe([Message(about=event.id, channel=channel, payload=payload, not_before=news.not_before)], now)


def _openings(store: Store, event: Event, now: datetime) -> int:
    """Return how often a finding opened lately, this time included."""
    lately = (it.kind for it in store.events(event.finding.key) if it.at > now - _WITHIN)
    return sum(kind in {EventKind.OPENED, EventKind.REOPENED} for kind in lately)


def _held_until(settings: Settings, event: Event, openings: int, now: datetime) -> datetime | None:
    """Return until when news is held: what a person did is told at once, and what is critical in quiet hours too."""
    if event.kind in _BY_PEOPLE or event.finding.is_dismissed:
        return None
    calm = now + _CALM if openings >= _FLAPS else None
    quiet = None if event.finding.concern.severity is Severity.CRITICAL else quiet_until(settings.schedule, now)
    return max((at for at in (calm, quiet) if at), default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _News:
    """What to tell a channel."""

    kind: EventKind | None
    """As what: None where there is nothing to tell it."""
    not_before: datetime | None = None
    needless: tuple[int, ...] = ()
    """Held messages that it need not hear any more."""


def _news(event: Event, known: list[Owed], until: datetime | None, now: datetime) -> _News:
    """Return what an event is to a channel that was, or will be, told the known messages."""
    held = [it for it in known if it.delivered_at is None and it.not_before and it.not_before > now and _is_alone(it)]
    told = [it for it in known if it not in held]
    is_open = bool(told) and told[-1].payload.get("event") != EventKind.RESOLVED
    kind: EventKind | None = event.kind
    if event.kind in {EventKind.RESOLVED, *_BY_PEOPLE}:
        kind = event.kind if is_open else None
    elif event.kind is EventKind.REOPENED and is_open and held:
        kind = None  # it was over and is back before anybody heard that it was over
    elif held and not told:
        kind = EventKind.OPENED
    # Held once is held for that long: whoever comes and goes for ever is heard of at the end of it.
    times = [it.not_before for it in held if it.not_before]
    not_before = min((until, *times)) if until else None
    return _News(kind=kind, not_before=not_before, needless=tuple(it.id for it in held))


def _is_alone(message: Owed) -> bool:
    return "finding" in message.payload


def _fits(globs: Iterable[str], names: Iterable[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs for name in names)
