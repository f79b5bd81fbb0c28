"""Slack messages: read as on a phone, within Slack's limits whatever strangers wrote."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.report import passes
from tests.report.test_shown import golden
from tests.slackpeer import fault, on_phone, shown
from watcher.model import Event, EventKind, Finding, Kind, Place, Severity, Side, State
from watcher.report.alert import Offer, alerts
from watcher.report.blocks import Action, Post, baseline, post, reply

IMAGES, SAVER = "https://github.com/acme/images", "https://github.com/acme/saver"
COMPARE = f"{SAVER}/compare/{passes.OLD}...{passes.NEW}"
UNTIL = datetime(2026, 12, 7, 9, 0, tzinfo=UTC)
HOSTILE = "\x1b]8;;http://evil\x07<!channel> <@U1> \u202e\u200bevil `x` <https://evil.example|ok> & *y*"
FIX = "saver: #95 “Do not release a handle twice” repairs what this pin ships"


def place(file: str, line: int, variant: str) -> Place:
    """Return a place that a browser can show."""
    return Place(text=f"{file}:{line}", variant=variant, url=f"{IMAGES}/blob/{passes.OLD}/{file}#L{line}")


OFFER = Offer(name="saver", repositories=("github.com/acme/images",), targets=(passes.NEW,))
BOTH = replace(OFFER, is_together=True, is_issue=True)
CUDA, ROCM = place("docker/Dockerfile", 16, "cuda"), place("docker/Dockerfile.rocm", 14, "rocm")


def fix(**more) -> Finding:
    """Return the finding that a fix is available."""
    known = passes.fix_available(passes.CUDA)
    return replace(known, concern=replace(known.concern, places=(CUDA,), compare=COMPARE), **more)


def drift() -> Finding:
    """Return that one variant lacks what the other has."""
    sides = (
        Side(variant="cuda", stands=passes.NEW[:12], has=("#95 “Do not release a handle twice”",)),
        Side(
            variant="rocm",
            stands=passes.OLD[:12],
            lacks=("#95 “Do not release a handle twice”",),
            target=passes.NEW,
            compare=COMPARE,
        ),
    )
    return passes.finding(
        Kind.VARIANT_DRIFT,
        Severity.HIGH,
        None,
        "saver: rocm lacks fixes that the other variant has",
        detail=("cuda: bbbbbbbbbbbb (docker/Dockerfile:16)", "rocm lacks #95 “Do not release a handle twice”"),
        advice=f"Bump rocm to {passes.NEW}.",
        target=passes.NEW,
        places=(CUDA, ROCM),
        sides=sides,
    )


def told(
    finding: Finding,
    kind: EventKind = EventKind.OPENED,
    before: Finding | None = None,
    offer: Offer | None = None,
    **more,
) -> Post:
    """Return the message about one event."""
    event = Event(kind=kind, finding=finding, at=passes.NOW)
    offers = {finding.key: offer} if offer else {}
    [alert] = alerts([event], {}, {before.key: before} if before else {}, offers)
    return post(alert, **more)


def acknowledged() -> Finding:
    """Return a fix that somebody took note of."""
    return fix(state=State.ACKNOWLEDGED, by="dana (U123)", note="bump is in review")


def resolved() -> Finding:
    """Return a fix that somebody bumped to."""
    note = f"docker/Dockerfile:16 moved to {passes.NEW[:12]} by 1a2b3c4 “Bump saver”"
    return fix(state=State.RESOLVED, note=note, link=f"{IMAGES}/commit/{passes.LOST}")


def dismissed() -> Finding:
    """Return a fix that somebody says is none."""
    return fix(state=State.RESOLVED, is_dismissed=True, note="not a fix: test only", by="dana (U123)")


def hostile() -> Finding:
    """Return a finding whose every word is a stranger's."""
    known = passes.finding(Kind.FIX_AVAILABLE, Severity.HIGH, passes.CUDA, HOSTILE, detail=(HOSTILE,), advice=HOSTILE)
    places = (Place(text=HOSTILE, url="https://evil.example/\u202e"), Place(text="javascript", url="javascript:x"))
    return replace(known, concern=replace(known.concern, places=places), note=HOSTILE, by=HOSTILE)


MESSAGES = {
    "fix": told(fix(), has_buttons=True),
    "fix-without-buttons": told(fix()),
    "fix-to-propose": told(fix(), offer=OFFER, has_buttons=True),
    "fix-to-propose-without-buttons": told(fix(), offer=BOTH),
    "unreachable": told(passes.FINDINGS[2], has_buttons=True),
    "drift": told(drift(), has_buttons=True),
    "acknowledged": told(acknowledged(), EventKind.ACKNOWLEDGED, has_buttons=True),
    "resolved": told(resolved(), EventKind.RESOLVED, has_buttons=True),
    "dismissed": told(dismissed(), EventKind.RESOLVED, has_buttons=True),
    "hostile": told(hostile(), has_buttons=True),
    "reply": reply(
        [
            (f"opened pull request 12 with cccccccccccc: Bump saver to {passes.NEW[:12]}", f"{IMAGES}/pull/12"),
            ("it takes the place of the one for another target", f"{IMAGES}/pull/9"),
            ("asked for by dana", ""),
        ]
    ),
    "first-look": baseline(
        alerts([Event(kind=EventKind.OPENED, finding=it, at=passes.NOW) for it in passes.FINDINGS[:5]], {})
    ),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_on_a_phone(name):
    """A message says what, where, since when, why, what to do, and fits what Slack's own types allow."""
    message = MESSAGES[name]
    assert "" == fault(message.blocks)
    seen = on_phone({"blocks": message.blocks})
    thread = on_phone({"blocks": message.update.blocks}) if message.update else "nothing\n"
    golden(f"slack-{name}.txt", f"{seen}\n--- notification\n{message.text}\n\n--- thread\n{thread}")


@pytest.mark.parametrize(
    ("kind", "finding", "before", "words"),
    [
        (EventKind.ACKNOWLEDGED, acknowledged(), None, "Acknowledged by dana: bump is in review"),
        (EventKind.ACKNOWLEDGED, fix(state=State.ACKNOWLEDGED), None, "Acknowledged"),
        (
            EventKind.SNOOZED,
            fix(state=State.SNOOZED, snoozed_until=UNTIL, by="dana (U123)"),
            None,
            "Snoozed until 2026-12-07 by dana",
        ),
        (EventKind.WOKE, fix(), None, "Back: its snooze is over"),
        (EventKind.REOPENED, fix(by="lee (x) (U2)"), None, "Open again, says lee (x)"),
        (EventKind.REOPENED, fix(), None, "Open again"),
        (EventKind.CHANGED, fix(), None, "Now MEDIUM"),
        (EventKind.RESOLVED, dismissed(), None, "Not a fix, says dana: test only"),
        (
            EventKind.RESOLVED,
            fix(state=State.RESOLVED, note="it no longer holds"),
            None,
            "Resolved: it no longer holds",
        ),
    ],
)
def test_what_a_thread_says(kind, finding, before, words):
    """What changed, by whom, in a line; the id behind a person's name is not for people."""
    assert f"{words}\n" == shown({"blocks": told(finding, kind, before).update.blocks})


def test_what_a_change_changed():
    """Against what was known: severity, what to bump to, and that nobody has silenced this."""
    known = acknowledged()
    worse = fix()
    worse = replace(worse, concern=replace(worse.concern, severity=Severity.CRITICAL, target=passes.STEP))
    update = told(worse, EventKind.CHANGED, known)
    assert "Severity medium → critical; open again; Bump to cccccccccccc\n" == shown({"blocks": update.update.blocks})
    assert update.is_louder
    assert not told(known, EventKind.CHANGED, worse).is_louder


def test_a_first_message_has_no_update():
    """All of it is news."""
    assert told(fix()).update is None
    assert not told(fix()).is_louder
    assert told(fix(), EventKind.WOKE).is_louder


def buttons(message: Post) -> list[str]:
    """Return the names of the actions that a message offers."""
    return [it["action_id"] for block in message.blocks if block["type"] == "actions" for it in block["elements"]]


@pytest.mark.parametrize(
    ("finding", "kind", "offer", "offered"),
    [
        (fix(), EventKind.OPENED, None, ["acknowledge", "snooze", "not-a-fix"]),
        (fix(), EventKind.OPENED, OFFER, ["pull-request", "acknowledge", "snooze", "not-a-fix"]),
        (fix(), EventKind.OPENED, BOTH, ["issue", "acknowledge", "snooze", "not-a-fix"]),
        (drift(), EventKind.OPENED, None, ["acknowledge", "snooze"]),
        (drift(), EventKind.OPENED, OFFER, ["pull-request", "acknowledge", "snooze"]),
        (acknowledged(), EventKind.ACKNOWLEDGED, OFFER, ["pull-request", "snooze", "not-a-fix"]),
        (resolved(), EventKind.RESOLVED, OFFER, []),
    ],
)
def test_buttons(finding, kind, offer, offered):
    """What is about no fix cannot be none, and what is over has no buttons; without buttons there is a command."""
    assert offered == buttons(told(finding, kind, offer=offer, has_buttons=True))
    assert "watcher ack" not in shown({"blocks": told(finding, kind, has_buttons=True).blocks})
    assert [] == buttons(told(finding, kind))
    assert (State.OPEN is finding.state) == ("watcher ack" in shown({"blocks": told(finding, kind).blocks}))


def question(message: Post, action: str) -> str:
    """Return what is asked before a button does something."""
    [button] = [it for block in message.blocks for it in block.get("elements", ()) if it.get("action_id") == action]
    return button["confirm"]["text"]["text"]


def test_before_something_is_proposed():
    """It is asked whether it should be, with the repository and the commit; one click more than none."""
    assert "In github.com/acme/images: bump saver to bbbbbbbbbbbb." == question(
        told(fix(), offer=OFFER, has_buttons=True), "pull-request"
    )
    several = replace(BOTH, repositories=("a/b", "a/c", "a/d", "a/e"), targets=(passes.NEW, passes.STEP))
    expected = "In a/b, a/c, and 2 more: bump saver to bbbbbbbbbbbb or cccccccccccc, all variants together."
    assert expected == question(told(fix(), offer=several, has_buttons=True), "issue")


def commands(message: Post) -> list[str]:
    """Return what a message says to type."""
    return [line for line in shown({"blocks": message.blocks}).splitlines() if line.startswith("watcher ")]


@pytest.mark.parametrize(
    ("finding", "more", "bump"),
    [
        (fix(), {}, ["watcher bump {}"]),
        (fix(), {"has_buttons": True}, ["watcher bump {}"]),
        (fix(), {"offer": OFFER}, ["watcher bump {} --pull-request"]),
        (fix(), {"offer": BOTH}, ["watcher bump {} --all-variants --issue"]),
        (fix(), {"offer": OFFER, "has_buttons": True}, []),
        (drift(), {"offer": replace(OFFER, is_together=True)}, ["watcher bump {} --all-variants --pull-request"]),
        (passes.FINDINGS[2], {}, []),
        (replace(fix(), concern=replace(fix().concern, target=None)), {}, []),
    ],
)
def test_the_bump_to_type(finding, more, bump):
    """It is there where there is something to bump to and no button for it, and does what the button would do."""
    assert [it.format(finding.handle) for it in bump] == [
        it for it in commands(told(finding, **more)) if it.startswith("watcher bump")
    ]


def test_a_reply_shows_addresses_that_are_no_links():
    """A forge without TLS: the address is there to be copied."""
    message = reply([("opened issue 1", "http://git.acme/1"), ("it is *there*", "")])
    assert "Opened issue 1 http://git.acme/1\nIt is *there*\n" == shown({"blocks": message.blocks})
    assert "Opened issue 1 http://git.acme/1; It is *there*" == message.text
    assert [] == links(message.blocks)


def test_several_places_in_one_message():
    """Alerts that differ in their place alone have the command of each, and no button: one could mean another."""
    events = [
        Event(kind=EventKind.OPENED, finding=passes.fix_available(it), at=passes.NOW)
        for it in (passes.CUDA, passes.ROCM)
    ]
    [alert] = alerts(events, {})
    message = post(alert, has_buttons=True)
    assert [] == buttons(message)
    for event in events:
        assert f"watcher ack {event.finding.handle}" in shown({"blocks": message.blocks})


def test_a_commit_without_a_browser_is_there_to_be_copied():
    """Whole, where nothing leads to what it brings."""
    bare = fix()
    bare = replace(bare, concern=replace(bare.concern, compare=None))
    assert f"Bump to {passes.NEW} (5 commits" in shown({"blocks": told(bare).blocks})
    assert f"Bump to {passes.NEW[:12]} (5 commits" in shown({"blocks": told(fix()).blocks})


def links(node) -> list[str]:
    """Return every address that a message leads to."""
    if isinstance(node, dict):
        return [url for name, url in node.items() if name == "url"] + [
            url for value in node.values() for url in links(value)
        ]
    return [url for value in node for url in links(value)] if isinstance(node, list | tuple) else []


def test_only_our_own_addresses_are_links():
    """The place, who wrote a line, and what lies between; never what a stranger wrote."""
    blame = f"{passes.SAVER}/blame/{passes.OLD}/csrc/core.cpp#L103"
    assert [CUDA.url, blame, COMPARE] == links(told(fix()).blocks)
    assert [] == links(told(hostile()).blocks)


WORDS = st.text(max_size=2_000) | st.sampled_from(["😀" * 1_000, "<!channel>" * 300, "\u202e" * 9, "a" * 100_000])
ADDRESSES = st.none() | st.builds("https://example.org/{}".format, st.sampled_from(["x", "x" * 480, "x" * 9_000, "\n"]))
PLACES = st.builds(Place, text=WORDS, variant=WORDS, url=ADDRESSES)
SIDES = st.builds(
    Side,
    variant=WORDS,
    stands=WORDS,
    has=st.lists(WORDS, max_size=9).map(tuple),
    lacks=st.lists(WORDS, max_size=9).map(tuple),
    target=st.none() | st.just(passes.NEW),
    compare=ADDRESSES,
)


@st.composite
def anything(draw) -> Event:
    """Draw an event with whatever upstream and people may write."""
    known = passes.finding(Kind.FIX_AVAILABLE, draw(st.sampled_from(Severity)), passes.CUDA, draw(WORDS))
    concern = replace(
        known.concern,
        detail=draw(st.lists(WORDS, max_size=12).map(tuple)),
        advice=draw(WORDS | st.just(f"Bump to {passes.NEW}.")),
        target=draw(st.none() | st.just(passes.NEW)),
        places=draw(st.lists(PLACES, max_size=12).map(tuple)),
        compare=draw(ADDRESSES),
        sides=draw(st.lists(SIDES, max_size=14).map(tuple)),
    )
    finding = replace(
        known,
        concern=concern,
        state=draw(st.sampled_from(State)),
        note=draw(WORDS),
        by=draw(WORDS),
        link=draw(ADDRESSES),
        is_dismissed=draw(st.booleans()),
    )
    return Event(kind=draw(st.sampled_from(EventKind)), finding=finding, at=passes.NOW)


@settings(max_examples=30, deadline=None)
@given(st.lists(anything(), min_size=1, max_size=2), WORDS, ADDRESSES)
def test_whatever_is_written_fits(events, words, address):
    """All limits are kept by shortening: blocks, their texts, the whole message, the notification."""
    offer = Offer(name=words, repositories=(words, words), targets=(passes.NEW,), is_together=True)
    told_all = alerts(events, {}, {}, {event.finding.key: offer for event in events})
    replied = reply([(words, address or ""), ("asked for by dana", "")])
    for message in (*(post(it, has_buttons=True) for it in told_all), baseline(told_all), replied):
        for said in filter(None, (message, message.update)):
            assert "" == fault(said.blocks)
            assert 0 < len(said.text) <= 4_000
            assert "<" not in said.text


def test_the_largest_message_fits():
    """Emoji of four bytes in every line that a message can have, and addresses as long as they may be."""
    long, url = "😀" * 300, f"https://example.org/{'x' * 470}"
    places = tuple(Place(text=f"{number}{long}", url=url) for number in range(30))
    sides = (Side(variant=long, stands=long, has=(long,) * 9, lacks=(long,) * 9, target=passes.NEW, compare=url),) * 12
    for more in ({}, {"sides": sides}):
        it = passes.finding(
            Kind.FIX_AVAILABLE,
            Severity.HIGH,
            passes.CUDA,
            long,
            detail=tuple(f"{number}{long}" for number in range(30)),
            advice=long,
            places=places,
            **more,
        )
        assert "" == fault(told(it, has_buttons=True).blocks)
    many = [
        Event(
            kind=EventKind.OPENED,
            finding=passes.finding(Kind.PIN_FLOATING, Severity.LOW, None, f"{number}{long}"),
            at=passes.NOW,
        )
        for number in range(100)
    ]
    assert "" == fault(baseline(alerts(many, {})).blocks)


def test_actions_are_public_words():
    """Messages that stand in channels name them: they never change."""
    assert ["acknowledge", "snooze", "not-a-fix", "pull-request", "issue"] == list(Action)
    assert '"block_id": "finding"' in json.dumps(told(fix(), has_buttons=True).blocks)
