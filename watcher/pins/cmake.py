"""CMake: what FetchContent, ExternalProject, CPM, vcpkg's ports and git in `execute_process` bring into a build."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import PurePosixPath

from watcher.pins import jsontext
from watcher.pins.checkout import Checkout
from watcher.pins.cmakecommands import plain
from watcher.pins.cmakelang import Command, Reader, blocks
from watcher.pins.cmakerun import Run, included, is_cmake, is_copy
from watcher.pins.cmakescope import Frame, Values, Variables, elements
from watcher.pins.format import Broken
from watcher.pins.scope import Scope
from watcher.pins.shell import Reader as Shell
from watcher.pins.sites import Pick, Sighting
from watcher.pins.sources import archive, is_dead, prefixed, repository
from watcher.pins.text import UNKNOWN, Place, Span, Text, joined, unknown, written
from watcher.pins.tree import Table
from watcher.pins.values import Case, Guard, Value, concat, is_compatible, just
from watcher.pins.wordfields import Fields

_LIVE = re.compile(
    r"GIT_REPOSITORY|GIT_TAG|CPM\w*Package|cpm_|/archive/|/tarball/|codeload|vcpkg_from_|\bgit\b|raw\.github|\bURL\b",
    re.IGNORECASE,
)
_MOST = 3_000
"""Pins that one file may have; beyond them it is no manifest."""
_MOST_COMMANDS = 12_000
_SILENT = frozenset(
    (
        *("message", "find_package", "find_library", "find_path", "find_program", "add_library", "add_executable"),
        *("install", "target_link_libraries", "target_include_directories", "target_compile_definitions"),
        *("target_compile_options", "target_sources", "set_target_properties", "set_property", "include_directories"),
        *("add_definitions", "add_compile_options", "cmake_policy", "enable_language", "add_subdirectory", "math"),
        *("mark_as_advanced", "get_filename_component", "return", "add_test", "set_tests_properties"),
    )
)


def claims(path: str) -> bool:
    """Answer whether a file is CMake by its name."""
    return is_cmake(path)


def parse(path: str, text: str, checkout: Checkout) -> Iterable[Sighting | Broken]:
    """Find the pins of a CMake file, with the variables and functions that it includes."""
    if is_copy(path) or not _is_live(path, text, checkout):
        return
    items, broken = blocks(islice(Reader(path, text).read(), _MOST_COMMANDS))
    yield from broken[:1]
    found = _Fetched(path=path, checkout=checkout)
    found.run.start(items, _builtins(path, checkout))
    yield from found.sightings
    yield from found.shell.finish()
    if found.run.is_exhausted or found.shell.is_exhausted or len(items) == _MOST_COMMANDS:
        yield Broken(file=path, line=1, reason="too much to follow: what comes late in this file was not read")


def _is_live(path: str, text: str, checkout: Checkout) -> bool:
    """Answer whether a file may hold a pin, or hands values to one that it includes."""
    if _LIVE.search(text):
        return True
    names = re.findall(r"include\s*\(\s*\"?([^\s\")]+)", text)
    others = (included(name.replace("}", UNKNOWN), path, checkout) for name in names)
    return any(other is not None and _LIVE.search(checkout.texts[other]) for other in others)


def _builtins(path: str, checkout: Checkout) -> Variables:
    """Return what CMake or vcpkg sets by itself and a manifest may use."""
    variables = Variables()
    variables.set("GIT_EXECUTABLE", just(written("git", path)))
    manifest = str(PurePosixPath(path).with_name("vcpkg.json"))
    if PurePosixPath(path).name == "portfile.cmake" and manifest in checkout.texts:
        root = jsontext.read(checkout.texts[manifest], manifest).root
        keys = ("version", "version-semver", "version-string", "version-date")
        version = root.text(*keys) if isinstance(root, Table) else None
        if version is not None:
            variables.set("VERSION", just(version))
    return variables


@dataclass(slots=True, kw_only=True, eq=False)
class _Fetched:
    """What the commands of one file bring."""

    path: str
    checkout: Checkout
    sightings: list[Sighting] = field(default_factory=list)
    run: Run = field(init=False)
    shell: Shell = field(init=False)
    scope: Scope = field(init=False)

    def __post_init__(self) -> None:
        self.run = Run(path=self.path, checkout=self.checkout, fetch=self.fetch)
        self.shell = Shell(self.checkout)
        self.scope = Scope(cwd=just(unknown("start", Place(self.path, 1))))

    def fetch(self, command: Command, words: Values, frame: Frame) -> None:
        """Read a command that may bring sources."""
        if command.name in _SILENT or len(self.sightings) > _MOST:
            return
        words = words or self.run.words(command, frame)
        if command.name == "file":
            self._archives(words[1:2] if words and plain(words[0]) == "DOWNLOAD" else [], frame)
            return
        options = _options(words)
        self._commands(command, options, frame)
        if command.name.startswith("vcpkg_from_"):
            self._port(command, options, frame)
        elif command.name.startswith("cpm") and (len(words) == 1 or options.get("URI")):
            self._short(command, options["URI"][0] if options.get("URI") else words[0], frame)
        else:
            self._declared(command, options, frame)
            self._archives(words, frame)

    def _add(self, pick: Pick | None) -> None:
        if pick is not None and not is_dead(pick):
            self.sightings.append(pick.sighting())

    def _declared(self, command: Command, options: Mapping[str, Values], frame: Frame) -> None:
        """Read GIT_REPOSITORY with GIT_TAG; CPM makes a tag of a version alone."""
        url = _address(options)
        ref = next(iter(options.get("GIT_TAG", ())), None)
        if ref is None and command.name.startswith("cpm") and options.get("VERSION"):
            ref = tuple(case._replace(text=prefixed("v", case.text, "VERSION")) for case in options["VERSION"][0])
        place = _tag_place(command) or command.place
        for one, case, guard in _pairs(url, ref or (Case(Text()),), frame.guard):
            self._add(repository(one, case, place, guard=guard))

    def _short(self, command: Command, value: Value, frame: Frame) -> None:
        for case in value:
            if is_compatible(case.guard, frame.guard):
                guard = case.guard | frame.guard
                url, ref = _shorthand(case.text)
                pick = repository(url, ref, command.place, guard=guard) if url else None
                self._add(pick or archive(case.text, command.place, guard=guard))

    def _archives(self, words: Values, frame: Frame) -> None:
        for case in (case for value in words for case in value):
            if "://" in case.text.chars and is_compatible(case.guard, frame.guard):
                for url in elements((case,)) or ():
                    self._add(archive(url, url.place(), guard=case.guard | frame.guard))

    def _port(self, command: Command, options: Mapping[str, Values], frame: Frame) -> None:
        """Read the fetchers of vcpkg's ports."""
        key, default = _PORTS.get(command.name, ("", ""))
        url: Value = next(iter(options.get("URL", ())), ())
        if default and options.get("REPO"):
            given = next(iter(options.get(key, ())), None)
            host = given or just(Text((Span(default, command.place),)))
            url = concat(concat(host, just(Text((Span("/", command.place),)))), options["REPO"][0])
        ref: Value = next(iter(options.get("REF", ())), ())
        for one, case, guard in _pairs(url, ref, frame.guard):
            self._add(repository(one, case, case.place(), guard=guard))

    def _commands(self, command: Command, options: Mapping[str, Values], frame: Frame) -> None:
        """Hand the programs that a command runs to the shell reader."""
        folder = next(iter(options.get("WORKING_DIRECTORY", ())), None)
        keys = [name for name in options if name == "COMMAND" or name.endswith("_COMMAND")]
        for argv in (argv for key in keys for argv in _split(options[key])):
            texts = [value[0].text for value in argv if value]
            if any("git" in text.chars or text.chars in {"sh", "bash"} for text in texts):
                self.scope.cwd = just(folder[0].text if folder else unknown("start", command.place))
                self.scope.guard = frame.guard
                for line in _chained(texts):
                    self.shell.execute([Fields(frame.guard, line)], self.scope, command.place)


def _pairs(url: Value, ref: Value, guard: Guard) -> Iterator[tuple[Text, Text, Guard]]:
    """Yield each address with each ref that may hold together with it."""
    for one in url:
        for case in ref:
            both = one.guard | case.guard
            if is_compatible(one.guard, case.guard) and is_compatible(both, guard):
                yield one.text, case.text, both | guard


# --- arguments --------------------------------------------------------------------------------------------------------

_KEYWORD = re.compile(
    r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|URL|URI|NAME|VERSION|REPO|REF|COMMAND|OPTIONS|PREFIX|PATCHES|DEPENDS|EXCLUDE|ALL|QUIET"
)
_SINGLE = frozenset({"GIT_TAG", "GIT_REPOSITORY", "VERSION", "REF", "REPO", "NAME", "URL", "URI"})
_SURE_KEYWORD = re.compile(
    r"(?:GIT|URL|SOURCE|BINARY|CMAKE|CONFIGURE|BUILD|INSTALL|UPDATE|PATCH|DOWNLOAD|TEST|LOG|USES|SUBBUILD|OVERRIDE|FIND"
    r"|HEAD|SYSTEM|EXCLUDE|OUT|FETCH|SHA512|DEPENDS|PREFIX|OPTIONS|COMMAND|VERSION|REF|REPO|NAME)(?:_|$)"
)
"""A tag may look like a keyword (`R_2_4_1`); these are keywords also where a value is due."""
_FORGES = {
    "GITHUB_REPOSITORY": "https://github.com/",
    "GITLAB_REPOSITORY": "https://gitlab.com/",
    "BITBUCKET_REPOSITORY": "https://bitbucket.org/",
}
_PORTS = {
    "vcpkg_from_github": ("GITHUB_HOST", "https://github.com"),
    "vcpkg_from_gitlab": ("GITLAB_URL", "https://gitlab.com"),
    "vcpkg_from_bitbucket": ("", "https://bitbucket.org"),
}
_SHORT = re.compile(r"(?P<scheme>gh|gl|bb):(?P<path>[^@#\s]+)(?P<rest>(?:[@#][^@#\s]+)*)")
_LONG = re.compile(
    r"(?:git:)?(?P<path>(?:https?|ssh|git)://[^#\s]+?\.git|[\w.-]+@[\w.-]+:[^@#\s]+?)(?P<rest>(?:[@#][^@#\s]+)*)"
)
_SHORT_HOSTS = {"gh": "https://github.com/", "gl": "https://gitlab.com/", "bb": "https://bitbucket.org/"}


def _options(words: Values) -> dict[str, Values]:
    """Return what follows each keyword."""
    options: dict[str, Values] = {}
    current: Values = []
    key = ""
    for value in words:
        chars = plain(value)
        is_awaited = key in _SINGLE and not current and not _SURE_KEYWORD.match(chars)
        if _KEYWORD.fullmatch(chars) and not is_awaited:
            key = chars
            current = options.setdefault(chars, [])
            if chars == "COMMAND" and current:
                current.append(value)
        else:
            current.append(value)
    return options


def _split(words: Values) -> Iterator[Values]:
    """Yield the command lines of `COMMAND a b COMMAND c d`."""
    line: Values = []
    for value in words:
        if plain(value) == "COMMAND":
            yield line
            line = []
        else:
            line.append(value)
    if line:
        yield line


def _chained(texts: Sequence[Text]) -> Iterator[tuple[Text, ...]]:
    """Yield the commands of a line that has `&&` in it."""
    marks = [at for at, text in enumerate(texts) if text.chars == "&&"]
    for start, end in zip([-1, *marks], [*marks, len(texts)], strict=True):
        if end > start + 1:
            yield tuple(texts[start + 1 : end])


def _address(options: Mapping[str, Values]) -> Value:
    if options.get("GIT_REPOSITORY"):
        return options["GIT_REPOSITORY"][0]
    for key, prefix in _FORGES.items():
        for value in options.get(key, [])[:1]:
            return tuple(case._replace(text=_behind(prefix, case.text)) for case in value)
    return ()


def _behind(prefix: str, text: Text) -> Text:
    return joined((Text((Span(prefix, text.place()),)), text))


def _tag_place(command: Command) -> Place | None:
    """Return the line of the value behind GIT_TAG, else that of the address."""
    for key in ("GIT_TAG", "GIT_REPOSITORY"):
        for at, argument in enumerate(command.arguments[:-1]):
            if argument.text.chars == key and not argument.quote:
                return command.arguments[at + 1].text.place()
    return None


def _shorthand(text: Text) -> tuple[Text | None, Text | None]:
    """Read `gh:owner/name@1.2#ref` and `https://host/x.git#ref`: address and ref; a version alone is the tag `v1.2`."""
    short = _SHORT.fullmatch(text.chars)
    found = short or _LONG.fullmatch(text.chars)
    if found is None:
        return None, None
    path = text[found.start("path") : found.end("path")]
    url = _behind(_SHORT_HOSTS[short["scheme"]], path) if short else path
    rest = text[found.start("rest") : found.end("rest")]
    marked = {part[0][0]: rest[part.start() + 1 : part.end()] for part in re.finditer(r"[@#][^@#]+", rest.chars)}
    if "#" in marked:
        return url, marked["#"]
    return url, prefixed("v", marked["@"]) if "@" in marked else None
