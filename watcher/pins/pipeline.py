"""Pipelines of GitLab, Azure, Buildkite, CircleCI, Travis and the like, and all other YAML that holds shell commands.

They differ in names only: somewhere a mapping sets variables, and below it keys such as `script` hold commands. What
each of them has beside that (GitLab's `include`, Azure's repositories, Buildkite's plugins, Argo's and Flux' sources,
Ansible's git module) is read on the way.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from watcher.model import RefKind
from watcher.pins import powershell, yamltext
from watcher.pins.address import archive_source, normalise
from watcher.pins.builds import BuildReader, overrides
from watcher.pins.checkout import Checkout
from watcher.pins.filling import filled, holes, rewritten, value_of
from watcher.pins.format import Broken
from watcher.pins.scope import Scope
from watcher.pins.sites import Pick, Sighting
from watcher.pins.text import Place, Span, Text, joined, unknown
from watcher.pins.tree import Leaf, Node, Row, Table, strings, tables
from watcher.pins.values import Value, just, named
from watcher.pins.wordfields import Fields

_VARIABLES = frozenset(
    {"env", "envs", "environment", "environments", "variables", "vars", "global", "defaults", "parameters"}
)
_SCRIPTS = re.compile(
    r"(?:before_|after_|pre_|post_|pre-|post-)?(?:script|scripts|install|build|test|run|commands?|cmds?|bash|sh|shell|pwsh|powershell|setup|"
    r"init|checkout|deploy|tasks|steps|entrypoint|inline|inlineScript|preBuild|postBuild|raw)(?:_script|Script|_commands?)?",
)  # fmt: skip
_PIN = re.compile(r"\bgit\b|git\+|/archive/|build-arg|tarball|zipball|codeload|raw\.github")
_MACRO = re.compile(r"\$\(([A-Za-z_][\w.]*)\)")
_WORTH = re.compile(rf"{_PIN.pattern}|repoURL|GitRepository|repositories:|plugins:|include:|\bscm:")
"""What a file without any pin lacks: reading YAML costs more than one search."""
_ESCAPED = re.compile(r"\$\$(?=[A-Za-z_{(])")
_PARAMETER = re.compile(r"(?:<<|\{\{)-?\s*(.*?)\s*-?(?:>>|\}\})")
_PLUGIN = re.compile(r"(?P<name>(?:[\w.-]+/)?[\w.-]+|(?:https?|ssh|git)://[^#\s]+|git@[^#\s]+)#(?P<ref>[\w./+-]+)")
_NOT = re.compile(
    r"(?:^|/)\.(?:github|gitea|forgejo)/|(?:^|/)action\.ya?ml$|compose[\w.-]*\.ya?ml$|pre-commit[\w.-]*\.ya?ml$|-lock\.ya?ml$|(?:^|/)(?:node_modules|locales?|i18n)/"
)
_SHELLS = frozenset({"sh", "bash", "/bin/sh", "/bin/bash", "dash", "zsh", "/usr/bin/bash"})
_DEEPEST = 40
_MOST_NODES = 100_000


def claims(path: str) -> bool:
    """Answer whether a file is YAML that may hold commands and that no other format of CI reads."""
    return path.lower().endswith((".yml", ".yaml")) and _NOT.search(path) is None


def parse(path: str, text: str, checkout: Checkout) -> Iterable[Sighting | Broken]:
    """Find what the commands of a pipeline do with upstreams, and the other repositories that it uses."""
    if not _WORTH.search(text):
        return
    nodes, problem = yamltext.documents(text, path)
    pipeline = _Pipeline(path, checkout)
    for node in nodes:
        pipeline.read(node)
    found = [*pipeline.reader.finish(), *overrides(pipeline.reader.builds, checkout)]
    yield from found
    if problem and (found or _is_known(path)):
        yield Broken(file=path, line=problem.line, reason=problem.reason)
    if pipeline.is_exhausted:
        yield Broken(file=path, line=1, reason="too much to follow: what comes late in this file was not read")


def _is_known(path: str) -> bool:
    """Answer whether a file is a pipeline by its name, not only perhaps."""
    name = PurePosixPath(path).name
    return (
        name.startswith((".gitlab-ci", "azure-pipelines", ".travis", "appveyor", "buildspec"))
        or "/.buildkite/" in f"/{path}"
        or path.startswith(".circleci/")
    )


class _Pipeline:
    """The reading of one file."""

    def __init__(self, path: str, checkout: Checkout) -> None:
        self.path = path
        self.checkout = checkout
        self.reader = BuildReader(checkout)
        self.has_jobs = False
        """Whether there are jobs that run what stands before all of them."""
        self.before: list[Text] = []
        """What runs before the script of each job: GitLab's top-level `before_script`."""
        self.nodes = 0
        """How many were read; an alias counts as what it stands for."""

    @property
    def is_exhausted(self) -> bool:
        """Answer whether the file was too costly to be read to its end."""
        return self.nodes > _MOST_NODES or self.reader.is_exhausted

    def read(self, root: Node) -> None:
        """Read one document."""
        scope = Scope(cwd=just(unknown("start", Place(self.path, 1))))
        if isinstance(root, Table):
            self.has_jobs = any(isinstance(job, Table) and job.get("script") is not None for _, job in root.entries)
            self.before = [*_flat(root.get("before_script") or root.get("default", "before_script"))]
        self._node(root, scope, "", 0)

    def _node(self, node: Node, scope: Scope, key: str, depth: int) -> None:
        self.nodes += 1
        if depth > _DEEPEST or self.is_exhausted:
            return
        if isinstance(node, Row):
            if any(isinstance(child, Table) for child in node.nodes) and key in {
                "steps",
                "tasks",
                "commands",
                "run",
                "script",
            }:
                inner = _job(scope, "")
                for child in node.nodes:  # steps of one job share its folders
                    self._step(child, inner, depth)
                return
            for child in node.nodes:
                self._node(child, _job(scope, ""), key, depth + 1)
        elif isinstance(node, Table):
            self._table(node, scope, key, depth)

    def _step(self, node: Node, scope: Scope, depth: int) -> None:
        if isinstance(node, Leaf):
            self._run([node.text], scope, "script")
            return
        cwd = scope.cwd
        if isinstance(node, Table):
            self._table(node, scope, "", depth + 1)
        scope.cwd, scope.is_alive = cwd, True

    def _table(self, table: Table, scope: Scope, key: str, depth: int) -> None:
        for name, node in table.entries:
            if name.chars in _VARIABLES:
                self._variables(node, scope)
        self._others(table, scope, key)
        words = list(strings(table.get("command"))) if isinstance(table.get("command"), Row) else []
        arguments = list(strings(table.get("args"))) if isinstance(table.get("args"), Row) else []
        if (words and words[0].chars in _SHELLS) or (arguments and not words and "git" in arguments[0].chars):
            self._execute([*words, *arguments], scope)
        for name, node in table.entries:
            if (
                name.chars in {"command", "args"}
                and isinstance(node, Row)
                and (words or arguments)
                and words
                and words[0].chars in _SHELLS
            ):
                continue
            self._entry(name, node, table, scope, depth)

    def _entry(self, name: Text, node: Node, table: Table, scope: Scope, depth: int) -> None:
        texts = list(_flat(node)) if _SCRIPTS.fullmatch(name.chars) else []
        if texts and not (isinstance(node, Row) and any(isinstance(child, Table) for child in node.nodes)):
            is_job = name.chars == "script" and table.get("before_script") is None
            own = list(_flat(table.get("before_script"))) if name.chars == "script" else []
            is_shared = name.chars == "before_script" and (
                table.get("script") is not None or (depth == 0 and self.has_jobs)
            )
            if not is_shared:
                self._run([*(self.before if is_job else own), *texts], scope, name.chars)
        elif name.chars not in _VARIABLES or not isinstance(node, Table):
            inner = (
                scope
                if name.chars in {"inputs", "run", "with", "block", "phases", "commands"}
                else _job(scope, name.chars)
            )
            self._node(node, inner, name.chars, depth + 1)

    # --- commands -----------------------------------------------------------------------------------------------------

    def _variables(self, node: Node, scope: Scope) -> None:
        if isinstance(node, Table):
            for name, child in node.entries:
                if name.chars == "global":
                    self._variables(child, scope)
                else:
                    self._variable(name, child, scope)
        for entry in tables(node) if isinstance(node, Row) else ():
            key = entry.text("name")
            if key:
                self._variable(key, entry, scope)
            elif len(entry.entries) == 1:
                self._variables(entry, scope)
        for text in strings(node) if isinstance(node, Row) else ():
            for found in re.finditer(r"([A-Za-z_]\w*)=(\"[^\"]*\"|'[^']*'|\S+)", text.chars):
                value_text = text[found.start(2) : found.end(2)]
                scope.assign(found[1], named(self.reader.value(value_text, scope), found[1]))

    def _variable(self, name: Text, node: Node, scope: Scope) -> None:
        """Set a variable to a scalar, or to the `value` or `default` of a table."""
        leaf = (node.get("value") or node.get("default")) if isinstance(node, Table) else node
        if isinstance(leaf, Leaf) and re.fullmatch(r"[A-Za-z_][\w.]*", name.chars):
            scope.assign(name.chars, named(self._value(leaf.text, scope), name.chars))

    def _value(self, text: Text, scope: Scope) -> Value:
        filled_in = filled(text, holes(text, _PARAMETER), lambda inner: self._parameter(inner, scope), scope)
        filled_in = filled(filled_in, holes(filled_in, _MACRO), lambda inner: scope.value(inner.chars), scope)
        return self.reader.value(filled_in, scope) if "$" in filled_in.chars else just(filled_in)

    def _parameter(self, inner: Text, scope: Scope) -> Value:
        """Return what `<< parameters.x >>`, `{{ x }}` or `${{ variables.x }}` stands for, where the file says so."""
        name, _, default = inner.chars.partition("|")
        plain = re.sub(
            r"^(?:pipeline\.)?(?:parameters|variables|inputs|vars|env|values)\.",
            "",
            name.strip().lstrip("."),
            flags=re.IGNORECASE,
        )
        given = re.search(r"default\((['\"])(.*?)\1", default)
        if scope.value(plain) is None and given:
            start = len(name) + 1 + given.start(2)
            return just(inner[start : start + len(given[2])])
        return scope.value(plain) or just(unknown(plain[:60], inner.place()))

    def _run(self, texts: Sequence[Text], scope: Scope, key: str) -> None:
        whole = joined(part for text in texts for part in (text, Text((Span("\n", text.place()),)) if text else Text()))
        if not whole or not (
            _PIN.search(whole.chars) or "OUTPUT" in whole.chars or "=" in whole.chars or ".sh" in whole.chars
        ):
            return
        if not _PIN.search(whole.chars) and len(whole.chars) > 20_000:  # noqa: PLR2004 - data, no commands
            return
        if "/.buildkite/" in f"/{self.path}":
            whole = rewritten(whole, _ESCAPED, lambda _, piece: piece[1:])
        text = filled(whole, holes(whole, _PARAMETER), lambda inner: self._role_value(inner, scope), scope)
        text = filled(text, holes(text, _MACRO), lambda inner: scope.value(inner.chars), scope)
        if key.lower() in {"pwsh", "powershell"}:
            text = powershell.as_shell(text)
        self.reader.run(text, scope)

    def _execute(self, words: Sequence[Text], scope: Scope) -> None:
        self.reader.execute([Fields(frozenset(), tuple(words))], scope.copy(), words[0].place())

    # --- what only some of them have ----------------------------------------------------------------------------------

    def _others(self, table: Table, scope: Scope, key: str) -> None:
        for found in (
            *self._included(table),
            *self._azure(table, key),
            *self._plugins(table),
            *self._delivered(table, scope),
            *self._ansible(table, scope),
        ):
            self.reader.picks.append(found)

    def _included(self, table: Table) -> Iterator[Pick]:
        """Read GitLab's `include`: files of another project, of an address, or a component."""
        include = table.get("include")
        for text in strings(include):
            yield from _raw(text)
        for entry in tables(include):
            project, ref, remote, component = (
                entry.text("project"),
                entry.text("ref"),
                entry.text("remote"),
                entry.text("component"),
            )
            if project and entry.get("file") is not None:
                upstream = normalise(f"https://{self._server()}/{project.chars.strip('/')}")
                if upstream and "$" not in project.chars:
                    yield Pick(upstream=upstream, url=project, ref=ref, command=(ref or project).place())
            if remote:
                yield from _raw(remote)
            if component and "@" in component.chars:
                yield from self._component(component)

    def _component(self, component: Text) -> Iterator[Pick]:
        path, _, ref = component.chars.rpartition("@")
        host, _, rest = path.partition("/")
        server = self._server() if host.startswith("$") else host
        upstream = normalise(f"https://{server}/{rest.rpartition('/')[0]}")
        if upstream and ref and "~" not in ref:
            yield Pick(upstream=upstream, url=component, ref=component[len(path) + 1 :], command=component.place())

    def _server(self) -> str:
        """Return the host that this checkout came from, which is where its pipelines run."""
        origin = self.checkout.origin or ""
        host = origin.partition("://")[2].partition("/")[0]
        return host if host and host != "github.com" else "gitlab.com"

    def _azure(self, table: Table, key: str) -> Iterator[Pick]:
        """Read Azure's `resources: repositories:`."""
        alias, kind, name = table.text("repository"), table.text("type"), table.text("name")
        if (
            key == "repositories"
            and alias
            and name
            and kind
            and kind.chars.lower() in {"github", "githubenterprise", "bitbucket"}
        ):
            host = "bitbucket.org" if kind.chars.lower() == "bitbucket" else "github.com"
            upstream = normalise(f"https://{host}/{name.chars}")
            ref = table.text("ref")
            if upstream and "$" not in name.chars:
                yield Pick(upstream=upstream, url=name, ref=ref, command=(ref or name).place())

    def _plugins(self, table: Table) -> Iterator[Pick]:
        """Read Buildkite's `plugins`: `docker#v5.1.0` is a repository of its maker, `a/b#v1` one of `a`."""
        plugins = table.get("plugins")
        keys = [key for entry in tables(plugins) for key, _ in entry.entries]
        for text in (*strings(plugins), *keys):
            found = _PLUGIN.fullmatch(text.chars)
            upstream = _plugin(found["name"]) if found else None
            if found and upstream:
                yield Pick(upstream=upstream, url=text, ref=text[found.start("ref") :], command=text.place())

    def _delivered(self, table: Table, scope: Scope) -> Iterator[Pick]:
        """Read the sources of Argo CD (`repoURL`, `targetRevision`) and Flux (`kind: GitRepository`)."""
        url = table.text("repoURL")
        upstream = normalise(url.chars) if url and table.get("chart") is None and "{{" not in url.chars else None
        if url and upstream and table.get("url") is None:
            ref = table.text("targetRevision")
            if ref is None or ref.chars == "HEAD":
                yield Pick(upstream=upstream, url=url, ref=None, command=url.place())
            elif not re.search(r"[*^~<>{\s]", ref.chars):
                yield Pick(upstream=upstream, url=url, ref=ref, command=ref.place())
        kind, spec = table.text("kind"), table.table("spec")
        flux = spec.text("url") if kind and kind.chars == "GitRepository" else None
        upstream = normalise(flux.chars) if flux else None
        if flux and upstream:
            refs = spec.table("ref")
            hints: Mapping[str, RefKind | None] = {
                "commit": None,
                "tag": RefKind.TAG,
                "name": None,
                "branch": RefKind.BRANCH,
            }
            name = next((name for name in hints if refs.text(name)), "")
            if name or refs.get("semver") is None:
                ref = refs.text(name) if name else None
                yield Pick(upstream=upstream, url=flux, ref=ref, command=(ref or flux).place(), hint=hints.get(name))
        del scope

    def _ansible(self, table: Table, scope: Scope) -> Iterator[Pick]:
        """Read Ansible's git module, and roles and collections that come from a repository."""
        for name in ("git", "ansible.builtin.git"):
            module = table.get(name)
            if isinstance(module, Table) and (url := module.text("repo", "name")) is not None:
                yield from self._versioned(url, module.text("version"), scope)
        source, scm = table.text("src", "source", "name"), table.text("scm", "type")
        if source and (
            source.chars.startswith(("git+", "git@")) or (scm and scm.chars == "git" and "://" in source.chars)
        ):
            url_part, comma, _ = source.chars.partition(",")
            version = table.text("version") or (source[len(url_part) + 1 :] if comma else None)
            yield from self._versioned(source[: len(url_part)], version, scope)

    def _versioned(self, url: Text, version: Text | None, scope: Scope) -> Iterator[Pick]:
        refs = self._jinja(version, scope) if version else just(Text())
        for address in self._jinja(url, scope):
            upstream = normalise(address.text.chars.removeprefix("git+").partition("#")[0])
            for ref in refs:
                if upstream:
                    is_default = not ref.text or ref.text.chars == "HEAD"
                    yield Pick(
                        upstream=upstream, url=address.text, ref=None if is_default else ref.text,
                        command=(version or url).place(), guard=ref.guard,
                    )  # fmt: skip

    def _jinja(self, text: Text, scope: Scope) -> Value:
        return value_of(text, holes(text, _PARAMETER), lambda inner: self._role_value(inner, scope))

    def _role_value(self, inner: Text, scope: Scope) -> Value:
        value = self._parameter(inner, scope)
        if any(case.text.is_known for case in value):
            return value
        name = inner.chars.partition("|")[0].strip()
        for folder in ("../defaults/main.yml", "../vars/main.yml", "group_vars/all.yml", "vars.yml"):
            beside = str(PurePosixPath(self.path).parent / folder)
            file = self.checkout.find(folder if "../" not in folder else beside.replace("/tasks/../", "/"), self.path)
            reading = yamltext.read(self.checkout.texts[file], file) if file else None
            leaf = reading.root.get(name) if reading and isinstance(reading.root, Table) else None
            if isinstance(leaf, Leaf) and leaf.text:
                return named(just(leaf.text), name)
        return value


def _job(scope: Scope, name: str) -> Scope:
    """Return the scope of something that runs on its own."""
    inner = scope.copy()
    inner.folders, inner.is_alive = {}, True
    if name:
        inner.labels = (name, *scope.labels)
    return inner


def _flat(node: Node | None, depth: int = 0) -> Iterator[Text]:
    """Yield the commands of a scalar, or of a list that may hold lists."""
    if isinstance(node, Leaf) and node.is_string and node.text:
        yield node.text
    elif isinstance(node, Row) and depth < 4:  # noqa: PLR2004 - anchors make lists of lists
        for child in node.nodes:
            yield from _flat(child, depth + 1)


def _raw(text: Text) -> Iterator[Pick]:
    source = archive_source(text.chars)
    if source is not None and source.ref is not None:
        ref = text[source.ref.start : source.ref.end]
        yield Pick(upstream=source.upstream, url=text, ref=ref, command=text.place(), hint=source.hint)


def _plugin(name: str) -> str | None:
    if "://" in name or name.startswith("git@"):
        return normalise(name)
    owner, _, plugin = name.rpartition("/")
    return normalise(f"https://github.com/{owner or 'buildkite-plugins'}/{plugin}-buildkite-plugin")
