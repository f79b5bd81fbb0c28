"""justfiles: variables, and a shell in every recipe."""

import re
from collections.abc import Iterable, Iterator

from watcher.pins.builds import BuildReader, overrides
from watcher.pins.checkout import Checkout
from watcher.pins.filling import filled, holes
from watcher.pins.format import Broken
from watcher.pins.scope import Scope
from watcher.pins.sites import Sighting
from watcher.pins.text import Place, Text, joined, unknown, written
from watcher.pins.values import Value, concat, just, named

_NAME = re.compile(r"\.?justfile(?:[._-].*)?|.*\.just", re.IGNORECASE)
_ASSIGN = re.compile(r"(?:export\s+)?(?P<name>[A-Za-z_][\w-]*)\s*:=\s*(?P<value>.*?)\s*")
_RECIPE = re.compile(r"@?(?P<name>[A-Za-z_][\w-]*)(?P<parameters>(?:\s+[^:]*?)?)\s*:(?!=)(?P<needs>.*)")
_PARAMETER = re.compile(r"[+*$]*(?P<name>[A-Za-z_][\w-]*)\s*=\s*(?P<value>\"[^\"]*\"|'[^']*'|[\w./-]+)")
_HOLE = re.compile(r"\{\{(?!\{)\s*(.*?)\s*\}\}")
_TERM = re.compile(
    r"\s*(?:(?P<string>\"[^\"]*\"|'[^']*')|(?P<name>[A-Za-z_][\w-]*)(?!\s*\()|env(?:_var_or_default)?\([^,()]*,\s*(?P<default>\"[^\"]*\"|'[^']*')\s*\)|`(?P<shell>[^`]*)`)\s*(?:\+|\Z)"
)
_SHELL = re.compile(r"#!.*\b(?:ba|da|z|k)?sh\b")


def claims(path: str) -> bool:
    """Answer whether a file is a justfile."""
    return _NAME.fullmatch(path.rpartition("/")[2]) is not None


def parse(path: str, text: str, checkout: Checkout) -> Iterable[Sighting | Broken]:
    """Find what the recipes do with upstreams, and the arguments that they build images with."""
    just_ = _Just(path, checkout)
    just_.read(written(text, path))
    yield from just_.reader.finish()
    yield from overrides(just_.reader.builds, checkout)
    if just_.reader.is_exhausted:
        yield Broken(file=path, line=1, reason="too much to follow: what comes late in this file was not read")


class _Just:
    """The reading of one file."""

    def __init__(self, path: str, checkout: Checkout) -> None:
        self.reader = BuildReader(checkout)
        self.scope = Scope(cwd=just(unknown("start", Place(path, 1))))

    def read(self, source: Text) -> None:
        """Read the variables first, then the recipes."""
        recipes: list[tuple[re.Match[str], Text, list[Text]]] = []
        for line in _lines(source):
            assigned, recipe = _ASSIGN.fullmatch(line.chars), _RECIPE.fullmatch(line.chars)
            if line.chars[:1].isspace() and recipes:
                recipes[-1][2].append(line)
            elif assigned:
                value = self._value(line[assigned.start("value") : assigned.end("value")])
                self.scope.assign(assigned["name"], named(value, assigned["name"]))
            elif recipe and not line.chars.startswith(("#", "set ", "alias ", "import ", "mod ")):
                recipes.append((recipe, line, []))
        for found, head, lines in recipes:
            self._recipe(found, head, lines)

    def _value(self, source: Text) -> Value:
        """Read `"a" + b`, an environment variable with a default, a command in backticks."""
        value: Value = just(Text())
        at = 0
        while at < len(source.chars):
            found = _TERM.match(source.chars, at)
            if found is None or found.end() == at:
                return just(unknown(source.chars[:40], source.place()))
            value = concat(value, self._term(found, source))
            at = found.end()
        return value

    def _term(self, found: re.Match[str], source: Text) -> Value:
        for kind in ("string", "default"):
            if found[kind] is not None:
                return just(source[found.start(kind) + 1 : found.end(kind) - 1])
        if found["shell"] is not None:
            opening, closing = (written(mark, *source.place()) for mark in ("$(", ")"))
            return self.reader.value(
                joined((opening, source[found.start("shell") : found.end("shell")], closing)), self.scope
            )
        return self.scope.value(found["name"]) or just(unknown(found["name"], source.place(found.start("name"))))

    def _recipe(self, found: re.Match[str], head: Text, lines: list[Text]) -> None:
        inner = self.scope.copy()
        inner.labels = (found["name"],)
        for parameter in _PARAMETER.finditer(head.chars, found.start("parameters"), found.end("parameters")):
            value = self._value(head[parameter.start("value") : parameter.end("value")])
            inner.assign(parameter["name"], named(value, parameter["name"]))
        texts = [filled(line, holes(line, _HOLE), lambda name: self._filled(name, inner), inner) for line in lines]
        if texts and texts[0].chars.lstrip().startswith("#!"):
            if _SHELL.match(texts[0].chars.lstrip()):
                self.reader.run(joined(part for text in texts for part in (text, written("\n", *text.place()))), inner)
        else:
            for text in texts:
                start = re.match(r"\s*[@-]*", text.chars)
                shell = inner.copy()
                self.reader.run(text[start.end() if start else 0 :], shell)
                inner.folders = shell.folders
        self.scope.folders = inner.folders

    def _filled(self, source: Text, inner: Scope) -> Value:
        return inner.value(source.chars.strip()) or self._value(source)


def _lines(source: Text) -> Iterator[Text]:
    """Yield the lines; one that ends in a backslash goes on in the next."""
    parts: list[Text] = []
    for found in re.finditer(r"[^\n]*(?:\n|\Z)", source.chars):
        line = source[found.start() : found.end()]
        if line.chars.endswith("\\\n"):
            parts.append(line)
            continue
        yield joined((*parts, line[: len(line.chars.rstrip("\n"))]))
        parts = []
    yield joined(parts)
