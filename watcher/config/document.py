"""Read YAML as plain text, lists and mappings, and remember on which line each piece stands.

Every scalar stays the text that people wrote: YAML itself would read the commit id 0123456 as an octal number and
12e4567 as infinity. What else YAML can do (tags, several documents, aliases without bound) is refused.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import yaml

from watcher.errors import ConfigError

Loc = tuple[int | str, ...]
"""The way to a piece of the document: keys and list positions."""

_DEEPEST = 40
_MOST_REPEATED = 10_000
"""How many pieces aliases may repeat: enough for any real use, too few to fill the memory."""

_TAB = re.compile(r"^ *\t", re.MULTILINE)
_KINDS = {f"tag:yaml.org,2002:{kind}" for kind in ("str", "seq", "map")}
_SECRET = re.compile(
    r"xox[a-z]+-|xapp-|hooks\.slack\.com|gh[a-z]_|github_pat_|glpat-|://[^@]*@|^[^@/]*:[^@/]*@", re.IGNORECASE
)
_SECRET_KEYS = {"token", "webhook", "password"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A parsed file: its data, and where each piece of it stands."""

    path: str
    lines: tuple[str, ...]
    root: yaml.Node | None
    data: Any
    """Nested dicts, lists and text; None where nothing was written."""
    mistakes: tuple[tuple[int, str], ...]
    """What is wrong with the text itself: (line, message)."""

    def line(self, loc: Loc) -> int:
        """Return the 1-based line of the deepest piece on the way that the document has."""
        key, node = self._find(loc)
        return 1 if node is None else (key or node).start_mark.line + 1

    def found(self, loc: Loc) -> str:
        """Say in words what stands there, without giving a secret away."""
        key, node = self._find(loc)
        if loc[-1:] == ("[key]",):
            return quoted(key.value) if isinstance(key, yaml.ScalarNode) else "a key that is no text"
        match node:
            case yaml.MappingNode():
                return "a mapping"
            case yaml.SequenceNode():
                return "a list"
            case yaml.ScalarNode() if not _is_nothing(node):
                is_secret = any(part in _SECRET_KEYS for part in loc)
                return "text that may be a secret (not shown)" if is_secret else quoted(node.value)
            case _:
                return "nothing"

    def has_comment(self, loc: Loc) -> bool:
        """Answer whether the line has a ` #`, after which YAML reads nothing more."""
        line = self.line(loc)
        return line <= len(self.lines) and " #" in self.lines[line - 1]

    def _find(self, loc: Loc) -> tuple[yaml.Node | None, yaml.Node | None]:
        """Return the key node (where the last step went through a mapping) and the node itself."""
        key: yaml.Node | None = None
        node = self.root
        for part in loc:
            match node:
                case yaml.MappingNode(value=pairs):
                    pair = next((pair for pair in pairs if pair[0].value == part), None)
                    key, node = pair or (key, node)
                case yaml.SequenceNode(value=items) if isinstance(part, int) and part < len(items):
                    key, node = None, items[part]
        return key, node


def quoted(text: str) -> str:
    """Return the text in quotes and short, or words in its place where it looks like a secret."""
    return "text that may be a secret (not shown)" if _SECRET.search(text) else repr(text[:80])


def parse(path: str, text: str) -> Document:
    """Parse the text of one document; raise ConfigError where it is no YAML at all."""
    if tab := _TAB.search(text):
        line = text.count("\n", 0, tab.end()) + 1
        raise ConfigError(f"{path}:{line}: expected spaces at the beginning of the line, found a tab")
    root = _compose(path, text)
    builder = _Builder(path=path)
    data = None if root is None else builder.build(root, 0)
    lines = tuple(text.splitlines())
    return Document(path=path, lines=lines, root=root, data=data, mistakes=tuple(builder.mistakes))


class _Bounded(yaml.composer.Composer):
    """Compose nodes down to a bounded depth."""

    depth = 0
    peek_event: Callable[[], Any]

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise yaml.composer.ComposerError(None, None, f"more than {_DEEPEST} levels", self.peek_event().start_mark)
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


class _Loader(_Bounded, yaml.BaseLoader):
    """Compose nodes without giving scalars a type; says best what is wrong."""


_quickest: type[yaml.BaseLoader] | type[yaml.CBaseLoader] = _Loader
if yaml.__with_libyaml__:

    class _Quick(_Bounded, yaml.CBaseLoader):
        """The same from libyaml's events, in a third of the time."""

        def __init__(self, text: str) -> None:
            yaml.CBaseLoader.__init__(self, text)
            self.anchors: dict[str, yaml.Node] = {}

    _quickest = _Quick


def _composed(text: str) -> yaml.Node | None:
    """Return the one document of a text; raise YAML's errors."""
    with suppress(yaml.YAMLError):
        return yaml.compose(text, Loader=_quickest)
    return yaml.compose(text, Loader=_Loader)


def _compose(path: str, text: str) -> yaml.Node | None:
    try:
        return _composed(text)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        found = f"U+{int(error.character):04X}"
        raise ConfigError(f"{path}:{line}: expected printable text, found the character {found}") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = 1 if mark is None else min(mark.line + 1, max(1, len(text.splitlines())))
        raise ConfigError(f"{path}:{line}: {_explanation(error)}") from None


def _explanation(error: yaml.MarkedYAMLError) -> str:
    problem = error.problem or ""
    if "document" in problem or "document" in (error.context or ""):
        return "expected one document, found a second one"
    hint = ""
    if "alias" in problem or "alias" in (error.context or ""):
        hint = "; text that begins with * must stand in quotes"
    elif starts := re.search(r"found character '(.)' that cannot start", problem):
        hint = f"; text that begins with {starts[1]} must stand in quotes"
    return f"expected YAML, found a mistake: {problem}{hint}"


@dataclass(slots=True, kw_only=True)
class _Builder:
    """Turn nodes into plain data, and note what is wrong on the way."""

    path: str
    mistakes: list[tuple[int, str]] = field(default_factory=list)
    seen: set[int] = field(default_factory=set)
    repeated: int = 0

    def build(self, node: yaml.Node, depth: int) -> Any:
        self._bound(node, depth)
        if node.tag not in _KINDS:
            self._note(node, f"expected plain text, a list or a mapping, found the tag {node.tag[:80]!r}")
        match node:
            case yaml.MappingNode(value=pairs):
                return self._mapping(pairs, depth)
            case yaml.SequenceNode(value=items):
                return [self.build(item, depth + 1) for item in items]
            case _:
                return None if _is_nothing(node) else node.value

    def _mapping(self, pairs: list[tuple[yaml.Node, yaml.Node]], depth: int) -> dict[str, Any]:
        data: dict[str, Any] = {}
        lines: dict[str, int] = {}
        for key, value in pairs:
            if not isinstance(key, yaml.ScalarNode):
                self._note(key, "expected text as a key, found a list or a mapping")
            elif key.value in data:
                self._note(
                    key, f"expected each key once, found {quoted(key.value)} again (first on line {lines[key.value]})"
                )
            else:
                lines[key.value] = key.start_mark.line + 1
                data[key.value] = self.build(value, depth + 1)
        return data

    def _bound(self, node: yaml.Node, depth: int) -> None:
        """Refuse aliases that contain themselves or multiply."""
        self.repeated += id(node) in self.seen
        self.seen.add(id(node))
        if depth > _DEEPEST or self.repeated > _MOST_REPEATED:
            line = node.start_mark.line + 1
            raise ConfigError(
                f"{self.path}:{line}: expected plain lists and mappings, found aliases that grow without bound"
            )

    def _note(self, node: yaml.Node, message: str) -> None:
        self.mistakes.append((node.start_mark.line + 1, message))


def _is_nothing(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.value == "" and not node.style
