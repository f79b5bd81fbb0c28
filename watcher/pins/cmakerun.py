"""How CMake goes through a file: branches, loops, functions, includes. Both arms of an `if` are read."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from watcher.pins.checkout import Checkout
from watcher.pins.cmakecommands import KEEPS_EMPTY, VARIABLES, Step, plain
from watcher.pins.cmakelang import Block, Command, Item, Reader, blocks
from watcher.pins.cmakescope import Expander, Frame, Values, Variables, elements, listed
from watcher.pins.sources import PARAMETER
from watcher.pins.text import UNKNOWN, Place, Text, unknown
from watcher.pins.values import Choice, Value, is_compatible, just

_STEPS = 12_000
_WORDS = 16
"""So many words, or alternatives of words, cost as much as a command."""
_ASIDE = 100
"""What one call of a function may cost that brings no sources."""
_ALL_ASIDE = 2_000
"""What all such calls of a file may cost."""
_DEEPEST = 40
_CALLS = 8
_INCLUDES = 6
_LOOPS = 64
_ELSEWHERE = 40
"""How many names one file may make us look for in others."""
_SETS = re.compile(r"^[ \t]*set\s*\(\s*([A-Za-z_]\w*)\s", re.IGNORECASE | re.MULTILINE)
_MOST_SETS = 20
"""How many of one variable in one file are looked at for others."""
_EMPTY = frozenset({"", "OFF", "FALSE", "NO", "0"})
_DENIED = re.compile(r"\bNOT\s+(?:\(\s*)?(\S+(?:\s+(?:STREQUAL|MATCHES|EQUAL)\s+\S+)?)", re.IGNORECASE)
_BUILTIN = re.compile(r"fetchcontent_|externalproject_|cpm\w*package|vcpkg_from_")
"""What CMake's own modules and the usual package managers define, also where a checkout has a copy of them."""
_BRINGS = re.compile(r"fetchcontent_|externalproject_|cpm|vcpkg_from_|execute_process|file$|include$")
_COPIES = re.compile(r"(?:get_)?cpm(?:[_-][\w.]+)?\.cmake|fetchcontent\.cmake|externalproject\.cmake", re.IGNORECASE)


def is_cmake(path: str) -> bool:
    """Answer whether a file is CMake by its name."""
    name = path.rpartition("/")[2]
    return name in {"CMakeLists.txt", "CMakeLists.txt.in"} or name.endswith((".cmake", ".cmake.in"))


def is_copy(path: str) -> bool:
    """Answer whether a file is a copy of a module whose commands are known."""
    return _COPIES.fullmatch(path.rpartition("/")[2]) is not None


def included(name: str, path: str, checkout: Checkout) -> str | None:
    """Return the file that an `include` means; a bare name is a module somewhere in the checkout."""
    stem = name if name.endswith((".cmake", ".txt", ".cmake.in")) else f"{name}.cmake"
    tail = stem.rpartition(UNKNOWN)[2].lstrip("/")
    found = checkout.find(tail, path) if tail else None
    return found if found != path else None


@dataclass(frozen=True, slots=True)
class _Function:
    """A `function` or `macro`."""

    parameters: tuple[str, ...]
    body: Sequence[Item]
    is_macro: bool
    file: str
    commands: frozenset[str]
    """The names of all commands in the body."""


@dataclass(slots=True, kw_only=True, eq=False)
class Run:
    """Reads one file and what it includes; hands every command that sets nothing to `fetch`."""

    path: str
    checkout: Checkout
    fetch: Callable[[Command, Values, Frame], None]
    functions: dict[str, _Function] = field(default_factory=dict)
    called: set[str] = field(default_factory=set)
    live: dict[str, bool] = field(default_factory=dict)
    """Function → whether it, or one that it calls, may bring sources."""
    steps: int = 0
    limit: int = _STEPS
    aside: int = _ALL_ASIDE
    looked: dict[str, Value | None] = field(default_factory=dict)
    including: tuple[str, ...] = ()
    expander: Expander = field(init=False)

    def __post_init__(self) -> None:
        self.expander = Expander(self._elsewhere, is_template=self.path.endswith(".in"))

    def start(self, items: Sequence[Item], variables: Variables) -> None:
        """Read a file; then the functions that it defines and nothing calls, whose parameters are not told."""
        self.read(items, Frame(file=self.path, variables=variables))
        for name, function in list(self.functions.items()):
            if name not in self.called and function.file == self.path:
                inner = Frame(file=self.path, variables=variables.copy(), calls=1)
                for parameter in (*function.parameters, "ARGN", "ARGV"):
                    inner.variables.set(parameter, just(unknown(PARAMETER, Place(self.path, 1))))
                self.read(function.body, inner)

    @property
    def is_exhausted(self) -> bool:
        """Answer whether the file was too costly to be read to its end."""
        return self.steps > _STEPS

    # --- control ------------------------------------------------------------------------------------------------------

    def read(self, items: Sequence[Item], frame: Frame) -> None:
        """Follow commands in order."""
        if frame.depth > _DEEPEST:
            return
        for item in items:
            self.steps += 1
            if self.steps > self.limit:
                return
            if isinstance(item, Command):
                self._command(item, frame)
            else:
                self._block(item, frame)

    def _block(self, block: Block, frame: Frame) -> None:
        opening, body = block.arms[0]
        frame.depth += 1
        match block.name:
            case "if":
                self._if(block, frame)
            case "foreach":
                self._foreach(opening, body, frame)
            case "function" | "macro":
                self._define(opening, body, frame)
            case _:
                self.read(body, frame)
        frame.depth -= 1

    def _if(self, block: Block, frame: Frame) -> None:
        has_else = block.arms[-1][0].name == "else"
        count = len(block.arms) + (not has_else)
        point = "if:" + "|".join(_condition(command) for command, _ in block.arms)
        is_pair = count == 2 and has_else  # noqa: PLR2004 - only then does `else` say the opposite of one test
        outer, opposite = frame.guard, ""
        for at, (command, body) in enumerate(block.arms):
            label, against = _labels(command) if command.name != "else" else (opposite, "")
            opposite = against if is_pair else ""
            choice = Choice(point, at, count, label, self._is_unlikely(command, frame))
            if is_compatible(outer, frozenset({choice})):
                frame.guard = outer | {choice}
                self.read(body, frame)
        frame.guard = outer

    def _is_unlikely(self, command: Command, frame: Frame) -> bool:
        """Answer whether a test asks for a variable that is empty here."""
        words = [argument.text.chars for argument in command.arguments]
        if command.name == "else" or len(words) != 1 or not re.fullmatch(r"\w+", words[0]):
            return False
        value = frame.variables.get(words[0], frame.guard)
        return bool(value) and all(case.text.chars.upper() in _EMPTY for case in value or ())

    def _foreach(self, opening: Command, body: Sequence[Item], frame: Frame) -> None:
        words = self.words(opening, frame)
        name = plain(words[0]) if words else ""
        items = _looped(words[1:], frame)[:_LOOPS]
        for item in items or [unknown(name, opening.place)]:
            frame.variables.set(name, just(item), frame.guard)
            self.read(body, frame)

    def _define(self, opening: Command, body: Sequence[Item], frame: Frame) -> None:
        words = [argument.text.chars for argument in opening.arguments]
        if words:
            is_macro = opening.name == "macro"
            function = _Function(tuple(words[1:]), body, is_macro, frame.file, frozenset(_commands(body)))
            self.functions[words[0].lower()] = function
            self.live.clear()

    # --- commands -----------------------------------------------------------------------------------------------------

    def _command(self, command: Command, frame: Frame) -> None:
        if command.name in VARIABLES:
            words = self.words(command, frame, keeps_empty=command.name in KEEPS_EMPTY)
            VARIABLES[command.name](Step(words, frame, command.place, self.checkout))
            if command.name == "file":
                self.fetch(command, words, frame)
        elif command.name == "include":
            self._include(command, frame)
        elif command.name in self.functions and not _BUILTIN.match(command.name):
            self._call(command, self.functions[command.name], frame)
        else:
            self.fetch(command, [], frame)

    def words(self, command: Command, frame: Frame, *, keeps_empty: bool = False) -> Values:
        """Return the arguments; a list in an unquoted one is taken apart, an empty one vanishes."""
        words: Values = []
        for argument in command.arguments:
            value = self.expander.value(argument, frame.variables, frame.guard)
            is_list = not argument.quote and bool(value) and ";" in value[0].text.chars and not keeps_empty
            parts = elements(value) if is_list else None
            if parts is not None:
                words += [just(part) for part in parts]
            elif argument.quote or keeps_empty or any(case.text for case in value):
                words.append(value)
        self.steps += sum(map(len, words)) // _WORDS
        return words

    def _call(self, command: Command, function: _Function, frame: Frame) -> None:
        if frame.calls >= _CALLS:
            return
        self.called.add(command.name)
        words = self.words(command, frame)
        variables = frame.variables if function.is_macro else frame.variables.copy()
        inner = Frame(
            file=frame.file,
            variables=variables,
            guard=frame.guard,
            outer=frame.outer if function.is_macro else frame.variables,
            depth=frame.depth + 1,
            calls=frame.calls + 1,
        )
        for name, value in zip(function.parameters, words, strict=False):
            variables.set(name, value)
        variables.set("ARGN", listed(words[len(function.parameters) :]))
        variables.set("ARGV", listed(words))
        if self._is_live(command.name, frozenset()):
            self.read(function.body, inner)
        elif not self._aside(function, inner):
            for name in [plain(value) for value in words[: len(function.parameters)]]:
                if frame.variables.get(name) is not None:  # what it would have handed back is not known
                    frame.variables.set(name, just(unknown(name, command.place)), frame.guard)

    def _aside(self, function: _Function, inner: Frame) -> bool:
        """Read a function that brings no sources, within what is left for such; answer whether that was enough."""
        limit, start = self.limit, self.steps
        self.limit = min(limit, start + min(_ASIDE, self.aside))
        self.read(function.body, inner)
        is_read = self.steps <= self.limit
        self.aside -= min(self.steps, self.limit) - start
        self.limit = limit
        return is_read

    def _is_live(self, name: str, above: frozenset[str]) -> bool:
        """Answer whether a function, or one that it calls, may bring sources."""
        if name not in self.live:
            commands = self.functions[name].commands
            inner = (commands & self.functions.keys()) - above - {name}
            self.live[name] = any(_BRINGS.match(command) for command in commands) or (
                len(above) < _DEEPEST and any(self._is_live(other, above | {name}) for other in inner)
            )
        return self.live[name]

    # --- other files --------------------------------------------------------------------------------------------------

    def _include(self, command: Command, frame: Frame) -> None:
        words = self.words(command, frame)
        name = included(plain(words[0]), frame.file, self.checkout) if words else None
        is_known = name is None or name in self.including or name == self.path or is_copy(name)
        if name is None or is_known or len(self.including) >= _INCLUDES:
            return
        items, _ = self.checkout.once(("cmake", name), lambda: blocks(Reader(name, self.checkout.texts[name]).read()))
        before = self.including, frame.file
        self.including, frame.file = (*self.including, name), name
        self.read(items, frame)
        self.including, frame.file = before

    def _elsewhere(self, name: str) -> Value | None:
        """Look for a variable that the file leaves to whoever includes it."""
        is_own = re.fullmatch(r"[A-Za-z_]\w*", name) and not name.startswith(("CMAKE_", "PROJECT_", "ARG"))
        if name not in self.looked and len(self.looked) < _ELSEWHERE and is_own:
            self.looked[name] = None
            self.looked[name] = _nearest(name, self.path, self.checkout)
        return self.looked.get(name)


def _nearest(name: str, path: str, checkout: Checkout) -> Value | None:
    """Return the one value that the nearest other file gives a variable."""
    found: dict[int, dict[str, Text]] = {}
    for other in checkout.like(is_cmake):
        if other != path:
            text = checkout.texts[other]
            for start in checkout.once(("set", other), partial(_sets, text)).get(name, ()):
                value = _literal(other, text, start)
                if value is not None:
                    found.setdefault(_distance(path, other), {}).setdefault(value.chars, value)
    nearest = found[min(found)] if found else {}
    return just(next(iter(nearest.values()))) if len(nearest) == 1 else None


def _sets(text: str) -> Mapping[str, Sequence[int]]:
    """Return where a file sets which variable."""
    starts: dict[str, list[int]] = {}
    for match in _SETS.finditer(text):
        starts.setdefault(match[1], []).append(match.start())
    return {name: found[:_MOST_SETS] for name, found in starts.items()}


def _literal(path: str, text: str, start: int) -> Text | None:
    """Return what the `set` at a place of a file gives, if it is written there as it is."""
    source = text[start : text.find(")", start) + 1]
    command = next(Reader(path, source, text.count("\n", 0, start) + 1).read(), None)
    if not isinstance(command, Command) or len(command.arguments) < 2:  # noqa: PLR2004 - a name and a value
        return None
    value = command.arguments[1].text
    return value if value and "$" not in value.chars else None


def _distance(one: str, other: str) -> int:
    """Return how many folders apart two files stand."""
    a, b = one.split("/")[:-1], other.split("/")[:-1]
    common = next((at for at, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    return len(a) + len(b) - 2 * common


def _commands(items: Sequence[Item]) -> Iterator[str]:
    stack = list(items)
    while stack:
        item = stack.pop()
        if isinstance(item, Command):
            yield item.name
        else:
            stack += [inner for _, body in item.arms for inner in body]


def _looped(words: Values, frame: Frame) -> list[Text]:
    """Return what a `foreach` goes over."""
    chars = [plain(value) for value in words]
    match chars:
        case ["RANGE", *_]:
            return []
        case ["IN", "LISTS", *names]:
            lists = [elements(frame.variables.get(name, frame.guard) or ()) for name in names]
            return [text for items in lists for text in items or ()]
        case ["IN", "ITEMS", *_]:
            words = words[2:]
    return [case.text for value in words for case in value]


def _condition(command: Command) -> str:
    return " ".join(argument.text.chars for argument in command.arguments)


def _labels(command: Command) -> tuple[str, str]:
    """Return what a test says about the platform where it holds, and where it does not."""
    chars = _condition(command)
    return _DENIED.sub("", chars), " ".join(_DENIED.findall(chars)) if _DENIED.match(chars) else ""
