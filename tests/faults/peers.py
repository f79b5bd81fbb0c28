"""Slack and a forge that fail while something has to be told, or asked."""

import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import stamina

from tests.faults.stage import Known, Stage, hermetic, impatient, staged, summed
from tests.faults.trial import Outcome, Trial
from tests.forges.forgefake import Fault as Refusal
from tests.forges.forgefake import Repository, Told
from tests.forges.githubfake import GitHubFake
from tests.slackpeer import TOKEN, Reply, SlackPeer
from tests.stories import kit
from tests.stories.world import World
from watcher.config import Settings
from watcher.deliver import channels, deliver
from watcher.demo.server import Fault, GitServer, Page, Raw, Silence
from watcher.store import Store

SLACK, FORGE = "Slack", "a forge's API"
_CLOSED = "http://127.0.0.1:1"
_TRIES = 3
"""Deliveries under a trouble that has no variations."""
_MOST = 10
"""Deliveries after which everything must have arrived."""
_WAYS: Mapping[str, Mapping[str, str]] = {
    "bot": {"channel": "C1", "token": "env:TOKEN"},
    "webhook": {"webhook": "env:HOOK"},
}


# --- Slack -----------------------------------------------------------------------------------------------------------


class Forgetful(SlackPeer):
    """A Slack that takes messages, and whose answers are lost on the way."""

    is_forgetful = False

    def _own(self, path: str, method: str, authorization: str, message: dict[str, Any]) -> Reply:
        right = super()._own(path, method, authorization, message)
        return Reply(status=504) if self.is_forgetful else right


def slack_failing(folder: Path, replies: Sequence[Reply] = (), *, is_refused: bool = False) -> Outcome:
    """Let Slack answer so, one answer after the other, or refuse connections; both to a bot and to a webhook."""
    with slack(folder) as post:
        troubles = [partial(_answering, reply=it) for it in replies] + [_refusing] * (_TRIES if is_refused else 0)
        return summed(post.missed(way, troubles) for way in _WAYS)


def slack_forgetting(folder: Path) -> Outcome:
    """Let Slack take messages and lose its answers: they come again, and none is lost."""
    with slack(folder) as post:
        return summed(post.missed(way, [_forgetting] * _TRIES, is_once=False) for way in _WAYS)


class Post:
    """Messages that are owed, and the Slack that they are to go to."""

    def __init__(self, stage: Stage, peer: Forgetful) -> None:
        self.stage, self.peer = stage, peer
        self.api = peer.address
        self._owing = stage.world.folder / "owing"
        stage.happen()
        stage.look()
        shutil.copytree(stage.world.state, self._owing)

    def missed(self, way: str, troubles: "Sequence[Pestering]", *, is_once: bool = True) -> Outcome:
        """Try to send under each trouble, and after them; count what did not arrive, and what came too often."""
        right = self.arrived(way)
        self._rewind()
        met = 0
        for trouble in troubles:
            with impatient(), trouble(self):
                met += bool(self.send(way))
        start, recovery = time.monotonic(), None
        for _ in range(_MOST):
            self.send(way)
            if recovery is None and not self.is_owing():
                recovery = time.monotonic() - start
        came = self._taken()
        return Outcome(
            injected=met,
            lost=(right - came).total() + self.is_owing(),
            false_alarms=(came - right).total() if is_once else len(came.keys() - right.keys()),
            recovery=recovery,
        )

    def arrived(self, way: str) -> Counter[str]:
        """Return what arrives where nothing goes wrong."""
        self._rewind()
        self.send(way)
        return self._taken()

    def send(self, way: str) -> tuple[str, ...]:
        """Send what is due, two hours after the last time; return the trouble that there was."""
        self.stage.world.now += timedelta(hours=2)
        document = {**self.stage.world.document(), "slack": _WAYS[way]}
        document["rewrites"] |= {"https://slack.com/": f"{self.api}/"}
        settings = Settings.model_validate(document)
        own = {"HOOK": f"{self.api}/hook", "TOKEN": TOKEN}
        with patch.dict("os.environ", own), Store.open(settings.state) as store:
            return deliver(store, channels(settings), self.stage.world.now)

    def is_owing(self) -> bool:
        """Answer whether something still waits, or was given up."""
        with Store.open(self.stage.world.state) as store:
            return any(it.delivered_at is None and it.dropped_at is None for it in store.outbox())

    def _rewind(self) -> None:
        shutil.rmtree(self.stage.world.state)
        shutil.copytree(self._owing, self.stage.world.state)

    def _taken(self) -> Counter[str]:
        """Take what arrived out of Slack."""
        came: Counter[str] = Counter()
        while not self.peer.messages.empty():
            came[self.peer.messages.get()["text"]] += 1
        return came


Pestering = Callable[[Post], Any]
"""A context in which Slack fails."""


@contextmanager
def slack(folder: Path) -> Iterator[Post]:
    """Build a stage on which something happened, with a Slack to be told."""
    with staged(folder) as stage, Forgetful() as peer:
        yield Post(stage, peer)


@contextmanager
def _answering(post: Post, reply: Reply) -> Iterator[None]:
    post.peer.replies.put(reply)
    yield
    while not post.peer.replies.empty():
        post.peer.replies.get()


@contextmanager
def _refusing(post: Post) -> Iterator[None]:
    post.api = _CLOSED
    yield
    post.api = post.peer.address


@contextmanager
def _forgetting(post: Post) -> Iterator[None]:
    post.peer.is_forgetful = True
    yield
    post.peer.is_forgetful = False


# --- a forge ---------------------------------------------------------------------------------------------------------

_HUB = "https://github.com/acme/engine"
_QUIET = {**kit.MESSAGES, "F": "Look at who owns a buffer (#1)\n"}


class Hub:
    """An upstream on a forge that alone knows that a change is a fix."""

    def __init__(self, folder: Path, server: GitServer, fake: GitHubFake, repository: Repository) -> None:
        self.world, self.server, self.fake, self.repository = (
            World(folder=folder, server=server),
            server,
            fake,
            repository,
        )
        self.api = fake.api
        self._oids = self._draw("A---B   (main)")

    def played(self, troubles: "Sequence[Meddling]") -> tuple[int, Known, float]:
        """Look, let the fix land, and look again, with troubles between.

        Returns how often it was met, what is told, and how long the first look after it took.
        """
        self._look()
        self.repository.add(
            title="Look at it",
            labels=["bug"],
            state="closed",
            head="topic",
            base="main",
            merged_as=self._draw(_FIXED)["F"],
        )
        met = 0
        for trouble in troubles:
            with impatient(), trouble(self):
                met += self._look()
        start = time.monotonic()
        self._look()
        taken = time.monotonic() - start
        self._look()
        return met, Stage(world=self.world, before=self.world.folder).known(), taken

    def _draw(self, picture: str) -> Mapping[str, Any]:
        return self.world.engine.draw(picture, files=kit.FILES, messages=_QUIET)

    def _look(self) -> bool:
        """Make a pass; return whether a forge could not be asked."""
        self.world.config = {
            "pins": [{"upstream": _HUB, "ref": self._oids["B"]}],
            "rewrites": {_HUB: f"{self.server.address}/acme/engine", "https://api.github.com/": f"{self.api}/"},
            "forges": {"github.com": {"token": "env:FORGE_TOKEN"}},
            "slack": {"webhook": "env:HOOK"},
        }
        return bool(self.world.look().warnings)


_FIXED = "A---B---F   (main)"
Meddling = Callable[[Hub], Any]
"""A context in which the forge fails."""


def forge_failing(folder: Path, troubles: Sequence[Meddling]) -> Outcome:
    """Let the forge fail in each of these ways while a fix lands that it alone knows."""
    _, right, _ = _played(folder / "right", ())
    if not right.told:
        raise AssertionError("nothing is told where nothing goes wrong: there is nothing to lose")
    met, known, recovery = _played(folder / "wrong", troubles)
    return Outcome(injected=met, lost=known.lost(right), false_alarms=known.false_alarms(right), recovery=recovery)


def _played(folder: Path, troubles: Sequence[Meddling]) -> tuple[int, Known, float]:
    folder.mkdir()
    repository = Repository(path="acme/engine", bare=folder / "served/acme/engine.git")
    with (
        hermetic(folder),
        stamina.set_testing(True, attempts=2),
        patch.dict("os.environ", {"FORGE_TOKEN": "good-token"}),
        GitServer(folder / "served") as server,
        GitHubFake(repository) as fake,
    ):
        return Hub(folder, server, fake, repository).played(troubles)


@contextmanager
def told(hub: Hub, status: int, **headers: str) -> Iterator[None]:
    """Let the API answer with a status."""
    hub.fake.faults.append(Refusal(told=Told(status=status, body={"message": "No"}, headers=headers)))
    yield
    hub.fake.faults.clear()


@contextmanager
def instead(hub: Hub, fault: Fault | None) -> Iterator[None]:
    """Let something else answer in place of the API; None: nothing listens."""
    with GitServer(hub.world.folder / "portal") as portal:
        if fault is not None:
            portal.faults["repos/acme"] = portal.faults["repositories/1"] = fault
        hub.api = portal.address if fault is not None else _CLOSED
        yield
        hub.api = hub.fake.api


def _answers(*statuses: int) -> Sequence[Reply]:
    return [Reply(status=it, body="no") for it in statuses]


_FAILING = (500, 502, 503, 504)
TRIALS: Sequence[Trial] = (
    Trial(group=SLACK, name="connection refused", run=partial(slack_failing, is_refused=True)),
    Trial(group=SLACK, name="hangs", run=partial(slack_failing, replies=[Reply(is_silent=True)] * 2)),
    Trial(group=SLACK, name="401, 403, 404, 410", run=partial(slack_failing, replies=_answers(401, 403, 404, 410))),
    Trial(group=SLACK, name="500, 502, 503, 504", run=partial(slack_failing, replies=_answers(*_FAILING))),
    Trial(
        group=SLACK,
        name="429 with Retry-After of 1 s, an hour, nonsense, and without",
        run=partial(
            slack_failing,
            replies=[
                Reply(status=429, body="{}", headers=headers)
                for headers in ({"Retry-After": "1"}, {"Retry-After": "3600"}, {"Retry-After": "soon"}, {})
            ],
        ),
    ),
    Trial(
        group=SLACK,
        name="a login page with status 200",
        run=partial(slack_failing, replies=[Reply(body="<!doctype html><title>Sign in</title>")]),
    ),
    Trial(
        group=SLACK,
        name="JSON that is cut",
        run=partial(slack_failing, replies=[Reply(body='{"ok": tr'), Reply(body='{"ok": false, "err')]),
    ),
    Trial(group=SLACK, name="takes the message, the answer is lost (it comes twice)", run=slack_forgetting),
    Trial(group=FORGE, name="connection refused", run=partial(forge_failing, troubles=[partial(instead, fault=None)])),
    Trial(group=FORGE, name="hangs", run=partial(forge_failing, troubles=[partial(instead, fault=Silence())])),
    Trial(
        group=FORGE,
        name="401, 403, 404, 500, 502, 503, 504",
        run=partial(forge_failing, troubles=[partial(told, status=it) for it in (401, 403, 404, *_FAILING)]),
    ),
    Trial(
        group=FORGE,
        name="429 with and without Retry-After",
        run=partial(
            forge_failing, troubles=[partial(told, status=429), partial(told, status=429, **{"Retry-After": "60"})]
        ),
    ),
    Trial(
        group=FORGE,
        name="a login page with status 200",
        run=partial(forge_failing, troubles=[partial(instead, fault=Page())]),
    ),
    Trial(
        group=FORGE,
        name="JSON that is cut",
        run=partial(forge_failing, troubles=[partial(instead, fault=Raw(body=b'{"id": 1, "full_na'))]),
    ),
)
