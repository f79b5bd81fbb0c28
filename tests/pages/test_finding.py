"""The page of a finding: what it is, what to do, and what became of it."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from tests.hostile.texts import TEXTS
from tests.pages.shown import FRAME, Shown, article_of, one_line
from tests.report import passes
from tests.report.test_shown import argument
from watcher.findings import acknowledge
from watcher.model import Event, EventKind, Kind, Severity, Side, State
from watcher.pages.finding import MEANS, commands, finding, steps
from watcher.store import Owed

HOUR = timedelta(hours=1)
GOLDEN = Path(__file__).parent / "golden"
FOUND = passes.fix_available(passes.CUDA)


def owed(payload, **more) -> Owed:
    """Return a message that was delivered."""
    made = Owed(
        id=1,
        key="k",
        channel="slack #ops",
        payload=payload,
        created_at=passes.NOW,
        attempts=1,
        next_try_at=passes.NOW,
        delivered_at=passes.NOW,
        failed_at=None,
        reason="",
    )
    return replace(made, **more)


def event(kind, hours=0, **more) -> Event:
    """Return a step of the finding."""
    return Event(kind=kind, finding=replace(FOUND, **more), at=passes.NOW + hours * HOUR)


def text_of(it, **more) -> str:
    """Return the words of a finding's page."""
    given = {"argument": None, "steps": (), "watched": None} | more
    return Shown(finding(it, given["argument"], given["steps"], given["watched"], FRAME)).text


@pytest.mark.parametrize("kind", Kind)
def test_each_kind_is_explained(kind):
    """One sentence says what it means."""
    assert MEANS[kind].endswith(".")
    assert one_line(MEANS[kind]) in text_of(replace(FOUND, concern=replace(FOUND.concern, kind=kind)))


def test_a_life_in_order():
    """What happened and where it was told, each at its time; a person is named with the note."""
    taken, acknowledged = acknowledge(FOUND, passes.NOW + HOUR, "we know", "Ada (U1)")
    over = replace(
        taken, state=State.RESOLVED, note="docker/Dockerfile moved", by="", link="https://git.example.org/c/1"
    )
    log = [
        event(EventKind.OPENED),
        acknowledged,
        Event(kind=EventKind.RESOLVED, finding=over, at=passes.NOW + 3 * HOUR),
    ]
    told = owed({"finding": FOUND.key, "event": "opened"}, delivered_at=passes.NOW + HOUR / 2)
    found = steps(log, [told])
    assert [
        f"Opened as {FOUND.concern.severity}: {FOUND.concern.headline}",
        "Told in Slack #ops (opened)",
        "Acknowledged by Ada: we know",
        "Resolved: docker/Dockerfile moved",
    ] == [it.words for it in found]
    assert [None, None, None, "https://git.example.org/c/1"] == [it.link for it in found]


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (owed({"baseline": ["other", FOUND.key]}), ["Told in Slack #ops (in the summary of the first look)"]),
        (owed({"reply": FOUND.key}), ["Told in Slack #ops (an answer to what somebody asked for)"]),
        (
            owed(
                {"finding": FOUND.key, "event": "opened"}, delivered_at=None, failed_at=passes.NOW, reason="no channel"
            ),
            ["Could not be told in Slack #ops (opened): no channel"],
        ),
        (
            owed({"finding": FOUND.key, "event": "opened"}, delivered_at=None, reason="503"),
            ["Waits to be told in Slack #ops (opened): 503"],
        ),
        (owed({"finding": FOUND.key, "event": "opened"}, delivered_at=None, dropped_at=passes.NOW), []),
        (owed({"finding": "another"}), []),
        (owed({"digest": {}}), []),
    ],
    ids=["summary", "answer", "given up", "waiting", "dropped", "another", "digest"],
)
def test_where_it_was_told(message, words):
    """Each message about it has its line; what something newer replaced, and what is about others, has none."""
    log = [event(EventKind.OPENED)]
    assert words == [it.words for it in steps(log, [message])[1:]]


def test_the_whole_page():
    """What people see of a finding with everything."""
    told = owed({"finding": FOUND.key, "event": "opened"}, delivered_at=passes.NOW + HOUR / 2)
    page = finding(FOUND, argument(), steps([event(EventKind.OPENED)], [told]), None, FRAME)
    path = GOLDEN / "finding.html"
    assert path.read_text(encoding="utf-8") == article_of(page)


def test_a_change_is_told_against_what_was():
    """The line says from what to what."""
    worse = replace(FOUND.concern, severity=Severity.CRITICAL)
    found = steps([event(EventKind.OPENED), event(EventKind.CHANGED, 1, concern=worse)], ())
    assert f"Severity {FOUND.concern.severity} → critical" == found[-1].words


def test_what_to_type():
    """The handle is in each command; of what is resolved there is nothing to bump or to acknowledge."""
    handle = FOUND.handle
    assert (f"watcher explain {handle}", f"watcher bump {handle}", f"watcher ack {handle}") == commands(FOUND)
    assert (f"watcher explain {handle}",) == commands(replace(FOUND, state=State.RESOLVED))


def test_what_is_resolved_has_its_page():
    """It says what resolved it, and still why it was told."""
    over = replace(FOUND, state=State.RESOLVED, note="bumped", link="https://git.example.org/c/1")
    page = Shown(finding(over, None, (), None, FRAME))
    assert "https://git.example.org/c/1" in page.links
    assert "Resolved bumped" in page.text
    assert "Why" in page.text


def test_without_an_argument_the_page_says_why():
    """The pin is gone, or nothing is about one pin."""
    assert "not pinned any more" in text_of(FOUND)
    assert "about no single pin" in text_of(replace(FOUND, concern=replace(FOUND.concern, pin=None)))


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_hostile_words_open_no_tag(name):
    """Headline, evidence, advice, note and names bring no tag and no link of a stranger's."""
    evil = TEXTS[name].decode("utf-8", "surrogateescape")

    def page(text):
        side = Side(variant=text, stands=text, has=(text,), lacks=(text,))
        concern = replace(FOUND.concern, headline=text, detail=(text,), advice=f"x{text}", sides=(side,))
        it = replace(FOUND, concern=concern, note=text, by=text, state=State.ACKNOWLEDGED)
        log = [Event(kind=EventKind.ACKNOWLEDGED, finding=it, at=passes.NOW)]
        return finding(it, argument(), steps(log, ()), None, FRAME)

    calm, attacked = Shown(page("calm")), page(evil)
    assert calm.tags == Shown(attacked).tags
    assert not {"\x1b", "\x07", "\u202e", "\u200b", "\x00", "\x9b"} & set(attacked)
