"""What forges answered is kept by address, exactly, and forgotten when it is old."""

from datetime import UTC, datetime, timedelta

import pytest

from watcher.store import Kept, Store

NOW = datetime(2026, 8, 20, 9, 0, tzinfo=UTC)
PLACE = "https://api.github.com/repos/acme/images?page=1"
KEPT = Kept(etag='W/"1"', body='{"title": "déjà \\ud83d \\u0000"}', next="page=2")


@pytest.fixture
def store(tmp_path):
    """Open an empty memory."""
    with Store.open(tmp_path) as opened:
        yield opened


def test_an_answer_comes_back(store):
    """As it was; another address has none; the next takes its place."""
    store.keep_reply(PLACE, KEPT, NOW)
    assert (KEPT, None) == (store.reply(PLACE), store.reply(f"{PLACE}0"))
    newer = Kept(etag='"2"', body="[]", next="")
    store.keep_reply(PLACE, newer, NOW)
    assert newer == store.reply(PLACE)


def test_old_answers_are_forgotten(store):
    """Those that were kept since stay."""
    store.keep_reply(PLACE, KEPT, NOW)
    store.keep_reply("https://other", KEPT, NOW + timedelta(days=1))
    store.forget_replies(NOW + timedelta(hours=1))
    assert (None, KEPT) == (store.reply(PLACE), store.reply("https://other"))
