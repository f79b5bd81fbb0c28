"""Say what a forge knows of a repository, and what a forge can be asked.

All texts are strangers': whatever a person sees of them goes through `report.text.safe` first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal, Protocol

from watcher.model import Oid


class TicketState(StrEnum):
    """How far an issue or a pull request is."""

    OPEN = "open"
    MERGED = "merged"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryFacts:
    """What a forge says of a repository as a whole."""

    id: int
    """Stays when the repository is renamed; another one under the old name is another repository."""
    path: str
    """`owner/name` as it is today: where it is not the path that was asked for, the repository moved."""
    default_branch: str | None
    """None where the repository is empty."""
    is_archived: bool
    is_private: bool
    may_push: bool | None
    """Whether the token may push; None where the forge does not tell, as without a token."""
    parent: str | None
    """The path of the repository that this one is a fork of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PullRequest:
    """A pull or merge request."""

    number: int
    title: str
    url: str
    """Where a browser shows it."""
    state: TicketState
    head: str
    """The branch that it brings."""
    base: str
    """The branch that it is for."""
    labels: tuple[str, ...]
    body: str
    author: str
    merged_as: Oid | None = None
    """The commit as which it landed."""
    is_closed_by_person: bool = False
    """Closed, not merged, and not by the account of the token: nobody wants it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """An issue."""

    number: int
    title: str
    url: str
    """Where a browser shows it."""
    state: TicketState
    labels: tuple[str, ...]
    body: str
    is_closed_by_person: bool = False
    """Closed, and not by the account of the token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefEvent:
    """Something that happened to a ref, as the forge logged it."""

    ref: str
    """Full name: `refs/heads/main`."""
    kind: Literal["forced", "deleted", "created"]
    before: Oid | None
    after: Oid | None
    at: datetime
    actor: str
    """The account; empty where the forge does not tell."""


class Forge(Protocol):
    """One repository on a forge.

    Every question and every deed may raise ForgeError, and ConfigError where the token is not to be had.
    """

    def address(self) -> str:
        """Return where its API answers about the repository as a whole: the answer is kept under that."""

    def repository(self) -> RepositoryFacts:
        """Return what the forge says of the repository as a whole."""

    def pull_of(self, commit: Oid) -> PullRequest | None:
        """Return the pull request with which a commit landed; a merged one wins."""

    def pull(self, number: int) -> PullRequest:
        """Return a pull request."""

    def issue(self, number: int) -> Issue:
        """Return an issue."""

    def linked_issues(self, pull: PullRequest) -> tuple[Issue, ...]:
        """Return the issues that a pull request closes, as far as its text or the forge tells; a few at most."""

    def ref_events(self, ref: str) -> tuple[RefEvent, ...]:
        """Return what is logged of a branch (full name), newest first; nothing where the forge keeps no such log."""

    def find_issues(self, marker: str) -> tuple[Issue, ...]:
        """Return the issues of the token's account, open and closed, whose text holds a marker; newest first."""

    def open_issue(self, title: str, body: str, labels: Sequence[str] = ()) -> Issue:
        """Open an issue."""

    def update_issue(self, number: int, title: str, body: str) -> Issue:
        """Put another title and text in place of an issue's."""

    def close_issue(self, number: int) -> None:
        """Close an issue."""

    def comment(self, number: int, body: str) -> None:
        """Say something below an issue."""

    def find_pulls(self, head: str) -> tuple[PullRequest, ...]:
        """Return the pull requests from branches of this repository whose names begin so, newest first.

        Of closed ones whose branch is deleted, only those of exactly this name are sure to be found.
        """

    def open_pull(self, head: str, base: str, title: str, body: str) -> PullRequest:
        """Open a pull request between two branches of this repository."""

    def update_pull(self, number: int, title: str, body: str) -> PullRequest:
        """Put another title and text in place of a pull request's."""

    def close_pull(self, number: int, comment: str) -> None:
        """Say why, and close a pull request."""

    def branch(self, name: str) -> Oid | None:
        """Return the tip of a branch, or None where there is none of exactly this name."""

    def is_protected(self, branch: str) -> bool:
        """Answer whether a branch refuses a plain push of whoever asks, as far as the forge tells."""
