"""Forges' APIs that fail while a fix lands that the forge alone knows to be one."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import stamina

from tests.faults.stage import Known, Stage, hermetic, impatient
from tests.faults.trial import Outcome, Trial
from tests.forges.conftest import APIS, FAKES, HOSTS
from tests.forges.forgefake import Fake, Repository, Told
from tests.forges.forgefake import Fault as Refusal
from tests.stories import kit
from tests.stories.world import World
from watcher.demo.server import Fault, GitServer, Page, Raw, Said, Silence

_NAMES = {"github": "GitHub's API", "gitlab": "GitLab's API", "gitea": "Gitea's API"}
_CLOSED = "http://127.0.0.1:1"
_FIXED = "A---B---F   (main)"
_QUIET = {**kit.MESSAGES, "F": "Look at who owns a buffer (#1)\n"}
_CUT = b'{"id": 1, "full_na'


class Hub:
    """An upstream on a forge that alone knows that a change is a fix."""

    def __init__(self, kind: str, folder: Path, server: GitServer, fake: Fake) -> None:
        self.world, self.server, self.fake = World(folder=folder, server=server, reader=None), server, fake
        self.kind, self.api = kind, fake.api
        self._oids = self._draw("A---B   (main)")

    def played(self, troubles: "Sequence[Meddling]") -> tuple[int, Known, float]:
        """Look, let the fix land, and look again, with troubles between.

        Returns how often it was met, what is told, and how long the first look after it took.
        """
        self._look()
        self.fake.repository.add(
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
        """Make a pass; return whether the forge could not be asked."""
        upstream = f"https://{HOSTS[self.kind]}/acme/engine"
        self.world.config = {
            "pins": [{"upstream": upstream, "ref": self._oids["B"]}],
            "rewrites": {upstream: f"{self.server.address}/acme/engine", APIS[self.kind]: f"{self.api}/"},
            "forges": {HOSTS[self.kind]: {"token": "env:FORGE_TOKEN"}},
            "slack": {"webhook": "env:HOOK"},
        }
        return bool(self.world.look().warnings)


Meddling = Callable[[Hub], AbstractContextManager[None]]
"""A context in which the forge fails."""


def failing(folder: Path, kind: str, troubles: Sequence[Meddling]) -> Outcome:
    """Let a forge fail in each of these ways while a fix lands that it alone knows."""
    right = _right(kind)
    met, known, recovery = _played(folder, kind, troubles)
    if met != len(troubles):
        raise AssertionError(f"{len(troubles)} troubles, and {met} were told")
    return Outcome(injected=met, lost=known.lost(right), false_alarms=known.false_alarms(right), recovery=recovery)


@cache
def _right(kind: str) -> Known:
    """Return what is known and told where nothing goes wrong."""
    with TemporaryDirectory() as folder:
        _, right, _ = _played(Path(folder), kind, ())
    if not right.told:
        raise AssertionError("nothing is told where nothing goes wrong: there is nothing to lose")
    return right


def _played(folder: Path, kind: str, troubles: Sequence[Meddling]) -> tuple[int, Known, float]:
    repository = Repository(path="acme/engine", bare=folder / "served/acme/engine.git")
    with (
        hermetic(folder),
        stamina.set_testing(True, attempts=2),
        patch.dict("os.environ", {"FORGE_TOKEN": "good-token"}),
        GitServer(folder / "served") as server,
        FAKES[kind](repository) as fake,
    ):
        return Hub(kind, folder, server, fake).played(troubles)


# --- troubles --------------------------------------------------------------------------------------------------------


@contextmanager
def told(hub: Hub, status: int, **headers: str) -> Iterator[None]:
    """Let the API answer with a status."""
    hub.fake.faults.append(Refusal(told=Told(status=status, body={"message": "No"}, headers=headers)))
    yield
    hub.fake.faults.clear()


@contextmanager
def refused(hub: Hub) -> Iterator[None]:
    """Let nobody listen."""
    hub.api = _CLOSED
    yield
    hub.api = hub.fake.api


class _Everywhere(dict[str, Fault]):
    """One fault, whatever is asked for."""

    def get(self, _name: str, _default: Fault | None = None) -> Fault:  # type: ignore[override]
        """Return it."""
        return self["everywhere"]


@contextmanager
def instead(hub: Hub, fault: Fault) -> Iterator[None]:
    """Let something else answer in place of the API."""
    with GitServer(hub.world.folder / "portal") as portal:
        portal.faults = _Everywhere(everywhere=fault)
        hub.api = portal.address
        yield
        hub.api = hub.fake.api


def _hung_up(content: bytes) -> Fault:
    """Return the fault that promises more than it sends, and hangs up."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4711\r\n\r\n"
    return Said(instead=lambda _: [head, content])


_LATER = {"Retry-After": "60"}
_TROUBLES: Mapping[str, Sequence[Meddling]] = {
    "connection refused": [refused],
    "hangs": [partial(instead, fault=Silence())],
    "401, 403, 404": [partial(told, status=it) for it in (401, 403, 404)],
    "403, for nothing is left of what may be asked": [
        partial(told, status=403, **headers)
        for headers in ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1788256800"}, _LATER)
    ],
    "429 with and without Retry-After": [partial(told, status=429), partial(told, status=429, **_LATER)],
    "500, 502, 503, 504 with and without Retry-After": [
        partial(told, status=status, **headers) for status in (500, 502, 503, 504) for headers in ({}, _LATER)
    ],
    "a login page with status 200": [partial(instead, fault=Page())],
    "JSON that is cut, with a length to match, and hung up; no byte at all": [
        partial(instead, fault=it) for it in (Raw(body=_CUT), _hung_up(_CUT), _hung_up(b""), Said(instead=lambda _: []))
    ],
    "JSON of another shape": [partial(instead, fault=Raw(body=it)) for it in (b"{}", b"[]", b"null", b'{"id": {}}')],
}
"""What happens → every variation of it; the same for each kind of forge."""
TRIALS: Sequence[Trial] = tuple(
    Trial(group=group, name=name, run=partial(failing, kind=kind, troubles=troubles))
    for kind, group in _NAMES.items()
    for name, troubles in _TROUBLES.items()
)
