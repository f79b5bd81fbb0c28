"""Ask GitHub, and GitHub Enterprise on a host of one's own.

The API: https://docs.github.com/en/rest. Old versions of Enterprise lack the activity of a repository and rules of
branches: what they answer 404 to is not told.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal
from urllib.parse import quote

from watcher.errors import ForgeError
from watcher.forges import reading
from watcher.forges.client import Client
from watcher.forges.refusals import Aim, without_base
from watcher.forges.values import Issue, PullRequest, RefEvent, RepositoryFacts, TicketState
from watcher.model import Oid

_Kind = Literal["forced", "deleted", "created"]
_EVENTS: Mapping[str, _Kind] = {
    "force_push": "forced",
    "branch_deletion": "deleted",
    "branch_creation": "created",
}
_BARRED = frozenset({"creation", "update", "pull_request"})
"""The rules of a branch that keep a plain push out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitHub:
    """One repository on GitHub."""

    client: Client
    path: str
    """`owner/name`."""

    SCHEME: ClassVar[str] = "Bearer"
    PAGE_SIZE: ClassVar[str] = "per_page"
    HEADERS: ClassVar[Mapping[str, str]] = {
        "Accept": "application/vnd.github+json",
        "X-GitHub-Api-Version": "2022-11-28",
    }

    def address(self) -> str:
        """Return where the API answers about the repository as a whole."""
        return self.client.address(self._place())

    def repository(self) -> RepositoryFacts:
        """Return what GitHub says of the repository as a whole."""
        aim = self._aim("read", "Metadata: read")
        found = self.client.get(self._place(), aim)
        return self.client.read(aim, lambda: _repository(found))

    def pull_of(self, commit: Oid) -> PullRequest | None:
        """Return the pull request with which a commit landed; a merged one wins."""
        aim = self._aim("read pull requests of", "Pull requests: read")
        # 422 is what is said of a commit that the repository does not have.
        found = self.client.get(self._place(f"commits/{commit}/pulls"), aim, absent={409, 422})
        pulls = self.client.read(aim, lambda: [_pull(it, is_closed_by_person=False) for it in found or ()])
        return reading.landed(pulls, commit)

    def pull(self, number: int) -> PullRequest:
        """Return a pull request."""
        aim = self._aim("read pull requests of", "Pull requests: read")
        return self._told(self.client.get(self._place(f"pulls/{number}"), aim), aim)

    def issue(self, number: int) -> Issue:
        """Return an issue."""
        aim = self._aim("read issues of", "Issues: read")
        return self._issue(self.client.get(self._place(f"issues/{number}"), aim), aim)

    def linked_issues(self, pull: PullRequest) -> tuple[Issue, ...]:
        """Return the issues that the text of a pull request closes; a few at most."""
        aim = self._aim("read issues of", "Issues: read")
        numbers = reading.closing(pull.body, f"https://{self.client.host}/{self.path}", self.path)[: reading.LINKED]
        # 410 is what is said of an issue that was deleted, and where issues are switched off.
        found = [
            self.client.get(self._place(f"issues/{it}"), aim, absent={404, 410}, within=self._place()) for it in numbers
        ]
        return tuple(self._issue(it, aim) for it in found if it is not None)

    def ref_events(self, ref: str) -> tuple[RefEvent, ...]:
        """Return when a branch (full name) was forced, deleted and created, newest first; the last page of each."""
        aim = self._aim("read the activity of", "Contents: read")
        found: list[RefEvent] = []
        for sort, kind in _EVENTS.items():
            asked = {"ref": ref, "activity_type": sort}
            events = self.client.get(self._place("activity"), aim, asked, absent={404})
            found += self.client.read(aim, partial(_events, events or (), kind))
        return tuple(sorted((it for it in found if it.ref == ref), key=lambda it: it.at, reverse=True))

    def find_issues(self, marker: str) -> tuple[Issue, ...]:
        """Return the issues of the token's account, open and closed, whose text holds a marker; newest first."""
        aim = self._aim("read issues of", "Issues: read")
        asked = {"state": "all", "sort": "created", "direction": "desc"}
        login = self._login()
        items = self.client.pages(self._place("issues"), aim, asked | ({"creator": login} if login else {}))
        numbers = self.client.read(
            aim, lambda: [reading.number(it["number"]) for it in items if _is_marked(it, marker)]
        )
        # A list does not tell who closed an issue.
        return tuple(self.issue(number) for number in numbers)

    def open_issue(self, title: str, body: str, labels: Sequence[str] = ()) -> Issue:
        """Open an issue; labels that are not there yet are made."""
        aim = self._aim("open issues in", "Issues: write")
        sent = {"title": reading.title(title), "body": body, "labels": list(labels)}
        made = self.client.send("POST", self._place("issues"), aim, sent)
        return self.client.read(aim, lambda: _issue(made, is_closed_by_person=False))

    def update_issue(self, number: int, title: str, body: str) -> Issue:
        """Put another title and text in place of an issue's."""
        aim = self._aim("edit issues in", "Issues: write")
        sent = {"title": reading.title(title), "body": body}
        return self._issue(self.client.send("PATCH", self._place(f"issues/{number}"), aim, sent), aim)

    def close_issue(self, number: int) -> None:
        """Close an issue."""
        aim = self._aim("close issues in", "Issues: write")
        self.client.send("PATCH", self._place(f"issues/{number}"), aim, {"state": "closed"})

    def comment(self, number: int, body: str) -> None:
        """Say something below an issue or a pull request, which GitHub counts as one."""
        aim = self._aim("comment in", "Issues: write, Pull requests: write")
        self.client.send("POST", self._place(f"issues/{number}/comments"), aim, {"body": body})

    def find_pulls(self, head: str) -> tuple[PullRequest, ...]:
        """Return the pull requests from branches of this repository whose names begin so, newest first."""
        aim = self._aim("read pull requests of", "Pull requests: read")
        refs = self.client.get(self._place(f"git/matching-refs/heads/{_quoted(head)}"), aim, absent={409}) or ()
        names = self.client.read(aim, lambda: [reading.text(it["ref"]).removeprefix("refs/heads/") for it in refs])
        found: dict[int, PullRequest] = {}
        owner = self.path.partition("/")[0]
        for name in dict.fromkeys([head, *names[-reading.BRANCHES :]]):
            asked = {"head": f"{owner}:{name}", "state": "all"}
            pulls = (self._told(it, aim) for it in self.client.pages(self._place("pulls"), aim, asked, most=1))
            found |= {it.number: it for it in pulls if it.head == name}
        return tuple(sorted(found.values(), key=lambda it: it.number, reverse=True))

    def open_pull(self, head: str, base: str, title: str, body: str) -> PullRequest:
        """Open a pull request between two branches of this repository."""
        aim = self._aim("open pull requests in", "Pull requests: write")
        sent = {"head": head, "base": base, "title": reading.title(title), "body": body}
        try:
            made = self.client.send("POST", self._place("pulls"), aim, sent)
        except ForgeError as error:
            raise without_base(error, base, self) from None
        return self.client.read(aim, lambda: _pull(made, is_closed_by_person=False))

    def update_pull(self, number: int, title: str, body: str) -> PullRequest:
        """Put another title and text in place of a pull request's."""
        aim = self._aim("edit pull requests in", "Pull requests: write")
        sent = {"title": reading.title(title), "body": body}
        return self._told(self.client.send("PATCH", self._place(f"pulls/{number}"), aim, sent), aim)

    def close_pull(self, number: int, comment: str) -> None:
        """Say why, and close a pull request."""
        self.comment(number, comment)
        aim = self._aim("close pull requests in", "Pull requests: write")
        self.client.send("PATCH", self._place(f"pulls/{number}"), aim, {"state": "closed"})

    def branch(self, name: str) -> Oid | None:
        """Return the tip of a branch, or None where there is none of exactly this name.

        By the ref: where a branch was renamed, GitHub's answer about branches is one about the new name.
        """
        aim = self._aim("read branches of", "Contents: read")
        # 409 is what is said of a repository that is empty.
        found = self.client.get(self._place(f"git/ref/heads/{_quoted(name)}"), aim, absent={404, 409})
        return self.client.read(aim, lambda: reading.commit(found["object"]["sha"]) if found else None)

    def is_protected(self, branch: str) -> bool:
        """Answer whether a branch refuses a plain push, by its own protection or by a rule."""
        aim = self._aim("read branches of", "Contents: read")
        found = self.client.get(self._place(f"branches/{_quoted(branch)}"), aim, absent={404})
        if found and self.client.read(aim, lambda: found["name"] == branch and found["protected"] is True):
            return True
        rules = self.client.get(self._place(f"rules/branches/{_quoted(branch)}"), aim, absent={404})
        return self.client.read(aim, lambda: any(it["type"] in _BARRED for it in rules or ()))

    # --- what several of them need -----------------------------------------------------------------------------------

    def _place(self, below: str = "") -> str:
        path = "/".join(quote(part, safe="") for part in self.path.split("/"))
        return f"repos/{path}/{below}" if below else f"repos/{path}"

    def _aim(self, what: str, needs: str) -> Aim:
        return Aim(what=f"{what} {self.path}", needs=needs)

    def _login(self) -> str | None:
        return self.client.login("user", "login")

    def _issue(self, found: Any, aim: Aim) -> Issue:
        return self.client.read(aim, lambda: _issue(found, is_closed_by_person=self._is_by_person(found)))

    def _told(self, found: Any, aim: Aim) -> PullRequest:
        """Return a pull request, and whether a person closed it: of pull requests only the issue's side tells that."""
        pull = self.client.read(aim, lambda: _pull(found, is_closed_by_person=False))
        if pull.state is not TicketState.CLOSED:
            return pull
        issue = self.client.get(self._place(f"issues/{pull.number}"), aim, absent={404}) or {"state": "closed"}
        return self.client.read(aim, lambda: _pull(found, is_closed_by_person=self._is_by_person(issue)))

    def _is_by_person(self, found: Any) -> bool:
        """Answer whether somebody other than the token's account closed it; nobody is somebody who left GitHub."""
        if found["state"] != "closed":
            return False
        by = found.get("closed_by") or {}
        login = self._login()
        return by.get("login") != login if login else by.get("type") != "Bot"


def _quoted(name: str) -> str:
    return quote(name, safe="/")


def _body(found: Any) -> str:
    return reading.text(found["body"])


def _repository(found: Any) -> RepositoryFacts:
    rights, parent = found.get("permissions"), found.get("parent")
    return RepositoryFacts(
        id=reading.number(found["id"]),
        path=reading.text(found["full_name"]),
        default_branch=reading.text(found.get("default_branch")) or None,
        is_archived=found.get("archived") is True,
        is_private=found["private"] is True,
        may_push=rights["push"] is True if rights else None,
        parent=reading.text(parent["full_name"]) if parent else None,
    )


def _pull(found: Any, *, is_closed_by_person: bool) -> PullRequest:
    is_merged = bool(found.get("merged_at"))
    is_open = found["state"] == "open"
    return PullRequest(
        number=reading.number(found["number"]),
        title=reading.text(found["title"]),
        url=reading.link(found["html_url"]),
        state=TicketState.MERGED if is_merged else TicketState.OPEN if is_open else TicketState.CLOSED,
        head=reading.text(found["head"]["ref"]),
        base=reading.text(found["base"]["ref"]),
        labels=reading.labels(found["labels"]),
        body=_body(found),
        author=reading.text((found.get("user") or {}).get("login")),
        # Of one that is not merged, it is the commit of a trial.
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
        body=_body(found),
        is_closed_by_person=is_closed_by_person,
    )


def _is_marked(found: Any, marker: str) -> bool:
    """Answer whether it is an issue that holds the marker: GitHub lists pull requests among them."""
    return "pull_request" not in found and marker in _body(found)


def _events(found: Any, kind: _Kind) -> list[RefEvent]:
    return [_event(it, kind) for it in found]


def _event(found: Any, kind: _Kind) -> RefEvent:
    return RefEvent(
        ref=reading.text(found["ref"]),
        kind=kind,
        before=reading.commit(found["before"]),
        after=reading.commit(found["after"]),
        at=reading.time(found["timestamp"]),
        actor=reading.text((found.get("actor") or {}).get("login")),
    )
