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
    """Return the lines: tracked branches of the configuration, the default branch, release branches, tags.

    `tracked` holds short or full branch names. Tags whose objects are no commits are left out.
    """
    branches = [
        ref.name for ref in advertisement.refs if ref.name.startswith("refs/heads/") and is_release_branch(ref.name)
    ]
    tags = [ref.name for ref in advertisement.refs if ref.name.startswith("refs/tags/")]
    return _lines((*_leading(advertisement, tracked), *branches, *tags), advertisement, graph)


def followed_lines(advertisement: Advertisement, graph: Graph, tracked: Iterable[str] = ()) -> tuple[Line, ...]:
    """Return the lines whose landings are looked at for every pin: those of the configuration, else the default one."""
    wanted = tuple(tracked)
    lines = _lines(_leading(advertisement, wanted), advertisement, graph)
    named = [line for line in lines if line.name in {_full(name) for name in wanted}]
    return tuple(named) or lines[:1]


def own_line(commit: Oid, advertisement: Advertisement, graph: Graph, tracked: Iterable[str] = ()) -> Line | None:
    """Return the line that a pinned commit belongs to.

    The tracked branch where that holds it; else a release branch, else another branch, else a tag; among these one
    whose first-parent chain passes through the commit, then the one with the shortest history.
    """
    holders = graph.descendants(commit)
    leading = _lines(_leading(advertisement, tracked), advertisement, graph)
    for line in leading:
        if line.tip in holders:
            return line
    chained = _first_parent_descendants(commit, graph)

    def order(line: Line) -> tuple[bool, bool, bool, int, str]:
        is_tag = line.name.startswith("refs/tags/")
        is_beside = line.tip not in chained
        return (is_tag, not is_release_branch(line.name), is_beside, graph.generations[line.tip], line.name)

    found = (Line(name=ref.name, tip=ref.commit) for ref in advertisement.refs if ref.commit in holders)
    return min(found, key=order, default=None)


def _first_parent_descendants(commit: Oid, graph: Graph) -> set[Oid]:
    """Return the commits whose first-parent chain passes through a commit."""
    seen: set[Oid] = set()
    todo = [commit]
    while todo:
        found = todo.pop()
        seen.add(found)
        todo += [child for child in graph.children.get(found, ()) if graph.parents(child)[0] == found]
    return seen


def _leading(advertisement: Advertisement, tracked: Iterable[str]) -> tuple[str, ...]:
    """Return the full names of the tracked branches, then of the default one."""
    names = (*(_full(name) for name in tracked), advertisement.head)
    return tuple(dict.fromkeys(name for name in names if name))


def _lines(names: Iterable[str], advertisement: Advertisement, graph: Graph) -> tuple[Line, ...]:
    """Return those names as lines, each once, that are advertised and are commits."""
    tips = {ref.name: ref.commit for ref in advertisement.refs}
    found = dict.fromkeys(name for name in names if tips.get(name) in graph)
    return tuple(Line(name=name, tip=tips[name]) for name in found)


def _full(name: str) -> str:
    return name if name.startswith("refs/") else f"refs/heads/{name}"
