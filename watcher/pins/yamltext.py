"""A whole YAML file as one table: its documents put together, and what follows a broken place read all the same."""

import re

from watcher.pins import yamlnodes
from watcher.pins.text import Place
from watcher.pins.tree import Node, Problem, Reading, Table

_LARGEST = 600_000
"""Files that people write are smaller; reading one of this size takes less than a second."""
_MOST_TRIES = 8
_TOP = re.compile(r"(?:[\w.\"'-][^\n]*:|- )")


def read(text: str, file: str) -> Reading:
    """Read a file; several documents, and the parts around a broken place, become one table where they are tables."""
    nodes, problem = documents(text, file)
    found = [node for node in nodes if isinstance(node, Table)]
    if len(nodes) == 1 or not found:
        return Reading(nodes[0] if nodes else Table(Place(file, 1)), problem)
    whole = Table(found[0].place)
    for table in found:
        for key, node in table.entries:
            _add(whole, table, key.chars, node)
    return Reading(whole, problem)


def _add(whole: Table, table: Table, name: str, node: Node) -> None:
    """Put an entry of a document into the whole; tables of one name, the two halves of a broken one, become one."""
    old = whole.index.get(name)
    key = next(key for key, _ in table.entries if key.chars == name)
    if not (isinstance(old, Table) and isinstance(node, Table)):
        whole.put(key, node)
        return
    both = Table(old.place, list(old.entries), dict(old.index))
    for inner, child in node.entries:
        both.put(inner, child)
    whole.put(key, both)


def documents(text: str, file: str) -> tuple[list[Node], Problem | None]:
    """Read each document, and say where the first broken place is; reading goes on at the next top-level key."""
    if len(text) > _LARGEST:
        return [], Problem(1, f"too large: more than {_LARGEST} characters")
    lines = text.split("\n")
    nodes: list[Node] = []
    first: Problem | None = None
    start = 0
    for _ in range(_MOST_TRIES):
        found, problem = yamlnodes.read_all("\n" * start + "\n".join(lines[start:]), file)
        nodes += found
        if problem is None:
            break
        first = first or Problem(max(1, min(problem.line, len(lines))), problem.reason)
        after = max(problem.line, start + 1)
        following = next((at for at in range(after, len(lines)) if _TOP.match(lines[at])), None)
        if following is None:
            break
        start = following
    return nodes, first
