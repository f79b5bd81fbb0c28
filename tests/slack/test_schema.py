"""The schema made of Slack's own types refuses what Slack refuses, and says what."""

import pytest

from tests.slackpeer import fault


def plain(text="x"):
    """Return a text object."""
    return {"type": "plain_text", "text": text}


def button(**more):
    """Return a button."""
    return {"type": "button", "text": plain(), "action_id": "a", **more}


def asking(**more):
    """Return a message whose button asks first."""
    confirm = {"title": plain(), "text": plain(), "confirm": plain(), "deny": plain(), **more}
    return [{"type": "actions", "block_id": "c", "elements": [button(confirm=confirm)]}]


def rich(**part):
    """Return a rich text of one part."""
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [part]}]}


FITTING = [
    {"type": "header", "text": plain("x" * 150)},
    {"type": "section", "text": plain("x" * 3000), "fields": [plain("x" * 2000), *[plain()] * 9]},
    {"type": "actions", "block_id": "b", "elements": [button(text=plain("x" * 75), value="x" * 2000)]},
    *asking(title=plain("x" * 100), text=plain("x" * 300), confirm=plain("x" * 30), deny=plain("x" * 30)),
    rich(type="link", url="https://example.org", text="x", style={"strike": True}),
    {"type": "divider"},
]


def test_what_fits():
    """Up to the last character."""
    assert "" == fault(FITTING)


@pytest.mark.parametrize(
    ("blocks", "where"),
    [
        ([], "$: "),
        ([{"type": "divider"}] * 51, "$: "),
        ([{"type": "heading", "text": plain()}], "$[0].type: "),
        ([{"type": "header", "text": plain("x" * 151)}], "$[0].text.text: "),
        ([{"type": "header", "text": {"type": "mrkdwn", "text": "x"}}], "$[0].text"),
        ([{"type": "header", "text": plain(), "colour": "red"}], "$[0]: "),
        ([{"type": "section"}], "$[0]: "),
        ([{"type": "section", "text": plain("x" * 3001)}], "$[0].text.text: "),
        ([{"type": "section", "fields": [plain()] * 11}], "$[0].fields: "),
        ([{"type": "section", "fields": [plain("x" * 2001)]}], "$[0].fields[0].text: "),
        ([{"type": "actions", "elements": []}], "$[0].elements: "),
        ([{"type": "actions", "block_id": "x" * 256, "elements": [button()]}], "$[0].block_id: "),
        ([{"type": "actions", "block_id": "b", "elements": [button(), button()]}], "an action_id twice"),
        (asking(title=plain("x" * 101)), "$[0].elements[0]: "),
        (asking(text=plain("x" * 301)), "$[0].elements[0]: "),
        (asking(confirm=plain("x" * 31)), "$[0].elements[0]: "),
        (asking(deny=plain("x" * 31)), "$[0].elements[0]: "),
        ([rich(type="text", text="")], "$[0].elements[0].elements[0].text: "),
        ([rich(type="text", text="x", style={"blink": True})], "$[0].elements[0].elements[0].style: "),
        ([rich(type="link", text="x")], "$[0].elements[0].elements[0]: "),
        ([rich(type="text", text="x" * 14_000)], "14"),
    ],
)
def test_what_does_not_fit(blocks, where):
    """One more than the limit, words that Slack does not know, and what must be there and is not."""
    assert fault(blocks).startswith(where)
