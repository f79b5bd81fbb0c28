"""Send messages to Slack: with a bot's token to a channel, or to an incoming webhook.

Nothing is tried twice here: what can be tried again, and when, is told by `DeliveryError`, and the outbox decides.
Methods and errors: https://docs.slack.dev/reference/methods/chat.postMessage
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from http.client import HTTPException
from typing import Any

from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web import WebClient
from slack_sdk.webhook import WebhookClient

from watcher.errors import DeliveryError
from watcher.report.blocks import Post

API = "https://slack.com/api/"
_TIMEOUT = 20
"""Seconds for one message."""
_STRANGER = "what answers under Slack's address is not Slack"
NETWORK = (OSError, ValueError, AttributeError, HTTPException, SlackClientError)
"""What goes wrong before there is an answer, or with one that is none of Slack's."""
_HOUR = timedelta(hours=1)
_UNFIT = {"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "msg_too_long", "no_text"}
"""What is said of a message that can never be sent as it is."""
_GONE = {"message_not_found", "cant_update_message", "thread_not_found", "edit_window_closed"}
"""What is said where somebody deleted the first message, or it can no longer be altered: then a new one is posted."""
_PASSING = {"fatal_error", "internal_error", "ratelimited", "rate_limited", "request_timeout", "service_unavailable"}
"""What is said when the same may work soon; anything else wants a person first: a token, an invitation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bot:
    """A channel that a bot posts to."""

    channel: str
    token: Callable[[], str]
    api: str = API

    def send(self, key: str, post: Post, first: str | None = None) -> str | None:
        """Post a message under its idempotency key, which stands in the metadata; return where it stands.

        `first` is where an earlier message about the same finding stands: that one is brought up to date, and what
        changed goes into its thread; a mere reply leaves it as it is. Raises DeliveryError.
        """
        channel, _, ts = first.partition(" ") if first else (self.channel, "", "")
        said = (post.update or post) if first else post
        try:
            if first and not post.is_reply:
                self._client().chat_update(channel=channel, ts=ts, text=post.text, blocks=list(post.blocks))
            answer = self._client().chat_postMessage(
                channel=channel,
                thread_ts=ts or None,
                reply_broadcast=True if first and post.is_louder else None,
                text=said.text,
                blocks=list(said.blocks),
                unfurl_links=False,
                unfurl_media=False,
                metadata={"event_type": "watcher", "event_payload": {"key": key}},
            )
        except SlackApiError as error:
            if first and isinstance(error.response.data, dict) and error.response.data.get("error") in _GONE:
                return self.send(key, post)
            raise of_answer(error.response) from None
        except NETWORK as error:
            raise of_network(error) from None
        return first or f"{answer['channel']} {answer['ts']}"

    def _client(self) -> WebClient:
        return WebClient(self.token(), base_url=self.api, timeout=_TIMEOUT, retry_handlers=[])


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """An incoming webhook: its address is the secret, and it returns no id of the message."""

    address: Callable[[], str]

    def send(self, key: str, post: Post, first: str | None = None) -> None:  # noqa: ARG002 - webhooks take neither
        """Post a message; raise DeliveryError."""
        client = WebhookClient(self.address(), timeout=_TIMEOUT, retry_handlers=[])
        try:
            answer = client.send(text=post.text, blocks=list(post.blocks), unfurl_links=False, unfurl_media=False)
        except NETWORK as error:
            raise of_network(error) from None
        if answer.status_code != HTTPStatus.OK:
            raise _trouble(answer.status_code, answer.body.strip()[:100], answer.headers)
        if answer.body.strip() != "ok":  # a login page, say, of a network that lets nobody out
            raise DeliveryError(_STRANGER)


def of_answer(response: Any) -> DeliveryError:
    """Return what an answer that refuses means for whoever asked."""
    said = str(response.data.get("error") or "") if isinstance(response.data, dict) else ""
    if response.status_code == HTTPStatus.OK and not said.isidentifier():
        return DeliveryError(_STRANGER)
    # Where slack-sdk found no JSON, it quotes here what it found.
    return _trouble(response.status_code, said if said.isidentifier() else str(response.status_code), response.headers)


def _trouble(status: int, reason: str, headers: Any) -> DeliveryError:
    """Return what an answer means: never, later, or once a person has done something."""
    if status == HTTPStatus.TOO_MANY_REQUESTS or reason in {"ratelimited", "rate_limited"}:
        return DeliveryError("Slack asks for patience", again=timedelta(seconds=_seconds(headers)))
    if reason in _UNFIT:
        return DeliveryError(f"Slack does not take this message: {reason}", is_final=True)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR or reason in _PASSING:
        return DeliveryError(f"Slack has trouble: {reason or status}")
    return DeliveryError(f"Slack refuses: {reason or status}", again=_HOUR)


def of_network(error: Exception) -> DeliveryError:
    """Return what it means that there is no answer."""
    # The error's text may hold the webhook's address, which is a secret.
    return DeliveryError(f"Slack could not be reached ({type(error).__name__})")


def _seconds(headers: Any) -> int:
    """Return what `Retry-After` says, at least one second and at most an hour."""
    found = {str(name).lower(): value for name, value in dict(headers).items()}.get("retry-after", "30")
    text = str(found[0] if isinstance(found, list) else found)
    return min(max(int(text), 1), 3600) if text.isdigit() else 30
