"""A digest as people get it: read in text, in HTML and in Slack, harmless whatever strangers wrote."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser

import pytest

from tests.report import weeks
from tests.report.test_shown import HOSTILE, golden
from tests.slackpeer import fault, on_phone, shown
from watcher.model import Move, Place, Severity
from watcher.report import digest as written
from watcher.report.digestpost import post
from watcher.report.movements import movement
from watcher.report.week import Drifted, Movement, Stand, Step

EVIL = f"{HOSTILE}<script>alert(1)</script><img src=https://evil.example/x>"


class Page(HTMLParser):
    """What a browser would find in a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.links, self.words = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        """Note tags, and every address."""
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in {"href", "src", "background", "action"}]

    def handle_data(self, data):
        """Note words."""
        self.words.append(data)


def hostile():
    """Return a week in which every text is a stranger's."""
    evil = Place(text=EVIL, variant=EVIL, url="javascript:alert(1)")
    full = weeks.EVERYTHING
    return replace(
        full,
        name=EVIL,
        stuck=tuple(replace(it, channel=EVIL, reason=EVIL) for it in full.stuck),
        new=tuple(replace(it, headline=EVIL, advice=EVIL, places=(evil,), url='https://a.b/"><b>') for it in full.new),
        resolved=tuple(
            replace(it, headline=EVIL, note=EVIL, by=EVIL, link="http://evil.example") for it in full.resolved
        ),
        bumps=tuple(
            replace(it, name=EVIL, fixes=(EVIL,), cautions=(EVIL,), version=EVIL, before=EVIL) for it in full.bumps
        ),
        drift=(Drifted(name=EVIL, relation=EVIL, stands=(Stand(variant=EVIL, ref=EVIL, lacks=(EVIL,), target=EVIL),)),),
        made=tuple(replace(it, pin=replace(it.pin, name=EVIL, ref=EVIL, file=EVIL), subject=EVIL) for it in full.made),
        moved=(Movement(name=EVIL, url=EVIL, steps=(Step(what="forced", ref=EVIL, before=EVIL),), tags=(EVIL,)),),
        silent=tuple(replace(it, name=EVIL, url=EVIL, reason=EVIL) for it in full.silent),
    )


def endless():
    """Return a week with a hundred of everything."""
    full = weeks.EVERYTHING
    names = ("new", "still", "resolved", "bumps", "drift", "made", "moved", "silent")
    return replace(full, **{name: getattr(full, name)[:1] * 100 for name in names})


@pytest.mark.parametrize(("name", "week"), [("rich", weeks.EVERYTHING), ("empty", weeks.NOTHING)])
def test_how_it_looks(name, week):
    """As text, as HTML, and on a phone in Slack."""
    golden(f"digest-{name}.txt", written.text(week))
    golden(f"digest-{name}.html", written.html(week))
    golden(f"slack-digest-{name}.txt", on_phone({"blocks": post(week).blocks}))


def test_subject():
    """It says what is open before anybody opens the mail."""
    rich, empty = written.letter(weeks.EVERYTHING), written.letter(weeks.NOTHING)
    assert "watcher images: 1 critical, 1 high, 1 medium, 15 low open, 23 to 30 November 2026" == rich.subject
    assert "watcher: nothing to tell, 23 to 30 November 2026" == empty.subject


@pytest.mark.parametrize(
    ("since", "until", "told"),
    [
        ((2026, 11, 23), (2026, 11, 30), "23 to 30 November 2026"),
        ((2026, 11, 30), (2026, 12, 7), "30 November to 7 December 2026"),
        ((2026, 12, 28), (2027, 1, 4), "28 December 2026 to 4 January 2027"),
        ((2026, 12, 28), (2026, 12, 28), "28 December 2026"),
    ],
)
def test_span(since, until, told):
    """A period is told as people write it."""
    since, until = (datetime(*day, tzinfo=UTC) for day in (since, until))
    assert told == written.span(replace(weeks.NOTHING, since=since, until=until))


def test_nothing_to_say_is_one_line():
    """Upstreams that moved on as usual, and dependencies that are level, are no news."""
    calm = replace(weeks.NOTHING, drift=weeks.EVERYTHING.drift[2:], moved=weeks.EVERYTHING.moved[:1])
    told = "Nothing to tell from 23 to 30 November 2026; 9 upstreams watched.\n"
    assert told == written.text(calm)
    assert told == shown({"blocks": post(calm).blocks})
    known = replace(calm, acknowledged=2, snoozed=1)
    assert "9 upstreams watched; 2 acknowledged; 1 snoozed.\n" in written.text(known)
    late = replace(calm, due=weeks.UNTIL)
    assert 1 == written.text(late).count("\n")
    assert "late: it was due 2026-11-30 09:00 Europe/Berlin" in written.text(late)


@pytest.mark.parametrize(
    "news",
    [
        {"new": weeks.EVERYTHING.new},
        {"stuck": weeks.EVERYTHING.stuck},
        {"drift": weeks.EVERYTHING.drift[:1]},
        {"moved": weeks.EVERYTHING.moved[1:]},
        {"silent": weeks.EVERYTHING.silent},
        {"dismissed": 1},
    ],
)
def test_anything_else_is_news(news):
    """A forced branch, a drift, silence, a finding, a message that did not arrive."""
    assert not replace(weeks.NOTHING, **news).is_quiet


def test_pictures_are_within():
    """In a file by their whole content, in a mail by their name there; what a stranger's words show is in words."""
    picture = written.Picture(name=EVIL, words=EVIL, png=b"\x89PNG", width=544)
    whole, sent = written.html(weeks.EVERYTHING, [picture]), written.letter(weeks.EVERYTHING, (picture,))
    for page, source in ((whole, "data:image/png;base64,iVBORw=="), (sent.html, f"cid:{picture.cid}")):
        seen = Page(page)
        assert 1 == seen.tags.count("img")
        assert source in seen.links
        assert all(it == source or it.startswith("https://github.com/") for it in seen.links)
    assert (picture,) == sent.pictures


@pytest.mark.parametrize("week", [weeks.EVERYTHING, weeks.NOTHING, hostile()])
def test_the_page_asks_no_host_for_anything(week):
    """No image, no script, no style sheet from elsewhere; links are https."""
    page = Page(written.html(week))
    assert set() == set(page.tags) & {"img", "script", "link", "iframe", "form", "object", "base", "svg"}
    assert all(link.startswith("https://github.com/") for link in page.links)
    assert "url(" not in written.html(week)
    assert "@import" not in written.html(week)


def test_what_strangers_wrote_is_shown_and_not_obeyed():
    """In text, HTML and Slack no mark of theirs moves, hides, links or calls anything."""
    week = hostile()
    text, html, message = written.text(week), written.html(week), post(week)
    for it in (text, html, written.subject(week), shown({"blocks": message.blocks}), message.text):
        assert not set("\x1b\x07\u202e\u200b\r") & set(it)
    assert "\n" not in written.subject(week)
    assert not any(line.startswith("Subject:") for line in text.splitlines())
    assert "<!channel>" not in message.text
    assert "<script>" not in html
    assert "<script>alert(1)</script>" in "".join(Page(html).words)
    assert "" == fault(list(message.blocks))


def test_long_lists_are_shortened():
    """A hundred of everything is still a mail that people read, and a message that Slack takes."""
    week = endless()
    assert len(written.text(week).splitlines()) < 400
    assert "and 89 more: watcher check" in written.text(week)
    assert len(written.html(week)) < 100_000, "some readers cut longer mails"
    assert "and 98 more" in shown({"blocks": post(week).blocks})
    assert "" == fault(list(post(week).blocks))


def test_lines_of_text_are_short():
    """78 columns, but for a link."""
    lines = [line for line in written.text(weeks.EVERYTHING).splitlines() if "https://" not in line]
    assert 78 >= max(map(len, lines))


def test_styles_stand_in_the_tags_and_dark_ones_in_the_head():
    """Readers that know no style sheet show the light colours; others follow dark mode and narrow screens."""
    html = written.html(weeks.EVERYTHING)
    assert re.search(r'<span class="pill critical" style="[^"]*background: ?#b42318', html)
    assert "prefers-color-scheme: dark" in html
    assert "max-width: 480px" in html
    assert '<meta charset="utf-8"' in html
    assert '<meta name="color-scheme" content="light dark"' in html


# --- what moved ------------------------------------------------------------------------------------------------------


def move(ref, before, after, forced=False):
    """Return one move of a ref."""
    return Move(ref=f"refs/{ref}", before=before, after=after, forced=forced, at=weeks.UNTIL)


def test_many_refs_are_told_by_count():
    """The default branch first, forced and deleted ones by name, new tags by name, the rest by number."""
    old, new, step = weeks.OLD, weeks.NEW, weeks.STEP
    moves = [
        *(move(f"heads/topic{number}", old, new) for number in range(5)),
        move("heads/gone", old, None),
        move("heads/main", old, step),
        move("heads/main", step, new),
        move("heads/dev", old, new, forced=True),
        move("heads/fresh", None, new),
        move("tags/v2", None, new),
        move("tags/v1", old, new),
        move("pull/3/head", None, new),
    ]
    told = movement("https://github.com/acme/saver", moves, head="refs/heads/main")
    assert ["main moved", "dev forced", "v1 forced", "gone deleted"] == [f"{it.ref} {it.what}" for it in told.steps]
    assert (old, new) == (told.steps[0].before, told.steps[0].after)
    assert ("v2",) == told.tags
    assert "5 branches moved, 1 branch new" == told.others
    assert not told.is_routine


def test_a_ref_that_is_where_it_was_is_no_news():
    """A branch that came and went within the week is not told; one that was forced away and back is."""
    came = [move("heads/topic", None, weeks.OLD), move("heads/topic", weeks.OLD, None)]
    back = [move("heads/dev", weeks.OLD, weeks.NEW, forced=True), move("heads/dev", weeks.NEW, weeks.OLD, forced=True)]
    assert movement("https://a.b/c/d", came, head=None) is None
    assert "forced" == movement("https://a.b/c/d", back, head=None).steps[0].what


@pytest.mark.parametrize(
    ("hours", "told"),
    [(0, "less than an hour"), (1, "1 hour"), (47, "47 hours"), (51, "2 days"), (-5, "less than an hour")],
)
def test_lasting(hours, told):
    """Hours first, then days."""
    assert told == written.lasting(weeks.UNTIL - timedelta(hours=hours), weeks.UNTIL)


@pytest.mark.parametrize("minutes", [-5, 0, 1, 59, 60, 61, 47 * 60, 48 * 60 - 1, 48 * 60, 72 * 60, 576000])
def test_until_when_it_lasts_so_long(minutes):
    """Up to that moment the words stay, and there they change."""
    since, now = weeks.UNTIL - timedelta(minutes=minutes), weeks.UNTIL
    until = written.lasting_until(since, now)
    assert until > now
    assert written.lasting(since, now) == written.lasting(since, until - timedelta(seconds=1))
    assert written.lasting(since, now) != written.lasting(since, until)


def test_severities_are_words():
    """The label says the severity, so that colour alone says nothing."""
    words = "".join(Page(written.html(weeks.EVERYTHING)).words)
    assert all(f"{severity}" in words for severity in Severity)
