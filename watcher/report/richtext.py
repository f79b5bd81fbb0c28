"""Make the parts of Slack's blocks: what strangers wrote is shown in them, and nothing of it is obeyed.

Limits: https://docs.slack.dev/reference/block-kit/blocks - what does not fit is shortened, never refused.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from slack_sdk.models.blocks import (
    Block,
    HeaderBlock,
    PlainTextObject,
    RichTextBlock,
    RichTextElement,
    RichTextElementParts,
    RichTextListElement,
    RichTextPreformattedElement,
    RichTextSectionElement,
)

from watcher.report.text import linked, safe

Blocks = tuple[dict[str, Any], ...]
"""What Slack takes as `blocks`."""
_TITLE = 150
"""Characters of a header that Slack takes."""
_URL = 500
"""Characters of an address up to which it becomes a link."""
_ROOM = 12_500
"""Bytes of JSON that the blocks of one message take at most; Slack refuses them above some 13,200."""
_LENGTHS = (300, 120, 50, 20, 8)
"""Characters of a line: the first is taken with which all fits."""


def header(title: str) -> HeaderBlock:
    """Return a title."""
    return HeaderBlock(text=PlainTextObject(text=safe(title, _TITLE), emoji=False))


def rich(*elements: RichTextElement) -> RichTextBlock:
    """Return sections, lists and commands, one after the other."""
    return RichTextBlock(elements=list(elements))


def lines(*those: Sequence[RichTextElement]) -> RichTextSectionElement:
    """Return lines of parts, one below the other."""
    return RichTextSectionElement(elements=[part for line in those for part in (*line, text("\n"))][:-1])


def bullets(those: Iterable[str], urls: Mapping[str, str] | None = None) -> RichTextListElement:
    """Return a list; parts that are named in `urls` lead there."""
    elements = [lines([link(part, url) for part, url in linked(line, urls or {})]) for line in those]
    return RichTextListElement(style="bullet", elements=elements)


def commands(*those: str) -> RichTextPreformattedElement:
    """Return commands to copy."""
    return RichTextPreformattedElement(elements=[text("\n".join(those))])


def text(said: str, **style: bool) -> RichTextElement:
    """Return words as they are; Slack refuses none at all."""
    return RichTextElementParts.Text(text=said or "–", style=style or None)


def link(said: str, url: str | None, **style: bool) -> RichTextElement:
    """Return words that lead somewhere, where there is an address that a person may follow."""
    if url is None or not url.startswith("https://") or len(url) > _URL or url != safe(url, _URL):
        return text(said, **style)
    return RichTextElementParts.Link(url=url, text=said, style=style or None)


def some(those: Iterable[str], most: int) -> list[str]:
    """Return the first lines, and how many more there are."""
    every = list(those)
    return every if len(every) <= most else [*every[: most - 1], f"and {len(every) - most + 1} more"]


def fitting(*blocks: Block) -> Blocks:
    """Return blocks as Slack takes them: where there is too much, all lines are shortened."""
    whole = [block.to_dict() for block in blocks]
    sizes = ([_shortened(block, longest) for block in whole] for longest in _LENGTHS)
    shortest = [_shortened(block, _LENGTHS[-1]) for block in whole]
    return tuple(next((made for made in sizes if len(json.dumps(made)) <= _ROOM), shortest))


def escaped(said: str) -> str:
    """Return text that Slack's markup reads as itself: no mention, no link."""
    return safe(said).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _shortened(node: Any, longest: int) -> Any:
    """Return a block with its lines shortened; commands and ids are to be copied, and stay whole."""
    match node:
        case {"type": "rich_text_preformatted"} | {"style": {"code": True}}:
            return node
        case {"type": "link", "text": str(said), "url": str(url), **more} if len(url) > 10 * longest:
            return _shortened({**more, "type": "text", "text": said}, longest)
        case {"type": "text" | "link" | "plain_text", "text": str(said)}:
            return node | {"text": "\n".join(_cut(line, longest) for line in said.split("\n"))}
        case dict():
            return {name: _shortened(value, longest) for name, value in node.items()}
        case list():
            return [_shortened(value, longest) for value in node]
        case _:
            return node


def _cut(line: str, longest: int) -> str:
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
