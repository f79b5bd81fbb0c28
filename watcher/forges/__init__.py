"""What the forge knows of a repository beyond git: pull requests, issues, names, rights, and how a ref was lost.

A plain git server works without any of it: `forge_of` returns None there.
"""

import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

import httpx

from watcher.address import one_spelling
from watcher.config import ForgeKind, ForgePlace, Secret, Settings
from watcher.forges.client import Budget, Client, Credentials, Memory, connect
from watcher.forges.gitea import Gitea
from watcher.forges.github import GitHub
from watcher.forges.gitlab import GitLab
from watcher.forges.values import Forge, Issue, PullRequest, RefEvent, RepositoryFacts, TicketState

__all__ = [
    "FORGES",
    "Budget",
    "Forge",
    "Issue",
    "Memory",
    "PullRequest",
    "RefEvent",
    "RepositoryFacts",
    "TicketState",
    "connect",
    "forge_at",
    "forge_of",
]

FORGES: Mapping[ForgeKind, type[GitHub] | type[GitLab] | type[Gitea]] = {
    ForgeKind.GITHUB: GitHub,
    ForgeKind.GITLAB: GitLab,
    ForgeKind.GITEA: Gitea,
}
"""Each kind of forge, and who asks it."""


def forge_of(
    repository: str,
    settings: Settings,
    http: httpx.Client,
    *,
    budget: Budget,
    now: datetime,
    memory: Memory | None = None,
) -> Forge | None:
    """Return the forge that a repository's address names; None where it is a plain git server, as far as is known.

    `http` is made by `connect` and shared by a run, as `budget` is; `memory` is the store.
    """
    place = settings.forge(repository)
    return None if place is None else forge_at(repository, place, http, budget=budget, now=now, memory=memory)


def forge_at(
    repository: str,
    place: ForgePlace,
    http: httpx.Client,
    *,
    budget: Budget,
    now: datetime,
    memory: Memory | None = None,
) -> Forge | None:
    """Return the forge at a place, for a repository there; None for an address that names none."""
    path = one_spelling(repository).partition("://")[2].partition("/")[2]
    if "/" not in path:
        return None
    sort = FORGES[place.kind]
    client = Client(
        http,
        host=place.host,
        api=place.api,
        budget=budget,
        now=now,
        credentials=_credentials(place.token),
        scheme=sort.SCHEME,
        page_size=sort.PAGE_SIZE,
        headers=sort.HEADERS,
        memory=memory,
    )
    return sort(client=client, path=path)


def _credentials(token: Secret | None) -> Credentials | None:
    if token is None:
        return None
    return Credentials(place=str(token), token=lambda: token.reveal(os.environ, Path.read_text))
