"""Dockerfiles: ARG and ENV with their scopes, stages, ADD of addresses, and a shell in every RUN."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from watcher.pins.address import archive_source, context_source, vcs_urls
from watcher.pins.checkout import Checkout
from watcher.pins.format import Broken
from watcher.pins.instructions import Instruction, instructions
from watcher.pins.scope import Scope, join
from watcher.pins.shell import Reader
from watcher.pins.sites import Pick, Sighting, Site
from watcher.pins.text import Place, Text, unknown
from watcher.pins.values import Choice, Guard, Value, just, named
from watcher.pins.wordfields import Fields

_NAME = re.compile(r"(?:.*[._-])?(?:dockerfile|containerfile)(?:[._-].*)?", re.IGNORECASE)
_OTHER = re.compile(r".*\.(?:dockerignore|md|rst|py|sh|ya?ml|json|toml|patch|diff|html?|lock)", re.IGNORECASE)
_WORD = re.compile(r"""(?:[^\s"'\\]|\\.|"(?:\\.|[^"\\])*"|'[^']*')+|\S+""", re.DOTALL)
_MOST_WORDS = 2_000
_SHEBANG = re.compile(r"#!\s*(?:/usr/bin/env\s+(?:-\S+\s+)*)?\S*?(?P<name>[\w.]+)(?:\s|$)")


def claims(path: str) -> bool:
    """Answer whether a file is a Dockerfile by its name: `Dockerfile.rocm`, `rocm.Dockerfile`, `Containerfile`."""
    name = path.rpartition("/")[2]
    return _NAME.fullmatch(name) is not None and _OTHER.fullmatch(name) is None


def parse(path: str, text: str, checkout: Checkout) -> Iterable[Sighting | Broken]:
    """Find the pins of a Dockerfile as it is built without arguments from outside."""
    yield from evaluate(path, text, checkout, {})


def evaluate(path: str, text: str, checkout: Checkout, arguments: Mapping[str, Value]) -> Iterator[Sighting | Broken]:
    """Find the pins of a Dockerfile that is built with arguments; their values know the files that they stand in."""
    build = _Build(reader=Reader(checkout), arguments=arguments, outside=_fresh(path))
    for instruction in instructions(path, text):
        if isinstance(instruction, Broken):
            yield instruction
        else:
            build.read(instruction)
        if build.reader.is_exhausted:
            break
    yield from build.reader.finish()
    if build.reader.is_exhausted:
        yield Broken(file=path, line=1, reason="too much to follow: what comes late in this file was not read")


def _fresh(file: str, line: int = 1) -> Scope:
    """Return the scope of a stage on an image that the file does not describe."""
    return Scope(cwd=just(unknown("workdir", Place(file, line))))


@dataclass(slots=True, kw_only=True)
class _Build:
    """What the builder knows while it reads."""

    reader: Reader
    arguments: Mapping[str, Value]
    outside: Scope
    """The ARGs before the first FROM."""
    stages: dict[str, Scope] = field(default_factory=dict)
    fixed: dict[int, set[str]] = field(default_factory=dict)
    """For each stage the names that an ENV set: no ARG changes them."""
    stage: Scope | None = None

    @property
    def scope(self) -> Scope:
        """Return the stage being read, or what stands before all stages."""
        return self.stage if self.stage is not None else self.outside

    def read(self, instruction: Instruction) -> None:
        """Follow one instruction."""
        handler = _HANDLERS.get(instruction.keyword)
        if handler is not None:
            handler(self, instruction)


# --- stages and variables -------------------------------------------------------------------------------------------


def _from(build: _Build, instruction: Instruction) -> None:
    found = re.match(r"(\S+)(?:\s+as\s+(\S+))?", instruction.head.chars, re.IGNORECASE)
    image = instruction.head[: found.end(1)] if found else instruction.head
    stage = _inherited(build, image, instruction.place)
    name = found[2] if found and found[2] else ""
    stage.labels = (name,) if name else ()
    build.stage = stage
    build.stages[str(len({id(known) for known in build.stages.values()}))] = stage
    if name:
        build.stages[name.lower()] = stage


def _inherited(build: _Build, image: Text, place: Place) -> Scope:
    """Return what a stage starts with: all of the stage it is built from, or of each that an ARG may choose."""
    names = {case.text.chars.lower() for case in build.reader.value(image, build.outside)}
    bases = [name for name in names if name in build.stages]
    if bases and "$" in image.chars:
        pattern = re.compile(re.sub(r"\\\$(?:\\\{.*?\\\}|\w+)", ".*", re.escape(image.chars.lower())))
        bases = [name for name in build.stages if pattern.fullmatch(name) and not name.isdigit()]
    fresh = _fresh(place.file, place.line)
    if len(bases) == 1:
        base = build.stages[bases[0]]
        child = base.copy()
        build.fixed[id(child)] = set(build.fixed.get(id(base), ()))
        return child
    arms: list[tuple[Guard, Scope]] = []
    point = build.reader.point()
    for number, name in enumerate(bases):
        guard: Guard = frozenset({Choice(point, number, len(bases), name)})
        arms.append((guard, build.stages[name].copy()))
        build.fixed.setdefault(id(fresh), set()).update(build.fixed.get(id(build.stages[name]), ()))
    if arms:
        join(fresh, arms)
    return fresh


def _words(text: Text) -> list[Text]:
    return [text[found.start() : found.end()] for found in _WORD.finditer(text.chars)]


def _arg(build: _Build, instruction: Instruction) -> None:
    for word in _words(instruction.head):
        name, equals, _ = word.chars.partition("=")
        if name in build.fixed.get(id(build.scope), ()):
            continue
        if name in build.arguments:
            build.scope.assign(name, build.arguments[name])
        elif equals:
            build.scope.assign(name, named(build.reader.value(word[len(name) + 1 :], build.scope), name))
        elif build.stage is not None:
            _redeclared(build, name, word.place())


def _redeclared(build: _Build, name: str, place: Place) -> None:
    """Give a stage an ARG without a value of its own: that of before the first FROM, else of its base, else none."""
    value = build.outside.variables.get(name) or build.scope.variables.get(name)
    build.scope.assign(name, value or just(unknown(name, place)))


def _env(build: _Build, instruction: Instruction) -> None:
    words = _words(instruction.head)
    if not words:
        return
    if "=" in words[0].chars:
        pairs = [
            (word.chars.partition("=")[0], word[word.chars.find("=") + 1 :]) for word in words if "=" in word.chars
        ]
    else:
        rest = instruction.head[len(words[0].chars) :]
        pairs = [(words[0].chars, rest[len(rest.chars) - len(rest.chars.lstrip()) :])]
    values = [(name, named(build.reader.value(text, build.scope), name)) for name, text in pairs]
    for name, value in values:
        build.scope.assign(name, value)
        build.fixed.setdefault(id(build.scope), set()).add(name)


def _workdir(build: _Build, instruction: Instruction) -> None:
    value = build.reader.value(instruction.head, build.scope)
    if value:
        build.scope.enter(value[0].text, instruction.place)


def _onbuild(build: _Build, instruction: Instruction) -> None:
    found = re.match(r"([A-Za-z]+)\s+", instruction.rest.chars)
    if found and found[1].upper() not in {"ONBUILD", "FROM"}:
        inner = instruction.rest[found.end() :]
        head = instruction.head[found.end() :]
        build.read(
            Instruction(
                keyword=found[1].upper(),
                flags=(),
                rest=inner,
                head=head,
                place=instruction.place,
                heredocs=instruction.heredocs,
            )
        )


# --- what is run and added ------------------------------------------------------------------------------------------


def _run(build: _Build, instruction: Instruction) -> None:
    inner = build.scope.copy()
    build.reader.aliases.update(_mounted(instruction.flags))
    listed = _listed(instruction.head)
    if listed is not None:
        build.reader.execute([Fields(frozenset(), tuple(listed))], inner, instruction.place)
    elif instruction.heredocs and re.fullmatch(r"(?:<<-?\s*[\"']?[\w.]+[\"']?\s*)+", instruction.head.chars):
        for heredoc in instruction.heredocs:
            shebang = _SHEBANG.match(heredoc.body.chars)
            if shebang is None or shebang["name"].endswith("sh"):
                build.reader.run(heredoc.body, inner)
    else:
        build.reader.run(instruction.rest, inner)
    build.scope.folders = inner.folders


_SOURCE = frozenset({"source", "src"})
_TARGET = frozenset({"target", "dst", "destination"})


def _mounted(flags: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield where the builder puts a single file of its context for one RUN, and that file."""
    for flag in flags:
        pairs = [part.partition("=") for part in flag.partition("=")[2].replace('"', "").split(",")]
        source = next((value for key, _, value in pairs if key in _SOURCE), "")
        target = next((value for key, _, value in pairs if key in _TARGET), "")
        if source and target and not any(key == "from" for key, _, _ in pairs):
            yield target, source


def _listed(text: Text) -> list[Text] | None:
    """Read the exec form, `["git", "clone", …]`; None for the shell form."""
    if not text.chars.startswith("["):
        return None
    try:
        words = json.loads(text.chars)
    except (ValueError, RecursionError):
        return None
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        return None
    quoted = islice(re.finditer(r'"(?:[^"\\]|\\.)*"', text.chars), _MOST_WORDS)
    return [text[found.start() + 1 : found.end() - 1] for found in quoted]


def _add(build: _Build, instruction: Instruction) -> None:
    words = _listed(instruction.head) or _words(instruction.head)
    target = build.reader.value(words[-1], build.scope)[0].text if words else Text()
    for word in words[:-1]:
        for case in build.reader.value(word, build.scope):
            text = case.text
            source = context_source(text.chars) or archive_source(text.chars)
            if source is None:
                continue
            pick = Pick(
                upstream=source.upstream,
                url=text,
                ref=text[source.ref.start : source.ref.end] if source.ref else None,
                command=instruction.place,
                guard=case.guard,
                labels=build.scope.labels,
                hint=source.hint,
                branch=text[source.branch.start : source.branch.end].chars if source.branch else None,
            )
            if pick.branch:
                build.reader.picks.append(pick)
                continue
            site = Site(origin=pick, guard=case.guard, remotes={"origin": (source.upstream, text)})
            build.reader.sites.append(site)
            build.scope.settle(site, target)


def _copy(build: _Build, instruction: Instruction) -> None:
    words = _words(instruction.head)
    stage = next((flag.partition("=")[2].lower() for flag in instruction.flags if flag.startswith("--from=")), "")
    if len(words) >= 2 and stage in build.stages:  # noqa: PLR2004 - source and target
        _copy_clones(build, build.stages[stage], words)
    if len(words) == 2 and not stage and not words[1].chars.endswith(("/", ".")):  # noqa: PLR2004 - source and target
        build.reader.aliases[words[1].chars] = words[0].chars
    for heredoc in instruction.heredocs:
        target = words[-1].chars if words else ""
        if target.endswith((".sh", ".bash")):
            build.reader.run(heredoc.body, build.scope.copy())
        elif target.endswith((".txt", ".in")):
            _listed_requirements(build, heredoc.body)


def _copy_clones(build: _Build, stage: Scope, words: list[Text]) -> None:
    """Take along the clones that stand below a copied folder."""
    target = words[-1].chars.rstrip("/")
    for word in words[:-1]:
        source = word.chars.rstrip("/")
        for path, sites in list(stage.folders.items()):
            if source and (path == source or path.startswith(source + "/")):
                build.scope.folders[target + path[len(source) :]] = sites


def _listed_requirements(build: _Build, body: Text) -> None:
    for found in re.finditer(r"[^\n]+", body.chars):
        line = body[found.start() : found.end()]
        if line.chars.lstrip().startswith("#"):
            continue
        for offset, source in vcs_urls(line.chars):
            url = line[offset:]
            ref = url[source.ref.start : source.ref.end] if source.ref else None
            build.reader.picks.append(
                Pick(upstream=source.upstream, url=url, ref=ref, command=url.place(), labels=build.scope.labels)
            )


_HANDLERS: Mapping[str, Callable[[_Build, Instruction], None]] = {
    "FROM": _from,
    "ARG": _arg,
    "ENV": _env,
    "WORKDIR": _workdir,
    "RUN": _run,
    "ADD": _add,
    "COPY": _copy,
    "ONBUILD": _onbuild,
}
