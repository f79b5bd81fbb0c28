"""Send what is owed: each message of the outbox until it arrived, or never can.

A message is marked after it was sent. A crash in between sends it again under the same key: late or twice, never not
at all.
"""

import os
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol

from watcher.channels.slack import API, Bot, Webhook
from watcher.config import Settings
from watcher.config.secret import Secret
from watcher.errors import ConfigError, DeliveryError
from watcher.model import Event, EventKind
from watcher.report.alert import alerts
from watcher.report.blocks import Post, baseline, post
from watcher.store import Owed, Store

_FIRST, _LONGEST = timedelta(seconds=30), timedelta(hours=1)
"""The wait after a first failed try, doubled with each further one, up to the longest."""


class Channel(Protocol):
    """Somewhere messages go."""

    def send(self, key: str, post: Post, first: str | None = None) -> str | None:
        """Send a message under its idempotency key, following the first one about its finding; raise DeliveryError.

        Returns where the first one stands now, None where the channel cannot tell.
        """


def channels(settings: Settings) -> dict[str, Channel]:
    """Return the channels of the configuration by name."""
    slack = settings.slack
    if slack is None:
        return {}
    if slack.webhook is not None:
        return {"slack": Webhook(address=_revealed(slack.webhook))}
    token = _revealed(slack.token) if slack.token else str
    return {"slack": Bot(channel=slack.channel or "", token=token, api=settings.address(API))}


def deliver(store: Store, ways: Mapping[str, Channel], now: datetime) -> tuple[str, ...]:
    """Send what is due, oldest first; return why messages could not be sent, once for each channel.

    A channel that has trouble is left alone until its next try, so that messages keep their order.
    """
    troubles: dict[str, str] = {}
    waiting: set[str] = set()
    for message in store.due(now):
        if message.channel not in ways or message.channel in waiting:
            continue
        try:
            place = _send(ways[message.channel], message, store)
        except (DeliveryError, ConfigError) as error:
            troubles[message.channel] = str(error)
            if isinstance(error, DeliveryError) and error.is_final:
                store.given_up(message.id, str(error), now)
                continue
            waiting.add(message.channel)
            again = error.again if isinstance(error, DeliveryError) else None
            wait = again or min(_FIRST * 2 ** min(message.attempts, 16), _LONGEST)
            store.postponed(message.id, str(error), now + wait)
        else:
            with store.atomic():
                store.delivered(message.id, now)
                if finding := message.payload.get("finding"):
                    store.record_post(finding, message.channel, place)
    return tuple(f"{channel}: {reason}" for channel, reason in troubles.items())


def _send(way: Channel, message: Owed, store: Store) -> str | None:
    finding = message.payload.get("finding")
    first = store.post_of(finding, message.channel) if finding else None
    return way.send(message.key, _words(message, store), first)


def _words(message: Owed, store: Store) -> Post:
    """Return what a message says: one event, or the findings of a first look."""
    if "baseline" in message.payload:
        opened = [event for key in message.payload["baseline"] for event in _opened(store.events(key))]
        return baseline(alerts(opened, {}))
    event = store.event_of(message)
    if event is None:
        raise DeliveryError(f"the log has no event {message.key}", is_final=True)
    return post(alerts([event], {})[0])


def _opened(events: tuple[Event, ...]) -> tuple[Event, ...]:
    return tuple(event for event in events if event.kind is EventKind.OPENED)[:1]


def _revealed(secret: Secret) -> Callable[[], str]:
    return lambda: secret.reveal(os.environ, Path.read_text)
