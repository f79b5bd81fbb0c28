"""Ask GitLab.

The API: https://docs.gitlab.com/api/rest/. What it calls a merge request is a pull request here; numbers are those
within the project, which it calls `iid`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import quote

from watcher.errors import ForgeError
from watcher.forges import reading
from watcher.forges.client import Client
from watcher.forges.refusals import Aim, without_base
from watcher.forges.values import Issue, PullRequest, RefEvent, RepositoryFacts, TicketState
from watcher.model import Oid

_STATES = {"opened": TicketState.OPEN, "locked": TicketState.OPEN, "merged": TicketState.MERGED}
_DEVELOPER = 30
"""The access level from which on an account may push."""
_EVENT_PAGES = 3
_COMMAND = re.compile(r"^([ \t]*)/(?=[a-z])", re.MULTILINE)
"""A line that GitLab would carry out when it stands in a text: /close, /assign, /merge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitLab:
    """One repository on GitLab."""

    client: Client
    path: str
    """`group/name`, or deeper."""

    SCHEME: ClassVar[str] = "Bearer"
    PAGE_SIZE: ClassVar[str] = "per_page"
    HEADERS: ClassVar[Mapping[str, str]] = {}

    def address(self) -> str:
        """Return where the API answers about the repository as a whole."""
        return self.client.address(self._place())

    def repository(self) -> RepositoryFacts:
        """Return what GitLab says of the repository as a whole."""
        aim = self._aim("read", "the scope read_api")
        found = self.client.get(self._place(), aim)
        return self.client.read(aim, lambda: _repository(found))

    def pull_of(self, commit: Oid) -> PullRequest | None:
        """Return the merge request with which a commit landed; a merged one wins."""
        aim = self._aim("read merge requests of", "the scope read_api")
        found = self.client.get(
            self._place(f"repository/commits/{commit}/merge_requests"), aim, absent={404}, within=self._place()
        )
        pulls = self.client.read(aim, lambda: [_pull(it, None) for it in found or ()])
        return reading.landed(pulls, commit)

    def pull(self, number: int) -> PullRequest:
        """Return a merge request."""
        aim = self._aim("read merge requests of", "the scope read_api")
        return self._pull(self.client.get(self._place(f"merge_requests/{number}"), aim), aim)

    def issue(self, number: int) -> Issue:
        """Return an issue."""
        aim = self._aim("read issues of", "the scope read_api")
        return self._issue(self.client.get(self._place(f"issues/{number}"), aim), aim)

    def linked_issues(self, pull: PullRequest) -> tuple[Issue, ...]:
        """Return the issues that GitLab would close with a merge request; a few at most."""
        aim = self._aim("read issues of", "the scope read_api")
        found = (
            self.client.get(
                self._place(f"merge_requests/{pull.number}/closes_issues"), aim, absent={404}, within=self._place()
            )
            or ()
        )
        # Issues of another tracker have no number here.
        ours = self.client.read(aim, lambda: [it for it in found if "iid" in it][: reading.LINKED])
        return tuple(self._issue(it, aim) for it in ours)

    def ref_events(self, ref: str) -> tuple[RefEvent, ...]:
        """Return when a branch (full name) was created and deleted, newest first.

        A forced push looks like any other in GitLab's log, so none is told.
        """
        aim = self._aim("read the events of", "the scope read_api")
        found = self.client.pages(self._place("events"), aim, {"action": "pushed"}, most=_EVENT_PAGES)
        events = self.client.read(aim, lambda: [event for it in found if (event := _event(it))])
        return tuple(sorted((it for it in events if it.ref == ref), key=lambda it: it.at, reverse=True))

    def find_issues(self, marker: str) -> tuple[Issue, ...]:
        """Return the issues of the token's account, open and closed, whose text holds a marker; newest first."""
        aim = self._aim("read issues of", "the scope read_api")
        asked = {"state": "all", "order_by": "created_at", "sort": "desc"}
        mine = {"scope": "created_by_me"} if self._login() else {}
        items = self.client.pages(self._place("issues"), aim, asked | mine)
        wanted = self.client.read(aim, lambda: [it for it in items if marker in reading.text(it["description"])])
        return tuple(self._issue(it, aim) for it in wanted)

    def open_issue(self, title: str, body: str, labels: Sequence[str] = ()) -> Issue:
        """Open an issue; labels that are not there yet are made."""
        aim = self._aim("open issues in", "the scope api and the role Reporter")
        sent = _sent(title, body) | {"labels": ",".join(labels)}
        return self._issue(self._write("POST", "issues", aim, sent), aim)

    def update_issue(self, number: int, title: str, body: str) -> Issue:
        """Put another title and text in place of an issue's."""
        aim = self._aim("edit issues in", "the scope api and the role Reporter")
        return self._issue(self._write("PUT", f"issues/{number}", aim, _sent(title, body)), aim)

    def close_issue(self, number: int) -> None:
        """Close an issue."""
        aim = self._aim("close issues in", "the scope api and the role Reporter")
        self._write("PUT", f"issues/{number}", aim, {"state_event": "close"})

    def comment(self, number: int, body: str) -> None:
        """Say something below an issue."""
        aim = self._aim("comment in", "the scope api and the role Reporter")
        self._write("POST", f"issues/{number}/notes", aim, {"body": _harmless(body)})

    def find_pulls(self, head: str) -> tuple[PullRequest, ...]:
        """Return the merge requests from branches of this repository whose names begin so, newest first."""
        aim = self._aim("read merge requests of", "the scope read_api")
        branches = self.client.pages(self._place("repository/branches"), aim, {"search": f"^{head}"}, most=1)
        names = self.client.read(aim, lambda: [reading.text(it["name"]) for it in branches])
        found: dict[int, PullRequest] = {}
        for name in dict.fromkeys([head, *names[-reading.BRANCHES :]]):
            asked = {"source_branch": name, "state": "all", "scope": "all"}
            items = self.client.pages(self._place("merge_requests"), aim, asked, most=1)
            ours = self.client.read(aim, lambda: [it for it in items if _is_ours(it)])  # noqa: B023 - called at once
            found |= {it.number: it for it in (self._pull(item, aim) for item in ours)}
        return tuple(sorted(found.values(), key=lambda it: it.number, reverse=True))

    def open_pull(self, head: str, base: str, title: str, body: str) -> PullRequest:
        """Open a merge request between two branches of this repository."""
        aim = self._aim("open merge requests in", "the scope api and the role Developer")
        sent = _sent(title, body) | {"source_branch": head, "target_branch": base}
        try:
            made = self._write("POST", "merge_requests", aim, sent)
        except ForgeError as error:
            raise without_base(error, base, self) from None
        return self._pull(made, aim)

    def update_pull(self, number: int, title: str, body: str) -> PullRequest:
        """Put another title and text in place of a merge request's."""
        aim = self._aim("edit merge requests in", "the scope api and the role Developer")
        return self._pull(self._write("PUT", f"merge_requests/{number}", aim, _sent(title, body)), aim)

    def close_pull(self, number: int, comment: str) -> None:
        """Say why, and close a merge request."""
        aim = self._aim("close merge requests in", "the scope api and the role Developer")
        self._write("POST", f"merge_requests/{number}/notes", aim, {"body": _harmless(comment)})
        self._write("PUT", f"merge_requests/{number}", aim, {"state_event": "close"})

    def branch(self, name: str) -> Oid | None:
        """Return the tip of a branch, or None where there is none of exactly this name."""
        aim = self._aim("read branches of", "the scope read_api")
        found = self._branch(name, aim)
        return self.client.read(aim, lambda: reading.commit(found["commit"]["id"]) if found else None)

    def is_protected(self, branch: str) -> bool:
        """Answer whether a branch refuses a plain push of the token's account."""
        aim = self._aim("read branches of", "the scope read_api")
        found = self._branch(branch, aim)
        return self.client.read(
            aim, lambda: bool(found and found["protected"] is True and found.get("can_push") is not True)
        )

    # --- what several of them need -----------------------------------------------------------------------------------

    def _place(self, below: str = "") -> str:
        project = f"projects/{quote(self.path, safe='')}"
        return f"{project}/{below}" if below else project

    def _aim(self, what: str, needs: str) -> Aim:
        return Aim(what=f"{what} {self.path}", needs=needs)

    def _login(self) -> str | None:
        return self.client.login("user", "username")

    def _branch(self, name: str, aim: Aim) -> Any | None:
        return self.client.get(self._place(f"repository/branches/{quote(name, safe='')}"), aim, absent={404})

    def _write(self, method: str, below: str, aim: Aim, body: Mapping[str, Any]) -> Any:
        """Have something done. Of an archived project GitLab says only that it may not be: then look why."""
        try:
            return self.client.send(method, self._place(below), aim, body)
        except ForgeError as error:
            if error.kind != "forbidden" or not self.repository().is_archived:
                raise
            raise ForgeError(
                f"cannot {aim.what}: the repository is archived, and so only read", kind="archived"
            ) from None

    def _pull(self, found: Any, aim: Aim) -> PullRequest:
        return self.client.read(aim, lambda: _pull(found, self._closer(found)))

    def _issue(self, found: Any, aim: Aim) -> Issue:
        return self.client.read(aim, lambda: _issue(found, self._closer(found)))

    def _closer(self, found: Any) -> str | None:
        """Return who closed it where that was a person, as far as is known; None where nobody did."""
        if found["state"] != "closed":
            return None
        by = reading.text((found.get("closed_by") or {}).get("username")) or "somebody"
        return None if by == self._login() else by


def _sent(title: str, body: str) -> dict[str, str]:
    return {"title": reading.title(title), "description": _harmless(body)}


def _harmless(body: str) -> str:
    """Return a text of which GitLab carries nothing out."""
    return _COMMAND.sub(r"\1\\/", body)


def _is_ours(found: Any) -> bool:
    return bool(found["source_project_id"] == found["target_project_id"])


def _repository(found: Any) -> RepositoryFacts:
    parent, rights = found.get("forked_from_project"), found.get("permissions")
    levels = [it["access_level"] for it in (rights or {}).values() if it]
    return RepositoryFacts(
        id=reading.number(found["id"]),
        path=reading.text(found["path_with_namespace"]),
        default_branch=reading.text(found.get("default_branch")) or None,
        is_archived=found.get("archived") is True,
        is_private=found.get("visibility", "public") != "public",
        may_push=None if rights is None else max(levels, default=0) >= _DEVELOPER,
        parent=reading.text(parent["path_with_namespace"]) if parent else None,
    )


def _pull(found: Any, closer: str | None) -> PullRequest:
    state = _STATES.get(found["state"], TicketState.CLOSED)
    landed = found.get("merge_commit_sha") or found.get("squash_commit_sha") or found.get("sha")
    return PullRequest(
        number=reading.number(found["iid"]),
        title=reading.text(found["title"]),
        url=reading.link(found["web_url"]),
        state=state,
        head=reading.text(found["source_branch"]),
        base=reading.text(found["target_branch"]),
        labels=reading.labels(found["labels"]),
        body=reading.text(found["description"]),
        author=reading.text((found.get("author") or {}).get("username")),
        merged_as=reading.commit(landed) if state is TicketState.MERGED else None,
        is_closed_by_person=closer is not None,
    )


def _issue(found: Any, closer: str | None) -> Issue:
    return Issue(
        number=reading.number(found["iid"]),
        title=reading.text(found["title"]),
        url=reading.link(found["web_url"]),
        state=_STATES.get(found["state"], TicketState.CLOSED),
        labels=reading.labels(found["labels"]),
        body=reading.text(found["description"]),
        is_closed_by_person=closer is not None,
    )


def _event(found: Any) -> RefEvent | None:
    """Return what a push did to a branch, unless it only moved it."""
    push = found.get("push_data") or {}
    if push.get("action") not in {"removed", "created"} or push.get("ref_type") != "branch":
        return None
    return RefEvent(
        ref=f"refs/heads/{reading.text(push['ref'])}",
        kind="deleted" if push["action"] == "removed" else "created",
        before=reading.commit(push.get("commit_from")),
        after=reading.commit(push.get("commit_to")),
        at=reading.time(found["created_at"]),
        actor=reading.text(found.get("author_username")),
    )
