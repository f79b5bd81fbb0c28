"""Read what Slack sends when somebody presses a button of a message.

The payload: https://docs.slack.dev/reference/interaction-payloads/block_actions-payload.
"""

import re
from dataclasses import dataclass
from typing import Any

from watcher.report.blocks import Action
from watcher.report.text import safe

_HANDLE = re.compile(r"[0-9a-f]{7}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Click:
    """A button that somebody pressed."""

    action: Action
    handle: str
    """Of the finding that it is about."""
    by: str
    """The person's name, and the id that stands behind it."""
    person: str
    """The person's id."""
    teams: frozenset[str]
    """The workspaces that it comes from: where the message is, and where the person is at home."""
    answer_to: str
    """Where the person can be told something, as the payload has it."""


def click_of(payload: dict[str, Any]) -> Click:
    """Return what a payload asks for; raise ValueError where it is none of ours."""
    try:
        return _click(payload)
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError("expected a click on one of our buttons") from error


def _click(payload: dict[str, Any]) -> Click:
    [action] = payload["actions"]
    if not _HANDLE.fullmatch(action["value"]):
        raise ValueError("expected a handle")
    user = payload["user"]
    name = user.get("name") or user.get("username") or "somebody"
    return Click(
        action=Action(action["action_id"]),
        handle=action["value"],
        by=f"{safe(str(name), 60)} ({safe(str(user['id']), 20)})",
        person=str(user["id"]),
        teams=frozenset({payload["team"]["id"], user.get("team_id") or payload["team"]["id"]}),
        answer_to=str(payload.get("response_url") or ""),
    )
