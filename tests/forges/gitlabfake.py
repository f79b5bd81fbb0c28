"""A GitLab on loopback: its documented answers, as far as they are read, and its documented requests."""

from collections.abc import Callable
from typing import Any

from tests.forges.forgefake import TIME, Asked, Fake, Repository, Ticket, Told

_PAGED = {"page", "per_page"}
_QUERIES = {
    "issues": {"state", "scope", "order_by", "sort", *_PAGED},
    "merge_requests": {"state", "scope", "source_branch", *_PAGED},
    "events": {"action", *_PAGED},
    "branches": {"search", *_PAGED},
}
"""The last part of a list's path → the parameters that it takes."""
_BODIES = {
    "issues": {"title", "description", "labels"},
    "merge_requests": {"title", "description", "source_branch", "target_branch"},
    "notes": {"body"},
    "": {"title", "description", "state_event"},
}
"""The last part of a path → the keys that a request may have; `` for one ticket."""


class GitLabFake(Fake):
    """GitLab's API, as far as it is asked. It carries out what stands in a text: /close."""

    API = "/api/v4"

    def checked(self, asked: Asked, route: Callable[[Asked], Told]) -> Told:
        """Complain of a parameter or a key that GitLab does not know."""
        last = asked.path[-1]
        unknown = asked.query.keys() - _QUERIES.get(last, set())
        unknown |= (asked.body or {}).keys() - _BODIES.get("" if last.isdecimal() else last, set())
        self.complaints += [f"{asked.method} {asked.place}: {it} is not known" for it in unknown]
        return route(asked)

    def route(self, asked: Asked) -> Told:
        """Return the right answer."""
        match asked.path:
            case ["user"]:
                if asked.account is None:
                    return Told(status=401, body={"message": "401 Unauthorized"})
                return Told(body={"id": 1, "username": asked.account.login})
            case ["projects", project, *rest]:
                if project in self.moved:
                    number = self.repositories[self.moved[project]].id
                    place = f"{self.api}/" + "/".join(["projects", str(number), *rest])
                    words = f"This resource has been moved permanently to {place}"
                    return Told(status=301, body={"message": words}, headers={"Location": place})
                found = [it for path, it in self.repositories.items() if project in {path, str(it.id)}]
                if not found or (found[0].is_private and asked.account is None):
                    return Told(status=404, body={"message": "404 Project Not Found"})
                return self._of(found[0], asked, rest)
        return Told(status=404, body={"error": "404 Not Found"})

    def _of(self, repository: Repository, asked: Asked, rest: list[str]) -> Told:
        if refusal := _refusal(repository, asked):
            return refusal
        match asked.method, rest:
            case "GET", []:
                return Told(body=_project(repository, asked))
            case "GET", ["events"]:
                return self.page(asked, _events(repository))
            case "GET", ["repository", "branches"]:
                begin = asked.query.get("search", "").removeprefix("^")
                found = [_branch(repository, it) for it in sorted(repository.branches) if it.startswith(begin)]
                return self.page(asked, found)
            case "GET", ["repository", "branches", name]:
                is_there = name in repository.branches
                return Told(body=_branch(repository, name)) if is_there else _missing("Branch")
            case "GET", ["repository", "commits", commit, "merge_requests"]:
                if commit == "0" * 40:
                    return _missing("Commit")
                return Told(body=[_request(repository, it) for it in repository.tickets if it.merged_as == commit])
            case _, ["issues", *more]:
                return self._tickets(repository, asked, more, is_pull=False)
            case _, ["merge_requests", *more]:
                return self._tickets(repository, asked, more, is_pull=True)
        return _missing("Resource")

    def _tickets(self, repository: Repository, asked: Asked, rest: list[str], *, is_pull: bool) -> Told:
        shape = _request if is_pull else _issue
        tickets = [it for it in repository.tickets if bool(it.head) == is_pull]
        match asked.method, rest:
            case "GET", []:
                return self.page(asked, [shape(repository, it) for it in reversed(_wanted(tickets, asked))])
            case "POST", []:
                return self._made(repository, asked, is_pull=is_pull)
            case method, [number, *below]:
                ticket = next((it for it in tickets if str(it.number) == number), None)
                if ticket is None:
                    return Told(status=404, body={"message": "404 Not found"})
                match method, below:
                    case "POST", ["notes"]:
                        ticket.comments.append(asked.body["body"])
                        _carry_out(ticket, asked.body["body"])
                        return Told(status=201, body={"id": 1, "body": asked.body["body"]})
                    case "GET", ["closes_issues"]:
                        closed = [repository.ticket(it.removeprefix("#")) for it in ticket.body.split() if it[0] == "#"]
                        external = {"id": "ENGINE-1", "title": "Of another tracker"}
                        return Told(body=[external, *(_issue(repository, it) for it in closed if it)])
                    case "PUT", []:
                        _edit(ticket, asked)
                return Told(body=shape(repository, ticket))
        return _missing("Resource")

    def _made(self, repository: Repository, asked: Asked, *, is_pull: bool) -> Told:
        body, login = asked.body, asked.account.login if asked.account else ""
        given: dict[str, Any] = {"title": body["title"], "body": body.get("description", ""), "author": login}
        if not is_pull:
            made = repository.add(**given, labels=[it for it in body.get("labels", "").split(",") if it])
            _carry_out(made, made.body)
            return Told(status=201, body=_issue(repository, made))
        head, base = body["source_branch"], body["target_branch"]
        other = next((it for it in repository.tickets if (it.head, it.base, it.state) == (head, base, "open")), None)
        if other:
            words = f"Another open merge request already exists for this source branch: !{other.number}"
            return Told(status=409, body={"message": [words]})
        if head not in repository.branches:
            return Told(status=400, body={"message": {"source_branch": ["does not exist"]}})
        if base not in repository.branches:
            return Told(status=422, body={"message": {"base": [f'Target branch "{base}" does not exist']}})
        return Told(status=201, body=_request(repository, repository.add(**given, head=head, base=base)))


def _wanted(tickets: list[Ticket], asked: Asked) -> list[Ticket]:
    """Return the tickets of a list."""
    found = [it for it in tickets if asked.query.get("source_branch") in {None, it.head}]
    if asked.query.get("scope") == "created_by_me" and asked.account:
        found = [it for it in found if it.author == asked.account.login]
    return found


def _edit(ticket: Ticket, asked: Asked) -> None:
    body = asked.body
    ticket.title, ticket.body = body.get("title", ticket.title), body.get("description", ticket.body)
    if body.get("state_event") == "close":
        ticket.state, ticket.closed_by = "closed", asked.account.login if asked.account else None


def _carry_out(ticket: Ticket, text: str) -> None:
    if any(line.strip().startswith("/close") for line in text.splitlines()):
        ticket.state, ticket.closed_by = "closed", "quick action"


def _project(repository: Repository, asked: Asked) -> dict[str, Any]:
    made: dict[str, Any] = {
        "id": repository.id,
        "path_with_namespace": repository.path,
        "default_branch": repository.default_branch,
        "archived": repository.is_archived,
        "visibility": "private" if repository.is_private else "public",
    }
    if repository.parent:
        made["forked_from_project"] = {"id": 1, "path_with_namespace": repository.parent}
    if asked.account:
        level = 40 if asked.account.may_write else 20
        made["permissions"] = {"project_access": None, "group_access": {"access_level": level, "notification_level": 3}}
    return made


def _branch(repository: Repository, name: str) -> dict[str, Any]:
    is_protected = name in repository.protected
    commit = {"id": repository.branches[name]}
    return {"name": name, "protected": is_protected, "can_push": not is_protected, "commit": commit}


def _issue(repository: Repository, ticket: Ticket) -> dict[str, Any]:
    return {
        "iid": ticket.number,
        "title": ticket.title,
        "description": ticket.body or None,
        "state": "opened" if ticket.state == "open" else "closed",
        "web_url": f"https://gitlab.com/{repository.path}/-/issues/{ticket.number}",
        "labels": ticket.labels,
        "author": {"id": 1, "username": ticket.author},
        "closed_by": {"id": 1, "username": ticket.closed_by} if ticket.closed_by else None,
    }


def _request(repository: Repository, ticket: Ticket) -> dict[str, Any]:
    state = "merged" if ticket.merged_as else "opened" if ticket.state == "open" else "closed"
    return _issue(repository, ticket) | {
        "state": state,
        "web_url": f"https://gitlab.com/{repository.path}/-/merge_requests/{ticket.number}",
        "source_branch": ticket.head,
        "target_branch": ticket.base,
        "source_project_id": 1 if ticket.fork else repository.id,
        "target_project_id": repository.id,
        "merged_at": TIME if ticket.merged_as else None,
        "sha": "8e" * 20,
        "merge_commit_sha": ticket.merged_as,
        "squash_commit_sha": None,
    }


def _events(repository: Repository) -> list[dict[str, Any]]:
    """Return the pushes, newest first: of a forced one GitLab tells only that there was one."""
    words = {"created": "created", "deleted": "removed"}
    return [
        {
            "action_name": "pushed to" if it["kind"] != "deleted" else "deleted",
            "created_at": it["at"],
            "author_username": it["actor"],
            "push_data": {
                "action": words.get(it["kind"], "pushed"),
                "ref_type": "branch",
                "ref": it["ref"].removeprefix("refs/heads/"),
                "commit_from": it["before"] if it["kind"] != "created" else None,
                "commit_to": it["after"] if it["kind"] != "deleted" else None,
            },
        }
        for it in reversed(repository.events)
    ]


def _missing(what: str) -> Told:
    return Told(status=404, body={"message": f"404 {what} Not Found"})


def _refusal(repository: Repository, asked: Asked) -> Told | None:
    """Return why something is not done."""
    if asked.method == "GET":
        return None
    if asked.account is None:
        return Told(status=401, body={"message": "401 Unauthorized"})
    if not asked.account.may_write or repository.is_archived:
        return Told(status=403, body={"message": "403 Forbidden"})
    return None
