"""A GitHub on loopback, held to GitHub's own description: what it is asked and what it answers."""

import copy
import json
import re
from collections.abc import Callable
from typing import Any

import jsonschema

from tests.forges.forgefake import TIME, Asked, Fake, Repository, Ticket, Told
from tests.forges.make_schema import PATH

DESCRIPTION = json.loads(PATH.read_text("utf-8"))
_GREEDY = ("ref", "branch")
"""The parameters of a path that may hold a `/`."""
_ACTIVITY = {"forced": "force_push", "deleted": "branch_deletion", "created": "branch_creation", "pushed": "push"}


def _pattern(operation: str) -> re.Pattern[str]:
    method, _, path = operation.partition(" ")
    parts = re.split(r"\{(\w+)\}", path)
    made = "".join(re.escape(it) if n % 2 == 0 else ".+" if it in _GREEDY else "[^/]+" for n, it in enumerate(parts))
    return re.compile(f"{method} {made}")


OPERATIONS = {_pattern(name): it for name, it in DESCRIPTION["operations"].items()}


def problems(schema: Any, value: Any) -> list[str]:
    """Return what is wrong with a value."""
    whole = schema if schema is True else {**schema, "components": DESCRIPTION["components"]}
    errors = jsonschema.Draft202012Validator(whole).iter_errors(value)
    return [f"{'/'.join(map(str, it.path))}: {it.message[:200]}" for it in errors]


def example(name: str) -> Any:
    """Return a whole answer of GitHub's, to be filled in; what its own description finds wrong in it is mended."""
    made = copy.deepcopy(DESCRIPTION["examples"][name])
    if "requested_teams" in made:
        made["requested_teams"] = []
    return made


class GitHubFake(Fake):
    """GitHub's API, as far as it is asked."""

    def __init__(self, *repositories: Repository) -> None:
        super().__init__(*repositories)
        self.rules: list[dict[str, str]] = []
        """What holds for every branch."""
        self.renamed: dict[str, str] = {}
        """Old name of a branch → new name."""

    def checked(self, asked: Asked, route: Callable[[Asked], Told]) -> Told:
        """Complain of a request or an answer that is not as GitHub describes it."""
        shape = re.sub(r"^repositories/\d+", "repos/o/n", asked.place)
        described = next((it for form, it in OPERATIONS.items() if form.fullmatch(f"{asked.method} /{shape}")), None)
        if described is None:
            self.complaints.append(f"{asked.method} {asked.place}: there is no such operation")
            return Told(status=404, body={"message": "Not Found"})
        found = [f"no parameter {it}" for it in asked.query.keys() - described["query"].keys()]
        for name, value in asked.query.items():
            schema = described["query"].get(name, True)
            is_number = schema is not True and schema.get("type") == "integer"
            found += problems(schema, int(value) if is_number else value)
        if asked.body is not None or described["body"]:
            found += problems(described["body"], asked.body)
        told = Told(status=422, body=_invalid("Invalid request.")) if found else route(asked)
        if str(told.status) in described["answers"]:
            found += problems(described["answers"][str(told.status)], told.body)
        self.complaints += [f"{asked.method} {asked.place} {told.status}: {it}" for it in found]
        return told

    def route(self, asked: Asked) -> Told:
        """Return the right answer."""
        match asked.path:
            case ["user"]:
                return self._user(asked)
            case ["repos", owner, name, *rest]:
                path = f"{owner}/{name}"
                if path in self.moved:
                    place = "/".join([f"repositories/{self.repositories[self.moved[path]].id}", *rest])
                    headers = {
                        "Location": f"{self.api}/{place}"
                        + ("?" + "&".join(f"{k}={v}" for k, v in asked.query.items()) if asked.query else "")
                    }
                    moved = {"message": "Moved Permanently", "url": headers["Location"], "documentation_url": "x"}
                    return Told(status=301 if asked.method == "GET" else 307, body=moved, headers=headers)
                return self._of(self.repositories.get(path), asked, rest)
            case ["repositories", number, *rest]:
                return self._of(
                    next((it for it in self.repositories.values() if str(it.id) == number), None), asked, rest
                )
        return _missing()

    def _user(self, asked: Asked) -> Told:
        if asked.account is None:
            return Told(status=401, body={"message": "Requires authentication"})
        if asked.account.is_program:
            return Told(status=403, body={"message": "Resource not accessible by integration"})
        return Told(body=example("user") | {"login": asked.account.login})

    def _of(self, repository: Repository | None, asked: Asked, rest: list[str]) -> Told:  # noqa: C901 - one line for each operation
        if repository is None or (repository.is_private and asked.account is None):
            return _missing()
        if refusal := _refusal(repository, asked):
            return refusal
        match asked.method, rest:
            case "GET", []:
                return Told(body=self._repository(repository, asked))
            case "GET", ["activity"]:
                return self.page(asked, self._activity(repository, asked.query))
            case "GET", ["branches", *name]:
                return self._branch(repository, "/".join(name))
            case "GET", ["rules", "branches", *_]:
                return Told(body=self.rules)
            case "GET", ["commits", commit, "pulls"]:
                return self._commits_pulls(repository, commit)
            case "GET", ["git", sort, "heads", *name]:
                return self._refs(repository, "/".join(name), sort)
            case _, ["issues", *more]:
                return self._issues(repository, asked, more)
            case _, ["pulls", *more]:
                return self._pulls(repository, asked, more)
        return _missing()

    def _refs(self, repository: Repository, name: str, sort: str) -> Told:
        tips = repository.branches
        if sort == "ref":
            return Told(body=self._ref(name, tips[name])) if name in tips else _missing()
        return Told(body=[self._ref(it, tips[it]) for it in sorted(tips) if it.startswith(name)])

    def _commits_pulls(self, repository: Repository, commit: str) -> Told:
        if commit == "0" * 40:
            return Told(status=422, body=_invalid(f"No commit found for SHA: {commit}"))
        merged = [it for it in repository.tickets if it.merged_as == commit]
        return Told(body=[self._pull(repository, it, "pull of a list") for it in merged])

    def _issues(self, repository: Repository, asked: Asked, rest: list[str]) -> Told:
        if not repository.has_issues:
            return Told(status=410, body={"message": "Issues has been disabled in this repository."})
        match asked.method, rest:
            case "GET", []:
                creator, state = asked.query.get("creator"), asked.query.get("state", "open")
                fitting = [
                    it for it in repository.tickets if creator in {None, it.author} and state in {"all", it.state}
                ]
                # A list does not tell who closed what.
                listed = [self._issue(repository, it) for it in reversed(fitting)]
                return self.page(asked, [{k: v for k, v in it.items() if k != "closed_by"} for it in listed])
            case "POST", []:
                if len(asked.body["title"]) > 256:
                    return Told(status=422, body=_failed(resource="Issue", field="title", code="invalid"))
                made = repository.add(
                    title=asked.body["title"],
                    body=asked.body.get("body", ""),
                    labels=list(asked.body.get("labels", [])),
                    author=asked.account.login if asked.account else "",
                )
                return Told(status=201, body=self._issue(repository, made))
            case method, [number, *below]:
                ticket = repository.ticket(number)
                if ticket is None:
                    return _missing()
                if below == ["comments"]:
                    ticket.comments.append(asked.body["body"])
                    return Told(status=201, body=example("comment") | {"body": asked.body["body"]})
                if method == "PATCH":
                    _edit(ticket, asked)
                return Told(body=self._issue(repository, ticket))
        return _missing()

    def _pulls(self, repository: Repository, asked: Asked, rest: list[str]) -> Told:
        pulls = [it for it in repository.tickets if it.head]
        owner = repository.path.partition("/")[0]
        match asked.method, rest:
            case "GET", []:
                head, state = asked.query.get("head"), asked.query.get("state", "open")
                fitting = [
                    it
                    for it in pulls
                    if head in {None, f"{(it.fork or owner).partition('/')[0]}:{it.head}"}
                    and state in {"all", it.state}
                ]
                return self.page(asked, [self._pull(repository, it, "pull of a list") for it in reversed(fitting)])
            case "POST", []:
                head, base = asked.body["head"], asked.body["base"]
                for side, name in (("head", head), ("base", base)):
                    if name not in repository.branches:
                        return Told(status=422, body=_failed(resource="PullRequest", field=side, code="invalid"))
                if any((it.head, it.base, it.state) == (head, base, "open") for it in pulls):
                    words = f"A pull request already exists for {owner}:{head}."
                    return Told(status=422, body=_failed(resource="PullRequest", code="custom", message=words))
                made = repository.add(
                    title=asked.body["title"],
                    body=asked.body.get("body", ""),
                    head=head,
                    base=base,
                    author=asked.account.login if asked.account else "",
                )
                return Told(status=201, body=self._pull(repository, made, "pull"))
            case method, [number]:
                ticket = repository.ticket(number)
                if ticket is None or not ticket.head:
                    return _missing()
                if method == "PATCH":
                    _edit(ticket, asked)
                return Told(body=self._pull(repository, ticket, "pull"))
        return _missing()

    # --- shapes ------------------------------------------------------------------------------------------------------

    def _repository(self, repository: Repository, asked: Asked) -> Any:
        made = example("repository") | {
            "id": repository.id,
            "name": repository.path.partition("/")[2],
            "full_name": repository.path,
            "default_branch": repository.default_branch,
            "archived": repository.is_archived,
            "private": repository.is_private,
            "language": None,
        }
        for key in ("source", "parent", "template_repository", "permissions"):
            made.pop(key, None)
        if repository.parent:
            made["parent"] = example("repository")["parent"] | {"full_name": repository.parent}
        if asked.account:
            may = asked.account.may_write
            made["permissions"] = {"admin": False, "maintain": False, "push": may, "triage": may, "pull": True}
        return made

    def _branch(self, repository: Repository, name: str) -> Told:
        if name in self.renamed:
            place = f"{self.api}/repos/{repository.path}/branches/{self.renamed[name]}"
            return Told(status=301, body={"message": "Moved Permanently", "url": place}, headers={"Location": place})
        if name not in repository.branches:
            return Told(status=404, body={"message": "Branch not found"})
        return Told(body=example("branch") | {"name": name, "protected": name in repository.protected})

    def _ref(self, name: str, tip: str) -> Any:
        made = example("ref")
        return made | {"ref": f"refs/heads/{name}", "object": made["object"] | {"sha": tip}}

    def _activity(self, repository: Repository, query: dict[str, str]) -> list[Any]:
        return [
            {
                "id": number,
                "node_id": "x",
                "before": it["before"],
                "after": it["after"],
                "ref": it["ref"],
                "timestamp": it["at"],
                "activity_type": _ACTIVITY[it["kind"]],
                "actor": _user(it["actor"]) if it["actor"] else None,
            }
            for number, it in reversed(list(enumerate(repository.events)))
            if it["ref"] == query.get("ref", it["ref"]) and _ACTIVITY[it["kind"]] == query["activity_type"]
        ]

    def _issue(self, repository: Repository, ticket: Ticket) -> Any:
        sort = "pull" if ticket.head else "issues"
        made = example("issue") | {
            "number": ticket.number,
            "title": ticket.title,
            "body": ticket.body or None,
            "state": ticket.state,
            "html_url": f"https://github.com/{repository.path}/{sort}/{ticket.number}",
            "labels": _labels(ticket),
            "user": _user(ticket.author),
            "closed_by": _user(ticket.closed_by) if ticket.closed_by else None,
        }
        made.pop("pull_request", None)
        if ticket.head:
            made["pull_request"] = {"diff_url": None, "html_url": None, "patch_url": None, "url": None}
        return made

    def _pull(self, repository: Repository, ticket: Ticket, shape: str) -> Any:
        made = example(shape)
        for side, name in (("head", ticket.head), ("base", ticket.base)):
            made[side] = made[side] | {"ref": name}
        return made | {
            "number": ticket.number,
            "title": ticket.title,
            "body": ticket.body or None,
            "state": ticket.state,
            "html_url": f"https://github.com/{repository.path}/pull/{ticket.number}",
            "labels": _labels(ticket),
            "user": _user(ticket.author),
            "merged_at": TIME if ticket.merged_as else None,
            "merge_commit_sha": ticket.merged_as or "7e" * 20,
        }


def _labels(ticket: Ticket) -> list[Any]:
    made = example("issue")["labels"][0]
    return [made | {"name": name} for name in ticket.labels]


def _edit(ticket: Ticket, asked: Asked) -> None:
    """Do what a PATCH asks for."""
    for key in ("title", "body", "state"):
        if key in asked.body:
            setattr(ticket, key, asked.body[key])
    ticket.closed_by = None if ticket.state == "open" else asked.account.login if asked.account else None


def _user(login: str) -> Any:
    return example("issue")["user"] | {"login": login, "type": "Bot" if login.endswith("[bot]") else "User"}


def _missing() -> Told:
    return Told(status=404, body={"message": "Not Found", "documentation_url": "https://docs.github.com/rest"})


def _failed(**error: str) -> Any:
    return _invalid("Validation Failed", error)


def _invalid(message: str, *errors: dict[str, str]) -> Any:
    return {"message": message, "errors": list(errors), "documentation_url": "https://docs.github.com/rest"}


def _refusal(repository: Repository, asked: Asked) -> Told | None:
    """Return why something is not done."""
    if asked.method == "GET":
        return None
    if asked.account is None:
        return Told(status=401, body={"message": "Requires authentication"})
    if not asked.account.may_write:
        return Told(status=403, body={"message": "Resource not accessible by personal access token"})
    if repository.is_archived:
        return Told(status=403, body={"message": "Repository was archived so is read-only."})
    return None
