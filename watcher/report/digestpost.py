"""Lay out a digest as one Slack message: short lines, what matters most first."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from slack_sdk.models.blocks import Block, RichTextElement

from watcher.model import Moved
from watcher.plural import counted
from watcher.report import richtext
from watcher.report.blocks import Post
from watcher.report.digest import (
    bill,
    drifted,
    harmless,
    headline,
    lasting,
    level,
    minute,
    put_off,
    routine,
    short,
    span,
    tally,
)
from watcher.report.richtext import commands, escaped, fitting, header, lines, rich
from watcher.report.week import Bump, Digest, Drifted, Item, Movement, Over, Silence, Step, Stuck

Line = list[RichTextElement]
Thing = TypeVar("Thing")

_MOST = (6, 4, 3, 2)
"""How many of each sort one message lists, the rest is counted: the first is taken with which all fits."""


def post(digest: Digest) -> Post:
    """Return a digest as a message; what it has no room for is in the mail and in `watcher check`."""
    if digest.is_quiet:
        told = [[_text(routine(digest))], *_late(digest)]
        return Post(text=escaped(routine(digest)), blocks=fitting(rich(lines(*told))))
    title = f"Digest {span(digest)}"
    sizes = [[header(title), *_body(digest, most)] for most in _MOST]
    blocks = next((made for made in sizes if _is_whole(made)), sizes[-1])
    return Post(text=escaped(f"{title}: {headline(digest)}"), blocks=fitting(*blocks))


def _is_whole(blocks: list[Block]) -> bool:
    """Answer whether blocks fit into a message as they are."""
    return fitting(*blocks) == tuple(block.to_dict() for block in blocks)


def _body(digest: Digest, most: int) -> list[Block]:
    sections = [
        _section("New", digest.new, _item, most),
        _section("Still open", digest.still, _item, most),
        _section("Resolved", digest.resolved, _over, most),
        _section("Drift between variants", drifted(digest.drift), _drifted, most, _level(digest.drift)),
        _section("Fixes available, and the smallest bump", digest.bumps, _bump, most),
        _section("Bumps made", digest.made, _made, most),
        _section("Moved upstream", digest.moved, _moved, most),
        _section("Could not be observed", digest.silent, lambda it: _silent(it, digest), most),
    ]
    told = rich(lines([_text(tally(digest))]), commands("watcher check"))
    return [rich(lines(*_top(digest))), *(block for section in sections for block in section), told]


def _text(said: str, **style: bool) -> RichTextElement:
    """Return words of anybody, made harmless."""
    return richtext.text(harmless(said), **style)


def _link(said: str, url: str | None, **style: bool) -> RichTextElement:
    """Return words of anybody that lead somewhere, made harmless."""
    return richtext.link(harmless(said), url, **style)


def _section(
    title: str, things: Sequence[Thing], say: Callable[[Thing], list[Line]], most: int, besides: Iterable[Line] = ()
) -> list[Block]:
    """Return a titled block, none for nothing."""
    shown = things if len(things) <= most else things[: most - 1]
    told = [line for it in shown for line in say(it)]
    if len(shown) < len(things):
        told.append([_text(f"and {len(things) - len(shown)} more")])
    told += besides
    return [rich(lines([_text(title, bold=True)], *told))] if told else []


def _top(digest: Digest) -> list[Line]:
    told = [_text(headline(digest), bold=True), *(_text(f", {it}") for it in put_off(digest))]
    return [told, *_late(digest), *map(_stuck, digest.stuck)]


def _late(digest: Digest) -> list[Line]:
    return [[_text(f"late: it was due {minute(digest.due)}")]] if digest.due else []


def _stuck(it: Stuck) -> Line:
    return [_text("Not delivered: ", bold=True), _text(f"{counted(it.count, 'message')} to {it.channel}: {it.reason}")]


def _item(it: Item) -> list[Line]:
    where: Line = []
    for place in it.places[:3]:
        variant = "" if place.variant == "any" else f" ({place.variant})"
        where += [_link(place.text, place.url), _text(f"{variant}, ")]
    return [
        [_text(f"{it.severity}  ", bold=True), _link(it.headline, it.url)],
        [*where, _text(f"since {it.since.date()}, "), _text(f"watcher explain {it.handle}", code=True)],
    ]


def _over(it: Over) -> list[Line]:
    note = [_text(": "), _link(it.note, it.link)] if it.note else []
    return [[_text(it.headline, strike=True), *note]]


def _drifted(it: Drifted) -> list[Line]:
    told: list[Line] = [[_text(it.name, bold=True), _text(f" ({it.relation})")]]
    for stand in it.stands:
        lacks = f" lacks {', '.join(stand.lacks[:3])}" if stand.lacks else ""
        to = [_text("; level with "), _link(short(stand.target), stand.compare)] if stand.target else []
        told.append([_text(f"{stand.variant}: {short(stand.ref)}{lacks}"), *to])
    return told


def _level(drift: Sequence[Drifted]) -> list[Line]:
    return [[_text(f"{how}: {names}")] for how, names in level(drift)]


def _bump(it: Bump) -> list[Line]:
    cost = f" ({', '.join(bill(it))})" if bill(it) else ""
    to = [_text(f" {short(it.before)} → "), _link(short(it.after), it.compare), _text(cost or " ")]
    return [[_text(it.name, bold=True), *to], *([_text(f"repairs {fix}")] for fix in it.fixes[:3])]


def _made(it: Moved) -> list[Line]:
    after = short(it.after.wanted) if it.after else "removed"
    by = [_text(" by "), _link(short(it.landing), it.url)] if it.landing else []
    return [[_text(it.pin.name, bold=True), _text(f" {short(it.pin.wanted)} → {after}, {it.pin.place}"), *by]]


def _moved(it: Movement) -> list[Line]:
    parts = [_step(step) for step in it.steps]
    parts += [counted(len(it.tags), "new tag")] if it.tags else []
    parts += [it.others] if it.others else []
    return [[_link(it.name, it.url, bold=True), _text(f" {', '.join(parts)}")]]


def _step(it: Step) -> str:
    return f"{it.ref} {it.what}{f' to {short(it.after)}' if it.after else ''}"


def _silent(it: Silence, digest: Digest) -> list[Line]:
    return [[_link(it.name, it.url, bold=True), _text(f" for {lasting(it.since, digest.at)}: {it.reason}")]]
