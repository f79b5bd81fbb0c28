"""Lay out alerts as Slack messages that read well on a phone: short lines, what matters most first."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from slack_sdk.models.blocks import (
    ActionsBlock,
    Block,
    ButtonElement,
    ConfirmObject,
    PlainTextObject,
    RichTextElement,
    SectionBlock,
)

from watcher.model import Side, State
from watcher.plural import counted
from watcher.report.alert import Alert, Offer, placed
from watcher.report.richtext import Blocks, bullets, commands, escaped, fitting, header, lines, link, rich, some, text
from watcher.report.text import safe

_PLACES, _REASONS, _COMMANDS, _NAMED = 8, 6, 3, 20
"""How many of each sort one message has."""
_SIDES, _FIXES = 10, 3
"""How many variants stand side by side (Slack takes ten), and how many fixes of each."""
_REPOSITORIES = 3
"""How many repositories a question names."""
_OID = re.compile(r"\b([0-9a-f]{40}(?:[0-9a-f]{24})?)\b")


class Action(StrEnum):
    """What a button does."""

    ACKNOWLEDGE = "acknowledge"
    SNOOZE = "snooze"
    NOT_A_FIX = "not-a-fix"
    PULL_REQUEST = "pull-request"
    ISSUE = "issue"


_WORDS = {
    Action.PULL_REQUEST: "Open pull request",
    Action.ISSUE: "Open issue",
    Action.ACKNOWLEDGE: "Acknowledge",
    Action.SNOOZE: "Snooze 7 days",
    Action.NOT_A_FIX: "Not a fix",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """One message for Slack."""

    text: str
    """For notifications and readers of text alone; safe in Slack's own markup."""
    blocks: Blocks
    update: "Post | None" = None
    """What the thread of an earlier message says, while that message becomes this one; None: the same."""
    is_louder: bool = False
    """What the thread says is for the whole channel too."""
    is_reply: bool = False
    """It goes into the thread alone: the first message stays as it is."""


def post(told: Alert, *, has_buttons: bool = False) -> Post:
    """Return an alert as a message: what, where, since when, why, what to do, and the commands.

    What is over is crossed out. Without buttons there is the command that acknowledges it.
    """
    blocks = _crossed_out(told) if told.is_over else _live(told, has_buttons=has_buttons and len(told.handles) == 1)
    return Post(
        text=escaped(told.title),
        blocks=fitting(*blocks),
        update=_update(told) if told.change else None,
        is_louder=told.is_louder,
    )


def baseline(told: Sequence[Alert]) -> Post:
    """Return the findings of a first look as one message, by severity."""
    title = f"First look: {counted(_count(told), 'finding')}"
    shown = told if len(told) <= _NAMED else told[: _NAMED - 1]
    body: list[RichTextElement] = []
    for severity, those in groupby(shown, lambda it: it.severity):
        count = _count(it for it in told if it.severity is severity)
        body += [lines([text(f"{count} {severity}", bold=True)]), bullets(_named(it) for it in those)]
    if len(shown) < len(told):
        body.append(lines([text(f"and {_count(told[len(shown) :])} more")]))
    return Post(text=escaped(title), blocks=fitting(header(title), rich(*body, commands("watcher check"))))


def reply(said: Iterable[tuple[str, str]]) -> Post:
    """Return what a thread says of something that a person asked for: lines, and where a browser shows each."""
    told = [(f"{words[:1].upper()}{words[1:]}", url) for words, url in said]
    shown = [_told(words, url) for words, url in told]
    text_alone = "; ".join(f"{words} {url}".rstrip() for words, url in told)
    return Post(text=escaped(text_alone), blocks=fitting(rich(lines(*shown))), is_reply=True)


def _told(words: str, url: str) -> list[RichTextElement]:
    """Return words that lead to an address; one that is no link is there to be copied."""
    is_link = not url or url.startswith("https://")
    return [link(safe(words), url)] if is_link else [text(f"{safe(words)} {safe(url)}")]


def _count(told: Iterable[Alert]) -> int:
    return sum(len(it.handles) for it in told)


def _named(told: Alert) -> str:
    return told.headline if len(told.handles) == 1 else f"{told.headline} ({len(told.handles)} pins)"


def _update(told: Alert) -> Post:
    return Post(
        text=escaped(f"{told.change}: {told.headline}"), blocks=fitting(rich(lines([_said(told, told.change)])))
    )


def _live(told: Alert, *, has_buttons: bool) -> list[Block]:
    """Return what a finding looks like that is not over."""
    stands = [text(told.stands, bold=told.state is not State.OPEN), text(f", {told.since}")]
    top = rich(lines(*_places(told), stands))
    why = [bullets(some((line for line in told.why if line), _REASONS), told.lines)] if any(told.why) else []
    do = [lines([text("Do  ", bold=True), *_advice(told)])] if told.what_to_do else []
    known = [_side_by_side(told.sides)] if told.sides else []
    reasons = [rich(*(() if known else why), *do)] if do or (why and not known) else []
    clicks = [_buttons(told)] if has_buttons else []
    return [header(told.title), top, *known, *reasons, *clicks, rich(_commands(told, has_buttons=has_buttons))]


def _crossed_out(told: Alert) -> list[Block]:
    """Return what a finding looks like that is over: smaller, and what ended it first."""
    title = [text(f"{told.severity.upper()} {told.verb}: ", bold=True), text(told.headline, strike=True)]
    gone = lines(title, [_said(told, told.stands)], *_places(told), [text(told.since, strike=True)])
    return [rich(gone, _commands(told, has_buttons=True))]


def _places(told: Alert) -> list[list[RichTextElement]]:
    style = {"strike": True} if told.is_over else {}
    urls = {placed(it): it.url for it in told.places if placed(it)}
    return [[link(where, urls.get(where), **style)] for where in some(urls, _PLACES)]


def _said(told: Alert, words: str) -> RichTextElement:
    """Return words, and where a browser shows what they tell of."""
    return link(words, told.link)


def _advice(told: Alert) -> list[RichTextElement]:
    """Return what to do; a commit leads to what it brings, or is there to be copied."""
    pieces = _OID.split(told.what_to_do)
    parts = [_commit(piece, told) if at % 2 else text(piece) for at, piece in enumerate(pieces) if piece]
    unsaid = [url for oid, url in told.compares.items() if oid not in pieces]
    return [*parts, *(part for url in unsaid for part in (text(" "), link("compare", url)))]


def _commit(oid: str, told: Alert) -> RichTextElement:
    url = told.compares.get(oid)
    return link(oid[:12], url, code=True) if url else text(oid, code=True)


def _side_by_side(sides: Sequence[Side]) -> SectionBlock:
    """Return the variants of a drift in two columns; a phone shows them one below the other."""
    shown = [_side(it) for it in (sides if len(sides) <= _SIDES else sides[: _SIDES - 1])]
    more = [f"and {len(sides) - len(shown)} more"] if len(shown) < len(sides) else []
    return SectionBlock(fields=[PlainTextObject(text=it, emoji=False) for it in (*shown, *more)])


def _side(it: Side) -> str:
    told = [
        f"{it.variant}: {it.stands}",
        *some((f"has {fix}" for fix in it.has), _FIXES),
        *some((f"lacks {fix}" for fix in it.lacks), _FIXES),
        *([f"level with {it.target[:12]}"] if it.target else []),
    ]
    return "\n".join(safe(line, 150) for line in told)


def _buttons(told: Alert) -> ActionsBlock:
    wanted = {Action.SNOOZE}
    wanted |= {Action.ACKNOWLEDGE} if told.state is not State.ACKNOWLEDGED else set()
    wanted |= {Action.NOT_A_FIX} if told.is_about_fix else set()
    questions = {Action.NOT_A_FIX: _SURE}
    if told.offer:
        action = Action.ISSUE if told.offer.is_issue else Action.PULL_REQUEST
        wanted.add(action)
        questions[action] = _asked(told.offer, _WORDS[action])
    buttons = [
        ButtonElement(
            text=PlainTextObject(text=words, emoji=False),
            action_id=action,
            value=told.handles[0],
            confirm=questions.get(action),
        )
        for action, words in _WORDS.items()
        if action in wanted
    ]
    return ActionsBlock(block_id="finding", elements=buttons)


_SURE = ConfirmObject(
    title=PlainTextObject(text="Not a fix?", emoji=False),
    text=PlainTextObject(text="The finding is over, and this change is not told again for any pin.", emoji=False),
    confirm=PlainTextObject(text="Not a fix", emoji=False),
    deny=PlainTextObject(text="Cancel", emoji=False),
)


def _asked(offer: Offer, words: str) -> ConfirmObject:
    """Return the question before something is proposed: where, and which commit to bump to."""
    where = ", ".join(some(offer.repositories, _REPOSITORIES))
    to = " or ".join(it[:12] for it in offer.targets[:2])
    variants = ", all variants together" if offer.is_together else ""
    said = f"In {safe(where, 120)}: bump {safe(offer.name, 60)} to {to}{variants}."
    return ConfirmObject(
        title=PlainTextObject(text=f"{words}?", emoji=False),
        text=PlainTextObject(text=said, emoji=False),
        confirm=PlainTextObject(text=words, emoji=False),
        deny=PlainTextObject(text="Cancel", emoji=False),
    )


def _commands(told: Alert, *, has_buttons: bool) -> RichTextElement:
    """Return what to type: the argument, the bump where no button proposes it, and the note without buttons."""
    acts = ["explain {}"]
    if told.asks_for_bump and not (has_buttons and told.offer):
        acts.append(f"bump {{}} {told.offer.options}" if told.offer else "bump {}")
    if not has_buttons and told.state is not State.ACKNOWLEDGED:
        acts.append("ack {}")
    return commands(*(f"watcher {act.format(handle)}" for handle in told.handles[:_COMMANDS] for act in acts))
