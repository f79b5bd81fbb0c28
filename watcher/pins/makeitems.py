"""What the lines of a Makefile are: variables, rules, canned recipes, includes, conditionals."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from watcher.pins.format import Broken
from watcher.pins.text import Place, Text, joined, written

_ASSIGN = re.compile(
    r"\s*(?:(?:export|override|private)\s+)*(?P<name>[\w.%/-]+|\$\([\w.-]+\))\s*"
    r"(?P<how>\?=|::?:?=|\+=|!=|=)[ \t]*(?P<value>.*)",
    re.DOTALL,
)
_TARGET_ASSIGN = re.compile(
    r"(?P<targets>[^:=#\t][^:=#]*?)\s*:\s*(?P<rest>(?:export\s+|override\s+)?[\w.-]+\s*(?:[?:+!]|::)?=.*)", re.DOTALL
)
_RULE = re.compile(r"(?P<targets>[^\s:=#][^:=#]*?)\s*&?::?(?!=)\s*(?P<needs>[^;]*)(?:;(?P<recipe>.*))?", re.DOTALL)
_IF = re.compile(r"\s*(?P<else>else\s+)?(?P<word>ifeq|ifneq|ifdef|ifndef)\b\s*(?P<test>.*)")
_DEFINE = re.compile(r"\s*(?:override\s+)?define\s+(?P<name>[\w.-]+)\s*(?:\??:?=)?\s*$")
_INCLUDE = re.compile(r"\s*[-s]?include\s+(?P<files>.+)")
_DEEPEST = 20
_MOST_LINES = 20_000


@dataclass(slots=True)
class Assign:
    """A variable that is set; `target` names the only targets for which it is."""

    name: str
    how: str
    value: Text
    target: str = ""


@dataclass(slots=True)
class Define:
    """A canned recipe, `define … endef`."""

    name: str
    lines: list[Text]


@dataclass(slots=True)
class Rule:
    """Targets, what they need, and the lines that make them."""

    targets: tuple[str, ...]
    needs: tuple[str, ...]
    lines: list["Text | If"] = field(default_factory=list)


@dataclass(slots=True)
class Include:
    """Other Makefiles that are read in this place."""

    files: Text


@dataclass(slots=True)
class If:
    """A conditional with its two arms."""

    word: str
    test: Text
    arms: tuple[list["Item"], list["Item"]] = field(default_factory=lambda: ([], []))


Item = Assign | Define | Rule | Include | If | Text


class Parser:
    """Puts the lines of a Makefile together to items."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.items: list[Item] = []
        self.broken: list[Broken] = []
        self._open: list[tuple[If, int, int]] = []
        """The conditionals that are open, which arm is read, and how many `else if` hang on each."""
        self._rule: Rule | None = None
        self._define: Define | None = None

    def read(self, text: str) -> None:
        """Put the lines of a file together; what is broken is remembered."""
        for line in _logical(self.path, text):
            self._line(line)
        if self._define is not None:
            self._complain(self._define.lines[0] if self._define.lines else None, "`endef`")
        if self._open:
            self._complain(self._open[-1][0].test, "`endif`")

    def _complain(self, line: Text | None, expected: str) -> None:
        if not self.broken:
            place = line.place() if line else Place(self.path, 1)
            found = line.chars.strip()[:40] if line else ""
            self.broken.append(
                Broken(file=self.path, line=max(place.line, 1), reason=f"expected {expected}, found {found!r}")
            )

    def _put(self, item: Item) -> None:
        into = self._open[-1][0].arms[self._open[-1][1]] if self._open else self.items
        into.append(item)

    def _line(self, line: Text) -> None:
        chars = line.chars
        if self._define is not None:
            if chars.strip() == "endef":
                self._put(self._define)
                self._define = None
            else:
                self._define.lines.append(line)
            return
        stripped = chars.strip()
        if not stripped or stripped.startswith("#"):
            return
        if self._conditional(line, stripped):
            return
        if chars.startswith("\t") and self._rule is not None:
            self._put(line) if self._open else self._rule.lines.append(line)
            return
        self._statement(line)

    def _conditional(self, line: Text, stripped: str) -> bool:
        found = _IF.match(line.chars)
        if found and not found["else"]:
            self._enter(found["word"], line[found.start("test") :], 0)
        elif found and self._open:
            outer, _, count = self._open.pop()
            self._open.append((outer, 1, count))
            self._enter(found["word"], line[found.start("test") :], count + 1)
        elif re.fullmatch(r"else\s*(?:#.*)?", stripped) and self._open:
            node, _, count = self._open.pop()
            self._open.append((node, 1, count))
        elif re.fullmatch(r"endif\s*(?:#.*)?", stripped):
            if not self._open:
                self._complain(line, "`ifeq` before `endif`")
                return True
            for _ in range(self._open[-1][2] + 1):
                if self._open:
                    self._open.pop()
        else:
            return False
        return True

    def _enter(self, word: str, test: Text, count: int) -> None:
        node = If(word, test)
        if len(self._open) < _DEEPEST:
            self._put(node)
        self._open.append((node, 0, count))

    def _statement(self, line: Text) -> None:
        chars = line.chars
        define, include = _DEFINE.match(chars), _INCLUDE.match(chars)
        if define:
            self._define = Define(define["name"], [])
        elif include:
            self._put(Include(line[include.start("files") :]))
        elif not self._assigned(line, ""):
            self._ruled(line)

    def _assigned(self, line: Text, target: str) -> bool:
        found = _ASSIGN.fullmatch(line.chars)
        if found is None:
            return False
        value = _uncommented(line[found.start("value") :])
        self._put(Assign(found["name"], found["how"], value, target))
        if not target:
            self._rule = None
        return True

    def _ruled(self, line: Text) -> None:
        specific = _TARGET_ASSIGN.fullmatch(line.chars)
        if specific and self._assigned(line[specific.start("rest") :], specific["targets"]):
            return
        found = _RULE.fullmatch(line.chars)
        if found is None:
            if not re.match(
                r"\s*(?:export|unexport|vpath|undefine|\$\(|\$\{|\.|-?load\b|private\b)", line.chars
            ) and not line.chars.startswith("\t"):
                self._complain(line, "a rule or a variable")
            return
        self._rule = Rule(tuple(found["targets"].split()), tuple(found["needs"].replace("|", " ").split()))
        self._put(self._rule)
        if found["recipe"]:
            self._rule.lines.append(line[found.start("recipe") :])


def _logical(path: str, text: str) -> Iterator[Text]:
    """Yield the lines; one that ends in a backslash goes on in the next, and keeps the break for the shell."""
    parts: list[Text] = []
    for number, line in enumerate(text.split("\n")[:_MOST_LINES], 1):
        is_continued = line.endswith("\\") and not line.endswith("\\\\")
        parts.append(written(line + ("\n" if is_continued else ""), path, number))
        if not is_continued:
            yield joined(parts)
            parts = []
    if parts:
        yield joined(parts)


def _uncommented(value: Text) -> Text:
    """Cut off a remark; an escaped one is none. Where a value goes on over lines, make joins them with one blank."""
    found = re.search(r"(?<!\\)(?:^|\s)#", value.chars)
    value = value[: found.start()] if found else value
    value = value[: len(value.chars.rstrip())]
    parts, last = [], 0
    for cut in re.finditer(r"[ \t]*\\\n[ \t]*", value.chars):
        parts += [value[last : cut.start()], value[cut.start() : cut.start() + 1].mapped(lambda _: " ")]
        last = cut.end()
    return joined((*parts, value[last:]))
