"""Which states did upstream itself publish?

A line is the first-parent chain of the default branch, of a release branch, or of a tag. Topic branches are not
lines: a commit inside a pull request's branch was never the tip of anything that upstream offered.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from watcher.graph import Graph
from watcher.model import Advertisement, Oid

_RELEASE = re.compile(
    r"(v?\d+[._]\d+([._]\d+)*([._-]?x)?(LTS)?|v?\d+\.x|release[-/_].+|release|rel[-/_]?\d.*|stable([-/_].+)?"
    r"|branch-?\d.*|maint(-.*)?|patch/\d.*|fixes-\d.*|[\d.]+-stable|.*-series|libbpf-\d.*|tokio-\d.*|nvme-cli-\d.x"
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
    """Return the line that a pinned commit belongs to, or None."""
    return own_lines([commit], advertisement, graph, tracked).get(commit)


def own_lines(
    commits: Iterable[Oid], advertisement: Advertisement, graph: Graph, tracked: Iterable[str] = ()
) -> dict[Oid, Line]:
    """Return the line that each pinned commit belongs to, for those that are on one.

    The tracked branch where that holds it; else a release branch, else another branch, else a tag; among these one
    whose first-parent chain passes through the commit, then the one with the shortest history.
    """
    wanted = tuple(commits)
    leading = _lines(_leading(advertisement, tracked), advertisement, graph)
    followed = graph.holders(wanted, [line.tip for line in leading])
    found = {commit: leading[_lowest(held)] for commit, held in followed.items() if held}
    return found | _beside([commit for commit in wanted if commit not in found], advertisement, graph)


def _beside(commits: Sequence[Oid], advertisement: Advertisement, graph: Graph) -> dict[Oid, Line]:
    """Return the line of each commit that is on none of those that lead."""
    if not commits:
        return {}

    def kind(line: Line) -> tuple[bool, bool]:
        return (line.name.startswith("refs/tags/"), not is_release_branch(line.name))

    every = (Line(name=ref.name, tip=ref.commit) for ref in advertisement.refs if ref.commit in graph)
    lines = sorted(every, key=lambda line: (kind(line), graph.generations[line.tip], line.name))
    tips = [line.tip for line in lines]
    held, chained = graph.holders(commits, tips), graph.holders(commits, tips, first_parent=True)
    kinds = [sum(1 << at for at, _ in group) for _, group in groupby(enumerate(lines), key=lambda it: kind(it[1]))]
    found = {}
    for commit, bits in held.items():
        best = next((bits & mask for mask in kinds if bits & mask), 0)
        if best:
            found[commit] = lines[_lowest(best & chained[commit] or best)]
    return found


def _lowest(bits: int) -> int:
    """Return the place of the lowest bit that is set."""
    return (bits & -bits).bit_length() - 1


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
