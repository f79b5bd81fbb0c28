"""What landed on a line since a pin, and as which changes?"""

import re
from collections.abc import Mapping, Sequence

from watcher.graph import Graph
from watcher.judge.equivalents import pull_requests
from watcher.model import Change, Commit, Oid

_MERGED = re.compile(
    r"^Merge (?:pull request #\d+ from [^/\s]+/(?P<github>\S+)"
    r"|branch '(?P<gitlab>[^']+)'|remote-tracking branch '(?P<remote>[^']+)')"
)


def landings(line: Sequence[Oid], floor: Oid | None, graph: Graph, commits: Mapping[Oid, Commit]) -> tuple[Change, ...]:
    """Return the changes that landed on a line after `floor`, oldest first.

    `line` is a first-parent chain, oldest first. What a change brought is told against the line's own state before
    it, so that it is the same for every floor; None takes the whole line.
    """
    old = graph.ancestors(floor) if floor else set()
    new = [commit for commit in line if commit not in old]
    seen = graph.ancestors(*graph.parents(new[0])[:1]) if new else set()
    found = []
    for landing in new:
        brought = graph.ancestors(landing, without=seen)
        seen |= brought
        found.append(change_of(landing, brought, graph, commits))
    return tuple(found)


def change_of(landing: Oid, new: set[Oid], graph: Graph, commits: Mapping[Oid, Commit]) -> Change:
    """Return the change that a line's commit brought; `new` is everything that came with it."""
    parents = graph.parents(landing)
    work = [commit for commit in graph.oldest_first(new) if len(graph.parents(commit)) <= 1]
    message = commits.get(landing)
    is_merge = len(parents) > 1
    return Change(
        landing=landing,
        before=parents[0] if parents else None,
        commits=tuple(work) if is_merge and work else (landing,),
        title=_title(message) if message else landing[:12],
        pull_request=next(iter(pull_requests(message)[::-1]), None) if message else None,
        branch=_branch(message) if message and is_merge else None,
    )


def _title(message: Commit) -> str:
    """Return what a person would call the change: a merge's own subject says only where it came from."""
    if not _MERGED.match(message.subject):
        return re.sub(r"\s*\(#\d+\)$", "", message.subject)
    return next((line.strip() for line in message.body.splitlines() if line.strip()), message.subject)


def _branch(message: Commit) -> str | None:
    found = _MERGED.match(message.subject)
    return next((name for name in found.groups() if name), None) if found else None
