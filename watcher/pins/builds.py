"""Image builds and makes that pass values to another file: a build argument is a pin beside the default it replaces.

Whoever passes values (a script, a workflow, compose, bake) says which file is built and with what; that file is read
again with the values in force, and the refs that turn out to stand with the caller are the caller's pins.
"""

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from watcher.pins import dockerfile
from watcher.pins.checkout import Checkout
from watcher.pins.format import Broken
from watcher.pins.live import is_live
from watcher.pins.scope import Scope
from watcher.pins.shell import Reader
from watcher.pins.sites import Sighting
from watcher.pins.text import UNKNOWN, Place, Text
from watcher.pins.values import MOST, Case, Choice, Guard, Value, distinct, just, named
from watcher.pins.variant import ANY, variant_of
from watcher.pins.wordfields import Fields

Evaluate = Callable[[str, str, Checkout, Mapping[str, Value]], Iterable[Sighting | Broken]]
"""Reads a file with values from outside, as `dockerfile.evaluate` does."""

_MOST_FILES = 6
"""Where a build does not say which file it builds, so many that declare its arguments are tried."""
_MOST_BUILDS = 60
_TOOLS = frozenset({"docker", "podman", "buildah", "nerdctl", "finch", "docker.exe", "$DOCKER", "${DOCKER}"})
_BUILD_WORDS = frozenset({"build", "bud", "buildx", "bake"})
_SCRIPT = re.compile(r"([\w./-]+\.(?:sh|bash))\b([^\n;&|]*)")
_EXPANDED = re.compile(r"\$\{?([A-Za-z_]\w*)")
_NAME = re.compile(r"[A-Za-z_]\w*")
_GLOBAL_ARG = re.compile(r"^\s*ARG\s+(\w+)", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """One use of a file with values from outside."""

    caller: str
    """The file that starts it."""
    target: str
    """The path of the file that is built, as written; empty where nothing says so."""
    context: str = ""
    """The folder that is built, as written."""
    arguments: Mapping[str, Value]
    labels: tuple[str, ...] = ()
    """Names around it that may tell the platform."""

    @property
    def given(self) -> dict[str, Value]:
        """Return the arguments whose values the files tell; an empty one changes nothing."""
        told = {name: _told(name, value) for name, value in self.arguments.items()}
        return {name: value for name, value in told.items() if value}


def _told(name: str, value: Value) -> Value:
    """Return the known alternatives; the branches of the caller mean nothing in the file that is built."""
    cases = [case for case in value if case.text.chars.strip() and case.text.is_known]
    if len(cases) == 1:
        return just(cases[0].text)
    return tuple(
        Case(case.text, _outer(case.guard) or frozenset({Choice(f"argument {name}", at, len(cases))}))
        for at, case in enumerate(cases)
    )


def _outer(guard: Guard) -> Guard:
    return frozenset(choice for choice in guard if choice.point.startswith("matrix "))


# --- what a build changes ---------------------------------------------------------------------------------------------


def overrides(builds: Iterable[Build], checkout: Checkout) -> Iterator[Sighting]:
    """Yield the pins that image builds make of their arguments, each linked to the default that it replaces."""
    groups: dict[tuple[str, str, str], dict[str, Build]] = {}
    for build in builds:
        if build.given:
            key = (build.caller, build.target, build.context)
            groups.setdefault(key, {}).setdefault(f"{build.labels} {written_out(build.given)}", build)
    for alike in list(groups.values())[:_MOST_BUILDS]:
        build = _together(list(alike.values())[:MOST])
        files = dockerfiles(build, build.given, checkout)
        for name in files:
            yield from replaced(name, build.given, checkout, build, dockerfile.evaluate, is_certain=len(files) == 1)


def _together(builds: Sequence[Build]) -> Build:
    """Return builds of one file as one whose arguments have alternatives: the file is then read once."""
    if len(builds) == 1:
        return builds[0]
    arguments: dict[str, tuple[Case, ...]] = {}
    for number, build in enumerate(builds):
        choice = Choice("matrix of builds", number, len(builds), " ".join(build.labels)[:400])
        for name, value in build.given.items():
            cases = tuple(Case(case.text, case.guard | {choice}) for case in value)
            arguments[name] = (*arguments.get(name, ()), *cases)
    return replace(builds[0], arguments=arguments, labels=())


def written_out(arguments: Mapping[str, Value]) -> str:
    """Return arguments with their places, to tell whether a build is like another one."""
    return repr(
        [(name, [(case.text.key, case.text.place()) for case in value]) for name, value in sorted(arguments.items())]
    )


def dockerfiles(build: Build, arguments: Mapping[str, Value], checkout: Checkout) -> list[str]:
    """Return the Dockerfiles that a build may mean: the named one, its folder's, else those with its arguments."""
    candidates = [build.target] if build.target else []
    if build.context and "://" not in build.context:
        joined = posixpath.join(build.context, build.target or "Dockerfile")
        candidates = [joined, *candidates] if build.target else [joined]
    if not candidates:
        candidates = ["Dockerfile"]
    declared = [name for name in checkout.like(dockerfile.claims) if _declares(checkout.texts[name], arguments)]
    for path in candidates:
        found = checkout.find(path, build.caller)
        if found is not None and found in declared:
            return [found]
    known = {checkout.find(path, build.caller) for path in candidates}
    if build.target and UNKNOWN not in build.target and known - {None}:
        return []  # the file is there, and asks for none of it
    if posixpath.basename(build.target) and UNKNOWN not in build.target:
        alike = [name for name in declared if posixpath.basename(name) == posixpath.basename(build.target)]
        declared = alike or declared
    return declared[:_MOST_FILES]


def _declares(text: str, arguments: Mapping[str, Value]) -> bool:
    return any(found[1] in arguments for found in _GLOBAL_ARG.finditer(text))


def replaced(
    name: str,
    arguments: Mapping[str, Value],
    checkout: Checkout,
    build: Build,
    evaluate: Evaluate,
    *,
    is_certain: bool = True,
) -> Iterator[Sighting]:
    """Yield the pins of a file that stand with its caller once the values are in force."""
    text = checkout.texts[name]
    places = {place for value in arguments.values() for case in value for place in _places(case.text)}
    changed = [
        found
        for found in evaluate(name, text, checkout, arguments)
        if isinstance(found, Sighting) and found.pin.ref and found.pin.file != name
    ]
    changed = [found for found in changed if Place(found.pin.file, found.pin.line) in places]
    if not changed:
        return
    defaults = [found for found in evaluate(name, text, checkout, {}) if isinstance(found, Sighting)]
    for found in changed:
        default = _default_of(found, defaults, name) if is_certain else None
        variant = next(
            (v for v in (variant_of(build.labels, ""), found.pin.variant, variant_of((), name)) if v != ANY), ANY
        )
        yield found._replace(pin=replace(found.pin, overrides=default, variant=variant))


def _places(text: Text) -> Iterator[Place]:
    for span in text.spans:
        yield from (Place(span.place.file, span.place.line + at) for at in range(span.chars.count("\n") + 1))


def _default_of(found: Sighting, defaults: Sequence[Sighting], name: str) -> str | None:
    """Return where the ref stands that the same command uses when nobody passes one."""
    same = [other.pin for other in defaults if other.command == found.command and other.pin.ref]
    near = [pin for pin in same if pin.file == name and pin.upstream == found.pin.upstream] or same
    return near[0].place if near else None


def is_worth_reading(chars: str, beside: str, checkout: Checkout, given: Iterable[str] = ()) -> bool:
    """Answer whether commands may touch an upstream or pass something on.

    A script of the checkout reports what it does itself; here it only counts where it is given something: arguments, or
    one of the `given` names of variables.
    """
    if is_live(chars) or "://" in chars or "build-arg" in chars or "GITHUB_" in chars:
        return True
    if "=" in chars and re.search(r"\bmake\b", chars):
        return True
    names = set(given)
    for found in _SCRIPT.finditer(chars):
        is_given = bool(found[2].strip()) or "=" in chars
        name = checkout.find(found[1], beside) if is_given or names else None
        text = checkout.texts[name] if name is not None else ""
        if text and (is_given or names & set(_EXPANDED.findall(text))) and is_live(text):
            return True
    return False


# --- what a shell builds ----------------------------------------------------------------------------------------------


class BuildReader(Reader):
    """The shell reader, which also remembers the images that are built, the makes that are run and what is put out."""

    def __init__(self, checkout: Checkout) -> None:
        super().__init__(checkout)
        self.builds: list[Build] = []
        self.makes: list[Build] = []
        self.outputs: dict[str, Value] = {}
        """What was appended to the files of `$GITHUB_OUTPUT` and `$GITHUB_ENV`."""

    def execute(
        self,
        argvs: Sequence[Fields],
        scope: Scope,
        place: Place,
        *,
        stdin: Value | None = None,
        target: str = "",
        separator: str | None = None,
    ) -> None:
        """Do what a command does, and remember what it passes on."""
        for guard, argv in argvs:
            if "GITHUB_OUTPUT" in target or "GITHUB_ENV" in target:
                self._put_out(argv[1:])
            names = [word.chars.rpartition("/")[2] for word in argv]
            tool = next((at for at, name in enumerate(names) if name in _TOOLS), None)
            if tool is not None and any(word.chars in _BUILD_WORDS for word in argv[tool + 1 : tool + 4]):
                self.builds.append(_build(argv[tool + 1 :], scope, place, guard))
            make = next((at for at, name in enumerate(names) if name in {"make", "gmake"}), None)
            if make is not None and any("=" in word.chars for word in argv):
                self.makes.append(_make(argv, make, scope, place))
        super().execute(argvs, scope, place, stdin=stdin, target=target, separator=separator)

    def _put_out(self, words: Sequence[Text]) -> None:
        for word in words:
            found = re.match(r"([\w-]+)=", word.chars)
            if found:
                self.outputs[found[1]] = named(just(word[found.end() :]), found[1])


def _build(words: Sequence[Text], scope: Scope, place: Place, guard: Guard) -> Build:
    arguments: dict[str, Value] = {}
    target = context = ""
    at = 0
    while at < len(words):
        word = words[at]
        name, equals, _ = word.chars.partition("=")
        value = word[len(name) + 1 :] if equals else words[at + 1] if at + 1 < len(words) else Text()
        if name == "--build-arg":
            _argument(arguments, value, scope)
        elif name == "--set" and ".args." in value.chars:
            _argument(arguments, value[value.chars.index(".args.") + len(".args.") :], scope)
        elif name in {"-f", "--file", "--dockerfile"}:
            target = value.key
        at += 2 if name.startswith("-") and not equals and name in _WITH_VALUE else 1
        if not word.chars.startswith("-") and word.chars not in _BUILD_WORDS:
            context = word.key
    if any(word.chars == "bake" for word in words[:3]):
        target = context = ""  # what `-f` names there is a bake file
    folder = _folder(scope)
    if context and not context.startswith(("/", UNKNOWN)) and folder:
        context = posixpath.join(folder, context)
    return Build(caller=place.file, target=target, context=context, arguments=arguments, labels=_labels(scope, guard))


_WITH_VALUE = frozenset(
    "-f --file --dockerfile -t --tag --build-arg --target --platform --progress --cache-from --cache-to --label "  # noqa: SIM905 - a list literal would be one word a line
    "--network "
    "--secret --ssh -o --output --shm-size --ulimit --build-context --builder --add-host --cpuset-cpus -m --memory "
    "--set --iidfile --metadata-file --format --isolation --cpu-shares".split()
)


def _argument(arguments: dict[str, Value], word: Text, scope: Scope) -> None:
    """Take `NAME=value`; a name alone passes on the variable of that name."""
    name, equals, _ = word.chars.partition("=")
    if not _NAME.fullmatch(name):
        return
    value = named(just(word[len(name) + 1 :]), name) if equals else scope.value(name)
    if value:
        old = arguments.get(name, ())
        arguments[name] = distinct((*old, *value)) if old and old != value else value


def _folder(scope: Scope) -> str:
    """Return the folder that the shell is in, below the unknown one that it started in."""
    paths = scope.paths()
    return paths[0][1].rpartition(UNKNOWN)[2].strip("/") if paths else ""


def _labels(scope: Scope, guard: Guard) -> tuple[str, ...]:
    choices = [choice.label for choice in sorted(scope.guard | guard, reverse=True) if choice.label]
    return (*choices, *scope.labels)


def _make(words: Sequence[Text], start: int, scope: Scope, place: Place) -> Build:
    arguments: dict[str, Value] = {}
    folder = target = ""
    for at, word in enumerate(words):
        found = re.match(r"([A-Za-z_]\w*):?=", word.chars)
        if found:
            arguments[found[1]] = named(just(word[found.end() :]), found[1])
        elif at > start and word.chars in {"-C", "--directory"} and at + 1 < len(words):
            folder = words[at + 1].key
        elif at > start and word.chars in {"-f", "--file", "--makefile"} and at + 1 < len(words):
            target = words[at + 1].key
    here = _folder(scope)
    path = posixpath.join(here, folder, target or "Makefile")
    return Build(caller=place.file, target=path, arguments=arguments, labels=_labels(scope, frozenset()))
