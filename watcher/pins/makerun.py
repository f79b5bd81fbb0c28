"""How make goes through a Makefile: variables first, then the recipes, each line in a shell of its own.

A shell starts anew for each line, but the folders that it leaves stay; so do the clones in them. Prerequisites are read
before the targets that need them.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from watcher.pins.builds import BuildReader, is_worth_reading
from watcher.pins.checkout import Checkout
from watcher.pins.format import Broken
from watcher.pins.makeexpand import Expansion, arguments, around
from watcher.pins.makeitems import Assign, Define, If, Include, Item, Parser, Rule
from watcher.pins.scope import Scope, join
from watcher.pins.sites import Sighting, Site
from watcher.pins.text import Place, Text, joined, unknown
from watcher.pins.values import Choice, Guard, Value, concat, just, named

_CALL = re.compile(r"\s*[@+-]*\s*\$[({](?:call\s+)?(?P<name>[\w.-]+)\s*(?:,(?P<arguments>.*))?[)}]\s*", re.DOTALL)
_MAKES = re.compile(r"\bgit\b[^\n]*\b(?:clone|init)\b")
_PREFIXED_MAKE = re.compile(
    r"(?:^|(?<=[;&|(])\s*|\n\s*)(?=(?:[A-Za-z_]\w*=(?:\"[^\"]*\"|'[^']*'|[^\s\"';&|]*)(?:\s|\\\n)+){1,20}make\b)"
)
_DEEPEST = 20
_MOST_FILES = 12


@dataclass(slots=True, kw_only=True)
class Make:
    """A make that reads a file with some variables given on its command line."""

    path: str
    checkout: Checkout
    arguments: Mapping[str, Value]
    reader: BuildReader = field(init=False)
    expansion: Expansion = field(init=False)
    scope: Scope = field(init=False)
    defines: dict[str, list[Text]] = field(default_factory=dict)
    rules: list[tuple[Rule, Guard]] = field(default_factory=list)
    own: list[Assign] = field(default_factory=list)
    """Variables of single targets."""
    current: Rule | None = None
    left: dict[str, dict[str, tuple[tuple[Guard, Site], ...]]] = field(default_factory=dict)
    """For each target the clones that were there after it."""

    def __post_init__(self) -> None:
        self.reader = BuildReader(self.checkout)
        self.expansion = Expansion(self.reader)
        self.scope = Scope(cwd=just(unknown("start", Place(self.path, 1))))
        self.scope.variables.update(self.arguments)

    def run(self, text: str) -> Iterator[Sighting | Broken]:
        """Read variables first, then the recipes."""
        parser = Parser(self.path)
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

    def _assign_all(self, items: Sequence[Item], scope: Scope, files: frozenset[str], depth: int) -> None:
        for item in items:
            match item:
                case Assign(target=""):
                    self._assign(item, scope)
                case Assign():
                    self.own.append(item)
                case Define():
                    self.defines[item.name] = item.lines
                case Rule():
                    self.rules.append((item, scope.guard))
                    self.current = item
                case Include():
                    self._include(item, scope, files)
                case If() if depth < _DEEPEST:
                    self._branch(item, scope, lambda arm, body: self._assign_all(body, arm, files, depth + 1))
                case Text() if self.current is not None:
                    self.current.lines.append(item)

    def _assign_again(self, items: Sequence[Item]) -> None:
        """Read the variables that are expanded where they are used once more, now that all are known."""
        for item in items:
            if isinstance(item, Assign) and item.how in {"=", "?="} and not item.target and "$" in item.value.chars:
                value = self.scope.variables.get(item.name, ())
                if any(not case.text.is_known for case in value) and item.name not in self.arguments:
                    self.scope.assign(item.name, named(self.expansion.value(item.value, self.scope), item.name))

    def _assign(self, item: Assign, scope: Scope) -> None:
        if item.name in self.arguments:
            return
        old = scope.value(item.name)
        value = self.expansion.value(item.value, scope)
        match item.how:
            case "?=" if old is not None:
                return
            case "!=":
                value = self.reader.value(
                    Text((*around("$(", item.value), *item.value.spans, *around(")", item.value))), scope
                )
            case "+=" if old is not None:
                value = concat(concat(old, just(Text(around(" ", item.value)))), value)
        scope.assign(item.name, named(value, item.name))

    def _include(self, item: Include, scope: Scope, files: frozenset[str]) -> None:
        for word in self.expansion.value(item.files, scope):
            for name in word.text.chars.split()[:_MOST_FILES]:
                found = self.checkout.find(name, self.path)
                if found is None or found in files or len(files) > _MOST_FILES:
                    continue
                parser = Parser(found)
                parser.read(self.checkout.texts[found])
                self._assign_all(parser.items, scope, files | {found}, 0)

    def _branch(self, item: If, scope: Scope, body: Callable[[Scope, Sequence[Item]], None]) -> None:
        """Read both arms of a conditional on copies, and put together what they leave."""
        tests = self.expansion.value(item.test, scope)
        key = tests[0].text.key if len(tests) == 1 else item.test.chars
        is_negated = item.word in {"ifneq", "ifndef"}
        point = f"?make {item.word.replace('n', '', 1) if is_negated else item.word} {key}"
        arms: list[tuple[Guard, Scope]] = []
        for is_yes in (True, False):
            arm_number = int(is_yes == is_negated)
            label = item.test.chars if is_yes != is_negated else ""
            guard: Guard = frozenset({Choice(point, arm_number, 2, label)})
            arm = scope.copy(guard)
            body(arm, item.arms[0 if is_yes else 1])
            arms.append((guard, arm))
        join(scope, arms)

    # --- recipes ------------------------------------------------------------------------------------------------------

    def _ordered(self) -> Iterator[tuple[Rule, Guard]]:
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

    def _recipe(self, rule: Rule, guard: Guard) -> None:
        inner = self.scope.copy(guard)
        inner.folders = self._folders(rule)
        inner.labels = (*rule.targets[:1], *inner.labels)
        for own in self.own:
            if set(own.target.split()) & set(rule.targets):
                self._assign(Assign(own.name, own.how, own.value), inner)
        for line in rule.lines:
            if isinstance(line, Text):
                self._recipe_line(line, rule, inner, 0)
        self.scope.folders = {**self.scope.folders, **inner.folders}
        self.left.update(dict.fromkeys(rule.targets, inner.folders))

    def _folders(self, rule: Rule) -> dict[str, tuple[tuple[Guard, Site], ...]]:
        """Return the clones that a rule finds: those of its prerequisites, or any where it makes none itself."""
        needed = {path: sites for name in rule.needs for path, sites in self.left.get(name, {}).items()}
        is_maker = any(isinstance(line, Text) and _MAKES.search(line.chars) for line in rule.lines)
        return needed if is_maker or needed else dict(self.scope.folders)

    def _recipe_line(self, line: Text, rule: Rule, scope: Scope, depth: int) -> None:
        canned = _CALL.fullmatch(line.chars)
        if canned and canned["name"] in self.defines and depth < 5:  # noqa: PLR2004 - canned recipes in canned recipes
            self._canned(canned, line, rule, scope, depth)
            return
        start = re.match(r"\s*[@+-]*\s*", line.chars)
        body = line[start.end() if start else 0 :]
        shell = scope.copy()
        shell.assign("@", just(Text(around(rule.targets[0], body))))
        script = self.expansion.shell_text(_with_target(body, rule), shell)
        if is_worth_reading(script.chars, self.path, self.checkout):
            self.reader.run(_as_env(script), shell)
        scope.folders = shell.folders

    def _canned(self, found: re.Match[str], line: Text, rule: Rule, scope: Scope, depth: int) -> None:
        inner = scope.copy()
        if found["arguments"] is not None:
            for number, part in enumerate(arguments(line[found.start("arguments") : found.end("arguments")]), 1):
                inner.assign(str(number), self.expansion.value(part, scope))
        for canned in self.defines[found["name"]]:
            self._recipe_line(canned, rule, inner, depth + 1)
        scope.folders = inner.folders


def _as_env(script: Text) -> Text:
    """Write `X=y make` as `env X=y make`: a command sees its words, not the variables set for it."""
    found = list(_PREFIXED_MAKE.finditer(script.chars)) if "make" in script.chars else []
    parts, last = [], 0
    for spot in found:
        parts += [script[last : spot.end()], Text(around("env ", script[spot.end() :]))]
        last = spot.end()
    return joined((*parts, script[last:]))


def _with_target(body: Text, rule: Rule) -> Text:
    """Put the rule's target in for `$@`."""
    parts, last = [], 0
    for found in re.finditer(r"\$@|\$[({]@[)}]", body.chars):
        parts += [body[last : found.start()], Text(around(rule.targets[0], body[found.start() :]))]
        last = found.end()
    return joined((*parts, body[last:]))
