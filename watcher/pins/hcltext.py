"""HCL whose values know their lines: blocks, attributes, and what an expression may be once variables are put in."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import tree_sitter_hcl
from tree_sitter import Language, Node, Parser

from watcher.pins.format import Broken
from watcher.pins.text import Place, Text, unknown, written
from watcher.pins.values import Value, concat, distinct, just

Lookup = Callable[[str], Value | None]
"""Says what a name (`X`, `local.x`, `var.y`) may be; None where nothing tells."""

_DEEPEST = 30
_LARGEST = 400_000
_TOP = re.compile(r"(?m)^(?=[A-Za-z_][^\n]*[{=])")
_WRAPPERS = frozenset({"expression", "literal_value", "collection_value", "template_expr"})


@dataclass(slots=True, kw_only=True)
class Block:
    """A block: `variable "X" { … }`."""

    kind: str
    labels: tuple[Text, ...]
    place: Place
    attributes: dict[str, "Expression"] = field(default_factory=dict)
    blocks: list["Block"] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Return the last label."""
        return self.labels[-1].chars if self.labels else ""


@dataclass(frozen=True, slots=True)
class Expression:
    """What stands behind an attribute's `=`."""

    node: Node
    file: str
    line: int
    """The line before the first one of the parsed text."""

    @property
    def place(self) -> Place:
        """Return where it starts."""
        return Place(self.file, self.line + self.node.start_point[0] + 1)

    def value(self, lookup: Lookup, depth: int = 0) -> Value:
        """Return what it may be as text."""
        node = _inner(self.node)
        if depth > _DEEPEST:
            return just(unknown("expression", self.place))
        match node.type:
            case "string_lit" | "quoted_template" | "heredoc_template":
                return self._template(node, lookup, depth)
            case "numeric_lit" | "bool_lit" | "template_literal":
                return just(self._text(node))
            case "null_lit":
                return just(Text())
            case "conditional":
                arms = [child for child in node.named_children if child.type == "expression"][1:]
                return distinct(case for arm in arms for case in self._of(arm).value(lookup, depth + 1))
            case "function_call":
                return self._function(node, lookup, depth)
            case _:
                name = _dotted(node)
                return (lookup(name) if name else None) or just(unknown(name or "expression", self._of(node).place))

    def elements(self) -> Iterator["Expression"]:
        """Yield the elements of a list."""
        node = _inner(self.node)
        if node.type == "tuple":
            yield from (self._of(child) for child in node.named_children if child.type == "expression")

    def entries(self) -> Iterator[tuple[str, "Expression"]]:
        """Yield the keys and values of an object."""
        node = _inner(self.node)
        for element in node.named_children if node.type == "object" else ():
            parts = [child for child in element.named_children if child.type == "expression"]
            if element.type == "object_elem" and len(parts) == 2:  # noqa: PLR2004 - key and value
                key = _inner(parts[0])
                yield (
                    _dotted(key) or "".join(case.text.chars for case in self._of(key).value(lambda _: None)),
                    self._of(parts[1]),
                )

    def _of(self, node: Node) -> "Expression":
        return Expression(node, self.file, self.line)

    def _text(self, node: Node) -> Text:
        return written((node.text or b"").decode("utf-8", "replace"), self.file, self.line + node.start_point[0] + 1)

    def _template(self, node: Node, lookup: Lookup, depth: int) -> Value:
        value: Value = just(Text())
        for child in node.named_children:
            if child.type == "template_literal":
                value = concat(value, just(self._text(child)))
            elif child.type == "template_interpolation":
                inner = next((part for part in child.named_children if part.type == "expression"), None)
                part = self._of(inner).value(lookup, depth + 1) if inner is not None else ()
                value = concat(value, part or just(unknown("expression", self._of(child).place)))
            elif child.type in {"string_lit", "quoted_template"}:
                value = concat(value, self._template(child, lookup, depth))
        return value

    def _function(self, node: Node, lookup: Lookup, depth: int) -> Value:
        """Read `coalesce(a, b)` as the first that is there; other functions are unknown."""
        name = (node.named_children[0].text or b"").decode("utf-8", "replace") if node.named_children else ""
        found = [child for child in node.named_children if child.type == "function_arguments"]
        arguments = [self._of(child) for child in (found[0].named_children if found else ())]
        if name in {"coalesce", "try", "tostring", "trimspace", "lower", "upper"} and arguments:
            values = [argument.value(lookup, depth + 1) for argument in arguments[:8]]
            return next(
                (value for value in values if any(case.text and case.text.is_known for case in value)), values[-1]
            )
        return just(unknown(f"{name}()", self.place))


def read(text: str, file: str) -> tuple[Block, list[Broken]]:
    """Read a file; a broken top-level block is told, the others are read."""
    root = Block(kind="", labels=(), place=Place(file, 1))
    if len(text) > _LARGEST:
        return root, [Broken(file=file, line=1, reason=f"too large: more than {_LARGEST} characters")]
    tree = _parsed(text)
    if not tree.has_error:
        _fill(root, tree, file, 0)
        return root, []
    broken: list[Broken] = []
    starts = [found.start() for found in _TOP.finditer(text)]
    for start, end in pairwise([*starts, len(text)]):
        node, line = _parsed(text[start:end]), text.count("\n", 0, start)
        if node.has_error and not broken:
            broken.append(
                Broken(file=file, line=line + _error_row(node) + 1, reason="expected a block or an attribute of HCL")
            )
        _fill(root, node, file, line)
    return root, broken or [
        Broken(file=file, line=_error_row(tree) + 1, reason="expected a block or an attribute of HCL")
    ]


def _parsed(text: str) -> Node:
    return Parser(Language(tree_sitter_hcl.language())).parse(text.encode("utf-8", "replace")).root_node


def _error_row(root: Node) -> int:
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type == "ERROR" or node.is_missing:
            return node.start_point[0]
        stack += [child for child in reversed(node.children) if child.has_error or child.is_missing]
    return 0


def _fill(block: Block, node: Node, file: str, line: int) -> None:
    """Read the attributes and blocks below a node, without recursion."""
    stack = [(block, child, 0) for child in reversed(node.children)]
    while stack:
        into, child, depth = stack.pop()
        if child.type in {"body", "ERROR"}:
            stack += [(into, inner, depth) for inner in reversed(child.children)]
        elif child.type == "attribute" and len(child.named_children) > 1:
            name = (child.named_children[0].text or b"").decode("utf-8", "replace")
            into.attributes[name] = Expression(child.named_children[-1], file, line)
        elif child.type == "block" and depth < _DEEPEST:
            inner_block = _opened(child, file, line)
            into.blocks.append(inner_block)
            stack += [(inner_block, inner, depth + 1) for inner in reversed(child.children)]


def _opened(node: Node, file: str, line: int) -> Block:
    words = [child for child in node.named_children if child.type in {"identifier", "string_lit"}]
    place = Place(file, line + node.start_point[0] + 1)
    texts = [
        written((word.text or b"").decode("utf-8", "replace").strip('"'), file, line + word.start_point[0] + 1)
        for word in words
    ]
    return Block(kind=texts[0].chars if texts else "", labels=tuple(texts[1:]), place=place)


def _inner(node: Node) -> Node:
    """Return what a node wraps, where it wraps one thing only."""
    for _ in range(_DEEPEST):
        named = [child for child in node.named_children if child.type != "comment"]
        if node.type not in _WRAPPERS or len(named) != 1:
            return node
        node = named[0]
    return node


def _dotted(node: Node) -> str:
    """Return the name of a variable with its attributes; empty for another expression."""
    if node.type == "variable_expr":
        return (node.text or b"").decode("utf-8", "replace")
    parts = node.named_children
    if (
        node.type == "expression"
        and parts
        and parts[0].type == "variable_expr"
        and all(p.type == "get_attr" for p in parts[1:])
    ):
        return (node.text or b"").decode("utf-8", "replace").replace(" ", "")
    return ""


def values(block: Block, names: Iterable[str], lookup: Lookup) -> Mapping[str, Value]:
    """Return what some attributes of a block may be."""
    return {name: block.attributes[name].value(lookup) for name in names if name in block.attributes}
