"""A Slack that fails while something has to be told."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from tests.faults.post import CLOSED, TRIES, Pestering, Post
from tests.faults.stage import Stage, staged, summed
from tests.faults.trial import Outcome, Trial
from tests.slackpeer import TOKEN, Reply, SlackPeer

GROUP = "Slack"
_WAYS: Mapping[str, Mapping[str, str]] = {
    "bot": {"channel": "C1", "token": "env:TOKEN"},
    "webhook": {"webhook": "env:HOOK"},
}


class Forgetful(SlackPeer):
    """A Slack that takes messages, and whose answers are lost on the way."""

    is_forgetful = False

    def _own(self, path: str, method: str, authorization: str, message: dict[str, Any]) -> Reply:
        right = super()._own(path, method, authorization, message)
        return Reply(status=504) if self.is_forgetful else right


class SlackPost(Post):
    """Alerts that are owed, and the Slack that they are to go to."""

    def __init__(self, stage: Stage, peer: Forgetful) -> None:
        self.peer, self.api, self.way = peer, peer.address, ""
        super().__init__(stage)

    def document(self) -> Mapping[str, Any]:
        """Return a configuration with the Slack, in the one way or the other."""
        document = {**self.stage.world.document(), "slack": _WAYS[self.way]}
        return {**document, "rewrites": {**document["rewrites"], "https://slack.com/": f"{self.api}/"}}

    def environment(self) -> Mapping[str, str]:
        """Return the token, and the address that is a secret."""
        return {"HOOK": f"{self.api}/hook", "TOKEN": TOKEN}

    def taken(self) -> Counter[str]:
        """Take what arrived."""
        came: Counter[str] = Counter()
        while not self.peer.messages.empty():
            came[self.peer.messages.get()["text"]] += 1
        return came


def failing(folder: Path, replies: Sequence[Reply]) -> Outcome:
    """Let Slack answer so, one answer after the other."""
    return pestered(folder, [partial(_answering, reply=it) for it in replies])


def pestered(folder: Path, troubles: Sequence[Pestering], *, is_once: bool = True) -> Outcome:
    """Let Slack have these troubles, one after the other: both a bot's and a webhook's."""
    with staged(folder) as stage, Forgetful() as peer:
        return summed(_each_way(SlackPost(stage, peer), troubles, is_once=is_once))


def _each_way(post: SlackPost, troubles: Sequence[Pestering], *, is_once: bool) -> Iterable[Outcome]:
    for post.way in _WAYS:
        yield post.missed(troubles, is_once=is_once)


@contextmanager
def _answering(post: SlackPost, reply: Reply) -> Iterator[None]:
    post.peer.replies.put(reply)
    yield
    while not post.peer.replies.empty():
        post.peer.replies.get()


@contextmanager
def _refusing(post: SlackPost) -> Iterator[None]:
    post.api = f"http://127.0.0.1:{CLOSED}"
    yield
    post.api = post.peer.address


@contextmanager
def _forgetting(post: SlackPost) -> Iterator[None]:
    post.peer.is_forgetful = True
    yield
    post.peer.is_forgetful = False


def _answers(*statuses: int) -> Sequence[Reply]:
    return [Reply(status=it, body="no") for it in statuses]


TRIALS: Sequence[Trial] = (
    Trial(group=GROUP, name="connection refused", run=partial(pestered, troubles=[_refusing] * TRIES)),
    Trial(group=GROUP, name="hangs", run=partial(failing, replies=[Reply(is_silent=True)] * 2)),
    Trial(group=GROUP, name="401, 403, 404, 410", run=partial(failing, replies=_answers(401, 403, 404, 410))),
    Trial(group=GROUP, name="500, 502, 503, 504", run=partial(failing, replies=_answers(500, 502, 503, 504))),
    Trial(
        group=GROUP,
        name="429 with Retry-After of 1 s, an hour, nonsense, and without",
        run=partial(
            failing,
            replies=[
                Reply(status=429, body="{}", headers=headers)
                for headers in ({"Retry-After": "1"}, {"Retry-After": "3600"}, {"Retry-After": "soon"}, {})
            ],
        ),
    ),
    Trial(
        group=GROUP,
        name="a login page with status 200",
        run=partial(failing, replies=[Reply(body="<!doctype html><title>Sign in</title>")]),
    ),
    Trial(
        group=GROUP,
        name="JSON that is cut",
        run=partial(failing, replies=[Reply(body='{"ok": tr'), Reply(body='{"ok": false, "err')]),
    ),
    Trial(
        group=GROUP,
        name="takes the message, the answer is lost (it comes twice)",
        run=partial(pestered, troubles=[_forgetting] * TRIES, is_once=False),
    ),
)
