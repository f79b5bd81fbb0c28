"""Send what is owed: each message of the outbox until it arrived, or never can.

A message is marked after it was sent. A crash in between sends it again under the same key: late or twice, never not
at all.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import assert_never

from watcher import routing
from watcher.channels.mail import Mail
from watcher.channels.slack import API, Bot, Webhook
from watcher.config import Email, Settings, Slack
from watcher.config.secret import Secret
from watcher.digesting import digest_of, outdated
from watcher.errors import ConfigError, DeliveryError
from watcher.model import Event, EventKind
from watcher.offering import offered
from watcher.picture.told import of_week
from watcher.report import digestpost
from watcher.report.alert import Alert, alerts
from watcher.report.blocks import Post, baseline, post, reply
from watcher.report.digest import letter
from watcher.store import Owed, Store

_FIRST, _LONGEST = timedelta(seconds=30), timedelta(hours=1)
"""The wait after a first failed try, doubled with each further one, up to the longest."""
_PATIENT = 7
"""Tries of a mail, over some hour, in which everybody waits for whom the server puts off: greylisting is shorter."""
Channel = Bot | Webhook | Mail


@dataclass(frozen=True, slots=True, kw_only=True)
class Channels:
    """Where messages go, as one configuration says."""

    settings: Settings
    by_name: Mapping[str, Channel]

    @property
    def has_buttons(self) -> bool:
        """Answer whether clicks on the buttons of messages are listened for."""
        return self.settings.slack is not None and self.settings.slack.app_token is not None


def channels(settings: Settings) -> Channels:
    """Return the channels of the configuration."""
    slack, email = settings.slack, settings.email
    by_name: dict[str, Channel] = {}
    if slack is not None:
        by_name |= {name: _slack(slack, room, settings) for name, room in routing.channels(settings).items()}
    if email is not None:
        by_name["mail"] = _mail(email)
    return Channels(settings=settings, by_name=by_name)


def deliver(store: Store, ways: Channels, now: datetime) -> tuple[str, ...]:
    """Send what is due, oldest first; return why messages could not be sent, once for each channel.

    A channel that has trouble is left alone until its next try, so that messages keep their order.
    """
    _drop_homeless(store, ways, now)
    troubles: dict[str, str] = {}
    waiting: set[str] = set()
    for message in store.due(now):
        if message.channel in waiting:
            continue
        try:
            place = _send(ways, message, store, now)
        except (DeliveryError, ConfigError) as error:
            troubles[message.channel] = str(error)
            if isinstance(error, DeliveryError) and error.is_final:
                store.given_up(message.id, str(error), now)
                continue
            waiting.add(message.channel)
            again = error.again if isinstance(error, DeliveryError) else None
            wait = again or min(_FIRST * 2 ** min(message.attempts, 16), _LONGEST)
            store.postponed(message.id, str(error), now + wait, is_failure=again is None)
        else:
            _mark(store, message, place, now)
    return tuple(f"{channel}: {reason}" for channel, reason in troubles.items())


def _drop_homeless(store: Store, ways: Channels, now: datetime) -> None:
    """Drop what waits for a channel, or for recipients, that the configuration names no longer."""
    homeless = [message.id for message in store.waiting() if message.channel not in ways.by_name]
    store.drop([*homeless, *outdated(ways.settings, store)], now)


def _mark(store: Store, message: Owed, place: str | None, now: datetime) -> None:
    with store.atomic():
        if message.channel == "mail":
            store.delivered(message.id, now, place or "")
            return
        store.delivered(message.id, now)
        if finding := message.payload.get("finding"):
            store.record_post(finding, message.channel, place)


def _send(ways: Channels, message: Owed, store: Store, now: datetime) -> str | None:
    """Send one message; return where the first one about its finding stands, or whom a mail server refused."""
    match ways.by_name[message.channel]:
        case Mail() as mail:
            digest = digest_of(message.payload, ways.settings, store, now)
            told = letter(digest, of_week(ways.settings, store, digest))
            return mail.send(message.key, told, now, is_patient=message.attempts < _PATIENT)
        case Bot() | Webhook() as slack:
            about = message.payload.get("finding") or message.payload.get("reply")
            first = store.post_of(about, message.channel) if about else None
            return slack.send(message.key, _words(ways, message, store, now), first)
        case other:
            assert_never(other)


def _words(ways: Channels, message: Owed, store: Store, now: datetime) -> Post:
    """Return what a message says: one event, the findings of a first look, a digest, or what became of a wish."""
    if "digest" in message.payload:
        return digestpost.post(digest_of(message.payload, ways.settings, store, now))
    if "baseline" in message.payload:
        opened = [event for key in message.payload["baseline"] for event in _opened(store.events(key))]
        return baseline(alerts(opened, {}))
    if "reply" in message.payload:
        return reply((str(words), str(url)) for words, url in message.payload["said"])
    return post(_alert(ways, message, store), has_buttons=ways.has_buttons)


def _alert(ways: Channels, message: Owed, store: Store) -> Alert:
    """Return the event that a message tells, against how its finding stood before, and what can be done about it."""
    event = store.event_of(message)
    if event is None:
        raise DeliveryError(f"the log has no event {message.key}", is_final=True)
    earlier = [it.finding for it in store.events(event.finding.key) if it.at < event.at]
    # What was held back as new is told as new, whatever happened meanwhile.
    told = replace(event, kind=EventKind(message.payload.get("event", event.kind)))
    offer = offered(ways.settings, store, told.finding.concern)
    offers = {told.finding.key: offer} if offer else {}
    return alerts([told], {}, {it.key: it for it in earlier[-1:]}, offers)[0]


def _opened(events: tuple[Event, ...]) -> tuple[Event, ...]:
    return tuple(event for event in events if event.kind is EventKind.OPENED)[:1]


def _slack(slack: Slack, room: str, settings: Settings) -> Bot | Webhook:
    if slack.webhook is not None:
        return Webhook(address=revealed(slack.webhook))
    token = revealed(slack.token) if slack.token else str
    return Bot(channel=room, token=token, api=settings.address(API))


def _mail(email: Email) -> Mail:
    password = revealed(email.password) if email.password else None
    return Mail(server=email.smtp, sender=email.from_, to=email.to, user=email.user, password=password)


def revealed(secret: Secret) -> Callable[[], str]:
    """Return how to look a secret up when it is needed."""
    return lambda: secret.reveal(os.environ, Path.read_text)
