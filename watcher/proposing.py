"""Bring a bump to the forge of a downstream: as one issue, or as one pull request in that repository itself.

What is ours is found again by a mark in its text, so that nothing has to be remembered here: to propose the same again
changes nothing, a newer target takes the place of the old one, and what a person closed stays closed.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from watcher.config import Downstream, ForgeKind, Settings
from watcher.downstreams import Files, files_of, patterns
from watcher.editing import Made, prepared, write
from watcher.errors import EditError, ForgeError, GitError, UnobservedError, UsageError
from watcher.forges import Budget, Forge, Issue, PullRequest, TicketState, connect, forge_of
from watcher.forges.pushes import refusal_of
from watcher.model import Oid, Pin, Unobserved
from watcher.pins.target import Target, Unambiguous
from watcher.planned import Plan
from watcher.report.proposal import body, commit_message, mark, read_marker, title
from watcher.report.text import safe
from watcher.store import Store
from watcher.upstream.branch import Author, Login, commit_on, is_by, push
from watcher.upstream.mirror import Mirror
from watcher.upstreams import mirror_folder

_BRANCH, _MARK = "watcher/bump-", "<!-- watcher: bump "
"""How the branches, and the hidden lines of the texts, of all our proposals begin."""
_REQUESTS = 200
"""How many requests one run may send to forges."""
_AUTHOR = Author(name="watcher", email="watcher@localhost")
ForgeOf = Callable[[str], Forge | None]
"""Returns the forge of a repository's address; None for a plain git server."""


class Outcome(StrEnum):
    """What became of a proposal."""

    OPENED = "opened"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    DECLINED = "declined"
    """A person closed it: it is not opened again for this target."""
    MERGED = "merged"
    WAITS = "waits"
    """As many of ours are open as the configuration allows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """One issue or pull request, and what became of it."""

    outcome: Outcome
    url: str
    said: str
    """In one line."""
    replaced: tuple[str, ...] = ()
    """Where the ones are shown that it took the place of."""


def by_downstream(plan: Plan) -> dict[str, Plan]:
    """Return the part of a plan that each downstream has to do with."""
    names = dict.fromkeys(step.pin.downstream for step in plan.steps)
    return {
        name: replace(plan, steps=tuple(step for step in plan.steps if step.pin.downstream == name)) for name in names
    }


def propose_issues(settings: Settings, plan: Plan, ask: ForgeOf, *, at_most: int | None = None) -> tuple[Done, ...]:
    """Open or update one issue in each downstream, where fewer than `at_most` of ours are open.

    Raises UsageError where there is no forge, and ForgeError as it says.
    """
    return tuple(
        _propose_issue(_forge(_downstream(settings, name), ask), part, at_most)
        for name, part in by_downstream(plan).items()
    )


def propose_pulls(
    settings: Settings,
    plan: Plan,
    ask: ForgeOf,
    login_of: Callable[[str], Login | None],
    *,
    at_most: int | None = None,
) -> tuple[Done, ...]:
    """Open or update one pull request in each downstream, from a branch of that repository, as `propose_issues` does.

    Raises UsageError, ForgeError, EditError or UnobservedError; what was done before is found again next time.
    """
    made = []
    for name, part in by_downstream(plan).items():
        downstream = _downstream(settings, name)
        forge = _forge(downstream, ask)
        account = login_of(downstream.repository or "")
        made.append(_propose_pull(settings, downstream, part, forge, account, at_most))
    return tuple(made)


@contextmanager
def forges(settings: Settings, store: Store, now: datetime) -> Iterator[ForgeOf]:
    """Offer a way to ask forges, with one connection and one budget for all of them."""
    budget = Budget(left=_REQUESTS)
    with connect() as http:
        yield lambda repository: forge_of(repository, settings, http, budget=budget, now=now, memory=store)


def login(settings: Settings, repository: str) -> Login | None:
    """Return how to push to a repository: by the token of its forge, over http(s); None where git knows by itself."""
    place = settings.forge(repository)
    if place is None or place.token is None or not settings.address(repository).startswith(("https://", "http://")):
        return None
    user = "x-access-token" if place.kind is ForgeKind.GITHUB else "oauth2"
    return Login(user=user, token=place.token.reveal(os.environ, Path.read_text))


# --- the files of a checkout -----------------------------------------------------------------------------------------


def write_bump(settings: Settings, plan: Plan, folder: Path | None = None) -> tuple[Made, ...]:
    """Write a bump into the manifests of checkouts, and return what was written; raise EditError, with nothing written.

    `folder` is a checkout of the one downstream that is meant, where the configuration names none.
    """
    parts = by_downstream(plan)
    if folder is not None and len(parts) > 1:
        raise UsageError(f"--checkout is one folder, but the bump is of {', '.join(parts)}: name one pin")
    made: list[Made] = []
    for name, part in parts.items():
        downstream = _downstream(settings, name)
        place = folder or downstream.path
        if place is None:
            raise UsageError(f"{name} is read from its repository: name a checkout of it by --checkout")
        pins = [step.pin for step in part.steps]
        made += write(place, pins, targets(part), is_unambiguous=_unambiguous(settings, plan), extra=patterns(settings))
    return tuple(made)


def _unambiguous(settings: Settings, plan: Plan) -> Unambiguous:
    """Return whether a short id means one commit of the upstream; asked of its mirror."""

    def is_one(_: Pin, digits: str) -> bool:
        mirror = Mirror(directory=mirror_folder(settings, plan.upstream), url="", partial=False)
        return len(mirror.expand(digits)) == 1

    return is_one


# --- issues ----------------------------------------------------------------------------------------------------------


def _propose_issue(forge: Forge, plan: Plan, at_most: int | None) -> Done:
    own = mark(plan)
    ours = [(issue, found) for issue in forge.find_issues(_sought(plan)) if (found := read_marker(issue.body))]
    same = [issue for issue, found in ours if found == own]
    if closed := next((it for it in same if it.is_closed_by_person), None):
        return Done(outcome=Outcome.DECLINED, url=closed.url, said=_declined(closed))
    current = next((it for it in same if it.state is TicketState.OPEN), None)
    old = [it for it, found in ours if found.pins == own.pins and found != own and it.state is TicketState.OPEN]
    if current is None and not old and at_most is not None and _is_full(forge.find_issues(_MARK), at_most):
        return _waiting(plan, at_most)
    done = _opened_issue(forge, plan) if current is None else _updated_issue(forge, current, plan)
    for issue in old:
        forge.comment(issue.number, f"Superseded by {done.url}")
        forge.close_issue(issue.number)
    return replace(done, replaced=tuple(issue.url for issue in old))


def _opened_issue(forge: Forge, plan: Plan) -> Done:
    issue = forge.open_issue(title(plan), body(plan))
    return Done(outcome=Outcome.OPENED, url=issue.url, said=f"opened issue {issue.number}: {title(plan)}")


def _updated_issue(forge: Forge, issue: Issue, plan: Plan) -> Done:
    if (issue.title, _text(issue.body)) == (title(plan), _text(body(plan))):
        return Done(outcome=Outcome.UNCHANGED, url=issue.url, said=f"issue {issue.number} says it already")
    forge.update_issue(issue.number, title(plan), body(plan))
    return Done(outcome=Outcome.UPDATED, url=issue.url, said=f"updated issue {issue.number}")


# --- pull requests ---------------------------------------------------------------------------------------------------


def _propose_pull(
    settings: Settings,
    downstream: Downstream,
    plan: Plan,
    forge: Forge,
    account: Login | None,
    at_most: int | None,
) -> Done:
    own, branch = mark(plan), f"{_prefix(plan)}{str(plan.to)[:12]}"
    ours = [(pull, found) for pull in forge.find_pulls(_prefix(plan)) if (found := read_marker(pull.body))]
    same = [pull for pull, found in ours if found == own]
    if closed := next((it for it in same if it.is_closed_by_person), None):
        return Done(outcome=Outcome.DECLINED, url=closed.url, said=_declined(closed))
    if merged := next((it for it in same if it.state is TicketState.MERGED), None):
        return Done(outcome=Outcome.MERGED, url=merged.url, said=f"pull request {merged.number} is merged already")
    current = next((it for it in same if it.state is TicketState.OPEN), None)
    old = [it for it, found in ours if found.pins == own.pins and found != own and it.state is TicketState.OPEN]
    if current is None and not old and at_most is not None and _is_full(forge.find_pulls(_BRANCH), at_most):
        return _waiting(plan, at_most)
    if current is None:
        done = _opened_pull(settings, downstream, plan, forge, branch, account)
    else:
        done = _updated_pull(forge, current, plan)
    for pull in old:
        forge.close_pull(pull.number, f"Superseded by {done.url}")
    return replace(done, replaced=tuple(pull.url for pull in old))


def _opened_pull(
    settings: Settings, downstream: Downstream, plan: Plan, forge: Forge, branch: str, account: Login | None
) -> Done:
    facts = forge.repository()
    if facts.is_archived:
        raise ForgeError(f"{facts.path} is archived: nobody can propose anything there", kind="archived")
    if facts.may_push is False:
        raise ForgeError(
            f"the token may not push to {facts.path}, so only a pull request from a fork would be possible; its checks "
            "mostly cannot build images and prove nothing: give the token the right to push, or use --issue",
            kind="forbidden",
        )
    base = downstream.branch or facts.default_branch
    if base is None:
        raise ForgeError(f"{facts.path} is empty", kind="missing")
    there = forge.branch(branch)
    commit = _pushed(settings, downstream, plan, branch, there, account)
    pull = forge.open_pull(branch, base, title(plan), body(plan))
    return Done(
        outcome=Outcome.OPENED,
        url=pull.url,
        said=f"opened pull request {pull.number} with {commit[:12]}: {title(plan)}",
    )


def _pushed(
    settings: Settings, downstream: Downstream, plan: Plan, branch: str, there: Oid | None, account: Login | None
) -> Oid:
    """Push a commit with the bump, and return it.

    A branch of that name that has it already stays as it is. One of ours is moved: a run before was killed, and the
    downstream went on. One that somebody else committed to is refused.
    """
    files = files_of(settings, downstream)
    if isinstance(files, Unobserved):
        raise UnobservedError(f"{files.upstream} could not be read: {files.reason}")
    if files.commit is None or files.history is None:
        raise UsageError(f"{downstream.name} is no repository with a commit")
    changed = {files.prefix + it.file: it.content for it in edits(settings, files, plan)}
    at = files.history.commits([files.commit], files.history.parents()[files.commit])[0].committed_at
    commit = commit_on(files.history, files.commit, changed, commit_message(plan), author=_AUTHOR, at=at)
    if there != commit:
        if there and not is_by(files.history, there, _AUTHOR):
            raise ForgeError(
                f"{branch} is there in {downstream.name}, with somebody else's commits: open the pull request by hand, "
                "or delete the branch",
                kind="duplicate",
            )
        try:
            push(files.history, commit, branch, before=there, login=account)
        except GitError as error:
            raise refusal_of(error.said, branch, downstream.name) or error from None
    return commit


def edits(settings: Settings, files: Files, plan: Plan) -> tuple[Made, ...]:
    """Return what of a downstream has the bump in it; raise EditError where that cannot be done exactly."""
    pins = [step.pin for step in plan.steps]
    paths = sorted({pin.file for pin in pins})
    contents = files.contents(paths)
    if missing := [path for path in paths if path not in contents]:
        raise EditError(f"{missing[0]} is not there any more")
    return prepared(files.checkout, contents, pins, targets(plan), extra=patterns(settings))


def targets(plan: Plan) -> Mapping[str, Target]:
    """Return what each pin of a plan moves to."""
    if plan.to is None:
        raise UsageError(f"nothing moves: {plan.stays[0].said if plan.stays else plan.name}")
    branch = plan.line.removeprefix("refs/heads/") if plan.line and plan.line.startswith("refs/heads/") else None
    target = Target(commit=plan.to, tag=next(iter(plan.tags), None), branch=branch)
    return {step.pin.id: target for step in plan.steps}


def _updated_pull(forge: Forge, pull: PullRequest, plan: Plan) -> Done:
    """Bring the words up to date; the branch is left alone, since people may have added to it."""
    if (pull.title, _text(pull.body)) == (title(plan), _text(body(plan))):
        return Done(outcome=Outcome.UNCHANGED, url=pull.url, said=f"pull request {pull.number} says it already")
    forge.update_pull(pull.number, title(plan), body(plan))
    return Done(outcome=Outcome.UPDATED, url=pull.url, said=f"updated pull request {pull.number}")


# --- parts -----------------------------------------------------------------------------------------------------------


def _downstream(settings: Settings, name: str) -> Downstream:
    found = next((it for it in settings.downstreams if it.name == name), None)
    if found is None:
        raise UsageError("the pin stands in the configuration itself: change it there")
    return found


def _forge(downstream: Downstream, ask: ForgeOf) -> Forge:
    if downstream.repository is None:
        raise UsageError(
            f"{downstream.name} is a folder: --write changes it; an issue or a pull request needs `repository`"
        )
    forge = ask(downstream.repository)
    if forge is None:
        raise UsageError(f"{downstream.repository}: expected a forge; name its host and kind under `forges`")
    return forge


def _sought(plan: Plan) -> str:
    return f"{_MARK}{mark(plan).pins} "


def _prefix(plan: Plan) -> str:
    """Return how the branches of a dependency's bumps begin: a name that git and every forge take."""
    slug = re.sub(r"[^A-Za-z0-9._]+", "-", safe(plan.name)).strip("-.").replace("..", ".")[:40]
    return f"{_BRANCH}{slug or 'pin'}-"


def _is_full(ours: Sequence[Issue | PullRequest], at_most: int) -> bool:
    return sum(it.state is TicketState.OPEN and read_marker(it.body) is not None for it in ours) >= at_most


def _waiting(plan: Plan, at_most: int) -> Done:
    return Done(outcome=Outcome.WAITS, url="", said=f"{title(plan)}: waits, {at_most} of ours are open already")


def _declined(ticket: Issue | PullRequest) -> str:
    return f"{ticket.url} was closed by a person: it is not opened again for this target"


def _text(said: str) -> str:
    """Return a body as it compares: forges may end lines their own way."""
    return "\n".join(line.rstrip() for line in said.replace("\r\n", "\n").strip().split("\n"))
