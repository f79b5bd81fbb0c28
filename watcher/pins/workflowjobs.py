"""The jobs and steps of a workflow or an action: what they use, what they run, what they build."""

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from watcher.pins import powershell, yamltext
from watcher.pins.address import normalise
from watcher.pins.builds import Build, BuildReader, is_worth_reading, overrides
from watcher.pins.checkout import Checkout
from watcher.pins.filling import beside, rewritten
from watcher.pins.format import Broken
from watcher.pins.scope import Scope
from watcher.pins.sites import Pick, Sighting
from watcher.pins.text import Text, joined, unknown
from watcher.pins.tree import Leaf, Table, strings, tables
from watcher.pins.values import Value, just
from watcher.pins.workflowcontexts import Contexts, telling_names
from watcher.pins.workflowuses import Use, addresses, checked_out, image_builds, is_build_input, pairs

_USES = re.compile(r"(?P<base>https?://[^/\s]+/)?(?P<repo>[\w.-]+/[\w.-]+)(?P<path>(?:/[^@\s]*)?)@(?P<ref>\S+)")
_SCRIPT_KEY = re.compile(r"(?:[\w-]*[-_])?(?:script|run|commands?|cmd)", re.IGNORECASE)
_CHECKOUT = re.compile(r"checkout|clone", re.IGNORECASE)
_GROUP = re.compile(
    r"(?m)^[ \t]*\{[ \t]*\n(?P<body>(?:(?![ \t]*\}).*\n){1,60})[ \t]*\}[ \t]*(?P<target>>>?[ \t]*\"?\$\{?GITHUB_(?:OUTPUT|ENV)\}?\"?)"  # noqa: E501 - one expression
)
_ECHO = re.compile(r"(?m)^[ \t]*echo[ \t][^\n]*")
_SHELL = re.compile(r"(?:ba|da|z)?sh\b|\Z")
_DEEPEST = 3
_MOST_CALLS = 12
_MOST_EXHAUSTED = 2
"""Where so many jobs are too much to follow, the rest of the file is not read."""


@dataclass(frozen=True, slots=True)
class Call:
    """A use of a workflow or action of the same checkout."""

    file: str
    inputs: Mapping[str, Value]


@dataclass(slots=True, kw_only=True)
class Flow:
    """The reading of one workflow or action."""

    path: str
    checkout: Checkout
    own: frozenset[str]
    """The upstreams that are this very repository."""
    reader: BuildReader = field(init=False)
    """What reads the job at hand."""
    readers: list[BuildReader] = field(default_factory=list)
    builds: list[Build] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    contexts: Contexts = field(default_factory=Contexts)
    depth: int = 0
    """How many calls lead here."""

    def __post_init__(self) -> None:
        self.reader = BuildReader(self.checkout)
        self.readers.append(self.reader)

    def read(self, root: Table, given: Mapping[str, Value]) -> None:
        """Read a file whose inputs may be given by a caller."""
        self.contexts.declare(root, given)
        env = self.contexts.env(root.get("env"), {})
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
        return self.contexts.value(text, {})

    # --- jobs and steps -----------------------------------------------------------------------------------------------

    def _job(self, name: str, job: Table, env: Mapping[str, Value]) -> None:
        self.contexts.enter_matrix(job, name, env)
        inner = self.contexts.env(job.get("env"), env)
        uses = job.text("uses")
        if uses:
            scope = Scope(cwd=just(unknown("workspace", uses.place())), labels=(name,))
            self._use(uses, job, inner, scope, f"needs.{name}")
        self._steps(name, job, inner, _default_shell(job))
        for key, leaf in job.table("outputs").entries:
            if isinstance(leaf, Leaf):
                value = self.contexts.value(leaf.text, inner)
                self.contexts.set(f"needs.{name}.outputs.{key.chars}", value)
                self.contexts.set(f"jobs.{name}.outputs.{key.chars}", value)

    def _steps(self, name: str, job: Table, env: Mapping[str, Value], shell: str) -> None:
        scope = Scope(cwd=just(unknown("workspace", job.place)), labels=(name,) if name else ())
        for step in tables(job.get("steps")):
            scope.cwd, scope.is_alive = just(unknown("workspace", step.place)), True
            scope.variables = {
                **scope.variables,
                **self.contexts.env(step.get("env"), {**env, **self.contexts.exported()}),
            }
            self.reader.outputs = {}
            self._step(step, scope, shell)
            identity = step.text("id")
            for key, value in self.reader.outputs.items():
                self.contexts.set(f"env!{key}", value)
                if identity:
                    self.contexts.set(f"steps.{identity.chars}.outputs.{key}", value)

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
        text = self.contexts.put_in(source, scope)
        if shell.startswith(("pwsh", "powershell")):
            text = powershell.as_shell(text)
        elif not _SHELL.match(shell):
            return
        if is_worth_reading(text.chars, self.path, self.checkout, telling_names(scope.variables)):
            self.reader.run(rewritten(text, _GROUP, _spread), scope)

    def _one(self, text: Text, scope: Scope) -> Text:
        value = self.contexts.value(text, scope.variables)
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
        use = Use(
            file=self.path,
            inputs=inputs,
            env=env,
            scope=scope,
            contexts=self.contexts,
            reader=self.reader,
            own=self.own,
        )
        if _CHECKOUT.search(name.rpartition("/")[2]) or (
            _CHECKOUT.search(name) and not name.endswith((".yml", ".yaml"))
        ):
            checked_out(use)
        else:
            pairs(use)
        if "github-script" not in name:
            self._scripts(use)
        self.builds += image_builds(use)

    def _call(self, uses: Text, inputs: Table, env: Mapping[str, Value], caller: str) -> None:
        path = posixpath.normpath(uses.chars)
        names = [path] if path.endswith((".yml", ".yaml")) else [f"{path}/action.yml", f"{path}/action.yaml"]
        file = next((name for name in names if name in self.checkout.texts), None)
        if file is not None and file != self.path:
            values = {
                key.chars: self.contexts.value(leaf.text, env) for key, leaf in inputs.entries if isinstance(leaf, Leaf)
            }
            self.calls.append(Call(file, values))
            if caller and self.depth < _DEEPEST and len(self.calls) <= _MOST_CALLS:
                for name, value in _outputs(file, values, self).items():
                    self.contexts.set(f"{caller}.outputs.{name}", value)

    def _scripts(self, use: Use) -> None:
        """Read the inputs that hold shell commands, and addresses in the others."""
        for key, leaf in use.inputs.entries:
            if not isinstance(leaf, Leaf):
                continue
            if _SCRIPT_KEY.fullmatch(key.chars):
                inner = use.scope.copy()
                self._run(leaf.text, inner, "")
                use.scope.folders = inner.folders
            elif "://" in leaf.text.chars and not is_build_input(key.chars):
                addresses(use, leaf.text)


def _spread(found: re.Match[str], piece: Text) -> Text:
    """Let each line of `{ echo a=1; echo b=2; } >> "$GITHUB_OUTPUT"` put out what it prints itself."""
    body = piece[found.start("body") - found.start() : found.end("body") - found.start()]
    return rewritten(body, _ECHO, lambda _, line: joined((line, beside(f" {found['target']}", line))))


def _outputs(file: str, given: Mapping[str, Value], caller: Flow) -> dict[str, Value]:
    """Return what a workflow or an action of the same checkout puts out for its caller."""
    root = yamltext.read(caller.checkout.texts[file], file).root
    if not isinstance(root, Table):
        return {}
    declared = [*root.table("outputs").entries, *root.table("on", "workflow_call", "outputs").entries]
    values = {key.chars: node.text("value") for key, node in declared if isinstance(node, Table)}
    if not values:
        return {}
    flow = Flow(path=file, checkout=caller.checkout, own=caller.own, depth=caller.depth + 1)
    flow.read(root, given)
    found = {name: flow.output(text) for name, text in values.items() if text is not None}
    return {name: value for name, value in found.items() if any(case.text.is_known for case in value)}


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
