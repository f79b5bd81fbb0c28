"""Workflows and composite actions of GitHub, Gitea and Forgejo: `uses:`, checkouts, build arguments, a shell in `run:`.

Expressions (`${{ env.X }}`) are put in before the shell reads a step: variables of the workflow, the job and the step,
values of a matrix, defaults of inputs, outputs of earlier steps. What a caller hands to a workflow or an action of the
same checkout is the caller's pin.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from watcher.pins import powershell, yamltext
from watcher.pins.address import archive_urls, context_source, normalise, vcs_urls
from watcher.pins.builds import Build, BuildReader, is_worth_reading, overrides, written_out
from watcher.pins.checkout import Checkout
from watcher.pins.filling import beside, filled, holes, rewritten, value_of
from watcher.pins.format import Broken
from watcher.pins.scope import Scope
from watcher.pins.sites import Pick, Sighting, Site
from watcher.pins.text import Place, Text, joined, unknown
from watcher.pins.tree import Leaf, Node, Row, Table, strings, tables
from watcher.pins.values import Case, Choice, Guard, Value, distinct, is_compatible, just, named, under

_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
_USES = re.compile(r"(?P<base>https?://[^/\s]+/)?(?P<repo>[\w.-]+/[\w.-]+)(?P<path>(?:/[^@\s]*)?)@(?P<ref>\S+)")
_OWNER = re.compile(r"[\w.-]+/[\w.-]+")
_SCRIPT_KEY = re.compile(r"(?:[\w-]*[-_])?(?:script|run|commands?|cmd)", re.IGNORECASE)
_BUILD_ARGS = re.compile(r"(?:[\w-]*[-_])?build[-_]?args?", re.IGNORECASE)
_PAIR = re.compile(r"(?P<prefix>[\w-]*?[-_]?)(?:repository|repo)")
_CHECKOUT = re.compile(r"checkout|clone", re.IGNORECASE)
_OWN = re.compile(r"\bgithub\.|\bgitea\.")
_GROUP = re.compile(
    r"(?m)^[ \t]*\{[ \t]*\n(?P<body>(?:(?![ \t]*\}).*\n){1,60})[ \t]*\}[ \t]*(?P<target>>>?[ \t]*\"?\$\{?GITHUB_(?:OUTPUT|ENV)\}?\"?)"  # noqa: E501 - one expression
)
_ECHO = re.compile(r"(?m)^[ \t]*echo[ \t][^\n]*")
_OWN_NAME = re.compile(r"github\.repository\s*[!=]=\s*'([\w.-]+/[\w.-]+)'")
_SHELL = re.compile(r"(?:ba|da|z)?sh\b|\Z")
_NAME_LENGTH = 60
"""What is longer names nothing."""
_DEEPEST = 3
_MOST_CALLS = 12
_MOST_EXHAUSTED = 2
"""Where so many jobs are too much to follow, the rest of the file is not read."""
_MOST_ROWS = 4
"""A matrix with more rows than this only counts where its values may be refs or repositories."""
_TOOL_VERSION = re.compile(
    r"python|node|java|ruby|golang|cuda|rocm[-_]?version|runner|runs[-_]on|image|model|arch", re.IGNORECASE
)
_TELLING = re.compile(
    r"[0-9a-f]{7,40}|v?\d+(?:\.\d+)+\S*|v\d+|refs/\S+|\S*://\S+|[\w.-]+/[\w./-]+|main|master|nightly|\S*[Dd]ockerfile\S*"
)


def claims(path: str) -> bool:
    """Answer whether a file is a workflow or an action."""
    if not path.endswith((".yml", ".yaml")):
        return False
    return (
        PurePosixPath(path).stem == "action"
        or re.search(r"(?:^|/)\.(?:github|gitea|forgejo)/(?:workflows|actions)/", path) is not None
    )


def parse(path: str, text: str, checkout: Checkout) -> Iterable[Sighting | Broken]:
    """Find the pins of a workflow or an action."""
    reading = yamltext.read(text, path)
    if reading.problem:
        yield Broken(file=path, line=reading.problem.line, reason=reading.problem.reason)
    if not isinstance(reading.root, Table):
        return
    flow = _Flow(path=path, checkout=checkout, own=_own(text, checkout))
    flow.read(reading.root, {})
    found = list(flow.finish())
    yield from found
    seen = [one for one in found if isinstance(one, Sighting)]
    calls = {f"{call.file} {written_out(call.inputs)}": call for call in flow.calls}
    for call in list(calls.values())[:_MOST_CALLS]:
        yield from _called(call, checkout, seen, 0)


def _own(text: str, checkout: Checkout) -> frozenset[str]:
    """Return the addresses of this very repository: its origin, and what the workflow compares its own name with."""
    named = {normalise(f"https://github.com/{found[1]}") for found in _OWN_NAME.finditer(text)}
    return frozenset(address for address in (*named, checkout.origin and normalise(checkout.origin)) if address)


# --- calls of other files ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Call:
    """A use of a workflow or action of the same checkout."""

    file: str
    inputs: Mapping[str, Value]


def _called(call: _Call, checkout: Checkout, seen: Sequence[Sighting], depth: int) -> Iterator[Sighting]:
    """Yield the pins that a called file makes of what it was handed."""
    given = {
        name: told
        for name, value in call.inputs.items()
        if (told := tuple(c for c in value if c.text and c.text.is_known))
    }
    reading = yamltext.read(checkout.texts[call.file], call.file)
    is_telling = any(_TELLING.fullmatch(case.text.chars) for value in given.values() for case in value)
    if not is_telling or not isinstance(reading.root, Table) or depth > _DEEPEST:
        return
    flow = _Flow(path=call.file, checkout=checkout, own=_own(checkout.texts[call.file], checkout))
    flow.read(reading.root, given)
    places = {span.place for value in given.values() for case in value for span in case.text.spans}
    known = {(s.pin.place, s.pin.upstream, s.pin.ref) for s in seen}
    changed = [
        found
        for found in flow.finish()
        if isinstance(found, Sighting) and found.pin.ref and Place(found.pin.file, found.pin.line) in places
    ]
    yield from _linked([one for one in changed if (one.pin.place, one.pin.upstream, one.pin.ref) not in known], flow)
    for further in flow.calls[:_MOST_CALLS]:
        yield from _called(further, checkout, seen, depth + 1)


def _linked(changed: Sequence[Sighting], flow: "_Flow") -> Iterator[Sighting]:
    """Say of each pin of a caller which default of the called file it replaces."""
    if not changed:
        return
    plain = _Flow(path=flow.path, checkout=flow.checkout, own=flow.own)
    root = yamltext.read(flow.checkout.texts[flow.path], flow.path).root
    plain.read(root if isinstance(root, Table) else Table(root.place), {})
    defaults = [found for found in plain.finish() if isinstance(found, Sighting) and found.pin.ref]
    for found in changed:
        same = [one.pin for one in defaults if one.command == found.command and one.pin.upstream == found.pin.upstream]
        place = same[0].place if same and same[0].place != found.pin.place else None
        yield found._replace(pin=replace(found.pin, overrides=found.pin.overrides or place))


def _telling(variables: Mapping[str, Value]) -> Iterator[str]:
    """Yield the names of the variables that may hold a ref or a repository."""
    for name, value in variables.items():
        if any(_TELLING.fullmatch(case.text.chars) for case in value):
            yield name


def _started(event: int, of: int, count: int) -> Guard:
    """Return the guard of an input's default: where several events have one, it holds for its own alone."""
    return frozenset({Choice("on", event, of)}) if count > 1 else frozenset()


# --- one file ---------------------------------------------------------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class _Flow:
    """The reading of one workflow or action."""

    path: str
    checkout: Checkout
    own: frozenset[str]
    """The upstreams that are this very repository."""
    reader: BuildReader = field(init=False)
    """What reads the job at hand."""
    readers: list[BuildReader] = field(default_factory=list)
    builds: list[Build] = field(default_factory=list)
    calls: list[_Call] = field(default_factory=list)
    contexts: dict[str, Value] = field(default_factory=dict)
    """`inputs.x`, `matrix.x`, `steps.id.outputs.x` … → what it may be."""
    depth: int = 0
    """How many calls lead here."""

    def __post_init__(self) -> None:
        self.reader = BuildReader(self.checkout)
        self.readers.append(self.reader)

    def read(self, root: Table, given: Mapping[str, Value]) -> None:
        """Read a file whose inputs may be given by a caller."""
        self._inputs(root, given)
        env = self._env(root.get("env"), {})
        for name, job in _jobs(root):
            if sum(reader.is_exhausted for reader in self.readers) >= _MOST_EXHAUSTED:
                return
            self.reader = BuildReader(self.checkout)  # each job is a machine of its own
            self.readers.append(self.reader)
            self._job(name, job, env)
        runs = root.table("runs")
        if runs.get("steps") is not None:
            self._steps("", runs, env, _default_shell(root))

    def finish(self) -> Iterator[Sighting | Broken]:
        """Yield everything that was seen."""
        for reader in self.readers:
            yield from reader.finish()
        builds = [build for reader in self.readers for build in reader.builds]
        yield from overrides([*builds, *self.builds], self.checkout)
        if any(reader.is_exhausted for reader in self.readers):
            yield Broken(file=self.path, line=1, reason="too much to follow: what comes late in this file was not read")

    def output(self, text: Text) -> Value:
        """Return what an output of the file may be, once it is read."""
        return self._value(text, {})

    # --- contexts -----------------------------------------------------------------------------------------------------

    def _inputs(self, root: Table, given: Mapping[str, Value]) -> None:
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
            self.contexts[f"inputs.{name}"] = named(distinct(cases), name)
        for name, value in given.items():
            self.contexts[f"inputs.{name}"] = named(value, name)

    def _env(self, node: Node | None, before: Mapping[str, Value]) -> dict[str, Value]:
        """Return the variables of a level, put on those of the level above."""
        env = dict(before)
        for key, leaf in node.entries if isinstance(node, Table) else ():
            if isinstance(leaf, Leaf):
                env[key.chars] = named(self._value(leaf.text, env), key.chars)
        return env

    def _value(self, text: Text, env: Mapping[str, Value]) -> Value:
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
        return self.contexts.get(name) or just(unknown(chars[:80], source.place()))

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

    def _matrix(self, job: Table, name: str, env: Mapping[str, Value]) -> None:
        for old in [known for known in self.contexts if known.startswith("matrix.")]:
            del self.contexts[old]
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
                cases = [Case(case.text, case.guard | guard) for case in self._value(leaf.text, env)]
                old = self.contexts.get(name, ())
                self.contexts[name] = distinct((*old, *named(tuple(cases), name.rpartition(".")[2])))

    # --- jobs and steps -----------------------------------------------------------------------------------------------

    def _job(self, name: str, job: Table, env: Mapping[str, Value]) -> None:
        self._matrix(job, name, env)
        inner = self._env(job.get("env"), env)
        uses = job.text("uses")
        if uses:
            scope = Scope(cwd=just(unknown("workspace", uses.place())), labels=(name,))
            self._use(uses, job, inner, scope, f"needs.{name}")
        self._steps(name, job, inner, _default_shell(job))
        for key, leaf in job.table("outputs").entries:
            if isinstance(leaf, Leaf):
                value = self._value(leaf.text, inner)
                self.contexts[f"needs.{name}.outputs.{key.chars}"] = value
                self.contexts[f"jobs.{name}.outputs.{key.chars}"] = value

    def _steps(self, name: str, job: Table, env: Mapping[str, Value], shell: str) -> None:
        scope = Scope(cwd=just(unknown("workspace", job.place)), labels=(name,) if name else ())
        for step in tables(job.get("steps")):
            scope.cwd, scope.is_alive = just(unknown("workspace", step.place)), True
            scope.variables = {**scope.variables, **self._env(step.get("env"), {**env, **self._exported()})}
            self.reader.outputs = {}
            self._step(step, scope, shell)
            identity = step.text("id")
            for key, value in self.reader.outputs.items():
                self.contexts[f"env!{key}"] = value
                if identity:
                    self.contexts[f"steps.{identity.chars}.outputs.{key}"] = value

    def _exported(self) -> dict[str, Value]:
        """Return what earlier steps wrote to `$GITHUB_ENV`."""
        return {key[4:]: value for key, value in self.contexts.items() if key.startswith("env!")}

    def _step(self, step: Table, scope: Scope, shell: str) -> None:
        uses, run = step.text("uses"), step.text("run")
        if uses:
            identity = step.text("id")
            self._use(uses, step, scope.variables, scope, f"steps.{identity.chars}" if identity else "")
        if run is None:
            return
        folder = step.text("working-directory")
        if folder:
            scope.enter(self._one(folder, scope), folder.place())
        own = step.text("shell")
        self._run(run, scope, own.chars if own else shell)

    def _run(self, source: Text, scope: Scope, shell: str) -> None:
        """Read the commands of a step, or of an input that holds some."""
        text = filled(source, holes(source, _EXPRESSION), lambda inner: self._expression(inner, scope.variables), scope)
        if shell.startswith(("pwsh", "powershell")):
            text = powershell.as_shell(text)
        elif not _SHELL.match(shell):
            return
        if is_worth_reading(text.chars, self.path, self.checkout, _telling(scope.variables)):
            self.reader.run(rewritten(text, _GROUP, _spread), scope)

    def _one(self, text: Text, scope: Scope) -> Text:
        value = self._value(text, scope.variables)
        return value[0].text if value else Text()

    # --- uses ---------------------------------------------------------------------------------------------------------

    def _use(self, uses: Text, step: Table, env: Mapping[str, Value], scope: Scope, caller: str) -> None:
        inputs = step.table("with")
        if uses.chars.startswith("./"):
            self._call(uses, inputs, env, caller)
        found = _USES.fullmatch(uses.chars)
        if found and "${{" not in uses.chars:
            upstream = normalise(f"{found['base'] or 'https://github.com/'}{found['repo']}")
            if upstream:
                ref = uses[found.start("ref") :]
                self.reader.picks.append(
                    Pick(upstream=upstream, url=uses, ref=ref, command=uses.place(), guard=scope.guard)
                )
        name = found["repo"] + found["path"] if found else uses.chars
        if _CHECKOUT.search(name.rpartition("/")[2]) or (
            _CHECKOUT.search(name) and not name.endswith((".yml", ".yaml"))
        ):
            self._checked_out(inputs, env, scope)
        else:
            self._pairs(inputs, env, scope)
        if "github-script" not in name:
            self._scripts(inputs, scope)
        self._build(inputs, env, scope)

    def _call(self, uses: Text, inputs: Table, env: Mapping[str, Value], caller: str) -> None:
        path = posixpath.normpath(uses.chars)
        names = [path] if path.endswith((".yml", ".yaml")) else [f"{path}/action.yml", f"{path}/action.yaml"]
        file = next((name for name in names if name in self.checkout.texts), None)
        if file is not None and file != self.path:
            values = {key.chars: self._value(leaf.text, env) for key, leaf in inputs.entries if isinstance(leaf, Leaf)}
            self.calls.append(_Call(file, values))
            if caller and self.depth < _DEEPEST and len(self.calls) <= _MOST_CALLS:
                for name, value in _outputs(file, values, self).items():
                    self.contexts[f"{caller}.outputs.{name}"] = value

    def _checked_out(self, inputs: Table, env: Mapping[str, Value], scope: Scope) -> None:
        """Read a checkout of another repository: `repository`, `ref`, `path`."""
        repository = inputs.text("repository", "repo", "url")
        if repository is None or _OWN.search(repository.chars):
            return
        ref, path = inputs.text("ref", "branch", "tag"), inputs.text("path", "directory")
        for case in self._value(repository, env):
            upstream = self._upstream(case.text)
            if upstream is not None:
                self._settle(
                    upstream, case, ref, path or repository[len(repository.chars.rpartition("/")[0]) + 1 :], env, scope
                )

    def _settle(
        self, upstream: str, case: Case, ref: Text | None, path: Text, env: Mapping[str, Value], scope: Scope
    ) -> None:
        refs: Value = self._value(ref, env) if ref is not None else ()
        if upstream in self.own or (
            ref is not None and _OWN.search(ref.chars) and not any(c.text.is_known for c in refs)
        ):
            return
        for one in refs or just(Text()):
            if not is_compatible(case.guard, one.guard):
                continue
            guard = scope.guard | case.guard | one.guard
            place = ref.place() if ref is not None else case.text.place()
            pick = Pick(
                upstream=upstream, url=case.text, ref=one.text or None, command=place, guard=guard, labels=scope.labels
            )
            site = Site(origin=pick, guard=guard, remotes={"origin": (upstream, case.text)})
            self.reader.sites.append(site)
            scope.settle(site, self._one(path, scope))

    def _upstream(self, text: Text) -> str | None:
        if not text.is_known:
            return None
        return normalise(f"https://github.com/{text.chars}") if _OWNER.fullmatch(text.chars) else normalise(text.chars)

    def _pairs(self, inputs: Table, env: Mapping[str, Value], scope: Scope) -> None:
        """Read inputs that come in pairs: `x-repository` and `x-ref`."""
        for key, leaf in inputs.entries:
            found = _PAIR.fullmatch(key.chars)
            if found is None or not isinstance(leaf, Leaf) or _OWN.search(leaf.text.chars):
                continue
            prefix = found["prefix"]
            ref = next(
                (
                    node
                    for word in ("ref", "sha", "commit", "tag", "branch", "rev")
                    if isinstance(node := inputs.get(prefix + word), Leaf)
                ),
                None,
            )
            if ref is None or not ref.text:
                continue
            for case in self._value(leaf.text, env):
                upstream = self._upstream(case.text)
                for one in self._value(ref.text, env):
                    is_told = one.text and one.text.is_known and is_compatible(case.guard, one.guard)
                    if upstream and upstream not in self.own and is_told:
                        pick = Pick(
                            upstream=upstream, url=case.text, ref=one.text, command=ref.text.place(),
                            guard=scope.guard | case.guard | one.guard, labels=scope.labels,
                        )  # fmt: skip
                        self.reader.picks.append(pick)

    def _scripts(self, inputs: Table, scope: Scope) -> None:
        """Read the inputs that hold shell commands, and addresses in the others."""
        for key, leaf in inputs.entries:
            if not isinstance(leaf, Leaf):
                continue
            if _SCRIPT_KEY.fullmatch(key.chars):
                inner = scope.copy()
                self._run(leaf.text, inner, "")
                scope.folders = inner.folders
            elif (
                "://" in leaf.text.chars
                and not _BUILD_ARGS.fullmatch(key.chars)
                and key.chars not in {"context", "build-contexts"}
            ):
                self._addresses(leaf.text, scope)

    def _addresses(self, text: Text, scope: Scope) -> None:
        for offset, source in (*vcs_urls(text.chars), *archive_urls(text.chars)):
            url = text[offset:]
            ref = url[source.ref.start : source.ref.end] if source.ref else None
            if "${{" in (ref.chars if ref else "") or "${{" in source.upstream:
                continue
            self.reader.picks.append(
                Pick(
                    upstream=source.upstream,
                    url=url,
                    ref=ref,
                    command=url.place(),
                    guard=scope.guard,
                    labels=scope.labels,
                    hint=source.hint,
                )
            )

    # --- image builds -------------------------------------------------------------------------------------------------

    def _build(self, inputs: Table, env: Mapping[str, Value], scope: Scope) -> None:
        for key in ("context", "build-contexts"):
            for line in _lines(inputs.text(key)):
                self._context(line[line.chars.find("=") + 1 :] if key == "build-contexts" else line, env, scope)
        listed = [
            leaf.text for key, leaf in inputs.entries if isinstance(leaf, Leaf) and _BUILD_ARGS.fullmatch(key.chars)
        ]
        arguments: dict[str, Value] = {}
        for text in listed:
            for line in _lines(text):
                name, equals, _ = line.chars.partition("=")
                if equals and re.fullmatch(r"[A-Za-z_]\w*", name):
                    arguments[name] = named(self._value(line[len(name) + 1 :], env), name)
        if not arguments:
            return
        file, context = inputs.text("file", "dockerfile"), inputs.text("context")
        for case in self._value(file, env) if file else just(Text()):
            given = {name: under(value, case.guard) for name, value in arguments.items()}
            self.builds.append(
                Build(
                    caller=self.path,
                    target=case.text.key,
                    context=self._one(context, scope).key if context else "",
                    arguments=given,
                    labels=(*(choice.label for choice in case.guard if choice.label), *scope.labels),
                )
            )

    def _context(self, text: Text, env: Mapping[str, Value], scope: Scope) -> None:
        for case in self._value(text, env):
            source = context_source(case.text.chars)
            if source is not None and case.text.is_known:
                ref = case.text[source.ref.start : source.ref.end] if source.ref else None
                self.reader.picks.append(
                    Pick(
                        upstream=source.upstream,
                        url=case.text,
                        ref=ref,
                        command=case.text.place(),
                        guard=scope.guard,
                        labels=scope.labels,
                    )
                )


def _spread(found: re.Match[str], piece: Text) -> Text:
    """Let each line of `{ echo a=1; echo b=2; } >> "$GITHUB_OUTPUT"` put out what it prints itself."""
    body = piece[found.start("body") - found.start() : found.end("body") - found.start()]
    return rewritten(body, _ECHO, lambda _, line: joined((line, beside(f" {found['target']}", line))))


def _outputs(file: str, given: Mapping[str, Value], caller: _Flow) -> dict[str, Value]:
    """Return what a workflow or an action of the same checkout puts out for its caller."""
    root = yamltext.read(caller.checkout.texts[file], file).root
    if not isinstance(root, Table):
        return {}
    declared = [*root.table("outputs").entries, *root.table("on", "workflow_call", "outputs").entries]
    values = {key.chars: node.text("value") for key, node in declared if isinstance(node, Table)}
    if not values:
        return {}
    flow = _Flow(path=file, checkout=caller.checkout, own=caller.own, depth=caller.depth + 1)
    flow.read(root, given)
    found = {name: flow.output(text) for name, text in values.items() if text is not None}
    return {name: value for name, value in found.items() if any(case.text.is_known for case in value)}


# --- parts of a file --------------------------------------------------------------------------------------------------


def _jobs(root: Table) -> list[tuple[str, Table]]:
    """Return the jobs, each after those that it needs."""
    jobs = {key.chars: node for key, node in root.table("jobs").entries if isinstance(node, Table)}
    order: dict[str, Table] = {}
    for first in jobs:
        stack: list[tuple[str, bool]] = [(first, False)]
        waiting: set[str] = set()
        while stack:
            name, is_ready = stack.pop()
            if is_ready:
                order.setdefault(name, jobs[name])
            elif name in jobs and name not in order and name not in waiting:
                waiting.add(name)
                stack.append((name, True))
                stack += [(need.chars, False) for need in strings(jobs[name].get("needs"))]
    return list(order.items())


def _default_shell(table: Table) -> str:
    shell = table.table("defaults", "run").text("shell")
    return shell.chars if shell else ""


def _leaves(node: Node, prefix: str, depth: int = 0) -> Iterator[tuple[str, Leaf]]:
    """Yield the scalars of a matrix row with the names that expressions use."""
    if isinstance(node, Leaf):
        yield prefix, node
    elif isinstance(node, Table) and depth < 5:  # noqa: PLR2004 - deeper rows have no names that people write
        for key, child in node.entries:
            yield from _leaves(child, f"{prefix}.{key.chars}", depth + 1)


def _lines(text: Text | None) -> Iterator[Text]:
    for found in re.finditer(r"\S[^\n]*", text.chars if text else ""):
        line = text[found.start() : found.end()] if text else Text()
        if not line.chars.startswith("#"):
            stripped = line[: len(line.chars.rstrip())]
            is_quoted = (
                stripped.chars[:1] in {'"', "'"}
                and stripped.chars[-1:] == stripped.chars[:1]
                and len(stripped.chars) > 1
            )
            yield stripped[1:-1] if is_quoted else stripped


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
