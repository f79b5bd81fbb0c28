"""What the expressions of a workflow may be: `${{ inputs.x }}`, `matrix.x`, `env.x`, outputs of earlier steps."""

import re
from collections.abc import Iterator, Mapping, Sequence

from watcher.pins.filling import filled, holes, value_of
from watcher.pins.scope import Scope
from watcher.pins.text import Text, unknown
from watcher.pins.tree import Leaf, Node, Row, Table, tables
from watcher.pins.values import Case, Choice, Guard, Value, distinct, just, named

_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
_NAME_LENGTH = 60
"""What is longer names nothing."""
_DEEPEST = 3
_MOST_ROWS = 4
"""A matrix with more rows than this only counts where its values may be refs or repositories."""
_TOOL_VERSION = re.compile(
    r"python|node|java|ruby|golang|cuda|rocm[-_]?version|runner|runs[-_]on|image|model|arch", re.IGNORECASE
)
_TELLING = re.compile(
    r"[0-9a-f]{7,40}|v?\d+(?:\.\d+)+\S*|v\d+|refs/\S+|\S*://\S+|[\w.-]+/[\w./-]+|main|master|nightly|\S*[Dd]ockerfile\S*"
)


class Contexts:
    """Knows `inputs.x`, `matrix.x`, `steps.id.outputs.x` … of one file, as far as it was read."""

    def __init__(self) -> None:
        self._known: dict[str, Value] = {}

    def set(self, name: str, value: Value) -> None:
        """Remember what a name may be."""
        self._known[name] = value

    def exported(self) -> dict[str, Value]:
        """Return what earlier steps wrote to `$GITHUB_ENV`."""
        return {key[4:]: value for key, value in self._known.items() if key.startswith("env!")}

    def put_in(self, source: Text, scope: Scope) -> Text:
        """Return shell text with its expressions put in."""
        return filled(source, holes(source, _EXPRESSION), lambda inner: self._expression(inner, scope.variables), scope)

    def declare(self, root: Table, given: Mapping[str, Value]) -> None:
        """Take the defaults of the inputs, and what a caller gives in their place."""
        declared = [
            root.table("inputs"),
            root.table("on", "workflow_dispatch", "inputs"),
            root.table("on", "workflow_call", "inputs"),
        ]
        defaults: dict[str, dict[int, Text]] = {}
        for at, table in enumerate(declared):
            for key, node in table.entries:
                default = node.get("default") if isinstance(node, Table) else None
                if isinstance(default, Leaf) and default.text:
                    defaults.setdefault(key.chars, {})[at] = default.text
        for name, texts in defaults.items():
            cases = (Case(text, _started(at, len(declared), len(texts))) for at, text in texts.items())
            self._known[f"inputs.{name}"] = named(distinct(cases), name)
        for name, value in given.items():
            self._known[f"inputs.{name}"] = named(value, name)

    def env(self, node: Node | None, before: Mapping[str, Value]) -> dict[str, Value]:
        """Return the variables of a level, put on those of the level above."""
        env = dict(before)
        for key, leaf in node.entries if isinstance(node, Table) else ():
            if isinstance(leaf, Leaf):
                env[key.chars] = named(self.value(leaf.text, env), key.chars)
        return env

    def value(self, text: Text, env: Mapping[str, Value]) -> Value:
        """Return what a text may be with its expressions put in."""
        return value_of(text, holes(text, _EXPRESSION), lambda inner: self._expression(inner, env))

    def _expression(self, source: Text, env: Mapping[str, Value], depth: int = 0) -> Value:
        """Read an expression: `a || b` is b where nobody sets a; `c && a || b` is either."""
        alternatives = _split(source, "||")
        if len(alternatives) > 1 and depth < _DEEPEST:
            return self._either(alternatives, env, depth)
        source = _split(source, "&&")[-1]
        chars = source.chars.strip()
        start = len(source.chars) - len(source.chars.lstrip())
        if re.fullmatch(r"'(?:[^']|'')*'", chars):
            return just(source[start + 1 : start + len(chars) - 1])
        if chars.startswith("(") and chars.endswith(")") and depth < _DEEPEST:
            return self._expression(source[start + 1 : start + len(chars) - 1], env, depth + 1)
        name = chars.replace("github.event.inputs.", "inputs.")
        if name.startswith("env."):
            return env.get(name[4:]) or just(unknown(chars, source.place()))
        return self._known.get(name) or just(unknown(chars[:80], source.place()))

    def _either(self, alternatives: Sequence[Text], env: Mapping[str, Value], depth: int) -> Value:
        cases: list[Case] = []
        for number, part in enumerate(alternatives):
            value = self._expression(part, env, depth + 1)
            is_last = number + 1 == len(alternatives)
            told = [case for case in value if case.text and case.text.is_known]
            if "&&" in part.chars:
                point = f"matrix-like {part.place()} {part.chars[:80]}"
                cases += [Case(case.text, case.guard | {Choice(point, 0, 2, part.chars[:200])}) for case in told]
                continue
            if told or is_last:
                return distinct([*cases, *(told or value)])
        return distinct(cases) or just(unknown(alternatives[0].chars[:80], alternatives[0].place()))

    def enter_matrix(self, job: Table, name: str, env: Mapping[str, Value]) -> None:
        """Forget the matrix of the job before; take that of this one."""
        for old in [known for known in self._known if known.startswith("matrix.")]:
            del self._known[old]
        matrix = job.table("strategy", "matrix")
        included = matrix.get("include")
        for key, node in matrix.entries:
            if key.chars not in {"include", "exclude"} and isinstance(node, Row):
                self._axis(
                    f"matrix {name} {key.chars}",
                    [Table(row.place, [(key, row)], {key.chars: row}) for row in node.nodes],
                    env,
                )
        self._axis(f"matrix {name} +", list(tables(included)) if isinstance(included, Row) else [], env)

    def _axis(self, point: str, rows: Sequence[Table], env: Mapping[str, Value]) -> None:
        """Give each value of a matrix the row that it belongs to: values of one row come together."""
        telling = {
            key
            for row in rows[:64]
            for key, leaf in _leaves(row, "matrix")
            if len(rows) <= _MOST_ROWS or (_TELLING.fullmatch(leaf.text.chars) and not _TOOL_VERSION.search(key))
        }
        for number, row in enumerate(rows[:64]):
            leaves = list(_leaves(row, "matrix"))
            label = " ".join(leaf.text.chars for _, leaf in leaves if len(leaf.text.chars) < _NAME_LENGTH)[:400]
            guard: Guard = frozenset({Choice(point, number, len(rows), label)})
            for name, leaf in leaves:
                if name not in telling:
                    continue
                cases = [Case(case.text, case.guard | guard) for case in self.value(leaf.text, env)]
                old = self._known.get(name, ())
                self._known[name] = distinct((*old, *named(tuple(cases), name.rpartition(".")[2])))


def _started(event: int, of: int, count: int) -> Guard:
    """Return the guard of an input's default: where several events have one, it holds for its own alone."""
    return frozenset({Choice("on", event, of)}) if count > 1 else frozenset()


def telling_names(variables: Mapping[str, Value]) -> Iterator[str]:
    """Yield the names of the variables that may hold a ref or a repository."""
    for name, value in variables.items():
        if is_telling(value):
            yield name


def is_telling(value: Value) -> bool:
    """Answer whether a value may be a ref or a repository."""
    return any(_TELLING.fullmatch(case.text.chars) for case in value)


def _leaves(node: Node, prefix: str, depth: int = 0) -> Iterator[tuple[str, Leaf]]:
    """Yield the scalars of a matrix row with the names that expressions use."""
    if isinstance(node, Leaf):
        yield prefix, node
    elif isinstance(node, Table) and depth < 5:  # noqa: PLR2004 - deeper rows have no names that people write
        for key, child in node.entries:
            yield from _leaves(child, f"{prefix}.{key.chars}", depth + 1)


def _split(source: Text, operator: str) -> list[Text]:
    """Split at an operator that no quote and no bracket encloses."""
    parts, depth, start, mark = [], 0, 0, False
    for at, char in enumerate(source.chars):
        if char == "'":
            mark = not mark
        elif not mark:
            depth += (char == "(") - (char == ")")
            if depth == 0 and source.chars.startswith(operator, at) and at >= start:
                parts.append(source[start:at])
                start = at + len(operator)
    parts.append(source[start:])
    return parts
