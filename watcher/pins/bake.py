"""Bake files, in HCL and JSON: arguments and variables that override a Dockerfile's, and git contexts."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from watcher.pins import hcltext, jsontext
from watcher.pins.address import context_source
from watcher.pins.builds import Build, overrides
from watcher.pins.checkout import Checkout
from watcher.pins.filling import holes, value_of
from watcher.pins.format import Broken
from watcher.pins.hcltext import Block, Expression
from watcher.pins.sites import Pick, Sighting
from watcher.pins.tree import Leaf, Node, Row, Table, strings
from watcher.pins.values import Case, Choice, Value, distinct, just, named

_NAME = re.compile(
    r"(?:.*[._-])?bake(?:[._-].*)?\.(?:hcl|json)|[^.].*\.hcl|(?:.*[._-])?(?:versions|variables|vars)\.json",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"terragrunt\.hcl|.*\.(?:lock|pkr|pkrvars|nomad)\.hcl|.*(?:nomad|packer|consul|vault).*\.hcl", re.IGNORECASE
)
_REFERENCE = re.compile(r"\$\{([^{}]*)\}")
_DEEPEST = 12


def claims(path: str) -> bool:
    """Answer whether a file may be one of bake: `docker-bake.hcl`, `docker-bake.json`, `ci.hcl`."""
    name = path.rpartition("/")[2]
    return _NAME.fullmatch(name) is not None and _OTHER.fullmatch(name) is None


def parse(path: str, text: str, checkout: Checkout) -> Iterable[Sighting | Broken]:
    """Find the pins of all targets."""
    if "target" not in text and "variable" not in text:
        return
    targets, variables, broken = _read(path, text, checkout, {})
    yield from broken
    for target in targets.values():
        yield from _contexts(_inherited(target, targets))
    if not targets:
        yield from _of_others(path, variables, checkout)
    yield from overrides((_build(path, _inherited(target, targets)) for target in targets.values()), checkout)


def _read(
    path: str, text: str, checkout: Checkout, given: Mapping[str, Value]
) -> tuple[dict[str, "_Target"], dict[str, Value], list[Broken]]:
    """Read the targets and variables of a file, with variables that another file sets anew."""
    if path.lower().endswith(".json"):
        reading = jsontext.read(text, path)
        problem = reading.problem
        broken = [Broken(file=path, line=problem.line, reason=problem.reason)] if problem else []
        variables = {**_json_variables(reading.root), **given}
        return _from_json(reading.root, variables), variables, broken
    root, broken = hcltext.read(text, path)
    lookup = _Variables(root, given or _beside(path, checkout))
    targets = {block.name: _hcl_target(block, lookup) for block in root.blocks if block.kind == "target" and block.name}
    return targets, {name: value for name in lookup.names if (value := lookup(name))}, broken


def _siblings(path: str, checkout: Checkout) -> Iterator[str]:
    """Yield the other bake files of the folder: several are given to one bake."""
    yield from (name for name in checkout.within(path.rpartition("/")[0]) if name != path and claims(name))


def _beside(path: str, checkout: Checkout) -> dict[str, Value]:
    """Return the variables that other bake files of the folder set in JSON."""
    found: dict[str, Value] = {}
    for name in _siblings(path, checkout):
        if name.lower().endswith(".json"):
            found |= _json_variables(jsontext.read(checkout.texts[name], name).root)
    return found


def _of_others(path: str, variables: Mapping[str, Value], checkout: Checkout) -> Iterator[Sighting]:
    """Yield what a file of variables alone changes: in the targets beside it, and arguments that bear their names."""
    builds = [Build(caller=path, target="", context=str(PurePosixPath(path).parent), arguments=variables)]
    for name in _siblings(path, checkout):
        targets, _, _ = _read(name, checkout.texts[name], checkout, variables)
        builds += [replace(_build(name, _inherited(target, targets)), caller=path) for target in targets.values()]
    found = overrides(builds, checkout)
    yield from (sighting for sighting in found if sighting.pin.file == path)


@dataclass(slots=True, kw_only=True)
class _Target:
    """One target, or what it is once it has what it inherits."""

    name: str
    inherits: tuple[str, ...] = ()
    dockerfile: Value = ()
    context: Value = ()
    args: dict[str, Value] = field(default_factory=dict)
    contexts: dict[str, Value] = field(default_factory=dict)


def _inherited(target: _Target, targets: Mapping[str, _Target], depth: int = 0) -> _Target:
    """Put what a target says itself on what it inherits."""
    whole = _Target(name=target.name)
    bases = [
        _inherited(targets[name], targets, depth + 1)
        for name in target.inherits
        if name in targets and depth < _DEEPEST
    ]
    for part in (*bases, target):
        whole.dockerfile = part.dockerfile or whole.dockerfile
        whole.context = part.context or whole.context
        whole.args.update(part.args)
        whole.contexts.update(part.contexts)
    return whole


def _build(path: str, target: _Target) -> Build:
    return Build(
        caller=path,
        target=target.dockerfile[0].text.key if target.dockerfile else "",
        context=target.context[0].text.key if target.context else "",
        arguments=target.args,
        labels=(target.name,),
    )


def _contexts(target: _Target) -> Iterator[Sighting]:
    for case in (*target.context, *(case for value in target.contexts.values() for case in value)):
        source = context_source(case.text.chars)
        if source is not None and case.text.is_known:
            ref = case.text[source.ref.start : source.ref.end] if source.ref else None
            pick = Pick(
                upstream=source.upstream, url=case.text, ref=ref, command=case.text.place(), hint=source.hint
            )  # fmt: skip
            yield pick.sighting()


# --- HCL --------------------------------------------------------------------------------------------------------------


class _Variables:
    """Looks up variables by their defaults; those that depend on each other in a circle are unknown."""

    def __init__(self, root: Block, given: Mapping[str, Value]) -> None:
        defaults = {block.name: block.attributes.get("default") for block in root.blocks if block.kind == "variable"}
        self.variables: Mapping[str, Expression | None] = {**root.attributes, **defaults}
        self.given = given
        self.matrix: dict[str, Value] = {}
        self._open: set[str] = set()

    @property
    def names(self) -> Iterable[str]:
        """Return the variables that the file itself has."""
        return self.variables

    def __call__(self, name: str) -> Value | None:
        if name in self.matrix:
            return self.matrix[name]
        if name in self.given:
            return self.given[name]
        expression = self.variables.get(name)
        if expression is None or name in self._open:
            return None
        self._open.add(name)
        try:
            return named(expression.value(self), name)
        finally:
            self._open.discard(name)


def _hcl_target(block: Block, lookup: _Variables) -> _Target:
    lookup.matrix = dict(_matrix(block, lookup))
    found = hcltext.values(block, ("dockerfile", "context"), lookup)
    inherits = block.attributes.get("inherits")
    target = _Target(
        name=block.name,
        inherits=tuple(
            case.text.chars for one in (inherits.elements() if inherits else ()) for case in one.value(lookup)
        ),
        dockerfile=found.get("dockerfile", ()),
        context=found.get("context", ()),
    )
    for name, into in (("args", target.args), ("contexts", target.contexts)):
        expression = block.attributes.get(name)
        for key, value in expression.entries() if expression else ():
            into[key] = named(value.value(lookup), key)
    return target


def _matrix(block: Block, lookup: _Variables) -> Iterator[tuple[str, Value]]:
    """Yield the names that a matrix gives values, each value under its own arm."""
    matrix = block.attributes.get("matrix")
    for axis, listed in matrix.entries() if matrix else ():
        cases: dict[str, list[Case]] = {}
        elements = list(listed.elements())[:32]
        for number, element in enumerate(elements):
            fields = list(element.entries())
            parts = [(f"{axis}.{key}", value.value(lookup)) for key, value in fields] or [(axis, element.value(lookup))]
            label = " ".join(case.text.chars for _, value in parts for case in value)[:300]
            guard = frozenset({Choice(f"matrix {block.name} {axis}", number, len(elements), label)})
            for name, value in parts:
                cases.setdefault(name, []).extend(Case(case.text, case.guard | guard) for case in value)
        yield from ((name, distinct(found)) for name, found in cases.items())


# --- JSON -------------------------------------------------------------------------------------------------------------


def _json_variables(root: Node) -> dict[str, Value]:
    variables: dict[str, Value] = {}
    for key, node in (root.table("variable") if isinstance(root, Table) else Table(root.place)).entries:
        default = node.get("default") if isinstance(node, Table) else None
        if isinstance(default, Leaf):
            variables[key.chars] = named(just(default.text), key.chars)
    return variables


def _from_json(root: Node, variables: Mapping[str, Value]) -> dict[str, _Target]:
    table = root if isinstance(root, Table) else Table(root.place)
    return {
        key.chars: _json_target(key.chars, node, variables)
        for key, node in table.table("target").entries
        if isinstance(node, Table)
    }


def _json_target(name: str, node: Table, variables: Mapping[str, Value]) -> _Target:
    def value(leaf: Node | None) -> Value:
        if not isinstance(leaf, Leaf) or not leaf.text:
            return ()
        return value_of(leaf.text, holes(leaf.text, _REFERENCE), lambda inner: variables.get(inner.chars.strip()))

    inherits = node.get("inherits")
    return _Target(
        name=name,
        inherits=tuple(text.chars for text in strings(inherits)) if isinstance(inherits, Row | Leaf) else (),
        dockerfile=value(node.get("dockerfile")),
        context=value(node.get("context")),
        args={key.chars: named(value(leaf), key.chars) for key, leaf in node.table("args").entries},
        contexts={key.chars: value(leaf) for key, leaf in node.table("contexts").entries},
    )
