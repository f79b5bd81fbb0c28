"""Shared fixtures. Everything is hermetic: no user git config, UTC, loopback only, no waiting between retries."""

import os
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest
import stamina
from hypothesis import HealthCheck, settings

from watcher.demo.drawing import draw
from watcher.demo.server import Fault, GitServer
from watcher.metrics import Pulse
from watcher.model import Oid

# How fast the machine is, and what else it does just now, is no defect of ours.
settings.register_profile("watcher", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("watcher")


@dataclass
class Upstream:
    """One served repository: draw its history, draw again for a forced update, break it, count what it was asked."""

    server: GitServer
    name: str = "owner/project"
    oids: dict[str, Oid] = field(default_factory=dict)
    """Every name ever drawn."""

    @property
    def url(self) -> str:
        """Return its address."""
        return self.server.url(self.name)

    @property
    def path(self) -> Path:
        """Return its bare repository."""
        return self.server.path(self.name)

    def draw(self, text: str, **kwargs) -> dict[str, Oid]:
        """Make the repository's refs exactly what is drawn; return the oid of each name (see `drawing.draw`)."""
        drawn = draw(self.path, text, **kwargs)
        self.oids |= drawn
        return drawn

    def fault(self, fault: Fault | None) -> None:
        """Make the server misbehave for this repository, or behave again."""
        if fault is None:
            self.server.faults.pop(self.name, None)
        else:
            self.server.faults[self.name] = fault


@pytest.fixture(autouse=True)
def hermetic(monkeypatch, tmp_path):
    """Keep the user's git settings, proxies and time zone out; retry without waiting."""
    for name in list(os.environ):
        if name.startswith("GIT_") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
    monkeypatch.setenv("TZ", "UTC")
    with stamina.set_testing(True, attempts=3):
        yield


@pytest.fixture
def server(tmp_path):
    """Serve every bare repository below a folder on loopback."""
    with GitServer(tmp_path / "served") as running:
        yield running


@pytest.fixture
def upstream(server):
    """Offer one repository, `owner/project`, on the server; more with `Upstream(server, "owner/other")`."""
    return Upstream(server)


class Clock:
    """A clock that goes when it is told to."""

    seconds = 1000.0

    def __call__(self):
        """Return what it shows."""
        return self.seconds


@pytest.fixture
def clock():
    """Return a clock that stands still."""
    return Clock()


@pytest.fixture
def pulse(clock):
    """Return the pulse of a service that just started, with one channel."""
    return Pulse(every=timedelta(minutes=15), channels=["slack"], clock=clock)
