"""Fakes of every kind of forge on loopback, and the way to ask them that the program takes."""

from contextlib import ExitStack
from datetime import UTC, datetime

import httpx
import pytest

from tests.forges.giteafake import GiteaFake
from tests.forges.githubfake import GitHubFake
from tests.forges.gitlabfake import GitLabFake
from watcher.config import Settings
from watcher.forges import Budget, forge_of

NOW = datetime(2026, 8, 20, 9, 0, tzinfo=UTC)
FAKES = {"github": GitHubFake, "gitlab": GitLabFake, "gitea": GiteaFake}
HOSTS = {"github": "github.com", "gitlab": "gitlab.com", "gitea": "codeberg.org"}
APIS = {
    "github": "https://api.github.com/",
    "gitlab": "https://gitlab.com/api/v4/",
    "gitea": "https://codeberg.org/api/v1/",
}


class Asking:
    """Ask a fake as the program does: through a configuration, by the repository's address."""

    def __init__(self, kind, fake, monkeypatch, http):
        self.kind, self.fake, self.http = kind, fake, http
        self.budget = Budget(left=1000)
        self._patch = monkeypatch

    @property
    def host(self):
        """Return the host that the configuration names."""
        return HOSTS[self.kind]

    def settings(self, **entry):
        """Return a configuration."""
        return Settings.model_validate(
            {
                "pins": [{"upstream": "https://example.org/o/n", "ref": "v1"}],
                "rewrites": {APIS[self.kind]: f"{self.fake.api}/"},
                "forges": {self.host: entry},
            }
        )

    def forge(self, path="acme/images", *, token="good-token", memory=None, budget=None):  # noqa: S107 - of a fake
        """Return the forge of a repository."""
        entry = {}
        if token is not None:
            self._patch.setenv("FORGE_TOKEN", token)
            entry["token"] = "env:FORGE_TOKEN"
        return forge_of(
            f"https://{self.host}/{path}",
            self.settings(**entry),
            self.http,
            budget=budget or self.budget,
            now=NOW,
            memory=memory,
        )


@pytest.fixture(scope="session")
def http():
    """Share one client: to make one that trusts what the system trusts takes long."""
    with httpx.Client(trust_env=False, timeout=5) as client:
        yield client


@pytest.fixture
def asking(monkeypatch, http):
    """Return a function from a kind and repositories to a way of asking a fake; what breaks the contract fails."""
    with ExitStack() as stack:
        fakes = []

        def start(kind, *repositories):
            fake = stack.enter_context(FAKES[kind](*repositories))
            fakes.append(fake)
            return Asking(kind, fake, monkeypatch, http)

        yield start
        assert [] == [it for fake in fakes for it in fake.complaints]


@pytest.fixture
def github(asking):
    """Ask a GitHub with one repository."""
    return asking("github")


@pytest.fixture(params=FAKES)
def forge(request, asking):
    """Ask each kind of forge with one repository."""
    return asking(request.param)
