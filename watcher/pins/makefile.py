"""Makefiles: variables of every flavour, conditionals, canned recipes, and a shell in every recipe line.

A shell starts anew for each line, but the folders that it leaves stay; so do the clones in them. Prerequisites are read
before the targets that need them. `$(MAKE) X=y` passes values on: the Makefile that uses them is read again with them.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from watcher.pins.builds import Build, BuildReader, is_worth_reading, overrides, replaced, written_out
from watcher.pins.checkout import Checkout
from watcher.pins.filling import Hole, filled
from watcher.pins.format import Broken
from watcher.pins.scope import Scope, join
from watcher.pins.sites import Sighting, Site
from watcher.pins.text import Place, Span, Text, joined, unknown, written
from watcher.pins.values import Choice, Guard, Value, concat, just, named

_FILE = re.compile(r"(?:GNU|BSD)?makefile(?:[._-].*)?|.*\.(?:mk|mak|make)", re.IGNORECASE)
_OTHER = re.compile(r".*\.(?:am|in|md|rst|py|txt|ya?ml|json|orig)", re.IGNORECASE)
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
_PLAIN_NAME = re.compile(r"[\w.-]+")
_CALL = re.compile(r"\s*[@+-]*\s*\$[({](?:call\s+)?(?P<name>[\w.-]+)\s*(?:,(?P<arguments>.*))?[)}]\s*", re.DOTALL)
_MAKES = re.compile(r"\bgit\b[^\n]*\b(?:clone|init)\b")
_REF_NAME = re.compile(r"commit|version|tag|ref|sha|rev|branch|hash", re.IGNORECASE)
_PREFIXED_MAKE = re.compile(
    r"(?:^|(?<=[;&|(])\s*|\n\s*)(?=(?:[A-Za-z_]\w*=(?:\"[^\"]*\"|'[^']*'|[^\s\"';&|]*)(?:\s|\\\n)+){1,20}make\b)"
)
_DEEPEST = 20
_MOST_LINES = 20_000
_MOST_FILES = 12


def claims(path: str) -> bool:
    """Answer whether a file is a Makefile: `Makefile`, `GNUmakefile`, `Makefile-awq`, `Makefile.rocm`, `rules.mk`."""
    name = path.rpartition("/")[2]
    return _FILE.fullmatch(name) is not None and _OTHER.fullmatch(name) is None


def parse(path: str, text: str, checkout: Checkout) -> Iterable[Sighting | Broken]:
    """Find the pins of a Makefile, and those that it makes of the variables of another one or of a Dockerfile."""
    make = _Make(path=path, checkout=checkout, arguments={})
    yield from make.run(text)
    yield from overrides(make.reader.builds, checkout)
    yield from _passed(make.reader.makes, checkout)


def evaluate(path: str, text: str, checkout: Checkout, arguments: Mapping[str, Value]) -> Iterator[Sighting | Broken]:
    """Find the pins of a Makefile that is run with variables on its command line."""
    yield from _Make(path=path, checkout=checkout, arguments=arguments).run(text)


def _passed(builds: Iterable[Build], checkout: Checkout) -> Iterator[Sighting]:
    """Yield the pins that `make X=y` makes of its values in the Makefile that uses them."""
    done: set[tuple[str, str]] = set()
    for build in builds:
        given = build.given.items()
        arguments = {name: value for name, value in given if _REF_NAME.search(name) or "://" in value[0].text.chars}
        if not arguments or len(done) > _MOST_FILES:
            continue
        found = checkout.find(build.target, build.caller)
        is_certain = found is not None and found != build.caller and _sets(checkout.texts[found], arguments)
        name = found if is_certain else _alike(arguments, build.caller, checkout)
        if name is not None and (key := (name, written_out(arguments))) not in done:
            done.add(key)
            yield from replaced(name, arguments, checkout, build, evaluate, is_certain=is_certain)


def _alike(arguments: Mapping[str, Value], caller: str, checkout: Checkout) -> str | None:
    """Return the first other Makefile that has all of some variables: a build may work on a copy of it."""
    alike = (other for other in checkout.texts if claims(other) and _sets(checkout.texts[other], arguments))
    return next((other for other in alike if other != caller), None)


def _sets(text: str, arguments: Mapping[str, Value]) -> bool:
    return all(re.search(rf"^\s*{re.escape(name)}\s*[?:]?=", text, re.MULTILINE) for name in arguments)


# --- reading ----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Assign:
    name: str
    how: str
    value: Text
    target: str = ""


@dataclass(slots=True)
class _Define:
    name: str
    lines: list[Text]


@dataclass(slots=True)
class _Rule:
    targets: tuple[str, ...]
    needs: tuple[str, ...]
    lines: list["Text | _If"] = field(default_factory=list)


@dataclass(slots=True)
class _Include:
    files: Text


@dataclass(slots=True)
class _If:
    word: str
    test: Text
    arms: tuple[list["_Item"], list["_Item"]] = field(default_factory=lambda: ([], []))


_Item = _Assign | _Define | _Rule | _Include | _If | Text


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


class _Parser:
    """Puts the lines of a Makefile together to items."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.items: list[_Item] = []
        self.broken: list[Broken] = []
        self._open: list[tuple[_If, int, int]] = []
        """The conditionals that are open, which arm is read, and how many `else if` hang on each."""
        self._rule: _Rule | None = None
        self._define: _Define | None = None

    def read(self, text: str) -> None:
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

    def _put(self, item: _Item) -> None:
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
        node = _If(word, test)
        if len(self._open) < _DEEPEST:
            self._put(node)
        self._open.append((node, 0, count))

    def _statement(self, line: Text) -> None:
        chars = line.chars
        define, include = _DEFINE.match(chars), _INCLUDE.match(chars)
        if define:
            self._define = _Define(define["name"], [])
        elif include:
            self._put(_Include(line[include.start("files") :]))
        elif not self._assigned(line, ""):
            self._ruled(line)

    def _assigned(self, line: Text, target: str) -> bool:
        found = _ASSIGN.fullmatch(line.chars)
        if found is None:
            return False
        value = _uncommented(line[found.start("value") :])
        self._put(_Assign(found["name"], found["how"], value, target))
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
        self._rule = _Rule(tuple(found["targets"].split()), tuple(found["needs"].replace("|", " ").split()))
        self._put(self._rule)
        if found["recipe"]:
            self._rule.lines.append(line[found.start("recipe") :])


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


# --- running ----------------------------------------------------------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class _Make:
    """A make that reads a file with some variables given on its command line."""

    path: str
    checkout: Checkout
    arguments: Mapping[str, Value]
    reader: BuildReader = field(init=False)
    scope: Scope = field(init=False)
    defines: dict[str, list[Text]] = field(default_factory=dict)
    rules: list[tuple[_Rule, Guard]] = field(default_factory=list)
    own: list[_Assign] = field(default_factory=list)
    """Variables of single targets."""
    current: _Rule | None = None
    left: dict[str, dict[str, tuple[tuple[Guard, Site], ...]]] = field(default_factory=dict)
    """For each target the clones that were there after it."""

    def __post_init__(self) -> None:
        self.reader = BuildReader(self.checkout)
        self.scope = Scope(cwd=just(unknown("start", Place(self.path, 1))))
        self.scope.variables.update(self.arguments)

    def run(self, text: str) -> Iterator[Sighting | Broken]:
        """Read variables first, then the recipes."""
        parser = _Parser(self.path)
        parser.read(text)
        yield from parser.broken
        self._assign_all(parser.items, self.scope, frozenset({self.path}), 0)
        self._assign_again(parser.items)
        for rule, guard in self._ordered():
            self._recipe(rule, guard)
        yield from self.reader.finish()
        if self.reader.is_exhausted:
            yield Broken(file=self.path, line=1, reason="too much to follow: what comes late in this file was not read")

    # --- variables ----------------------------------------------------------------------------------------------------

    def _assign_all(self, items: Sequence[_Item], scope: Scope, files: frozenset[str], depth: int) -> None:
        for item in items:
            match item:
                case _Assign(target=""):
                    self._assign(item, scope)
                case _Assign():
                    self.own.append(item)
                case _Define():
                    self.defines[item.name] = item.lines
                case _Rule():
                    self.rules.append((item, scope.guard))
                    self.current = item
                case _Include():
                    self._include(item, scope, files)
                case _If() if depth < _DEEPEST:
                    self._branch(item, scope, lambda arm, body: self._assign_all(body, arm, files, depth + 1))
                case Text() if self.current is not None:
                    self.current.lines.append(item)

    def _assign_again(self, items: Sequence[_Item]) -> None:
        """Read the variables that are expanded where they are used once more, now that all are known."""
        for item in items:
            if isinstance(item, _Assign) and item.how in {"=", "?="} and not item.target and "$" in item.value.chars:
                value = self.scope.variables.get(item.name, ())
                if any(not case.text.is_known for case in value) and item.name not in self.arguments:
                    self.scope.assign(item.name, named(self.expanded(item.value, self.scope), item.name))

    def _assign(self, item: _Assign, scope: Scope) -> None:
        if item.name in self.arguments:
            return
        old = scope.value(item.name)
        value = self.expanded(item.value, scope)
        match item.how:
            case "?=" if old is not None:
                return
            case "!=":
                value = self.reader.value(
                    Text((*_around("$(", item.value), *item.value.spans, *_around(")", item.value))), scope
                )
            case "+=" if old is not None:
                value = concat(concat(old, just(Text(_around(" ", item.value)))), value)
        scope.assign(item.name, named(value, item.name))

    def _include(self, item: _Include, scope: Scope, files: frozenset[str]) -> None:
        for word in self.expanded(item.files, scope):
            for name in word.text.chars.split()[:_MOST_FILES]:
                found = self.checkout.find(name, self.path)
                if found is None or found in files or len(files) > _MOST_FILES:
                    continue
                parser = _Parser(found)
                parser.read(self.checkout.texts[found])
                self._assign_all(parser.items, scope, files | {found}, 0)

    def _branch(self, item: _If, scope: Scope, body: Callable[[Scope, Sequence[_Item]], None]) -> None:
        """Read both arms of a conditional on copies, and put together what they leave."""
        tests = self.expanded(item.test, scope)
        key = tests[0].text.key if len(tests) == 1 else item.test.chars
        is_negated = item.word in {"ifneq", "ifndef"}
        arms: list[tuple[Guard, Scope]] = []
        for is_yes in (True, False):
            arm_number = int(is_yes == is_negated)
            label = item.test.chars if is_yes != is_negated else ""
            guard: Guard = frozenset(
                {
                    Choice(
                        f"?make {item.word.replace('n', '', 1) if is_negated else item.word} {key}",
                        arm_number,
                        2,
                        label,
                    )
                }
            )
            arm = scope.copy(guard)
            body(arm, item.arms[0 if is_yes else 1])
            arms.append((guard, arm))
        join(scope, arms)

    # --- expansion ----------------------------------------------------------------------------------------------------

    def expanded(self, source: Text, scope: Scope, depth: int = 0) -> Value:
        """Return what a text may be with make's references put in."""
        value: Value = just(Text())
        last = 0
        for start, end, name in _references(source):
            value = concat(value, just(source[last:start]))
            value = concat(value, self._reference(name, scope, depth))
            last = end
        return concat(value, just(source[last:]))

    def _reference(self, inner: Text, scope: Scope, depth: int) -> Value:
        chars = inner.chars
        if chars == "$":
            return just(inner)
        if depth > _DEEPEST:
            return just(unknown(chars[:40], inner.place()))
        if _PLAIN_NAME.fullmatch(chars):
            return self._variable(chars, inner, scope)
        function = re.match(r"([a-z]+)\s+", chars)
        rest = inner[function.end() :] if function else inner
        match function[1] if function else "":
            case "strip" | "abspath" | "realpath" | "value":
                return self.expanded(rest, scope, depth + 1)
            case "shell":
                return self._shell(rest, scope)
            case "or" | "if":
                return self._either(rest, function[1] if function else "", scope, depth)
            case "":
                return self._computed(inner, scope, depth)
        return just(unknown(chars[:40], inner.place()))

    def _variable(self, name: str, inner: Text, scope: Scope) -> Value:
        if name == "MAKE":
            return just(Text(_around("make", inner)))
        if name in {"CURDIR", "PWD"}:
            return scope.cwd
        return scope.value(name) or just(unknown(name, inner.place()))

    def _shell(self, command: Text, scope: Scope) -> Value:
        inner = scope.copy()
        script = self.shell_text(command, inner)
        return self.reader.value(Text((*_around("$(", command), *script.spans, *_around(")", command))), inner)

    def _either(self, rest: Text, how: str, scope: Scope, depth: int) -> Value:
        parts = _arguments(rest)[1 if how == "if" else 0 :]
        values = [self.expanded(part, scope, depth + 1) for part in parts[:4]]
        if how == "or":
            return next(
                (value for value in values if any(case.text and case.text.is_known for case in value)),
                values[-1] if values else (),
            )
        return tuple(case for value in values for case in value)

    def _computed(self, inner: Text, scope: Scope, depth: int) -> Value:
        """Read `$(X:.a=.b)` as unknown, `$($(A)_VERSION)` by the name that it computes."""
        if "$" not in inner.chars:
            return just(unknown(inner.chars[:40], inner.place()))
        names = self.expanded(inner, scope, depth + 1)
        name = names[0].text.chars if len(names) == 1 and names[0].text.is_known else ""
        return (
            self._variable(name, inner, scope)
            if _PLAIN_NAME.fullmatch(name)
            else just(unknown(inner.chars[:40], inner.place()))
        )

    def shell_text(self, line: Text, scope: Scope) -> Text:
        """Return a recipe line as the shell gets it."""
        return filled(line, _references(line), lambda name: self._reference(name, scope, 0), scope)

    # --- recipes ------------------------------------------------------------------------------------------------------

    def _ordered(self) -> Iterator[tuple[_Rule, Guard]]:
        """Yield each rule after the rules that make its prerequisites."""
        by_target: dict[str, list[int]] = {}
        for at, (rule, _) in enumerate(self.rules):
            for target in rule.targets:
                by_target.setdefault(target, []).append(at)
        done: set[int] = set()
        for first in range(len(self.rules)):
            stack: list[tuple[int, bool]] = [(first, False)]
            while stack:
                at, is_ready = stack.pop()
                if is_ready:
                    yield self.rules[at]
                elif at not in done:
                    done.add(at)
                    stack.append((at, True))
                    needs = [other for name in self.rules[at][0].needs for other in by_target.get(name, ())]
                    stack += [(other, False) for other in reversed(needs)]

    def _recipe(self, rule: _Rule, guard: Guard) -> None:
        inner = self.scope.copy(guard)
        inner.folders = self._folders(rule)
        inner.labels = (*rule.targets[:1], *inner.labels)
        for own in self.own:
            if set(own.target.split()) & set(rule.targets):
                self._assign(_Assign(own.name, own.how, own.value), inner)
        for line in rule.lines:
            if isinstance(line, Text):
                self._recipe_line(line, rule, inner, 0)
        self.scope.folders = {**self.scope.folders, **inner.folders}
        self.left.update(dict.fromkeys(rule.targets, inner.folders))

    def _folders(self, rule: _Rule) -> dict[str, tuple[tuple[Guard, Site], ...]]:
        """Return the clones that a rule finds: those of its prerequisites, or any where it makes none itself."""
        needed = {path: sites for name in rule.needs for path, sites in self.left.get(name, {}).items()}
        is_maker = any(isinstance(line, Text) and _MAKES.search(line.chars) for line in rule.lines)
        return needed if is_maker or needed else dict(self.scope.folders)

    def _recipe_line(self, line: Text, rule: _Rule, scope: Scope, depth: int) -> None:
        canned = _CALL.fullmatch(line.chars)
        if canned and canned["name"] in self.defines and depth < 5:  # noqa: PLR2004 - canned recipes in canned recipes
            self._canned(canned, line, rule, scope, depth)
            return
        start = re.match(r"\s*[@+-]*\s*", line.chars)
        body = line[start.end() if start else 0 :]
        shell = scope.copy()
        shell.assign("@", just(Text(_around(rule.targets[0], body))))
        script = self.shell_text(_with_target(body, rule), shell)
        if is_worth_reading(script.chars, self.path, self.checkout):
            self.reader.run(_as_env(script), shell)
        scope.folders = shell.folders

    def _canned(self, found: re.Match[str], line: Text, rule: _Rule, scope: Scope, depth: int) -> None:
        inner = scope.copy()
        if found["arguments"] is not None:
            for number, part in enumerate(_arguments(line[found.start("arguments") : found.end("arguments")]), 1):
                inner.assign(str(number), self.expanded(part, scope))
        for canned in self.defines[found["name"]]:
            self._recipe_line(canned, rule, inner, depth + 1)
        scope.folders = inner.folders


def _as_env(script: Text) -> Text:
    """Write `X=y make` as `env X=y make`: a command sees its words, not the variables set for it."""
    found = list(_PREFIXED_MAKE.finditer(script.chars)) if "make" in script.chars else []
    parts, last = [], 0
    for spot in found:
        parts += [script[last : spot.end()], Text(_around("env ", script[spot.end() :]))]
        last = spot.end()
    return joined((*parts, script[last:]))


def _with_target(body: Text, rule: _Rule) -> Text:
    """Put the rule's target in for `$@`."""
    parts, last = [], 0
    for found in re.finditer(r"\$@|\$[({]@[)}]", body.chars):
        parts += [body[last : found.start()], Text(_around(rule.targets[0], body[found.start() :]))]
        last = found.end()
    return joined((*parts, body[last:]))


def _around(chars: str, beside: Text) -> tuple[Span, ...]:
    """Return characters that stand in no file, at the place of some that do."""
    return written(chars, *beside.place()).spans


def _references(source: Text) -> list[Hole]:
    """Return where each `$(…)`, `${…}`, `$x` and `$$` stands, and what is in it."""
    chars, at, found = source.chars, 0, []
    while (at := chars.find("$", at)) >= 0 and at + 1 < len(chars):
        opening = chars[at + 1]
        if opening in "({":
            end = _closing(chars, at + 1)
            found.append(Hole(at, min(end + 1, len(chars)), source[at + 2 : end]))
            at = end + 1
        else:
            found.append(Hole(at, at + 2, source[at + 1 : at + 2]))
            at += 2
    return found


def _closing(chars: str, at: int) -> int:
    opening, closing = chars[at], {"(": ")", "{": "}"}[chars[at]]
    depth = 0
    for end in range(at, min(len(chars), at + 20_000)):
        depth += (chars[end] == opening) - (chars[end] == closing)
        if depth == 0:
            return end
    return len(chars)


def _arguments(text: Text) -> list[Text]:
    """Split at commas that no bracket encloses."""
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text.chars):
        depth += (char in "({") - (char in ")}")
        if char == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    parts.append(text[start:])
    return [part[len(part.chars) - len(part.chars.lstrip()) : len(part.chars.rstrip())] for part in parts]
