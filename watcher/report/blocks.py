"""Lay out alerts as Slack messages: rich text shows what upstream wrote, and obeys nothing of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from slack_sdk.models.blocks import (
    HeaderBlock,
    PlainTextObject,
    RichTextBlock,
    RichTextElementParts,
    RichTextListElement,
    RichTextSectionElement,
)

from watcher.plural import counted
from watcher.report.alert import Alert
from watcher.report.text import safe

_TITLE = 150
"""Characters of a header that Slack takes."""
_REASONS, _PLACES, _NAMED = 6, 8, 20
"""How many lines of each sort one message has."""

Part = RichTextElementParts.Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """One message for Slack."""

    text: str
    """For notifications and readers of text alone; safe in Slack's own markup."""
    blocks: tuple[dict[str, Any], ...]


def post(told: Alert) -> Post:
    """Return an alert as a message: what, where, since when, why, what to do, and the command that acknowledges it.

    What is over is crossed out.
    """
    is_over = told.is_over
    lines = [
        *(_line("Where", where, is_over=is_over) for where in _some(told.where, _PLACES)),
        _line("When", told.since, is_over=is_over),
        *(_line("Why", why) for why in _some(told.why, _REASONS)),
        *([_line("Do", told.what_to_do)] if told.what_to_do else []),
        *(_command(f"watcher ack {handle}") for handle in told.handles[:1] if not is_over),
    ]
    return _post(told.title, RichTextBlock(elements=lines))


def baseline(told: Sequence[Alert]) -> Post:
    """Return the findings of a first look as one message."""
    names = [RichTextSectionElement(elements=[Part(text=title)]) for title in _some([it.title for it in told], _NAMED)]
    more = [_command("watcher check")]
    return _post(
        f"First look: {counted(len(told), 'finding')}",
        RichTextBlock(elements=[RichTextListElement(style="bullet", elements=names), *more]),
    )


def _post(title: str, body: RichTextBlock) -> Post:
    head = HeaderBlock(text=PlainTextObject(text=safe(title, _TITLE), emoji=False))
    return Post(text=_escaped(safe(title)), blocks=(head.to_dict(), body.to_dict()))


def _line(name: str, text: str, *, is_over: bool = False) -> RichTextSectionElement:
    said = Part(text=safe(text), style={"strike": True}) if is_over else Part(text=safe(text))
    return RichTextSectionElement(elements=[Part(text=f"{name}  ", style={"bold": True}), said, Part(text="\n")])


def _command(text: str) -> RichTextSectionElement:
    return RichTextSectionElement(elements=[Part(text=safe(text), style={"code": True})])


def _some(lines: Iterable[str], most: int) -> list[str]:
    """Return the first lines, and how many more there are."""
    every = list(lines)
    return every if len(every) <= most else [*every[: most - 1], f"and {len(every) - most + 1} more"]


def _escaped(text: str) -> str:
    """Return text that Slack's markup reads as itself: no mention, no link."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
