"""Compose files: git build contexts, build arguments that override a Dockerfile's, and commands that a service runs."""

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from watcher.pins import yamltext
from watcher.pins.address import context_source
from watcher.pins.builds import Build, BuildReader, overrides
from watcher.pins.checkout import Checkout
from watcher.pins.format import Broken
from watcher.pins.scope import Scope
from watcher.pins.sites import Pick, Sighting
from watcher.pins.text import Place, Text, unknown, written
from watcher.pins.tree import Leaf, Node, Row, Table, strings
from watcher.pins.values import Value, just, named
from watcher.pins.wordfields import Fields

_NAME = re.compile(r"(?:.*[._-])?compose(?:[._-].*)?\.ya?ml", re.IGNORECASE)
_SETTING = re.compile(r"[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*=[ \t]*[\"']?([^\"'\n#]*)")


def claims(path: str) -> bool:
    """Answer whether a file is one of compose: `compose.yaml`, `docker-compose.gpu.yml`."""
    return _NAME.fullmatch(path.rpartition("/")[2]) is not None


def parse(path: str, text: str, checkout: Checkout) -> Iterable[Sighting | Broken]:
    """Find the pins of the services."""
    reading = yamltext.read(text, path)
    if reading.problem:
        yield Broken(file=path, line=reading.problem.line, reason=reading.problem.reason)
    if not isinstance(reading.root, Table):
        return
    compose = _Compose(path, checkout)
    for key, service in reading.root.table("services").entries:
        if isinstance(service, Table):
            compose.service(key.chars, service)
    yield from compose.reader.finish()
    yield from overrides(compose.builds, checkout)


class _Compose:
    """The reading of one file."""

    def __init__(self, path: str, checkout: Checkout) -> None:
        self.path = path
        self.reader = BuildReader(checkout)
        self.builds: list[Build] = []
        self.scope = Scope(cwd=just(unknown("project", Place(path, 1))))
        for name in (str(PurePosixPath(path).parent / ".env"), ".env"):
            for found in _SETTING.finditer(checkout.texts.get(name, "")):
                line = checkout.texts[name].count("\n", 0, found.start(2)) + 1
                self.scope.variables.setdefault(found[1], just(written(found[2].strip(), name, line).named(found[1])))

    def service(self, name: str, service: Table) -> None:
        """Read one service."""
        build = service.get("build")
        if isinstance(build, Leaf):
            self._context(build.text, name)
        elif isinstance(build, Table):
            self._build(build, name)
        for key in ("command", "entrypoint"):
            self._command(service.get(key), name)

    def _value(self, text: Text) -> Value:
        return self.reader.value(text, self.scope)

    def _build(self, build: Table, name: str) -> None:
        context = build.text("context")
        if context:
            self._context(context, name)
        extra = build.get("additional_contexts")
        for entry in _pairs(extra):
            self._context(entry[1], name)
        arguments: dict[str, Value] = {}
        for key, value in _pairs(build.get("args")):
            arguments[key] = named(self._value(value), key)
        for text in strings(build.get("args")):
            if "=" not in text.chars and (value_ := self.scope.value(text.chars)):
                arguments[text.chars] = value_
        file, target = build.text("dockerfile"), build.text("target")
        self.builds.append(
            Build(
                caller=self.path,
                target=self._value(file)[0].text.key if file else "",
                context=self._value(context)[0].text.key if context else "",
                arguments=arguments,
                labels=(name, *([target.chars] if target else [])),
            )
        )

    def _context(self, text: Text, name: str) -> None:
        for case in self._value(text):
            source = context_source(case.text.chars)
            if source is not None:
                ref = case.text[source.ref.start : source.ref.end] if source.ref else None
                self.reader.picks.append(
                    Pick(
                        upstream=source.upstream,
                        url=case.text,
                        ref=ref,
                        command=text.place(),
                        labels=(name,),
                        hint=source.hint,
                    )
                )

    def _command(self, node: Node | None, name: str) -> None:
        inner = self.scope.copy()
        inner.labels = (name,)
        if isinstance(node, Leaf):
            self.reader.run(node.text, inner)
        elif isinstance(node, Row):
            words = tuple(strings(node))
            if words:
                self.reader.execute([Fields(frozenset(), words)], inner, words[0].place())


def _pairs(node: Node | None) -> Iterator[tuple[str, Text]]:
    """Yield the names and values of a mapping, or of a list of `NAME=value`."""
    if isinstance(node, Table):
        yield from ((key.chars, leaf.text) for key, leaf in node.entries if isinstance(leaf, Leaf) and leaf.text)
        return
    for text in strings(node):
        name, equals, _ = text.chars.partition("=")
        if equals:
            yield name, text[len(name) + 1 :]
