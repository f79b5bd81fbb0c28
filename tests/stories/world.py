"""A small world to tell stories in: downstreams that pin, upstreams that are served and misbehave, and a clock.

    world.engine.draw("A---B   (main)")
    world.pin(cuda=world.engine.oids["B"])
    found = world.look()

Every `look` is one pass an hour after the last one, with the memory of all passes before.
"""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from string import ascii_uppercase

from tests.conftest import Upstream
from watcher import cycle, standing
from watcher.config import Settings
from watcher.demo.drawing import draw
from watcher.demo.server import Fault, GitServer
from watcher.due import due
from watcher.model import Concern, Drift, Event, Finding, Oid, Pass, Pin, Reachability, Suggestion
from watcher.report.json import document
from watcher.store import Store
from watcher.upstream.git import Git
from watcher.workers import ABOUT
from watcher.workers.errands import FOLDER

HOST = "https://git.example.org/"
START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@dataclass
class Downstream:
    """One repository of ours: a folder on this machine, or served like the upstreams."""

    name: str
    folder: Path
    server: GitServer | None = None
    """Where it is served, for one that is not read from its folder."""
    pins: dict[tuple[str, str], str | None] = field(default_factory=dict)
    """(variant, upstream) → ref; None follows the default branch."""
    preface: dict[str, str] = field(default_factory=dict)
    """Variant → text above the pins."""
    history: list[dict[str, str]] = field(default_factory=list)
    """Every state of the Dockerfiles of a served one: each is a commit, A, B, C …"""

    def pin(self, upstream: str, **refs: str | None) -> None:
        """Pin an upstream for each variant."""
        self.pins |= {(variant, upstream): ref for variant, ref in refs.items()}

    def manifests(self) -> dict[str, str]:
        """Return the Dockerfiles, one for each variant."""
        texts: dict[str, str] = {}
        for (variant, upstream), ref in self.pins.items():
            path = manifest(variant)
            texts.setdefault(path, f"FROM acme/base:24.04\n{self.preface.get(variant, '')}")
            texts[path] += f"RUN pip install git+{HOST}{upstream}.git{f'@{ref}' if ref else ''}\n"
        return texts

    def publish(self) -> None:
        """Write the Dockerfiles where a pass reads them."""
        if self.server is None:
            self.folder.mkdir(exist_ok=True)
            for old in self.folder.glob("docker/*"):
                old.unlink()
            for path, text in self.manifests().items():
                (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
                (self.folder / path).write_text(text)
        else:
            if self.history[-1:] != [self.manifests()]:
                self.history.append(self.manifests())
            commits = ascii_uppercase[: len(self.history)]
            picture = f"{'---'.join(commits)}   (main)"
            draw(self.server.path(f"acme/{self.name}"), picture, files=dict(zip(commits, self.history, strict=True)))

    def config(self) -> dict:
        """Return its entry in the configuration."""
        place = {"repository": f"{HOST}acme/{self.name}"} if self.server else {"path": str(self.folder)}
        variants = dict.fromkeys(variant for variant, _ in self.pins) or {"cuda": None}
        entries = [{"files": manifest(variant), "variant": variant} for variant in variants]
        return {"name": self.name, **place, "manifests": entries}


def manifest(variant: str) -> str:
    """Return the Dockerfile of a variant."""
    return f"docker/Dockerfile.{variant}"


@dataclass
class World:
    """Downstreams, upstreams, the configuration that joins them, and the time."""

    folder: Path
    server: GitServer
    config: dict = field(default_factory=dict)
    """Further keys of the configuration."""
    scheduler: str | None = None
    """Whose workers look at the upstreams; None for threads."""
    is_alone: bool = False
    """Whether the workers may be of no use."""
    now: datetime = START
    downstreams: dict[str, Downstream] = field(default_factory=dict)
    upstreams: dict[str, Upstream] = field(default_factory=dict)
    reader: standing.Reader | None = field(default_factory=standing.Reader)
    """Reads what pages show again after each look; None where states of other times take each other's place."""

    # --- the stage ---------------------------------------------------------------------------------------------------

    @property
    def engine(self) -> Upstream:
        """Return the upstream that most stories are about."""
        return self.upstream("acme/engine")

    @property
    def images(self) -> Downstream:
        """Return the downstream of most stories, read from its folder."""
        return self.downstream("images")

    def upstream(self, name: str) -> Upstream:
        """Return an upstream; its pins are written as HOST + name."""
        return self.upstreams.setdefault(name, Upstream(self.server, name))

    def downstream(self, name: str, *, served: bool = False) -> Downstream:
        """Return a downstream, made when it is first named."""
        made = Downstream(name=name, folder=self.folder / name, server=self.server if served else None)
        return self.downstreams.setdefault(name, made)

    def pin(self, upstream: str = "acme/engine", **refs: str | None) -> None:
        """Pin an upstream in `images`, for each variant."""
        self.images.pin(upstream, **refs)

    def document(self) -> dict:
        """Return the configuration as people write it."""
        return {
            "downstreams": [downstream.config() for downstream in self.downstreams.values()],
            "rewrites": {HOST: f"{self.server.address}/"},
            "state": str(self.state),
            "executor": {"dask": self.scheduler} if self.scheduler else "threads",
            **self.config,
        }

    @property
    def state(self) -> Path:
        """Return the state folder."""
        return self.folder / "state"

    def prepare(self) -> Path:
        """Publish the downstreams, and write and return config.yaml, for programs that read it themselves."""
        for downstream in self.downstreams.values():
            downstream.publish()
        path = self.folder / "config.yaml"
        path.write_text(json.dumps(self.document(), indent=1))
        return path

    # --- the action --------------------------------------------------------------------------------------------------

    def look(self, hours: float = 1) -> Pass:
        """Let some hours go by, make one pass, and return what it says."""
        self._share()
        self.now += timedelta(hours=hours)
        for downstream in self.downstreams.values():
            downstream.publish()
        settings = Settings.model_validate(self.document())
        with Store.open(settings.state) as store:
            found = cycle.check(settings, store, now=self.now)
            if not any(it.upstream in self._repositories for it in found.unobserved):
                now = standing.read(store, settings)
                assert as_said(document(found)) == as_said(standing.document(now))
                assert self.reader is None or now == self.reader.read(store, settings)
            return self._by_whom_it_should(found)

    def tick(self, minutes: float) -> Pass:
        """Let some minutes go by, and make one pass over what is due, as the service does."""
        self._share()
        self.now += timedelta(minutes=minutes)
        for downstream in self.downstreams.values():
            downstream.publish()
        settings = Settings.model_validate(self.document())
        with Store.open(settings.state) as store:
            found = cycle.check(settings, store, now=self.now, due=due(settings, store, self.now))
        return self._by_whom_it_should(found)

    def _share(self) -> None:
        """Give the workers the environment that the story has: tokens, above all."""
        if self.scheduler is None or self.is_alone:
            return
        from distributed import Client  # noqa: PLC0415 - it takes a second, which few need to wait

        ours = {name: value for name, value in os.environ.items() if name != FOLDER}
        with Client(self.scheduler, timeout=100, set_as_default=False) as client:
            client.run(lambda: _exchange(ours))

    def _by_whom_it_should(self, found: Pass) -> Pass:
        """Return what a pass found, after seeing to it that workers did the work where there are any."""
        assert self.is_alone or not [line for line in found.warnings if line.startswith(ABOUT)]
        return found

    def act(self, finding: Finding, step: Callable[..., tuple[Finding, Event]], *args: object) -> None:
        """Let a person act on a finding: `acknowledge`, `snooze`, `reopen`."""
        with Store.open(self.state) as store, store.atomic():
            after, event = step(finding, *args)
            store.commit_pass([after], [event], [], event.at)

    @property
    def _repositories(self) -> set[str]:
        """Return the addresses of the downstreams that are served: what is unread is told by the pass alone."""
        return {f"{HOST}acme/{it.name}" for it in self.downstreams.values() if it.server}

    # --- the questions -----------------------------------------------------------------------------------------------

    def events(self) -> list[tuple[str, str]]:
        """Return everything that ever happened, as (what, key), oldest first."""
        with Store.open(self.state) as store:
            return [(event.kind.value, event.finding.key) for event in store.events()]

    def mirror(self, name: str = "acme/engine") -> Git:
        """Return git at work in the mirror of an upstream."""
        [folder] = (self.state / "mirrors").glob(f"*{name.replace('/', '+')}-*.git")
        return Git(directory=folder)


def as_said(told: dict) -> dict:
    """Return a report as JSON says it, without warnings: troubles that are over are remembered nowhere."""
    return json.loads(json.dumps(told | {"warnings": []}))


def _exchange(environ: dict[str, str]) -> None:
    """Make the environment of this process equal to another one, but for where its mirrors are."""
    mirrors = os.environ.get(FOLDER)
    os.environ.clear()
    os.environ.update(environ | ({FOLDER: mirrors} if mirrors else {}))


def name_of(upstream: str = "acme/engine") -> str:
    """Return an upstream's address as pins have it."""
    return f"{HOST}{upstream}"


def git_of(upstream: Upstream) -> Git:
    """Return git at work in the served repository itself."""
    return Git(directory=upstream.path)


# --- what a pass says --------------------------------------------------------------------------------------------


def kinds(found: Pass) -> list[str]:
    """Return the kinds of all findings that are not resolved, sorted."""
    return sorted(finding.concern.kind.value for finding in found.findings)


def findings_of(found: Pass, kind: str, variant: str | None = None) -> list[Concern]:
    """Return the concerns of one kind, of one variant's pin where that is named."""
    of_variant = {pin.id for pin in found.pins if variant in {None, pin.variant}}
    concerns = [finding.concern for finding in found.findings]
    return [it for it in concerns if it.kind == kind and (variant is None or it.pin in of_variant)]


def the(found: Pass, kind: str, variant: str | None = None) -> Concern:
    """Return the one concern of a kind."""
    [only] = findings_of(found, kind, variant)
    return only


def finding(found: Pass, kind: str) -> Finding:
    """Return the one finding of a kind."""
    [only] = [it for it in found.findings if it.concern.kind == kind]
    return only


def told(found: Pass) -> list[tuple[str, str]]:
    """Return what happened in a pass, as sorted (what, kind of finding)."""
    return sorted((event.kind.value, event.finding.concern.kind.value) for event in found.events)


def pin_of(found: Pass, variant: str = "cuda", upstream: str = "acme/engine") -> Pin:
    """Return the pin of a variant."""
    [pin] = [pin for pin in found.pins if pin.variant == variant and pin.upstream == name_of(upstream)]
    return pin


def reach(found: Pass, variant: str = "cuda", upstream: str = "acme/engine") -> Reachability:
    """Return what keeps a variant's pin alive."""
    return found.reachability[pin_of(found, variant, upstream).id]


def bump(found: Pass, variant: str = "cuda") -> Suggestion | None:
    """Return the bump that is proposed for a variant's pin."""
    pin = pin_of(found, variant).id
    return next((made for made in found.suggestions if made.pin == pin), None)


def offered(found: Pass, variant: str = "cuda") -> Oid | None:
    """Return the commit that a variant's pin should be moved to."""
    made = bump(found, variant)
    return made.target.to if made else None


def the_drift(found: Pass) -> Drift:
    """Return the one dependency that two variants pin."""
    [only] = found.drift
    return only


def reasons(found: Pass) -> list[str]:
    """Return why upstreams could not be observed."""
    return [failure.reason for failure in found.unobserved]


# --- what goes wrong upstream ------------------------------------------------------------------------------------


def clean_up(upstream: Upstream) -> None:
    """Let the server throw away what no ref reaches, as forges do some day."""
    git = git_of(upstream)
    git.run("repack", "-a", "-d", "-q")
    git.run("prune", "--expire=now")


class Strike(dict[str, Fault]):
    """Faults that strike some requests to one repository alone; or what is to happen before one is answered."""

    def __init__(
        self,
        server: GitServer,
        name: str,
        fault: Fault | Callable[[], None],
        *,
        when: Callable[[list[str]], bool],
    ) -> None:
        """Take a question over the kinds of all requests so far, the newest last; what happens, happens once."""
        super().__init__()
        self._server, self._name, self._fault, self._when = server, name, fault, when
        self._start = len(server.requests)

    def get(self, name: str, default: Fault | None = None) -> Fault | None:  # type: ignore[override]
        """Return the fault for the request that just came in."""
        since = self._server.requests[self._start :]
        asked = [request.kind for request in since if request.repository == name]
        if name != self._name or not self._when(asked):
            return default
        if callable(self._fault):
            happen, self._fault = self._fault, None  # type: ignore[assignment]
            happen()
        return self._fault  # type: ignore[return-value]


def is_fetch(asked: list[str]) -> bool:
    """Answer whether the newest request is a fetch."""
    return asked[-1] == "fetch"


def is_second_question(asked: list[str]) -> bool:
    """Answer whether the newest request asks for refs a second time, as for the refs of proposals."""
    return asked[-1] == "ls-refs" and asked.count("ls-refs") > 1
