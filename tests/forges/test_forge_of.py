"""Which forge an address belongs to, and where its API is."""

from datetime import UTC, datetime

import httpx
import pytest

from watcher.config import ForgeKind, Settings
from watcher.forges import FORGES, Budget, forge_of
from watcher.forges.values import Forge

NOW = datetime(2026, 8, 20, 9, 0, tzinfo=UTC)


def settings(**given):
    """Return a configuration that watches something."""
    return Settings.model_validate({"pins": [{"upstream": "https://example.org/o/n", "ref": "v1"}], **given})


@pytest.mark.parametrize(
    ("repository", "forges", "kind", "api"),
    [
        ("https://github.com/o/n", {}, "github", "https://api.github.com"),
        ("git@github.com:o/n.git", {}, "github", "https://api.github.com"),
        ("https://github.acme.com/o/n", {}, "github", "https://github.acme.com/api/v3"),
        ("https://git.acme.com/o/n", {"git.acme.com": {"kind": "github"}}, "github", "https://git.acme.com/api/v3"),
        ("https://acme.ghe.com/o/n", {"acme.ghe.com": {"kind": "github"}}, "github", "https://api.acme.ghe.com"),
        ("https://gitlab.com/g/s/n", {}, "gitlab", "https://gitlab.com/api/v4"),
        ("https://salsa.debian.org/g/n", {}, "gitlab", "https://salsa.debian.org/api/v4"),
        ("ssh://git@git.acme.com/g/n", {"git.acme.com": {"kind": "gitlab"}}, "gitlab", "https://git.acme.com/api/v4"),
        ("https://codeberg.org/o/n", {}, "gitea", "https://codeberg.org/api/v1"),
        (
            "https://git.acme.com:8443/o/n",
            {"git.acme.com:8443": {"kind": "gitea"}},
            "gitea",
            "https://git.acme.com:8443/api/v1",
        ),
        (
            "https://git.acme.com/o/n",
            {"git.acme.com": {"kind": "gitlab", "api": "https://acme.com/gitlab/api/v4/"}},
            "gitlab",
            "https://acme.com/gitlab/api/v4",
        ),
    ],
)
def test_where_a_forge_is_asked(repository, forges, kind, api):
    """By the host's name, or as the configuration says."""
    place = settings(forges=forges).forge(repository)
    assert (kind, api, None) == (place.kind, place.api, place.token)


def test_rewrites_are_heeded_where_no_api_is_named():
    """A named one is where the requests really go."""
    rewrites = {"https://api.github.com/": "http://127.0.0.1:1/", "https://acme.com/": "http://127.0.0.1:2/"}
    named = {"git.acme.com": {"kind": "gitlab", "api": "https://acme.com/api/v4"}}
    made = settings(rewrites=rewrites, forges=named)
    assert ["http://127.0.0.1:1", "https://acme.com/api/v4"] == [
        made.forge(it).api for it in ("https://github.com/o/n", "https://git.acme.com/o/n")
    ]


@pytest.mark.parametrize(
    "repository",
    ["https://git.kernel.org/o/n", "https://example.org/o/n", "https://github.com.evil.example/o/n", "file:///srv/n"],
)
def test_a_plain_git_server_has_no_forge(repository):
    """Everything works without one; a host that only looks like GitHub's is asked nothing by GitHub's name."""
    found = settings().forge(repository)
    assert found is None or found.host != "github.com"
    with httpx.Client(trust_env=False) as http:
        asked = forge_of(repository, settings(), http, budget=Budget(left=0), now=NOW)
    assert (asked is None) == (found is None)


def test_a_host_without_a_repository_has_no_forge():
    """One needs an owner and a name."""
    with httpx.Client(trust_env=False) as http:
        assert forge_of("https://gitlab.com/n", settings(), http, budget=Budget(left=0), now=NOW) is None


def test_every_kind_answers_every_question():
    """The table is whole, and each has what the Protocol names."""
    assert set(ForgeKind) == set(FORGES)
    questions = {name for name in vars(Forge) if not name.startswith("_")}
    assert 18 == len(questions)
    for forge in FORGES.values():
        assert set() == {name for name in questions if not callable(getattr(forge, name, None))}
