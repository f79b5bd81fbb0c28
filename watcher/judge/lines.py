"""Which states did upstream itself publish?

A line is the first-parent chain of the default branch, of a release branch, or of a tag. Topic branches are not
lines: a commit inside a pull request's branch was never the tip of anything that upstream offered.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from watcher.graph import Graph
from watcher.model import Advertisement, Oid

_RELEASE = re.compile(
    r"(v?\d+[._]\d+([._]\d+)*([._-]?x)?(LTS)?|v?\d+\.x|release[-/_].+|release|rel[-/_]?\d.*|stable([-/_].+)?"
    r"|branch-?\d.*|maint(-.*)?|patch/\d.*|fixes-\d.*|[\d.]+-stable|.*-series|libbpf-\d.*|tokio-\d+.*|nvme-cli-\d.x"
    r"|core_r\d[\d.]*|lts-\d.*|v\d[\d.x]*(-releases)?|release_v.*|quinn-.*x)"
)
"""Full names of branches that look like release branches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One published line."""

    name: str
    """Full ref name."""
    tip: Oid


def is_release_branch(name: str) -> bool:
    """Answer whether a branch (full or short name) looks like a release branch."""
    return _RELEASE.fullmatch(name.removeprefix("refs/heads/")) is not None


def published_lines(advertisement: Advertisement, graph: Graph, tracked: Iterable[str] = ()) -> tuple[Line, ...]:
    """Return the lines, tracked branches first: those of the configuration, else the default branch.

    `tracked` holds short or full branch names. Tags whose objects are no commits are left out.
    """
    wanted = [name if name.startswith("refs/") else f"refs/heads/{name}" for name in tracked]
    first = [name for name in (*wanted, advertisement.head) if name]
    rest = [
        ref.name for ref in advertisement.refs if ref.name.startswith("refs/heads/") and is_release_branch(ref.name)
    ]
    tags = [ref.name for ref in advertisement.refs if ref.name.startswith("refs/tags/")]
    tips = {ref.name: ref.commit for ref in advertisement.refs}
    names = dict.fromkeys((*first, *rest, *tags))
    return tuple(Line(name=name, tip=tips[name]) for name in names if name in tips and tips[name] in graph)


def own_line(commit: Oid, advertisement: Advertisement, graph: Graph, tracked: Iterable[str] = ()) -> Line | None:
    """Return the line that a pinned commit belongs to.

    The tracked branch where that holds it; else a release branch, else another branch, and among these one whose
    first-parent chain passes through the commit, then the one with the fewest commits on top; else a tag.
    """
    holders = graph.descendants(commit)
    lines = published_lines(advertisement, graph, tracked)
    leading = len([name for name in dict.fromkeys((*tracked, advertisement.head)) if name])
    for line in lines[:leading]:
        if line.tip in holders:
            return line
    branches = [
        Line(name=ref.name, tip=ref.commit)
        for ref in advertisement.refs
        if ref.name.startswith("refs/heads/") and ref.commit in holders
    ]
    found = branches or [line for line in lines if line.tip in holders]

    def order(line: Line) -> tuple[bool, bool, int, str]:
        is_on_chain = commit in graph.first_parent_line(line.tip)
        return (not is_release_branch(line.name), not is_on_chain, len(graph.between(commit, line.tip)), line.name)

    return min(found, key=order, default=None)
