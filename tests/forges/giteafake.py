"""A Gitea on loopback: its documented answers, as far as they are read, and its documented requests."""

from collections.abc import Callable
from typing import Any

from tests.forges.forgefake import TIME, Asked, Fake, Repository, Ticket, Told

_PAGED = {"page", "limit"}
_QUERIES = {
    "issues": {"state", "type", "created_by", *_PAGED},
    "pulls": {"state", "poster", *_PAGED},
    "labels": _PAGED,
    "timeline": _PAGED,
}
"""The last part of a list's path → the parameters that it takes."""
_BODIES: dict[str, dict[str, type]] = {
    "issues": {"title": str, "body": str, "labels": list},
    "pulls": {"title": str, "body": str, "head": str, "base": str},
    "comments": {"body": str},
    "labels": {"name": str, "color": str},
    "": {"title": str, "body": str, "state": str},
}
"""The last part of a path → the keys that a request may have; `` for one ticket."""
_AT_MOST = 50
"""The items of a page, whatever is asked for."""


class GiteaFake(Fake):
    """Gitea's API, as far as it is asked."""

    API = "/api/v1"
    PAGE_SIZE = "limit"

    def checked(self, asked: Asked, route: Callable[[Asked], Told]) -> Told:
        """Complain of a parameter or a key that Gitea does not know, and of a label that is no number."""
        last = asked.path[-1]
        known = _BODIES.get("" if last.isdecimal() else last, {})
        unknown = asked.query.keys() - _QUERIES.get(last, set())
        unknown |= {key for key, value in (asked.body or {}).items() if not isinstance(value, known.get(key, bytes))}
        self.complaints += [f"{asked.method} {asked.place}: {it} is not known" for it in unknown]
        if not all(isinstance(it, int) for it in (asked.body or {}).get("labels", [])):
            self.complaints.append("a label is no number")
        if "limit" in asked.query:
            asked.query["limit"] = str(min(int(asked.query["limit"]), _AT_MOST))
        return route(asked)

    def route(self, asked: Asked) -> Told:
        """Return the right answer."""
        match asked.path:
            case ["user"]:
                if asked.account is None:
                    return Told(status=401, body={"message": "token is required", "url": "x"})
                return Told(body={"id": 1, "login": asked.account.login})
            case ["repos", owner, name, *rest]:
                path = f"{owner}/{name}"
                if path in self.moved:
                    place = f"{self.api}/" + "/".join(["repos", self.moved[path], *rest])
                    return Told(status=307, headers={"Location": place})
                repository = self.repositories.get(path)
                if repository is None or (repository.is_private and asked.account is None):
                    return _missing()
                return self._of(repository, asked, rest)
        return _missing()

    def _of(self, repository: Repository, asked: Asked, rest: list[str]) -> Told:
        if refusal := _refusal(repository, asked):
            return refusal
        match asked.method, rest:
            case "GET", []:
                return Told(body=_repository(repository, asked))
            case "GET", ["branches", *name]:
                found = "/".join(name)
                return Told(body=_branch(repository, found)) if found in repository.branches else _missing()
            case "GET", ["commits", commit, "pull"]:
                merged = next((it for it in repository.tickets if it.merged_as == commit), None)
                return Told(body=_pull(repository, merged)) if merged else _missing()
            case "GET", ["labels"]:
                return self.page(asked, [{"id": n, "name": it} for n, it in enumerate(repository.labels, 1)])
            case "POST", ["labels"]:
                repository.labels.append(asked.body["name"])
                return Told(status=201, body={"id": len(repository.labels), "name": asked.body["name"]})
            case _, ["issues", *more]:
                return self._issues(repository, asked, more)
            case _, ["pulls", *more]:
                return self._pulls(repository, asked, more)
        return _missing()

    def _issues(self, repository: Repository, asked: Asked, rest: list[str]) -> Told:
        match asked.method, rest:
            case "GET", []:
                found = [it for it in repository.tickets if not it.head]
                ours = [it for it in found if asked.query.get("created_by") in {None, it.author}]
                return self.page(asked, [_issue(repository, it) for it in reversed(ours)])
            case "POST", []:
                labels = [repository.labels[number - 1] for number in asked.body["labels"]]
                login = asked.account.login if asked.account else ""
                made = repository.add(title=asked.body["title"], body=asked.body["body"], labels=labels, author=login)
                return Told(status=201, body=_issue(repository, made))
            case method, [number, *below]:
                ticket = repository.ticket(number)
                if ticket is None:
                    return _missing()
                match method, below:
                    case "GET", ["timeline"]:
                        return self.page(asked, _timeline(ticket))
                    case "POST", ["comments"]:
                        ticket.comments.append(asked.body["body"])
                        return Told(status=201, body={"id": 1, "body": asked.body["body"]})
                    case "PATCH", []:
                        _edit(ticket, asked)
                        return Told(status=201, body=_issue(repository, ticket))
                return Told(body=_issue(repository, ticket))
        return _missing()

    def _pulls(self, repository: Repository, asked: Asked, rest: list[str]) -> Told:
        pulls = [it for it in repository.tickets if it.head]
        match asked.method, rest:
            case "GET", []:
                ours = [it for it in pulls if asked.query.get("poster") in {None, it.author}]
                return self.page(asked, [_pull(repository, it) for it in reversed(ours)])
            case "POST", []:
                head, base = asked.body["head"], asked.body["base"]
                if head not in repository.branches or base not in repository.branches:
                    return _missing()
                if any((it.head, it.base, it.state) == (head, base, "open") for it in pulls):
                    words = "pull request already exists for these targets [id: 1, issue_id: 1]"
                    return Told(status=409, body={"message": words, "url": "x"})
                login = asked.account.login if asked.account else ""
                made = repository.add(
                    title=asked.body["title"], body=asked.body["body"], head=head, base=base, author=login
                )
                return Told(status=201, body=_pull(repository, made))
            case method, [number]:
                ticket = repository.ticket(number)
                if ticket is None or not ticket.head:
                    return _missing()
                if method == "PATCH":
                    _edit(ticket, asked)
                return Told(status=201 if method == "PATCH" else 200, body=_pull(repository, ticket))
        return _missing()


def _edit(ticket: Ticket, asked: Asked) -> None:
    for key, value in asked.body.items():
        setattr(ticket, key, value)
    ticket.closed_by = None if ticket.state == "open" else asked.account.login if asked.account else None


def _timeline(ticket: Ticket) -> list[Any]:
    closed = [{"id": 2, "type": "close", "user": {"login": ticket.closed_by}}] if ticket.closed_by else []
    return [{"id": 1, "type": "comment", "user": {"login": "somebody"}}, *closed]


def _repository(repository: Repository, asked: Asked) -> Any:
    made = {
        "id": repository.id,
        "full_name": repository.path,
        "default_branch": repository.default_branch,
        "archived": repository.is_archived,
        "private": repository.is_private,
        "internal": False,
        "empty": not repository.branches,
        "parent": {"id": 1, "full_name": repository.parent} if repository.parent else None,
    }
    if asked.account:
        made["permissions"] = {"admin": False, "push": asked.account.may_write, "pull": True}
    return made


def _branch(repository: Repository, name: str) -> Any:
    is_protected = name in repository.protected
    commit = {"id": repository.branches[name]}
    return {"name": name, "protected": is_protected, "user_can_push": not is_protected, "commit": commit}


def _issue(repository: Repository, ticket: Ticket) -> Any:
    return {
        "number": ticket.number,
        "title": ticket.title,
        "body": ticket.body,
        "state": ticket.state,
        "html_url": f"https://codeberg.org/{repository.path}/issues/{ticket.number}",
        "labels": [{"id": n, "name": it, "color": "b4b4b4"} for n, it in enumerate(ticket.labels, 1)],
        "user": {"id": 1, "login": ticket.author},
    }


def _pull(repository: Repository, ticket: Ticket) -> Any:
    is_there = ticket.head in repository.branches
    head = {"label": ticket.head, "ref": ticket.head if is_there else f"refs/pull/{ticket.number}/head"}
    return _issue(repository, ticket) | {
        "html_url": f"https://codeberg.org/{repository.path}/pulls/{ticket.number}",
        "head": head | {"repo_id": 1 if ticket.fork else repository.id},
        "base": {"label": ticket.base, "ref": ticket.base, "repo_id": repository.id},
        "merged": ticket.merged_as is not None,
        "merged_at": TIME if ticket.merged_as else None,
        "merge_commit_sha": ticket.merged_as,
    }


def _missing() -> Told:
    return Told(status=404, body={"message": "The target couldn't be found.", "errors": [], "url": "x"})


def _refusal(repository: Repository, asked: Asked) -> Told | None:
    """Return why something is not done."""
    if asked.method == "GET":
        return None
    if asked.account is None:
        return Told(status=401, body={"message": "token is required", "url": "x"})
    if repository.is_archived:
        return Told(status=423, body={"message": f"{repository.path} is archived", "url": "x"})
    if not asked.account.may_write:
        return Told(status=403, body={"message": "token does not have at least one of required scope(s)"})
    return None
