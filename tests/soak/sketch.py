"""Make of an upstream's commits what can be served: a picture, files and messages."""

from collections.abc import Mapping

from tests.soak.script import PARTS, Refs, Upstream
from tests.stories import kit


def files(upstream: Upstream) -> dict[str, dict[str, str]]:
    """Return what the commits write that do not only write a file of their own name."""
    setup = f'from setuptools import setup\n\nsetup(name="{upstream.name}", version="1.4.0")\n'
    broken = {f"src/{part}.c": kit.broken(part) for part in PARTS}
    roots = {name: broken | {"setup.py": setup} for name in upstream.parents if name.startswith("a")}
    page = {"index.html": f"<title>{upstream.name}</title>\n"}
    strangers = {name: page for name in upstream.parents if name.startswith("s")}
    repaired = {part: {f"src/{part}.c": kit.repaired(part)} for part in PARTS}
    return {**roots, **strangers, **{name: repaired[part] for name, part in upstream.repairs.items()}}


def messages(upstream: Upstream) -> dict[str, str]:
    """Return the messages of commits that repair something."""
    return {
        name: f"fix: pages of the {part} are given back twice when a borrowed buffer is closed\n\nFixes #{number}\n"
        for number, (name, part) in enumerate(upstream.repairs.items(), 31)
    }


def picture(parents: Mapping[str, str | None], refs: Refs) -> str:
    """Draw what the refs hold as `watcher.demo.drawing` reads it.

    Each commit's first child goes on in its row; every other one begins a row above. Rows are added rightmost fork
    first, so that the upright line to a fork crosses no row.
    """
    drawn: dict[str, None] = {}
    for tip in refs.values():
        found: str | None = tip
        while found is not None and found not in drawn:
            drawn[found] = None
            found = parents[found]
    children: dict[str | None, list[str]] = {}
    for name in sorted(drawn):
        children.setdefault(parents[name], []).append(name)
    rows: list[str] = []
    for root in children.get(None, []):
        _add_row(root, 0, children, rows)
    return "\n".join(row.rstrip() for row in reversed(rows)) + "\n"


def _add_row(first: str, column: int, children: Mapping[str | None, list[str]], rows: list[str]) -> None:
    """Add the row that begins with a commit, then those that fork from it."""
    row, forks = " " * column + first, list[tuple[int, str]]()
    name = first
    while onward := children.get(name):
        if len(onward) > len(name):
            raise ValueError(f"{name} has more children than its name has letters")
        forks += [(len(row) - len(name) + place, other) for place, other in enumerate(onward[1:])]
        name = onward[0]
        row += f"---{name}"
    rows.append(row)
    own = len(rows)
    for place, other in sorted(forks, reverse=True):
        rows.append("")
        rows[own:] = [row[:place].ljust(place) + "|" + row[place + 1 :] for row in rows[own:]]
        _add_row(other, place, children, rows)
