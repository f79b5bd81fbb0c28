"""The stage of a soak: folders, servers and a service, and what each line of the script does to them."""

import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from tests.slackpeer import TOKEN, Reply, SlackPeer
from tests.soak import sketch
from tests.soak.script import (
    Broken,
    Bumped,
    Cleaned,
    Happening,
    Hidden,
    Killed,
    Pin,
    Redrawn,
    Refs,
    Script,
    SlackTrouble,
    Upstream,
)
from tests.soak.service import Service
from watcher.demo.drawing import draw
from watcher.demo.server import Cut, Fault, GitServer, Request, Silence, Status
from watcher.model import Oid
from watcher.store import Store
from watcher.upstream.git import Git

HOST = "https://git.example.org/"
SLACK = "https://slack.com/"
FAULTS: Mapping[str, Fault] = {
    "gone": Status(code=404, body="Repository not found."),
    "busy": Status(code=503),
    "limited": Status(code=429, headers={"Retry-After": "1"}),
    "cut": Cut(length=40, honest=False),
    "silent": Silence(),
}
REPLIES = {
    "limited": Reply(status=429, body='{"ok": false, "error": "ratelimited"}', headers={"Retry-After": "1"}),
    "busy": Reply(status=503, body=""),
    "garbled": Reply(body="<html>"),
    "silent": Reply(is_silent=True),
}


class Trap:
    """Something that is to happen once, the next time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._act: Callable[[], None] | None = None

    def set(self, act: Callable[[], None]) -> None:
        """Let this happen next time, in place of what was to happen."""
        with self._lock:
            self._act = act

    def clear(self) -> None:
        """Let nothing happen next time."""
        with self._lock:
            self._act = None

    def spring(self) -> None:
        """Do what is to happen, and forget it."""
        with self._lock:
            act, self._act = self._act, None
        if act:
            act()


class Asked(list[Request]):
    """The requests to the git server; the next fetch may spring a trap."""

    def __init__(self) -> None:
        super().__init__()
        self.trap = Trap()

    def append(self, request: Request) -> None:
        """Note a request."""
        super().append(request)
        if request.kind == "fetch":
            self.trap.spring()


class Timed(Queue[Any]):
    """A queue that notes when something was put in, and that may spring a trap with it."""

    def __init__(self) -> None:
        super().__init__()
        self.put_at: list[tuple[float, Any]] = []
        self.trap = Trap()

    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
        """Put something in, and note when."""
        self.put_at.append((time.time(), item))
        super().put(item, block, timeout)
        self.trap.spring()


@dataclass
class Stage:
    """The servers and folders of one script, and how they stand."""

    folder: Path
    script: Script
    server: GitServer
    slack: SlackPeer
    service: Service
    store: Store
    refs: dict[str, Refs] = field(default_factory=dict)
    pins: dict[str, tuple[Pin, ...]] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)
    names: dict[str, dict[Oid, str]] = field(default_factory=dict)
    """Upstream → commit id → its name in the script."""
    oids: dict[str, dict[str, Oid]] = field(default_factory=dict)

    def prepare(self) -> None:
        """Draw every upstream, write the downstreams and the configuration."""
        for name, upstream in self.script.upstreams.items():
            self.names[name], self.oids[name] = {}, {}
            self._draw(upstream, upstream.refs)
            self.pins[name] = upstream.pins
        for downstream, variant in {(pin.downstream, pin.variant) for pin in self.script.pins}:
            self._publish(downstream, variant)
        (self.folder / "config.yaml").write_text(json.dumps(self._config(), indent=1))

    def happen(self, happening: Happening) -> None:
        """Let one line of the script happen."""
        match happening:
            case Redrawn(upstream=name, refs=refs):
                self._draw(self.script.upstreams[name], refs)
            case Broken(upstream=name, fault=fault):
                self._strike(name, fault)
            case Bumped(upstream=name, pin=pin):
                self.pins[name] = tuple(pin if it.id == pin.id else it for it in self.pins[name])
                self._publish(pin.downstream, pin.variant)
            case Cleaned(upstream=name):
                git = Git(directory=self.server.path(name))
                git.run("repack", "-a", "-d", "-q")
                git.run("prune", "--expire=now")
            case Hidden(downstream=name, is_back=is_back):
                before = self._place(name)
                (self.hidden.discard if is_back else self.hidden.add)(name)
                if before.is_dir():  # a script may have no pin in it
                    before.rename(self._place(name))
            case Killed():
                self._kill(happening)
            case SlackTrouble(fault=fault, times=times):
                self.heal_slack()
                for _ in range(times):
                    self.slack.replies.put(REPLIES[fault])

    def heal_slack(self) -> None:
        """End the trouble of Slack that nobody met: it does not wait for a service that leaves it alone."""
        with suppress(Empty):
            while True:
                self.slack.replies.get_nowait()

    @property
    def traps(self) -> dict[str, Trap]:
        """Return what may happen while the service does something."""
        assert isinstance(self.slack.messages, Timed)
        assert isinstance(self.server.requests, Asked)
        return {"sending": self.slack.messages.trap, "fetching": self.server.requests.trap}

    def address(self, upstream: str) -> str:
        """Return an upstream's address as the program knows it."""
        return f"{HOST}{upstream}"

    def _kill(self, how: Killed) -> None:
        if how.when == "now":
            self.service.restart(group=how.group)
        else:
            self.traps[how.when].set(lambda: self.service.restart(group=how.group))

    def _strike(self, name: str, fault: str | None) -> None:
        if fault is None:
            self.server.faults.pop(name, None)
        else:
            self.server.faults[name] = FAULTS[fault]

    def _draw(self, upstream: Upstream, refs: Refs) -> None:
        drawn = draw(
            self.server.path(upstream.name),
            sketch.picture(upstream.parents, refs),
            messages=sketch.messages(upstream),
            files=sketch.files(upstream),
            refs=refs,
            head="main",
        )
        self.oids[upstream.name] |= drawn
        self.names[upstream.name] |= {oid: name for name, oid in drawn.items()}
        self.refs[upstream.name] = refs

    def _publish(self, downstream: str, variant: str) -> None:
        """Write one Dockerfile, whole or not at all."""
        pins = [pin for mine in self.pins.values() for pin in mine]
        mine = [pin for pin in pins if (pin.downstream, pin.variant) == (downstream, variant)]
        lines = [f"RUN pip install git+{HOST}{pin.upstream}.git@{self._written(pin)}" for pin in mine]
        path = self._place(downstream) / mine[0].file
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = self.folder / "draft"
        draft.write_text("\n".join(["FROM acme/base:24.04", *lines, ""]))
        draft.replace(path)

    def _place(self, downstream: str) -> Path:
        return self.folder / (f"hidden-{downstream}" if downstream in self.hidden else downstream)

    def _written(self, pin: Pin) -> str:
        if pin.ref.startswith("refs/"):
            return pin.ref.removeprefix("refs/heads/").removeprefix("refs/tags/")
        return self.oids[pin.upstream][pin.ref]

    def _config(self) -> dict[str, Any]:
        variants: dict[str, set[str]] = {}
        for pin in self.script.pins:
            variants.setdefault(pin.downstream, set()).add(pin.variant)
        return {
            "downstreams": [
                {
                    "name": name,
                    "path": name,
                    "manifests": [{"files": f"docker/Dockerfile.{it}", "variant": it} for it in sorted(mine)],
                }
                for name, mine in sorted(variants.items())
            ],
            "rewrites": {HOST: f"{self.server.address}/", SLACK: f"{self.slack.address}/"},
            "schedule": {"poll": "1s"},
            "patience": {"gone": {"tries": 2, "over": "1s"}, "unobserved": {"tries": 2, "over": "2s"}},
            "slack": {"channel": "#soak", "token": "env:SOAK_TOKEN"},
            "http": {"listen": "127.0.0.1:0"},
            "state": "state",
        }


@contextmanager
def stage(folder: Path, played: Script) -> Iterator[Stage]:
    """Build the stage of a script in a folder; the service is not started yet."""
    (folder / "home").mkdir(parents=True)
    foreign = {name for name in os.environ if name.startswith("GIT_") or "proxy" in name.lower()}
    kept = {name: value for name, value in os.environ.items() if name not in foreign}
    home = {"HOME": str(folder / "home"), "XDG_CONFIG_HOME": str(folder / "home"), "TZ": "UTC", "SOAK_TOKEN": TOKEN}
    peer = SlackPeer()
    peer.messages = Timed()
    service = Service(folder=folder, environment=kept | home)
    with ExitStack() as stack:
        server = stack.enter_context(GitServer(folder / "served"))
        server.requests = Asked()
        slack = stack.enter_context(peer)
        (folder / "state").mkdir()
        store = stack.enter_context(Store.open(folder / "state"))
        stack.callback(service.end)
        built = Stage(folder=folder, script=played, server=server, slack=slack, service=service, store=store)
        built.prepare()
        yield built


def now() -> datetime:
    """Return the time."""
    return datetime.now(UTC)
