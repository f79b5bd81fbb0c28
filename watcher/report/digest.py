"""Write a digest: as a mail in text and in HTML, and as a Slack post."""

from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from hashlib import sha256
from textwrap import fill
from typing import Any

from css_inline import CSSInliner
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from watcher.model import Place
from watcher.plural import counted
from watcher.report.text import safe
from watcher.report.week import Bump, Digest, Drifted

_WIDTH = 78
"""Columns of the plain text."""
_MOST = {
    "new": 12,
    "still": 8,
    "over": 10,
    "bump": 8,
    "drift": 8,
    "made": 10,
    "moved": 8,
    "silent": 10,
    "tag": 5,
    "place": 4,
}
"""How many of each sort are listed; the rest is counted."""
_SHORT = 12
"""Digits of a commit that are shown."""
_LONGEST_LINK = 300
_WORDS = 1000
"""Characters that say what a picture shows."""
_LEVEL = {"same": "Same commit", "aligned": "Same fixes in other commits"}
_OTHER = "Different commits, no missing fix known"
_SUMMED = "more: watcher check"


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """Where the variants of a dependency stand, drawn."""

    name: str
    words: str
    """The same in words."""
    png: bytes
    width: int
    """Pixels, as it is shown; it may have more."""

    @property
    def cid(self) -> str:
        """Return what it is called within a mail (RFC 2392)."""
        return f"{sha256(self.png).hexdigest()[:16]}@watcher"

    @property
    def data(self) -> str:
        """Return it as an address that has it all (RFC 2397)."""
        return f"data:image/png;base64,{b64encode(self.png).decode()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """One mail."""

    subject: str
    text: str
    html: str
    pictures: tuple[Picture, ...] = ()
    """Those that the HTML shows, by their `cid`."""


def letter(digest: Digest, pictures: tuple[Picture, ...] = ()) -> Letter:
    """Return a digest as a mail."""
    shown = [(it, f"cid:{it.cid}") for it in pictures]
    return Letter(subject=subject(digest), text=text(digest), html=_html(digest, shown), pictures=pictures)


def subject(digest: Digest) -> str:
    """Return the subject of the mail: whose it is, what is open, which week it is."""
    owner = f"watcher {safe(digest.name, 60)}".rstrip()
    return f"{owner}: {headline(digest)}, {span(digest)}"


def headline(digest: Digest) -> str:
    """Return the whole digest in a few words."""
    if digest.is_quiet:
        return "nothing to tell"
    counts = [f"{number} {severity}" for severity, number in digest.open]
    return f"{', '.join(counts)} open" if counts else "no open findings"


def text(digest: Digest) -> str:
    """Return a digest as plain text of at most 78 columns, but for links."""
    shown = _environment().get_template("digest.txt.j2").render(it=digest)
    if digest.is_quiet:
        return f"{shown.rstrip()}\n"
    return "\n".join(_wrapped(line) for line in shown.rstrip("\n").split("\n")) + "\n"


def html(digest: Digest, pictures: Iterable[Picture] = ()) -> str:
    """Return a digest as one HTML document that asks no host for anything, with its pictures in it."""
    return _html(digest, [(it, it.data) for it in pictures])


def _html(digest: Digest, pictures: Sequence[tuple[Picture, str]]) -> str:
    """Return a digest as HTML that shows each picture from an address that we made."""
    drawn = [(it, Markup(address), escape(safe(it.words, _WORDS))) for it, address in pictures]  # noqa: S704
    shown = _environment().get_template("digest.html.j2").render(it=digest, pictures=drawn)
    inliner = CSSInliner(load_remote_stylesheets=False)
    return inliner.inline(shown) + "\n"


# --- words that both templates use -----------------------------------------------------------------------------------


def day(moment: datetime) -> str:
    """Return a day as people write it in a sentence: 30 November 2026."""
    return f"{moment.day} {moment:%B %Y}"


def span(digest: Digest) -> str:
    """Return the period: 23 to 30 November 2026, 28 December 2026 to 4 January 2027."""
    since, until = digest.since, digest.until
    if since.date() == until.date():
        return day(until)
    if since.year != until.year:
        return f"{day(since)} to {day(until)}"
    return f"{since.day} to {day(until)}" if since.month == until.month else f"{since.day} {since:%B} to {day(until)}"


def minute(moment: datetime) -> str:
    """Return a moment with its time zone: 2026-11-30 09:00 Europe/Berlin."""
    return f"{moment:%Y-%m-%d %H:%M} {getattr(moment.tzinfo, 'key', None) or moment.tzname()}"


def lasting(since: datetime, until: datetime) -> str:
    """Return how long something lasts, roughly: 3 days, 5 hours."""
    hours = _hours(since, until)
    if hours >= 48:  # noqa: PLR2004 - two days; below that hours say more
        return counted(hours // 24, "day")
    return counted(hours, "hour") if hours else "less than an hour"


def lasting_until(since: datetime, now: datetime) -> datetime:
    """Return until when `lasting(since, …)` says what it says now."""
    hours = _hours(since, now)
    return since + (timedelta(days=hours // 24 + 1) if hours >= 48 else timedelta(hours=hours + 1))  # noqa: PLR2004


def _hours(since: datetime, until: datetime) -> int:
    return max(int((until - since).total_seconds()) // 3600, 0)


def short(ref: str | None) -> str:
    """Return the first digits of a commit's id, a ref as it is."""
    text = ref or ""
    is_commit = len(text) >= 40 and all(digit in "0123456789abcdef" for digit in text)  # noqa: PLR2004 - hex digits
    return text[:_SHORT] if is_commit else safe(text, 40)


def where(places: Sequence[Place]) -> str:
    """Return where pins stand: docker/Dockerfile:16 (cuda), docker/Dockerfile.rocm:14 (rocm)."""
    some, more = few(places, "place")
    said = [place.text if place.variant == "any" else f"{place.text} ({place.variant})" for place in some]
    return ", ".join((*said, *([f"and {more} more"] if more else [])))


def few(items: Sequence[Any], sort: str) -> tuple[Sequence[Any], int]:
    """Return the first of a list, and how many there are besides."""
    most = _MOST[sort]
    return (items, 0) if len(items) <= most else (items[: most - 1], len(items) - most + 1)


def drifted(drift: Sequence[Drifted]) -> list[Drifted]:
    """Return the dependencies whose variants are not level."""
    return [it for it in drift if not it.is_level]


def level(drift: Sequence[Drifted]) -> list[tuple[str, str]]:
    """Return how the others stand, and their names."""
    names: dict[str, list[str]] = {}
    for it in drift:
        if it.is_level:
            names.setdefault(_LEVEL.get(it.relation, _OTHER), []).append(it.name)
    return [(how, ", ".join(same)) for how, same in sorted(names.items(), reverse=True)]


def put_off(digest: Digest) -> list[str]:
    """Return how many findings people know of and put off."""
    return [f"{number} {word}" for word in ("acknowledged", "snoozed") if (number := getattr(digest, word))]


def tally(digest: Digest) -> str:
    """Return how many alerts there were, and how many findings people said to be no fix."""
    alerts = f"{counted(digest.alerts, 'alert')} sent" if digest.alerts else "No alert sent"
    return f"{alerts}, {digest.dismissed} dismissed as “not a fix”." if digest.dismissed else f"{alerts}."


def bill(bump: Bump) -> list[str]:
    """Return what a bump costs: the commits that it brings along, what becomes of the package's version."""
    landings = f" in {counted(bump.landings, 'landing')}" if bump.landings else ""
    commits = "" if bump.commits is None else f"{counted(bump.commits, 'commit')}{landings}"
    return [part for part in (commits, bump.version) if part]


def routine(digest: Digest) -> str:
    """Return what there is to say of a week in which nothing happened, in one line."""
    owner = f" for {digest.name}" if digest.name else ""
    watched = [f"{counted(digest.upstreams, 'upstream')} watched"] if digest.upstreams else []
    return "; ".join((f"Nothing to tell{owner} from {span(digest)}", *watched, *put_off(digest))) + "."


def is_link(url: Any) -> bool:
    """Answer whether an address can be linked to: https, and nothing in it that a person would not see."""
    return (
        isinstance(url, str)
        and url.startswith("https://")
        and url.isascii()
        and url.isprintable()
        and not set(url) & set(" \"'<>\\")
        and len(url) <= _LONGEST_LINK
    )


def harmless(text: str) -> str:
    """Return text made safe to show, with the space before its first and after its last word."""
    before, after = (" " if edge == " " else "" for edge in (text[:1], text[-1:]))
    return f"{before}{safe(text)}{after}" if text.strip() else before


@cache
def _environment() -> Environment:
    """Return the templates; every text that they show is made harmless on its way out."""
    environment = Environment(
        loader=PackageLoader("watcher.report"),
        autoescape=select_autoescape(("html.j2",)),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # Markup is what a template itself made; anything else may be a stranger's.
        finalize=lambda value: harmless(value) if type(value) is str else value,
    )
    words = (bill, counted, drifted, few, headline, lasting, level, minute, put_off, routine, short, span, tally, where)
    environment.globals |= {word.__name__: word for word in words} | {"summed": _SUMMED}
    environment.tests["link"] = is_link
    return environment


def _wrapped(line: str) -> str:
    indent = " " * (len(line) - len(line.lstrip()))
    if len(line) <= _WIDTH or is_link(line.strip()):
        return line.rstrip()
    return fill(
        line.strip(),
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
