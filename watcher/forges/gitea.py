"""Ask Gitea, and Forgejo, which has the same API.

The API: https://docs.gitea.com/api/. It has no log of refs, knows labels by number, and tells who closed an issue only
in the issue's timeline.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import quote

from watcher.errors import ForgeError
from watcher.forges import reading
from watcher.forges.client import Client
from watcher.forges.refusals import Aim, without_base
from watcher.forges.values import Issue, PullRequest, RefEvent, RepositoryFacts, TicketState
from watcher.model import Oid

_COLOUR = "#b4b4b4"
"""Of a label that is made: it must have one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gitea:
    """One repository on Gitea or Forgejo."""

    client: Client
    path: str
    """`owner/name`."""

    SCHEME: ClassVar[str] = "token"
    PAGE_SIZE: ClassVar[str] = "limit"
    HEADERS: ClassVar[dict[str, str]] = {}

    def address(self) -> str:
        """Return where the API answers about the repository as a whole."""
        return self.client.address(self._place())

    def repository(self) -> RepositoryFacts:
        """Return what Gitea says of the repository as a whole."""
        aim = self._aim("read", "read:repository")
        found = self.client.get(self._place(), aim)
        return self.client.read(aim, lambda: _repository(found))

    def pull_of(self, commit: Oid) -> PullRequest | None:
        """Return the pull request with which a commit landed."""
        aim = self._aim("read pull requests of", "read:repository")
        found = self.client.get(self._place(f"commits/{commit}/pull"), aim, absent={404}, within=self._place())
        return None if found is None else self._pull(found, aim)

    def pull(self, number: int) -> PullRequest:
        """Return a pull request."""
        aim = self._aim("read pull requests of", "read:repository")
        return self._pull(self.client.get(self._place(f"pulls/{number}"), aim), aim)

    def issue(self, number: int) -> Issue:
        """Return an issue."""
        aim = self._aim("read issues of", "read:issue")
        return self._issue(self.client.get(self._place(f"issues/{number}"), aim), aim)

    def linked_issues(self, pull: PullRequest) -> tuple[Issue, ...]:
        """Return the issues that the text of a pull request closes; a few at most."""
        aim = self._aim("read issues of", "read:issue")
        numbers = reading.closing(pull.body, f"https://{self.client.host}/{self.path}", self.path)[: reading.LINKED]
        found = [
            self.client.get(self._place(f"issues/{it}"), aim, absent={404}, within=self._place()) for it in numbers
        ]
        return tuple(self._issue(it, aim) for it in found if it is not None)

    def ref_events(self, ref: str) -> tuple[RefEvent, ...]:  # noqa: ARG002 - as every forge is asked
        """Return nothing: Gitea keeps no log of refs."""
        return ()

    def find_issues(self, marker: str) -> tuple[Issue, ...]:
        """Return the issues of the token's account, open and closed, whose text holds a marker; newest first."""
        aim = self._aim("read issues of", "read:issue")
        login = self._login()
        asked = {"state": "all", "type": "issues"} | ({"created_by": login} if login else {})
        items = self.client.pages(self._place("issues"), aim, asked)
        wanted = self.client.read(aim, lambda: [it for it in items if marker in reading.text(it["body"])])
        return tuple(self._issue(it, aim) for it in wanted)

    def open_issue(self, title: str, body: str, labels: Sequence[str] = ()) -> Issue:
        """Open an issue; labels that are not there yet are made, or left out where the token may not make them."""
        aim = self._aim("open issues in", "write:issue")
        numbers = [number for name in labels if (number := self._label(name, aim)) is not None]
        sent = {"title": reading.title(title), "body": body, "labels": numbers}
        return self._issue(self.client.send("POST", self._place("issues"), aim, sent), aim)

    def update_issue(self, number: int, title: str, body: str) -> Issue:
        """Put another title and text in place of an issue's."""
        aim = self._aim("edit issues in", "write:issue")
        sent = {"title": reading.title(title), "body": body}
        return self._issue(self.client.send("PATCH", self._place(f"issues/{number}"), aim, sent), aim)

    def close_issue(self, number: int) -> None:
        """Close an issue."""
        aim = self._aim("close issues in", "write:issue")
        self.client.send("PATCH", self._place(f"issues/{number}"), aim, {"state": "closed"})

    def comment(self, number: int, body: str) -> None:
        """Say something below an issue or a pull request, which Gitea counts as one."""
        aim = self._aim("comment in", "write:issue")
        self.client.send("POST", self._place(f"issues/{number}/comments"), aim, {"body": body})

    def find_pulls(self, head: str) -> tuple[PullRequest, ...]:
        """Return the pull requests from branches of this repository whose names begin so, newest first."""
        aim = self._aim("read pull requests of", "read:repository")
        login = self._login()
        asked = {"state": "all"} | ({"poster": login} if login else {})
        items = self.client.pages(self._place("pulls"), aim, asked)
        ours = self.client.read(aim, lambda: [it for it in items if _is_ours(it) and _head(it).startswith(head)])
        found = (self._pull(it, aim) for it in ours)
        return tuple(sorted(found, key=lambda it: it.number, reverse=True))

    def open_pull(self, head: str, base: str, title: str, body: str) -> PullRequest:
        """Open a pull request between two branches of this repository."""
        aim = self._aim("open pull requests in", "write:repository")
        sent = {"head": head, "base": base, "title": reading.title(title), "body": body}
        try:
            made = self.client.send("POST", self._place("pulls"), aim, sent)
        except ForgeError as error:
            raise without_base(error, base, self) from None
        return self._pull(made, aim)

    def update_pull(self, number: int, title: str, body: str) -> PullRequest:
        """Put another title and text in place of a pull request's."""
        aim = self._aim("edit pull requests in", "write:repository")
        sent = {"title": reading.title(title), "body": body}
        return self._pull(self.client.send("PATCH", self._place(f"pulls/{number}"), aim, sent), aim)

    def close_pull(self, number: int, comment: str) -> None:
        """Say why, and close a pull request."""
        self.comment(number, comment)
        aim = self._aim("close pull requests in", "write:repository")
        self.client.send("PATCH", self._place(f"pulls/{number}"), aim, {"state": "closed"})

    def branch(self, name: str) -> Oid | None:
        """Return the tip of a branch, or None where there is none of exactly this name."""
        aim = self._aim("read branches of", "read:repository")
        found = self._branch(name, aim)
        return self.client.read(aim, lambda: reading.commit(found["commit"]["id"]) if found else None)

    def is_protected(self, branch: str) -> bool:
        """Answer whether a branch refuses a plain push of the token's account."""
        aim = self._aim("read branches of", "read:repository")
        found = self._branch(branch, aim)
        return self.client.read(
            aim, lambda: bool(found and found["protected"] is True and found.get("user_can_push") is not True)
        )

    # --- what several of them need -----------------------------------------------------------------------------------

    def _place(self, below: str = "") -> str:
        path = "/".join(quote(part, safe="") for part in self.path.split("/"))
        return f"repos/{path}/{below}" if below else f"repos/{path}"

    def _aim(self, what: str, needs: str) -> Aim:
        return Aim(what=f"{what} {self.path}", needs=f"the scope {needs}")

    def _login(self) -> str | None:
        return self.client.login("user", "login")

    def _branch(self, name: str, aim: Aim) -> Any | None:
        """Return a branch of exactly this name, also where the forge follows a renamed one."""
        found = self.client.get(self._place(f"branches/{quote(name, safe='/')}"), aim, absent={404})
        return found if found and self.client.read(aim, lambda: found["name"] == name) else None

    def _label(self, name: str, aim: Aim) -> int | None:
        """Return the number of a label, which is made where it is not there yet."""
        known = self.client.pages(self._place("labels"), aim)
        number = self.client.read(aim, lambda: next((it["id"] for it in known if it["name"] == name), None))
        if number is None:
            try:
                made = self.client.send("POST", self._place("labels"), aim, {"name": name, "color": _COLOUR})
            except ForgeError as error:
                if error.kind == "forbidden":
                    return None
                raise
            number = self.client.read(aim, lambda: made["id"])
        return self.client.read(aim, lambda: reading.number(number))

    def _pull(self, found: Any, aim: Aim) -> PullRequest:
        pull = self.client.read(aim, lambda: _pull(found, is_closed_by_person=False))
        if pull.state is not TicketState.CLOSED or not self._is_by_person(pull.number, aim):
            return pull
        return _pull(found, is_closed_by_person=True)

    def _issue(self, found: Any, aim: Aim) -> Issue:
        issue = self.client.read(aim, lambda: _issue(found, is_closed_by_person=False))
        if issue.state is not TicketState.CLOSED or not self._is_by_person(issue.number, aim):
            return issue
        return _issue(found, is_closed_by_person=True)

    def _is_by_person(self, number: int, aim: Aim) -> bool:
        """Answer whether the last one to close it was somebody other than the token's account."""
        events = self.client.pages(self._place(f"issues/{number}/timeline"), aim)
        closers = self.client.read(
            aim, lambda: [(it.get("user") or {}).get("login") for it in events if it["type"] == "close"]
        )
        return not closers or closers[-1] != self._login()


def _head(found: Any) -> str:
    """Return the branch of a pull request: once it is deleted, only the label knows its name."""
    ref = reading.text(found["head"]["ref"])
    return reading.text(found["head"]["label"]) if ref.startswith("refs/pull/") else ref


def _is_ours(found: Any) -> bool:
    return bool(found["head"]["repo_id"] == found["base"]["repo_id"])


def _repository(found: Any) -> RepositoryFacts:
    rights, parent = found.get("permissions"), found.get("parent")
    return RepositoryFacts(
        id=reading.number(found["id"]),
        path=reading.text(found["full_name"]),
        default_branch=None if found.get("empty") is True else reading.text(found.get("default_branch")) or None,
        is_archived=found.get("archived") is True,
        is_private=found["private"] is True or found.get("internal") is True,
        may_push=rights["push"] is True if rights else None,
        parent=reading.text(parent["full_name"]) if parent else None,
    )


def _pull(found: Any, *, is_closed_by_person: bool) -> PullRequest:
    is_merged = found["merged"] is True
    is_open = found["state"] == "open"
    return PullRequest(
        number=reading.number(found["number"]),
        title=reading.text(found["title"]),
        url=reading.link(found["html_url"]),
        state=TicketState.MERGED if is_merged else TicketState.OPEN if is_open else TicketState.CLOSED,
        head=_head(found),
        base=reading.text(found["base"]["ref"]),
        labels=reading.labels(found["labels"]),
        body=reading.text(found["body"]),
        author=reading.text((found.get("user") or {}).get("login")),
        merged_as=reading.commit(found.get("merge_commit_sha")) if is_merged else None,
        is_closed_by_person=is_closed_by_person,
    )


def _issue(found: Any, *, is_closed_by_person: bool) -> Issue:
    return Issue(
        number=reading.number(found["number"]),
        title=reading.text(found["title"]),
        url=reading.link(found["html_url"]),
        state=TicketState.OPEN if found["state"] == "open" else TicketState.CLOSED,
        labels=reading.labels(found["labels"]),
        body=reading.text(found["body"]),
        is_closed_by_person=is_closed_by_person,
    )
