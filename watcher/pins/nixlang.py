"""The part of the Nix language that names sources: attribute sets, strings, and who calls what with them.

No evaluation: a name is the nearest binding of that name around it, a string is its parts, everything else is unknown.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from watcher.pins.text import Place, Text, joined, unknown, written

_TOKEN = re.compile(
    r"(?P<space>\s+|#[^\n]*)"
    r"|(?P<comment>/\*)"
    r"|(?P<quote>\"|'')"
    r"|(?P<uri>[A-Za-z][\w+.-]*:[\w%/?:@&=+$,.!~*'-]*[\w%/?@&=+$,!~*-][\w%/?:@&=+$,.!~*'-]*)"
    r"|(?P<path>[\w.+-]*(?:/[\w.+-]+)+/?|<[\w./+-]+>)"
    r"|(?P<name>[A-Za-z_][\w'-]*)"
    r"|(?P<mark>\$\{|\.\.\.|==|!=|//|\+\+|->|&&|\|\||[{}()\[\];=.:,?@+*/<>!|-])"
    r"|(?P<other>\d[\w.]*|.)",
    re.DOTALL,
)
_OPENING = {"{": "}", "(": ")", "[": "]", "${": "}"}
_INDENTED = re.compile(r"''(?:\$|'|\\.)|\$\$|\$\{|''")
_PLAIN = re.compile(r"\\.|\$\$|\$\{|\"", re.DOTALL)
_BRACE = re.compile(r"[{}]")
_DEEPEST_INSIDE = 12
_WIDEST = 400
"""How long an expression inside a string may be."""
_DEEPEST = 200
_MOST_CHOICES = 24
_MOST = 2_000_000
"""How many tokens may be looked at for the ends of bindings."""


class Token(NamedTuple):
    """One token; a string is one token whose parts are in `parts`."""

    kind: str
    chars: str
    offset: int
    parts: tuple["Token | Text", ...] = ()


@dataclass(slots=True, eq=False)
class Group:
    """What stands between two brackets, or in the whole file."""

    opening: str
    place: Place
    outer: "Group | None" = None
    items: list["Token | Group"] = field(default_factory=list)
    bindings: dict[str, list["Token | Group"]] = field(default_factory=dict)
    """Name, with dots, → the expression that is bound to it here."""
    inherited: dict[str, list["Token | Group"]] = field(default_factory=dict)


class Source:
    """One file as nested groups of tokens."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self._ends = [found.start() for found in re.finditer("\n", text)]
        self.broken: tuple[int, str] | None = None
        self._choice = 0
        """Which of several sets is meant where an expression chooses one by a name that is not told."""
        self._choices = 1
        self.groups: list[Group] = []
        """All of them, in the order in which they open."""
        self.root = self._grouped()
        binder = _Binder()
        for group in self.groups:
            binder.bind(group)

    def place(self, offset: int) -> Place:
        """Return the line of an offset."""
        return Place(self.path, bisect_left(self._ends, offset) + 1)

    def _grouped(self) -> Group:
        root = Group("", Place(self.path, 1))
        self.groups.append(root)
        current, depth = root, 0
        for token in self._tokens():
            if token.kind == "mark" and token.chars in _OPENING and depth < _DEEPEST:
                group = Group(token.chars, self.place(token.offset), current)
                current.items.append(group)
                self.groups.append(group)
                current, depth = group, depth + 1
            elif token.kind == "mark" and token.chars in "})]":
                if current.outer is None or _OPENING[current.opening] != token.chars:
                    self._wrong(token.offset, f"nothing to close, found {token.chars!r}")
                    continue
                current, depth = current.outer, depth - 1
            else:
                current.items.append(token)
        if current is not root:
            self._wrong(len(self.text), f"expected {_OPENING[current.opening]!r}, found the end")
        return root

    def _wrong(self, offset: int, reason: str) -> None:
        if self.broken is None:
            self.broken = (self.place(offset).line, reason)

    def _tokens(self) -> Iterator[Token]:
        at = 0
        while at < len(self.text):
            found = _TOKEN.match(self.text, at)
            if found is None:
                return
            if found.lastgroup == "quote":
                token, at = self._string(at, found[0])
                yield token
                continue
            at = found.end()
            if found.lastgroup == "comment":
                end = self.text.find("*/", at)
                if end < 0:
                    self._wrong(found.start(), "expected the end of a comment")
                    return
                at = end + 2
                continue
            if found.lastgroup not in {"space", None}:
                yield Token(found.lastgroup or "", found[0], found.start())

    def _string(self, start: int, quote: str) -> tuple[Token, int]:
        """Read a string up to its closing quote; what stands in `${…}` becomes a token with its characters."""
        pattern = _PLAIN if quote == '"' else _INDENTED
        parts: list[Token | Text] = []
        at = last = start + len(quote)
        while True:
            found = pattern.search(self.text, at)
            if found is None:
                self._wrong(start, "expected the end of a string")
                return Token(
                    "string",
                    quote,
                    start,
                    (
                        *parts,
                        self._written(last, len(self.text))[:200],
                    ),
                ), len(self.text)
            at = found.end()
            if found[0] == quote:
                return Token("string", quote, start, (*parts, self._written(last, found.start()))), at
            if found[0] == "${":
                parts.append(self._written(last, found.start()))
                end = self._closing(at)
                parts.append(Token("inner", self.text[at:end].strip(), found.start()))
                at = last = end + 1
            elif quote == '"' and found[0].startswith("\\"):
                parts += [self._written(last, found.start()), self._written(found.start() + 1, at)]
                last = at
            elif quote == "''" and len(found[0]) > 2:  # noqa: PLR2004 - an escape, longer than the quote
                parts.append(self._written(last, found.start()))
                last = at - 1

    def _closing(self, at: int) -> int:
        depth = 1
        for found in _BRACE.finditer(self.text, at, at + _WIDEST):
            depth += 1 if found[0] == "{" else -1
            if depth == 0:
                return found.start()
            if depth > _DEEPEST_INSIDE:
                break
        return at

    def _written(self, start: int, end: int) -> Text:
        return written(self.text[start:end], *self.place(start))

    # --- values -------------------------------------------------------------------------------------------------------

    def value(self, expression: list[Token | Group] | None, around: Group, depth: int = 8) -> Text | None:
        """Return the string that an expression is; None where it is none. Parts that are not told are unknown."""
        if not expression or depth == 0:
            return None
        parts: list[Text] = []
        awaits_more = True
        at = 0
        while at < len(expression):
            item = expression[at]
            at += 1
            if isinstance(item, Group):
                inner = self.value(item.items, item, depth - 1) if item.opening == "(" and awaits_more else None
                if inner is None:
                    return None
                parts.append(inner)
            elif item.kind == "string" and awaits_more:
                parts.append(self._content(item, around, depth))
            elif item.kind in {"uri", "path"} and awaits_more:
                parts.append(written(item.chars, *self.place(item.offset)))
            elif item.kind == "name" and awaits_more and item.chars not in {"if", "let", "with", "assert", "rec"}:
                names, at = _dotted(expression, at - 1)
                if at < len(expression) and not _is_plus(expression[at]):
                    return None
                parts.append(self.named(names, around, self.place(item.offset), depth - 1))
            elif item.kind == "mark" and item.chars == "+" and not awaits_more:
                awaits_more = True
                continue
            else:
                return None
            awaits_more = False
        return joined(parts) if not awaits_more else None

    def _content(self, token: Token, around: Group, depth: int) -> Text:
        parts: list[Text] = []
        for part in token.parts:
            if isinstance(part, Text):
                parts.append(part)
            elif re.fullmatch(r"[A-Za-z_][\w'.-]*", part.chars):
                parts.append(self.named(part.chars.split("."), around, self.place(part.offset), depth - 1))
            else:
                parts.append(unknown(part.chars[:40], self.place(part.offset)))
        text = joined(parts)
        if token.chars == "''":
            chars = text.chars
            text = text[len(chars) - len(chars.lstrip()) : len(chars.rstrip())]
        return text

    def named(self, names: list[str], around: Group, place: Place, depth: int) -> Text:
        """Return what a name means: its nearest binding outwards; of `finalAttrs.version` that of `version`."""
        for wanted in dict.fromkeys((".".join(names), names[-1])):
            group: Group | None = around
            while group is not None and depth > 0:
                bound = group.bindings.get(wanted)
                text = self.value(bound, group, depth) if bound is not None else None
                if text is not None:
                    return text.named(names[-1])
                group = group.outer
            if wanted != names[-1] and (text := self._within(names, around, depth)) is not None:
                return text.named(names[-1])
        return unknown(".".join(names), place)

    def alternatives(self, group: Group, name: str) -> list[Text | None]:
        """Return what a name of a set may be: a string for each set of a table that the expression chooses from."""
        self._choice, self._choices = 0, 1
        found = [self.attribute(group, name)]
        for choice in range(1, min(self._choices, _MOST_CHOICES)):
            self._choice = choice
            text = self.attribute(group, name)
            found += [text] if text not in found else []
        self._choice = 0
        return found

    def _within(self, names: list[str], around: Group, depth: int) -> Text | None:
        """Return `a.b.c` where `a` is bound to a set, or to one of the sets in a table."""
        sets = self._sets(names[:-1], around, depth)
        self._choices = max(self._choices, len(sets))
        if not sets:
            return None
        chosen = sets[min(self._choice, len(sets) - 1)]
        bound = chosen.bindings.get(names[-1])
        return self.value(bound, chosen, depth - 1) if bound is not None else None

    def _sets(self, names: list[str], around: Group, depth: int) -> list[Group]:
        """Return the sets that a dotted name may mean; an empty name stands for any."""
        group: Group | None = around
        while group is not None and names[0] not in group.bindings:
            group = group.outer
        if group is None or depth <= 0:
            return []
        sets = self._bound_sets(group.bindings[names[0]], group, depth - 1)
        for name in names[1:]:
            inner: list[Group] = []
            for held in sets:
                for bound in held.bindings.values() if not name else [held.bindings.get(name, [])]:
                    inner += self._bound_sets(bound, held, depth - 1)
            sets = inner[:_MOST_CHOICES]
        return sets

    def _bound_sets(self, expression: list[Token | Group], around: Group, depth: int) -> list[Group]:
        items = [item for item in expression if not (isinstance(item, Token) and item.chars == "rec")]
        if len(items) == 1 and isinstance(items[0], Group):
            return [items[0]] if items[0].opening == "{" else []
        names = _path(items)
        return self._sets(names, around, depth) if names and names[0] else []

    def attribute(self, group: Group, name: str) -> Text | None:
        """Return the string bound to a name in a set; of an inherited one, what the name means around it."""
        bound = group.bindings.get(name)
        if bound is not None:
            return self.value(bound, group)
        if name in group.inherited and group.outer is not None:
            source = group.inherited[name]
            origin = source[0] if source and isinstance(source[0], Group) and source[0].opening == "(" else None
            names = [part for part in _path(origin.items) if part] if origin is not None else []
            return self.named([*names, name], group.outer, group.place, 8)
        return None

    def is_bound(self, group: Group, name: str) -> bool:
        """Answer whether a set has a name at all."""
        return name in group.bindings or name in group.inherited


def _path(items: list[Token | Group]) -> list[str]:
    """Read `a.b.${c}` up to an `or`; what is chosen by an expression is empty."""
    names: list[str] = []
    for at, item in enumerate(items):
        if at % 2:
            if not (isinstance(item, Token) and item.chars == "."):
                break
        elif isinstance(item, Group):
            if item.opening != "${":
                return []
            names.append("")
        elif item.kind == "string":
            parts = [part for part in item.parts if not isinstance(part, Text)]
            names.append("" if parts else "".join(part.chars for part in item.parts if isinstance(part, Text)))
        else:
            names.append(item.chars)
    return names


def _is_plus(item: Token | Group) -> bool:
    return isinstance(item, Token) and item.chars == "+"


def _dotted(items: list[Token | Group], at: int) -> tuple[list[str], int]:
    """Read `a.b.c`; return its names and where it ends."""
    names: list[str] = []
    while at < len(items):
        item = items[at]
        if not isinstance(item, Token) or item.kind not in {"name", "string", "path"}:
            break
        name = (
            "".join(part.chars for part in item.parts if isinstance(part, Text))
            if item.kind == "string"
            else item.chars
        )
        names.append(name)
        at += 1
        following = items[at] if at < len(items) else None
        if not (isinstance(following, Token) and following.chars == "."):
            break
        at += 1
    return names, at


class _Binder:
    """Finds what sets, and the `let`s that stand in a group, bind."""

    def __init__(self) -> None:
        self.looked = 0

    def bind(self, group: Group) -> None:
        """Find the bindings of one group."""
        items, at = group.items, 0
        while at < len(items) and self.looked < _MOST:
            item = items[at]
            if isinstance(item, Token) and item.chars == "inherit" and item.kind == "name":
                at = _inherit(group, at + 1)
                continue
            names, end = _dotted(items, at)
            following = items[end] if names and end < len(items) else None
            if isinstance(following, Token) and following.chars == "=":
                stop, has_let = self._end(items, end + 1)
                group.bindings.setdefault(".".join(names), items[end + 1 : stop])
                at = end + 1 if has_let else stop + 1
                continue
            at = max(end, at + 1)

    def _end(self, items: list[Token | Group], at: int) -> tuple[int, bool]:
        """Return where an expression ends, at the `;` of no `let` or `with` inside it; and whether it has a `let`."""
        open_: list[str] = []
        has_let = False
        for end in range(at, len(items)):
            self.looked += 1
            item = items[end]
            if not isinstance(item, Token) or item.kind not in {"name", "mark"}:
                continue
            if item.chars in {"let", "with", "assert"}:
                open_.append(item.chars)
                has_let |= item.chars == "let"
            elif item.chars == "in" and "let" in open_[-1:]:
                open_.pop()
            elif item.chars == ";" and not open_:
                return end, has_let
            elif item.chars == ";" and open_[-1] != "let":
                open_.pop()
        return len(items), has_let


def _inherit(group: Group, at: int) -> int:
    items = group.items
    start = at
    while at < len(items):
        item = items[at]
        if isinstance(item, Token) and item.chars == ";":
            break
        if isinstance(item, Token) and item.kind == "name":
            group.inherited.setdefault(item.chars, items[start:at])
        at += 1
    return at + 1
