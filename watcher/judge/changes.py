"""What landed on a line since a pin, and as which changes?"""

import re
from collections.abc import Container, Mapping, Sequence, Set
from itertools import takewhile

from watcher.graph import Graph
from watcher.judge.equivalents import pull_requests
from watcher.model import Change, Commit, Oid

_MERGED = re.compile(
    r"Merge pull request #[0-9]+ from [^/\s]+/(?P<github>\S+)"
    r"|Merge (?:remote-tracking )?branch '(?P<branch>[^']+)'"
    r"|Merge pull request '(?P<title>.*)' \(#[0-9]+\) from (?P<gitea>\S+) into "
    r"|Merged in (?P<bitbucket>\S+) \(pull request #[0-9]+\)"
    r"|Merge commit from fork$"
)
_NO_TITLE = re.compile(r"See merge request |#|\* |Conflicts:|Closes #|Approved-by:")
"""How a line of a merge's body begins that says something else than what was merged."""


def landings(
    line: Sequence[Oid],
    floor: Oid | None,
    graph: Graph,
    commits: Mapping[Oid, Commit],
    known: Container[Oid] = (),
) -> tuple[Change, ...]:
    """Return the changes that landed on a line after `floor`, oldest first.

    `line` is a first-parent chain, oldest first. What a change brought is told against the line's own state before
    it, so that it is the same for every floor; None takes the whole line. `known`: landings that were told already, and
    those before them on the line with them.
    """
    old = graph.ancestors(floor) if floor else frozenset[Oid]()
    # From the newest one back: what lies before the floor is not looked at.
    new = [*takewhile(lambda commit: commit not in old and commit not in known, reversed(line))][::-1]
    states = zip(new, graph.increments(new), strict=True)
    return tuple(change_of(landing, brought, graph, commits) for landing, brought in states)


def change_of(landing: Oid, new: Set[Oid], graph: Graph, commits: Mapping[Oid, Commit]) -> Change:
    """Return the change that a line's commit brought; `new` is everything that came with it."""
    parents = graph.parents(landing)
    work = [commit for commit in graph.oldest_first(new) if len(graph.parents(commit)) <= 1]
    message = commits.get(landing)
    is_merge = len(parents) > 1
    return Change(
        landing=landing,
        before=parents[0] if parents else None,
        commits=tuple(work) if is_merge and work else (landing,),
        title=_title(message, [commits[oid] for oid in work if oid in commits]) if message else landing[:12],
        pull_request=next(iter(pull_requests(message)[::-1]), None) if message else None,
        branch=_branch(message) if message and is_merge else None,
    )


def _title(message: Commit, work: Sequence[Commit]) -> str:
    """Return what a person would call the change: a merge's own subject says only where it came from."""
    merged = _MERGED.match(message.subject)
    if not merged:
        return re.sub(r"\(#[0-9]+\)$", "", message.subject).rstrip()
    lines = (line.strip() for line in message.body.splitlines())
    said = (line for line in lines if line and not _NO_TITLE.match(line))
    alone = work[0].subject if len(work) == 1 else message.subject
    return merged["title"] or next(said, alone)


def _branch(message: Commit) -> str | None:
    found = _MERGED.match(message.subject)
    if found is None:
        return None
    return found["github"] or found["branch"] or found["gitea"] or found["bitbucket"]
