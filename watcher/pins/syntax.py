"""The grammar of a shell script: a tree whose nodes know their text."""

import re
from collections.abc import Iterator

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from watcher.pins.text import Text

_FOREIGN = re.compile(r"[^\x00-\xff]")
"""What the grammar's scanner looks up in a C table that ends at 255: beyond it a script could end the process."""
_WORD = rb"[A-Za-z_]\w*=(?:\"[^\"\n\\]*\"|'[^'\n]*'|\$\{[^{}\n]*\}|[^\s\"'`(){};&|<>#\\])*"
_SETTINGS = re.compile(
    rb"(?m)^(?P<line>[ \t]*(?:(?:[^\n]*;[ \t]*)?(?:then|else|do)[ \t]+)?%b(?:[ \t]+%b)+)"
    rb"(?:\n(?=[ \t]*(?:\n|[^\s;&|)]+[ \t;=(\[]|fi\b|else\b|done\b|esac\b))|[ \t](?=[ \t]*#))" % (_WORD, _WORD)
)
"""A line of nothing but several assignments: the grammar takes them for the environment of the next line's command."""
_LARGEST = 1_000_000
"""Longer scripts are made by programs; parsing one of this size takes less than half a second at the worst."""


class Script:
    """A parsed text."""

    def __init__(self, source: Text) -> None:
        self.source = source if len(source.chars) <= _LARGEST else source[:_LARGEST]
        self.is_cut = self.source is not source
        """Whether the text is so large that its end was left out."""
        source = self.source
        encoded = _FOREIGN.sub("\u00a4", source.chars).encode()
        self.root: Node = _parsed(encoded)
        self._offsets = None if len(encoded) == len(source.chars) else _char_offsets(encoded)
        self._texts: dict[tuple[int, int], Text] = {}

    def text(self, node: Node) -> Text:
        """Return what a node covers."""
        return self.between(node.start_byte, node.end_byte)

    def between(self, start: int, end: int) -> Text:
        """Return what stands between two byte offsets; loops and calls read the same words again and again."""
        text = self._texts.get((start, end))
        if text is None:
            first, last = (start, end) if self._offsets is None else (self._offsets[start], self._offsets[end])
            text = self._texts[start, end] = self.source[first:last]
        return text


def _parsed(encoded: bytes) -> Node:
    """Return the tree of a script; lines of several assignments end where the line does, unless that breaks it."""
    parser = Parser(Language(tree_sitter_bash.language()))
    root = parser.parse(encoded).root_node
    ended = _SETTINGS.sub(rb"\g<line>;", encoded)
    if ended == encoded:
        return root
    other = parser.parse(ended).root_node
    return root if other.has_error and not root.has_error else other


def _char_offsets(encoded: bytes) -> list[int]:
    """Return, for each byte of UTF-8, which character it belongs to."""
    offsets, at = [], -1
    for byte in encoded:
        at += byte & 0xC0 != 0x80  # noqa: PLR2004 - 10xxxxxx is a continuation byte
        offsets.append(at)
    return [*offsets, at + 1]


def chain(node: Node) -> Iterator[tuple[str, Node]]:
    """Yield the commands of an `a && b || c` list in order, each with the operator before it."""
    stack = [("", node)]
    while stack:
        operator, node = stack.pop()
        if node.type != "list" or node.child_count < 3:  # noqa: PLR2004 - left, operator, right
            yield operator, node
            continue
        left, between, right = node.children[0], node.children[1], node.children[-1]
        stack += [(between.type, right), (operator, left)]


def between(node: Node, opening: str, *closings: str) -> list[Node]:
    """Return the children that stand after one keyword and before the next of some others."""
    found: list[Node] = []
    is_open = not opening
    for child in node.children:
        if child.type == opening and not is_open:
            is_open = True
        elif is_open and child.type in closings:
            break
        elif is_open and child.is_named:
            found.append(child)
    return found
