"""What `jq` and `yq` print: the scalar at a path of a structured file."""

import re
from collections.abc import Iterable, Sequence

from watcher.pins import jsontext, tomltext, yamltext
from watcher.pins.text import Text
from watcher.pins.tree import Leaf, Node, Row, Table

_STEP = re.compile(
    r"\.?\[\s*(?:\"(?P<key>[^\"\\]*)\"|(?P<at>\d{1,4}))\s*\]|\.(?:(?P<name>[A-Za-z_][\w-]*)|\"(?P<quoted>[^\"\\]*)\")"
)
_REST = re.compile(r"\s*(?://.*|\|\s*tostring\s*)?", re.DOTALL)
_LONGEST = 200_000
_LONGEST_PATH = 400


def path_in(words: Iterable[str]) -> tuple[str, ...] | None:
    """Return the keys that the query among some words follows: `.a["b"][0]` → a, b, 0; None where none is that simple.

    A default behind `//` stands for what is not there, so it is left out.
    """
    return next((keys for word in words if (keys := _keys(word)) is not None), None)


def _keys(word: str) -> tuple[str, ...] | None:
    word = word.strip()
    if not word.startswith(".") or len(word) > _LONGEST_PATH:
        return None
    keys: list[str] = []
    at = 0
    while found := _STEP.match(word, at):
        keys.append(next(part for part in found.group("key", "at", "name", "quoted") if part is not None))
        at = found.end()
    return tuple(keys) if keys and _REST.fullmatch(word, at) else None


def queried(keys: Sequence[str], source: Text) -> Text | None:
    """Return the scalar at a path of keys in JSON, YAML or TOML; None where there is none or none is known."""
    if len(source.chars) > _LONGEST or not source.is_known or not source.spans:
        return None
    node: Node | None = _root(source)
    for key in keys:
        match node:
            case Table():
                node = node.get(key)
            case Row(nodes=nodes) if key.isdigit() and int(key) < len(nodes):
                node = nodes[int(key)]
            case _:
                return None
    return node.text if isinstance(node, Leaf) and node.text else None


def _root(source: Text) -> Node:
    place = source.place()
    chars = "\n" * (place.line - 1) + source.chars
    if source.chars.lstrip().startswith("{") or place.file.endswith(".json"):
        return jsontext.read(chars, place.file).root
    if place.file.endswith(".toml"):
        return tomltext.read(chars, place.file).root
    return yamltext.read(chars, place.file).root
