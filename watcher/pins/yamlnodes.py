"""YAML whose strings know their lines; every scalar stays the text that was written."""

import re
from collections.abc import Iterator

import yaml

from watcher.pins.text import UNKNOWN, Place, Span, Text
from watcher.pins.tree import DEEPEST, Leaf, Node, Problem, Reading, Row, Table, inline

_ODD_BREAKS = re.compile("[\r\x85\u2028\u2029]")
"""What YAML takes for the end of a line, and nobody else does."""
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The parser in C where it was built: ten times as fast."""


def read_all(text: str, file: str) -> tuple[list[Node], Problem | None]:
    """Read the documents of a file, as far as they can be read; an alias is the node that it names, never a copy."""
    text = _ODD_BREAKS.sub(" ", text)
    reader = _Reader(text, file)
    problem: Problem | None = None
    try:
        for event in _events(text):
            reader.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = min(mark.line, text.count("\n")) + 1 if mark else 1
        problem = Problem(line, f"expected YAML: {error.problem or error.context}")
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        problem = Problem(1, f"expected YAML: {str(error).splitlines()[0] if str(error) else type(error).__name__}")
    return reader.documents, problem


def read(text: str, file: str) -> Reading:
    """Read the first document of a file."""
    documents, problem = read_all(text, file)
    return Reading(documents[0] if documents else Table(Place(file, 1)), problem)


def _events(text: str) -> Iterator[yaml.Event]:
    yield from yaml.parse(text, Loader=_Loader)


class _Reader:
    """Puts nodes together from events."""

    def __init__(self, text: str, file: str) -> None:
        self.lines = text.split("\n")
        self.file = file
        self.documents: list[Node] = []
        self.open: list[Row | Table] = []
        self.keys: list[Text | None] = []
        self.anchors: dict[str, Node] = {}
        self.skipped = 0

    def take(self, event: yaml.Event) -> None:
        """Add one event."""
        match event:
            case yaml.DocumentStartEvent():
                self.anchors.clear()
            case yaml.ScalarEvent():
                self._put(self._leaf(event), event.anchor)
            case yaml.AliasEvent():
                self._put(self.anchors.get(event.anchor or "") or Leaf(Text(), False, self._place(event)), None)
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                self._enter(event)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                self._leave()

    def _place(self, event: yaml.Event) -> Place:
        return Place(self.file, event.start_mark.line + 1 if event.start_mark else 1)

    def _leaf(self, event: yaml.ScalarEvent) -> Leaf:
        place = self._place(event)
        is_string = bool(event.style) or not _is_other(event.value)
        return Leaf(self._text(event, place.line), is_string, place)

    def _text(self, event: yaml.ScalarEvent, line: int) -> Text:
        value, last = event.value, event.end_mark.line + 1 if event.end_mark else line
        if event.style == "|":
            return self._block(value, line + 1)
        if line == last or event.style not in {">", '"', "'", "", None}:
            return inline(value, self.file, line)
        return self._folded(value, line, last)

    def _block(self, value: str, line: int) -> Text:
        """Place the lines of a literal block; they stand in the file one by one."""
        clean = value.replace(UNKNOWN, "\ufffd")
        return Text(
            Span(part, Place(self.file, line + number))
            for number, part in enumerate(re.findall(r"[^\n]*\n|[^\n]+", clean))
        )

    def _folded(self, value: str, line: int, last: int) -> Text:
        """Place the words of a value that was folded: each on the first line, from the last word's on, that has it."""
        parts: list[Span] = []
        number, column = line, 0
        for word in value.replace(UNKNOWN, "\ufffd").split(" "):
            bare = word.strip()
            at, where = number, column
            while bare and at <= min(last, len(self.lines)):
                found = self.lines[at - 1].find(bare, where)
                if found >= 0:
                    number, column = at, found + len(bare)
                    break
                at, where = at + 1, 0
            parts += [
                Span(piece, Place(self.file, number)) for piece in (" " * bool(parts) + word).splitlines(keepends=True)
            ]
        return Text(parts)

    def _put(self, node: Node, anchor: str | None) -> None:
        if anchor:
            self.anchors[anchor] = node
        if self.skipped:
            return
        if not self.open:
            self.documents.append(node)
            return
        holder = self.open[-1]
        if isinstance(holder, Row):
            holder.nodes.append(node)
        elif self.keys[-1] is None:
            self.keys[-1] = node.text if isinstance(node, Leaf) else Text()
        else:
            self._entry(holder, self.keys[-1], node)
            self.keys[-1] = None

    def _entry(self, holder: Table, key: Text, node: Node) -> None:
        """Add an entry; `<<` adds those of another table that are not there yet."""
        if key.chars != "<<" or isinstance(node, Leaf):
            holder.put(key, node)
            return
        for other in node.nodes if isinstance(node, Row) else [node]:
            for name, inner in other.entries[:1000] if isinstance(other, Table) and other is not holder else []:
                if name.chars not in holder.index:
                    holder.put(name, inner)

    def _enter(self, event: yaml.MappingStartEvent | yaml.SequenceStartEvent) -> None:
        if self.skipped or len(self.open) >= DEEPEST:
            self.skipped += 1
            return
        place = self._place(event)
        node: Row | Table = Table(place) if isinstance(event, yaml.MappingStartEvent) else Row(place)
        self._put(node, event.anchor)
        self.open.append(node)
        self.keys.append(None)

    def _leave(self) -> None:
        if self.skipped:
            self.skipped -= 1
            return
        self.open.pop()
        self.keys.pop()


def _is_other(value: str) -> bool:
    """Answer whether an unquoted scalar is nothing or a truth value; numbers stay text: so look commits."""
    return value in {"", "~", "null", "true", "false"}
